/* SPDX-License-Identifier: MIT */
/* Makes random jobs of a random queue. Their outcome, status and output are known before
 * submission. */
#define _GNU_SOURCE
#include "model.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <aspawn/queue.h>

#include "attacks.h"
#include "letters.h"

enum { MOST_JOBS = 64, LONG_MS = 120000, MOST_OUTPUT = 200000, MOST_KEYS = 3 };

/* Holds a random job, and what is known of the job. */
struct known {
	int outcome, step, error, exit_code, signal; /* signal 0: none */
	int out, err;                                /* bytes of the program */
	bool has_input, joins, drops_out, drops_err; /* joins: standard error is standard output */
	bool is_tail, is_tree, is_copied, is_prepared, has_descriptor, has_image;
	size_t out_size, err_size;
	int64_t limit_ms, grace_ms;
	int stop_signal, priority;
	uint32_t key, key_limit;
	const char *attack; /* or NULL */
	/* The results. */
	bool has_ended;
	int64_t ticket, started_ns, ended_ns;
};

static struct known jobs[MOST_JOBS];

/* --- a random job --------------------------------------------------------- */

/* An ATTACK_STOP of the server takes two seconds. There is no ATTACK_LIMIT: without descriptors a
 * helper needs kill(2), which the caller's filter may refuse. */
static const char *random_attack(const struct known *job, struct random *random)
{
	if (random_below(random, 500) == 0)
		return ATTACK_STOP;
	if (!job->is_tree || random_below(random, 8))
		return NULL;
	return ONE_STRING_OF(random, ATTACK_TRACE, ATTACK_LEAVE);
}

static void job_make(struct known *job, struct random *random, const uint32_t *limits)
{
	memset(job, 0, sizeof *job);
	job->outcome = ONE_OF(random, ASPAWN_OUTCOME_RAN, ASPAWN_OUTCOME_RAN, ASPAWN_OUTCOME_RAN,
			      ASPAWN_OUTCOME_RAN, ASPAWN_OUTCOME_NOT_STARTED,
			      ASPAWN_OUTCOME_TIMED_OUT, ASPAWN_OUTCOME_CANCELLED);
	job->step = ONE_OF(random, ASPAWN_STEP_EXEC, 0, 1);
	job->error = job->outcome == ASPAWN_OUTCOME_NOT_STARTED ? -PSYS_ENOENT : 0;
	job->exit_code = (int)random_below(random, 256);
	job->signal = ONE_OF(random, 0, 0, 0, SIGKILL, SIGTERM, SIGUSR1);
	job->out = ONE_OF(random, 0, 1, 9, 10, 4095, 4096, 70000);
	job->err = ONE_OF(random, 0, 0, 1, 100, 70000);
	job->has_input = random_below(random, 2);
	job->joins = random_below(random, 4) == 0;
	job->drops_out = random_below(random, 8) == 0;
	job->drops_err = !job->joins && random_below(random, 8) == 0;
	job->out_size = job->drops_out ? 0 : (size_t)ONE_OF(random, 0, 1, 10, 4096);
	job->err_size = job->joins || job->drops_err ? 0 : (size_t)ONE_OF(random, 0, 1, 10, 4096);
	job->is_tail = random_below(random, 2);
	job->is_tree = random_below(random, 4) == 0;
	job->is_copied = random_below(random, 4) == 0;
	job->is_prepared = job->outcome == ASPAWN_OUTCOME_RAN && random_below(random, 4) == 0;
	job->has_descriptor = random_below(random, 4) == 0;
	job->has_image = random_below(random, 4) == 0;
	job->grace_ms = ONE_OF(random, 0, ASPAWN_GRACE_NONE);
	job->limit_ms = job->outcome == ASPAWN_OUTCOME_TIMED_OUT ? ONE_OF(random, 1, 10, 30) :
			random_below(random, 2)                  ? LONG_MS :
								   0;
	job->stop_signal = ONE_OF(random, 0, SIGINT, SIGHUP, SIGUSR2);
	job->priority = (int)random_below(random, ASPAWN_MOST_PRIORITY + 1);
	job->key = random_below(random, MOST_KEYS + 1);
	job->key_limit = limits[job->key];
	job->attack = random_attack(job, random);
}

