/* SPDX-License-Identifier: MIT */
/* A queue: its memory, its server, and how it ends. */
#include <syscall/string.h>

#include "queue.h"

#include <syscall/clone.h>

#include "../aspawn/clone.h"
#include "../aspawn/close.h"

enum {
	ALL_QUEUE_FLAGS = ASPAWN_QUEUE_LOCAL | ASPAWN_QUEUE_FD,
	USUAL_JOBS = 256,
	USUAL_RUNNING = 16,
	USUAL_BYTES = 32768,
	MOST_JOBS = 32768,
	MOST_BYTES_OF_JOB = 16 * 1024 * 1024,
	FIRST_EVENT = 1, /* odd, as all later ones: 0 is the kernel's, when the server ends */
};

int aspawn_queue_check(const struct aspawn_queue *queue)
{
	if (!queue)
		return -PSYS_EINVAL;
	if (__atomic_load_n(&queue->shared->magic, __ATOMIC_RELAXED) != QUEUE_MAGIC ||
	    (queue->checks_pid && psys_getpid() != queue->host))
		return -PSYS_ESTALE;
	return 0;
}

/* --- the server's process ------------------------------------------------------------- */

/* The server's first descriptor. 0 to 2 are /dev/null. */
enum { AT_WAKE = 3 };

/* Descriptors that the server takes from its creator: where they are, and where to note it. */
struct taken {
	int from[3 + ASPAWN_MOST_REGISTERED];
	int *to[3 + ASPAWN_MOST_REGISTERED];
	int count, highest;
};

static QUEUE_SERVER void take(struct taken *taken, int from, int *to)
{
	*to = -1;
	if (from < 0)
		return;
	taken->from[taken->count] = from;
	taken->to[taken->count++] = to;
	taken->highest = from > taken->highest ? from : taken->highest;
}

/* In ascending order of their numbers, so that none is overwritten before it is moved. */
static QUEUE_SERVER int move_taken(struct taken *taken)
{
	for (int to = AT_WAKE; to < AT_WAKE + taken->count; to++) {
		int least = -1, r = 0;
		for (int i = 0; i < taken->count; i++)
			if (taken->from[i] >= 0 &&
			    (least < 0 || taken->from[i] < taken->from[least]))
				least = i;
		if (taken->from[least] != to)
			r = psys_dup3(taken->from[least], to, PSYS_O_CLOEXEC);
		if (r < 0 && least < 2)
			return r;
		if (r < 0) /* a registered one that is not open any more */
			psys_close(to);
		*taken->to[least] = r < 0 ? r : to;
		taken->from[least] = -1;
	}
	return 0;
}

/* Takes a descriptor table of the server's own, with nothing in it but what it needs. */
static QUEUE_SERVER int take_own_files(const struct aspawn_queue *queue, struct server *server)
{
	struct registered *entries = queue->shared->registered;
	struct taken taken;

	taken.count = taken.highest = 0;
	take(&taken, queue->wake, &server->wake);
	take(&taken, queue->life[0], &server->life);
	take(&taken, queue->notify, &server->notify);
	for (int i = 0; i < ASPAWN_MOST_REGISTERED; i++)
		take(&taken, entries[i].fd > 2 ? entries[i].fd : -1, &entries[i].at);
	if (psys_close_range((unsigned)taken.highest + 1, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0) {
		int r = psys_unshare(PSYS_CLONE_FILES);
		if (r < 0)
			return r;
	}
	int r = move_taken(&taken);
	if (r < 0)
		return r;
	aspawn_server_drop_registered(queue);
	if (psys_close_range((unsigned)(AT_WAKE + taken.count), ~0U, 0) < 0)
		aspawn_close_via_proc(AT_WAKE + taken.count, INT32_MAX, false);
	int null = psys_openat(PSYS_AT_FDCWD, "/dev/null", PSYS_O_RDWR, 0);
	if (null < 0)
		return null;
	for (int i = 0; i < 3; i++)
		if (i != null)
			psys_dup3(null, i, 0);
	if (null > 2)
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
	const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
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
		r = aspawn_server_begin(queue, server);
	say_ready(shared, r < 0 ? r : 1);
	if (r >= 0)
		aspawn_server_run(queue, server, UNTIL_CLOSED, INT64_MAX);
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
	       !aspawn_child_is_gone(shared->server_pid))
		deadline_sleep_on(&shared->ready, 0, DEADLINE_NEVER);
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
	long r = aspawn_clone_call(&call, true);

	if (r < 0 && aspawn_clone_is_refused(r))
		r = aspawn_clone_call(&call, false);
	return r < 0 && aspawn_clone_is_refused(r) ? -PSYS_EOPNOTSUPP : r;
}

