/* SPDX-License-Identifier: MIT */
/*
 * aspawn: start a program without suspending the caller.
 *
 * The child shares the parent's memory until it execs or exits, runs the caller's function on a
 * stack of its own, and reports through a pipe. Memory is not copied, so the cost does not grow
 * with the parent. The parent runs on at once and does not wait for the exec.
 *
 * Every function here is async-signal-safe and thread-safe, and returns a negative error number
 * (syscall/errno.h) on failure. Each thread uses stacks of its own.
 *
 * What the child's function may do: see ASPAWN_CHILD and aspawn(3).
 */
#ifndef ASPAWN_ASPAWN_H
#define ASPAWN_ASPAWN_H

#include <syscall/base.h>
#include <syscall/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int pid_t;  /* as every libc for Linux has it */
struct psys_rusage; /* syscall/process.h */

/*
 * A stack for children, owned by the caller and reused by later children: {0} before its first
 * use, aspawn_stack_release() after its last. The mapping begins at addr and has size bytes, guard
 * included.
 */
struct Stack_t {
	void *addr;
	size_t size;
};

/*
 * The function that the child runs, with all signals blocked and no handler set. Its return value
 * is the child's exit status.
 *
 * write_end_fd  the pipe, CLOEXEC; -1 with ASPAWN_NO_PIPE
 * old_sigset    the signal mask of the caller of aspawn: struct psys_sigset,
 *               followed by zeros up to the size of a libc's sigset_t. fn must set it
 *               before it execs: psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL,
 *               PSYS_SIGSET_SIZE). Otherwise the program runs with all signals blocked.
 * user_data     the copy of the caller's data, aligned to 16 bytes
 */
typedef int (*aspawn_fn)(void *arg, int write_end_fd, void *old_sigset, void *user_data,
			 size_t user_data_len);

/*
 * Declare each function that runs in a child with this. The child shares the parent's memory and
 * thread pointer, so its functions must not be instrumented by the stack protector, sanitizers or
 * profilers (PSYS_UNINSTRUMENTED in syscall/base.h lists what no attribute turns off). They may
 * call psys_*, the helpers of syscall/ and other ASPAWN_CHILD functions. Functions of a libc,
 * malloc, errno or a lock may hang or corrupt the parent.
 */
#define ASPAWN_CHILD PSYS_UNINSTRUMENTED

/*
 * Starts a child that runs fn(arg, write_end_fd, old_sigset, copy of user_data,
 * user_data_len) on cached_stack.
 *
 * pid                out: the child, which the caller has to wait for
 * cached_stack       mapped, or grown, to hold reserved_stack_sz and user_data_len bytes
 * reserved_stack_sz  bytes of stack for fn, user_data not counted; 16384 is ample for
 *                    psys_execvpe() of syscall/exec.h
 * user_data          copied before the call returns; NULL if user_data_len is 0
 *
 * Returns the read end of a CLOEXEC pipe, which the caller closes. Its end of file means that no
 * copy of the write end is left, normally because the child executed a program or exited.
 *
 * On failure *pid is untouched, there is no child, no descriptor is open, and
 * the signal mask is as before; cached_stack may have grown.
 *   -EINVAL     pid, cached_stack or fn is NULL; user_data is NULL and
 *               user_data_len is not 0; user_data lies in the stack; cached_stack is neither
 *               {0} nor a stack of this library
 *   -EOVERFLOW  the sizes' sum is more than an address can hold
 *   -EBUSY      a child still runs on cached_stack
 *   -ENOMEM     no memory for the stack (mmap(2), mprotect(2)) or the child
 *   -EMFILE, -ENFILE  no descriptor for the pipe (pipe(2))
 *   -EAGAIN     RLIMIT_NPROC or the system's limits (clone(2))
 * and other errors of pipe2(2) and clone(2).
 */
PSYS_API int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz,
		    aspawn_fn fn, void *arg, void *user_data, size_t user_data_len);

enum aspawn_flags {
	/* Make no pipe: the call returns 0 (no descriptor) and write_end_fd is -1. */
	ASPAWN_NO_PIPE = 1,
	/* Store a CLOEXEC pidfd of the child in *options->pidfd. Linux 5.2; on older kernels -1
	 * is stored, and the child runs. */
	ASPAWN_PIDFD = 2,
	/* Start the child in the cgroup (version 2) whose directory is open as
	 * options->cgroup_fd. Linux 5.7, otherwise -ENOSYS. If the child exceeds the cgroup's
	 * memory limit before its exec, the OOM killer also kills the caller, which shares the
	 * memory. ASPAWN_VFORK spares the caller, but then a frozen cgroup suspends the caller
	 * for good. */
	ASPAWN_CGROUP = 4,
	/* Suspend the caller until the child has executed a program or exited. For debuggers,
	 * which otherwise remove breakpoints from the parent too. */
	ASPAWN_VFORK = 8,
	/*
	 * The child is nobody else's business: no SIGCHLD, nothing for any wait of the caller's
	 * process, not even wait(-1); aspawn_private_wait() tells how it ended. A helper process
	 * that shares the caller's memory is its parent, until it has ended: so long the stack
	 * is busy. Not with ASPAWN_VFORK. See aspawn(3), "Private children".
	 */
	ASPAWN_PRIVATE = 16,
	/* As ASPAWN_PRIVATE, and the child is killed (SIGKILL) when the caller's process ends,
	 * whichever of its threads made the child; not at the caller's exec. Not its descendants. */
	ASPAWN_DIES_WITH_CALLER = 32,
	/* The child has no_new_privs before fn runs. If a filter forbids that (prctl(2)), the child
	 * exits with 127 and fn does not run. */
	ASPAWN_NNP = 64
};

