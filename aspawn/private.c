/* SPDX-License-Identifier: MIT */
/* The helper of a private child: private.h says what it does and why in that order. */
#include "private.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "clone.h"
#include "close_by_proc.h"
#include "deadline.h"
#include "exec_watch.h"
#include "execute_first.h"
#include "own_descriptors.h"
#include "reaped.h"

/* The helper's input and output, above its frames. */
struct helper {
	struct Stack_t stack;
	struct request request; /* a copy: the caller's thread may be cancelled */
	int host;               /* pid of the caller */
	int pidfd;              /* of the child, in the helper's own table; -1: none */
	long result;            /* out: the child's pid or an error; 0: the helper was killed */
};

static PSYS_UNINSTRUMENTED struct helper *helper_of(const struct Stack_t *stack)
{
	return (struct helper *)(void *)((char *)stack->addr + STACK_UNIT) - 1;
}

/* From the best down. The exit signal of each is 0. */
static const struct {
	uint64_t flags;
	bool clone3;
} methods[] = {
	{ PSYS_CLONE_AUTOREAP, true }, /* Linux 7.1 */
	{ 0, true },
	{ 0, false },
};

/* --- the helper ------------------------------------------------------------- */

/* Returns true if the helper has a descriptor table of its own, with nothing in it but *kept, which
 * gets the number 0; negative: nothing. */
