/* SPDX-License-Identifier: MIT */
/*
 * This file has posix_spawn(), posix_spawnp(), and the functions of file actions, whose list
 * consists of struct aspawn_action. Attribute objects stay the libc's, and its functions read them,
 * so that their layout does not matter here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "spawn.h"

/* The headers of an older libc, or of musl, do not declare these functions. */
int posix_spawn_file_actions_addchdir(posix_spawn_file_actions_t *list, const char *path);
int posix_spawn_file_actions_addfchdir(posix_spawn_file_actions_t *list, int fd);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *list, int from);
int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *list, int fd);
__attribute__((weak)) int posix_spawnattr_getcgroup_np(const posix_spawnattr_t *attr, int *cgroup);
int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

#ifndef O_LARGEFILE
#define O_LARGEFILE 0
#endif

/* --- file actions ---------------------------------------------------------- */

/* The list is stored in the libc's opaque structure. All zero is an empty list. */
struct file_actions {
	struct aspawn_action *first;
	size_t count, room;
};
_Static_assert(sizeof(struct file_actions) <= sizeof(posix_spawn_file_actions_t), "must fit");
_Static_assert(_Alignof(struct file_actions) <= _Alignof(posix_spawn_file_actions_t),
	       "must be aligned");

static struct file_actions *list_of(posix_spawn_file_actions_t *list)
{
	return (struct file_actions *)(void *)list;
}

static int add_action(posix_spawn_file_actions_t *to, struct aspawn_action action)
{
	struct file_actions *list = list_of(to);

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 8;
		struct aspawn_action *more = reallocarray(list->first, room, sizeof *more);
		if (!more)
			return ENOMEM;
		list->first = more;
		list->room = room;
	}
	list->first[list->count++] = action;
	return 0;
}

/* POSIX: fails with EBADF if the descriptor is negative, or OPEN_MAX or more. */
static int add_with_fd(posix_spawn_file_actions_t *to, int fd, struct aspawn_action action)
{
	return fd < 0 || fd >= sysconf(_SC_OPEN_MAX) ? EBADF : add_action(to, action);
}

/* Returns the address of the action's path member, or NULL if the action has none. */
static const char **path_of(struct aspawn_action *action)
{
	if (action->kind == ASPAWN_ACTION_OPENAT)
		return &action->u.openat.path;
	return action->kind == ASPAWN_ACTION_CHDIR ? &action->u.chdir.path : NULL;
}

/* Adds the action with a copy of its path. */
static int add_path(posix_spawn_file_actions_t *to, struct aspawn_action action)
{
	char *path = strdup(*path_of(&action));

	if (!path)
		return ENOMEM;
	*path_of(&action) = path;
	int error = add_action(to, action);
	if (error)
		free(path);
	return error;
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *list)
{
	memset(list, 0, sizeof *list);
	return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *list)
{
	struct file_actions *stored = list_of(list);

	for (size_t i = 0; i < stored->count; i++) {
		const char **path = path_of(&stored->first[i]);
		if (path)
			free((void *)(uintptr_t)*path);
	}
	free(stored->first);
	memset(stored, 0, sizeof *stored);
	return 0;
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *list, int fd)
{
	const struct aspawn_action action = ASPAWN_CLOSE(fd);

	return add_with_fd(list, fd, action);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *list, int fd, int new_fd)
{
	const struct aspawn_action action = ASPAWN_DUP2(fd, new_fd);

	return fd < 0 || fd >= sysconf(_SC_OPEN_MAX) ? EBADF : add_with_fd(list, new_fd, action);
}

/* POSIX closes the descriptor before it opens the file: this frees a descriptor, and serves
 * files that can be open only once. */
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *list, int fd, const char *path,
				     int flags, mode_t mode)
{
	const struct aspawn_action close = ASPAWN_CLOSE(fd);
	const struct aspawn_action open = ASPAWN_OPEN(fd, path, flags | O_LARGEFILE, mode);
	int error = add_with_fd(list, fd, close);

	if (error)
		return error;
	error = add_path(list, open);
	if (error)
		list_of(list)->count--;
	return error;
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *list, const char *path)
{
	const struct aspawn_action action = ASPAWN_CHDIR(path);

	return add_path(list, action);
}

