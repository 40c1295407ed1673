/* SPDX-License-Identifier: MIT */
/* A queue: its memory, its server, and how it ends. */
#include <syscall/string.h>

#include "queue.h"

#include <syscall/clone.h>

#include "../aspawn/clone.h"
#include "../aspawn/close_by_proc.h"

enum {
	ALL_QUEUE_FLAGS = ASPAWN_QUEUE_LOCAL | ASPAWN_QUEUE_FD,
	USUAL_JOBS = 256,
	USUAL_RUNNING = 16,
	USUAL_BYTES = 32768,
	MOST_JOBS = 32768,
	MOST_BYTES_OF_JOB = 16 * 1024 * 1024,
	/* Bytes of own actions, with their pipes, and of alignment. */
	OWN_COPY = MOST_OWN_ACTIONS * (sizeof(struct aspawn_action) + sizeof(struct child_fd) + 16),
	FIRST_EVENT = 1, /* odd, as all later ones: 0 is the kernel's, when the server ends */
};

PSYS_UNINSTRUMENTED int aspw_queue_check(const struct aspawn_queue *queue)
{
	if (!queue)
		return -PSYS_EINVAL;
	if (__atomic_load_n(queue->mark, __ATOMIC_RELAXED) != QUEUE_MAGIC ||
	    (queue->checks_pid && psys_getpid() != queue->host))
		return -PSYS_ESTALE;
	return 0;
}

/* --- the server's process ------------------------------------------------------------- */

enum { SERVER_FDS = 3 }; /* to wake it, to notify those who poll, and the host's life */

/* Takes a descriptor table of the server's own, with nothing in it but what it needs, under the lowest
 * numbers: each job gets a copy of the table. The host's numbers are above 2, so that 0 to 2 can keep
 * these descriptors while all others are closed. Then 0 to 2 are /dev/null. */
static QUEUE_SERVER int take_own_files(const struct aspawn_queue *queue, struct server *server)
{
	const int hosts[SERVER_FDS] = { queue->wake, queue->notify, queue->shared->life };
	int *const fds[SERVER_FDS] = { &server->wake, &server->notify, &server->life };
	int highest = 0;

	for (int i = 0; i < SERVER_FDS; i++)
		highest = hosts[i] > highest ? hosts[i] : highest;
	int r = psys_close_range((unsigned)highest + 1, ~0U, PSYS_CLOSE_RANGE_UNSHARE);
	if (r < 0)
		r = psys_unshare(PSYS_CLONE_FILES);
	for (int i = 0; i < SERVER_FDS && r >= 0; i++)
		r = hosts[i] < 0 ? 0 : psys_dup3(hosts[i], i, 0);
	if (r < 0)
		return r;
	if (psys_close_range(SERVER_FDS, ~0U, 0) < 0)
		aspw_close_via_proc(SERVER_FDS, INT32_MAX, false);
	for (int i = 0; i < SERVER_FDS; i++) {
		*fds[i] = hosts[i] < 0 ? -1 : (int)psys_fcntl(i, PSYS_F_DUPFD_CLOEXEC, SERVER_FDS);
		if (*fds[i] < 0 && hosts[i] >= 0)
			return *fds[i];
	}
	const int null = psys_openat(PSYS_AT_FDCWD, "/dev/null", PSYS_O_RDWR, 0);
	if (null < 0)
		return null;
	for (int i = 0; i < SERVER_FDS; i++)
		if (i != null)
			psys_dup3(null, i, 0);
	if (null >= SERVER_FDS)
		psys_close(null);
	return 0;
}