/* For those who poll: the server's end too makes the epoll descriptor readable. */
static void watch_server(const struct aspawn_queue *queue)
{
	struct psys_epoll_event event = { PSYS_EPOLLIN, 0 };
	int fd = queue->epoll < 0 ? -1 : psys_pidfd_open(queue->shared->server_pid, 0);

	if (fd >= 0 && psys_epoll_ctl(queue->epoll, PSYS_EPOLL_CTL_ADD, fd, &event) < 0) {
		psys_close(fd);
		fd = -1;
	}
	queue->shared->pidfd = fd < 0 ? -1 : fd;
}

static void unwatch_server(const struct aspawn_queue *queue)
{
	struct psys_epoll_event none = { 0, 0 };
	struct shared *shared = queue->shared;

	if (shared->pidfd < 0)
		return;
	psys_epoll_ctl(queue->epoll, PSYS_EPOLL_CTL_DEL, shared->pidfd, &none);
	psys_close(shared->pidfd);
	shared->pidfd = -1;
}

/* Called with all signals blocked, by the thread that has the state. */
int aspawn_queue_start_server(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;

	shared->ready = shared->asleep = 0;
	__atomic_store_n(&shared->events, (int)(shared->epoch++ << 24 | FIRST_EVENT),
			 __ATOMIC_SEQ_CST);
	long r = clone_server(queue);
	if (r >= 0) {
		await_ready(queue);
		r = shared->ready > 0 ? 0 : shared->ready < 0 ? shared->ready : -PSYS_EAGAIN;
		if (r < 0)
			reap_server(shared);
	}
	if (r < 0) {
		__atomic_store_n(&shared->events, 0, __ATOMIC_SEQ_CST); /* as at its end */
		return (int)r;
	}
	watch_server(queue);
	queue_count_up(&shared->counts.servers);
	return 0;
}

bool aspawn_queue_is_orphaned(const struct aspawn_queue *queue, bool thoroughly)
{
	const struct shared *shared = queue->shared;

	return !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
	       (__atomic_load_n(&shared->events, __ATOMIC_SEQ_CST) == 0 ||
		(thoroughly && __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) == SERVER_RUNS &&
		 aspawn_child_is_gone(shared->server_pid)));
}

/*
 * Children of the dead server that have not executed yet end too, but still use their stacks and
 * their jobs' memory for a moment. Without a pid in the state there was no clone. The stack of a
 * child that hangs in the kernel is busy until its end.
 */
static void await_children(struct aspawn_queue *queue)
{
	const struct psys_timespec limit = { 1, 0 };

	for (uint32_t i = 0; i < queue->limit; i++) {
		struct stack_state *state = stack_state(&queue->stacks[i]);

		if (!__atomic_load_n(&state->pid, __ATOMIC_ACQUIRE))
			__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
		aspawn_stack_wait(&queue->stacks[i], &limit);
	}
}

/* Completes all jobs that the dead server had or would have got. It may have been killed at any
 * instruction. */