int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *list, int fd)
{
	const struct aspawn_action action = ASPAWN_FCHDIR(fd);

	return fd < 0 ? EBADF : add_action(list, action); /* fchdir() checks the upper limit */
}

/* POSIX.1-2024 and newer libcs have these names. */
int posix_spawn_file_actions_addchdir(posix_spawn_file_actions_t *list, const char *path)
{
	return posix_spawn_file_actions_addchdir_np(list, path);
}

int posix_spawn_file_actions_addfchdir(posix_spawn_file_actions_t *list, int fd)
{
	return posix_spawn_file_actions_addfchdir_np(list, fd);
}

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *list, int from)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(from);

	return add_with_fd(list, from, action);
}

int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *list, int fd)
{
	const struct aspawn_action action = ASPAWN_FOREGROUND(fd);

	return add_with_fd(list, fd, action);
}

/* --- attributes ------------------------------------------------------------ */

/* Older headers lack these flags. SETCGROUP is rejected if the libc cannot read the attribute. */
#ifndef POSIX_SPAWN_SETCGROUP
#define POSIX_SPAWN_SETCGROUP 0x100
#endif
#ifndef POSIX_SPAWN_SETSID
#define POSIX_SPAWN_SETSID 0x80
#endif
#ifndef POSIX_SPAWN_USEVFORK
#define POSIX_SPAWN_USEVFORK 0x40
#endif

enum {
	KNOWN_FLAGS = POSIX_SPAWN_RESETIDS | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
		      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER |
		      POSIX_SPAWN_USEVFORK | POSIX_SPAWN_SETSID | POSIX_SPAWN_SETCGROUP,
	MOST_ATTRIBUTES = 8,
};

struct attributes {
	struct aspawn_action actions[MOST_ATTRIBUTES];
	size_t count;
	sigset_t mask, defaults;
	struct sched_param param;
};

static ASPAWN_CHILD int set_param(void *param)
{
	return psys_sched_setparam(0, param);
}

static void add_attribute(struct attributes *attributes, struct aspawn_action action)
{
	attributes->actions[attributes->count++] = action;
}

static int add_scheduling(struct attributes *attributes, const posix_spawnattr_t *attr, int flags)
{
	int policy, error = posix_spawnattr_getschedparam(attr, &attributes->param);

	if (error)
		return error;
	if (!(flags & POSIX_SPAWN_SETSCHEDULER)) {
		const struct aspawn_action action = ASPAWN_CALL(set_param, &attributes->param);
		add_attribute(attributes, action);
		return 0;
	}
	error = posix_spawnattr_getschedpolicy(attr, &policy);
	if (error)
		return error;
	const struct aspawn_action action =
		ASPAWN_SCHEDULER(policy, attributes->param.sched_priority);
	add_attribute(attributes, action);
	return 0;
}

/* Adds an action only where an ID differs: an action of credentials makes the spawn copy the
 * memory, at the cost of fork(2). */
static void reset_ids(struct attributes *attributes)
{
	const uid_t uid = getuid();
	const gid_t gid = getgid();
	const struct aspawn_action group = ASPAWN_RESGID(-1, gid, -1),
				   user = ASPAWN_RESUID(-1, uid, -1);

	if (gid != getegid())
		add_attribute(attributes, group);
	if (uid != geteuid())
		add_attribute(attributes, user);
}

/* Fails with EBADF if the descriptor is no cgroup directory, as clone3(2) does. */
static int check_cgroup(int fd)
{
	enum { CGROUP2_MAGIC = 0x63677270 }; /* linux/magic.h */
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_type == CGROUP2_MAGIC ? 0 : EBADF;
}