static PSYS_UNINSTRUMENTED bool release_files(bool is_shared, int *kept)
{
	const int first = *kept >= 0;

	if (*kept > 0 && psys_dup3(*kept, 0, PSYS_O_CLOEXEC) < 0)
		return false;
	if (psys_close_range((unsigned)first, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0) {
		if (is_shared && psys_unshare(PSYS_CLONE_FILES) < 0)
			return false;
		aspawn_close_via_proc(first, INT32_MAX, false);
	}
	*kept = first - 1;
	return true;
}

static PSYS_UNINSTRUMENTED unsigned inode_of(int pidfd)
{
	struct psys_statx status;

	status.stx_ino = 0;
	if (pidfd >= 0)
		psys_statx(pidfd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &status);
	return (unsigned)status.stx_ino;
}

/* Waits for the first end: false if the parent's process has ended before the child. Without
 * pidfds returns true at once; a child that shall die with its host then dies with the helper, and
 * the helper with the thread that has made it. */
static PSYS_UNINSTRUMENTED bool watch_both(struct stack_state *state, int child,
					   struct helper *helper)
{
	/* The clone's, if it is not in the host's table. */
	int pidfd = helper->request.detached ? stack_control(&helper->stack)->pidfd : -1;
	/* In the host's table they would be descriptors of the host. */
	const bool own_files = release_files(!helper->request.detached, &pidfd);
	if (pidfd < 0 && own_files && !helper->request.for_caller)
		pidfd = psys_pidfd_open(child, 0);
	struct psys_timespec second;
	struct psys_pollfd polled[2] = { { pidfd, PSYS_POLLIN, 0 },
					 { own_files ? psys_pidfd_open(helper->host, 0) : -1,
					   PSYS_POLLIN, 0 } };
	const bool have_pidfds = polled[0].fd >= 0 && polled[1].fd >= 0;

	helper->pidfd = pidfd;
	__atomic_store_n(&state->inode, inode_of(pidfd), __ATOMIC_RELEASE);
	if (helper->request.dies_with_caller && !have_pidfds)
		psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
	int r = current_parent();
	if (r >= 0 && r != helper->host) /* the number may be another process's by now */
		return false;
	if (!have_pidfds && (pidfd < 0 || !helper->request.for_caller))
		return true;
	do { /* without the host's it looks now and then who its parent is */
		second = (struct psys_timespec){ 1, 0 }; /* ppoll(2) stores what is left */
		r = psys_ppoll(polled, 2, have_pidfds ? NULL : &second, NULL, 0);
	} while (r == -PSYS_EINTR || (r == 0 && current_parent() == helper->host));
	return r < 0 || polled[0].revents;
}

static PSYS_UNINSTRUMENTED int wait_by_id(int child, int options, struct psys_siginfo *info,
					  struct psys_rusage *usage)
{
	int r;

	do
		r = psys_waitid(PSYS_P_PID, child, info, options | (int)PSYS___WALL, usage);
	while (r == -PSYS_EINTR);
	return r;
}

/* Says that it reaps the child before it does: afterwards the number may be another's. */
static PSYS_UNINSTRUMENTED void wait_for_child(struct stack_state *state, int child)
{
	struct psys_siginfo info;

	if (wait_by_id(child, PSYS_WEXITED | PSYS_WNOWAIT, &info, NULL) < 0)
		return;
	__atomic_store_n(&state->ended, REAPED_NEXT, __ATOMIC_SEQ_CST);
	if (wait_by_id(child, PSYS_WEXITED, &info, &state->usage) < 0)
		return;
	state->status = aspawn_wait_status(&info);
	__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
}

/* The caller waits for its child. If it ignores SIGCHLD nobody does, and what the kernel keeps for a
 * pidfd is the helper's to store: the caller may not have one yet. */
static PSYS_UNINSTRUMENTED void keep_status(struct stack_state *state, int pidfd)
{
	struct psys_sigaction sigchld[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */

	if (psys_rt_sigaction(PSYS_SIGCHLD, NULL, sigchld, PSYS_SIGSET_SIZE) >= 0 &&
	    (sigchld->handler == PSYS_SIG_IGN || sigchld->flags & PSYS_SA_NOCLDWAIT))
		aspawn_await_reaped(pidfd, aspawn_deadline_in(1000));
	if (pidfd < 0 || aspawn_reaped_status(pidfd, &state->status) < 0)
		return;
	psys_memset(&state->usage, 0, sizeof state->usage);
	__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
}

/* There is no child, as if it had exited with 127. */
static PSYS_UNINSTRUMENTED int fail(struct helper *helper, int error)
{
	struct stack_state *state = stack_state(&helper->stack);

	psys_memset(&state->usage, 0, sizeof state->usage);
	state->status = 127 << 8;
	state->clone_error = error;
	helper->result = error;
	__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
	return 0;
}

/* Of a private child. */
static PSYS_UNINSTRUMENTED void become_parent(struct control *control, int self, bool dies)
{
	const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
	struct psys_sigaction old[2]; /* as in keep_status() */

	if (psys_rt_sigaction(PSYS_SIGCHLD, &usual, old, PSYS_SIGSET_SIZE) >= 0)
		control->ignores_sigchld = old->handler == PSYS_SIG_IGN;
	control->parent = self;
	control->dies_with_helper = dies;
}

/* With executes_first, a second child begins in a copy of the memory if the first has returned. In the
 * helper, or in the caller where there can be none. */
static PSYS_UNINSTRUMENTED long clone_child(struct control *control, const struct request *request,
					    const struct Stack_t *stack)
{
	const long pid = request->executes_first ? aspawn_execute_first(control, request, stack) : 0;

	return pid ? pid : aspawn_clone_child(control, request, stack);
}

static PSYS_UNINSTRUMENTED int helper_main(void *arg)
{
	struct helper *helper = arg;
	struct stack_state *state = stack_state(&helper->stack);
	struct control *control = stack_control(&helper->stack);
	/* If children go to another pid namespace the helper is its init, whose end kills all. Its
	 * parent, which is not in that, has no number there. */
	if (current_parent() <= 0)
		return fail(helper, -PSYS_EOPNOTSUPP);
	if (!helper->request.for_caller)
		become_parent(control, state->helper_pid, helper->request.dies_with_caller);
	const long child = clone_child(control, &helper->request, &helper->stack);
	if (child < 0)
		return fail(helper, (int)child);

	helper->result = child;
	if (__atomic_exchange_n(&state->helper, HELPING, __ATOMIC_ACQ_REL) == CLONE_AWAITED)
		psys_futex(&state->helper, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	psys_chdir("/");
	const bool has_ended = watch_both(state, (int)child, helper);
	if (has_ended && helper->request.for_caller)
		keep_status(state, helper->pidfd);
	else if (has_ended)
		wait_for_child(state, (int)child);
	else if (helper->request.dies_with_caller)
		psys_kill((int)child, PSYS_SIGKILL);
	return 0;
}

/* --- the parent --------------------------------------------------------------- */

/* False if children are to begin in another pid namespace: by unshare(2), or setns(2). */
static bool children_stay(void)
{
	char own[64], childrens[64];
	const long length = psys_readlinkat(PSYS_AT_FDCWD, "/proc/self/ns/pid", own, sizeof own);

	return length > 0 &&
	       psys_readlinkat(PSYS_AT_FDCWD, "/proc/thread-self/ns/pid_for_children", childrens,
			       sizeof childrens) == length &&
	       !psys_memcmp(own, childrens, (size_t)length);
}

static long clone_helper(struct control *control, const struct request *request,
			 const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);
	struct clone_call call = {
		.pidfd = &control->helper_pidfd,
		.tid = &state->helper_pid,
		.cleared_tid = &state->helper,
		.lowest = (char *)(state + 1) + STACK_ALIGN - (uintptr_t)(state + 1) % STACK_ALIGN,
		.top = (char *)helper_of(stack) - (uintptr_t)helper_of(stack) % STACK_ALIGN,
		.fn = helper_main,
		.arg = helper_of(stack),
		.cgroup_fd = -1,
	};
	long r = -PSYS_ENOSYS;

	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		/* A process that is reaped so may not clone for its parent (Linux 7.1). */
		if (methods[i].flags && (state->no_autoreap || request->for_caller))
			continue;
		call.flags = methods[i].flags | PSYS_CLONE_VM | PSYS_CLONE_PARENT_SETTID |
			     PSYS_CLONE_CHILD_CLEARTID |
			     (request->detached ? 0 : PSYS_CLONE_FILES) |
			     (request->polls_helper && methods[i].clone3 ? PSYS_CLONE_PIDFD : 0);
		state->privacy =
			methods[i].flags ? ASPAWN_PRIVATE_AUTOREAPED : ASPAWN_PRIVATE_HELPED;
		r = aspawn_clone_call(&call, methods[i].clone3);
		if (r > 0 && request->polls_helper && control->helper_pidfd < 0) {
			const int fd = psys_pidfd_open((int)r, 0);
			control->helper_pidfd = fd < 0 ? -1 : fd;
		}
		if (r > 0 || !aspawn_clone_is_refused(r))
			return r;
		if (methods[i].flags)
			state->no_autoreap = true;
	}
	return -PSYS_EOPNOTSUPP;
}

/* Somebody killed the helper before it stored a result: kill the child, if there is one. */
static long lost_helper(const struct control *control)
{
	if (control->pidfd >= 0) {
		psys_pidfd_send_signal(control->pidfd, PSYS_SIGKILL, NULL, 0);
		psys_close(control->pidfd);
	}
	return -PSYS_EAGAIN;
}

/* As aspawn_clone_child(). request->detached: returns the helper's pid. */
static long clone_by_helper(struct control *control, const struct request *request,
			    const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);
	struct helper *helper = helper_of(stack);

	helper->stack = *stack;
	psys_memcpy(&helper->request, request, sizeof *request);
	helper->host = psys_getpid();
	if (helper->host <= 0 || (request->for_caller && !children_stay()))
		return -PSYS_EOPNOTSUPP;
	helper->request.kernel_stores_pid = true;
	helper->result = 0;
	control->pidfd = -1;
	state->ended = NOT_ENDED;
	state->clone_error = 0;
	state->inode = 0;
	state->abandoned = 0;
	state->is_callers = request->for_caller;
	state->pid = 0;
	state->mode = ASPAWN_MODE_NONE;
	__atomic_store_n(&state->helper, CLONING, __ATOMIC_RELEASE);
	long r = clone_helper(control, request, stack);
	if (r < 0) {
		control->helper_pidfd = -1; /* a late failure leaves the number of a closed one */
		state->helper_pid = 0;
		state->privacy = ASPAWN_NOT_PRIVATE;
		__atomic_store_n(&state->helper, NO_HELPER, __ATOMIC_RELEASE);
		return r;
	}
	if (request->detached)
		return r;
	aspawn_stack_await(stack, &state->helper, CLONING, CLONE_AWAITED, &request->mask);
	if (helper->result > 0)
		return helper->result;
	aspawn_private_await_end(stack, DEADLINE_NEVER);
	aspawn_stack_reap_helper(stack);
	if (!state->pid) /* it may have been killed in its clone */
		__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
	state->privacy = ASPAWN_NOT_PRIVATE;
	return helper->result < 0 ? helper->result : lost_helper(control);
}

