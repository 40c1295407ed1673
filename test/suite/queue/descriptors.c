/* SPDX-License-Identifier: MIT */
/* Tests of the caller's descriptors that jobs use: a job has only the descriptors in its request */
#include "filter.h"
#include "queues.h"

/* Submits a job that writes the text to the caller's descriptor. */
static int64_t submit_to(struct aspawn_queue *queue, struct aspawn_job job, int fd, const char *text)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", text);
	const struct aspawn_action action = ASPAWN_DUP2(fd, 1);

	command.actions = &action;
	command.action_count = 1;
	return submit_command(queue, job, &command);
}

static void make_pipe(int pipe[2])
{
	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
}

/* Checks that a pipe has the text and then ends: no other process has the end for writing. */
static void check_all_of(int pipe[2], const char *text)
{
	char all[64];
	size_t length = 0;
	long r;

	CHECK_EQUAL(psys_close(pipe[1]), 0);
	while ((r = psys_read(pipe[0], all + length, sizeof all - 1 - length)) > 0)
		length += (size_t)r;
	CHECK_EQUAL(r, 0);
	all[length] = '\0';
	CHECK(!psys_strcmp(all, text));
	CHECK_EQUAL(psys_close(pipe[0]), 0);
}

static void check_result(struct aspawn_queue *queue, int end, int status)
{
	const struct aspawn_result *result = next_result(queue);

	CHECK_EQUAL(result->outcome, end);
	CHECK_EQUAL(result->status, status);
	give_back(queue, result);
}

static void check_failure(struct aspawn_queue *queue, int error)
{
	const struct aspawn_result *result = next_result(queue);

	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.error, error);
	give_back(queue, result);
}

/* A job that uses descriptors can run. */
static void check_goes_on(struct aspawn_queue *queue)
{
	int pipe[2];

	make_pipe(pipe);
	CHECK(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "next") > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	check_all_of(pipe, "next");
}

/* --- what a job has ------------------------------------------------------------------------- */

TEST(queue_sends_descriptors_along)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "b");
	int pipe[2];

	make_pipe(pipe);
	const struct aspawn_action action = ASPAWN_DUP2(pipe[1], 1);
	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "a") > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	command.memory = ASPAWN_MEMORY_COPIED;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	/* The system call's mark names the descriptor. */
	const struct aspawn_action calls[] = { ASPAWN_CLOSE(1),
					       ASPAWN_FCNTL(pipe[1], PSYS_F_DUPFD, 1) };
	command.actions = calls;
	command.action_count = 2;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	CHECK_EQUAL(submit_to(queue, (struct aspawn_job){ 0 }, 9999, "c"), -PSYS_EBADF);
	check_all_of(pipe, "abb");
	CHECK_EQUAL(submit_command(queue, (struct aspawn_job){ 0 }, &command), -PSYS_EBADF);
	close_queue(queue);
}

/* The caller closes its own descriptor at once. */
TEST(queue_sends_descriptors_for_each_job_of_a_prepared_command)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	const struct aspawn_action action = ASPAWN_DUP2(77, 1);
	int pipes[3][2];

	command.actions = &action;
	command.action_count = 1;
	const struct aspawn_job job = { .size = sizeof job,
					.prepared = aspawn_queue_prepare(queue, &command, NULL) };
	CHECK(job.prepared > 0);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EBADF);
	for (int i = 0; i < 3; i++) {
		make_pipe(pipes[i]);
		CHECK_EQUAL(psys_dup2(pipes[i][1], 77), 77);
		CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	}
	psys_close(77);
	for (int i = 0; i < 3; i++)
		check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	for (int i = 0; i < 3; i++)
		check_all_of(pipes[i], "x");
	close_queue(queue);
}

/* The server has the caller's numbers for other descriptors. */
TEST(queue_places_descriptors_that_change_places)
{
	enum { COUNT = 16 };
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	struct aspawn_action actions[COUNT + 1];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	int pipes[COUNT][2];

	for (int i = 0; i < COUNT; i++) {
		make_pipe(pipes[COUNT - 1 - i]);
		actions[COUNT - 1 - i] =
			(struct aspawn_action)ASPAWN_DUP2(pipes[COUNT - 1 - i][1], 1);
	}
	command.actions = actions;
	command.action_count = COUNT + 1;
	for (int i = 0; i < COUNT; i++) {
		actions[COUNT] = actions[i];
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	}
	for (int i = 0; i < COUNT; i++)
		check_all_of(pipes[i], "x");
	close_queue(queue);
}

