/* SPDX-License-Identifier: MIT */
/* The child makes the pipes: handover.h says who makes and takes what. */
#include "handover.h"

#include <syscall/clone.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "files.h"
#include "private.h"

enum { MOVER_STACK = 8192 };
enum { LONGEST_WAIT = 1200 }; /* in naps of 50 ms: a child waits for its parent's answer */
static const struct psys_timespec answer_nap = { 0, 50000000 };

/* Any but NO_MOVER: the thread runs. It was told to move the pipes, or to end. */
enum mover_use { NO_MOVER, MOVER_STARTS, MOVER_READY, MOVER_GO, MOVER_ENDS };

/* --- the child: its thread ---------------------------------------------------- */

static PSYS_UNINSTRUMENTED void tell(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	psys_futex(word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* At most for a nap. */
static PSYS_UNINSTRUMENTED void sleep_on(int *word, int value)
{
	int r = psys_futex(word, PSYS_FUTEX_WAIT, value, &answer_nap, NULL, 0);

	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&answer_nap, NULL); /* a filter forbids futex(2) */
}

static PSYS_UNINSTRUMENTED int sleep_while(int *word, int value)
{
	int seen;

	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == value)
		sleep_on(word, value);
	return seen;
}

/* Runs on the parent's table, in which the pidfd is the child's. */
static PSYS_UNINSTRUMENTED int mover_main(void *arg)
{
	struct control *control = arg;

	if (control->answer == MOVE_PIPES && psys_pidfd_getfd(control->pidfd, -1, 0) != -PSYS_EBADF)
		return 0;
	tell(&control->mover, MOVER_READY);
	if (sleep_while(&control->mover, MOVER_READY) != MOVER_GO)
		return 0;
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_files_next(control, pipe));) {
		int fd = aspawn_files_avoid_streams(
			psys_pidfd_getfd(control->pidfd, pipe->parents_end, 0));
		if (fd < 0) {
			control->pipes_error = fd;
			break;
		}
		/* A child that is killed between these two leaves a descriptor to the parent. */
		__atomic_store_n(&pipe->taken, fd, __ATOMIC_RELEASE);
	}
	return 0;
}

/* When this returns the process has one thread again, as unshare(2) and setns(2) may want. */
static PSYS_UNINSTRUMENTED void end_mover(struct control *control, int tid, int order)
{
	int seen;

	tell(&control->mover, order);
	while ((seen = __atomic_load_n(&control->mover, __ATOMIC_ACQUIRE)) != NO_MOVER)
		sleep_while(&control->mover, seen);
	while (psys_tgkill(psys_getpid(), tid, 0) == 0)
		psys_sched_yield();
	/* The number goes before the thread does, under a lock for which this waits (release_task()). */
	psys_kill(0, 0);
}

/* Returns the thread's id, or 0 if there can be none, or it could not move a descriptor. */
static PSYS_UNINSTRUMENTED int start_mover(struct control *control)
{
	/* The lower end of the stack: the child's own frames are near its top yet. */
	char *top = (char *)control->state + STACK_LOWEST + MOVER_STACK;

	control->mover = MOVER_STARTS;
	long tid = psys_clone_thunk(PSYS_CLONE_VM | PSYS_CLONE_FILES | PSYS_CLONE_SIGHAND |
					    PSYS_CLONE_THREAD | PSYS_CLONE_SYSVSEM |
					    PSYS_CLONE_CHILD_CLEARTID,
				    top, NULL, &control->mover, NULL, mover_main, control);
	if (tid < 0)
		return 0;
	if (sleep_while(&control->mover, MOVER_STARTS) == MOVER_READY)
		return (int)tid;
	end_mover(control, (int)tid, NO_MOVER);
	return 0;
}

/* --- the child ------------------------------------------------------------------ */

/*
 * Sleeps until the answer is another. Ends the child if the start has failed, or if nobody will
 * ever answer: the parent is dead, or has executed a program, which shows only in that it says
 * nothing. A parent that is stopped makes its start fail if that takes a minute.
 */
static PSYS_UNINSTRUMENTED int next_answer(struct control *control, int answer)
{
	int seen, naps = 0;

	while ((seen = __atomic_load_n(&control->answer, __ATOMIC_ACQUIRE)) == answer) {
		const int parent = psys_getppid(); /* 0: it is in another pid namespace */
		if (naps++ == LONGEST_WAIT || (parent && parent != control->host))
			psys_exit_group(127);
		sleep_on(&control->answer, answer);
	}
	if (seen == START_FAILED)
		psys_exit_group(127);
	return seen;
}

