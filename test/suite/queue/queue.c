/* SPDX-License-Identifier: MIT */
/* Tests of what aspawn/queue.h promises, with a server and served by the caller */
#include <aspawn/queue.h>

#include "../../../aspawn/queue/queue.h"
#include "filter.h"
#include "queues.h"

enum { MOST = 64 };

struct aspawn_queue *open_queue(const struct aspawn_queue_options *options)
{
	struct aspawn_queue_options made = *options;
	struct aspawn_queue *queue = NULL;

	made.size = sizeof made;
	int r = aspawn_queue_create(&queue, &made);
	if (r == -PSYS_EOPNOTSUPP && !memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(r, 0);
	return queue;
}

static struct aspawn_queue *usual_queue(void)
{
	return open_queue(&(struct aspawn_queue_options){ .running = 4 });
}

int64_t submit_command(struct aspawn_queue *queue, struct aspawn_job job,
		       const struct aspawn_command *command)
{
	job.size = sizeof job;
	job.command = command;
	return aspawn_queue_submit(queue, &job, NULL);
}

int64_t submit(struct aspawn_queue *queue, struct aspawn_job job, const char *role,
	       const char *argument)
{
	struct self self;
	const struct aspawn_command command = command_in_role(&self, role, argument);

	return submit_command(queue, job, &command);
}

const struct aspawn_result *next_result(struct aspawn_queue *queue)
{
	const struct aspawn_result *result = NULL;

	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, LONG), 1);
	return result;
}

void give_back(struct aspawn_queue *queue, const struct aspawn_result *result)
{
	CHECK_EQUAL(aspawn_queue_release(queue, &result, 1), 0);
}

void close_queue(struct aspawn_queue *queue)
{
	CHECK_EQUAL(aspawn_queue_close(queue), 0);
}

void await_running(struct aspawn_queue *queue, int count)
{
	while (aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING) < count)
		CHECK(aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING) >= 0);
}

/* What was kept ends with a NUL. */
static bool is_text(const char *data, size_t size, const char *text)
{
	return size == psys_strlen(text) && !psys_memcmp(data, text, size + 1);
}

bool exists(int pid)
{
	return psys_kill(pid, 0) != -PSYS_ESRCH;
}

char state_of(int pid)
{
	char path[64] = "/proc/", text[256];

	psys_strlcpy(path + 6 + psys_i64_to_decimal(path + 6, pid), "/stat", 8);
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	long length = psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	for (long at = 0; at + 2 < length; at++)
		if (text[at] == ')')
			return text[at + 2];
	return 0;
}

bool ends_soon(int pid)
{
	for (int i = 0; i < LONG; i++) {
		const char state = state_of(pid);

		if (state == 'Z' || (!state && !exists(pid)))
			return true;
		sleep_ms(1);
	}
	return false;
}

int server_of(struct aspawn_queue *queue)
{
	int server = 0;

	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "tells_its_parent", NULL) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->out_length, sizeof server);
	psys_memcpy(&server, result->out, sizeof server);
	give_back(queue, result);
	CHECK(server != psys_getpid());
	return server;
}

ROLE(tells_its_parent)
{
	const int parent = psys_getppid();

	(void)argc, (void)argv;
	return psys_write(1, &parent, sizeof parent) != sizeof parent;
}

/* --- jobs --------------------------------------------------------------------------- */

static void check_jobs(uint64_t flags)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 4, .flags = flags });
	const struct aspawn_result *results[MOST];
	uint64_t seen = 0;
	int count;

	for (uint64_t i = 0; i < MOST; i++)
		CHECK(submit(queue, (struct aspawn_job){ .cookie = i, .out_size = i % 2 ? KEPT : 0 },
			     i % 2 ? "writes" : "exit_7", i % 2 ? "hello" : NULL) > 0);
	while ((count = aspawn_queue_wait(queue, results, MOST, LONG)) > 0) {
		for (int i = 0; i < count; i++) {
			const struct aspawn_result *result = results[i];
			const uint64_t cookie = result->cookie;

			CHECK(cookie < MOST && !(seen & (uint64_t)1 << cookie));
			seen |= (uint64_t)1 << cookie;
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
			CHECK_EQUAL(result->status, cookie % 2 ? 0 : 7 << 8);
			CHECK_EQUAL(result->failure.error, 0);
			CHECK(result->pid > 0);
			CHECK(cookie % 2 ? is_text(result->out, result->out_length, "hello") :
					   !result->out);
			CHECK(!result->err);
			CHECK(0 < result->submitted_ns &&
			      result->submitted_ns <= result->started_ns &&
			      result->started_ns <= result->ended_ns);
			CHECK(!result->executed_ns || (result->started_ns <= result->executed_ns &&
						       result->executed_ns <= result->ended_ns));
			CHECK(result->executed_ns || !memory_is_shared());
		}
		CHECK_EQUAL(aspawn_queue_release(queue, results, count), 0);
	}
	CHECK_EQUAL(count, -PSYS_ECHILD);
	CHECK_EQUAL(seen, UINT64_MAX);
	close_queue(queue);
	CHECK(!have_children());
}

TEST(queue_runs_jobs)
{
	check_jobs(0);
	note("kernel runs the server of a queue:", 1);
}

TEST(local_queue_runs_jobs)
{
	check_jobs(ASPAWN_QUEUE_LOCAL);
}

/* Before Linux 5.3: nothing tells of a job's end. */
TEST(queue_runs_jobs_without_pidfds)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	check_jobs(0);
	check_jobs(ASPAWN_QUEUE_LOCAL);
}

static void check_streams(uint64_t flags)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 1, .flags = flags });
	const struct aspawn_result *result;
	struct aspawn_command command;
	struct self self;

	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT, .err_size = KEPT }, "writes",
		     "oEuR") > 0);
	result = next_result(queue);
	CHECK(is_text(result->out, result->out_length, "ou"));
	CHECK(is_text(result->err, result->err_length, "ER"));
	give_back(queue, result);
	command = command_in_role(&self, "writes", "oEuR");
	command.std_err = ASPAWN_STREAM_STDOUT;
	CHECK(submit_command(queue, (struct aspawn_job){ .out_size = KEPT }, &command) > 0);
	result = next_result(queue);
	CHECK(is_text(result->out, result->out_length, "oEuR"));
	CHECK(!result->err);
	give_back(queue, result);
	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT, .input = "in", .input_size = 2 },
		     "copies", NULL) > 0);
	result = next_result(queue);
	CHECK(is_text(result->out, result->out_length, "in"));
	give_back(queue, result);
	/* Without input and sizes all streams are /dev/null. */
	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "copies", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->status, 0);
	CHECK_EQUAL(result->out_length, 0);
	give_back(queue, result);
	close_queue(queue);
}

/* Returns true if a reading of the clock needs no system call on any 64-bit architecture. */
static bool has_quick_clock(void)
{
	char name[64] = "";
	int fd = psys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   PSYS_O_RDONLY, 0);

	psys_read(fd, name, sizeof name - 1);
	psys_close(fd);
	return sizeof(void *) == 8 &&
	       (!psys_strcmp(name, "tsc\n") || !psys_strcmp(name, "kvm-clock\n") ||
		!psys_strcmp(name, "arch_sys_counter\n"));
}

TEST(queue_reads_the_clock_without_a_system_call)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;

	if (!has_quick_clock())
		skip("the clock needs a system call");
	filter_refuse(PSYS_NR_clock_gettime, PSYS_EPERM);
	CHECK(submit(queue, (struct aspawn_job){ .cookie = 1 }, "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), 1); /* no clock for a timeout */
	CHECK(result->submitted_ns > 1000000);
	CHECK(result->submitted_ns <= result->started_ns);
	give_back(queue, result);
	close_queue(queue);
}

TEST(queue_streams)
{
	check_streams(0);
}

TEST(local_queue_streams)
{
	check_streams(ASPAWN_QUEUE_LOCAL);
}

TEST(queue_keeps_the_head_or_the_tail)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;

	CHECK(submit(queue, (struct aspawn_job){ .out_size = 4 }, "writes", "abcdefgh") > 0);
	result = next_result(queue);
	CHECK(is_text(result->out, result->out_length, "abc"));
	CHECK_EQUAL(result->out_total, 8);
	give_back(queue, result);
	for (int extra = 0; extra < 4; extra++) { /* each position in the ring of 3 */
		CHECK(submit(queue, (struct aspawn_job){ .flags = ASPAWN_JOB_TAIL, .out_size = 4 },
			     "writes", &"abcdefgh"[extra]) > 0);
		result = next_result(queue);
		CHECK(is_text(result->out, result->out_length, "fgh"));
		CHECK_EQUAL(result->out_total, 8 - extra);
		give_back(queue, result);
	}
	CHECK(submit(queue, (struct aspawn_job){ .flags = ASPAWN_JOB_TAIL, .out_size = 4 },
		     "writes", "ab") > 0);
	result = next_result(queue);
	CHECK(is_text(result->out, result->out_length, "ab"));
	give_back(queue, result);
	for (int tail = 0; tail < 2; tail++) { /* room for the NUL alone */
		CHECK(submit(queue,
			     (struct aspawn_job){ .flags = tail ? ASPAWN_JOB_TAIL : 0,
						  .out_size = 1 },
			     "writes", "ab") > 0);
		result = next_result(queue);
		CHECK(is_text(result->out, result->out_length, ""));
		CHECK_EQUAL(result->out_total, 2);
		give_back(queue, result);
	}
	/* The programs write more than a pipe holds, and wait for a reader. */
	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "writes_a_lot", NULL) > 0);
	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "writes_letters", "200000") >
	      0);
	for (int i = 0; i < 2; i++) {
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->out_length, 4096);
		CHECK(result->out_total == 60000 || result->out_total == 200000);
		give_back(queue, result);
	}
	close_queue(queue);
}

