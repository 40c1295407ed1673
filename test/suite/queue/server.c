/* SPDX-License-Identifier: MIT */
/* Tests of a queue after the server was killed, and beside processes that its host has forked */
#include "../../../aspawn/queue/queue.h"
#include "filter.h"
#include "queues.h"

static void kill_server_of(struct aspawn_queue *queue)
{
	const int server = server_of(queue);

	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	psys_kill(server, PSYS_SIGKILL);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	give_back(queue, result);
}

/* --- descriptors of jobs ---------------------------------------------------------------- */

enum { FILES = 3 };

/* Checks a job without actions, and jobs whose standard input is a descriptor of the caller's. */
static void check_descriptors_of_jobs(struct aspawn_queue *queue, const int *fds)
{
	const struct aspawn_action actions[FILES] = { ASPAWN_DUP2(fds[0], 0), ASPAWN_DUP2(fds[1], 0),
						      ASPAWN_DUP2(fds[2], 0) };

	for (int i = 0; i <= 2 * FILES; i++) {
		struct self self;
		struct aspawn_command command = command_in_role(&self, "lists_descriptors", NULL);

		command.action_count = (size_t)(i + 1) / 2;
		command.actions = command.action_count ? actions : NULL;
		command.memory = i % 2 ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 3 << 8);
		give_back(queue, result);
	}
}

/* The caller's descriptors are not CLOEXEC. Their numbers are a server's, with the queue's
 * descriptors below, among or above them. */
static void check_descriptors(int files_before, uint64_t flags)
{
	const int last = 40;
	int fds[FILES], count = 0;

	for (int fd = 3; fd < last; fd++)
		psys_close(fd);
	for (; count < files_before; count++)
		CHECK_EQUAL(fds[count] = psys_open("/dev/null", PSYS_O_RDONLY, 0), 3 + count);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .flags = flags });
	for (; count < FILES; count++)
		CHECK((fds[count] = psys_open("/dev/null", PSYS_O_RDONLY, 0)) < last);
	for (int round = 0; round < 3; round++) {
		check_descriptors_of_jobs(queue, fds);
		kill_server_of(queue);
	}
	close_queue(queue);
}

TEST(jobs_have_no_descriptor_but_their_own)
{
	if (!have_proc())
		skip("no /proc");
	for (int files_before = 0; files_before <= FILES; files_before++) {
		check_descriptors(files_before, 0);
		check_descriptors(files_before, ASPAWN_QUEUE_FD);
	}
}

/* --- processes without an exec ------------------------------------------------------------- */

/* A forked process does act, as nobody if the test is root and may change users. */
static void fork_unprivileged(void (*act)(void))
{
	const int pid = fork_child();

	if (pid == 0) {
		if (psys_geteuid() == 0) {
			psys_setgroups(0, NULL);
			psys_setresgid(65534, 65534, 65534);
			psys_setresuid(65534, 65534, 65534);
		}
		act();
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
}

/* Sends bytes, and fd unless negative, by each socket of the process. */
static int send_by_all(const void *bytes, size_t size, int fd)
{
	struct psys_iovec vector = { (void *)(uintptr_t)bytes, size };
	struct {
		struct psys_cmsghdr header;
		int fd;
	} control = {
		{ sizeof control.header + sizeof control.fd, PSYS_SOL_SOCKET, PSYS_SCM_RIGHTS }, fd
	};
	struct psys_msghdr message = { .msg_iov = &vector,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = fd < 0 ? 0 : sizeof control };
	int count = 0;

	for (int to = 3; to < 100; to++)
		count += psys_sendmsg(to, &message, PSYS_MSG_NOSIGNAL | PSYS_MSG_DONTWAIT) >= 0;
	return count;
}

static void sends_malformed_messages(void)
{
	static const char bytes[64];
	static const int64_t no_ticket = INT64_MAX;

	CHECK(send_by_all(bytes, 0, -1) > 0);
	CHECK(send_by_all(bytes, 1, -1) > 0);
	CHECK(send_by_all(bytes, sizeof bytes, 0) > 0);
	CHECK(send_by_all(&no_ticket, sizeof no_ticket, -1) > 0);
	CHECK(send_by_all(&no_ticket, sizeof no_ticket, 0) > 0);
}

static void shuts_sockets_down(void)
{
	int count = 0;

	for (int fd = 3; fd < 100; fd++)
		count += psys_shutdown(fd, PSYS_SHUT_RDWR) == 0;
	CHECK(count > 0);
}

/* A running job goes on, and so do later jobs. */
static void check_jobs_go_on(void (*act)(void))
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 2 });
	const int server = server_of(queue);
	const struct aspawn_result *result;
	const int64_t ticket = submit(queue, (struct aspawn_job){ .cookie = 1 }, "lingers", NULL);

	fork_unprivileged(act);
	for (int i = 0; i < 20; i++)
		CHECK_EQUAL(server_of(queue), server);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING), 1);
	CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
	result = next_result(queue);
	CHECK_EQUAL(result->cookie, 1);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
	close_queue(queue);
}

