/* SPDX-License-Identifier: MIT */
/* Queues with more than one server. */
#include "filter.h"
#include "queues.h"

enum { SERVERS = 3, MOST = 64 };

/* Of each server: its pid, and a key whose jobs it gets. */
struct known_server {
	int pid;
	uint32_t key;
};

static struct aspawn_queue *queue_of_servers(uint64_t flags)
{
	return open_queue(&(struct aspawn_queue_options){
		.running = 2 * SERVERS, .servers = SERVERS, .flags = flags });
}

static struct aspawn_job job_of(const struct known_server *server)
{
	return (struct aspawn_job){ .flags = ASPAWN_JOB_OUTPUT, .key = server->key, .key_limit = 32 };
}

static int parent_of(const struct aspawn_result *result)
{
	int parent = 0;

	CHECK_EQUAL(result->out_size, sizeof parent);
	psys_memcpy(&parent, result->out, sizeof parent);
	return parent;
}

/* The place of the pid; a new one behind the last of count. */
static int place_of(struct known_server *servers, int count, int pid)
{
	int at = 0;

	while (at < count && servers[at].pid != pid)
		at++;
	CHECK(at < SERVERS);
	servers[at].pid = pid;
	return at;
}

/* A job of any key tells its parent. */
static void find_servers(struct aspawn_queue *queue, struct known_server servers[SERVERS])
{
	for (uint32_t key = 1, count = 0; count < SERVERS; key++) {
		CHECK(submit(queue, job_of(&(struct known_server){ .key = key }),
			     "tells_its_parent", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		const int at = place_of(servers, (int)count, parent_of(result));
		servers[at].key = key;
		count += at == (int)count;
		give_back(queue, result);
	}
}

static struct aspawn_queue_counts counts_of(struct aspawn_queue *queue)
{
	struct aspawn_queue_counts counts;

	CHECK_EQUAL(aspawn_queue_count(queue, &counts), 0);
	return counts;
}

static void wait_until_running(struct aspawn_queue *queue, uint32_t count)
{
	while (counts_of(queue).running < count)
		sleep_ms(1);
}

ROLE(tells_its_parent_and_stays)
{
	const int parent = psys_getppid();

	(void)argc, (void)argv;
	psys_write(1, &parent, sizeof parent);
	sleep_ms(60000);
	return 0;
}

/* --- jobs ----------------------------------------------------------------------------------- */

TEST_SECONDS(servers_run_each_job_once, 60)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	const struct aspawn_result *results[MOST];
	uint64_t seen = 0;
	int count;

	for (uint64_t i = 0; i < MOST; i++)
		CHECK(submit(queue, (struct aspawn_job){ .cookie = i }, "exit_7", NULL) > 0);
	while ((count = aspawn_queue_wait(queue, results, MOST, 15000)) > 0) {
		for (int i = 0; i < count; i++) {
			CHECK(results[i]->cookie < MOST);
			CHECK(!(seen & (uint64_t)1 << results[i]->cookie));
			seen |= (uint64_t)1 << results[i]->cookie;
			CHECK_EQUAL(results[i]->status, 7 << 8);
		}
		CHECK_EQUAL(aspawn_queue_release(queue, results, count), 0);
	}
	CHECK_EQUAL(count, -PSYS_ECHILD);
	CHECK_EQUAL(seen, UINT64_MAX);
	CHECK_EQUAL(counts_of(queue).ran, MOST);
	close_queue(queue);
	CHECK(!have_children());
}

/* While all linger, each server has its share, and no more run. */
TEST(servers_share_the_running_jobs)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 4, .servers = SERVERS });
	struct known_server servers[SERVERS];
	int of[SERVERS] = { 0 }, known = 0;

	for (int i = 0; i < 10; i++)
		CHECK(submit(queue, (struct aspawn_job){ .flags = ASPAWN_JOB_OUTPUT },
			     "tells_its_parent_and_stays", NULL) > 0);
	wait_until_running(queue, 4);
	sleep_ms(50);
	CHECK_EQUAL(counts_of(queue).running, 4);
	CHECK_EQUAL(counts_of(queue).waiting, 6);
	CHECK_EQUAL(counts_of(queue).servers, SERVERS);
	CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
	for (int i = 0; i < 10; i++) {
		const struct aspawn_result *result = next_result(queue);

		CHECK_EQUAL(result->end, ASPAWN_JOB_CANCELLED);
		if (result->pid) {
			const int at = place_of(servers, known, parent_of(result));
			known += at == known;
			of[at]++;
		}
		give_back(queue, result);
	}
	CHECK_EQUAL(known, SERVERS);
	CHECK_EQUAL(of[0] * of[1] * of[2], 2); /* 1, 1 and 2 */
	close_queue(queue);
}