TEST(queue_says_why_a_program_was_not_executed)
{
	const struct aspawn_action actions[] = { ASPAWN_CHDIR("/"), ASPAWN_CHDIR("/none") };
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;
	struct aspawn_command command = { .size = sizeof command, .file = "/none/such" };
	char text[320];

	CHECK(submit_command(queue, (struct aspawn_job){ .cookie = 1 }, &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.step, ASPAWN_STEP_EXEC);
	CHECK_EQUAL(result->failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(result->status, 127 << 8);
	aspawn_result_text(text, sizeof text, result);
	CHECK(!psys_strcmp(text, "not started: exec \"/none/such\": ENOENT"));
	give_back(queue, result);
	command.actions = actions;
	command.action_count = 2;
	CHECK(submit_command(queue, (struct aspawn_job){ .cookie = 1 }, &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.step, 1);
	give_back(queue, result);
	/* A child in a copy of the memory fails likewise. */
	command.memory = ASPAWN_MEMORY_COPIED;
	CHECK(submit_command(queue, (struct aspawn_job){ .cookie = 1 }, &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.step, 1);
	CHECK_EQUAL(result->failure.error, -PSYS_ENOENT);
	give_back(queue, result);
	close_queue(queue);
}

TEST(queue_runs_jobs_in_a_copy_of_the_memory)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");

	command.memory = ASPAWN_MEMORY_COPIED;
	CHECK(submit_command(queue, (struct aspawn_job){ .out_size = KEPT }, &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK(is_text(result->out, result->out_length, "x"));
	give_back(queue, result);
	close_queue(queue);
}

TEST(queue_prepares_commands)
{
	static const char *const environment_of_all[] = { "ALL=1", NULL };
	const struct aspawn_action action = ASPAWN_UMASK(0);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 4 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "a");
	struct aspawn_job job = { .size = sizeof job, .out_size = KEPT };
	const struct aspawn_result *result;

	command.envp = (char *const *)(uintptr_t)environment_of_all;
	command.actions = &action;
	command.action_count = 1;
	const int64_t prepared = aspawn_queue_prepare(queue, &command, NULL);
	CHECK(prepared > 0);
	psys_memset(&command, 0, sizeof command); /* it was copied */
	job.prepared = prepared;
	for (int i = 0; i < 8; i++) {
		struct self other;
		const struct aspawn_command with =
			command_in_role(&other, i % 4 == 3 ? "shows_environment" : "writes", "b");

		job.argv = i % 2 ? with.argv : NULL;
		CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK(is_text(result->out, result->out_length,
			      i % 4 == 3 ? "ALL=1 " :
			      i % 2      ? "b" :
					   "a"));
		give_back(queue, result);
	}
	job.argv = NULL;
	for (int i = 0; i < 3; i++) /* it takes one of four places */
		CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EAGAIN);
	for (int i = 0; i < 3; i++)
		give_back(queue, next_result(queue));
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), 0);
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
	job.prepared = 0;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
	close_queue(queue);
}

/* The queue has a single place: the second command takes the place of the first command. */
TEST(queue_takes_no_later_command_of_the_same_place_for_a_released_one)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 1 });
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const int64_t released = aspawn_queue_prepare(queue, &command, NULL);
	const struct aspawn_job job = { .size = sizeof job, .prepared = released };

	CHECK_EQUAL(aspawn_queue_release_prepared(queue, released), 0);
	const int64_t later = aspawn_queue_prepare(queue, &command, NULL);
	CHECK(later > 0 && later != released);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, released), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, later), 0);
	close_queue(queue);
}

TEST(queue_rejects_what_a_job_cannot_have)
{
	const struct aspawn_action foreign = ASPAWN_DUP2(9999, 0); /* not open */
	const struct aspawn_action own[] = { ASPAWN_OPEN(9, "/dev/null", PSYS_O_RDONLY, 0),
					     ASPAWN_DUP2(9, 0), ASPAWN_DUP2(1, 2) };
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .job_bytes = 4096 });
	static char long_argument[5000];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const char *argv[] = { "x", long_argument, NULL };
	struct aspawn_job job = { .size = sizeof job };
	const char *empty[] = { NULL };

	command.envp = (char *const *)(uintptr_t)empty;
	CHECK_EQUAL(aspawn_queue_submit(queue, NULL, NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_submit(NULL, &job, NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL); /* no command */
	job.command = &command;
	job.size = sizeof job - 1;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
	job.size = sizeof job;
	job.flags = ASPAWN_COMMAND_STARTED_FD;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
	job.flags = 0;
	command.action_count = 1;
	command.actions = &foreign;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EBADF);
	command.actions = NULL;
	command.action_count = 0;
	job.out_size = 5000;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_E2BIG);
	job.out_size = 0;
	for (size_t i = 0; i < sizeof long_argument - 1; i++)
		long_argument[i] = 'x';
	const char *const file = command.file;
	char *const *const usual = command.argv;
	command.argv = (char *const *)(uintptr_t)argv;
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_E2BIG);
	command.file = file;
	command.argv = usual;
	/* No refused job has taken a place, and descriptors of the job's own are allowed. */
	command.actions = own;
	command.action_count = 3;
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	const struct aspawn_result copy = *result, *of_copy = &copy;
	CHECK_EQUAL(aspawn_queue_release(queue, &of_copy, 1), -PSYS_EINVAL);
	give_back(queue, result);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 0, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_wait(queue, NULL, 1, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release(queue, &result, 1), -PSYS_EINVAL); /* twice */
	CHECK_EQUAL(aspawn_queue_release(queue, NULL, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release(queue, NULL, 0), 0);
	CHECK_EQUAL(aspawn_queue_fd(queue), -PSYS_EBADF);
	CHECK_EQUAL(aspawn_queue_cancel(queue, 12345678), -PSYS_ESRCH);
	CHECK_EQUAL(aspawn_queue_cancel(queue, -1), -PSYS_ESRCH);
	close_queue(queue);
	CHECK_EQUAL(aspawn_queue_close(NULL), -PSYS_EINVAL);
}

/* Returns the error of a failure, whose subject must be the given subject. */
static int64_t error_of(int64_t r, const struct aspawn_failure *failure, const char *subject)
{
	CHECK_EQUAL(failure->step, ASPAWN_STEP_ARGUMENT);
	CHECK_EQUAL(failure->error, r);
	CHECK(!psys_strcmp(failure->subject, subject));
	return r;
}

static void check_no_job(struct aspawn_queue *queue, struct aspawn_job job, const char *subject)
{
	struct aspawn_failure failure;

	job.size = sizeof job;
	CHECK_EQUAL(error_of(aspawn_queue_submit(queue, &job, &failure), &failure, subject),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_submit(queue, &job, NULL), -PSYS_EINVAL);
}

static void check_no_command(struct aspawn_queue *queue, const struct aspawn_command *command,
			     const char *subject)
{
	struct aspawn_failure failure;

	check_no_job(queue, (struct aspawn_job){ .command = command },
		     command ? subject : "job.command");
	CHECK_EQUAL(error_of(aspawn_queue_prepare(queue, command, &failure), &failure, subject),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_prepare(queue, command, NULL), -PSYS_EINVAL);
}

