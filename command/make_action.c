/* SPDX-License-Identifier: MIT */
/* The functions that make actions, one for each kind. */
#include <aspawn/action.h>
#include <syscall/string.h>

/* Clears all bytes: an assignment of the structure would leave padding, and the rest of the union,
 * uninitialized. */
static PSYS_UNINSTRUMENTED void make(struct aspawn_action *action, uint32_t kind)
{
	psys_memset(action, 0, sizeof *action);
	action->kind = kind;
}

#define SET(name, member) (action->u.name.member = (member))

PSYS_UNINSTRUMENTED void aspawn_action_dup2(struct aspawn_action *action, int from, int to)
{
	make(action, ASPAWN_ACTION_DUP2);
	SET(dup2, from);
	SET(dup2, to);
}

PSYS_UNINSTRUMENTED void aspawn_action_open(struct aspawn_action *action, int fd, const char *path,
					    int flags, unsigned mode)
{
	aspawn_action_openat(action, fd, PSYS_AT_FDCWD, path, flags, mode);
}

PSYS_UNINSTRUMENTED void aspawn_action_openat(struct aspawn_action *action, int fd, int dirfd,
					      const char *path, int flags, unsigned mode)
{
	make(action, ASPAWN_ACTION_OPENAT);
	SET(openat, fd);
	SET(openat, dirfd);
	SET(openat, path);
	SET(openat, flags);
	SET(openat, mode);
}

void aspawn_action_openat2(struct aspawn_action *action, int fd, int dirfd, const char *path,
			   int flags, unsigned mode, uint64_t resolve)
{
	make(action, ASPAWN_ACTION_OPENAT2);
	SET(openat2, fd);
	SET(openat2, dirfd);
	SET(openat2, path);
	SET(openat2, flags);
	SET(openat2, mode);
	SET(openat2, resolve);
}

void aspawn_action_dev_null(struct aspawn_action *action, int fd)
{
	aspawn_action_open(action, fd, "/dev/null", PSYS_O_RDWR, 0);
}

PSYS_UNINSTRUMENTED void aspawn_action_output_pipe(struct aspawn_action *action, int fd,
						   int *read_end)
{
	make(action, ASPAWN_ACTION_OUTPUT_PIPE);
	SET(output_pipe, fd);
	SET(output_pipe, read_end);
}

PSYS_UNINSTRUMENTED void aspawn_action_input_pipe(struct aspawn_action *action, int fd,
						  int *write_end)
{
	make(action, ASPAWN_ACTION_INPUT_PIPE);
	SET(input_pipe, fd);
	SET(input_pipe, write_end);
}

void aspawn_action_close(struct aspawn_action *action, int fd)
{
	make(action, ASPAWN_ACTION_CLOSE);
	SET(close, fd);
}

void aspawn_action_closefrom(struct aspawn_action *action, int first)
{
	make(action, ASPAWN_ACTION_CLOSEFROM);
	SET(closefrom, first);
}

void aspawn_action_only_below(struct aspawn_action *action, int first)
{
	make(action, ASPAWN_ACTION_ONLY_BELOW);
	SET(only_below, first);
}

void aspawn_action_cloexec_from(struct aspawn_action *action, int first)
{
	make(action, ASPAWN_ACTION_CLOEXEC_FROM);
	SET(cloexec_from, first);
}

void aspawn_action_setenv(struct aspawn_action *action, const char *name, const char *value)
{
	make(action, ASPAWN_ACTION_SETENV);
	SET(setenv, name);
	SET(setenv, value);
}

void aspawn_action_unsetenv(struct aspawn_action *action, const char *name)
{
	make(action, ASPAWN_ACTION_UNSETENV);
	SET(unsetenv, name);
}

void aspawn_action_clearenv(struct aspawn_action *action)
{
	make(action, ASPAWN_ACTION_CLEARENV);
}

void aspawn_action_chdir(struct aspawn_action *action, const char *path)
{
	make(action, ASPAWN_ACTION_CHDIR);
	SET(chdir, path);
}