TEST(few_jobs_are_all_of_one_server)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 32, .servers = 2 });
	struct known_server servers[SERVERS];
	const struct aspawn_result *results[8];

	for (int i = 0; i < 8; i++)
		CHECK(submit(queue, (struct aspawn_job){ .flags = ASPAWN_JOB_OUTPUT },
			     "tells_its_parent", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, 15000), 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 8, 0), 8);
	for (int i = 0; i < 8; i++)
		CHECK_EQUAL(place_of(servers, i > 0, parent_of(results[i])), 0);
	close_queue(queue);
}

TEST(servers_keep_the_limit_of_a_key)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 12, .servers = SERVERS });

	for (uint32_t i = 0; i < 12; i++)
		CHECK(submit(queue, (struct aspawn_job){ .key = 1 + i % 3, .key_limit = 1 },
			     "lingers", NULL) > 0);
	wait_until_running(queue, 3);
	sleep_ms(50);
	CHECK_EQUAL(counts_of(queue).running, 3);
	CHECK_EQUAL(counts_of(queue).waiting, 9);
	close_queue(queue);
}

/* All places of all servers can be used. */
TEST(queue_of_servers_that_is_full_says_so)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .jobs = 8, .servers = 2 });
	const struct aspawn_result *results[8];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
			/* No server has a job, but one has no place. */
			if (i == 3)
				CHECK_EQUAL(aspawn_queue_drain(queue, 15000), 0);
		}
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_queue_drain(queue, 15000), 0);
		CHECK_EQUAL(aspawn_queue_wait(queue, results, 8, 0), 8);
		CHECK_EQUAL(aspawn_queue_release(queue, results, 8), 0);
		CHECK_EQUAL(aspawn_queue_release(queue, results, 1), -PSYS_EINVAL);
	}
	close_queue(queue);
}

TEST(servers_know_a_prepared_command)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "writes", "x");
	const int prepared = aspawn_queue_prepare(queue, &command);

	CHECK(prepared > 0);
	find_servers(queue, servers);
	for (int i = 0; i < SERVERS; i++) {
		struct aspawn_job job = job_of(&servers[i]);
		job.size = sizeof job;
		job.prepared = prepared;
		CHECK(aspawn_queue_submit(queue, &job) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK(result->out_size == 1 && *result->out == 'x');
		give_back(queue, result);
	}
	CHECK_EQUAL(aspawn_queue_unprepare(queue, prepared), 0);
	CHECK_EQUAL(aspawn_queue_unprepare(queue, prepared), -PSYS_EINVAL);
	close_queue(queue);
}

TEST(servers_cancel_by_ticket)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	int tickets[SERVERS];

	find_servers(queue, servers);
	for (int i = 0; i < SERVERS; i++) {
		tickets[i] = submit(queue, job_of(&servers[i]), "lingers", NULL);
		CHECK(tickets[i] > 0);
		for (int j = 0; j < i; j++)
			CHECK(tickets[j] != tickets[i]);
	}
	for (int i = 0; i < SERVERS; i++) {
		CHECK_EQUAL(aspawn_queue_cancel(queue, tickets[i]), 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->ticket, tickets[i]);
		CHECK_EQUAL(result->end, ASPAWN_JOB_CANCELLED);
		give_back(queue, result);
		CHECK_EQUAL(aspawn_queue_cancel(queue, tickets[i]), -PSYS_ESRCH);
	}
	close_queue(queue);
}

/* --- waiting -------------------------------------------------------------------------------- */