TEST(queue_names_each_invalid_member)
{
	struct aspawn_queue *queue = usual_queue();
	struct self self;
	struct aspawn_command good = command_in_role(&self, "exit_7", NULL), bad;
	const int64_t prepared = aspawn_queue_prepare(queue, &good, NULL);
	struct aspawn_job job = { .size = sizeof job - 1, .command = &good };
	struct aspawn_failure failure;

	CHECK(prepared > 0);
	CHECK_EQUAL(error_of(aspawn_queue_submit(NULL, &job, &failure), &failure, "queue"),
		    -PSYS_EINVAL);
	CHECK_EQUAL(error_of(aspawn_queue_submit(queue, NULL, &failure), &failure, "job"),
		    -PSYS_EINVAL);
	CHECK_EQUAL(error_of(aspawn_queue_submit(queue, &job, &failure), &failure, "job.size"),
		    -PSYS_EINVAL);
	check_no_job(queue, (struct aspawn_job){ .cookie = 1 }, "job.command");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .prepared = prepared },
		     "job.command");
	check_no_job(queue, (struct aspawn_job){ .prepared = prepared + 1 }, "job.prepared");
	check_no_job(queue, (struct aspawn_job){ .prepared = -1 }, "job.prepared");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .argv = good.argv }, "job.argv");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .input_size = 1 }, "job.input");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .reserved = 1 }, "job.reserved");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .priority = -1 }, "job.priority");
	check_no_job(queue,
		     (struct aspawn_job){ .command = &good, .priority = ASPAWN_MOST_PRIORITY + 1 },
		     "job.priority");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .time_limit_ms = -1 },
		     "job.time_limit_ms");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .grace_ms = -2 }, "job.grace_ms");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .flags = ASPAWN_QUEUE_LOCAL },
		     "job.flags");
	check_no_job(queue, (struct aspawn_job){ .command = &good, .flags = UINT64_C(1) << 63 },
		     "job.flags");
	check_no_command(queue, NULL, "command");
	bad = good, bad.size = 0;
	check_no_command(queue, &bad, "size");
	bad = good, bad.file = NULL, bad.argv = NULL;
	check_no_command(queue, &bad, "argv");
	bad = good, bad.std_in = ASPAWN_STREAM_PIPE;
	check_no_command(queue, &bad, "std_in");
	bad = good, bad.std_out = ASPAWN_STREAM_PTY;
	check_no_command(queue, &bad, "std_out");
	bad = good, bad.std_out = ASPAWN_STREAM_STDOUT;
	check_no_command(queue, &bad, "std_out");
	bad = good, bad.std_err = ASPAWN_STREAM_INHERIT;
	check_no_command(queue, &bad, "std_err");
	bad = good, bad.memory = ASPAWN_MEMORY_SUSPENDED;
	check_no_command(queue, &bad, "memory");
	bad = good, bad.owner = ASPAWN_OWNER_TREE + 1;
	check_no_command(queue, &bad, "owner");
	bad = good, bad.flags = ASPAWN_COMMAND_TREE_OR_GROUP;
	check_no_command(queue, &bad, "flags");
	CHECK_EQUAL(error_of(aspawn_queue_prepare(NULL, &good, &failure), &failure, "queue"),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release_prepared(NULL, prepared), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_result_text(NULL, 0, NULL), 0);
	char text[] = "old";
	CHECK_EQUAL(aspawn_result_text(text, sizeof text, NULL), 0);
	CHECK_EQUAL(*text, 0);
	const struct aspawn_result cancelled = { .outcome = ASPAWN_OUTCOME_CANCELLED };
	CHECK_EQUAL(aspawn_result_text(NULL, sizeof text, &cancelled), 9);
	CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), 0);
	close_queue(queue);
}

/* What is input or to be kept needs a stream, of a prepared command too. */
TEST(queue_rejects_sizes_for_streams_that_the_command_has)
{
	struct aspawn_queue *queue = usual_queue();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.std_in = command.std_out = ASPAWN_STREAM_NULL;
	for (int i = 0; i < 2; i++) {
		struct aspawn_job job = { .size = sizeof job, .command = &command };

		command.std_err = i ? ASPAWN_STREAM_STDOUT : ASPAWN_STREAM_NULL;
		for (int prepares = 0; prepares < 2; prepares++) {
			CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
			job.input = "";
			check_no_job(queue, job, "job.input");
			job.input = NULL, job.out_size = 1;
			check_no_job(queue, job, "job.out_size");
			job.out_size = 0, job.err_size = 1;
			check_no_job(queue, job, "job.err_size");
			job.err_size = 0, job.command = NULL;
			job.prepared = aspawn_queue_prepare(queue, &command, NULL);
		}
	}
	for (int i = 0; i < 4; i++) {
		const struct aspawn_result *result = next_result(queue);

		CHECK_EQUAL(result->status, 7 << 8);
		CHECK(!result->out && !result->err);
		give_back(queue, result);
	}
	close_queue(queue);
}

TEST(queue_names_the_index_of_an_invalid_action)
{
	int end;
	const struct aspawn_action unknown[] = { ASPAWN_UMASK(0), { .kind = 9999 } };
	const struct aspawn_action pipe[] = { ASPAWN_UMASK(0), ASPAWN_OUTPUT_PIPE(1, &end) };
	struct aspawn_queue *queue = usual_queue();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_job job = { .size = sizeof job, .command = &command };
	struct aspawn_failure failure;

	command.action_count = 2;
	for (int i = 0; i < 4; i++) {
		command.actions = i % 2 ? pipe : unknown;
		CHECK_EQUAL(i < 2 ? aspawn_queue_submit(queue, &job, &failure) :
				    aspawn_queue_prepare(queue, &command, &failure),
			    -PSYS_EINVAL);
		CHECK_EQUAL(failure.step, 1);
		CHECK_EQUAL(failure.error, -PSYS_EINVAL);
		CHECK_EQUAL(failure.kind, command.actions[1].kind);
	}
	close_queue(queue);
}

TEST(queue_names_what_is_too_large)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .job_bytes = 4096 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct {
		struct aspawn_job job;
		uint64_t unknown;
	} newer = { { .size = sizeof newer, .command = &command }, 1 };
	struct aspawn_action actions[254];
	struct aspawn_failure failure;

	command.envp = (char *[]){ NULL }; /* the caller's may leave no room for the actions */
	CHECK_EQUAL(error_of(aspawn_queue_submit(queue, &newer.job, &failure), &failure, "job.size"),
		    -PSYS_E2BIG);
	newer.unknown = 0, newer.job.out_size = 5000;
	CHECK_EQUAL(
		error_of(aspawn_queue_submit(queue, &newer.job, &failure), &failure, "job_bytes"),
		-PSYS_E2BIG);
	for (int i = 0; i < 254; i++)
		actions[i] = (struct aspawn_action)ASPAWN_DUP2(1000 + i, 0);
	command.actions = actions;
	command.action_count = 254;
	CHECK_EQUAL(error_of(aspawn_queue_prepare(queue, &command, &failure), &failure, "job_bytes"),
		    -PSYS_E2BIG);
	close_queue(queue);
	queue = usual_queue();
	newer.job.out_size = 0;
	CHECK_EQUAL(error_of(aspawn_queue_submit(queue, &newer.job, &failure), &failure, "actions"),
		    -PSYS_E2BIG);
	CHECK_EQUAL(error_of(aspawn_queue_prepare(queue, &command, &failure), &failure, "actions"),
		    -PSYS_E2BIG);
	command.action_count = 1; /* not open: no member is invalid */
	CHECK_EQUAL(aspawn_queue_submit(queue, &newer.job, &failure), -PSYS_EBADF);
	CHECK_EQUAL(failure.error, 0);
	close_queue(queue);
}

TEST(job_has_no_handle_for_the_members_of_its_command)
{
	struct aspawn_queue *queue = usual_queue();
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_job job = { .size = sizeof job, .command = &command };

	command.pool = &pool;
	command.flags = ASPAWN_COMMAND_STARTED_FD | ASPAWN_COMMAND_NO_PIDFD |
			ASPAWN_COMMAND_NONBLOCK | ASPAWN_COMMAND_DIES_WITH_CALLER;
	command.owner = ASPAWN_OWNER_PRIVATE;
	for (int prepares = 0; prepares < 2; prepares++) {
		CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
		job.command = NULL;
		job.prepared = aspawn_queue_prepare(queue, &command, NULL);
	}
	close_queue(queue);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(every_function_rejects_a_queue_that_is_null)
{
	const struct aspawn_result *result = NULL;
	struct aspawn_queue *queue;

	CHECK_EQUAL(aspawn_queue_create(NULL, NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_cancel(NULL, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_cancel_all(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_wait(NULL, &result, 1, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_release(NULL, &result, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_fd(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_drain(NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_count(NULL, ASPAWN_COUNT_WAITING), -PSYS_EINVAL);
	queue = usual_queue();
	CHECK_EQUAL(aspawn_queue_release(queue, &result, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_count(queue, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_SERVERS + 1), -PSYS_EINVAL);
	close_queue(queue);
}

TEST(queue_create_rejects_each_invalid_option)
{
	static const struct aspawn_queue_options wrong[] = {
		{ .size = 0 },
		{ .size = sizeof *wrong - 1 },
		{ .size = sizeof *wrong, .flags = ASPAWN_IO_KILL_GROUP },
		{ .size = sizeof *wrong, .flags = UINT64_C(1) << 63 },
		{ .size = sizeof *wrong, .jobs = 32769 },
		{ .size = sizeof *wrong, .running = 32769 },
		{ .size = sizeof *wrong, .job_bytes = (16 << 20) + 1 },
	};
	struct aspawn_queue *queue;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK_EQUAL(aspawn_queue_create(&queue, &wrong[i]), -PSYS_EINVAL);
}

/* These options happen to be empty. */
TEST(queue_takes_a_key_without_a_limit_and_a_limit_without_a_key)
{
	const struct aspawn_action unused[] = { ASPAWN_CHDIR("/no such directory") };
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 4 });
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_job job = { .size = sizeof job, .command = &command };

	command.actions = unused;
	job.key_limit = 1;
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	job.key = 7, job.key_limit = 0;
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	await_running(queue, 3); /* none waits for another */
	job.key_limit = 1;       /* one of this key runs already */
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	job.key = 8;
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	await_running(queue, 4);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 1);
	close_queue(queue);
}

TEST(queue_that_is_full_says_so)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 4 });
	const struct aspawn_result *results[4];
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	for (int i = 0; i < 4; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	/* The jobs have ended, but are not taken and released. */
	CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_queue_prepare(queue, &command, NULL), -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 4, 0), 4);
	CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 4, -1), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_queue_release(queue, results, 4), 0);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	give_back(queue, next_result(queue));
	close_queue(queue);
}

