/* The functions that make actions, one for each kind. */
#include <aspawn/action.h>

#define MAKE(name, ...) (*action = (struct aspawn_action)name(__VA_ARGS__))

void aspawn_action_dup2(struct aspawn_action *action, int from, int to)
{
	MAKE(ASPAWN_DUP2, from, to);
}

void aspawn_action_open(struct aspawn_action *action, int fd, const char *path, int flags, unsigned mode)
{
	MAKE(ASPAWN_OPEN, fd, path, flags, mode);
}

void aspawn_action_openat(struct aspawn_action *action, int fd, int dirfd, const char *path, int flags,
			  unsigned mode)
{
	MAKE(ASPAWN_OPENAT, fd, dirfd, path, flags, mode);
}

void aspawn_action_openat2(struct aspawn_action *action, int fd, int dirfd, const char *path, int flags,
			   unsigned mode, uint64_t resolve)
{
	MAKE(ASPAWN_OPENAT2, fd, dirfd, path, flags, mode, resolve);
}

void aspawn_action_dev_null(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_DEV_NULL, fd);
}

void aspawn_action_output_pipe(struct aspawn_action *action, int fd, int *read_end)
{
	MAKE(ASPAWN_OUTPUT_PIPE, fd, read_end);
}

void aspawn_action_input_pipe(struct aspawn_action *action, int fd, int *write_end)
{
	MAKE(ASPAWN_INPUT_PIPE, fd, write_end);
}

void aspawn_action_close(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_CLOSE, fd);
}

void aspawn_action_closefrom(struct aspawn_action *action, int first)
{
	MAKE(ASPAWN_CLOSEFROM, first);
}

void aspawn_action_cloexec_from(struct aspawn_action *action, int first)
{
	MAKE(ASPAWN_CLOEXEC_FROM, first);
}

void aspawn_action_setenv(struct aspawn_action *action, const char *name, const char *value)
{
	MAKE(ASPAWN_SETENV, name, value);
}

void aspawn_action_unsetenv(struct aspawn_action *action, const char *name)
{
	MAKE(ASPAWN_UNSETENV, name);
}

void aspawn_action_clearenv(struct aspawn_action *action)
{
	*action = (struct aspawn_action)ASPAWN_CLEARENV();
}

void aspawn_action_chdir(struct aspawn_action *action, const char *path)
{
	MAKE(ASPAWN_CHDIR, path);
}

void aspawn_action_fchdir(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_FCHDIR, fd);
}

void aspawn_action_umask(struct aspawn_action *action, unsigned mask)
{
	MAKE(ASPAWN_UMASK, mask);
}

void aspawn_action_setsid(struct aspawn_action *action)
{
	*action = (struct aspawn_action)ASPAWN_SETSID();
}

void aspawn_action_setpgid(struct aspawn_action *action, int pgid)
{
	MAKE(ASPAWN_SETPGID, pgid);
}

void aspawn_action_controlling_terminal(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_CONTROLLING_TERMINAL, fd);
}

void aspawn_action_foreground(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_FOREGROUND, fd);
}

void aspawn_action_reset_signals(struct aspawn_action *action)
{
	*action = (struct aspawn_action)ASPAWN_RESET_SIGNALS();
}

void aspawn_action_sigmask(struct aspawn_action *action, const void *set)
{
	MAKE(ASPAWN_SIGMASK, set);
}

void aspawn_action_signals_default(struct aspawn_action *action, const void *set)
{
	MAKE(ASPAWN_SIGNALS_DEFAULT, set);
}

void aspawn_action_signals_ignore(struct aspawn_action *action, const void *set)
{
	MAKE(ASPAWN_SIGNALS_IGNORE, set);
}

void aspawn_action_pdeathsig(struct aspawn_action *action, int signal)
{
	MAKE(ASPAWN_PDEATHSIG, signal);
}

void aspawn_action_rlimit(struct aspawn_action *action, int resource, uint64_t soft, uint64_t hard)
{
	MAKE(ASPAWN_RLIMIT, resource, soft, hard);
}