TEST(queue_sends_at_most_253_descriptors_for_a_job)
{
	enum { MOST = 253 };
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .job_bytes = 100000 });
	static struct aspawn_action actions[2 * MOST];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	int pipe[2];

	make_pipe(pipe);
	for (int i = 0; i < MOST; i++) {
		actions[i] = (struct aspawn_action)ASPAWN_DUP2(100 + i, 1);
		actions[MOST + i] = (struct aspawn_action)ASPAWN_DUP2(100 + MOST - 1 - i, 1);
		need_call(psys_dup3(pipe[1], 100 + i, PSYS_O_CLOEXEC), "few descriptors");
	}
	command.actions = actions;
	command.action_count = sizeof actions / sizeof *actions; /* each counts once */
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	actions[MOST] = (struct aspawn_action)ASPAWN_DUP2(pipe[1], 1);
	CHECK_EQUAL(submit_command(queue, (struct aspawn_job){ 0 }, &command), -PSYS_E2BIG);
	CHECK_EQUAL(aspawn_queue_prepare(queue, &command, NULL), -PSYS_E2BIG);
	for (int i = 0; i < MOST; i++)
		psys_close(100 + i);
	check_all_of(pipe, "x");
	close_queue(queue);
}

static ASPAWN_CHILD int opens_62(void *arg)
{
	(void)arg;
	const int fd = psys_open("/dev/null", PSYS_O_RDONLY, 0);
	return fd < 0 ? fd : psys_dup3(fd, 62, PSYS_O_CLOEXEC);
}

/* Submits a job with three actions, the last of which uses 62, a number that the caller has not. */
static int64_t submit_three(struct aspawn_queue *queue, struct aspawn_action first,
			    struct aspawn_action second)
{
	const struct aspawn_action actions[] = { first, second, ASPAWN_DUP2(62, 0) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.actions = actions;
	command.action_count = 3;
	return submit_command(queue, (struct aspawn_job){ 0 }, &command);
}

TEST(queue_sends_what_is_the_callers_at_that_action)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	const struct aspawn_action nothing = ASPAWN_UMASK(022);
	const int dev = psys_open("/dev", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);

	CHECK_EQUAL(submit_three(queue, nothing, nothing), -PSYS_EBADF);
	CHECK(submit_three(queue, nothing,
			   (struct aspawn_action)ASPAWN_OPEN(62, "/dev/null", PSYS_O_RDONLY, 0)) >
	      0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	CHECK(submit_three(queue, nothing, (struct aspawn_action)ASPAWN_CALL(opens_62, NULL)) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	CHECK(submit_three(queue, nothing, (struct aspawn_action)ASPAWN_DUP2(1, 62)) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	CHECK(submit_three(queue, nothing, (struct aspawn_action)ASPAWN_CLOSE(62)) > 0);
	check_failure(queue, -PSYS_EBADF);
	CHECK(submit_three(queue, nothing, (struct aspawn_action)ASPAWN_CLOSEFROM(60)) > 0);
	check_failure(queue, -PSYS_EBADF);
	/* The caller opened these directories. */
	CHECK(submit_three(queue, nothing,
			   (struct aspawn_action)ASPAWN_OPENAT(62, dev, "null", PSYS_O_RDONLY, 0)) >
	      0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	CHECK(submit_three(queue, (struct aspawn_action)ASPAWN_FCHDIR(dev),
			   (struct aspawn_action)ASPAWN_OPEN(62, "null", PSYS_O_RDONLY, 0)) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	close_queue(queue);
}

/* The group has the caller's number, which names another descriptor in the server. */
TEST(job_joins_the_control_group_that_it_names)
{
	struct cgroup group, other;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);

	make_cgroup(&group);
	psys_memcpy(&other, &group, sizeof other);
	psys_strlcpy(other.path + psys_strlen(other.path), "/other", 8);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, other.path, 0755), 0);
	other.fd = psys_open(other.path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	for (int number = 3; number < 30; number++) {
		const struct aspawn_action actions[] = {
			ASPAWN_DUP2(other.fd, 30), ASPAWN_JOIN_CGROUP(number),
			ASPAWN_OPEN(0, "/proc/self/cgroup", PSYS_O_RDONLY, 0)
		};
		if (psys_fcntl(number, PSYS_F_GETFD, 0) >= 0)
			continue;
		CHECK_EQUAL(psys_dup2(group.fd, number), number);
		command.actions = actions;
		command.action_count = 3;
		CHECK(submit_command(queue, (struct aspawn_job){ .out_size = KEPT }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->status, 0);
		CHECK(result->out_length > 7);
		CHECK(psys_memcmp(result->out + result->out_length - 7, "/other\n", 7));
		give_back(queue, result);
		psys_close(number);
	}
	close_queue(queue);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, other.path, PSYS_AT_REMOVEDIR), 0);
	remove_cgroup(&group);
}

/* --- what is sent -------------------------------------------------------------------------- */

static ASPAWN_CHILD int does_nothing(void *unused)
{
	(void)unused;
	return 0;
}

/* After a function, and in an unmarked argument, a number means no descriptor of the caller's. */
TEST(job_finds_no_descriptor_of_the_server)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.action_count = 2;
	for (int fd = 3; fd < 20; fd++) {
		const struct aspawn_action actions[][2] = {
			{ ASPAWN_CALL(does_nothing, NULL), ASPAWN_DUP2(fd, 1) },
			{ ASPAWN_UMASK(0), ASPAWN_SYSCALL(PSYS_NR_fcntl, fd, PSYS_F_GETFD, 0, 0, 0,
							  0, 0, ASPAWN_EXPECTED_SUCCESS) },
		};
		for (int i = 0; i < 2; i++) {
			command.actions = actions[i];
			CHECK(submit_command(queue, (struct aspawn_job){ .out_size = 8 },
					     &command) > 0);
			check_failure(queue, -PSYS_EBADF);
		}
	}
	close_queue(queue);
}

TEST(queue_sends_nothing_for_jobs_that_use_no_descriptor)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 4 });
	int pipe[2];

	make_pipe(pipe);
	filter_refuse(PSYS_NR_sendmsg, PSYS_ENOBUFS);
	for (int i = 0; i < 10; i++) { /* an error of a submission takes no place */
		CHECK_EQUAL(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "x"), -PSYS_ENOBUFS);
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
		check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	}
	check_all_of(pipe, "");
	close_queue(queue);
}