TEST(forked_process_cannot_end_jobs_of_its_hosts_queue)
{
	check_jobs_go_on(sends_malformed_messages);
	if (psys_kcmp(psys_getpid(), psys_getpid(), 1, 0, 0) == 0)
		check_jobs_go_on(shuts_sockets_down);
}

/* Submits a job that copies the caller's file. */
static int64_t submit_copier(struct aspawn_queue *queue, int fd)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	const struct aspawn_action action = ASPAWN_DUP2(fd, 0);

	command.actions = &action;
	command.action_count = 1;
	return submit_command(queue, (struct aspawn_job){ .out_size = KEPT }, &command);
}

static void check_copied(struct aspawn_queue *queue, const char *text)
{
	const struct aspawn_result *result = next_result(queue);

	CHECK_EQUAL(result->status, 0);
	CHECK_EQUAL(result->out_length, psys_strlen(text));
	CHECK_EQUAL(psys_memcmp(result->out, text, result->out_length), 0);
	give_back(queue, result);
}

static int make_file(const char *text)
{
	const int fd = psys_memfd_create("file", PSYS_MFD_CLOEXEC);

	CHECK_EQUAL(psys_write(fd, text, psys_strlen(text)), psys_strlen(text));
	psys_lseek(fd, 0, PSYS_SEEK_SET);
	return fd;
}

/* The loop covers the next tickets in a queue of two places. */
static void sends_descriptors_in_advance(void)
{
	const int fd = make_file("forged");

	for (int64_t ticket = 2; ticket < 40; ticket++) {
		CHECK(send_by_all(&ticket, sizeof ticket, fd) > 0);
		CHECK(send_by_all(&ticket, sizeof ticket, -1) > 0);
	}
}

/* The server is stopped, and sees what the forked process has sent before what the host sends. */
TEST(forked_process_cannot_alter_a_descriptor_that_its_host_sends)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 2 });
	const int server = server_of(queue), fd = make_file("true");

	psys_kill(server, PSYS_SIGSTOP);
	fork_unprivileged(sends_descriptors_in_advance);
	const int64_t ticket = submit_copier(queue, fd);
	CHECK(ticket > 1 && ticket < 40);
	psys_kill(server, PSYS_SIGCONT);
	check_copied(queue, "true");
	close_queue(queue);
}

static void fills_sockets(void)
{
	while (send_by_all("", 1, 0) > 0)
		continue;
}

/* The server empties the socket, although no job waits for a descriptor. */
TEST(forked_process_cannot_keep_the_socket_of_its_host_full)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 2 });
	const int server = server_of(queue), fd = make_file("true");
	int64_t r;

	psys_kill(server, PSYS_SIGSTOP);
	fork_unprivileged(fills_sockets);
	CHECK_EQUAL(submit_copier(queue, fd), -PSYS_EAGAIN);
	psys_kill(server, PSYS_SIGCONT);
	while ((r = submit_copier(queue, fd)) == -PSYS_EAGAIN)
		sleep_ms(1);
	CHECK(r > 0);
	check_copied(queue, "true");
	close_queue(queue);
}

static int *turns; /* gates in a page that both have */

