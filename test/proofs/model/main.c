/* SPDX-License-Identifier: MIT */
/*
 *	model SECONDS [SEED [COUNT]]
 *
 * Tries commands and jobs for SECONDS seconds, or COUNT trials. A trial is made from a number
 * alone. The first number is SEED. Trials run in processes of their own: a crash is a result, too.
 * Each process is a random caller, and makes some trials.
 */
#define _GNU_SOURCE
#include "model.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FAILURES = 5, JOBS = 16, WORKER_SECONDS = 300, COMMANDS_FOR_JOBS = 8 };

/* A worker reports to the supervisor in this struct. */
struct told {
	uint64_t trial;    /* which is being tried */
	uint64_t tried;    /* in all */
	uint64_t executed; /* of all tried: programs, in which no step failed */
	struct report report;
};
static struct told *told;

/* --- one trial, in a worker ----------------------------------------------- */

/* Namespaces made for the program have other numbers in each run. Digits of a namespace other than
 * the caller's become stars. */
static void hide_namespaces(struct text *text)
{
	static const char *const names[] = { "mnt",
					     "uts",
					     "ipc",
					     "net",
					     "pid_for_children",
					     "user",
					     "pid",
					     "time",
					     "time_for_children",
					     "cgroup" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[64], line[64], own[64] = "";

		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		snprintf(line, sizeof line, "\nns/%s ", names[i]);
		char *found = strstr(text->bytes, line);
		const ssize_t length = readlink(path, own, sizeof own - 1);
		if (found && length > 0 && strncmp(found + strlen(line), own, (size_t)length) != 0)
			for (found += strlen(line); *found && *found != '\n'; found++)
				*found = *found >= '0' && *found <= '9' ? '*' : *found;
	}
}

static void compare_states(struct ending *expected, struct ending *found, struct report *report)
{
	hide_namespaces(&expected->state);
	hide_namespaces(&found->state);
	if (strcmp(expected->state.bytes, found->state.bytes) == 0)
		return;
	complain(report, "the program's state is another:");
	complain_of_lines(report, &expected->state, &found->state);
}

/* A write by a link into /proc may be refused on shared memory: ASPAWN_WRITE. */
static bool may_refuse(const struct trial *trial, const struct ending *found)
{
	/* A repeated first step counts as often as repeated. */
	const int step = found->step > trial->repeats ? found->step - trial->repeats : 0;

	return found->error == -EXDEV && found->step >= 0 && step < trial->count &&
	       trial->steps[step].action.kind == ASPAWN_ACTION_WRITE &&
	       strcmp(trial->steps[step].action.u.write.path, world.link) == 0;
}

static void compare(const struct trial *trial, struct ending *expected, struct ending *found,
		    struct report *report)
{
	if (may_refuse(trial, found))
		return;
	/* Without a status a run has -1. */
	if (caller_may_lose_status(trial)) {
		found->result = found->result == -ECHILD ? expected->result : found->result;
		found->status = expected->status;
	}
	if (found->result != expected->result || found->error != expected->error ||
	    (found->error && found->step != expected->step))
		complain(report,
			 "expected result %d, step %d, error %d; found result %d, step %d, error %d",
			 expected->result, expected->step, expected->error, found->result,
			 found->step, found->error);
	else if (!found->error && !is_killed(trial))
		compare_states(expected, found, report);
	if (found->status != expected->status)
		complain(report, "expected status %#x, found %#x", (unsigned)expected->status,
			 (unsigned)found->status);
}

static void try_command(const struct trial *trial)
{
	static struct ending by_library, by_fork;

	told->trial = trial->number;
	run_by_library(trial, &by_library, &told->report);
	run_by_fork(trial, &by_fork);
	compare(trial, &by_fork, &by_library, &told->report);
	told->tried++;
	told->executed += !by_fork.error;
}

/* --- workers -------------------------------------------------------------- */

static bool is_wrong(void)
{
	return told->report.text.length;
}