/* The tickets count the uses of the single place. */
static void check_one_place(uint64_t flags)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .jobs = 1, .flags = flags });
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int64_t last = 0, ticket;

	for (int i = 0; i < 3; i++) {
		ticket = submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL);
		CHECK(ticket > last);
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_queue_prepare(queue, &command, NULL), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_queue_cancel(queue, last ? last : INT64_MAX), -PSYS_ESRCH);
		CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->ticket, ticket);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
		give_back(queue, result);
		CHECK((last = aspawn_queue_prepare(queue, &command, NULL)) > ticket);
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_queue_release_prepared(queue, last), 0);
	}
	CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), last + 1);
	close_queue(queue);
}

TEST(queue_of_one_place_has_no_second)
{
	check_one_place(0);
}

TEST(local_queue_of_one_place_has_no_second)
{
	check_one_place(ASPAWN_QUEUE_LOCAL);
}

TEST(queue_runs_no_more_than_the_limit)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 3 });
	const struct aspawn_result *results[MOST];
	int count = 0, most = 0;

	for (int i = 0; i < MOST; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "naps", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	while (count < MOST)
		count += aspawn_queue_wait(queue, results + count, MOST - count, 0);
	for (int i = 0; i < MOST; i++) {
		int running = 0;

		for (int j = 0; j < MOST; j++)
			if (results[j]->started_ns <= results[i]->started_ns &&
			    results[i]->started_ns < results[j]->ended_ns)
				running++;
		CHECK(running <= 3);
		most = running > most ? running : most;
	}
	CHECK_EQUAL(most, 3);
	close_queue(queue);
}

ROLE(naps)
{
	(void)argc, (void)argv;
	sleep_ms(3);
	return 0;
}

TEST(queue_runs_no_more_of_a_key_than_its_limit)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 8 });
	const struct aspawn_result *results[MOST];
	bool others = false;
	int count = 0;

	for (int i = 0; i < MOST; i++)
		CHECK(submit(queue,
			     (struct aspawn_job){ .cookie = (uint64_t)(i < MOST / 2),
						  .key = i < MOST / 2 ? 7 : 0,
						  .key_limit = i < MOST / 2 ? 2 : 0 },
			     "naps", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	while (count < MOST)
		count += aspawn_queue_wait(queue, results + count, MOST - count, 0);
	for (int i = 0; i < MOST; i++) {
		int of_key = 0, all = 0;

		for (int j = 0; j < MOST; j++)
			if (results[j]->started_ns <= results[i]->started_ns &&
			    results[i]->started_ns < results[j]->ended_ns) {
				of_key += (int)results[j]->cookie;
				all++;
			}
		CHECK(of_key <= 2);
		others = others || all > 2; /* later jobs pass those that wait for the key */
	}
	CHECK(others);
	close_queue(queue);
}

TEST(queue_starts_jobs_by_priority)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	const struct aspawn_result *results[10];

	/* While the first runs, the others wait. */
	const int64_t first = submit(queue, (struct aspawn_job){ .cookie = 100 }, "lingers", NULL);
	CHECK(first > 0);
	await_running(queue, 1);
	for (unsigned i = 0; i < 9; i++)
		CHECK(submit(queue, (struct aspawn_job){ .cookie = i, .priority = (int)(i % 3) },
			     "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_cancel(queue, first), 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 10, 0), 10);
	CHECK_EQUAL(results[0]->cookie, 100);
	for (unsigned i = 0; i < 9; i++)
		CHECK_EQUAL(results[1 + i]->cookie, i % 3 * 3 + 2 - i / 3);
	CHECK_EQUAL(submit(queue, (struct aspawn_job){ .priority = ASPAWN_MOST_PRIORITY + 1 },
			   "exit_7", NULL),
		    -PSYS_EINVAL);
	CHECK_EQUAL(submit(queue, (struct aspawn_job){ .priority = -1 }, "exit_7", NULL),
		    -PSYS_EINVAL);
	close_queue(queue);
}

TEST(queue_delays_starts)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 8, .delay_ms = 20 });
	const struct aspawn_result *results[4];

	for (int i = 0; i < 4; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 4, 0), 4);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			const int64_t between = results[i]->started_ns - results[j]->started_ns;
			CHECK(i == j || between >= 19000000 || between <= -19000000);
		}
	close_queue(queue);
}

/* --- timeouts and cancels --------------------------------------------------------------- */

static void check_timeout(uint64_t flags)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 4, .flags = flags });
	const struct aspawn_result *result;
	char text[320];
	int grandchild = 0, timeout_ms = 50;

	CHECK(submit(queue, (struct aspawn_job){ .time_limit_ms = 50, .grace_ms = LONG }, "lingers",
		     NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(result->status, PSYS_SIGTERM);
	CHECK(result->ended_ns - result->started_ns >= 49000000);
	aspawn_result_text(text, sizeof text, result);
	CHECK(!psys_strcmp(text, "timed out, killed by SIGTERM"));
	give_back(queue, result);
	/* The first program ignores SIGTERM, the second job has no grace. */
	struct psys_sigset sigterm;
	psys_sigemptyset(&sigterm);
	psys_sigaddset(&sigterm, PSYS_SIGTERM);
	const struct aspawn_action ignore = ASPAWN_SIGNALS_IGNORE(&sigterm);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	command.actions = &ignore;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ .time_limit_ms = 50, .grace_ms = 50 },
			     &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(result->status, PSYS_SIGKILL);
	give_back(queue, result);
	CHECK(submit(queue,
		     (struct aspawn_job){ .time_limit_ms = 50, .grace_ms = ASPAWN_GRACE_NONE },
		     "lingers", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->status, PSYS_SIGKILL);
	give_back(queue, result);
	/* The queue also kills what the program has started. */
	for (; !grandchild; timeout_ms *= 2) { /* until it has come so far in this time */
		CHECK(submit(queue,
			     (struct aspawn_job){ .time_limit_ms = timeout_ms, .out_size = KEPT },
			     "starts_a_stubborn_one", NULL) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
		psys_memcpy(&grandchild, result->out, result->out_length);
		give_back(queue, result);
	}
	CHECK(ends_soon(grandchild));
	close_queue(queue);
}

/* The child survives SIGTERM, the program does not. */
ROLE(starts_a_stubborn_one)
{
	int pid = psys_fork();

	(void)argc, (void)argv;
	if (pid == 0) {
		set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
		pid = psys_getpid();
		psys_write(1, &pid, sizeof pid);
	}
	sleep_ms(600000);
	return 0;
}

TEST(queue_ends_jobs_after_their_timeout)
{
	if (!have_proc())
		skip("no /proc");
	check_timeout(0);
}

TEST(local_queue_ends_jobs_after_their_timeout)
{
	if (!have_proc())
		skip("no /proc");
	check_timeout(ASPAWN_QUEUE_LOCAL);
}

TEST(the_longest_time_limit_of_a_job_does_not_overflow)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_job job = { .time_limit_ms = INT64_MAX, .grace_ms = INT64_MAX };
	const struct aspawn_result *result;

	CHECK(submit(queue, job, "exit_7", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	give_back(queue, result);
	close_queue(queue);
}

/* The program ignores the signal, and ends when its child does. */
TEST(queue_sends_sigterm_to_the_whole_group)
{
	struct aspawn_queue *queue = usual_queue();
	int status = PSYS_SIGTERM;

	/* Repeat with more time until the program gets to ignore SIGTERM. */
	for (int timeout_ms = 50; status == PSYS_SIGTERM; timeout_ms *= 2) {
		CHECK(submit(queue,
			     (struct aspawn_job){ .time_limit_ms = timeout_ms, .grace_ms = LONG },
			     "outlives_its_child", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
		status = result->status;
		give_back(queue, result);
	}
	CHECK_EQUAL(status, PSYS_SIGTERM << 8);
	close_queue(queue);
}

ROLE(outlives_its_child)
{
	int status = 0;

	(void)argc, (void)argv;
	int pid = psys_fork();
	if (pid == 0)
		sleep_ms(600000);
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	psys_wait4(pid, &status, 0, NULL);
	return status & 0x7f;
}

TEST(job_stays_in_the_callers_group_by_setpgid)
{
	const struct aspawn_action stay = ASPAWN_SETPGID(psys_getpgid(0));
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;
	struct self self;

	for (unsigned i = 0; i < 3; i++) {
		struct aspawn_command command =
			command_in_role(&self, i == 2 ? "lingers" : "tells_if_group_leader", NULL);

		command.actions = &stay;
		command.action_count = i > 0;
		CHECK(submit_command(queue,
				     (struct aspawn_job){ .time_limit_ms = i == 2 ? 100 : 0,
							  .grace_ms = LONG },
				     &command) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->status, i == 0 ? 1 << 8 : i == 1 ? 0 : PSYS_SIGTERM);
		give_back(queue, result);
	}
	close_queue(queue);
}

ROLE(tells_if_group_leader)
{
	(void)argc, (void)argv;
	return psys_getpgid(0) == psys_getpid();
}

/* A ticket is old when the place has been used again. */
TEST(queue_knows_an_old_ticket)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 2 });
	const int64_t old = submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL);

	CHECK(old > 0);
	give_back(queue, next_result(queue));
	for (int i = 0; i < 2; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_cancel(queue, old), -PSYS_ESRCH);
	close_queue(queue);
}

/* Prepared commands use the places up as jobs do, but start nothing. 65534 uses of two places are
 * as many as 16 bits can number. */
TEST(queue_cancels_no_later_job_of_the_same_place)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .jobs = 2 });
	struct self self;
	char *const none[] = { NULL };
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const int64_t cancelled = submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL);
	int64_t previous = 0;

	command.envp = none;
	CHECK_EQUAL(aspawn_queue_cancel(queue, cancelled), 0);
	give_back(queue, next_result(queue));
	for (int i = 0; i < 65530; i++) {
		const int64_t prepared = aspawn_queue_prepare(queue, &command, NULL);

		CHECK(prepared > 0 && prepared != previous && prepared != cancelled);
		previous = prepared;
		CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), 0);
	}
	for (int i = 0; i < 8; i++) {
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK(result->ticket != cancelled);
		give_back(queue, result);
	}
	CHECK_EQUAL(aspawn_queue_cancel(queue, cancelled), -PSYS_ESRCH);
	close_queue(queue);
}

