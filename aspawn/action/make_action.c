/* SPDX-License-Identifier: MIT */
/* A function for each kind of action makes the action. */
#include <aspawn/action.h>
#include <syscall/string.h>

#include "../marks.h"

/* Clears all bytes: assigning the structure would leave padding, and the rest of the union,
 * uninitialized. */
static __attribute__((noinline)) IN_ANY void begin_action(struct aspawn_action *action,
							  uint32_t kind)
{
	psys_memset(action, 0, sizeof *action);
	action->kind = kind;
}

/* MAKERn(KIND, name, type of the first member, its name, ...) defines a function of n members. */
#define SET(name, member) action->u.name.member = member;
#define MAKER(KIND, name, parameters, assignments)          \
	IN_ANY void aspawn_action_##name parameters         \
	{                                                   \
		begin_action(action, ASPAWN_ACTION_##KIND); \
		assignments                                 \
	}
#define MAKER0(KIND, name) MAKER(KIND, name, (struct aspawn_action * action), )
#define MAKER1(KIND, name, A, a) \
	MAKER(KIND, name, (struct aspawn_action * action, A a), SET(name, a))
#define MAKER2(KIND, name, A, a, B, b) \
	MAKER(KIND, name, (struct aspawn_action * action, A a, B b), SET(name, a) SET(name, b))
#define MAKER3(KIND, name, A, a, B, b, C, c)                              \
	MAKER(KIND, name, (struct aspawn_action * action, A a, B b, C c), \
	      SET(name, a) SET(name, b) SET(name, c))
#define MAKER4(KIND, name, A, a, B, b, C, c, D, d)                             \
	MAKER(KIND, name, (struct aspawn_action * action, A a, B b, C c, D d), \
	      SET(name, a) SET(name, b) SET(name, c) SET(name, d))
#define MAKER5(KIND, name, A, a, B, b, C, c, D, d, E, e)                            \
	MAKER(KIND, name, (struct aspawn_action * action, A a, B b, C c, D d, E e), \
	      SET(name, a) SET(name, b) SET(name, c) SET(name, d) SET(name, e))
#define MAKER6(KIND, name, A, a, B, b, C, c, D, d, E, e, F, f)                           \
	MAKER(KIND, name, (struct aspawn_action * action, A a, B b, C c, D d, E e, F f), \
	      SET(name, a) SET(name, b) SET(name, c) SET(name, d) SET(name, e) SET(name, f))

MAKER2(DUP2, dup2, int, from, int, to)

IN_ANY void aspawn_action_open(struct aspawn_action *action, int fd, const char *path, int flags,
			       unsigned mode)
{
	aspawn_action_openat(action, fd, PSYS_AT_FDCWD, path, flags, mode);
}

MAKER5(OPENAT, openat, int, fd, int, dirfd, const char *, path, int, flags, unsigned, mode)
MAKER6(OPENAT2, openat2, int, fd, int, dirfd, const char *, path, int, flags, unsigned, mode,
       uint64_t, resolve)

IN_ANY void aspawn_action_dev_null(struct aspawn_action *action, int fd)
{
	aspawn_action_open(action, fd, "/dev/null", PSYS_O_RDWR, 0);
}

MAKER2(OUTPUT_PIPE, output_pipe, int, fd, int *, read_end)
MAKER2(INPUT_PIPE, input_pipe, int, fd, int *, write_end)
MAKER1(CLOSE, close, int, fd)
MAKER1(CLOSEFROM, closefrom, int, first)
MAKER1(ONLY_BELOW, only_below, int, first)
MAKER1(CLOEXEC_FROM, cloexec_from, int, first)
MAKER2(SETENV, setenv, const char *, name, const char *, value)
MAKER1(UNSETENV, unsetenv, const char *, name)
MAKER0(CLEARENV, clearenv)
MAKER1(CHDIR, chdir, const char *, path)
MAKER1(FCHDIR, fchdir, int, fd)
MAKER1(UMASK, umask, unsigned, mask)
MAKER0(SETSID, setsid)
MAKER1(SETPGID, setpgid, int, pgid)
MAKER1(CONTROLLING_TERMINAL, controlling_terminal, int, fd)
MAKER1(FOREGROUND, foreground, int, fd)
MAKER0(RESET_SIGNALS, reset_signals)
MAKER1(SIGMASK, sigmask, const void *, set)
MAKER1(SIGNALS_DEFAULT, signals_default, const void *, set)
MAKER1(SIGNALS_IGNORE, signals_ignore, const void *, set)
MAKER1(SIGNAL_DEFAULT, signal_default, int, signal)
MAKER1(SIGNAL_IGNORE, signal_ignore, int, signal)
MAKER1(PDEATHSIG, pdeathsig, int, signal)
MAKER3(RLIMIT, rlimit, int, resource, uint64_t, soft, uint64_t, hard)
MAKER1(NICE, nice, int, value)
MAKER2(SCHEDULER, scheduler, int, policy, int, priority)
MAKER2(AFFINITY, affinity, const void *, mask, size_t, size)
MAKER1(IOPRIO, ioprio, int, value)
MAKER1(OOM_SCORE_ADJ, oom_score_adj, int, value)
MAKER1(PERSONALITY, personality, unsigned, persona)
MAKER1(JOIN_CGROUP, join_cgroup, int, fd)
MAKER4(NEW_CGROUP, new_cgroup, int, parent_fd, uint64_t, memory_max, uint64_t, pids_max, uint64_t,
       cpu_max)
MAKER4(USER, user, unsigned, uid, unsigned, gid, const unsigned *, groups, size_t, count)
MAKER3(RESUID, resuid, unsigned, real, unsigned, effective, unsigned, saved)
MAKER3(RESGID, resgid, unsigned, real, unsigned, effective, unsigned, saved)
MAKER2(GROUPS, groups, const unsigned *, groups, size_t, count)
MAKER1(CAP_DROP, cap_drop, int, capability)
MAKER1(CAP_AMBIENT, cap_ambient, int, capability)
MAKER1(SECUREBITS, securebits, unsigned, bits)
MAKER0(NO_NEW_PRIVS, no_new_privs)
MAKER2(SECCOMP, seccomp, const void *, filter, size_t, count)
MAKER2(LANDLOCK, landlock, int, ruleset_fd, unsigned, flags)
MAKER1(CHROOT, chroot, const char *, path)
MAKER2(PIVOT_ROOT, pivot_root, const char *, new_root, const char *, put_old)
MAKER1(UNSHARE, unshare, uint64_t, flags)
MAKER2(SETNS, setns, int, fd, int, type)
MAKER5(MOUNT, mount, const char *, source, const char *, target, const char *, type, uint64_t,
       flags, const char *, options)
MAKER1(HOSTNAME, hostname, const char *, name)
MAKER2(WRITE, write, const char *, path, const char *, text)
MAKER2(CALL, call, aspawn_call, function, void *, arg)

/* Makes a call with at most three arguments. */
static __attribute__((noinline)) IN_ANY void make_syscall_action(struct aspawn_action *action,
								 int number, unsigned marks,
								 int64_t a1, int64_t a2, int64_t a3)
{
	begin_action(action, ASPAWN_ACTION_SYSCALL);
	action->flags = marks;
	action->u.syscall.number = number;
	action->u.syscall.expected = ASPAWN_EXPECTED_SUCCESS;
	action->u.syscall.words[0] = (unsigned long)a1;
	action->u.syscall.words[1] = (unsigned long)a2;
	action->u.syscall.words[2] = (unsigned long)a3;
}

static IN_ANY void add_words(struct aspawn_action *action, int64_t a4, int64_t a5)
{
	action->u.syscall.words[3] = (unsigned long)a4;
	action->u.syscall.words[4] = (unsigned long)a5;
}

IN_ANY void aspawn_action_syscall(struct aspawn_action *action, int number, int64_t a1, int64_t a2,
				  int64_t a3, int64_t a4, int64_t a5, int64_t a6, unsigned marks,
				  int expected)
{
	make_syscall_action(action, number, marks, a1, a2, a3);
	add_words(action, a4, a5);
	action->u.syscall.words[5] = (unsigned long)a6;
	action->u.syscall.expected = expected;
}

IN_ANY void aspawn_action_prctl(struct aspawn_action *action, int option, int64_t arg2,
				int64_t arg3, int64_t arg4, int64_t arg5)
{
	make_syscall_action(action, PSYS_NR_prctl, 0, option, arg2, arg3);
	add_words(action, arg4, arg5);
}

IN_ANY void aspawn_action_ioctl(struct aspawn_action *action, int fd, unsigned request,
				const void *data, size_t size)
{
	make_syscall_action(action, PSYS_NR_ioctl, ASPAWN_ARG_FD(0) | ASPAWN_ARG_BYTES(2, size), fd,
			    request, (intptr_t)data);
}

IN_ANY void aspawn_action_fcntl(struct aspawn_action *action, int fd, int command, int64_t value)
{
	make_syscall_action(action, PSYS_NR_fcntl, ASPAWN_ARG_FD(0), fd, command, value);
}

IN_ANY void aspawn_action_sched_setattr(struct aspawn_action *action, const void *data, size_t size)
{
	make_syscall_action(action, PSYS_NR_sched_setattr, ASPAWN_ARG_BYTES(1, size), 0,
			    (intptr_t)data, 0);
}

IN_ANY void aspawn_action_set_mempolicy(struct aspawn_action *action, int mode, const void *nodes,
					size_t size)
{
	make_syscall_action(action, PSYS_NR_set_mempolicy, ASPAWN_ARG_BYTES(1, size), mode,
			    size == 0 ? 0 : (intptr_t)nodes, size == 0 ? 0 : (int64_t)size * 8 + 1);
}

IN_ANY void aspawn_action_keyctl(struct aspawn_action *action, int operation, int64_t arg2,
				 int64_t arg3, int64_t arg4, int64_t arg5)
{
	make_syscall_action(action, PSYS_NR_keyctl, 0, operation, arg2, arg3);
	add_words(action, arg4, arg5);
}