static int receive_by_all(void)
{
	char bytes[64];
	struct psys_iovec vector = { bytes, sizeof bytes };
	int count = 0;

	for (int from = 3; from < 100; from++) {
		char control[128];
		struct psys_msghdr message = { .msg_iov = &vector,
					       .msg_iovlen = 1,
					       .msg_control = control,
					       .msg_controllen = sizeof control };
		count += psys_recvmsg(from, &message, PSYS_MSG_DONTWAIT) > 0;
	}
	return count;
}

/* The server is stopped, and what the host sends stays in the socket. */
TEST(forked_process_cannot_take_a_descriptor_that_its_host_sends)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });

	turns = shared_page();
	for (int round = 0; round < 2; round++) {
		const int server = server_of(queue), fd = make_file("secret");
		const int pid = fork_child();
		if (pid == 0) {
			gate_wait(&turns[round]);
			CHECK_EQUAL(receive_by_all(), 0);
			psys_exit_group(0);
		}
		psys_kill(server, PSYS_SIGSTOP);
		CHECK(submit_copier(queue, fd) > 0);
		gate_open(&turns[round]);
		CHECK_EQUAL(reap(pid), 0);
		psys_kill(server, PSYS_SIGCONT);
		check_copied(queue, "secret");
		kill_server_of(queue);
	}
	close_queue(queue);
}

/* --- the descriptor of results ----------------------------------------------------------- */

static struct held_queue {
	struct aspawn_queue *queue;
	int reached, go;
} held;

static ASPAWN_CHILD int notes_its_parent(void *pid)
{
	*(int *)pid = psys_getppid();
	return 0;
}

static void submit_with_call(struct aspawn_queue *queue, const char *role, int (*fn)(void *),
			     void *arg)
{
	const struct aspawn_action action = ASPAWN_CALL(fn, arg);
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, NULL);

	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
}

/* The server waits in its first write, before the caller learns of the first results. */
static int opens_a_queue_that_does_not_tell(void *arg)
{
	(void)arg;
	filter_hold(PSYS_NR_write, &held.reached, &held.go);
	held.queue = open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_FD });
	return 0;
}

static bool is_readable(int fd)
{
	struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };

	return psys_ppoll(&poll, 1, &(struct psys_timespec){ 0, 0 }, NULL, 0) == 1;
}

/* Another thread submits before the polling thread has run. */
TEST(results_of_a_killed_server_are_not_kept_silent_by_a_submission)
{
	const struct aspawn_result *result;
	struct thread thread;
	int server = 0;

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	thread_start(&thread, opens_a_queue_that_does_not_tell, NULL);
	thread_join(&thread);
	submit_with_call(held.queue, "exit_7", notes_its_parent, &server);
	gate_wait(&held.reached);
	CHECK_EQUAL(aspawn_queue_count(held.queue, ASPAWN_COUNT_ENDED), 1);
	CHECK(!is_readable(aspawn_queue_fd(held.queue)));
	CHECK(server > 0);
	psys_kill(server, PSYS_SIGKILL);
	CHECK(ends_soon(server));
	gate_open(&held.go);
	CHECK(submit(held.queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	CHECK(is_readable(aspawn_queue_fd(held.queue)));
	CHECK_EQUAL(aspawn_queue_wait(held.queue, &result, 1, 0), 1);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(held.queue);
}

/* --- threads at the death of the server -------------------------------------------------- */

static int submits_and_is_held(void *arg)
{
	(void)arg;
	filter_hold(PSYS_NR_waitid, &held.reached, &held.go);
	CHECK(submit(held.queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	return 0;
}

static int lets_go_soon(void *arg)
{
	(void)arg;
	sleep_ms(20);
	gate_open(&held.go);
	return 0;
}

/* EAGAIN would say that the queue is full. */
TEST(submission_waits_for_a_thread_that_makes_a_new_server)
{
	struct thread first, other;

	held.queue = open_queue(&(struct aspawn_queue_options){ 0 });
	const int server = server_of(held.queue);
	psys_kill(server, PSYS_SIGKILL);
	CHECK(ends_soon(server));
	thread_start(&first, submits_and_is_held, NULL);
	gate_wait(&held.reached);
	thread_start(&other, lets_go_soon, NULL);
	CHECK(submit(held.queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	thread_join(&first);
	thread_join(&other);
	for (int i = 0; i < 2; i++) {
		const struct aspawn_result *result = next_result(held.queue);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(held.queue, result);
	}
	close_queue(held.queue);
}

/* --- a stopped server ---------------------------------------------------------------------- */

ROLE(stops_its_parent)
{
	(void)argc, (void)argv;
	psys_kill(psys_getppid(), PSYS_SIGSTOP);
	return 7;
}

TEST(job_that_stops_the_server_stops_no_other_job)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 2 });
	uint64_t seen = 0;

	CHECK(submit(queue, (struct aspawn_job){ .cookie = 1, .time_limit_ms = 50, .grace_ms = 50 },
		     "lingers", NULL) > 0);
	CHECK(submit(queue, (struct aspawn_job){ .cookie = 2 }, "stops_its_parent", NULL) > 0);
	CHECK(submit(queue, (struct aspawn_job){ .cookie = 4 }, "exit_7", NULL) > 0);
	for (int i = 0; i < 3; i++) {
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome,
			    result->cookie == 1 ? ASPAWN_OUTCOME_TIMED_OUT : ASPAWN_OUTCOME_RAN);
		seen += result->cookie;
		give_back(queue, result);
	}
	CHECK_EQUAL(seen, 7);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_SERVERS), 1);
	close_queue(queue);
}

