/* SPDX-License-Identifier: MIT */
/*
 * This is the primitive, for code that must run in the child. aspawn_start(3) starts a program,
 * with the child's actions as data.
 *
 * The child shares the caller's memory until it executes a program or exits. It runs the caller's
 * function on its own stack, and reports through a pipe. Memory is not copied, so the cost does
 * not grow with the caller. The call returns at once; it does not wait for the exec.
 *
 * Every function here is async-signal-safe and thread-safe. It returns 0, or what its comment says,
 * or a negative error number (syscall/errno.h; the numbers are those of errno(3)). errno is not
 * changed. Each thread uses its own stacks.
 */
#ifndef ASPAWN_ASPAWN_H
#define ASPAWN_ASPAWN_H

#include <syscall/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int pid_t; /* the same type as in every libc for Linux */

/*
 * The caller owns a stack for children, and may reuse the stack for later children. Zero the
 * structure before the first use, and call aspawn_stack_release() after the last. The structure
 * never changes its size.
 */
struct Stack_t {
	void *addr;  /* where the mapping begins */
	size_t size; /* of the mapping in bytes, guard included */
};

/*
 * The child runs this function, whose return value is the child's exit status. All signals are
 * blocked there, caught signals have the default action, and ignored signals stay ignored.
 *
 * write_end_fd  the CLOEXEC write end of the pipe; -1 with ASPAWN_WITH_NO_PIPE
 * old_sigset    points to the calling thread's signal mask: a struct psys_sigset, followed by zeros
 *               up to the size of a libc's sigset_t. fn must set it before an exec: otherwise the
 *               program runs with all signals blocked.
 * user_data     points to the copy of the caller's data, aligned to 16 bytes
 *
 * Details: fn sets the mask by psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL,
 * PSYS_SIGSET_SIZE).
 */
typedef int (*aspawn_fn)(void *arg, int write_end_fd, void *old_sigset, void *user_data,
			 size_t user_data_len);

/*
 * Declare each function that runs in a child with this. The child shares the caller's memory and
 * thread pointer, so the function must not be instrumented by the stack protector, sanitizers or
 * profilers (PSYS_UNINSTRUMENTED in syscall/base.h lists what no attribute turns off). It may call
 * psys_*, the helpers of syscall/ and other ASPAWN_CHILD functions. Functions of a libc, malloc,
 * errno or a lock may hang or corrupt the caller. aspawn(3) has all rules.
 */
#define ASPAWN_CHILD PSYS_UNINSTRUMENTED

/*
 * Starts a child that runs fn(arg, write_end_fd, old_sigset, copy of user_data, user_data_len) on
 * cached_stack, and returns at once. Meanwhile the calling thread blocks all signals except SIGSYS.
 *
 * pid           Gets the child's number, for waitpid(2), which the caller has to call.
 * cached_stack  The stack is {0} before its first use. The call maps or grows the stack, with a
 *               guard below. A stack that is not busy may be used again.
 * reserved_stack_sz  The bytes of stack for fn, without user_data. 16384 is ample for
 *               psys_execvpe().
 * arg           What it points to must stay valid until the stack is not busy.
 * user_data     The call copies user_data_len bytes from here; may be NULL for 0 bytes.
 *
 * Returns the read end of a CLOEXEC pipe, which the caller closes. The pipe ends when no copy of
 * the write end is left, normally after the child's exec or exit.
 *   -EINVAL     pid, cached_stack or fn is NULL; user_data is NULL with a length, or lies in the
 *               stack; cached_stack is neither {0} nor a stack of this library
 *   -EBUSY      a child still runs on cached_stack
 *   -ENOMEM, -EOVERFLOW  there is no memory for the stack (mmap(2)) or the child
 *   -EMFILE, -ENFILE  there is no descriptor for the pipe or the pidfd
 *   -EAGAIN     RLIMIT_NPROC or the system's limits are reached (clone(2))
 *   -EPERM      a seccomp filter forbids every clone method
 *
 * Other errors are those of pipe2(2) and clone(2). After an error nothing has changed, but
 * cached_stack may have grown.
 *
 * Details: -EOVERFLOW means that the sizes are more than an address can hold.
 */
PSYS_API int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz,
		    aspawn_fn fn, void *arg, void *user_data, size_t user_data_len);

/* The flags of aspawn_with() are: */
enum aspawn_with_flags {
	/* The call makes no pipe, and returns 0, which is no descriptor. */
	ASPAWN_WITH_NO_PIPE = 1,
	/* The caller is suspended until the child's exec or exit, as by vfork(2), for debuggers.
	 *
	 * Details: debuggers otherwise remove breakpoints from the caller too. */
	ASPAWN_WITH_SUSPENSION = 2
};

/*
 * Does what aspawn() does, with a sum of enum aspawn_with_flags and a pidfd.
 *
 * pidfd  Gets a CLOEXEC pidfd of the child, which the caller closes, or -1 before Linux 5.2; may be
 *        NULL.
 *
 *   -EINVAL  a flag is unknown
 *
 * Other errors are those of aspawn().
 */
PSYS_API int aspawn_with(unsigned flags, int *pidfd, pid_t *pid, struct Stack_t *cached_stack,
			 size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
			 size_t user_data_len);

/*
 * Returns 1 until the child's exec or exit has released the stack (CLONE_CHILD_CLEARTID of
 * clone(2)), then 0 until the next start there. The end of the pipe may come earlier or later.
 *
 * Details: NULL and an unused stack are not busy. The call cannot fail.
 */
PSYS_API int aspawn_stack_busy(const struct Stack_t *stack);

/*
 * Waits until the stack is not busy, and does not reap the child.
 *
 * timeout_ms  The milliseconds to wait; a negative number means no limit.
 *
 *   -ETIMEDOUT  the stack is still busy
 */
PSYS_API int aspawn_stack_wait(const struct Stack_t *stack, int64_t timeout_ms);

/*
 * Unmaps the stack and makes it {0} again.
 *   -EBUSY   a child still runs on the stack
 *   -EINVAL  stack is NULL, or neither {0} nor a stack of this library
 */
PSYS_API int aspawn_stack_release(struct Stack_t *stack);

#ifdef __cplusplus
}
#endif

#endif