TEST(queue_waits_a_grace_for_a_pipe_that_another_process_holds)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;

	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT, .grace_ms = 50 },
		     "leaves_a_grandchild", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 3 << 8);
	CHECK_EQUAL(result->cut, 1);
	CHECK(is_text(result->out, result->out_length, "text"));
	psys_kill(-result->pid, PSYS_SIGKILL);
	give_back(queue, result);
	close_queue(queue);
}

/* The tail is read in many small pieces, some of which are left at the program's end. */
TEST(queue_cuts_no_long_tail_without_a_grace)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;

	CHECK(submit(queue,
		     (struct aspawn_job){ .flags = ASPAWN_JOB_TAIL,
					  .out_size = 4,
					  .grace_ms = ASPAWN_GRACE_NONE },
		     "writes_letters", "20000") > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->out_total, 20000);
	CHECK_EQUAL(result->cut, 0);
	give_back(queue, result);
	close_queue(queue);
}

/* An unstarted job has no descriptor to close. */
TEST(local_queue_closes_nothing_of_the_callers)
{
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .running = 1, .flags = ASPAWN_QUEUE_LOCAL });
	const struct aspawn_result *result;

	psys_open("/dev/null", PSYS_O_RDONLY, 0); /* 0, if that is closed */
	for (int i = 0; i < 3; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
	for (int i = 0; i < 3; i++) {
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
		give_back(queue, result);
	}
	CHECK(psys_fcntl(0, PSYS_F_GETFD, 0) >= 0);
	close_queue(queue);
}

TEST(queue_cancels)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	const struct aspawn_result *result;
	char text[320];
	const int64_t first = submit(queue, (struct aspawn_job){ .cookie = 1, .grace_ms = LONG },
				     "lingers", NULL);
	const int64_t second = submit(queue, (struct aspawn_job){ .cookie = 2 }, "lingers", NULL);

	CHECK(first > 0 && second > 0 && first != second);
	await_running(queue, 1);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 1);
	CHECK_EQUAL(aspawn_queue_cancel(queue, second), 0);
	result = next_result(queue);
	CHECK_EQUAL(result->cookie, 2);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
	CHECK_EQUAL(result->pid, 0);
	CHECK_EQUAL(result->started_ns, 0);
	aspawn_result_text(text, sizeof text, result);
	CHECK(!psys_strcmp(text, "cancelled"));
	CHECK_EQUAL(aspawn_queue_cancel(queue, second), -PSYS_ESRCH);
	give_back(queue, result);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 20), 0);
	CHECK_EQUAL(aspawn_queue_cancel(queue, first), 0);
	result = next_result(queue);
	CHECK_EQUAL(result->cookie, 1);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
	CHECK_EQUAL(result->status, PSYS_SIGTERM);
	give_back(queue, result);
	/* The place is another job's now: the old ticket means nothing. */
	CHECK(submit(queue, (struct aspawn_job){ .cookie = 3 }, "naps", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_cancel(queue, first), -PSYS_ESRCH);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	give_back(queue, result);

	for (int i = 0; i < 20; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
	for (int i = 0; i < 20; i++) {
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
		give_back(queue, result);
	}
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING), 0);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 0);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_ENDED), 0);
	close_queue(queue);
}

/* --- the host -------------------------------------------------------------------------------- */

/* Nobody looks for jobs meanwhile: the server is stopped, or no thread serves. */
static void check_cancel_all(uint64_t flags)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .flags = flags });
	const int server = flags & ASPAWN_QUEUE_LOCAL ? 0 : server_of(queue);
	int status;

	for (int round = 0; round < 4; round++) {
		if (server) {
			CHECK_EQUAL(psys_kill(server, PSYS_SIGSTOP), 0);
			CHECK_EQUAL(psys_wait4(server, &status, PSYS_WUNTRACED | PSYS___WALL, NULL),
				    server);
		}
		for (uint64_t i = 0; i < 4; i++) {
			CHECK(submit(queue, (struct aspawn_job){ .cookie = i }, "exit_7", NULL) > 0);
			if (i < 2)
				CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
		}
		if (server)
			CHECK_EQUAL(psys_kill(server, PSYS_SIGCONT), 0);
		for (int i = 0; i < 4; i++) {
			const struct aspawn_result *result = next_result(queue);

			CHECK_EQUAL(result->outcome, result->cookie < 2 ? ASPAWN_OUTCOME_CANCELLED :
									  ASPAWN_OUTCOME_RAN);
			give_back(queue, result);
		}
	}
	close_queue(queue);
}

TEST(cancel_all_spares_jobs_that_are_submitted_after_it)
{
	check_cancel_all(0);
}

TEST(local_cancel_all_spares_jobs_that_are_submitted_after_it)
{
	check_cancel_all(ASPAWN_QUEUE_LOCAL);
}

TEST(queue_children_are_not_the_hosts)
{
	struct aspawn_queue *queue = usual_queue();
	struct psys_sigset chld, before;
	const struct psys_timespec at_once = { 0, 0 };
	int fd = psys_open("/dev/null", PSYS_O_RDONLY, 0); /* not CLOEXEC */
	const struct aspawn_result *result;
	int status;

	CHECK(fd > 2);
	psys_sigemptyset(&chld);
	psys_sigaddset(&chld, PSYS_SIGCHLD);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &chld, &before, PSYS_SIGSET_SIZE);
	CHECK(submit(queue, (struct aspawn_job){ .cookie = 1 }, "lists_descriptors", NULL) > 0);
	CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), -PSYS_ECHILD);
	result = next_result(queue);
	if (have_proc())
		CHECK_EQUAL(result->status, 3 << 8); /* 0 to 2 */
	give_back(queue, result);
	CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_rt_sigtimedwait(&chld, NULL, &at_once, PSYS_SIGSET_SIZE), -PSYS_EAGAIN);
	close_queue(queue);
	CHECK_EQUAL(psys_rt_sigtimedwait(&chld, NULL, &at_once, PSYS_SIGSET_SIZE), -PSYS_EAGAIN);
}