static void print_job(const struct known *job, struct report *report)
{
	complain(report,
		 "  job: outcome %d, step %d, exit %d, signal %d, writes %d and %d, input %d, "
		 "joins %d, drops %d %d, keeps %zu and %zu, tail %d, tree %d, copied %d, prepared %d, "
		 "descriptor %d, image %d, limit %lld, grace %lld, stop_signal %d, attack: %s",
		 job->outcome, job->step, job->exit_code, job->signal, job->out, job->err,
		 job->has_input, job->joins, job->drops_out, job->drops_err, job->out_size,
		 job->err_size, job->is_tail, job->is_tree, job->is_copied, job->is_prepared,
		 job->has_descriptor, job->has_image, (long long)job->limit_ms,
		 (long long)job->grace_ms, job->stop_signal, job->attack ? job->attack : "none");
}

/* --- submission ----------------------------------------------------------- */

/* A time limit or a cancellation ends a program that would sleep for very long. */
static bool is_ended(const struct known *job)
{
	return job->outcome == ASPAWN_OUTCOME_TIMED_OUT || job->outcome == ASPAWN_OUTCOME_CANCELLED;
}

static size_t make_actions(const struct known *job, struct aspawn_action *actions)
{
	size_t count = 0;

	if (job->outcome == ASPAWN_OUTCOME_NOT_STARTED && job->step == 0)
		actions[count++] = (struct aspawn_action)ASPAWN_CHDIR("/none");
	actions[count++] = (struct aspawn_action)ASPAWN_UMASK(022);
	if (job->outcome == ASPAWN_OUTCOME_NOT_STARTED && job->step == 1)
		actions[count++] = (struct aspawn_action)ASPAWN_OPEN(3, "/none", 0, 0);
	if (job->has_image)
		actions[count++] = (struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U);
	if (job->has_descriptor)
		actions[count++] = (struct aspawn_action)ASPAWN_DUP2(OTHER_FILE_FD, 4);
	return count;
}

static void job_submit(struct aspawn_queue *queue, struct known *job, int64_t prepared,
		       struct report *report)
{
	char words[5][16];
	struct aspawn_action actions[5];
	const int numbers[] = { job->out, job->err, job->exit_code, job->signal,
				is_ended(job) ? 1000000 : 0 };

	for (int i = 0; i < 5; i++)
		snprintf(words[i], sizeof words[i], "%d", numbers[i]);
	char *const *const argv = ASPAWN_ARGV("writer", words[0], words[1], words[2], words[3],
					      words[4], job->attack);
	const bool is_missing = job->outcome == ASPAWN_OUTCOME_NOT_STARTED && job->step < 0;
	const struct aspawn_command command = {
		.size = sizeof command,
		.file = is_missing ? "/none" : world.writer,
		.argv = argv,
		.envp = ASPAWN_ARGV("A=1"),
		.actions = actions,
		.action_count = make_actions(job, actions),
		.owner = job->is_tree ? ASPAWN_OWNER_TREE : ASPAWN_OWNER_CALLER,
		.flags = job->is_tree ? ASPAWN_COMMAND_TREE_OR_GROUP : 0,
		.memory = job->is_copied ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
		.std_out = job->drops_out ? ASPAWN_STREAM_NULL : ASPAWN_STREAM_DEFAULT,
		.std_err = job->joins     ? ASPAWN_STREAM_STDOUT :
			   job->drops_err ? ASPAWN_STREAM_NULL :
					    ASPAWN_STREAM_DEFAULT,
		.stop_signal = job->stop_signal,
	};
	const struct aspawn_job submitted = {
		.size = sizeof submitted,
		.flags = job->is_tail ? ASPAWN_JOB_TAIL : 0,
		.cookie = (uint64_t)(job - jobs),
		.command = job->is_prepared ? NULL : &command,
		.argv = job->is_prepared ? argv : NULL,
		.prepared = job->is_prepared ? prepared : 0,
		.input = job->has_input ? TRIAL_INPUT : NULL,
		.input_size = job->has_input ? strlen(TRIAL_INPUT) : 0,
		.out_size = job->out_size,
		.err_size = job->err_size,
		.time_limit_ms = job->limit_ms,
		.grace_ms = job->grace_ms,
		.key = job->key,
		.key_limit = job->key_limit,
		.priority = job->priority,
	};