void aspawn_action_fchdir(struct aspawn_action *action, int fd)
{
	make(action, ASPAWN_ACTION_FCHDIR);
	SET(fchdir, fd);
}

void aspawn_action_umask(struct aspawn_action *action, unsigned mask)
{
	make(action, ASPAWN_ACTION_UMASK);
	SET(umask, mask);
}

void aspawn_action_setsid(struct aspawn_action *action)
{
	make(action, ASPAWN_ACTION_SETSID);
}

PSYS_UNINSTRUMENTED void aspawn_action_setpgid(struct aspawn_action *action, int pgid)
{
	make(action, ASPAWN_ACTION_SETPGID);
	SET(setpgid, pgid);
}

void aspawn_action_controlling_terminal(struct aspawn_action *action, int fd)
{
	make(action, ASPAWN_ACTION_CONTROLLING_TERMINAL);
	SET(controlling_terminal, fd);
}

void aspawn_action_foreground(struct aspawn_action *action, int fd)
{
	make(action, ASPAWN_ACTION_FOREGROUND);
	SET(foreground, fd);
}

void aspawn_action_reset_signals(struct aspawn_action *action)
{
	make(action, ASPAWN_ACTION_RESET_SIGNALS);
}

void aspawn_action_sigmask(struct aspawn_action *action, const void *set)
{
	make(action, ASPAWN_ACTION_SIGMASK);
	SET(sigmask, set);
}

void aspawn_action_signals_default(struct aspawn_action *action, const void *set)
{
	make(action, ASPAWN_ACTION_SIGNALS_DEFAULT);
	SET(signals_default, set);
}

void aspawn_action_signals_ignore(struct aspawn_action *action, const void *set)
{
	make(action, ASPAWN_ACTION_SIGNALS_IGNORE);
	SET(signals_ignore, set);
}

void aspawn_action_signal_default(struct aspawn_action *action, int signal)
{
	make(action, ASPAWN_ACTION_SIGNAL_DEFAULT);
	SET(signal_default, signal);
}

PSYS_UNINSTRUMENTED void aspawn_action_signal_ignore(struct aspawn_action *action, int signal)
{
	make(action, ASPAWN_ACTION_SIGNAL_IGNORE);
	SET(signal_ignore, signal);
}

PSYS_UNINSTRUMENTED void aspawn_action_pdeathsig(struct aspawn_action *action, int signal)
{
	make(action, ASPAWN_ACTION_PDEATHSIG);
	SET(pdeathsig, signal);
}

PSYS_UNINSTRUMENTED void aspawn_action_rlimit(struct aspawn_action *action, int resource,
					      uint64_t soft, uint64_t hard)
{
	make(action, ASPAWN_ACTION_RLIMIT);
	SET(rlimit, resource);
	SET(rlimit, soft);
	SET(rlimit, hard);
}

void aspawn_action_nice(struct aspawn_action *action, int value)
{
	make(action, ASPAWN_ACTION_NICE);
	SET(nice, value);
}

void aspawn_action_scheduler(struct aspawn_action *action, int policy, int priority)
{
	make(action, ASPAWN_ACTION_SCHEDULER);
	SET(scheduler, policy);
	SET(scheduler, priority);
}

void aspawn_action_affinity(struct aspawn_action *action, const void *mask, size_t size)
{
	make(action, ASPAWN_ACTION_AFFINITY);
	SET(affinity, mask);
	SET(affinity, size);
}

void aspawn_action_ioprio(struct aspawn_action *action, int value)
{
	make(action, ASPAWN_ACTION_IOPRIO);
	SET(ioprio, value);
}

void aspawn_action_oom_score_adj(struct aspawn_action *action, int value)
{
	make(action, ASPAWN_ACTION_OOM_SCORE_ADJ);
	SET(oom_score_adj, value);
}

void aspawn_action_personality(struct aspawn_action *action, unsigned persona)
{
	make(action, ASPAWN_ACTION_PERSONALITY);
	SET(personality, persona);
}