/* Jobs have the creator's limits, an own group, and on request the creator's signals. */
TEST(queue_jobs_inherit_from_the_creator)
{
	const struct psys_rlimit64 few = { 20, 1000 };
	struct psys_sigset mask;
	const struct aspawn_result *result;
	struct self self;

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	set_disposition(PSYS_SIGUSR1, PSYS_SIG_IGN);
	psys_setrlimit(PSYS_RLIMIT_NOFILE, &few);
	psys_sigemptyset(&mask);
	psys_sigaddset(&mask, PSYS_SIGHUP);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 16 });
	for (int i = 0; i < 2; i++) {
		struct aspawn_command command =
			command_in_role(&self, "has_inherited", i ? "signals" : NULL);

		command.flags = i ? ASPAWN_COMMAND_INHERIT_SIGNALS : 0;
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->status, 0);
		give_back(queue, result);
	}
	close_queue(queue);
}

ROLE(has_inherited)
{
	const struct psys_sigset mask = get_mask();
	struct psys_rlimit64 limit;

	const bool inherits = argc > 1;

	(void)argv;
	if ((get_disposition(PSYS_SIGCHLD) == PSYS_SIG_IGN) != inherits ||
	    (get_disposition(PSYS_SIGUSR1) == PSYS_SIG_IGN) != inherits)
		return 1;
	if (psys_getrlimit(PSYS_RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur != 20)
		return 2;
	if (psys_sigismember(&mask, PSYS_SIGHUP) != inherits)
		return 3;
	return psys_getpgid(0) == psys_getpid() ? 0 : 4;
}

/* More jobs at a time than descriptors allow: they wait for each other. */
TEST(queue_makes_do_with_few_descriptors)
{
	const struct psys_rlimit64 few = { 24, 24 };
	const struct aspawn_result *result;

	psys_setrlimit(PSYS_RLIMIT_NOFILE, &few);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 40 });
	for (int i = 0; i < 40; i++)
		CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT, .err_size = KEPT },
			     "naps", NULL) > 0);
	for (int i = 0; i < 40; i++) {
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 0);
		give_back(queue, result);
	}
	close_queue(queue);
}

/* Another job runs for ever. The server cannot tell when descriptors or processes are available
 * again. */
TEST(queue_goes_on_after_a_shortage)
{
	const struct psys_rlimit64 few = { 4, 1000 }, enough = { 1000, 1000 };
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);

	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	await_running(queue, 1);
	CHECK_EQUAL(psys_prlimit64(server, PSYS_RLIMIT_NOFILE, &few, NULL), 0);
	CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "exit_7", NULL) > 0);
	sleep_ms(20);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 1);
	CHECK_EQUAL(psys_prlimit64(server, PSYS_RLIMIT_NOFILE, &enough, NULL), 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	give_back(queue, result);
	close_queue(queue);
}

/* The server has tried to start the job, in vain. */
TEST(job_that_is_cancelled_in_a_shortage_has_not_started)
{
	const struct psys_rlimit64 few = { 4, 1000 };
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);

	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	await_running(queue, 1);
	CHECK_EQUAL(psys_prlimit64(server, PSYS_RLIMIT_NOFILE, &few, NULL), 0);
	const int64_t ticket =
		submit(queue, (struct aspawn_job){ .out_size = KEPT }, "exit_7", NULL);
	while (!*(volatile bool *)&queue->server.must_wait) /* no byte of ARMv5 is atomic */
		sleep_ms(1);
	CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->ticket, ticket);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
	CHECK_EQUAL(result->pid, 0);
	CHECK_EQUAL(result->started_ns, 0);
	close_queue(queue);
}

/* The server's descriptors do not count for its jobs. */
TEST(queue_jobs_open_files_below_the_creators_limit)
{
	const struct psys_rlimit64 few = { 20, 1000 };
	static const struct aspawn_action opens = ASPAWN_OPEN(19, "/dev/null", PSYS_O_RDONLY, 0);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	psys_setrlimit(PSYS_RLIMIT_NOFILE, &few);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 16 });
	command.actions = &opens;
	command.action_count = 1;
	for (int i = 0; i < 15; i++)
		CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT, .err_size = KEPT },
			     "lingers", NULL) > 0);
	CHECK(submit_command(queue, (struct aspawn_job){ .cookie = 1 }, &command) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->cookie, 1);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(queue);
}

TEST(queue_needs_descriptors)
{
	struct aspawn_queue_options options = { .size = sizeof options };
	struct psys_rlimit64 limit;
	struct aspawn_queue *queue = NULL;

	if (!have_proc())
		skip("no /proc");
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	const int descriptors = count_descriptors(), mappings = count_mappings();
	for (int more = 0;; more++) {
		limit.rlim_cur = (uint64_t)(descriptors + more);
		limit.rlim_max = 100;
		CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
		int r = aspawn_queue_create(&queue, &options);
		limit.rlim_cur = 100;
		CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
		if (r == 0)
			break;
		CHECK_EQUAL(r, -PSYS_EMFILE);
		CHECK_EQUAL(count_descriptors(), descriptors);
		CHECK_EQUAL(count_mappings(), mappings);
		CHECK(!have_children());
		CHECK(more < 20);
	}
	close_queue(queue);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(queue_needs_dev_null)
{
	struct aspawn_queue_options options = { .size = sizeof options };
	struct aspawn_queue *queue = NULL;

	if (!have_proc())
		skip("no /proc");
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	const int descriptors = count_descriptors(), mappings = count_mappings();
	int root = psys_open("/", PSYS_O_RDONLY, 0);
	if (psys_chroot("/proc") < 0)
		skip("not root");
	int r = aspawn_queue_create(&queue, &options);
	CHECK_EQUAL(psys_fchdir(root), 0);
	CHECK_EQUAL(psys_chroot("."), 0);
	psys_close(root);
	CHECK_EQUAL(r, -PSYS_ENOENT);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
	CHECK(!have_children());
}

static bool has_pidfds(void)
{
	const int fd = psys_pidfd_open(psys_getpid(), 0);

	psys_close(fd); /* close(-1) is harmless */
	return fd >= 0;
}

TEST(queue_leaves_nothing_behind)
{
	const int descriptors = count_descriptors(), mappings = count_mappings();
	int server = 0;

	if (!have_proc())
		skip("no /proc");
	for (int round = 0; round < 3; round++) {
		struct aspawn_queue *queue = open_queue(
			&(struct aspawn_queue_options){ .running = 4, .flags = ASPAWN_QUEUE_FD });
		server = server_of(queue);
		CHECK_EQUAL(count_descriptors(), descriptors + 5);
		for (int i = 0; i < 10; i++)
			CHECK(submit(queue, (struct aspawn_job){ .out_size = KEPT }, "lingers",
				     NULL) > 0);
		await_running(queue, 4);
		close_queue(queue);
		CHECK(!exists(server));
		CHECK(!have_children());
		CHECK_EQUAL(count_descriptors(), descriptors);
		CHECK_EQUAL(count_mappings(), mappings);
	}
}

/* Otherwise what the caller prints would go to a descriptor of the queue. */
TEST(queue_takes_no_number_of_a_standard_stream_that_is_closed)
{
	static const int expected[] = { 2, 2, 5, 4 }; /* descriptors, by the flags */
	struct aspawn_queue_options options = { .size = sizeof options, .running = 1 };
	struct aspawn_queue *queue;
	int saved[3], created[4], taken[4] = { 0 }, more[4] = { 0 };
	const int before = count_descriptors();

	for (int fd = 0; fd < 3; fd++)
		CHECK((saved[fd] = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 40)) >= 40);
	for (int flags = 0; flags < 4; flags++) {
		for (int fd = 0; fd < 3; fd++)
			psys_close(fd);
		options.flags = (uint64_t)flags * ASPAWN_QUEUE_LOCAL;
		created[flags] = aspawn_queue_create(&queue, &options);
		for (int fd = 0; fd < 3; fd++)
			taken[flags] += psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0;
		more[flags] =
			count_descriptors() - before; /* the standard streams are as they were */
		if (created[flags] == 0)
			aspawn_queue_close(queue);
		for (int fd = 0; fd < 3; fd++)
			psys_dup3(saved[fd], fd, 0);
	}
	for (int flags = 0; flags < 4; flags++) {
		if (created[flags] == -PSYS_EOPNOTSUPP && !memory_is_shared())
			continue;
		CHECK_EQUAL(created[flags], 0);
		CHECK_EQUAL(taken[flags], 0);
		if (have_proc() && (flags * ASPAWN_QUEUE_LOCAL != ASPAWN_QUEUE_FD || has_pidfds()))
			CHECK_EQUAL(more[flags], expected[flags]);
	}
}

TEST(queue_closes_with_a_stopped_server)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);

	CHECK_EQUAL(psys_kill(server, PSYS_SIGSTOP), 0);
	close_queue(queue);
	CHECK(!exists(server));
}