struct aspawn_options {
	/* sizeof(struct aspawn_options); a later version may have more members */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* enum aspawn_flags */
	int *pidfd;     /* out, with ASPAWN_PIDFD; untouched on failure */
	int cgroup_fd;  /* with ASPAWN_CGROUP */
	int reserved;   /* 0 */
};

/* The size of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_options_has_its_size, sizeof(struct aspawn_options) == 32);

/*
 * As aspawn(), with options, which may be NULL. Further errors:
 *   -EINVAL  an unknown flag; size is less than the first version's; ASPAWN_PIDFD, and pidfd is
 *            NULL
 *   -E2BIG   size is larger than this library's, and a byte beyond is not zero
 *   -EBADF   cgroup_fd is not open
 *   -ENOSYS  ASPAWN_CGROUP is not supported by the kernel, or forbidden by a filter
 *   -EOPNOTSUPP  ASPAWN_PRIVATE where no process can share the memory (user-mode emulators; a
 *            thread whose children go to another time namespace, before Linux 5.19), or
 *            where children go to another pid namespace, which is used up by that
 *   -EAGAIN  ASPAWN_PRIVATE, and somebody killed the helper
 *   -EACCES, -EBUSY, -ENODEV, -EOPNOTSUPP  errors of CLONE_INTO_CGROUP (clone(2))
 */
PSYS_API int aspawn_with(const struct aspawn_options *options, pid_t *pid,
			 struct Stack_t *cached_stack, size_t reserved_stack_sz, aspawn_fn fn,
			 void *arg, void *user_data, size_t user_data_len);

/*
 * Returns 1 if a child still runs on the stack, 0 if not; 0 is final until the next spawn on the
 * stack. The kernel clears a word on the stack when the child's exec or exit has released the
 * memory (CLONE_CHILD_CLEARTID, or the end of CLONE_VFORK). The pipe does not show that. NULL and
 * an unused stack are not busy.
 */
PSYS_API int aspawn_stack_busy(const struct Stack_t *stack);

/*
 * Waits until the stack is not busy, at most for timeout from now; NULL: no limit. Does not reap
 * the child.
 *   0
 *   -ETIMEDOUT  still busy
 *   -EINVAL     tv_sec is negative, tv_nsec is not in [0, 999999999]
 */
PSYS_API int aspawn_stack_wait(const struct Stack_t *stack, const struct psys_timespec *timeout);

/*
 * Unmaps the stack and makes it {0} again.
 *   0
 *   -EBUSY   a child still runs on it; nothing changed
 *   -EINVAL  stack is NULL, or neither {0} nor a stack of this library
 */
PSYS_API int aspawn_stack_release(struct Stack_t *stack);

/* Returns the clone method of the last child on this stack. */
PSYS_API int aspawn_mode(const struct Stack_t *stack);

/*
 * Waits for the end of the last child on the stack, made with ASPAWN_PRIVATE, at most for
 * timeout, a time from now; NULL: for ever. The answer stays until the next child. When
 * the child's pidfd is readable it is a few microseconds away.
 *
 * status  out, may be NULL: as of wait(2)
 * usage   out, may be NULL: what the child and its reaped children used
 *
 *   0           it has ended, and the stack is not busy any more
 *   -ETIMEDOUT  still running
 *   -ECHILD     no such child; or somebody killed the helper, and the end is not known
 *   -EINVAL     as of aspawn_stack_wait()
 */
PSYS_API int aspawn_private_wait(const struct Stack_t *stack, int *status,
				 struct psys_rusage *usage, const struct psys_timespec *timeout);

/* How a child is hidden. */
enum aspawn_privacy {
	ASPAWN_NOT_PRIVATE,        /* it is not, or there has been none */
	ASPAWN_PRIVATE_HELPED,     /* the helper is a zombie from its end until it is reaped */
	ASPAWN_PRIVATE_AUTOREAPED, /* the kernel reaps the helper (CLONE_AUTOREAP, Linux 7.1) */
};

/* How the last child on this stack is hidden: enum aspawn_privacy. */
PSYS_API int aspawn_privacy(const struct Stack_t *stack);

#ifdef __cplusplus
}
#endif

#endif
