/* SPDX-License-Identifier: MIT */
/*
 * Runs the checks of a list as a monitoring server does, or a command for each host of a list: by a
 * queue, which limits how many run at once, ends those that take too long, and keeps their output.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <syscall/errno.h>

#include "poller.h"

static const char usage[] =
	"usage: poller [option...] [FILE]\n"
	"       poller [option...] --each FILE COMMAND [ARGUMENT...]\n"
	"Runs the checks that FILE (-: standard input) lists, a command a line, quoted as in a\n"
	"shell, but none is started. Skips blank lines and those that begin with #.\n"
	"With --each, runs COMMAND for each line of FILE, which replaces {} in its words:\n"
	"    poller --output --each hosts ssh -o BatchMode=yes {} uptime\n"
	"  --output           print a line for each check, and its output\n"
	"  --json             print a JSON object for each check, and nothing else\n"
	"  --concurrency N    at most so many at once (100)\n"
	"  --timeout SECONDS  for each, then it is ended with its process group (10; 0: none)\n"
	"  --delay MS         milliseconds between two starts (0)\n"
	"  --repeat N         go over the list so often (1)\n"
	"Exits with 0 if each check ran to its end, whatever its status; 1 if one was ended for\n"
	"its time, could not be started or was not run; 2 if none was run, for an error.\n"
	"SIGINT and SIGTERM end those that run.\n";

enum { BATCH = 64, MOST_AT_ONCE = 32768, KEPT = 65536 };
enum { CONCURRENCY, TIMEOUT, DELAY, REPEAT, NUMBERS, EACH, STYLE };
static double numbers[NUMBERS] = { 100, 10, 0, 1 };
static volatile sig_atomic_t received;

/* Returns false if the queue is full. */
static bool submit(struct aspawn_queue *queue, const struct check *check, struct report *report)
{
	/* No terminal: nobody could answer a prompt. */
	static const struct aspawn_action session[] = { ASPAWN_SETSID() };
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = check->words,
		.actions = session,
		.action_count = 1,
		.std_err = ASPAWN_STREAM_STDOUT,
	};
	const struct aspawn_job job = {
		.size = sizeof job,
		.cookie = (uintptr_t)check,
		.command = &command,
		.out_size = KEPT + 1, /* with a NUL */
		.time_limit_ms = (int64_t)(numbers[TIMEOUT] * 1e3),
	};
	const int64_t r = aspawn_queue_submit(queue, &job, NULL);

	if (r == -PSYS_EAGAIN)
		return false;
	report->begun++;
	if (r < 0)
		report_add(report, check,
			   &(struct aspawn_result){ .outcome = ASPAWN_OUTCOME_NOT_STARTED,
						    .status = -1,
						    .failure.error = (int)r });
	return true;
}

/* Waits for results, at most 100 ms. Returns false if no check waits or runs. */
static bool take(struct aspawn_queue *queue, struct report *report)
{
	const struct aspawn_result *results[BATCH];
	int count = aspawn_queue_wait(queue, results, BATCH, 100);

	for (int i = 0; i < count; i++)
		if (results[i]->outcome != ASPAWN_OUTCOME_CANCELLED ||
		    results[i]->pid) /* else not run */
			report_add(report, (const struct check *)(uintptr_t)results[i]->cookie,
				   results[i]);
	if (count > 0)
		aspawn_queue_release(queue, results, count);
	return count >= 0;
}

static void run(const struct check *check, struct report *report)
{
	const uint32_t running = (uint32_t)numbers[CONCURRENCY];
	const struct aspawn_queue_options options = {
		.size = sizeof options,
		.jobs = running < MOST_AT_ONCE / 4 ? 2 * running + BATCH : MOST_AT_ONCE,
		.running = running,
		.job_bytes = 4 * KEPT, /* the output, the words and the environment */
		.delay_ms = (uint32_t)numbers[DELAY],
	};
	struct aspawn_queue *queue;
	int r = aspawn_queue_create(&queue, &options);

	if (r < 0) {
		fprintf(stderr, "poller: the queue: %s\n", strerror(-r));
		exit(2);
	}
	do {
		while (!received && report->begun < report->planned && submit(queue, check, report))
			check = check->next;
		if (received)
			aspawn_queue_cancel_all(queue);
		report_progress(report);
	} while (take(queue, report) || (!received && report->begun < report->planned));
	aspawn_queue_close(queue);
}

static bool parse_number(const char *text, int which)
{
	static const double least[] = { 1, 0, 0, 1 }, most[] = { MOST_AT_ONCE, 1e6, 36e5, 1e8 };
	char *end;
	const double value = numbers[which] = strtod(text, &end);

	/* Only the timeout may be a fraction. This rejects NaN too. */
	return *text && !*end && value >= least[which] && value <= most[which] &&
	       (which == TIMEOUT || value == (double)(long)value);
}

/* Returns false if they are wrong. */
static bool parse_options(int argc, char **argv, enum style *style, const char **each)
{
	static const struct option options[] = {
		{ "concurrency", required_argument, NULL, CONCURRENCY },
		{ "timeout", required_argument, NULL, TIMEOUT },
		{ "delay", required_argument, NULL, DELAY },
		{ "repeat", required_argument, NULL, REPEAT },
		{ "each", required_argument, NULL, EACH },
		{ "output", no_argument, NULL, STYLE + OUTPUT },
		{ "json", no_argument, NULL, STYLE + JSON },
		{ NULL, 0, NULL, 0 },
	};

	for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
		if (option == '?' || (option < NUMBERS && !parse_number(optarg, option)))
			return false;
		if (option == EACH)
			*each = optarg;
		if (option > STYLE)
			*style = (enum style)(option - STYLE);
	}
	return *each ? argc > optind : argc <= optind + 1;
}

static void interrupt(int signal)
{
	received = signal;
}

int main(int argc, char **argv)
{
	/* SIGPIPE too: the reader of the report is gone, but the checks must be ended. */
	static const int signals[] = { SIGINT, SIGTERM, SIGPIPE, SIGHUP };
	static struct report report;
	const char *each = NULL;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (!parse_options(argc, argv, &report.style, &each)) {
		fputs(usage, stderr);
		return 2;
	}
	const struct check *first =
		list_read(each ? each : argv[optind], each ? argv + optind : NULL, &report.planned);
	report.planned *= (size_t)numbers[REPEAT];
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signal(signals[i], interrupt) == SIG_IGN && signals[i] == SIGHUP)
			signal(SIGHUP, SIG_IGN); /* nohup */
	report.shows_progress = isatty(2) && (report.style == SUMS || !isatty(1));
	report.started = now();
	run(first, &report);
	report_print(&report);
	const size_t *outcomes = report.outcomes;
	return report.ended < report.planned || fflush(stdout) != 0 ||
	       outcomes[TIMED_OUT] + outcomes[NOT_STARTED] + outcomes[STOPPED] + outcomes[LOST] > 0;
}