TEST(queue_without_a_socket_has_jobs_without_descriptors)
{
	filter_refuse(PSYS_NR_socketpair, PSYS_ENOSYS);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	int pipe[2];

	make_pipe(pipe);
	CHECK_EQUAL(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "x"), -PSYS_ENOTSOCK);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	check_result(queue, ASPAWN_OUTCOME_RAN, 7 << 8);
	check_all_of(pipe, "");
	close_queue(queue);
}

/* Stops the server and submits until an error. Returns the number of jobs. */
static int submit_until(struct aspawn_queue *queue, int error, int fd)
{
	const int server = server_of(queue);
	int count = 0;
	int64_t r;

	CHECK_EQUAL(psys_kill(server, PSYS_SIGSTOP), 0);
	while ((r = submit_to(queue, (struct aspawn_job){ 0 }, fd, "x")) > 0)
		count++;
	CHECK_EQUAL(r, error);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0); /* for such is room */
	CHECK_EQUAL(psys_kill(server, PSYS_SIGCONT), 0);
	return count;
}

/* All submitted jobs run, and a refused job has left nothing. */
static void check_error(int error)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 8192 });
	const struct psys_rlimit64 limit = { 40, 40 };
	int pipe[2], count;
	char byte;

	make_pipe(pipe);
	if (error == -PSYS_ETOOMANYREFS)
		CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
	count = submit_until(queue, error, pipe[1]);
	CHECK(count > 0);
	int sum = 0;
	for (int i = 0; i <= count; i++) {
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		sum += result->status;
		give_back(queue, result);
	}
	CHECK_EQUAL(sum, 7 << 8); /* of the one without */
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 1);
	check_all_of(pipe, "");
	check_goes_on(queue);
	close_queue(queue);
}

TEST(full_socket_is_an_error_of_the_submission)
{
	check_error(-PSYS_EAGAIN);
}

/* The kernel counts the sent descriptors of all processes of a user. */
static void become_own_user(void)
{
	const unsigned user = own_user();

	if (psys_geteuid() != 0)
		skip("not root");
	need_others_to_reach_program();
	CHECK_EQUAL(psys_setresuid(user, user, user), 0);
}

TEST(too_many_sent_descriptors_are_an_error_of_the_submission)
{
	become_own_user();
	check_error(-PSYS_ETOOMANYREFS);
}