static int64_t lingering;
static int cancels(struct aspawn_queue *queue)
{
	return aspawn_queue_cancel(queue, lingering);
}

static int counts(struct aspawn_queue *queue)
{
	return aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING);
}

static int looks_for_results(struct aspawn_queue *queue)
{
	const struct aspawn_result *result;

	return aspawn_queue_wait(queue, &result, 1, 0);
}

static int drains_for_a_moment(struct aspawn_queue *queue)
{
	return aspawn_queue_drain(queue, 1);
}

/* The queue becomes full. */
static int submits_another(struct aspawn_queue *queue)
{
	return submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) < 0 ? -1 : 0;
}

/* The server is stopped by another process, and runs on after some calls of one kind. */
TEST(each_call_on_a_queue_continues_its_stopped_server)
{
	static int (*const calls[])(struct aspawn_queue *) = { cancels, counts, looks_for_results,
							       drains_for_a_moment,
							       submits_another };
	enum { CALLS = sizeof calls / sizeof *calls };
	struct aspawn_queue *queues[CALLS];
	int servers[CALLS], stopped = CALLS;

	if (!have_proc())
		skip("no /proc");
	for (int i = 0; i < CALLS; i++) {
		queues[i] = open_queue(&(struct aspawn_queue_options){ .jobs = 4, .running = 1 });
		servers[i] = server_of(queues[i]);
		const int64_t ticket =
			submit(queues[i], (struct aspawn_job){ .grace_ms = LONG }, "lingers", NULL);
		CHECK(ticket > 0);
		lingering = i == 0 ? ticket : lingering;
		await_running(queues[i], 1);
		CHECK_EQUAL(psys_kill(servers[i], PSYS_SIGSTOP), 0);
		while (state_of(servers[i]) != 'T')
			sleep_ms(1);
	}
	while (stopped > 0)
		for (int i = stopped = 0; i < CALLS; i++)
			if (state_of(servers[i]) == 'T') {
				calls[i](queues[i]);
				sleep_ms(1);
				stopped++;
			}
	for (int i = 0; i < CALLS; i++) {
		CHECK_EQUAL(aspawn_queue_count(queues[i], ASPAWN_COUNT_SERVERS), 1);
		close_queue(queues[i]);
	}
}

/* An ordinary child has the former number of the server, and is no clone of the queue's. */
TEST(queue_signals_no_child_that_has_the_number_of_its_server)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	const int server = queue->server_pid, child = fork_child();

	if (child == 0)
		sleep_ms(600000);
	CHECK(child > 0);
	CHECK_EQUAL(psys_kill(child, PSYS_SIGSTOP), 0);
	while (state_of(child) != 'T')
		sleep_ms(1);
	queue->server_pid = child;
	for (int i = 0; i < 3; i++) {
		queue->tended_at -= 1U << 20;
		CHECK_EQUAL(counts(queue), 0);
		CHECK_EQUAL(state_of(child), 'T');
	}
	queue->server_pid = server;
	CHECK_EQUAL(psys_kill(child, PSYS_SIGKILL), 0);
	CHECK_EQUAL(reap(child), 128 + PSYS_SIGKILL);
	close_queue(queue);
}

