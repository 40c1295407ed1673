/* SPDX-License-Identifier: MIT */
/* uv_spawn() by aspawn: the memory is not copied, and the loop's thread does not wait for the exec
 * where the parent sees that the child will find an executable file. Otherwise it waits, and
 * uv_spawn() returns the child's error as before.
 *
 * An exec that fails although the file is executable (its interpreter is missing, E2BIG, ETXTBSY)
 * calls exit_cb with the negative error number as the exit status. */
/* libuv's own style: */
/* clang-format off */

#include "uv.h"
#include "internal.h"
#include "aspawn.h"

#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory of children, shared by all loops and threads. */
static struct aspawn_pool uv__pool;

/* After 1.52.1 libuv starts by posix_spawn(): no shell runs a file that is no program, and an empty
 * name is the directory that is searched. */
#define BY_POSIX_SPAWN (UV_VERSION_HEX > 0x013401)

/* The aspawn_child of a process whose exec uv_spawn() did not wait for. */
#define CHILD(process) ((process)->u.reserved[0])


/* True if the parent may execute the file of this type, or enter the directory. */
static int uv__may_execute(const char* path, mode_t type) {
  struct stat st;

  return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == type &&
         faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}


/* The file that the child will execute. NULL if there is none, or if a relative name depends on the
 * child's directory. */
static const char* uv__find_program(const uv_process_options_t* options,
                                    char (*path)[PATH_MAX]) {
  const char* search;
  const char* end;
  char** env;

  if (strchr(options->file, '/') != NULL)
    return (options->file[0] == '/' || options->cwd == NULL) &&
           uv__may_execute(options->file, S_IFREG) ? options->file : NULL;

  env = options->env != NULL ? options->env : environ;
  while (env && *env && strncmp(*env, "PATH=", 5) != 0)
    env++;
  search = env && *env ? *env + 5 : "/bin:/usr/bin";

  for (; *search == '/'; search = end + (*end == ':')) {
    end = strchrnul(search, ':');
    if (snprintf(*path, PATH_MAX, "%.*s/%s", (int) (end - search), search, options->file) >=
        PATH_MAX)
      return NULL;
    if (uv__may_execute(*path, S_IFREG))
      return *path;
  }

  return NULL;
}


/* Appends an action for each descriptor. A source that an earlier action replaces is duplicated
 * first, into dup. */
static int uv__stdio_actions(struct aspawn_action** to,
                             int stdio_count,
                             int (*pipes)[2],
                             int* dup) {
  int use;
  int fd;

  for (fd = 0; fd < stdio_count; fd++) {
    use = pipes[fd][1];
    if (use < 0) {
      if (fd <= 2)
        aspawn_action_open((*to)++, fd, "/dev/null", fd == 0 ? O_RDONLY : O_RDWR, 0);
      continue;
    }

    if (fcntl(use, F_GETFL) == -1)
      return UV__ERR(errno);
    if (fd <= 2)
      uv__nonblock_fcntl(use, 0);

    if (use < fd && pipes[use][1] != use) {
      use = dup[fd] = fcntl(use, F_DUPFD_CLOEXEC, stdio_count);
      if (use == -1)
        return UV__ERR(errno);
    }
    aspawn_action_dup2((*to)++, use, fd);
  }

  return 0;
}


/* As setgid() and setuid(): without privileges only the effective ID changes. */
static struct aspawn_action* uv__id_actions(struct aspawn_action* to,
                                            const uv_process_options_t* options,
                                            int groups) {
  unsigned kept = geteuid() == 0 ? 0 : -1; /* -1 leaves an ID as it is */

  if (groups)
    aspawn_action_groups(to++, NULL, 0);
  if (options->flags & UV_PROCESS_SETGID)
    aspawn_action_resgid(to++, options->gid | kept, options->gid, options->gid | kept);
  if (options->flags & UV_PROCESS_SETUID)
    aspawn_action_resuid(to++, options->uid | kept, options->uid, options->uid | kept);

  return to;
}