/* The pipes are the caller's: it makes them before the helper copies the descriptors. */
static int spawn_detached(struct spawned *spawned, const struct request *request,
			  const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);
	struct request helped;

	psys_memcpy(&helped, request, sizeof helped);
	/* The end of a copy is seen by its watch, where that works. */
	control->reports =
		request->pipe == PIPE || (request->pipe == PIPE_IF_COPIED && request->copy_memory &&
					  !aspawn_watch_may_work());
	helped.pipe = control->reports ? PIPE : NO_PIPE;
	helped.wants_pidfd = true; /* the helper polls it */
	long r = aspawn_descriptors_make_pipes(control);
	if (r == 0)
		r = clone_by_helper(control, &helped, stack);
	if (r == -PSYS_EOPNOTSUPP && request->for_caller)
		return (int)r;
	aspawn_descriptors_close(control, r < 0);
	*spawned = (struct spawned){ 0, -1, control->helper_pidfd, control->report.taken };
	return r < 0 ? (int)r : 0;
}

int aspawn_private_spawn(struct spawned *spawned, const struct request *request,
			 const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);
	struct request alone;
	int r = -PSYS_EOPNOTSUPP;

	aspawn_fill(stack, request);
	if (request->detached)
		r = spawn_detached(spawned, request, stack);
	if (request->detached && (r != -PSYS_EOPNOTSUPP || request->is_private))
		return r;
	if (request->is_private)
		return aspawn_spawned(spawned, request, stack,
				      clone_by_helper(control, request, stack));
	/* The caller waits itself. If a helper was tried, it has the pipes. */
	psys_memcpy(&alone, request, sizeof alone);
	alone.detached = alone.for_caller = false;
	return aspawn_spawned(spawned, &alone, stack, clone_child(control, &alone, stack));
}