	job->ticket = aspawn_queue_submit(queue, &submitted, NULL);
	if (job->ticket <= 0) {
		complain(report, "the submission failed: %lld", (long long)job->ticket);
		print_job(job, report);
	}
	if (job->ticket > 0 && job->outcome == ASPAWN_OUTCOME_CANCELLED)
		aspawn_queue_cancel(queue, job->ticket);
}

/* --- results -------------------------------------------------------------- */

static int add_letters(char *bytes, int count)
{
	for (int i = 0; i < count; i++)
		bytes[i] = letter_at(i);
	return count;
}

/* Stores what the program writes to standard output. */
static int expect_output(const struct known *job, char *bytes)
{
	int length = add_letters(bytes, job->out);

	if (job->joins)
		length += add_letters(bytes + length, job->err);
	if (job->has_input) {
		memcpy(bytes + length, TRIAL_INPUT, strlen(TRIAL_INPUT));
		length += (int)strlen(TRIAL_INPUT);
	}
	return length;
}

static void check_output(const struct known *job, const char *name, size_t size, const char *kept,
			 size_t length, uint64_t total, const char *expected, int count,
			 struct report *report)
{
	const size_t most = size ? size - 1 : 0, bytes = (size_t)count < most ? (size_t)count : most;
	const char *from = job->is_tail ? expected + ((size_t)count - bytes) : expected;

	if (total != (uint64_t)count)
		complain(report, "%s has %llu bytes, not %d", name, (unsigned long long)total,
			 count);
	if (length != bytes || !kept != !size || (kept && memcmp(kept, from, bytes) != 0) ||
	    (kept && kept[bytes]))
		complain(report, "%s: %zu bytes were kept of %d, or others than expected", name,
			 length, count);
}

static void check_outputs(const struct known *job, const struct aspawn_result *result,
			  struct report *report)
{
	static char expected[MOST_OUTPUT];

	const int count = expect_output(job, expected);
	if (!job->drops_out && (job->out_size || result->out_total))
		check_output(job, "standard output", job->out_size, result->out, result->out_length,
			     result->out_total, expected, count, report);
	add_letters(expected, job->err);
	if (!job->joins && !job->drops_err && (job->err_size || result->err_total))
		check_output(job, "standard error", job->err_size, result->err, result->err_length,
			     result->err_total, expected, job->err, report);
}

/* True if a time limit or a cancellation gives the status. A cancelled job may never have begun. */
static bool is_status_of_end(const struct known *job, int status)
{
	const int stop_signal = job->stop_signal ? job->stop_signal : SIGTERM;

	return status == SIGKILL || (status == stop_signal && job->grace_ms != ASPAWN_GRACE_NONE) ||
	       (status == -1 && job->outcome == ASPAWN_OUTCOME_CANCELLED);
}

static bool is_status(const struct known *job, int status)
{
	if (is_ended(job))
		return is_status_of_end(job, status);
	if (job->outcome == ASPAWN_OUTCOME_NOT_STARTED)
		return status == 127 << 8;
	return status == (job->signal ? job->signal : job->exit_code << 8);
}

/* SIGKILL may also end a child before its exec. */
static bool is_failure(const struct known *job, const struct aspawn_failure *failure)
{
	if (is_ended(job))
		return !failure->error || failure->error == -PSYS_ECHILD;
	return failure->error == job->error && (!job->error || failure->step == job->step);
}

static void check_result(const struct aspawn_result *result, int count, struct report *report)
{
	const size_t length = report->text.length;

	if (result->cookie >= (uint64_t)count) {
		complain(report, "a result with the cookie %llu",
			 (unsigned long long)result->cookie);
		return;
	}
	struct known *job = &jobs[result->cookie];
	if (job->has_ended)
		complain(report, "a job has ended twice");
	job->has_ended = true;
	job->started_ns = result->started_ns;
	job->ended_ns = result->ended_ns;
	if (result->ticket != job->ticket)
		complain(report, "the ticket is %lld, not %lld", (long long)result->ticket,
			 (long long)job->ticket);
	if (result->outcome != job->outcome)
		complain(report, "the outcome is %d", result->outcome);
	if (!is_status(job, result->status))
		complain(report, "the status is %#x", (unsigned)result->status);
	if (!is_failure(job, &result->failure))
		complain(report, "the failure is %d at step %d", result->failure.error,
			 result->failure.step);
	if (result->cut || result->survivors)
		complain(report, "cut is %d, survivors is %d", result->cut, result->survivors);
	if (job->outcome == ASPAWN_OUTCOME_RAN)
		check_outputs(job, result, report);
	if (report->text.length > length)
		print_job(job, report);
}