/* The child still has the parent's table. */
static PSYS_UNINSTRUMENTED int want_pipes(struct control *control, int answer)
{
	aspawn_files_set_use(control->state, PIPES_WANTED);
	return next_answer(control, answer);
}

static PSYS_UNINSTRUMENTED int make_own_pipes(struct control *control)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_files_next(control, pipe));) {
		struct psys_stat status = { .st_ino = 0 };
		int r = aspawn_files_make(pipe);
		if (r == 0 && control->shows_pipes)
			r = psys_fstat(pipe->parents_end, &status);
		if (r < 0)
			return r;
		if (control->shows_pipes) {
			pipe->dev = status.st_dev;
			pipe->ino = status.st_ino;
		}
	}
	return 0;
}

static PSYS_UNINSTRUMENTED void close_parents_ends(struct control *control)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_files_next(control, pipe));) {
		psys_close(pipe->parents_end);
		pipe->parents_end = -1;
	}
}

/* How the child gets its far descriptors. */
enum far_way { FAR_NONE, FAR_FROM_CALLER, FAR_FROM_THREAD, FAR_COPIED };

/* Asks the kernel while the child can still copy them: the parent's table is its own. */
static PSYS_UNINSTRUMENTED enum far_way choose_far(const struct control *control)
{
	if (!control->far_count)
		return FAR_NONE;
	if (control->caller_pidfd >= 0 && psys_getppid() != 0 &&
	    psys_pidfd_getfd(control->caller_pidfd, -1, 0) == -PSYS_EBADF)
		return FAR_FROM_CALLER;
	/* Linux 6.9 has pidfds of threads: there is no such one, but it might be. */
	if (psys_pidfd_open(INT32_MAX, PSYS_PIDFD_THREAD) == -PSYS_ESRCH &&
	    psys_pidfd_getfd(-1, -1, 0) == -PSYS_EBADF)
		return FAR_FROM_THREAD;
	return FAR_COPIED;
}

static PSYS_UNINSTRUMENTED void keep_far(struct control *control)
{
	for (size_t i = 0; i < control->far_count; i++)
		if (control->keep_below <= (unsigned)control->far[i].fd)
			control->keep_below = (unsigned)control->far[i].fd + 1;
}

/* From a process that has them: the caller, or the thread tid. */
static PSYS_UNINSTRUMENTED int fetch_far(struct control *control, int tid)
{
	const int pidfd = psys_pidfd_open(tid ? tid : control->caller, tid ? PSYS_PIDFD_THREAD : 0);
	int r = pidfd < 0 ? pidfd : 0;

	for (size_t i = 0; i < control->far_count && r == 0; i++) {
		const int far = control->far[i].fd;
		if (far == control->pidfd || far == control->caller_pidfd) /* none of the caller's */
			continue;
		int fd = aspawn_files_avoid_streams(psys_pidfd_getfd(pidfd, far, 0));
		if (fd >= 0)
			control->far[i].near = fd;
		else if (fd != -PSYS_EBADF) /* not open: the action says so */
			r = fd;
	}
	if (pidfd >= 0)
		psys_close(pidfd);
	return r;
}

/* With the child's own table. Returns an error of the far descriptors. */
static PSYS_UNINSTRUMENTED int fill_table(struct control *control, int answer, enum far_way way,
					  int tid)
{
	const bool makes = answer == TAKE_PIPES || answer == MOVE_PIPES;
	const bool fetches = way == FAR_FROM_CALLER || way == FAR_FROM_THREAD;

	if (makes)
		control->pipes_error = make_own_pipes(control);
	int r = fetches ? fetch_far(control, way == FAR_FROM_THREAD ? tid : 0) : 0;
	if (tid)
		end_mover(control, tid,
			  answer == MOVE_PIPES && !control->pipes_error ? MOVER_GO : MOVER_ENDS);
	control->made_pipes = makes;
	aspawn_files_set_use(control->state, RUNNING);
	if (control->pipes_error)
		psys_exit_group(127);
	if (answer == TAKE_PIPES)
		next_answer(control, answer);
	if (makes)
		close_parents_ends(control);
	return r;
}

