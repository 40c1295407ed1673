/* SPDX-License-Identifier: MIT */
/*
 * aspawn: start a child without suspending the caller.
 *
 * The child shares the caller's memory until it executes a program or exits. It runs the caller's
 * function on its own stack, and reports through a pipe. Memory is not copied, so the cost does
 * not grow with the caller. The call returns at once; it does not wait for the exec.
 *
 * This is the primitive, for code that must run in the child. To start a program, with what the
 * child does before as data, use aspawn_start(3).
 *
 * Every function here is async-signal-safe and thread-safe, and returns a negative error number
 * (syscall/errno.h; the numbers are those of errno(3)) on failure. errno is not changed. Each
 * thread uses its own stacks.
 *
 * What the child's function may do: see ASPAWN_CHILD and aspawn(3).
 */
#ifndef ASPAWN_ASPAWN_H
#define ASPAWN_ASPAWN_H

#include <syscall/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int pid_t; /* the same type as in every libc for Linux */

/*
 * A stack for children, owned by the caller and reused for later children: {0} before its first
 * use, aspawn_stack_release() after its last. Never changes its size.
 */
struct Stack_t {
	void *addr;  /* where the mapping begins */
	size_t size; /* of the mapping in bytes, guard included */
};

/*
 * The child runs this function. All signals are blocked there, caught signals have the default
 * action, and ignored signals are ignored. The return value is the child's exit status.
 *
 * write_end_fd  the write end of the pipe, which is CLOEXEC; -1 with ASPAWN_WITH_NO_PIPE
 * old_sigset    the signal mask of the thread that called aspawn(): a struct psys_sigset, followed
 *               by zeros up to the size of a libc's sigset_t. fn must set this mask before it
 *               executes a program: psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL,
 *               PSYS_SIGSET_SIZE). Otherwise the program runs with all signals blocked.
 * user_data     the copy of the caller's data, aligned to 16 bytes
 */
typedef int (*aspawn_fn)(void *arg, int write_end_fd, void *old_sigset, void *user_data,
			 size_t user_data_len);

/*
 * Declare each function that runs in a child with this. The child shares the caller's memory and
 * thread pointer, so the function must not be instrumented by the stack protector, sanitizers or
 * profilers (PSYS_UNINSTRUMENTED in syscall/base.h lists what no attribute turns off). It may call
 * psys_*, the helpers of syscall/ and other ASPAWN_CHILD functions. Functions of a libc, malloc,
 * errno or a lock may hang or corrupt the caller.
 */
#define ASPAWN_CHILD PSYS_UNINSTRUMENTED

/*
 * Starts a child that shares the caller's memory and runs fn(arg, write_end_fd, old_sigset, copy
 * of user_data, user_data_len) on cached_stack, usually until it executes a program. The call
 * returns at once. During the call all signals are blocked in the calling thread.
 *
 * pid           Gets the child's number. The caller has to wait for the child, by waitpid(2).
 * cached_stack  It is {0} before its first use. The call maps the stack, or grows it, to hold
 *               reserved_stack_sz and user_data_len bytes. A guard lies below it. The next child
 *               may use the stack when it is not busy.
 * reserved_stack_sz  The bytes of stack for fn, without user_data. 16384 is ample for
 *               psys_execvpe() of syscall/exec.h.
 * arg           The first argument of fn. What it points to must stay valid until the stack is not
 *               busy.
 * user_data     The call copies user_data_len bytes from here, for fn; NULL if user_data_len is 0.
 *
 * Returns the read end of a CLOEXEC pipe, which the caller closes. The end of file means that no
 * copy of the write end is left, normally because the child executed a program or exited.
 *   -EINVAL     pid, cached_stack or fn is NULL; user_data is NULL and user_data_len is not 0;
 *               user_data lies in the stack; cached_stack is neither {0} nor a stack of this
 *               library
 *   -EOVERFLOW  the sum of the sizes is more than an address can hold
 *   -EBUSY      a child still runs on cached_stack
 *   -ENOMEM     there is no memory for the stack (mmap(2), mprotect(2)) or the child
 *   -EMFILE, -ENFILE  there is no descriptor for the pipe (pipe(2)) or the pidfd
 *   -EAGAIN     RLIMIT_NPROC or the system's limits are reached (clone(2))
 *   -EPERM      a seccomp filter forbids every clone method
 *
 * Other errors are those of pipe2(2) and clone(2). After an error *pid and *pidfd are untouched,
 * there is no child, no descriptor is open, and the signal mask is as before; cached_stack may
 * have grown.
 */
PSYS_API int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz,
		    aspawn_fn fn, void *arg, void *user_data, size_t user_data_len);

/* aspawn_with() has these flags: */
enum aspawn_with_flags {
	/* No pipe is made: the call returns 0, which is no descriptor, and write_end_fd is -1. */
	ASPAWN_WITH_NO_PIPE = 1,
	/* The caller is suspended until the child has executed a program or exited, as by vfork(2).
	 * This is for debuggers, which otherwise remove breakpoints from the caller too. */
	ASPAWN_WITH_SUSPENSION = 2
};

/*
 * Starts a child as aspawn() does, with flags and a pidfd.
 *
 * flags  A sum of enum aspawn_with_flags.
 * pidfd  Gets a CLOEXEC pidfd of the child, which the caller closes, or -1 before Linux 5.2. With
 *        NULL no pidfd is made.
 *
 * Returns what aspawn() does.
 *   -EINVAL  a flag is unknown, or an argument is invalid for aspawn()
 *
 * Other errors are those of aspawn().
 */
PSYS_API int aspawn_with(unsigned flags, int *pidfd, pid_t *pid, struct Stack_t *cached_stack,
			 size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
			 size_t user_data_len);

/*
 * Returns 1 if a child still runs on the stack, 0 if not; 0 is final until the next start on the
 * stack. NULL and an unused stack are not busy. The call cannot fail.
 *
 * The kernel clears a word on the stack when the child's exec or exit has released the memory
 * (CLONE_CHILD_CLEARTID, or the end of CLONE_VFORK: clone(2)). The pipe does not show that: its
 * end of file comes early if fn closes its descriptors, and late if another process has inherited
 * the write end.
 */
PSYS_API int aspawn_stack_busy(const struct Stack_t *stack);

/*
 * Waits until the stack is not busy. The call does not reap the child.
 *
 * timeout_ms  The milliseconds to wait. A negative number is no limit; with 0 the call does not
 *             wait.
 *
 * Returns 0 if the stack is not busy.
 *   -ETIMEDOUT  the stack is still busy
 */
PSYS_API int aspawn_stack_wait(const struct Stack_t *stack, int64_t timeout_ms);

/*
 * Unmaps the stack and makes it {0} again.
 *
 * Returns 0 if nothing of the stack is left.
 *   -EBUSY   a child still runs on the stack; nothing has changed
 *   -EINVAL  stack is NULL, or neither {0} nor a stack of this library
 */
PSYS_API int aspawn_stack_release(struct Stack_t *stack);

#ifdef __cplusplus
}
#endif

#endif