/* Submits a job, and waits until the job runs. */
static int64_t submit_lingering(struct aspawn_queue *queue)
{
	const int64_t ticket =
		submit(queue, (struct aspawn_job){ .grace_ms = LONG }, "lingers", NULL);
	CHECK(ticket > 0);
	while (aspawn_queue_count(queue, ASPAWN_COUNT_WAITING))
		continue;
	return ticket;
}

/* --- what is left --------------------------------------------------------------------------- */

TEST(cancelled_job_leaves_no_descriptor)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	int pipes[4][2];
	int64_t tickets[4];

	const int64_t first = submit_lingering(queue);
	for (int i = 0; i < 4; i++) {
		make_pipe(pipes[i]);
		tickets[i] = submit_to(queue, (struct aspawn_job){ .priority = i }, pipes[i][1],
				       i == 1 ? "1" : "x");
		CHECK(tickets[i] > 0);
	}
	for (int i = 0; i < 4; i += 2) {
		CHECK_EQUAL(aspawn_queue_cancel(queue, tickets[i]), 0);
		check_result(queue, ASPAWN_OUTCOME_CANCELLED, -1);
		check_all_of(pipes[i], "");
	}
	CHECK_EQUAL(aspawn_queue_cancel(queue, tickets[3]), 0);
	check_result(queue, ASPAWN_OUTCOME_CANCELLED, -1);
	CHECK_EQUAL(aspawn_queue_cancel(queue, first), 0);
	check_result(queue, ASPAWN_OUTCOME_CANCELLED, PSYS_SIGTERM);
	check_result(queue, ASPAWN_OUTCOME_RAN, 0);
	check_all_of(pipes[3], "");
	check_all_of(pipes[1], "1");
	close_queue(queue);
}

TEST(closed_queue_leaves_no_descriptor)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	int pipe[2];

	make_pipe(pipe);
	submit_lingering(queue);
	for (int i = 0; i < 3; i++)
		CHECK(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "x") > 0);
	close_queue(queue);
	check_all_of(pipe, "");
}

/* The second server has received the descriptors of a waiting job with a lower priority. */
TEST(killed_server_leaves_no_descriptor)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 2 });
	int pipe[2], other[2];

	for (int receives = 0; receives < 2; receives++) {
		const int server = server_of(queue);

		make_pipe(pipe);
		submit_lingering(queue);
		submit_lingering(queue);
		CHECK(submit_to(queue, (struct aspawn_job){ 0 }, pipe[1], "x") > 0);
		if (receives) {
			make_pipe(other);
			const int64_t behind = submit_to(
				queue, (struct aspawn_job){ .priority = 1 }, other[1], "y");
			CHECK_EQUAL(aspawn_queue_cancel(queue, behind), 0);
			check_result(queue, ASPAWN_OUTCOME_CANCELLED, -1);
			check_all_of(other, "");
		}
		CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
		for (int i = 0; i < 3; i++) {
			const struct aspawn_result *result = next_result(queue);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
			give_back(queue, result);
		}
		check_all_of(pipe, "");
		check_goes_on(queue);
	}
	close_queue(queue);
}

static int count_descriptors_of(int pid)
{
	char path[64] = "/proc/", bytes[4096];
	int count = 0;
	long r;

	psys_strlcpy(path + 6 + psys_i64_to_decimal(path + 6, pid), "/fd", 8);
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	CHECK(fd >= 0);
	while ((r = psys_getdents64(fd, bytes, sizeof bytes)) > 0)
		for (long at = 0; at < r; count++)
			at += ((struct psys_dirent64 *)(void *)(bytes + at))->d_reclen;
	CHECK_EQUAL(psys_close(fd), 0);
	return count;
}