void aspawn_action_join_cgroup(struct aspawn_action *action, int fd)
{
	make(action, ASPAWN_ACTION_JOIN_CGROUP);
	SET(join_cgroup, fd);
}

void aspawn_action_user(struct aspawn_action *action, unsigned uid, unsigned gid,
			const unsigned *groups, size_t count)
{
	make(action, ASPAWN_ACTION_USER);
	SET(user, uid);
	SET(user, gid);
	SET(user, groups);
	SET(user, count);
}

void aspawn_action_resuid(struct aspawn_action *action, unsigned real, unsigned effective,
			  unsigned saved)
{
	make(action, ASPAWN_ACTION_RESUID);
	SET(resuid, real);
	SET(resuid, effective);
	SET(resuid, saved);
}

void aspawn_action_resgid(struct aspawn_action *action, unsigned real, unsigned effective,
			  unsigned saved)
{
	make(action, ASPAWN_ACTION_RESGID);
	SET(resgid, real);
	SET(resgid, effective);
	SET(resgid, saved);
}

void aspawn_action_groups(struct aspawn_action *action, const unsigned *groups, size_t count)
{
	make(action, ASPAWN_ACTION_GROUPS);
	SET(groups, groups);
	SET(groups, count);
}

void aspawn_action_cap_drop(struct aspawn_action *action, int capability)
{
	make(action, ASPAWN_ACTION_CAP_DROP);
	SET(cap_drop, capability);
}

void aspawn_action_cap_ambient(struct aspawn_action *action, int capability)
{
	make(action, ASPAWN_ACTION_CAP_AMBIENT);
	SET(cap_ambient, capability);
}

void aspawn_action_securebits(struct aspawn_action *action, unsigned bits)
{
	make(action, ASPAWN_ACTION_SECUREBITS);
	SET(securebits, bits);
}

void aspawn_action_no_new_privs(struct aspawn_action *action)
{
	make(action, ASPAWN_ACTION_NO_NEW_PRIVS);
}

void aspawn_action_seccomp(struct aspawn_action *action, const void *filter, size_t count)
{
	make(action, ASPAWN_ACTION_SECCOMP);
	SET(seccomp, filter);
	SET(seccomp, count);
}

void aspawn_action_landlock(struct aspawn_action *action, int ruleset_fd)
{
	make(action, ASPAWN_ACTION_LANDLOCK);
	SET(landlock, ruleset_fd);
}

void aspawn_action_chroot(struct aspawn_action *action, const char *path)
{
	make(action, ASPAWN_ACTION_CHROOT);
	SET(chroot, path);
}

void aspawn_action_pivot_root(struct aspawn_action *action, const char *new_root,
			      const char *put_old)
{
	make(action, ASPAWN_ACTION_PIVOT_ROOT);
	SET(pivot_root, new_root);
	SET(pivot_root, put_old);
}

void aspawn_action_unshare(struct aspawn_action *action, uint64_t flags)
{
	make(action, ASPAWN_ACTION_UNSHARE);
	SET(unshare, flags);
}

void aspawn_action_setns(struct aspawn_action *action, int fd, int type)
{
	make(action, ASPAWN_ACTION_SETNS);
	SET(setns, fd);
	SET(setns, type);
}

void aspawn_action_mount(struct aspawn_action *action, const char *source, const char *target,
			 const char *type, uint64_t flags, const char *options)
{
	make(action, ASPAWN_ACTION_MOUNT);
	SET(mount, source);
	SET(mount, target);
	SET(mount, type);
	SET(mount, flags);
	SET(mount, options);
}

void aspawn_action_hostname(struct aspawn_action *action, const char *name)
{
	make(action, ASPAWN_ACTION_HOSTNAME);
	SET(hostname, name);
}

void aspawn_action_write(struct aspawn_action *action, const char *path, const char *text)
{
	make(action, ASPAWN_ACTION_WRITE);
	SET(write, path);
	SET(write, text);
}

void aspawn_action_call(struct aspawn_action *action, aspawn_call function, void *arg)
{
	make(action, ASPAWN_ACTION_CALL);
	SET(call, function);
	SET(call, arg);
}