PSYS_UNINSTRUMENTED int aspawn_handover_unshare(struct control *control)
{
	int answer = control->makes_pipes ? next_answer(control, NO_ANSWER) : NO_ANSWER, tid = 0;
	enum far_way way = choose_far(control);

	if (answer == MOVE_PIPES || way == FAR_FROM_THREAD) {
		tid = start_mover(control);
		if (!tid && way == FAR_FROM_THREAD)
			way = FAR_COPIED;
		if (!tid && answer == MOVE_PIPES)
			answer = want_pipes(control, answer);
	}
	if (way == FAR_COPIED)
		keep_far(control);
	int r = aspawn_files_unshare_table(control);
	if (r == 0)
		return fill_table(control, answer, way, tid);
	if (tid)
		end_mover(control, tid, MOVER_ENDS);
	if (answer == TAKE_PIPES || answer == MOVE_PIPES)
		want_pipes(control, answer); /* for the report */
	return r;
}

/* --- the parent ------------------------------------------------------------------- */

/* The descriptor of a process as /proc has it. A pipe is opened anew: the same pipe, but flags of
 * its own. */
static PSYS_UNINSTRUMENTED int open_in_proc(int pid, int fd, int flags)
{
	char path[sizeof "/proc//fd/" + PSYS_DECIMAL_SIZE + PSYS_DECIMAL_SIZE];
	size_t length = psys_strlcpy(path, "/proc/", sizeof path);

	length += psys_i64_to_decimal(path + length, pid);
	length += psys_strlcpy(path + length, "/fd/", sizeof path - length);
	psys_i64_to_decimal(path + length, fd);
	return psys_open(path, flags | PSYS_O_CLOEXEC, 0);
}

/* True if /proc is of the parent's pid namespace, and the parent may open the child's pipes: the
 * child has the parent's table yet, so one of the parent's is the child's too. */
static PSYS_UNINSTRUMENTED bool is_in_proc(int pid)
{
	struct psys_stat ours, its;
	int ends[2];

	if (aspawn_files_pipe(ends) < 0)
		return false;
	const int fd = open_in_proc(pid, ends[0], PSYS_O_RDONLY);
	const bool same = fd >= 0 && psys_fstat(ends[0], &ours) >= 0 && psys_fstat(fd, &its) >= 0 &&
			  ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
	psys_close(fd);
	psys_close(ends[0]);
	psys_close(ends[1]);
	return same;
}

/* How the parent gets its ends: what the kernel allows it here and now. */
static PSYS_UNINSTRUMENTED int choose_pipes(struct control *control)
{
	const int pidfd = control->pidfd;
	/* EBADF: descriptors of the child may be taken, but -1 is none. */
	int r = pidfd < 0 ? -PSYS_ENOSYS : psys_pidfd_getfd(pidfd, -1, 0);

	if (r == -PSYS_EBADF)
		return ASPAWN_PIPES_TAKEN;
	if (is_in_proc(control->state->pid))
		return ASPAWN_PIPES_OPENED;
	/* EPERM is of the kernel's check, or of a filter, which refuses the call as a whole. */
	if (r == -PSYS_EPERM && psys_pidfd_getfd(-1, -1, 0) == -PSYS_EBADF)
		return ASPAWN_PIPES_MOVED;
	return ASPAWN_PIPES_COPIED;
}

static PSYS_UNINSTRUMENTED int open_pipe(const struct control *control,
					 const struct spawn_pipe *pipe)
{
	struct psys_stat status;
	int fd = open_in_proc(control->state->pid, pipe->parents_end,
			      (pipe->child_writes ? PSYS_O_RDONLY : PSYS_O_WRONLY) |
				      (pipe->nonblock ? PSYS_O_NONBLOCK : 0));
	int r = fd < 0 ? fd : psys_fstat(fd, &status);

	if (r >= 0 && status.st_dev == pipe->dev && status.st_ino == pipe->ino)
		return fd;
	if (fd >= 0)
		psys_close(fd);
	return r < 0 ? r : -PSYS_EBADF;
}

/* The child was killed before it had made the pipe, or before the parent had its end. */
static PSYS_UNINSTRUMENTED int take_from_dead(struct spawn_pipe *pipe)
{
	struct spawn_pipe other = { pipe->child_writes, pipe->nonblock, -1, -1, -1, 0, 0 };
	int r = aspawn_files_make(&other);

	psys_close(other.childs_end); /* of a negative one: no effect */
	if (r < 0)
		psys_close(other.parents_end);
	else
		pipe->taken = other.parents_end;
	return r;
}