bool aspawn_private_is_helped(const struct Stack_t *stack)
{
	const struct stack_state *state = stack_state(stack);

	return __atomic_load_n(&state->helper, __ATOMIC_ACQUIRE) != NO_HELPER &&
	       !aspawn_child_is_gone(__atomic_load_n(&state->helper_pid, __ATOMIC_ACQUIRE));
}

int aspawn_private_await_clone(const struct Stack_t *stack, int64_t deadline)
{
	struct stack_state *state = stack_state(stack);
	int *word = &state->helper;

	for (;;) {
		int seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (seen == NO_HELPER || seen == HELPING || aspawn_child_is_gone(state->helper_pid))
			return 0;
		if (aspawn_deadline_is_past(deadline))
			return -PSYS_ETIMEDOUT;
		if (seen == CLONE_AWAITED ||
		    __atomic_compare_exchange_n(word, &seen, CLONE_AWAITED, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			aspawn_deadline_sleep_on(word, CLONE_AWAITED, deadline);
	}
}

bool aspawn_private_is_reaped(const struct Stack_t *stack)
{
	return __atomic_load_n(&stack_state(stack)->ended, __ATOMIC_SEQ_CST) != NOT_ENDED;
}

/* Any wait of the caller's process reaps a child of it, unnoticed. */
static bool is_reaped_by_caller(const struct stack_state *state)
{
	struct psys_siginfo info;

	return state->is_callers &&
	       psys_waitid(PSYS_P_PID, state->pid, &info,
			   (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL),
			   NULL) == -PSYS_ECHILD;
}

int aspawn_private_open(const struct Stack_t *stack)
{
	const struct stack_state *state = stack_state(stack);
	const int fd = psys_pidfd_open(state->pid, 0);
	const unsigned inode = __atomic_load_n(&state->inode, __ATOMIC_ACQUIRE);
	const unsigned found = inode ? inode_of(fd) : 0;

	if (fd >= 0 && (aspawn_private_is_reaped(stack) || is_reaped_by_caller(state) ||
			(found && found != inode))) {
		psys_close(fd);
		return -PSYS_ESRCH;
	}
	return fd;
}

int aspawn_private_await_end(const struct Stack_t *stack, int64_t deadline)
{
	int *word = &stack_state(stack)->helper;

	while (aspawn_private_is_helped(stack)) {
		if (aspawn_deadline_is_past(deadline))
			return -PSYS_ETIMEDOUT;
		int seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (seen != NO_HELPER)
			aspawn_deadline_sleep_on(word, seen, deadline);
	}
	return 0;
}

bool aspawn_private_end(const struct Stack_t *stack, int *status, struct psys_rusage *usage)
{
	const struct stack_state *state = stack_state(stack);
	const bool ended = __atomic_load_n(&state->ended, __ATOMIC_ACQUIRE) == ENDED;

	if (ended && status)
		*status = state->status;
	if (ended && usage)
		psys_memcpy(usage, &state->usage, sizeof *usage);
	return ended;
}

int aspawn_private_wait(const struct Stack_t *stack, int *status, struct psys_rusage *usage,
			const struct psys_timespec *timeout)
{
	const int64_t deadline = aspawn_deadline_after(timeout);

	if (deadline < 0)
		return (int)deadline;
	if (!aspawn_privacy(stack))
		return -PSYS_ECHILD;
	int r = aspawn_private_await_end(stack, deadline);
	if (r < 0)
		return r;
	aspawn_stack_reap_helper(stack);
	return aspawn_private_end(stack, status, usage) ? 0 : -PSYS_ECHILD;
}

int aspawn_privacy(const struct Stack_t *stack)
{
	return aspawn_stack_is_mapped(stack) && !stack_state(stack)->is_callers ?
		       stack_state(stack)->privacy :
		       ASPAWN_NOT_PRIVATE;
}