/* --- a handler that forks ------------------------------------------------------------------ */

/* ptrace(2) */
enum {
	PTRACE_TRACEME = 0,
	PTRACE_CONT = 7,
	PTRACE_SINGLESTEP = 9,
	PTRACE_SETOPTIONS = 0x4200,
	PTRACE_O_EXITKILL = 1 << 20,
};

enum {
	ROUNDS = 8,
	STRIDE = 64, /* instructions between two signals: more than the end of the handler has */
	MOST_COPIES = 4000,
	GOT_AN_ERROR = 3,
	GOT_A_RESULT = 4, /* as if the handler had run after the call */
};

/* A call of the queue's, and what comes before. The host, its copies and its tracer see the
 * structure. */
struct stepped {
	const char *name;
	uint64_t flags;
	void (*prepare)(struct aspawn_queue *queue);
	int (*call)(struct aspawn_queue *queue);
};

/* Set in order, as the handler sees them at each instruction. */
static volatile bool is_copy, is_in_call;
static int copies[MOST_COPIES], copy_count;

static void forks(int signal)
{
	(void)signal;
	const int pid = is_in_call && copy_count < MOST_COPIES ? psys_fork() : -1;

	if (pid == 0) {
		is_copy = true;
		return;
	}
	if (pid > 0)
		copies[copy_count++] = pid;
	psys_kill(psys_getpid(), PSYS_SIGUSR2);
}

/* The tracer steps from one mark to the next. */
static void mark(void)
{
	CHECK_EQUAL(psys_kill(psys_getpid(), PSYS_SIGHUP), 0);
}

static ASPAWN_CHILD int counts_up(void *count)
{
	__atomic_add_fetch((int *)count, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int *starts; /* in a page that all share */
static int null_fd;
static int with_counting(struct aspawn_queue *queue, bool sends, bool prepares)
{
	const struct aspawn_action actions[] = { ASPAWN_DUP2(null_fd, 0),
						 ASPAWN_CALL(counts_up, starts) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char *const none[] = { NULL };

	command.envp = none;
	command.actions = sends ? actions : actions + 1;
	command.action_count = sends ? 2 : 1;
	return (int)(prepares ? aspawn_queue_prepare(queue, &command, NULL) :
				submit_command(queue, (struct aspawn_job){ 0 }, &command));
}

static int submits(struct aspawn_queue *queue)
{
	return with_counting(queue, false, false);
}

static int submits_descriptor(struct aspawn_queue *queue)
{
	return with_counting(queue, true, false);
}

/* Only the preparation is interrupted, not the prepared job. */
static int prepares(struct aspawn_queue *queue)
{
	struct aspawn_job job = { .size = sizeof job };
	const int prepared = with_counting(queue, false, true);

	is_in_call = false;
	if (is_copy || prepared < 0)
		return prepared;
	job.prepared = prepared;
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), 0);
	return prepared;
}

static void submits_before(struct aspawn_queue *queue)
{
	CHECK(submits(queue) > 0);
}

/* The descriptor does not show the result: the server may tell of a result after its taking. */
static void has_result(struct aspawn_queue *queue)
{
	submits_before(queue);
	while (aspawn_queue_count(queue, ASPAWN_COUNT_ENDED) == 0)
		sleep_ms(1);
}

static const struct aspawn_result *taken[2];
static int takes(struct aspawn_queue *queue)
{
	return aspawn_queue_wait(queue, taken, 2, 0);
}

static int waits(struct aspawn_queue *queue)
{
	return aspawn_queue_wait(queue, taken, 2, -1);
}

static int drains(struct aspawn_queue *queue)
{
	const int r = aspawn_queue_drain(queue, -1);

	return r == 0 ? 1 : r;
}

static void end_copy(struct aspawn_queue *queue, int r)
{
	CHECK(r == -PSYS_ESTALE || r > 0);
	CHECK_EQUAL(submits(queue), -PSYS_ESTALE);
	CHECK_EQUAL(aspawn_queue_close(queue), 0);
	psys_exit_group(r < 0 ? GOT_AN_ERROR : GOT_A_RESULT);
}

static void be_stepped_through(const struct stepped *stepped)
{
	int stale = 0;
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .jobs = 4, .flags = stepped->flags });

	null_fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK(null_fd > 2);
	set_handler(PSYS_SIGUSR1, forks);
	for (int i = 0; i < ROUNDS; i++) {
		if (stepped->prepare)
			stepped->prepare(queue);
		mark();
		is_in_call = true;
		const int r = stepped->call(queue);
		is_in_call = false;
		if (is_copy)
			end_copy(queue, r);
		mark();
		CHECK(r >= 0); /* 0: a copy has made the descriptor readable once more */
		if (!taken[0])
			taken[0] = next_result(queue);
		CHECK_EQUAL(taken[0]->status, 7 << 8);
		give_back(queue, taken[0]);
		taken[0] = NULL;
	}
	for (int i = 0; i < copy_count; i++) {
		const int status = reap(copies[i]);
		if (status != GOT_A_RESULT)
			CHECK_EQUAL(status, GOT_AN_ERROR);
		stale += status == GOT_AN_ERROR;
	}
	CHECK(stale > copy_count / 2);
	CHECK_EQUAL(*starts, ROUNDS); /* no copy has started a job */
	note(stepped->name, copy_count);
	close_queue(queue);
	psys_exit_group(0);
}