/* If the server did not wake the waiter, each round would take the second after which a waiter looks
 * by itself, and the test longer than it may. */
static void check_waits(void)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];

	find_servers(queue, servers);
	for (int i = 0; i < scaled(60); i++) {
		CHECK(submit(queue, job_of(&servers[i % SERVERS]), "naps", NULL) > 0);
		give_back(queue, next_result(queue));
		CHECK(submit(queue, job_of(&servers[i % SERVERS]), "naps", NULL) > 0);
		CHECK_EQUAL(aspawn_queue_drain(queue, 15000), 0);
		give_back(queue, next_result(queue));
	}
	close_queue(queue);
}

TEST_SECONDS(servers_wake_waiters, 40)
{
	check_waits();
}

TEST_SECONDS(servers_wake_waiters_without_futex_waitv, 40)
{
	filter_refuse(PSYS_NR_futex_waitv, PSYS_ENOSYS);
	check_waits();
}

/* The one that takes the last result dismisses the other, as in check_waits(). */
static int waits_for_all(void *queue)
{
	const struct aspawn_result *result;

	while (aspawn_queue_wait(queue, &result, 1, -1) == 1)
		give_back(queue, result);
	return 0;
}

TEST_SECONDS(servers_dismiss_waiters, 40)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct thread threads[2];

	for (int round = 0; round < scaled(60); round++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "naps", NULL) > 0);
		for (int i = 0; i < 2; i++)
			thread_start(&threads[i], waits_for_all, queue);
		for (int i = 0; i < 2; i++)
			thread_join(&threads[i]);
	}
	CHECK_EQUAL(counts_of(queue).ran, scaled(60));
	close_queue(queue);
}

/* Results of a server that has many do not hold up those of another. */
TEST(wait_takes_from_all_servers_in_turns)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	bool seen[SERVERS] = { false };

	find_servers(queue, servers);
	for (int i = 0; i < 4 * SERVERS; i++)
		CHECK(submit(queue, job_of(&servers[i % SERVERS]), "tells_its_parent", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, 15000), 0);
	for (int i = 0; i < SERVERS; i++) {
		const struct aspawn_result *result = next_result(queue);
		const int at = place_of(servers, SERVERS, parent_of(result));
		CHECK(!seen[at]);
		seen[at] = true;
		give_back(queue, result);
	}
	close_queue(queue);
}

TEST(servers_make_the_descriptor_readable)
{
	struct aspawn_queue *queue = queue_of_servers(ASPAWN_QUEUE_FD);
	struct psys_timespec at_once = { 0, 0 };
	struct psys_pollfd poll = { aspawn_queue_fd(queue), PSYS_POLLIN, 0 };
	struct known_server servers[SERVERS];
	const struct aspawn_result *result;

	CHECK(poll.fd > 2);
	find_servers(queue, servers);
	do { /* a server tells of a result after this thread may have taken it */
		sleep_ms(20);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), -PSYS_ECHILD);
	} while (psys_ppoll(&poll, 1, &at_once, NULL, 0) != 0);
	for (int i = 0; i < 2 * SERVERS; i++) {
		CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
		CHECK(submit(queue, job_of(&servers[i % SERVERS]), "exit_7", NULL) > 0);
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), 1);
		give_back(queue, result);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), -PSYS_ECHILD);
	}
	/* A server's end, without a job, too, where there are pidfds. */
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);
	for (int i = 0; i < SERVERS && pidfd >= 0; i++) {
		psys_kill(servers[i].pid, PSYS_SIGKILL);
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), -PSYS_ECHILD);
		CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
	}
	close_queue(queue);
}

/* --- ends ----------------------------------------------------------------------------------- */