/* Kills what a hanging worker has left. */
static void await_worker(pid_t worker)
{
	int status, naps = 0;

	while (waitpid(worker, &status, WNOHANG) == 0) {
		usleep(1000);
		if (++naps < WORKER_SECONDS * 1000)
			continue;
		complain(&told->report, "the trial does not end");
		kill(worker, SIGKILL);
		naps = 0;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		complain(&told->report, "the caller ends with status %#x", (unsigned)status);
}

/* Tries the command alone, in a new caller. Returns true if something is wrong. */
static bool is_wrong_alone(const struct trial *trial)
{
	memset(&told->report, 0, sizeof told->report);
	fflush(stdout);
	const pid_t worker = fork();
	if (worker == 0) {
		caller_become(trial->number, false);
		try_command(trial);
		_exit(0);
	}
	await_worker(worker);
	return is_wrong();
}

/* Tries commands until a command is wrong. */
static void try_commands(uint64_t first, int count)
{
	memset(&told->report, 0, sizeof told->report);
	fflush(stdout);
	const pid_t worker = fork();
	if (worker == 0) {
		static struct trial trial;
		caller_become(first, false);
		for (int i = 0; i < count && !is_wrong(); i++) {
			trial_make(&trial, first + (uint64_t)i);
			try_command(&trial);
		}
		_exit(0);
	}
	await_worker(worker);
}

static void print_report(void)
{
	char *rest = told->report.text.bytes;

	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			printf("# %s\n", line);
}

/* Prints the smallest wrong command. */
static void explain(uint64_t number)
{
	static struct trial trial, simpler;
	bool is_last = false, is_simpler = true;

	trial_make(&trial, number);
	printf("# seed %llu:\n", (unsigned long long)number);
	print_report();
	/* Each other try of a program that does not end would take minutes, too. */
	if (strstr(told->report.text.bytes, "does not end")) {
		trial_print(&trial);
		return;
	}
	if (!is_wrong_alone(&trial)) {
		printf("# not wrong when tried again alone:\n");
		trial_print(&trial);
		return;
	}
	while (is_simpler) {
		is_simpler = false;
		for (int way = 0;; way++) {
			simpler = trial;
			const bool is_another = trial_simplify(&simpler, way, &is_last);
			if (is_last)
				break;
			if (is_another && is_wrong_alone(&simpler)) {
				trial = simpler;
				is_simpler = true;
			}
		}
	}
	printf("# the smallest command that is wrong:\n");
	trial_print(&trial);
	is_wrong_alone(&trial);
	print_report();
}

/* --- jobs ----------------------------------------------------------------- */

static void try_jobs_in_worker(uint64_t number)
{
	memset(&told->report, 0, sizeof told->report);
	fflush(stdout);
	const pid_t worker = fork();
	if (worker == 0) {
		told->trial = number;
		caller_become(number * TRIALS_OF_CALLER, true);
		try_jobs(number, JOBS, &told->report);
		_exit(0);
	}
	await_worker(worker);
}

/* --- all of it ------------------------------------------------------------ */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns how many trials were wrong. */
static int try_until(double end, uint64_t seed, uint64_t count)
{
	int wrong = 0;

	for (uint64_t number = seed;
	     number - seed < count && now() < end && wrong < MOST_FAILURES;) {
		const uint64_t rest = TRIALS_OF_CALLER - number % TRIALS_OF_CALLER,
			       most = seed + count - number;
		try_commands(number, (int)(most < rest ? most : rest));
		number += most < rest ? most : rest;
		if (is_wrong()) {
			wrong++;
			number = told->trial + 1;
			explain(told->trial);
		}
	}
	return wrong;
}

static int try_jobs_until(double end, uint64_t seed, uint64_t count, uint64_t *tried)
{
	int wrong = 0;

	for (uint64_t number = seed; number - seed < count && now() < end && wrong < MOST_FAILURES;
	     number++) {
		try_jobs_in_worker(number);
		*tried += JOBS;
		if (is_wrong()) {
			wrong++;
			printf("# seed %llu, a queue of jobs:\n", (unsigned long long)number);
			print_report();
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 20;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) :
					 (uint64_t)time(NULL) * 1000000,
		       count = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT32_MAX;
	uint64_t jobs = 0;

	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED || !world_make(argv[0])) {
		printf("Bail out! no directory for the model\n");
		world_remove();
		return 1;
	}
	printf("1..2\n# seed %llu\n", (unsigned long long)seed);
	const int wrong = try_until(now() + seconds * 3 / 4, seed, count);
	printf("# %llu commands, of which %llu execute a program\n",
	       (unsigned long long)told->tried, (unsigned long long)told->executed);
	printf("%sok 1 - random commands end as a model by fork does\n", wrong ? "not " : "");
	const int wrong_jobs = try_jobs_until(now() + seconds / 4, seed, count, &jobs);
	printf("# %llu jobs\n", (unsigned long long)jobs);
	printf("%sok 2 - random jobs end as they must\n", wrong_jobs ? "not " : "");
	world_remove();
	return wrong || wrong_jobs;
}