void aspawn_action_nice(struct aspawn_action *action, int value)
{
	MAKE(ASPAWN_NICE, value);
}

void aspawn_action_scheduler(struct aspawn_action *action, int policy, int priority)
{
	MAKE(ASPAWN_SCHEDULER, policy, priority);
}

void aspawn_action_affinity(struct aspawn_action *action, const void *mask, size_t size)
{
	MAKE(ASPAWN_AFFINITY, mask, size);
}

void aspawn_action_ioprio(struct aspawn_action *action, int value)
{
	MAKE(ASPAWN_IOPRIO, value);
}

void aspawn_action_oom_score_adj(struct aspawn_action *action, int value)
{
	MAKE(ASPAWN_OOM_SCORE_ADJ, value);
}

void aspawn_action_personality(struct aspawn_action *action, unsigned persona)
{
	MAKE(ASPAWN_PERSONALITY, persona);
}

void aspawn_action_join_cgroup(struct aspawn_action *action, int fd)
{
	MAKE(ASPAWN_JOIN_CGROUP, fd);
}

void aspawn_action_user(struct aspawn_action *action, unsigned uid, unsigned gid, const unsigned *groups,
			size_t count)
{
	MAKE(ASPAWN_USER, uid, gid, groups, count);
}

void aspawn_action_resuid(struct aspawn_action *action, unsigned real, unsigned effective, unsigned saved)
{
	MAKE(ASPAWN_RESUID, real, effective, saved);
}

void aspawn_action_resgid(struct aspawn_action *action, unsigned real, unsigned effective, unsigned saved)
{
	MAKE(ASPAWN_RESGID, real, effective, saved);
}

void aspawn_action_groups(struct aspawn_action *action, const unsigned *groups, size_t count)
{
	MAKE(ASPAWN_GROUPS, groups, count);
}

void aspawn_action_cap_drop(struct aspawn_action *action, int capability)
{
	MAKE(ASPAWN_CAP_DROP, capability);
}

void aspawn_action_cap_ambient(struct aspawn_action *action, int capability)
{
	MAKE(ASPAWN_CAP_AMBIENT, capability);
}

void aspawn_action_securebits(struct aspawn_action *action, unsigned bits)
{
	MAKE(ASPAWN_SECUREBITS, bits);
}

void aspawn_action_no_new_privs(struct aspawn_action *action)
{
	*action = (struct aspawn_action)ASPAWN_NO_NEW_PRIVS();
}

void aspawn_action_seccomp(struct aspawn_action *action, const void *filter, size_t count)
{
	MAKE(ASPAWN_SECCOMP, filter, count);
}

void aspawn_action_landlock(struct aspawn_action *action, int ruleset_fd)
{
	MAKE(ASPAWN_LANDLOCK, ruleset_fd);
}

void aspawn_action_chroot(struct aspawn_action *action, const char *path)
{
	MAKE(ASPAWN_CHROOT, path);
}

void aspawn_action_pivot_root(struct aspawn_action *action, const char *new_root, const char *put_old)
{
	MAKE(ASPAWN_PIVOT_ROOT, new_root, put_old);
}

void aspawn_action_unshare(struct aspawn_action *action, uint64_t flags)
{
	MAKE(ASPAWN_UNSHARE, flags);
}

void aspawn_action_setns(struct aspawn_action *action, int fd, int type)
{
	MAKE(ASPAWN_SETNS, fd, type);
}

void aspawn_action_mount(struct aspawn_action *action, const char *source, const char *target,
			 const char *type, uint64_t flags, const char *options)
{
	MAKE(ASPAWN_MOUNT, source, target, type, flags, options);
}

void aspawn_action_hostname(struct aspawn_action *action, const char *name)
{
	MAKE(ASPAWN_HOSTNAME, name);
}

void aspawn_action_write(struct aspawn_action *action, const char *path, const char *text)
{
	MAKE(ASPAWN_WRITE, path, text);
}

void aspawn_action_call(struct aspawn_action *action, aspawn_call function, void *arg)
{
	MAKE(ASPAWN_CALL, function, arg);
}