/* The first job has more descriptors than the server's table, and the second has few. */
TEST(server_with_a_full_table_fails_the_job_alone)
{
	enum { COUNT = 20 };
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	const struct psys_rlimit64 limit = { 24, 24 };
	struct aspawn_action actions[COUNT];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	int pipe[2];

	if (!have_proc())
		skip("no /proc");
	make_pipe(pipe);
	for (int i = 0; i < COUNT; i++) {
		CHECK_EQUAL(psys_dup3(pipe[1], 100 + i, PSYS_O_CLOEXEC), 100 + i);
		actions[i] = (struct aspawn_action)ASPAWN_DUP2(100 + i, 1);
	}
	command.actions = actions;
	command.action_count = COUNT;
	const int server = server_of(queue), count = count_descriptors_of(server);
	CHECK_EQUAL(psys_prlimit64(server, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	for (int i = 0; i < 3; i++) {
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		check_failure(queue, -PSYS_EMFILE);
		CHECK_EQUAL(count_descriptors_of(server), count);
	}
	for (int i = 0; i < COUNT; i++)
		CHECK_EQUAL(psys_close(100 + i), 0);
	check_goes_on(queue);
	CHECK_EQUAL(count_descriptors_of(server), count);
	check_all_of(pipe, "");
	close_queue(queue);
}

/* More than the limit of the creator allows: an urgent job comes behind the others. */
TEST(server_has_room_for_descriptors_of_jobs_that_wait)
{
	enum { COUNT = 36 };
	const struct psys_rlimit64 limit = { 40, 1000 };
	int pipe[2];
	char byte;

	become_own_user();
	CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	make_pipe(pipe);
	const int64_t first = submit_lingering(queue);
	for (int i = 0; i <= COUNT; i++)
		CHECK(submit_to(queue, (struct aspawn_job){ .priority = i == COUNT }, pipe[1],
				"x") > 0);
	CHECK_EQUAL(aspawn_queue_cancel(queue, first), 0);
	check_result(queue, ASPAWN_OUTCOME_CANCELLED, PSYS_SIGTERM);
	for (int i = 0; i <= COUNT; i++) {
		check_result(queue, ASPAWN_OUTCOME_RAN, 0);
		CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 1);
	}
	check_all_of(pipe, "");
	close_queue(queue);
}

/* --- many at the same time -------------------------------------------------------------------- */

static struct crowd {
	struct aspawn_queue *queue;
	int letter;
} crowd;

/* Each job of each thread has its own pipe, and waits behind other threads' jobs. */
static int submits_pipes(void *arg)
{
	enum { BATCH = 5 };
	const int rounds = scaled(50);
	int pipes[BATCH][2];

	(void)arg;
	for (int round = 0; round < rounds; round++) {
		const char text[2] = {
			(char)('a' + __atomic_fetch_add(&crowd.letter, 1, __ATOMIC_RELAXED) % 26),
			'\0'
		};
		for (int i = 0; i < BATCH; i++) {
			make_pipe(pipes[i]);
			CHECK(submit_to(crowd.queue, (struct aspawn_job){ .priority = i },
					pipes[i][1], text) > 0);
		}
		for (int i = 0; i < BATCH; i++)
			check_all_of(pipes[i], text);
		for (int i = 0; i < BATCH; i++)
			check_result(crowd.queue, ASPAWN_OUTCOME_RAN, 0);
	}
	return 0;
}

TEST(each_job_of_many_threads_has_its_own_descriptor)
{
	struct thread threads[4];

	crowd.queue = open_queue(&(struct aspawn_queue_options){ .running = 3 });
	for (int i = 0; i < 4; i++)
		thread_start(&threads[i], submits_pipes, NULL);
	for (int i = 0; i < 4; i++)
		thread_join(&threads[i]);
	close_queue(crowd.queue);
}

static int submits_one_pipe(void *arg)
{
	int pipe[2];

	(void)arg;
	make_pipe(pipe);
	CHECK(submit_to(crowd.queue, (struct aspawn_job){ 0 }, pipe[1], "x") > 0);
	const struct aspawn_result *result = next_result(crowd.queue);
	CHECK(result->outcome == ASPAWN_OUTCOME_LOST ||
	      (result->outcome == ASPAWN_OUTCOME_RAN && !result->status));
	const bool ran = result->outcome == ASPAWN_OUTCOME_RAN;
	give_back(crowd.queue, result);
	psys_close(pipe[1]);
	char bytes[2];
	const long r = psys_read(pipe[0], bytes, 2);
	CHECK(r == 1 || (r == 0 && !ran));
	psys_close(pipe[0]);
	return 0;
}

TEST_SECONDS(submissions_of_descriptors_go_on_while_servers_are_killed, 300)
{
	struct thread thread;

	crowd.queue = open_queue(&(struct aspawn_queue_options){ 0 });
	for (int i = 0; i < scaled(100) + 2; i++) {
		const int server = server_of(crowd.queue);

		if (i % 2)
			psys_kill(server, PSYS_SIGKILL);
		thread_start(&thread, submits_one_pipe, NULL);
		psys_kill(server, PSYS_SIGKILL);
		thread_join(&thread);
		CHECK(ends_soon(server));
		check_goes_on(crowd.queue);
	}
	close_queue(crowd.queue);
}