int uv__aspawn(uv_loop_t* loop,
               uv_process_t* process,
               const uv_process_options_t* options,
               int stdio_count,
               int (*pipes)[2],
               pid_t* pid) {
  struct aspawn_command command = { .size = sizeof(command), .pool = &uv__pool };
  struct aspawn_failure failure;
  struct aspawn_action* actions;
  struct aspawn_action* action;
  struct aspawn_child* child;
  char path[PATH_MAX];
  const char* program;
  int groups;
  int change;
  int* dup;
  int err;
  int fd;

  child = uv__malloc(sizeof(*child));
  actions = uv__calloc(1, (stdio_count + 6) * sizeof(*actions) + stdio_count * sizeof(*dup));
  if (child == NULL || actions == NULL) {
    uv__free(actions);
    uv__free(child);
    return UV_ENOMEM;
  }
  dup = (int*) (actions + stdio_count + 6);

  action = actions;
  aspawn_action_reset_signals(action++);
  if (options->flags & UV_PROCESS_DETACHED)
    aspawn_action_setsid(action++);
  err = uv__stdio_actions(&action, stdio_count, pipes, dup);
  if (err < 0)
    goto out;
  if (options->cwd != NULL)
    aspawn_action_chdir(action++, options->cwd);

  change = options->flags & (UV_PROCESS_SETUID | UV_PROCESS_SETGID);
  program = uv__find_program(options, &path);
  command.file = program != NULL ? program : options->file;
  if (BY_POSIX_SPAWN && *options->file == '\0')
    command.file = "/";
  command.argv = options->args;
  command.envp = options->env;
  command.actions = actions;
  command.flags = ASPAWN_COMMAND_NO_PIDFD;
  if (!BY_POSIX_SPAWN)
    command.flags |= ASPAWN_COMMAND_SHELL_ON_ENOEXEC;

  groups = change && geteuid() == 0;
  do {
    command.action_count = uv__id_actions(action, options, groups) - actions;

    /* Otherwise the child could copy a descriptor before another thread sets FD_CLOEXEC. */
    uv_rwlock_wrlock(&loop->cloexec_lock);
    err = aspawn_start(child, &command);
    uv_rwlock_wrunlock(&loop->cloexec_lock);
    if (err < 0)
      goto out;

    *pid = aspawn_pid(child);
    if (!change && program != NULL &&
        (options->cwd == NULL || uv__may_execute(options->cwd, S_IFDIR))) {
      CHILD(process) = child;
      child = NULL;
      goto out;
    }

    err = aspawn_wait_started(child, &failure, -1);
    *pid = aspawn_pid(child); /* which a stopped helper had not cloned yet */
    if (err == -ECANCELED) {
      aspawn_wait(child, NULL, NULL, -1);
      err = failure.error;
    }
    aspawn_release(child);
    /* As before, a user namespace that forbids setgroups() is no error. */
  } while (err < 0 && failure.kind == ASPAWN_ACTION_GROUPS && groups--);

out:
  for (fd = 0; fd < stdio_count; fd++)
    if (dup[fd] > 0)
      uv__close(dup[fd]);
  uv__free(actions);
  uv__free(child);
  return err;
}


/* Frees the aspawn_child. Returns, if asked, the error of an exec that failed; 0 if the program was
 * executed, or a signal killed the child before. A forked process must not ask. */
int uv__aspawn_release(uv_process_t* process, int ask) {
  struct aspawn_failure failure = { .error = 0 };
  struct aspawn_child* child;

  child = CHILD(process);
  if (child == NULL)
    return 0;

  CHILD(process) = NULL;
  if (ask)
    aspawn_wait_started(child, &failure, 0);
  aspawn_release(child);
  uv__free(child);
  return failure.error == -ECHILD ? 0 : failure.error;
}
