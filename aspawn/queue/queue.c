/* SPDX-License-Identifier: MIT */
/* This file has the memory of a queue, the server's process, and the end of a queue. */
#include "queue.h"

#include <syscall/clone.h>
#include <syscall/string.h>

#include "../caller/start.h"
#include "../spawn/clone.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/exec_watch.h"
#include "../spawn/pidfd.h"
#include "results.h"
#include "server.h"

enum {
	ALL_QUEUE_FLAGS = ASPAWN_QUEUE_LOCAL | ASPAWN_QUEUE_FD,
	USUAL_JOBS = 256,
	USUAL_RUNNING = 16,
	USUAL_BYTES = 32768,
	MOST_JOBS = 32768,
	MOST_BYTES_OF_JOB = 16 * 1024 * 1024,
	/* This counts the library's actions, with their pipes, and alignment. */
	OWN_COPY = MOST_LIBRARY_ACTIONS *
		   (sizeof(struct aspawn_action) + sizeof(struct child_fd) + 16),
	FIRST_EVENT = 1, /* odd, as all later values; the kernel stores 0 when the server ends */
	TEND_TIME = 953, /* in 2^20 ns, a little less than a second, for which threads wait */
};

IN_SERVER int aspw_queue_check(const struct aspawn_queue *queue)
{
	if (!queue)
		return -PSYS_EINVAL;
	if (__atomic_load_n(queue->mark, __ATOMIC_RELAXED) != QUEUE_MAGIC)
		return -PSYS_ESTALE;
	/* If a later filter refuses getpid(2), a forked process is not noticed. */
	const int pid = queue->checks_pid ? psys_getpid() : 0;
	return pid > 0 && pid != queue->caller_pid ? -PSYS_ESTALE : 0;
}

/* --- the server's process ------------------------------------------------------------- */

/* Reaps the ended server. Returns the signal by which the server has ended, or 0. The wait uses
 * __WCLONE: if somebody else has reaped the server, an ordinary child may have the number now. */
static int reap_server(struct aspawn_queue *queue)
{
	struct psys_siginfo info;

	info.u.child.status = 0;
	while (queue->server_pid > 0 &&
	       psys_waitid(PSYS_P_PID, queue->server_pid, &info,
			   (int)(PSYS_WEXITED | PSYS___WCLONE), NULL) == -PSYS_EINTR)
		continue;
	__atomic_store_n(&queue->server_pid, 0, __ATOMIC_SEQ_CST);
	return info.u.child.status;
}

static void await_ready(struct aspawn_queue *queue)
{
	while (!__atomic_load_n(&queue->ready, __ATOMIC_ACQUIRE) &&
	       !aspw_child_is_gone(queue->server_pid))
		aspw_deadline_sleep_on(&queue->ready, 0, DEADLINE_NEVER);
}

/* The exit signal is 0, and the caller's wait(-1) and SIGCHLD do not see the server. The server has
 * a thread pointer of its own, as the creating thread may end, and its thread's memory with it. */
static long clone_server(struct aspawn_queue *queue)
{
	char *stack = (char *)queue->mark + (size_t)2 * QUEUE_UNIT, *tls = stack + QUEUE_UNIT;
	const struct clone_call call = {
		.flags = PSYS_CLONE_VM | PSYS_CLONE_FILES | PSYS_CLONE_PARENT_SETTID |
			 PSYS_CLONE_CHILD_CLEARTID |
			 (PSYS_CLONE_TLS_IS_POINTER ? PSYS_CLONE_SETTLS : 0),
		.tls = tls + QUEUE_UNIT / 2, /* nothing else uses the middle */
		.tid = &queue->server_pid,
		.cleared_tid = &queue->events,
		.lowest = stack,
		.top = tls,
		.fn = aspw_server_main,
		.arg = queue,
		.cgroup_fd = -1,
	};

	*(void **)call.tls = call.tls; /* x86 requires this */
	return aspw_clone_sharing(&call, &queue->lacks_clone3);
}