/* --- limits --------------------------------------------------------------- */

/* Returns how many jobs of the key ran when the job started. Key 0 means all jobs. */
static uint32_t count_beside(const struct known *job, int count, uint32_t key)
{
	uint32_t beside = 0;

	for (const struct known *other = jobs; other < jobs + count; other++)
		if (other->started_ns && (!key || other->key == key) &&
		    other->started_ns <= job->started_ns && job->started_ns < other->ended_ns)
			beside++;
	return beside;
}

static void check_limits(int count, uint32_t running, struct report *report)
{
	for (const struct known *job = jobs; job < jobs + count; job++) {
		if (!job->has_ended)
			complain(report, "a job has no result");
		if (!job->started_ns)
			continue;
		const uint32_t all = count_beside(job, count, 0),
			       same = count_beside(job, count, job->key);
		if (all > running)
			complain(report, "%u jobs ran at a time, not %u", all, running);
		if (job->key && same > job->key_limit)
			complain(report, "%u jobs of a key ran at a time, not %u", same,
				 job->key_limit);
	}
}

/* --- a queue -------------------------------------------------------------- */

static void take_results(struct aspawn_queue *queue, int count, struct report *report)
{
	const struct aspawn_result *results[8];
	int r;

	for (int taken = 0; taken < count; taken += r) {
		r = aspawn_queue_wait(queue, results, 8, LONG_MS);
		if (r <= 0) {
			complain(report, "%d jobs have ended, and the wait returned %d", taken, r);
			return;
		}
		for (int i = 0; i < r; i++)
			check_result(results[i], count, report);
		if (aspawn_queue_release(queue, results, r) < 0)
			complain(report, "results cannot be released");
	}
}

static void use_queue(struct aspawn_queue *queue, struct random *random, int count,
		      struct report *report)
{
	const uint32_t limits[MOST_KEYS + 1] = { 0, 1, 2, 3 };
	const struct aspawn_command command = { .size = sizeof command,
						.file = world.writer,
						.argv = ASPAWN_ARGV("writer"),
						.envp = ASPAWN_ARGV("A=1") };
	const int64_t prepared = aspawn_queue_prepare(queue, &command, NULL);
	int submitted = 0;

	if (prepared <= 0)
		complain(report, "the preparation failed: %lld", (long long)prepared);
	for (; submitted < count && !report->text.length; submitted++) {
		job_make(&jobs[submitted], random, limits);
		/* A prepared command has no streams, owner or memory of the job. */
		if (jobs[submitted].is_prepared) {
			struct known *job = &jobs[submitted];
			job->joins = job->drops_out = job->drops_err = job->is_tree = false;
			job->is_copied = job->has_descriptor = job->has_image = false;
			job->stop_signal = 0;
		}
		job_submit(queue, &jobs[submitted], prepared, report);
	}
	if (!report->text.length)
		take_results(queue, submitted, report);
	if (aspawn_queue_release_prepared(queue, prepared) < 0 && !report->text.length)
		complain(report, "what was prepared cannot be released");
}

void try_jobs(uint64_t number, int count, struct report *report)
{
	struct random r, *const random = &r;
	struct aspawn_queue *queue;

	random_begin(random, number);
	struct aspawn_queue_options options = {
		.size = sizeof options,
		.flags = (random_below(random, 4) ? 0 : ASPAWN_QUEUE_LOCAL) |
			 (random_below(random, 2) ? 0 : ASPAWN_QUEUE_FD),
		.jobs = MOST_JOBS,
		.running = (uint32_t)ONE_OF(random, 1, 2, 3, 8),
		.job_bytes = 16384,
	};

	caller_remember();
	int error = aspawn_queue_create(&queue, &options);
	if (error == -PSYS_EOPNOTSUPP) {
		options.flags |= ASPAWN_QUEUE_LOCAL;
		error = aspawn_queue_create(&queue, &options);
	}
	if (error < 0) {
		complain(report, "the queue cannot be created: %d", error);
		return;
	}
	use_queue(queue, random, count, report);
	aspawn_queue_close(queue);
	if (!report->text.length)
		check_limits(count, options.running, report);
	caller_complain(report, false);
}
