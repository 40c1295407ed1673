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
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory of children, shared by all loops and threads. */
static struct aspawn_pool uv__pool;

/* After 1.52.1 libuv starts by posix_spawn(): no shell runs a file that is no program, and an empty
 * name is the directory that is searched. */
#define BY_POSIX_SPAWN (UV_VERSION_HEX > 0x013401)

/* The aspawn_child of a process whose exec uv_spawn() did not wait for. */
#define CHILD(process) ((process)->u.reserved[0])


static int uv__is_program(const char* path) {
  struct stat st;

  return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
         faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}


/* The file that the child will execute. NULL if there is none, or if a relative name depends on the
 * child's directory. */
static const char* uv__find_program(const uv_process_options_t* options,
                                    char (*path)[PATH_MAX]) {
  const char* search = "/bin:/usr/bin";
  const char* end;
  char** env;
  int n;

  if (strchr(options->file, '/') != NULL)
    return (options->file[0] == '/' || options->cwd == NULL) &&
           uv__is_program(options->file) ? options->file : NULL;

  for (env = options->env != NULL ? options->env : environ; env && *env; env++)
    if (strncmp(*env, "PATH=", 5) == 0) {
      search = *env + 5;
      break;
    }

  for (; *search == '/'; search = end + 1) {
    end = strchrnul(search, ':');
    n = snprintf(*path, sizeof(*path), "%.*s/%s", (int) (end - search), search, options->file);
    if (n >= (int) sizeof(*path))
      return NULL;
    if (uv__is_program(*path))
      return *path;
    if (*end == '\0')
      return NULL;
  }

  return NULL;
}


static int uv__is_directory(const char* path) {
  char name[PATH_MAX];

  return snprintf(name, sizeof(name), "%s/.", path) < (int) sizeof(name) &&
         faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) == 0;
}


/* Appends an action for each descriptor. A source that an earlier action replaces is duplicated
 * first, into dup. */
static int uv__stdio_actions(struct aspawn_action* to,
                             int stdio_count,
                             int (*pipes)[2],
                             int* dup) {
  struct aspawn_action* action;
  int flags;
  int use;
  int fd;

  action = to;
  for (fd = 0; fd < stdio_count; fd++) {
    use = pipes[fd][1];
    if (use < 0) {
      if (fd <= 2)
        aspawn_action_open(action++, fd, "/dev/null", fd == 0 ? O_RDONLY : O_RDWR, 0);
      continue;
    }

    flags = fcntl(use, F_GETFL);
    if (flags == -1)
      return UV__ERR(errno);
    if (fd <= 2 && (flags & O_NONBLOCK))
      fcntl(use, F_SETFL, flags & ~O_NONBLOCK);

    if (use < fd && pipes[use][1] != use) {
      dup[fd] = fcntl(use, F_DUPFD_CLOEXEC, stdio_count);
      if (dup[fd] == -1)
        return UV__ERR(errno);
      use = dup[fd];
    }
    aspawn_action_dup2(action++, use, fd);
  }

  return action - to;
}


/* As setgid() and setuid(): without privileges only the effective ID changes. */
static int uv__id_actions(struct aspawn_action* to,
                          const uv_process_options_t* options,
                          int groups) {
  struct aspawn_action* action;
  unsigned id;
  int all;

  action = to;
  all = geteuid() == 0;
  if (groups)
    aspawn_action_groups(action++, NULL, 0);
  if (options->flags & UV_PROCESS_SETGID) {
    id = all ? options->gid : (unsigned) -1;
    aspawn_action_resgid(action++, id, options->gid, id);
  }
  if (options->flags & UV_PROCESS_SETUID) {
    id = all ? options->uid : (unsigned) -1;
    aspawn_action_resuid(action++, id, options->uid, id);
  }

  return action - to;
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
  struct aspawn_child* child;
  char path[PATH_MAX];
  const char* program;
  int groups;
  int change;
  int count;
  int* dup;
  int err;
  int fd;
  int n;

  child = uv__malloc(sizeof(*child));
  actions = uv__malloc((stdio_count + 6) * sizeof(*actions) + stdio_count * sizeof(*dup));
  if (child == NULL || actions == NULL) {
    uv__free(actions);
    uv__free(child);
    return UV_ENOMEM;
  }
  dup = (int*) (actions + stdio_count + 6);
  for (fd = 0; fd < stdio_count; fd++)
    dup[fd] = -1;

  n = 0;
  aspawn_action_reset_signals(&actions[n++]);
  if (options->flags & UV_PROCESS_DETACHED)
    aspawn_action_setsid(&actions[n++]);
  count = uv__stdio_actions(actions + n, stdio_count, pipes, dup);
  if (count < 0) {
    err = count;
    goto out;
  }
  n += count;
  if (options->cwd != NULL)
    aspawn_action_chdir(&actions[n++], options->cwd);

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
    command.action_count = n + (change ? uv__id_actions(actions + n, options, groups) : 0);

    /* Otherwise the child could copy a descriptor before another thread sets FD_CLOEXEC. */
    uv_rwlock_wrlock(&loop->cloexec_lock);
    err = aspawn_start(child, &command);
    uv_rwlock_wrunlock(&loop->cloexec_lock);
    if (err < 0)
      goto out;

    *pid = aspawn_pid(child);
    if (!change && program != NULL && (options->cwd == NULL || uv__is_directory(options->cwd))) {
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
    if (dup[fd] != -1)
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