static void unwatch_server(struct aspawn_queue *queue)
{
	const int pidfd = queue->pidfd;

	queue->pidfd = -1; /* first: another thread may fork, whose copy closes pidfd too */
	queue_unwatch(queue->epoll, pidfd);
	psys_close(pidfd); /* close(-1) is harmless */
}

/* Makes a socket whose messages name their sender, or a pipe, which carries no descriptors, where a
 * socket is not available. Only the server keeps the end for receiving: a forked copy of the caller
 * has the other end. */
static int make_life(struct aspawn_queue *queue)
{
	const int on = 1;
	int ends[2] = { -1, -1 };
	int r = psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_SEQPACKET | PSYS_SOCK_CLOEXEC, 0, ends);

	if (r == -PSYS_EMFILE || r == -PSYS_ENFILE)
		return r;
	if (r == 0 &&
	    psys_setsockopt(ends[0], PSYS_SOL_SOCKET, PSYS_SO_PASSCRED, &on, sizeof on) < 0) {
		psys_close(ends[0]);
		psys_close(ends[1]);
		r = -PSYS_ENOSYS;
	}
	r = r < 0 ? aspw_descriptors_pipe(ends) : aspw_descriptors_avoid_streams_by_both(ends);
	if (r < 0)
		return r;
	queue->servers_life = ends[0];
	if (queue->life < 0) {
		queue->life = ends[1];
	} else { /* the number stays: another thread may be about to send by it */
		psys_dup3(ends[1], queue->life, PSYS_O_CLOEXEC);
		psys_close(ends[1]);
	}
	return 0;
}

/* All signals are blocked, and this thread has set is_recovering. */
static int start_server(struct aspawn_queue *queue)
{
	queue->ready = queue->asleep = queue->closing = 0;
	__atomic_store_n(&queue->events, (int)(queue->servers << 24 | FIRST_EVENT),
			 __ATOMIC_SEQ_CST);
	const int made = make_life(queue);
	long r = made < 0 ? made : clone_server(queue);
	if (r >= 0) {
		await_ready(queue);
		r = queue->ready ? queue->ready : -PSYS_EAGAIN;
		if (r > 0)
			r = 0;
		if (r < 0 && reap_server(queue) == PSYS_SIGSYS)
			r = -PSYS_ENOSYS; /* a filter traps one of the server's calls */
	}
	if (made >= 0)
		psys_close(queue->servers_life);
	if (r < 0) {
		__atomic_store_n(&queue->events, 0, __ATOMIC_SEQ_CST); /* as at the server's end */
		return (int)r;
	}
	if (queue->epoll >= 0) /* for callers that poll: they see the server's end */
		queue->pidfd = aspw_descriptors_avoid_streams(psys_pidfd_open(queue->server_pid, 0));
	queue_watch(queue->epoll, queue->pidfd, 0);
	return 0;
}

bool aspw_queue_is_orphaned(const struct aspawn_queue *queue, bool thoroughly)
{
	return !queue->is_local &&
	       (__atomic_load_n(&queue->events, __ATOMIC_SEQ_CST) == 0 ||
		(thoroughly &&
		 aspw_child_is_gone(__atomic_load_n(&queue->server_pid, __ATOMIC_ACQUIRE))));
}

/* Returns the server's number if a wait with these options finds the server, 0, or an error.
 * reap_server() explains the use of __WCLONE. */
static int look_at_server(const struct aspawn_queue *queue, unsigned options)
{
	struct psys_siginfo info;

	info.u.child.pid = 0;
	options |= PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WCLONE;
	const int r = psys_waitid(PSYS_P_PID, __atomic_load_n(&queue->server_pid, __ATOMIC_ACQUIRE),
				  &info, (int)options, NULL);
	return r < 0 ? r : info.u.child.pid;
}