/* Returns the signal that has stopped the host, or -1 at the host's end. */
static int next_stop(int host, int request, int signal)
{
	int status;

	do {
		CHECK_EQUAL(psys_ptrace(request, host, NULL, (void *)(intptr_t)signal), 0);
		CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
		signal = 0;
	} while (status == (PSYS_SIGCHLD << 8 | 0x7f));
	if ((status & 0xff) == 0x7f)
		return status >> 8 & 0xff;
	CHECK_EQUAL(status, 0);
	return -1;
}

/* Returns false at the next mark. */
static bool step(int host, int count)
{
	while (count > 0 && next_stop(host, PTRACE_SINGLESTEP, 0) == PSYS_SIGTRAP)
		count--;
	return count == 0;
}

/* Lets the handler run, when signals are not blocked. Returns false at the next mark. */
static bool interrupt(int host)
{
	bool is_at_mark = false;
	int signal = PSYS_SIGUSR1;

	while ((signal = next_stop(host, PTRACE_CONT, signal)) != PSYS_SIGUSR2) {
		CHECK(signal == PSYS_SIGUSR1 || (signal == PSYS_SIGHUP && !is_at_mark));
		is_at_mark = is_at_mark || signal == PSYS_SIGHUP;
		signal = signal == PSYS_SIGHUP ? 0 : signal;
	}
	return !is_at_mark;
}

/* Where an atomic operation is a loop of a load and a store that a reservation ties together, each
 * step loses the reservation, and the loop never ends. */
static void need_steps_over_atomics(void)
{
	static int word;
	int status, steps = 1000;

	if (scaled(50) == 1)
		skip("single steps are slow, and not exact, on an emulated machine");
	const int host = fork_child();

	if (host == 0) {
		if (psys_ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			psys_exit_group(77);
		psys_kill(psys_getpid(), PSYS_SIGSTOP);
		__atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST);
		psys_kill(psys_getpid(), PSYS_SIGHUP);
		psys_exit_group(0);
	}
	CHECK_EQUAL(psys_wait4(host, &status, PSYS_WUNTRACED, NULL), host);
	if (status == 77 << 8)
		skip("no ptrace");
	CHECK(psys_ptrace(PTRACE_SETOPTIONS, host, NULL, (void *)PTRACE_O_EXITKILL) >= 0);
	if (psys_ptrace(PTRACE_SINGLESTEP, host, NULL, NULL) < 0)
		skip("no single steps");
	CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
	while (steps && next_stop(host, PTRACE_SINGLESTEP, 0) == PSYS_SIGTRAP)
		steps--;
	psys_kill(host, PSYS_SIGKILL);
	reap(host);
	if (!steps)
		skip("no single steps over atomic operations");
}