static uint32_t complete_lost(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	uint32_t number, count = 0;

	while (ring_peek_alone(&shared->submitted, &number)) {
		__atomic_store_n(&queue_job(queue, number)->state, JOB_TAKEN, __ATOMIC_RELAXED);
		ring_drop_alone(&shared->submitted);
	}
	for (number = 0; number < queue->capacity; number++) {
		struct job *job = queue_job(queue, number);
		const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);

		/* Its result was filled, but not published. */
		const uint32_t tail = job->is_absorbed ? shared->absorbed.tail : shared->ended.tail;
		const bool has_ended = state == JOB_ENDED && job->end_position == tail;
		if (state != JOB_TAKEN && !has_ended)
			continue;
		if (state == JOB_TAKEN) {
			job->is_absorbed = false;
			job->result.failure = (struct aspawn_failure){ .step = ASPAWN_STEP_NONE };
			job->result.ended = queue_now(queue);
			job->result.out_size = job->result.err_size = 0;
		}
		aspawn_queue_complete(queue, job, has_ended ? job->result.end : ASPAWN_JOB_LOST);
		count++;
	}
	__atomic_store_n(&shared->counts.running, 0, __ATOMIC_RELAXED);
	return count;
}

/* Unlike aspawn_queue_notify() this leaves events as it is: 0 while there is no server. */
static void wake_everybody(const struct aspawn_queue *queue)
{
	const uint64_t one = 1;

	queue_wake_waiters(queue, INT32_MAX);
	if (queue->notify >= 0)
		psys_write(queue->notify, &one, sizeof one);
}