TEST(killed_server_loses_only_its_own_jobs)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];

	find_servers(queue, servers);
	for (int i = 0; i < 2 * SERVERS; i++) {
		struct aspawn_job job = job_of(&servers[i % SERVERS]);
		job.cookie = (uint64_t)(i % SERVERS);
		CHECK(submit(queue, job, "lingers", NULL) > 0);
	}
	wait_until_running(queue, 2 * SERVERS);
	psys_kill(servers[1].pid, PSYS_SIGKILL);
	for (int i = 0; i < 2; i++) {
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->end, ASPAWN_JOB_LOST);
		CHECK_EQUAL(result->cookie, 1);
		CHECK(ends_soon(result->pid));
		give_back(queue, result);
	}
	CHECK_EQUAL(counts_of(queue).running, 2 * SERVERS - 2);
	CHECK_EQUAL(counts_of(queue).lost, 2);
	/* The next submission for it makes a new one. */
	CHECK_EQUAL(counts_of(queue).servers, SERVERS);
	CHECK(submit(queue, job_of(&servers[1]), "tells_its_parent", NULL) > 0);
	const struct aspawn_result *result = next_result(queue);
	const int parent = parent_of(result);
	for (int i = 0; i < SERVERS; i++)
		CHECK(parent != servers[i].pid);
	give_back(queue, result);
	CHECK_EQUAL(counts_of(queue).servers, SERVERS + 1);
	close_queue(queue);
	CHECK(!have_children());
}

/* As in check_waits(), a waiter that is not woken takes a second. */
TEST(waiters_see_the_death_of_each_server)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	const bool sees = psys_futex_waitv(NULL, 0, 0, NULL, 0) != -PSYS_ENOSYS;

	for (int i = 0; i < (sees ? scaled(60) : SERVERS); i++) {
		if (i % SERVERS == 0)
			find_servers(queue, servers);
		CHECK(submit(queue, job_of(&servers[i % SERVERS]), "lingers", NULL) > 0);
		wait_until_running(queue, 1);
		struct thread thread;
		thread_start(&thread, waits_for_all, queue);
		sleep_ms(5);
		psys_kill(servers[i % SERVERS].pid, PSYS_SIGKILL);
		thread_join(&thread);
	}
	close_queue(queue);
}

TEST(servers_leave_nothing_behind)
{
	const int descriptors = count_descriptors(), mappings = count_mappings();
	struct known_server servers[SERVERS];

	for (int round = 0; round < 3; round++) {
		struct aspawn_queue *queue = queue_of_servers(ASPAWN_QUEUE_FD);

		find_servers(queue, servers);
		if (descriptors >= 0)
			CHECK_EQUAL(count_descriptors(), descriptors + 4 * SERVERS + 2);
		for (int i = 0; i < 10; i++)
			CHECK(submit(queue, (struct aspawn_job){ .flags = ASPAWN_JOB_OUTPUT },
				     "lingers", NULL) > 0);
		wait_until_running(queue, 2 * SERVERS);
		close_queue(queue);
		for (int i = 0; i < SERVERS; i++)
			CHECK(!exists(servers[i].pid));
		CHECK(!have_children());
		CHECK_EQUAL(count_descriptors(), descriptors);
		CHECK_EQUAL(count_mappings(), mappings);
	}
}