static int read_attributes(struct attributes *to, const posix_spawnattr_t *attr, int flags)
{
	const struct aspawn_action session = ASPAWN_SETSID();
	int error = 0, cgroup = -1;
	pid_t group = 0;

	to->count = 0;
	if (flags & ~KNOWN_FLAGS)
		return EINVAL;
	if (flags & POSIX_SPAWN_SETCGROUP) {
		if (!posix_spawnattr_getcgroup_np)
			return EINVAL;
		error = posix_spawnattr_getcgroup_np(attr, &cgroup);
		if (!error)
			error = check_cgroup(cgroup);
		const struct aspawn_action action = ASPAWN_JOIN_CGROUP(cgroup);
		add_attribute(to, action);
	}
	if (flags & POSIX_SPAWN_SETSIGDEF && !error) {
		const struct aspawn_action action =
			ASPAWN_SIGNALS_DEFAULT((struct psys_sigset *)&to->defaults);
		error = posix_spawnattr_getsigdefault(attr, &to->defaults);
		add_attribute(to, action);
	}
	if (flags & (POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER) && !error)
		error = add_scheduling(to, attr, flags);
	if (flags & POSIX_SPAWN_SETSID)
		add_attribute(to, session);
	if (flags & POSIX_SPAWN_SETPGROUP && !error) {
		error = posix_spawnattr_getpgroup(attr, &group);
		const struct aspawn_action action = ASPAWN_SETPGID(group);
		add_attribute(to, action);
	}
	if (flags & POSIX_SPAWN_RESETIDS)
		reset_ids(to);
	if (flags & POSIX_SPAWN_SETSIGMASK && !error)
		error = posix_spawnattr_getsigmask(attr, &to->mask);
	return error;
}

/* --- spawning --------------------------------------------------------------- */

/* glibc sets errno too, and programs print errno, though POSIX does not require this. */
static int with_errno(int error)
{
	if (error)
		errno = error;
	return error;
}

static int spawn_file(struct spawn spawn, const posix_spawn_file_actions_t *file_actions,
		      const posix_spawnattr_t *attr)
{
	const struct file_actions *list = (const void *)file_actions;
	struct attributes attributes;
	short flags = 0;

	attributes.count = 0;
	if (attr) {
		int error = posix_spawnattr_getflags(attr, &flags);
		if (!error)
			error = read_attributes(&attributes, attr, flags);
		if (error)
			return with_errno(error);
	}
	spawn.before = (struct action_list){ attributes.actions, attributes.count };
	if (flags & POSIX_SPAWN_SETSIGMASK)
		spawn.mask = (struct psys_sigset *)&attributes.mask;
	if (list)
		spawn.actions = (struct action_list){ list->first, list->count };
	return with_errno(aspawn_compat_spawn(&spawn));
}

/* posix_spawn() does not search: a name without a slash is in the current directory, which an
 * empty search path means. */
static const char here[] = "";

/* Returns the PATH of the caller, not of the new environment. */
static const char *search_path(void)
{
	const char *path = getenv("PATH");

	return path ? path : "/bin:/usr/bin";
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	const struct spawn spawn = {
		.pid = pid, .file = path, .path = here, .argv = argv, .envp = envp
	};

	return spawn_file(spawn, file_actions, attr);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	const struct spawn spawn = {
		.pid = pid, .file = file, .path = search_path(), .argv = argv, .envp = envp
	};

	return spawn_file(spawn, file_actions, attr);
}

int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	const struct spawn spawn = {
		.pidfd = pidfd, .file = path, .path = here, .argv = argv, .envp = envp
	};

	return spawn_file(spawn, file_actions, attr);
}

int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	const struct spawn spawn = {
		.pidfd = pidfd, .file = file, .path = search_path(), .argv = argv, .envp = envp
	};

	return spawn_file(spawn, file_actions, attr);
}