/* The server ends the program, but only a kill of the group ends the program's child. */
TEST(queue_kills_groups_when_it_closes_with_a_stopped_server)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "has_a_child_that_writes", NULL);
	int pipe[2];
	char byte;

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	command.actions = &(struct aspawn_action)ASPAWN_DUP2(pipe[1], 1);
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 1);
	CHECK_EQUAL(psys_kill(server, PSYS_SIGSTOP), 0);
	close_queue(queue);
	psys_close(pipe[1]);
	CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 0); /* when the child has ended */
}

ROLE(has_a_child_that_writes)
{
	(void)argc, (void)argv;
	if (psys_fork() == 0)
		psys_write(1, "", 1);
	sleep_ms(600000);
	return 0;
}

static int wait_for_pid(int fd)
{
	int pid = 0;

	CHECK_EQUAL(psys_read(fd, &pid, sizeof pid), sizeof pid);
	return pid;
}

/* The caller's descriptor takes the number, so that no output of the job ends. */
ROLE(tells_its_pid_and_leaves_a_grandchild)
{
	const int pid = psys_getpid();

	(void)argc, (void)argv;
	psys_write(2, &pid, sizeof pid);
	if (psys_fork() == 0)
		sleep_ms(600000);
	return 3;
}

TEST(queue_waits_for_no_pipe_after_a_cancellation)
{
	struct aspawn_queue *queue = usual_queue();
	const struct aspawn_result *result;
	struct self self;
	struct aspawn_command command =
		command_in_role(&self, "tells_its_pid_and_leaves_a_grandchild", NULL);
	int pipe[2];

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	command.actions = &(struct aspawn_action)ASPAWN_DUP2(pipe[1], 2);
	command.action_count = 1;
	const int64_t ticket = submit_command(
		queue, (struct aspawn_job){ .out_size = KEPT, .grace_ms = 600000 }, &command);
	const int pid = wait_for_pid(pipe[0]);
	while (exists(pid)) /* until the server has reaped it */
		sleep_ms(1);
	CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 3 << 8);
	psys_kill(-pid, PSYS_SIGKILL);
	give_back(queue, result);
	close_queue(queue);
}

TEST(queue_survives_the_death_of_its_server)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 2, .flags = ASPAWN_QUEUE_FD });
	const struct aspawn_result *result;
	char text[320];
	int server;

	if (!have_proc())
		skip("no /proc");
	const int descriptors = count_descriptors();
	for (int round = 0; round < 5; round++) {
		server = server_of(queue);
		for (int i = 0; i < 5; i++)
			CHECK(submit(queue, (struct aspawn_job){ .cookie = 5 }, "lingers", NULL) >
			      0);
		await_running(queue, 2);
		struct psys_pollfd poll = { aspawn_queue_fd(queue), PSYS_POLLIN, 0 };
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), 0);
		CHECK_EQUAL(psys_ppoll(&poll, 1, &(struct psys_timespec){ 0, 0 }, NULL, 0), 0);
		psys_kill(server, PSYS_SIGKILL);
		if (round % 2) /* those who poll learn of it */
			CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
		for (int i = 0; i < 5; i++) {
			result = next_result(queue);
			CHECK_EQUAL(result->cookie, 5);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
			CHECK_EQUAL(result->status, -1);
			aspawn_result_text(text, sizeof text, result);
			CHECK(!psys_strcmp(text, "lost"));
			CHECK(!result->pid || ends_soon(result->pid));
			give_back(queue, result);
		}
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), -PSYS_ECHILD);
	}
	CHECK(server_of(queue) != server);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_SERVERS), 6);
	close_queue(queue);
	CHECK(!have_children());
}

/* The second job's result is filled, but its number is not in the ring yet. The first job, earlier
 * in the ring, still runs. */
TEST(queue_keeps_a_result_that_a_killed_server_has_not_published)
{
	const struct aspawn_result *results[2];
	struct aspawn_queue *queue = usual_queue();
	int64_t tickets[2];

	if (!have_proc())
		skip("no /proc");
	const int server = server_of(queue);
	for (int i = 0; i < 2; i++)
		CHECK((tickets[i] = submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL)) > 0);
	await_running(queue, 2);
	struct job *job = queue_find(queue, tickets[1]);
	CHECK(job > queue_find(queue, tickets[0]));
	psys_kill(server, PSYS_SIGKILL);
	CHECK(ends_soon(server));
	CHECK_EQUAL(job->state, JOB_TAKEN);
	job->result.outcome = ASPAWN_OUTCOME_RAN;
	job->result.status = 7 << 8;
	job->end_position = queue->ended.tail;
	job->state = JOB_ENDED;
	CHECK_EQUAL(aspawn_queue_wait(queue, results, 2, LONG), 2);
	CHECK_EQUAL(results[0]->ticket, tickets[0]);
	CHECK_EQUAL(results[0]->outcome, ASPAWN_OUTCOME_LOST);
	CHECK_EQUAL(results[1]->ticket, tickets[1]);
	CHECK_EQUAL(results[1]->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(results[1]->status, 7 << 8);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 0);
	close_queue(queue);
}

TEST(subreaper_reaps_the_jobs_of_a_killed_server)
{
	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreaper");
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	await_running(queue, 1);
	psys_kill(server, PSYS_SIGKILL);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), result->pid);
	give_back(queue, result);
	close_queue(queue);
}

ROLE(tells_its_parent_and_stays)
{
	const int parent = psys_getppid();

	(void)argc, (void)argv;
	psys_write(1, &parent, sizeof parent);
	sleep_ms(600000);
	return 0;
}

/* A change of credentials clears the signal by which jobs die with their server. */
static void check_is_taken_along(struct aspawn_action action)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);
	const struct aspawn_result *result;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	result = next_result(queue);
	if (result->outcome == ASPAWN_OUTCOME_NOT_STARTED)
		skip("may not become another user, or this file may not be executed by it");
	give_back(queue, result);
	char path[64] = "/tmp/aspawn-told-";
	append_own_name(path);
	CHECK_EQUAL(psys_mknodat(PSYS_AT_FDCWD, path, PSYS_S_IFIFO | 0600, 0), 0);
	const int fifo = psys_open(path, PSYS_O_RDWR | PSYS_O_CLOEXEC, 0);
	const struct aspawn_action actions[] = { ASPAWN_OPEN(1, path, PSYS_O_WRONLY, 0), action };
	int pid = 0;
	CHECK(fifo >= 0);
	command = command_in_role(&self, "tells_its_parent_and_stays", NULL);
	command.actions = actions;
	command.action_count = 2;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	CHECK_EQUAL(psys_read(fifo, &pid, sizeof pid), sizeof pid); /* it is executed */
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	CHECK_EQUAL(pid, server);
	await_running(queue, 1); /* and the server knows its pid */
	psys_kill(server, PSYS_SIGKILL);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	CHECK(result->pid > 0);
	CHECK(ends_soon(result->pid));
	give_back(queue, result);
	close_queue(queue);
}

TEST(queue_takes_jobs_of_other_users_along)
{
	check_is_taken_along((struct aspawn_action)ASPAWN_USER(65534, 65534, NULL, 0));
	check_is_taken_along((struct aspawn_action)ASPAWN_RESGID(65534, 65534, 65534));
}

TEST(queue_takes_jobs_along_that_call_for_another_user)
{
	static const int calls[] = { PSYS_NR_setuid,     PSYS_NR_setgid,    PSYS_NR_setreuid,
				     PSYS_NR_setregid,   PSYS_NR_setresuid, PSYS_NR_setresgid,
#ifdef PSYS_NR_setresuid16 /* SYS_setresuid of the libc */
				     PSYS_NR_setresuid16
#endif
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		check_is_taken_along((struct aspawn_action)ASPAWN_SYSCALL(calls[i], 65534, 65534,
									  65534, 0, 0, 0, 0, 0));
}

/* The queue takes no job that nobody would run. */
TEST(queue_that_cannot_make_a_new_server_says_so)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);
	const struct aspawn_result *result;

	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	psys_kill(server, PSYS_SIGKILL);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	give_back(queue, result);
	filter_refuse(PSYS_NR_clone, PSYS_EAGAIN);
	filter_refuse(PSYS_NR_clone3, PSYS_EAGAIN);
	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), -PSYS_ECHILD);
	}
	close_queue(queue);
	CHECK(!have_children());
}

static int wakes_up(void *arg)
{
	const struct aspawn_result *result;
	struct aspawn_queue *queue = arg;

	return aspawn_queue_wait(queue, &result, 1, -1) == 1 &&
			       result->outcome == ASPAWN_OUTCOME_LOST ?
		       0 :
		       1;
}

static int woken;

static int waits_for_a_result(void *arg)
{
	if (wakes_up(arg) == 0)
		__atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
	return 0;
}

TEST(queue_wakes_all_waiters_when_its_server_dies)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);
	struct thread threads[3];

	for (int i = 0; i < 3; i++)
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	for (int i = 0; i < 3; i++)
		thread_start(&threads[i], waits_for_a_result, queue);
	sleep_ms(20);
	psys_kill(server, PSYS_SIGKILL);
	for (int i = 0; i < 3; i++)
		thread_join(&threads[i]);
	CHECK_EQUAL(woken, 3);
	close_queue(queue);
}