static PSYS_UNINSTRUMENTED int take_pipes(struct control *control)
{
	const int way = control->state->pipes;

	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_files_next(control, pipe));) {
		if (pipe->taken >= 0)
			continue;
		int fd = way == ASPAWN_PIPES_TAKEN ?
				 psys_pidfd_getfd(control->pidfd, pipe->parents_end, 0) :
			 way == ASPAWN_PIPES_OPENED ? open_pipe(control, pipe) :
						      -PSYS_EBADF;
		fd = aspawn_files_avoid_streams(fd);
		/* A child that lives waits now. */
		const bool dead = fd == -PSYS_EBADF || fd == -PSYS_ESRCH || fd == -PSYS_ENOENT ||
				  __atomic_load_n(&control->state->use, __ATOMIC_ACQUIRE) == FREE;
		int r = fd >= 0 ? 0 : dead ? take_from_dead(pipe) : fd;
		if (r < 0)
			return r;
		if (fd >= 0)
			pipe->taken = fd;
	}
	return 0;
}

/* The start has failed: nobody is to hear of the child. */
static PSYS_UNINSTRUMENTED void end_failed_child(const struct Stack_t *stack,
						 struct control *control,
						 const struct request *request)
{
	struct stack_state *state = stack_state(stack);
	struct psys_siginfo info;
	int use;

	tell(&control->answer, START_FAILED);
	if (control->pidfd < 0 ||
	    psys_pidfd_send_signal(control->pidfd, PSYS_SIGKILL, NULL, 0) == -PSYS_ENOSYS)
		psys_kill(state->pid, PSYS_SIGKILL);
	while ((use = __atomic_load_n(&state->use, __ATOMIC_ACQUIRE)) != FREE &&
	       aspawn_stack_busy(stack))
		aspawn_stack_await(stack, &state->use, use, use, &request->mask);
	if (request->clone) {
		aspawn_stack_await(stack, &state->helper, HELPING, HELPING, &request->mask);
		aspawn_stack_reap_helper(stack);
		state->privacy = ASPAWN_NOT_PRIVATE;
	} else {
		while (psys_waitid(PSYS_P_PID, state->pid, &info, PSYS_WEXITED, NULL) == -PSYS_EINTR)
			continue;
	}
	if (control->pidfd >= 0)
		psys_close(control->pidfd);
	control->pidfd = -1;
}

static PSYS_UNINSTRUMENTED void await_death(int pidfd)
{
	struct psys_pollfd poll = { pidfd, PSYS_POLLIN, 0 };

	while (psys_ppoll(&poll, 1, NULL, NULL, 0) == -PSYS_EINTR)
		continue;
}

/* The child waits for an answer, with the parent's table yet. */
static PSYS_UNINSTRUMENTED int get_pipes(const struct Stack_t *stack, struct control *control,
					 const struct request *request)
{
	static const int answers[] = { [ASPAWN_PIPES_COPIED] = PIPES_MADE,
				       [ASPAWN_PIPES_TAKEN] = TAKE_PIPES,
				       [ASPAWN_PIPES_OPENED] = TAKE_PIPES,
				       [ASPAWN_PIPES_MOVED] = MOVE_PIPES };
	struct stack_state *state = stack_state(stack);
	int r;

	state->pipes = choose_pipes(control);
	control->shows_pipes = state->pipes == ASPAWN_PIPES_OPENED;
	for (;;) {
		int wanted = PIPES_WANTED;
		r = state->pipes == ASPAWN_PIPES_COPIED ? aspawn_files_make_pipes(control) : 0;
		if (r < 0)
			return r;
		tell(&control->answer, answers[state->pipes]);
		aspawn_stack_await_files(stack, &request->mask);
		if (!__atomic_compare_exchange_n(&state->use, &wanted, SHARES_FILES, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			break;
		state->pipes = ASPAWN_PIPES_COPIED;
	}
	/* A child that is killed may leave the stack before its thread does. */
	if (state->pipes == ASPAWN_PIPES_MOVED && !control->made_pipes)
		await_death(control->pidfd);
	r = control->pipes_error;
	if (r == 0 && state->pipes != ASPAWN_PIPES_COPIED)
		r = take_pipes(control);
	if (r == 0)
		tell(&control->answer, PIPES_TAKEN);
	return r;
}

PSYS_UNINSTRUMENTED int aspawn_handover_settle(const struct Stack_t *stack, struct control *control,
					       const struct request *request)
{
	int r = get_pipes(stack, control, request);

	if (r < 0)
		end_failed_child(stack, control, request);
	if (r == 0 && !request->wants_pidfd && control->pidfd >= 0) {
		psys_close(control->pidfd);
		control->pidfd = -1;
	}
	return r;
}