static QUEUE_SERVER void say_ready(struct shared *shared, int how)
{
	__atomic_store_n(&shared->ready, how, __ATOMIC_RELEASE);
	psys_futex(&shared->ready, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

static QUEUE_SERVER int server_main(void *arg)
{
	struct aspawn_queue *queue = arg;
	struct shared *shared = queue->shared;
	struct server *server = &shared->server;
	static const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
	const struct psys_rlimit64 files = { queue->files.rlim_max, queue->files.rlim_max };

	/* In a pid namespace of its children's the server would be init, and end it. */
	if (psys_getppid() != queue->host) {
		say_ready(shared, -PSYS_EOPNOTSUPP);
		return 1;
	}
	psys_rt_sigaction(PSYS_SIGCHLD, &usual, NULL, PSYS_SIGSET_SIZE);
	if (queue->raises_files)
		psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &files, NULL);
	psys_prctl(PSYS_PR_SET_NAME, (uintptr_t) "aspawn-queue", 0, 0, 0);
	int r = take_own_files(queue, server);
	if (r >= 0)
		r = aspw_server_begin(queue, server);
	say_ready(shared, r < 0 ? r : 1);
	if (r >= 0)
		aspw_server_run(queue, server, UNTIL_CLOSED, INT64_MAX);
	return 0;
}

/* Reaps the server, which has ended. By __WCLONE: if another has, and its number is an ordinary
 * child's now, that one is not touched. */
static void reap_server(struct shared *shared)
{
	struct psys_siginfo info;

	while (shared->server_pid > 0 &&
	       psys_waitid(PSYS_P_PID, shared->server_pid, &info,
			   (int)(PSYS_WEXITED | PSYS___WCLONE), NULL) == -PSYS_EINTR)
		continue;
	shared->server_pid = 0;
}

static void await_ready(const struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;

	while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) &&
	       !aspw_child_is_gone(shared->server_pid))
		aspw_deadline_sleep_on(&shared->ready, 0, DEADLINE_NEVER);
}

/* The exit signal is 0: the host's wait(-1) and SIGCHLD do not know the server. Its thread pointer is
 * its own: the creating thread may end, and its thread's memory with it. */
static long clone_server(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	const struct clone_call call = {
		.flags = PSYS_CLONE_VM | PSYS_CLONE_FILES | PSYS_CLONE_PARENT_SETTID |
			 PSYS_CLONE_CHILD_CLEARTID |
			 (PSYS_CLONE_TLS_IS_POINTER ? PSYS_CLONE_SETTLS : 0),
		.tls = queue->thread_pointer,
		.tid = &shared->server_pid,
		.cleared_tid = &shared->events,
		.lowest = queue->server_stack,
		.top = queue->server_stack + SERVER_STACK,
		.fn = server_main,
		.arg = queue,
		.cgroup_fd = -1,
	};

	return aspw_clone_sharing(&call);
}

/* For those who poll: the server's end too makes the epoll descriptor readable. */
static void watch_server(const struct aspawn_queue *queue)
{
	int fd = queue->epoll < 0 ? -1 : psys_pidfd_open(queue->shared->server_pid, 0);

	if (queue_watch(queue->epoll, fd, 0) < 0) {
		psys_close(fd); /* of a negative one: no effect */
		fd = -1;
	}
	queue->shared->pidfd = fd;
}

static void unwatch_server(const struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;

	if (shared->pidfd < 0)
		return;
	queue_unwatch(queue->epoll, shared->pidfd);
	psys_close(shared->pidfd);
	shared->pidfd = -1;
}

/* A socket whose messages name their sender; a pipe, by which no descriptor can be sent, where there is
 * none. Only the server keeps the end that receives: a process that the host has forked has the other. */
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
	queue->shared->life = ends[0];
	if (queue->life < 0) {
		queue->life = ends[1];
	} else { /* the number stays: another thread may be about to send by it */
		psys_dup3(ends[1], queue->life, PSYS_O_CLOEXEC);
		psys_close(ends[1]);
	}
	return 0;
}

/* Called with all signals blocked, by the thread that has the state. */
static int start_server(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;

	shared->ready = shared->asleep = shared->closing = 0;
	__atomic_store_n(&shared->events, (int)(shared->epoch++ << 24 | FIRST_EVENT),
			 __ATOMIC_SEQ_CST);
	const int made = make_life(queue);
	long r = made < 0 ? made : clone_server(queue);
	if (r >= 0) {
		await_ready(queue);
		r = shared->ready > 0 ? 0 : shared->ready < 0 ? shared->ready : -PSYS_EAGAIN;
		if (r < 0)
			reap_server(shared);
	}
	if (made >= 0)
		psys_close(shared->life);
	if (r < 0) {
		__atomic_store_n(&shared->events, 0, __ATOMIC_SEQ_CST); /* as at its end */
		return (int)r;
	}
	watch_server(queue);
	__atomic_add_fetch(&shared->servers, 1, __ATOMIC_RELAXED);
	return 0;
}