static void check_is_not_inherited(void)
{
	const int before = count_descriptors();
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_FD });
	const struct aspawn_result *result = NULL;

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	int pid = fork_child();
	if (pid == 0) {
		CHECK_EQUAL(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_release(queue, &result, 1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_cancel_all(queue), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_drain(queue, -1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_fd(queue), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_queue_close(queue), 0);
		CHECK_EQUAL(count_descriptors(), before);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	/* The close of the copy has not closed this queue. */
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(queue);
}

TEST(queue_is_not_inherited_by_fork)
{
	check_is_not_inherited();
}

/* The number of the process tells, as long as the process may ask for it. */
TEST(queue_is_not_inherited_by_fork_without_wipeonfork)
{
	filter_refuse(PSYS_NR_madvise, PSYS_EINVAL);
	check_is_not_inherited();
	struct aspawn_queue *queue = usual_queue();
	filter_refuse(PSYS_NR_getpid, PSYS_EPERM);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(queue);
}

/* Runs in another process, and writes the pid of the server. */
static void host_of_a_job(int pipe)
{
	struct aspawn_queue *queue = usual_queue();
	const int server = server_of(queue);

	psys_write(pipe, &server, sizeof server);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	await_running(queue, 1);
}

static void check_host_ends(void (*ends)(void))
{
	int pipe[2];

	if (!have_proc())
		skip("no /proc");
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	int host = fork_child();
	if (host == 0) {
		host_of_a_job(pipe[1]);
		ends();
	}
	const int server = wait_for_pid(pipe[0]);
	CHECK(ends_soon(server));
	psys_kill(host, PSYS_SIGKILL);
	reap(host);
}

static void is_killed(void)
{
	psys_kill(psys_getpid(), PSYS_SIGKILL);
}

static void executes(void)
{
	exec_role("lingers", NULL);
}

/* A forked copy holds the pipe that would tell of the exec. The copy's queue is dead. */
static void executes_with_a_copy(void)
{
	if (psys_fork() == 0) {
		psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
		sleep_ms(600000);
	}
	exec_role("lingers", NULL);
}

TEST(queue_ends_with_its_host)
{
	check_host_ends(is_killed);
}

TEST(queue_ends_when_its_host_executes)
{
	check_host_ends(executes);
}

TEST(queue_ends_when_its_host_executes_and_a_copy_lives)
{
	if (psys_kcmp(psys_getpid(), psys_getpid(), 1, 0, 0) != 0)
		skip("no kcmp");
	check_host_ends(executes_with_a_copy);
}

/* The hang-up of the socket, or else of the pipe, tells of the exec. */
TEST(queue_ends_when_its_host_executes_in_a_sandbox)
{
	filter_refuse(PSYS_NR_kcmp, PSYS_EPERM);
	filter_refuse(PSYS_NR_recvmsg, PSYS_EPERM);
	check_host_ends(executes);
	filter_refuse(PSYS_NR_socketpair, PSYS_EPERM);
	check_host_ends(executes);
}

/* Returns when the process has slept so many times. */
static void await_sleeps(int pid, int sleeps)
{
	while (sleeps--) {
		const uint64_t before = status_hex(pid, "voluntary_ctxt_switches");
		while (status_hex(pid, "voluntary_ctxt_switches") == before)
			sleep_ms(1);
	}
}

/* A server must not look again and again, but sleep. */
TEST(queue_sleeps_while_a_job_waits_for_its_key_and_starts_are_delayed)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 2, .delay_ms = 1 });
	const struct aspawn_job job = { .key = 7, .key_limit = 1, .time_limit_ms = LONG };

	if (!have_proc())
		skip("no /proc");
	const int server = server_of(queue);
	CHECK(submit(queue, job, "lingers", NULL) > 0);
	CHECK(submit(queue, job, "exit_7", NULL) > 0);
	await_running(queue, 1);
	await_sleeps(server, 2);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 1);
	close_queue(queue);
}

TEST(queue_fd_is_readable_when_there_are_results)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_FD });
	struct psys_timespec at_once = { 0, 0 };
	struct psys_pollfd poll = { aspawn_queue_fd(queue), PSYS_POLLIN, 0 };
	const struct aspawn_result *result;

	CHECK(poll.fd > 2);
	CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
	for (int i = 0; i < 10; i++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), 1);
		give_back(queue, result);
		CHECK(aspawn_queue_wait(queue, &result, 1, 0) <= 0);
		CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
	}
	close_queue(queue);
}

static struct aspawn_queue *of_handler;
static int submitted_by_handler;

static void submits(int signal)
{
	(void)signal;
	if (submit(of_handler, (struct aspawn_job){ .cookie = 9 }, "exit_7", NULL) > 0)
		submitted_by_handler++;
}

TEST(queue_accepts_jobs_of_a_signal_handler)
{
	const struct psys_itimerval often = { { 0, 500 }, { 0, 500 } },
				    never = { { 0, 0 }, { 0, 0 } };
	const struct aspawn_result *result;
	int sent = 0, taken = 0;

	of_handler = open_queue(&(struct aspawn_queue_options){ .jobs = 512, .running = 2 });
	set_handler(PSYS_SIGALRM, submits);
	psys_setitimer(PSYS_ITIMER_REAL, &often, NULL);
	while (sent < scaled(300) || !__atomic_load_n(&submitted_by_handler, __ATOMIC_RELAXED)) {
		sent += submit(of_handler, (struct aspawn_job){ .cookie = 8 }, "exit_7", NULL) > 0;
		if (aspawn_queue_wait(of_handler, &result, 1, sent % 8 ? 0 : 1) == 1) {
			give_back(of_handler, result);
			taken++;
		}
	}
	psys_setitimer(PSYS_ITIMER_REAL, &never, NULL);
	for (; aspawn_queue_wait(of_handler, &result, 1, LONG) == 1; taken++) {
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(of_handler, result);
	}
	CHECK(submitted_by_handler > 0);
	CHECK_EQUAL(taken, sent + submitted_by_handler);
	close_queue(of_handler);
}

/* Descriptors of the caller's may be used there. */
TEST(local_queue_ends_jobs_that_epoll_cannot_watch)
{
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .running = 1, .flags = ASPAWN_QUEUE_LOCAL });

	filter_refuse(PSYS_NR_epoll_ctl, PSYS_ENOSPC); /* fs.epoll.max_user_watches */
	for (int i = 0; i < 3; i++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
	}
	close_queue(queue);
}

TEST(local_queue_knows_the_callers_descriptors)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_LOCAL });
	const struct aspawn_result *result;
	int pipe[2];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	const struct aspawn_action action = ASPAWN_DUP2(pipe[1], 1);
	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ .cookie = 1 }, &command) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->status, 0);
	char byte = 0;
	CHECK_EQUAL(psys_read(pipe[0], &byte, 1), 1);
	CHECK_EQUAL(byte, 'x');
	close_queue(queue);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4 };

struct crowd {
	struct aspawn_queue *queue;
	int each, submitted, taken, wrong;
};

static int is_part_of_a_crowd(void *arg)
{
	struct crowd *crowd = arg;
	const struct aspawn_result *results[4];
	int sent = 0, count;

	do {
		if (sent < crowd->each &&
		    submit(crowd->queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0) {
			sent++;
			__atomic_add_fetch(&crowd->submitted, 1, __ATOMIC_RELAXED);
		}
		count = aspawn_queue_wait(crowd->queue, results, 4, sent < crowd->each ? 0 : -1);
		for (int i = 0; i < count; i++)
			if (results[i]->status != 7 << 8) {
				note("status", results[i]->status);
				note("error", results[i]->failure.error);
				note("step", results[i]->failure.step);
				__atomic_add_fetch(&crowd->wrong, 1, __ATOMIC_RELAXED);
			}
		if (count > 0) {
			__atomic_add_fetch(&crowd->taken, count, __ATOMIC_RELAXED);
			aspawn_queue_release(crowd->queue, results, count);
		}
	} while (sent < crowd->each || count > 0);
	return 0;
}

TEST(queue_of_many_threads)
{
	struct crowd crowd = { .each = scaled(200) };
	struct thread threads[THREADS];

	crowd.queue = open_queue(&(struct aspawn_queue_options){ .jobs = 16 });
	for (int i = 0; i < THREADS; i++)
		thread_start(&threads[i], is_part_of_a_crowd, &crowd);
	for (int i = 0; i < THREADS; i++)
		thread_join(&threads[i]);
	CHECK_EQUAL(crowd.submitted, THREADS * crowd.each);
	CHECK_EQUAL(crowd.taken, THREADS * crowd.each);
	CHECK_EQUAL(crowd.wrong, 0);
	close_queue(crowd.queue);
}