/* Interrupts each call at many places by a handler which forks. */
static void check_copies(const struct stepped *stepped)
{
	int status;

	need_steps_over_atomics();
	starts = shared_page();
	const int host = fork_child();
	if (host == 0) {
		CHECK(psys_ptrace(PTRACE_TRACEME, 0, NULL, NULL) >= 0);
		psys_kill(psys_getpid(), PSYS_SIGSTOP);
		be_stepped_through(stepped);
	}
	CHECK_EQUAL(psys_wait4(host, &status, PSYS_WUNTRACED, NULL), host);
	CHECK(psys_ptrace(PTRACE_SETOPTIONS, host, NULL, (void *)PTRACE_O_EXITKILL) >= 0);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQUAL(next_stop(host, PTRACE_CONT, 0), PSYS_SIGHUP);
		CHECK_EQUAL(next_stop(host, PTRACE_SINGLESTEP, 0), PSYS_SIGTRAP);
		for (int at = i * STRIDE / ROUNDS; step(host, at) && interrupt(host);)
			at = STRIDE;
	}
	CHECK_EQUAL(next_stop(host, PTRACE_CONT, 0), -1);
}

TEST(copy_of_a_submission_by_a_handler_that_forks_gets_an_error)
{
	check_copies(&(struct stepped){ "copies of a submission:", 0, NULL, submits });
	check_copies(&(struct stepped){ "of one with a descriptor:", 0, NULL, submits_descriptor });
}

TEST(copy_of_a_preparation_by_a_handler_that_forks_gets_an_error)
{
	check_copies(&(struct stepped){ "copies of a preparation:", 0, NULL, prepares });
}

TEST(copy_of_a_wait_by_a_handler_that_forks_gets_an_error)
{
	check_copies(&(struct stepped){ "copies of a wait:", ASPAWN_QUEUE_FD, has_result, takes });
	check_copies(&(struct stepped){ "of one that sleeps:", 0, submits_before, waits });
	check_copies(&(struct stepped){ "of a drain:", 0, submits_before, drains });
}

TEST(copy_of_a_wait_on_a_local_queue_gets_an_error)
{
	check_copies(&(struct stepped){ "copies of a local wait:", ASPAWN_QUEUE_LOCAL,
					submits_before, waits });
}

/* --- ... while the caller sleeps ------------------------------------------------------------- */

enum { SIGNALS = 5 };

static struct aspawn_queue *slept_on;
static int sleeper;

static int interrupts_and_cancels(void *ticket)
{
	for (int i = 0; i < SIGNALS; i++) {
		sleep_ms(5); /* usually it sleeps then */
		psys_tgkill(psys_getpid(), sleeper, PSYS_SIGUSR1);
		while (__atomic_load_n(&copy_count, __ATOMIC_SEQ_CST) <= i)
			sleep_ms(1);
	}
	return aspawn_queue_cancel(slept_on, *(int *)ticket);
}

static void check_copies_of_a_sleeper(const struct aspawn_queue_options *options)
{
	struct thread thread;
	int ticket;

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	sleeper = psys_gettid();
	copy_count = 0;
	slept_on = open_queue(options);
	set_handler(PSYS_SIGUSR1, forks);
	set_disposition(PSYS_SIGUSR2, PSYS_SIG_IGN);
	ticket = submit(slept_on, (struct aspawn_job){ .grace_ms = ASPAWN_GRACE_NONE }, "lingers",
			NULL);
	CHECK(ticket > 0);
	is_in_call = true;
	thread_start(&thread, interrupts_and_cancels, &ticket);
	const int r = aspawn_queue_wait(slept_on, taken, 1, -1);
	if (is_copy) {
		CHECK_EQUAL(r, -PSYS_ESTALE);
		psys_exit_group(GOT_AN_ERROR);
	}
	CHECK_EQUAL(r, 1);
	CHECK_EQUAL(taken[0]->outcome, ASPAWN_OUTCOME_CANCELLED);
	thread_join(&thread);
	for (int i = 0; i < SIGNALS; i++)
		CHECK_EQUAL(reap(copies[i]), GOT_AN_ERROR);
	close_queue(slept_on);
}

TEST(copy_of_a_waiter_that_sleeps_gets_an_error)
{
	check_copies_of_a_sleeper(&(struct aspawn_queue_options){ 0 });
	check_copies_of_a_sleeper(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_LOCAL });
}