bool aspw_queue_is_orphaned(const struct aspawn_queue *queue, bool thoroughly)
{
	const struct shared *shared = queue->shared;

	return !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
	       (__atomic_load_n(&shared->events, __ATOMIC_SEQ_CST) == 0 ||
		(thoroughly && __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) == SERVER_RUNS &&
		 aspw_child_is_gone(shared->server_pid)));
}

/* Children that were killed before their exec, as those of a dead server, may use their stacks and their
 * jobs' memory for a moment. Without a pid in the state there was no clone. The stack of a child that
 * hangs in the kernel is busy until its end. */
static bool stacks_are_free(const struct aspawn_queue *queue)
{
	bool all = true;

	for (uint32_t i = 0; i < queue->limit; i++) {
		const struct Stack_t *stack = &queue->stacks[i].stack;
		struct stack_state *state = stack_state(stack);

		if (!(queue->flags & ASPAWN_QUEUE_LOCAL) &&
		    !__atomic_load_n(&state->pid, __ATOMIC_ACQUIRE))
			__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
		if (aspawn_stack_wait(stack, 1000) < 0)
			all = false;
		else if (state->mode != MODE_NONE) /* of a job of a dead server */
			aspw_free_watch(stack_control(stack));
	}
	return all;
}

/* Completes all jobs that the dead server had or would have got. It may have been killed at any
 * instruction. */
static uint32_t complete_lost(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	uint32_t number, count = 0;

	if (!queue_left(queue, &shared->ended.tail))
		return 0;
	while (aspw_queue_take(queue))
		continue;
	for (number = 0; number < queue->capacity; number++) {
		struct job *job = queue_job(queue, number);
		const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);

		/* Its result was filled, but not published. */
		const bool has_ended = state == JOB_ENDED && job->end_position == shared->ended.tail;
		if (state != JOB_TAKEN && !has_ended)
			continue;
		if (state == JOB_TAKEN) {
			job->result.failure = (struct aspawn_failure){ .step = ASPAWN_STEP_NONE };
			job->result.ended_ns = queue_now(queue);
			job->result.out_length = job->result.err_length = 0;
		}
		aspw_queue_complete(queue, job,
				    has_ended ? job->result.outcome : ASPAWN_OUTCOME_LOST);
		count++;
	}
	__atomic_store_n(&shared->running, 0, __ATOMIC_RELAXED);
	return count;
}

/* Unlike server_notify() this leaves events as it is: 0 while there is no server. A dead server
 * may have published results, or disarmed the descriptor, and not have told of it. */
static void wake_everybody(const struct aspawn_queue *queue)
{
	const struct ring *ended = &queue->shared->ended;
	const uint64_t one = 1;

	queue_wake_waiters(queue->shared, INT32_MAX);
	if (queue->notify >= 0 && (!__atomic_load_n(&queue->shared->armed, __ATOMIC_SEQ_CST) ||
				   __atomic_load_n(&ended->head, __ATOMIC_SEQ_CST) !=
					   __atomic_load_n(&ended->tail, __ATOMIC_SEQ_CST)))
		psys_write(queue->notify, &one, sizeof one);
}