static void signal_server(const struct aspawn_queue *queue, int signal)
{
	if (aspw_signal_by_pidfd(queue->pidfd, signal, 0) == -PSYS_ENOSYS &&
	    queue->server_pid > 0 && look_at_server(queue, PSYS_WEXITED) != -PSYS_ECHILD)
		psys_kill(queue->server_pid, signal);
}

void aspw_queue_tend(struct aspawn_queue *queue, int64_t now)
{
	const uint32_t time = (uint32_t)(now >> 20);
	uint32_t before = __atomic_load_n(&queue->tended_at, __ATOMIC_RELAXED);

	if (queue->is_local || time - before < TEND_TIME ||
	    !__atomic_compare_exchange_n(&queue->tended_at, &before, time, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	const int is_stopped = look_at_server(queue, PSYS_WSTOPPED) > 0;
	if (__atomic_exchange_n(&queue->is_stopped, is_stopped, __ATOMIC_RELAXED) && is_stopped)
		aspw_queue_recover(queue, false);
}

/* A dead server has left this stack: without a pid in the state there was no clone. */
static void forget_unborn(const struct Stack_t *stack, int64_t deadline)
{
	struct stack_state *state = stack_state(stack);

	if (!__atomic_load_n(&state->helper_pid, __ATOMIC_ACQUIRE))
		__atomic_store_n(&state->helper, NO_HELPER, __ATOMIC_RELEASE);
	if (aspw_stack_await_free(stack, STACK_HELPER, deadline) == 0 &&
	    !__atomic_load_n(&state->begun.pid, __ATOMIC_ACQUIRE))
		stack_has_no_child(state);
}

/* Children that were killed before their exec, as a dead server's are, may use their stacks and
 * their jobs' memory for a moment, and helpers may until they have ended their trees. The stack of
 * a child that hangs in the kernel is busy until the child ends. */
static bool stacks_are_free(const struct aspawn_queue *queue)
{
	bool all = true;

	for (uint32_t i = 0; i < queue->limit; i++) {
		const struct Stack_t *stack = &queue->stacks[i].stack;

		if (!queue->is_local)
			forget_unborn(stack, aspw_deadline_in(1000));
		if (aspawn_stack_wait(stack, 1000) < 0)
			all = false;
	}
	return all;
}

/* Frees the pages that jobs of a dead server have shared with the server. Unused places stay as
 * they are. */
static void free_pages(const struct aspawn_queue *queue)
{
	for (uint32_t i = 0; i < queue->limit; i++) {
		struct exec_watch *watch = queue->stacks[i].watch;
		if (stack_state(&queue->stacks[i].stack)->is_wiped_by_fork)
			aspw_watch_free(&watch, true);
	}
}

static void unmap_queue(struct aspawn_queue *queue, bool is_copy)
{
	const size_t places = is_copy ? 0 : queue->limit * (size_t)QUEUE_UNIT;

	psys_munmap((char *)queue - places, places + queue->mapped);
}

/* Completes all jobs that the dead server had or would have got, wherever the server was killed. */
static bool complete_lost(struct aspawn_queue *queue)
{
	const uint32_t tail = queue->ended.tail; /* as the dead server has left it */
	bool lost = false;

	if (!queue_left(queue, &tail))
		return false;
	while (aspw_queue_take(queue))
		continue;
	for (uint32_t number = 0; number < queue->capacity; number++) {
		struct job *job = queue_job(queue, number);
		const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);

		/* The job's result was filled, but not published. */
		const bool has_ended = state == JOB_ENDED && job->end_position == tail;
		if (state != JOB_TAKEN && !has_ended)
			continue;
		if (state == JOB_TAKEN) {
			job->result.failure = (struct aspawn_failure){ .step = ASPAWN_STEP_NONE };
			job->result.ended_ns = queue_now(queue);
			job->result.out_length = job->result.err_length = 0;
		}
		aspw_queue_complete(queue, job,
				    has_ended ? job->result.outcome : ASPAWN_OUTCOME_LOST);
		lost = true;
	}
	__atomic_store_n(&queue->running, 0, __ATOMIC_RELAXED);
	return lost;
}

/* A dead server may have published results, or disarmed the descriptor, without an announcement. */
static void tell_of_lost(struct aspawn_queue *queue)
{
	const bool tells =
		!__atomic_exchange_n(&queue->armed, 1, __ATOMIC_SEQ_CST) || queue_has_result(queue);

	aspw_queue_announce(queue, tells ? queue->notify : -1, INT32_MAX);
}

/* All signals are blocked, so that no handler forks. */
static int recover_server(struct aspawn_queue *queue, bool restart)
{
	int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	if (__atomic_exchange_n(&queue->is_recovering, 1, __ATOMIC_SEQ_CST))
		return -PSYS_EBUSY;
	const bool had_server = queue->server_pid;
	if (had_server && !aspw_queue_is_orphaned(queue, true)) {
		signal_server(queue, PSYS_SIGCONT);
		__atomic_store_n(&queue->is_recovering, 0, __ATOMIC_SEQ_CST);
		return 0;
	}
	if (had_server) {
		unwatch_server(queue);
		reap_server(queue);
		stacks_are_free(queue);
		free_pages(queue);
		__atomic_store_n(&queue->events, 0, __ATOMIC_SEQ_CST); /* a sandbox may not */
	}
	const bool lost = complete_lost(queue);
	if (restart)
		r = start_server(queue);
	__atomic_store_n(&queue->is_recovering, 0, __ATOMIC_SEQ_CST);
	if (lost || had_server)
		tell_of_lost(queue);
	return r;
}

int aspw_queue_recover(struct aspawn_queue *queue, bool restart)
{
	const struct psys_timespec moment = { 0, 1000000 };
	struct psys_sigset mask;

	if (!restart && !__atomic_load_n(&queue->server_pid, __ATOMIC_SEQ_CST) &&
	    !queue_left(queue, &queue->ended.tail))
		return 0;
	int r = block_signals(&mask, false);
	if (r < 0)
		return r;
	while ((r = recover_server(queue, restart)) == -PSYS_EBUSY && restart)
		psys_nanosleep(&moment, NULL);
	/* A submitter that found this thread here has left the job to the thread. */
	while (aspw_queue_is_orphaned(queue, false) &&
	       __atomic_load_n(&queue->submitted, __ATOMIC_SEQ_CST) &&
	       recover_server(queue, false) == 0)
		continue;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

void aspw_queue_wake(struct aspawn_queue *queue)
{
	const uint64_t one = 1;

	if (__atomic_load_n(&queue->asleep, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&queue->asleep, 0, __ATOMIC_SEQ_CST))
		psys_write(queue->wake, &one, sizeof one);
}

/* --- creation ----------------------------------------------------------------------------- */

static size_t in_units(size_t size)
{
	return (size + QUEUE_UNIT - 1) & ~(size_t)(QUEUE_UNIT - 1);
}

static int read_queue_options(struct aspawn_queue_options *to,
			      const struct aspawn_queue_options *from)
{
	static const struct aspawn_queue_options usual = { .size = sizeof usual };
	const struct aspawn_queue_options *options = from ? from : &usual;
	int r = aspw_read_structure(to, sizeof *to, options, options->size, sizeof *to);

	if (r < 0)
		return r;
	to->jobs = to->jobs ? to->jobs : USUAL_JOBS;
	to->running = to->running ? to->running : USUAL_RUNNING;
	to->job_bytes = to->job_bytes ? to->job_bytes : USUAL_BYTES;
	if (to->flags & ~(uint64_t)ALL_QUEUE_FLAGS || to->jobs > MOST_JOBS ||
	    to->running > MOST_JOBS || to->job_bytes > MOST_BYTES_OF_JOB)
		return -PSYS_EINVAL;
	return 0;
}

/* Maps the queue and lays it out. */
static struct aspawn_queue *map_queue(const struct aspawn_queue_options *options)
{
	uint32_t bits = 0;

	while (1U << bits < options->jobs)
		bits++;
	const uint32_t capacity = 1U << bits;
	const uint32_t limit = options->running < capacity ? options->running : capacity;
	const size_t first =
		in_units(sizeof(struct aspawn_queue) + limit * sizeof(struct job_stack) +
			 (capacity + (capacity + 31) / 32) * sizeof(uint32_t));
	const size_t stride = (sizeof(struct job) + options->job_bytes + 63) & ~(size_t)63;
	/* The stack holds a copy of the command: that of a job, or a prepared command and the job's
	 * arguments. The copy takes less than twice as much for each action, and for a shell's
	 * arguments. */
	const size_t stack = in_units(4 * stride + OWN_COPY + CHILD_STACK + STACK_LOWEST +
				      STACK_OWN + 2 * STACK_ALIGN + sizeof(struct control));
	const uint64_t stacks = (uint64_t)stack * limit; /* stacks: less than 2^42; jobs: 2^40 */
	const uint64_t total = first + (size_t)4 * QUEUE_UNIT + stacks + (uint64_t)stride * capacity;
	const uint64_t places = (uint64_t)limit * QUEUE_UNIT;
	const size_t size = (size_t)(places + total);

	if (size != places + total)
		return (void *)(intptr_t)-PSYS_ENOMEM;
	/* The kernel may align the mapping to a page only, not to 64 KiB. */
	char *at = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			     PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS | PSYS_MAP_NORESERVE, -1, 0);
	if (PSYS_IS_ERROR(at))
		return (void *)at;
	psys_madvise(at, (size_t)places, PSYS_MADV_DONTFORK);
	char *place = at;
	struct aspawn_queue *queue = (void *)(at += places);
	queue->stacks = (void *)(queue + 1);
	queue->ended.values = (void *)(queue->stacks + limit);
	queue->taken = queue->ended.values + capacity;
	queue->mark = (void *)(at += first);
	at += (size_t)4 * QUEUE_UNIT;
	for (uint32_t i = 0; i < limit; i++, at += stack, place += QUEUE_UNIT)
		queue->stacks[i] = (struct job_stack){ { at, stack }, (void *)place, false };
	queue->jobs = at;
	queue->bits = bits;
	queue->mapped = (size_t)total;
	queue->stride = stride;
	queue->capacity = capacity;
	queue->limit = limit;
	queue->delay = (int64_t)options->delay_ms * 1000000;
	queue->is_local = options->flags & ASPAWN_QUEUE_LOCAL;
	queue->events = FIRST_EVENT;
	queue->wake = queue->life = queue->notify = queue->epoll = queue->pidfd = -1;
	queue->server.epoll = -1;
	*queue->mark = QUEUE_MAGIC;
	queue->checks_pid = psys_madvise(queue->mark, QUEUE_UNIT, PSYS_MADV_WIPEONFORK) < 0;
	psys_mprotect((char *)queue->mark + QUEUE_UNIT, QUEUE_UNIT, PSYS_PROT_NONE);
	return queue;
}

/* Opens an eventfd and stores it in *fd. */
static int open_event(int *fd)
{
	*fd = aspw_descriptors_avoid_streams(psys_eventfd2(0, PSYS_EFD_CLOEXEC | PSYS_EFD_NONBLOCK));
	return *fd;
}

static int open_files(struct aspawn_queue *queue, uint64_t flags)
{
	int r = open_event(&queue->wake);

	if (r < 0 || !(flags & ASPAWN_QUEUE_FD))
		return r;
	r = open_event(&queue->notify);
	if (r < 0)
		return r;
	queue->epoll = aspw_descriptors_avoid_streams(psys_epoll_create1(PSYS_EPOLL_CLOEXEC));
	if (queue->epoll < 0)
		return queue->epoll;
	queue->armed = 1;
	return queue_watch(queue->epoll, queue->notify, 0);
}

/* A forked copy of the process calls this too. close(-1) is harmless. */
static void close_files(const struct aspawn_queue *queue)
{
	psys_close(queue->wake);
	psys_close(queue->life);
	psys_close(queue->epoll);
	psys_close(queue->notify);
	psys_close(queue->pidfd);
	if (queue->is_local)
		psys_close(queue->server.epoll);
}

static int note_caller(struct aspawn_queue *queue)
{
	struct psys_sigaction old[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */

	queue->caller_pid = psys_getpid();
	queue->checks_pid &= queue->caller_pid > 0;
	queue->clock = psys_vdso_clock();
	queue->ignores_sigchld = !queue->is_local &&
				 psys_rt_sigaction(PSYS_SIGCHLD, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
				 old->handler == PSYS_SIG_IGN;
	/* The server needs up to four descriptors for each job. */
	queue->raises_files = !queue->is_local &&
			      psys_getrlimit(PSYS_RLIMIT_NOFILE, &queue->files) >= 0 &&
			      queue->files.rlim_cur < queue->limit * 4 + 32 &&
			      queue->files.rlim_cur < queue->files.rlim_max;
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &queue->mask, PSYS_SIGSET_SIZE);
}

int aspawn_queue_create(struct aspawn_queue **to, const struct aspawn_queue_options *from)
{
	struct aspawn_queue_options options;
	int r = to ? read_queue_options(&options, from) : -PSYS_EINVAL;

	if (r < 0)
		return r;
	struct aspawn_queue *queue = map_queue(&options);
	if (PSYS_IS_ERROR(queue))
		return (int)(intptr_t)queue;
	r = note_caller(queue);
	if (r >= 0)
		r = open_files(queue, options.flags);
	if (r >= 0 && queue->is_local)
		r = aspw_server_begin(queue, (int[SERVER_FDS]){ queue->wake, queue->notify, -1 });
	else if (r >= 0)
		r = aspw_queue_recover(queue, true);
	if (r < 0) {
		close_files(queue);
		unmap_queue(queue, false);
		return r;
	}
	*to = queue;
	return 0;
}

/* --- the end -------------------------------------------------------------------------------- */

/* Waits for the server's end. A stopped server is continued, and a server that hangs is killed. */
static void end_server(struct aspawn_queue *queue)
{
	const int64_t deadline = aspw_deadline_in(2000);

	while (queue->server_pid && !aspw_queue_is_orphaned(queue, true)) {
		const int seen = __atomic_load_n(&queue->events, __ATOMIC_ACQUIRE);
		signal_server(queue, aspw_deadline_is_past(deadline) ? PSYS_SIGKILL : PSYS_SIGCONT);
		if (seen) /* each sleep lasts at most 50 ms, also after the deadline */
			aspw_deadline_sleep_on(&queue->events, seen, DEADLINE_NEVER);
	}
	reap_server(queue);
}

int aspawn_queue_close(struct aspawn_queue *queue)
{
	int r = aspw_queue_check(queue);

	if (r == -PSYS_EINVAL)
		return r;
	if (r == 0) {
		__atomic_store_n(&queue->closing, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&queue->asleep, 1, __ATOMIC_SEQ_CST); /* so that wake writes */
		aspw_queue_wake(queue);
		if (queue->is_local)
			aspw_server_run(queue, UNTIL_CLOSED, INT64_MAX);
		else
			end_server(queue);
		unwatch_server(queue);
	}
	close_files(queue);
	if (r < 0 || stacks_are_free(queue)) /* otherwise a child still uses this memory */
		unmap_queue(queue, r < 0);
	return 0;
}