/* Called with all signals blocked. */
static int recover(struct aspawn_queue *queue, bool restart)
{
	struct shared *shared = queue->shared;
	int state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE), r = 0;

	if (state == SERVER_RECOVERS ||
	    !__atomic_compare_exchange_n(&shared->state, &state, SERVER_RECOVERS, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return -PSYS_EAGAIN;
	if (state == SERVER_RUNS && !aspawn_queue_is_orphaned(queue, false) &&
	    !aspawn_child_is_gone(shared->server_pid)) {
		__atomic_store_n(&shared->state, state, __ATOMIC_SEQ_CST);
		return 0;
	}
	if (state == SERVER_RUNS) {
		unwatch_server(queue);
		reap_server(shared);
		await_children(queue);
		__atomic_store_n(&shared->events, 0, __ATOMIC_SEQ_CST); /* a sandbox may not */
	}
	const uint32_t lost = complete_lost(queue);
	if (restart)
		r = aspawn_queue_start_server(queue);
	__atomic_store_n(&shared->state, restart && r == 0 ? SERVER_RUNS : SERVER_NONE,
			 __ATOMIC_SEQ_CST);
	if (lost)
		wake_everybody(queue);
	return r;
}

int aspawn_queue_recover(struct aspawn_queue *queue, bool restart)
{
	struct psys_sigset all, mask;

	if (!restart && __atomic_load_n(&queue->shared->state, __ATOMIC_ACQUIRE) == SERVER_NONE &&
	    !queue_left(queue, &queue->shared->ended.tail))
		return 0;
	psys_sigfillset(&all);
	int r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	r = recover(queue, restart);
	/* A submitter that found this thread here has left its job to it. */
	while (aspawn_queue_is_orphaned(queue, false) &&
	       ring_has_value(&queue->shared->submitted) && recover(queue, false) == 0)
		continue;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

void aspawn_queue_wake(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	const uint64_t one = 1;

	if (__atomic_load_n(&shared->asleep, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&shared->asleep, 0, __ATOMIC_SEQ_CST))
		psys_write(queue->wake, &one, sizeof one);
}

/* --- creation ----------------------------------------------------------------------------- */

/* Each part has the same number of places: the least power of two. No division, for which some
 * compilers call a library function. */
static uint32_t places_of_part(const struct aspawn_queue_options *options)
{
	uint32_t power = 2;

	while (power * options->servers < options->jobs)
		power *= 2;
	return power;
}

static uint32_t running_of_part(const struct aspawn_queue_options *options, uint32_t part)
{
	uint32_t running = 0;

	for (uint32_t i = part; i < options->running; i += options->servers)
		running++;
	return running;
}

static size_t in_units(size_t size)
{
	return (size + QUEUE_UNIT - 1) & ~(size_t)(QUEUE_UNIT - 1);
}

static int read_queue_options(struct aspawn_queue_options *to,
			      const struct aspawn_queue_options *from)
{
	static const struct aspawn_queue_options usual = { .size = sizeof usual };
	const struct aspawn_queue_options *options = from ? from : &usual;
	int r = aspawn_read_structure(to, sizeof *to, options, options->size,
				      ASPAWN_QUEUE_OPTIONS_SIZE_VER0);

	if (r < 0)
		return r;
	to->jobs = to->jobs ? to->jobs : USUAL_JOBS;
	to->running = to->running ? to->running : USUAL_RUNNING;
	to->job_bytes = to->job_bytes ? to->job_bytes : USUAL_BYTES;
	if (to->flags & ~(uint64_t)ALL_QUEUE_FLAGS || to->jobs > MOST_JOBS ||
	    to->running > MOST_JOBS || to->job_bytes > MOST_BYTES_OF_JOB || to->reserved ||
	    to->servers > MOST_SERVERS || (to->servers > 1 && to->flags & ASPAWN_QUEUE_LOCAL))
		return -PSYS_EINVAL;
	/* One server can start a job each millisecond, and so keeps the delay by itself. */
	if (!to->servers || to->delay_ms)
		to->servers = 1;
	to->servers = to->servers < to->running ? to->servers : to->running;
	return 0;
}

/* Maps a part of the queue and lays it out. whole: NULL for the first. */
static struct aspawn_queue *map_part(const struct aspawn_queue_options *options,
				     struct aspawn_queue *whole)
{
	const uint32_t part = whole ? whole->servers : 0, capacity = places_of_part(options);
	const uint32_t running = running_of_part(options, part);
	const uint32_t limit = running < capacity ? running : capacity;
	const size_t rings = (size_t)capacity * 2 * (sizeof(struct ring_cell) + sizeof(uint32_t));
	const size_t first = in_units(sizeof(struct aspawn_queue) + limit * sizeof(struct Stack_t));
	const size_t second = in_units(sizeof(struct shared) + rings);
	const size_t stride = (sizeof(struct job) + options->job_bytes + 63) & ~(size_t)63;
	const size_t stack = in_units(stride + JOB_FRAMES + JOB_GIVEN + STACK_LOWEST + STACK_OWN +
				      2 * STACK_ALIGN + sizeof(struct control));
	const uint64_t stacks = (uint64_t)stack * limit; /* less than 2^41, as the jobs */
	const uint64_t total = first + second + (size_t)QUEUE_UNIT + SERVER_STACK + QUEUE_UNIT +
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
	queue->whole = whole ? whole : queue;
	queue->first = part * capacity;
	while (1U << queue->shift < capacity)
		queue->shift++;
	queue->mapped = size;
	queue->stacks = (void *)(queue + 1);
	queue->shared = (void *)(at + first);
	queue->checks_pid = psys_madvise(at + first, second, PSYS_MADV_WIPEONFORK) < 0;
	psys_mprotect(at + first + second, QUEUE_UNIT, PSYS_PROT_NONE);
	queue->server_stack = at + first + second + QUEUE_UNIT;
	queue->thread_pointer = queue->server_stack + SERVER_STACK + QUEUE_UNIT / 2;
	*(void **)(void *)queue->thread_pointer = queue->thread_pointer; /* as x86 wants it */
	char *const stacks_at = queue->server_stack + SERVER_STACK + QUEUE_UNIT;
	queue->jobs = stacks_at + (size_t)stacks;
	queue->stride = stride;
	for (uint32_t i = 0; i < limit; i++)
		queue->stacks[i] = (struct Stack_t){ stacks_at + i * stack, stack };
	queue->capacity = capacity;
	queue->limit = limit;
	queue->flags = (uint32_t)options->flags;
	queue->delay = (int64_t)options->delay_ms * 1000000;
	queue->completed = options->completed;
	queue->completed_arg = options->completed_arg;

	struct shared *shared = queue->shared;
	struct ring_cell *cells = (void *)(shared + 1);
	ring_clear(&shared->free, cells, capacity);
	ring_clear(&shared->submitted, cells + capacity, capacity);
	uint32_t *values = (uint32_t *)(void *)(cells + 2 * (size_t)capacity);
	out_clear(&shared->ended, values, capacity);
	out_clear(&shared->absorbed, values + capacity, capacity);
	shared->events = shared->all_events = FIRST_EVENT;
	queue->futex = options->servers > 1 ? &queue->whole->shared->all_events : &shared->events;
	shared->pidfd = -1;
	shared->magic = QUEUE_MAGIC;
	for (uint32_t i = 0; i < capacity; i++) {
		queue_job(queue, i)->number = (int)i;
		queue_job(queue, i)->queue = queue;
		ring_push(&shared->free, i);
	}
	return queue;
}

/* A pipe, without registered descriptors, where there are no sockets. */
static int make_life(int ends[2])
{
	int r = psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_SEQPACKET | PSYS_SOCK_CLOEXEC, 0, ends);

	if (r == -PSYS_EMFILE || r == -PSYS_ENFILE)
		return r;
	return r < 0 ? aspawn_files_pipe(ends) : aspawn_files_avoid_streams_by_both(ends);
}

static int open_files(struct aspawn_queue *queue)
{
	struct psys_epoll_event event = { PSYS_EPOLLIN, 1 };

	queue->wake =
		aspawn_files_avoid_streams(psys_eventfd2(0, PSYS_EFD_CLOEXEC | PSYS_EFD_NONBLOCK));
	if (queue->wake < 0)
		return queue->wake;
	int r = make_life(queue->life);
	if (r < 0) {
		queue->life[0] = queue->life[1] = -1;
		return r;
	}
	queue->notify = queue->whole->notify;
	queue->epoll = queue->whole->epoll;
	if (!(queue->flags & ASPAWN_QUEUE_FD) || queue != queue->whole)
		return 0;
	queue->notify =
		aspawn_files_avoid_streams(psys_eventfd2(0, PSYS_EFD_CLOEXEC | PSYS_EFD_NONBLOCK));
	if (queue->notify < 0)
		return queue->notify;
	queue->epoll = aspawn_files_avoid_streams(psys_epoll_create1(PSYS_EPOLL_CLOEXEC));
	if (queue->epoll < 0)
		return queue->epoll;
	queue->shared->armed = 1;
	return psys_epoll_ctl(queue->epoll, PSYS_EPOLL_CTL_ADD, queue->notify, &event);
}

/* In a forked copy too. */
static void close_files(const struct aspawn_queue *queue)
{
	psys_close(queue->wake); /* of a negative one: no effect */
	psys_close(queue->life[0]);
	psys_close(queue->life[1]);
	if (queue != queue->whole)
		return;
	psys_close(queue->epoll);
	psys_close(queue->notify);
}

static int note_host(struct aspawn_queue *queue)
{
	struct psys_sigaction old[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */

	queue->host = psys_getpid();
	queue->clock = aspawn_queue_find_clock();
	queue->wake = queue->life[0] = queue->life[1] = queue->notify = queue->epoll = -1;
	queue->ignores_sigchld = !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
				 psys_rt_sigaction(PSYS_SIGCHLD, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
				 old->handler == PSYS_SIG_IGN;
	/* The server needs up to three for each job. */
	queue->raises_files = !(queue->flags & ASPAWN_QUEUE_LOCAL) &&
			      psys_getrlimit(PSYS_RLIMIT_NOFILE, &queue->files) >= 0 &&
			      queue->files.rlim_cur < queue->limit * 3 + 32 &&
			      queue->files.rlim_cur < queue->files.rlim_max;
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &queue->mask, PSYS_SIGSET_SIZE);
}

/* *whole: the first part; NULL before it is created. */
static int create_part(struct aspawn_queue **whole, const struct aspawn_queue_options *options)
{
	struct aspawn_queue *queue = map_part(options, *whole);

	if (PSYS_IS_ERROR(queue))
		return (int)(intptr_t)queue;
	int r = note_host(queue);
	if (r >= 0)
		r = open_files(queue);
	if (r >= 0 && queue->flags & ASPAWN_QUEUE_LOCAL) {
		queue->shared->server.is_local = true;
		queue->shared->server.wake = queue->wake;
		queue->shared->server.notify = queue->notify;
		queue->shared->server.life = -1;
		r = aspawn_server_begin(queue, &queue->shared->server);
	} else if (r >= 0) {
		r = aspawn_queue_recover(queue, true);
	}
	if (r < 0) {
		close_files(queue);
		psys_munmap(queue, queue->mapped);
		return r;
	}
	*whole = queue->whole;
	queue->whole->parts[queue->whole->servers++] = queue;
	return 0;
}

int aspawn_queue_create(struct aspawn_queue **to, const struct aspawn_queue_options *from)
{
	struct aspawn_queue_options options;
	struct aspawn_queue *queue = NULL;
	int r = to ? read_queue_options(&options, from) : -PSYS_EINVAL;

	for (uint32_t i = 0; r == 0 && i < options.servers; i++)
		r = create_part(&queue, &options);
	if (r == 0)
		*to = queue;
	else
		aspawn_queue_close(queue);
	return r;
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_served(const struct aspawn_queue *queue)
{
	const struct shared *shared = queue->shared;

	if (queue->flags & ASPAWN_QUEUE_LOCAL)
		return __atomic_load_n(&shared->serving, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&shared->events, __ATOMIC_ACQUIRE) &&
	       !aspawn_child_is_gone(shared->server_pid);
}

/* Waits until the server has ended. One that is stopped, or hangs, is killed. */
static void end_server(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	const struct psys_timespec limit = { 2, 0 };
	struct psys_timespec deadline = deadline_after(&limit);

	if (!(queue->flags & ASPAWN_QUEUE_LOCAL) && shared->state != SERVER_RUNS)
		return;
	while (is_served(queue)) {
		int seen = __atomic_load_n(&shared->events, __ATOMIC_ACQUIRE);
		if (seen)
			deadline_sleep_on(&shared->events, seen, deadline);
		if (!(queue->flags & ASPAWN_QUEUE_LOCAL) && deadline_has_passed(deadline))
			psys_kill(shared->server_pid, PSYS_SIGKILL);
	}
	if (!(queue->flags & ASPAWN_QUEUE_LOCAL))
		reap_server(shared);
}

/* Children that were killed before their exec may need a moment to leave their stacks. */
static bool stacks_are_free(const struct aspawn_queue *queue)
{
	const struct psys_timespec limit = { 1, 0 };
	bool all = true;

	for (uint32_t i = 0; i < queue->limit; i++) {
		if (aspawn_stack_wait(&queue->stacks[i], &limit) < 0)
			all = false;
	}
	return all;
}

static void ask_to_close(struct aspawn_queue *part)
{
	__atomic_store_n(&part->shared->closing, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&part->shared->asleep, 1, __ATOMIC_SEQ_CST); /* certainly */
	aspawn_queue_wake(part);
}

static void end_part(struct aspawn_queue *part)
{
	end_server(part);
	if (part->flags & ASPAWN_QUEUE_LOCAL) {
		aspawn_server_run(part, &part->shared->server, UNTIL_CLOSED, INT64_MAX);
		aspawn_server_end(&part->shared->server);
	}
	unwatch_server(part);
}

int aspawn_queue_close(struct aspawn_queue *queue)
{
	int r = aspawn_queue_check(queue);

	if (r == -PSYS_EINVAL)
		return r;
	for (uint32_t i = 0; r == 0 && i < queue->servers; i++)
		ask_to_close(queue->parts[i]);
	/* Functions in a server that still runs may count the jobs of all. */
	for (uint32_t i = 0; r == 0 && i < queue->servers; i++)
		end_part(queue->parts[i]);
	for (uint32_t i = queue->servers; i-- > 0;) { /* the first has the array */
		struct aspawn_queue *part = queue->parts[i];

		close_files(part);
		if (r < 0 || stacks_are_free(part)) /* otherwise a child still uses this memory */
			psys_munmap(part, part->mapped);
	}
	return 0;
}