/* Called with all signals blocked, so that no handler forks. */
static int recover(struct aspawn_queue *queue, bool restart)
{
	struct shared *shared = queue->shared;
	int state = __atomic_load_n(&shared->state, __ATOMIC_SEQ_CST), r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	if (state == SERVER_RECOVERS ||
	    !__atomic_compare_exchange_n(&shared->state, &state, SERVER_RECOVERS, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return -PSYS_EAGAIN;
	if (state == SERVER_RUNS && !aspw_queue_is_orphaned(queue, false) &&
	    !aspw_child_is_gone(shared->server_pid)) {
		__atomic_store_n(&shared->state, state, __ATOMIC_SEQ_CST);
		return 0;
	}
	if (state == SERVER_RUNS) {
		unwatch_server(queue);
		reap_server(shared);
		stacks_are_free(queue);
		__atomic_store_n(&shared->events, 0, __ATOMIC_SEQ_CST); /* a sandbox may not */
	}
	const uint32_t lost = complete_lost(queue);
	if (restart)
		r = start_server(queue);
	__atomic_store_n(&shared->state, restart && r == 0 ? SERVER_RUNS : SERVER_NONE,
			 __ATOMIC_SEQ_CST);
	if (lost || state == SERVER_RUNS)
		wake_everybody(queue);
	return r;
}

int aspw_queue_recover(struct aspawn_queue *queue, bool restart)
{
	struct psys_sigset all, mask;

	if (!restart && __atomic_load_n(&queue->shared->state, __ATOMIC_SEQ_CST) == SERVER_NONE &&
	    !queue_left(queue, &queue->shared->ended.tail))
		return 0;
	psys_sigfillset(&all);
	int r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	r = recover(queue, restart);
	/* A submitter that found this thread here has left its job to it. */
	while (aspw_queue_is_orphaned(queue, false) &&
	       __atomic_load_n(&queue->shared->submitted, __ATOMIC_SEQ_CST) &&
	       recover(queue, false) == 0)
		continue;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

void aspw_queue_wake(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	const uint64_t one = 1;

	if (__atomic_load_n(&shared->asleep, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&shared->asleep, 0, __ATOMIC_SEQ_CST))
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
	uint32_t bits = 1;

	while (1U << bits < options->jobs)
		bits++;
	const uint32_t capacity = 1U << bits;
	const uint32_t limit = options->running < capacity ? options->running : capacity;
	const size_t rings = (capacity + (capacity + 31) / 32) * sizeof(uint32_t);
	const size_t first =
		in_units(sizeof(struct aspawn_queue) + limit * sizeof(struct job_stack));
	const size_t second = in_units(sizeof(struct shared) + rings);
	const size_t stride = (sizeof(struct job) + options->job_bytes + 63) & ~(size_t)63;
	/* The command is copied to it: that of a job, or a prepared one and the job's arguments. There each
	 * action takes less than twice as much, and the arguments twice, for a shell. */
	const size_t stack = in_units(4 * stride + OWN_COPY + CHILD_STACK + STACK_LOWEST +
				      STACK_OWN + 2 * STACK_ALIGN + sizeof(struct control));
	const uint64_t stacks = (uint64_t)stack * limit; /* less than 2^42; the jobs: 2^40 */
	const uint64_t total = first + second + (size_t)2 * QUEUE_UNIT + SERVER_STACK + QUEUE_UNIT +
			       stacks + (uint64_t)stride * capacity;
	const size_t size = (size_t)total;

	if (size != total)
		return (void *)(intptr_t)-PSYS_ENOMEM;
	/* The kernel may align it to less than 64 KiB, but to a page. */
	char *at = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			     PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS | PSYS_MAP_NORESERVE, -1, 0);
	if (PSYS_IS_ERROR(at))
		return (void *)at;
	struct aspawn_queue *queue = (void *)at;
	queue->bits = bits;
	queue->mapped = size;
	queue->stacks = (void *)(queue + 1);
	queue->shared = (void *)(at + first);
	queue->mark = (void *)(at + first + second);
	*queue->mark = QUEUE_MAGIC;
	queue->checks_pid = psys_madvise(queue->mark, QUEUE_UNIT, PSYS_MADV_WIPEONFORK) < 0;
	psys_mprotect(at + first + second + QUEUE_UNIT, QUEUE_UNIT, PSYS_PROT_NONE);
	queue->server_stack = at + first + second + (size_t)2 * QUEUE_UNIT;
	queue->thread_pointer = queue->server_stack + SERVER_STACK + QUEUE_UNIT / 2;
	*(void **)(void *)queue->thread_pointer = queue->thread_pointer; /* as x86 wants it */
	char *const stacks_at = queue->server_stack + SERVER_STACK + QUEUE_UNIT;
	queue->jobs = stacks_at + (size_t)stacks;
	queue->stride = stride;
	for (uint32_t i = 0; i < limit; i++)
		queue->stacks[i].stack = (struct Stack_t){ stacks_at + i * stack, stack };
	queue->capacity = capacity;
	queue->limit = limit;
	queue->flags = (uint32_t)options->flags;
	queue->delay = (int64_t)options->delay_ms * 1000000;

	struct shared *shared = queue->shared;
	shared->ended.values = (void *)(shared + 1);
	shared->taken = shared->ended.values + capacity;
	shared->events = FIRST_EVENT;
	shared->pidfd = -1;
	return queue;
}

static int open_files(struct aspawn_queue *queue)
{
	queue->wake = aspw_descriptors_avoid_streams(
		psys_eventfd2(0, PSYS_EFD_CLOEXEC | PSYS_EFD_NONBLOCK));
	if (queue->wake < 0)
		return queue->wake;
	if (!(queue->flags & ASPAWN_QUEUE_FD))
		return 0;
	queue->notify = aspw_descriptors_avoid_streams(
		psys_eventfd2(0, PSYS_EFD_CLOEXEC | PSYS_EFD_NONBLOCK));
	if (queue->notify < 0)
		return queue->notify;
	queue->epoll = aspw_descriptors_avoid_streams(psys_epoll_create1(PSYS_EPOLL_CLOEXEC));
	if (queue->epoll < 0)
		return queue->epoll;
	queue->shared->armed = 1;
	return queue_watch(queue->epoll, queue->notify, 0);
}

/* In a forked copy too. */
static void close_files(const struct aspawn_queue *queue)
{
	psys_close(queue->wake); /* of a negative one: no effect */
	psys_close(queue->life);
	psys_close(queue->epoll);
	psys_close(queue->notify);
}

static int note_host(struct aspawn_queue *queue)
{
	struct psys_sigaction old[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */

	queue->host = psys_getpid();
	queue->clock = psys_vdso_clock();
	queue->wake = queue->life = queue->notify = queue->epoll = -1;
	queue->ignores_sigchld = !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
				 psys_rt_sigaction(PSYS_SIGCHLD, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
				 old->handler == PSYS_SIG_IGN;
	/* The server needs up to four for each job. */
	queue->raises_files = !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
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
	r = note_host(queue);
	if (r >= 0)
		r = open_files(queue);
	if (r >= 0 && queue->flags & ASPAWN_QUEUE_LOCAL) {
		queue->shared->server.is_local = true;
		queue->shared->server.wake = queue->wake;
		queue->shared->server.notify = queue->notify;
		queue->shared->server.life = -1;
		r = aspw_server_begin(queue, &queue->shared->server);
	} else if (r >= 0) {
		r = aspw_queue_recover(queue, true);
	}
	if (r < 0) {
		close_files(queue);
		psys_munmap(queue, queue->mapped);
		return r;
	}
	*to = queue;
	return 0;
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_served(const struct aspawn_queue *queue)
{
	const struct shared *shared = queue->shared;

	if (queue->flags & ASPAWN_QUEUE_LOCAL)
		return __atomic_load_n(&shared->serving, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&shared->events, __ATOMIC_ACQUIRE) &&
	       !aspw_child_is_gone(shared->server_pid);
}

/* Waits until the server has ended. One that is stopped goes on, and one that hangs is killed. */
static void end_server(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	const int64_t deadline = aspw_deadline_in(2000);
	const bool is_local = queue->flags & ASPAWN_QUEUE_LOCAL;

	if (!is_local && shared->state != SERVER_RUNS)
		return;
	while (is_served(queue)) {
		int seen = __atomic_load_n(&shared->events, __ATOMIC_ACQUIRE);
		if (!is_local)
			psys_kill(shared->server_pid,
				  aspw_deadline_is_past(deadline) ? PSYS_SIGKILL : PSYS_SIGCONT);
		if (seen)
			aspw_deadline_sleep_on(&shared->events, seen, deadline);
	}
	if (!is_local)
		reap_server(shared);
}

int aspawn_queue_close(struct aspawn_queue *queue)
{
	int r = aspw_queue_check(queue);

	if (r == -PSYS_EINVAL)
		return r;
	if (r == 0) {
		__atomic_store_n(&queue->shared->closing, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&queue->shared->asleep, 1, __ATOMIC_SEQ_CST); /* certainly */
		aspw_queue_wake(queue);
		end_server(queue);
		if (queue->flags & ASPAWN_QUEUE_LOCAL) {
			aspw_server_run(queue, &queue->shared->server, UNTIL_CLOSED, INT64_MAX);
			aspw_server_end(&queue->shared->server);
		}
		unwatch_server(queue);
	}
	close_files(queue);
	if (r < 0 || stacks_are_free(queue)) /* otherwise a child still uses this memory */
		psys_munmap(queue, queue->mapped);
	return 0;
}