/* Nothing is left of the servers that were made before the one that could not be. */
TEST(servers_are_all_made_or_none)
{
	struct aspawn_queue_options options = { .size = sizeof options, .servers = SERVERS };
	struct psys_rlimit64 limit;
	struct aspawn_queue *queue = NULL;
	int more = 0, r;

	if (!have_proc())
		skip("no /proc");
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	const int descriptors = count_descriptors(), mappings = count_mappings();
	do {
		limit.rlim_cur = (uint64_t)(descriptors + more++);
		limit.rlim_max = 100;
		CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
		r = aspawn_queue_create(&queue, &options);
		limit.rlim_cur = 100;
		CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
		CHECK(r == 0 || r == -PSYS_EMFILE);
		CHECK(!queue == (r < 0));
		if (r < 0) {
			CHECK_EQUAL(count_descriptors(), descriptors);
			CHECK_EQUAL(count_mappings(), mappings);
			CHECK(!have_children());
		}
	} while (r < 0 && more < 40);
	CHECK_EQUAL(r, 0);
	CHECK(more > 3 * (SERVERS - 1)); /* those of all but the last were not enough */
	close_queue(queue);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(queue_of_servers_is_not_inherited_by_fork)
{
	struct aspawn_queue *queue = queue_of_servers(ASPAWN_QUEUE_FD);
	const struct aspawn_result *result = NULL;
	struct aspawn_queue_counts counts;

	int pid = fork_child();
	if (pid == 0) {
		const int before = count_descriptors();
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_count(queue, &counts), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_close(queue), 0);
		if (before > 0)
			CHECK_EQUAL(count_descriptors(), before - 3 * SERVERS - 2); /* no pidfds */
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	give_back(queue, next_result(queue));
	close_queue(queue);
}

/* --- options and descriptors ---------------------------------------------------------------- */

static int create(struct aspawn_queue_options options)
{
	struct aspawn_queue *queue = NULL;

	options.size = sizeof options;
	int r = aspawn_queue_create(&queue, &options);
	if (r == 0) {
		r = (int)counts_of(queue).servers;
		close_queue(queue);
	}
	return r;
}

TEST(queue_checks_the_number_of_servers)
{
	CHECK_EQUAL(create((struct aspawn_queue_options){ .servers = 65 }), -PSYS_EINVAL);
	CHECK_EQUAL(create((struct aspawn_queue_options){ .reserved = 1 }), -PSYS_EINVAL);
	CHECK_EQUAL(
		create((struct aspawn_queue_options){ .servers = 2, .flags = ASPAWN_QUEUE_LOCAL }),
		-PSYS_EINVAL);
	CHECK_EQUAL(
		create((struct aspawn_queue_options){ .servers = 1, .flags = ASPAWN_QUEUE_LOCAL }),
		0);
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(create((struct aspawn_queue_options){ 0 }), 1);
	CHECK_EQUAL(create((struct aspawn_queue_options){ .servers = 5 }), 5);
	/* One is enough for a delay, and none needs to be without a job. */
	CHECK_EQUAL(create((struct aspawn_queue_options){ .servers = 5, .delay_ms = 1 }), 1);
	CHECK_EQUAL(create((struct aspawn_queue_options){ .servers = 5, .running = 2 }), 2);
}

static void check_registered(struct aspawn_queue *queue, const struct known_server *server, int fd,
			     int end)
{
	const struct aspawn_action action = ASPAWN_DUP2(fd, 1);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	const struct aspawn_job job = { .key = server->key, .key_limit = 32 };
	char byte = 0;

	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, job, &command) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->status, 0);
	give_back(queue, result);
	CHECK_EQUAL(psys_read(end, &byte, 1), 1);
	CHECK_EQUAL(byte, 'x');
}

TEST(servers_all_have_a_registered_descriptor)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	int pipe[2];
	char byte;

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	find_servers(queue, servers);
	for (int round = 0; round < 2; round++) {
		CHECK_EQUAL(aspawn_queue_register(queue, pipe[1]), 0);
		CHECK_EQUAL(aspawn_queue_register(queue, pipe[1]), -PSYS_EEXIST);
		for (int i = 0; i < SERVERS; i++)
			check_registered(queue, &servers[i], pipe[1], pipe[0]);
		CHECK_EQUAL(aspawn_queue_unregister(queue, pipe[1]), 0);
		CHECK_EQUAL(aspawn_queue_unregister(queue, pipe[1]), -PSYS_EBADF);
	}
	psys_close(pipe[1]);
	CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 0);
	close_queue(queue);
}

/* True if a process has this process's descriptor; or if /proc does not tell. */
static bool has_descriptor(int pid, int fd)
{
	char own[64] = "", other[64], path[64] = "/proc/self/fd/";
	size_t length;

	psys_i64_to_decimal(path + 14, fd);
	if (psys_readlinkat(PSYS_AT_FDCWD, path, own, sizeof own - 1) <= 0)
		return true;
	length = 6 + psys_i64_to_decimal(path + 6, pid);
	length += psys_strlcpy(path + length, "/fd/", 5);
	for (int i = 0; i < 32; i++) {
		psys_i64_to_decimal(path + length, i);
		psys_memset(other, 0, sizeof other);
		psys_readlinkat(PSYS_AT_FDCWD, path, other, sizeof other - 1);
		if (!psys_strcmp(own, other))
			return true;
	}
	return false;
}

/* A thread without the filters, whose job needs a new server. */
struct unfiltered {
	struct aspawn_queue *queue;
	struct known_server *server;
	int gate;
};

static int submits_at_gate(void *arg)
{
	struct unfiltered *unfiltered = arg;

	gate_wait(&unfiltered->gate);
	return submit(unfiltered->queue, job_of(unfiltered->server), "tells_its_parent", NULL) <= 0;
}

/* A server has died, and this thread can make no new one. */
static void check_register_fails(int dead)
{
	struct aspawn_queue *queue = queue_of_servers(0);
	struct known_server servers[SERVERS];
	struct unfiltered unfiltered = { queue, &servers[dead], 0 };
	struct thread thread;
	int pipe[2];

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	find_servers(queue, servers);
	CHECK_EQUAL(aspawn_queue_register(queue, pipe[1]), 0);
	for (int i = 0; i < SERVERS && have_proc(); i++)
		CHECK(has_descriptor(servers[i].pid, pipe[1]));
	CHECK_EQUAL(aspawn_queue_unregister(queue, pipe[1]), 0);
	thread_start(&thread, submits_at_gate, &unfiltered);
	filter_refuse(PSYS_NR_clone, PSYS_EPERM);
	filter_refuse(PSYS_NR_clone3, PSYS_EPERM);
	psys_kill(servers[dead].pid, PSYS_SIGKILL);
	CHECK(ends_soon(servers[dead].pid));
	CHECK_EQUAL(aspawn_queue_register(queue, pipe[1]), -PSYS_EOPNOTSUPP);
	/* The new server reads the message for the old one. */
	gate_open(&unfiltered.gate);
	thread_join(&thread);
	const struct aspawn_result *result = next_result(queue);
	servers[dead].pid = parent_of(result);
	give_back(queue, result);
	for (int i = 0; i < SERVERS && have_proc(); i++)
		CHECK(!has_descriptor(servers[i].pid, pipe[1]));
	CHECK_EQUAL(aspawn_queue_unregister(queue, pipe[1]), -PSYS_EBADF);
	close_queue(queue);
}

TEST(servers_register_all_or_none)
{
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	for (int i = 0; i < SERVERS; i++) { /* in processes of their own: filters are for good */
		int pid = fork_child();
		if (pid == 0) {
			check_register_fails(i);
			psys_exit_group(0);
		}
		CHECK_EQUAL(reap(pid), 0);
	}
}

/* --- functions in the servers, threads ------------------------------------------------------ */

struct tally {
	struct aspawn_queue *queue;
	uint32_t calls, wrong;
};

/* Also counts while the queue is closed. */
static ASPAWN_CHILD int tallies(void *arg, const struct aspawn_result *result)
{
	struct tally *tally = arg;
	struct aspawn_queue_counts counts;

	(void)result;
	if (aspawn_queue_count(tally->queue, &counts) < 0 || counts.servers != SERVERS)
		__atomic_add_fetch(&tally->wrong, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&tally->calls, 1, __ATOMIC_SEQ_CST);
	return 1;
}

TEST_SECONDS(servers_call_a_function_for_each_completed_job, 60)
{
	struct tally tally = { 0 };
	const struct aspawn_result *result;

	tally.queue = open_queue(&(struct aspawn_queue_options){ .running = 2 * SERVERS,
								 .servers = SERVERS,
								 .completed = tallies,
								 .completed_arg = &tally });
	for (int i = 0; i < MOST; i++)
		CHECK(submit(tally.queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(tally.queue, 50000), 0);
	CHECK_EQUAL(tally.calls, MOST);
	CHECK_EQUAL(aspawn_queue_wait(tally.queue, &result, 1, -1), -PSYS_ECHILD);
	for (int i = 0; i < 2 * SERVERS; i++)
		CHECK(submit(tally.queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	wait_until_running(tally.queue, 2 * SERVERS);
	close_queue(tally.queue);
	CHECK_EQUAL(tally.calls, MOST + 2 * SERVERS);
	CHECK_EQUAL(tally.wrong, 0);
}

TEST_SECONDS(servers_of_many_threads, 60)
{
	check_crowd(&(struct aspawn_queue_options){ .jobs = 16, .servers = SERVERS });
}
