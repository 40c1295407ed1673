/* SPDX-License-Identifier: MIT */
/*
 * Runs the checks of a list as a monitoring server does: with a limit of concurrent checks, a timeout
 * for each, and a report of the outcomes. --method all compares the ways to start a check. This file
 * is the command; loop.c is the example to copy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "interrupt.h"
#include "list.h"
#include "loop.h"
#include "methods.h"
#include "resources.h"
#include "result.h"

/* The times of all checks are kept. */
#define MOST_CHECKS 100000000

static const char usage[] =
	"usage: poller [option...] [FILE]\n"
	"Runs the checks that FILE (-: standard input) lists, a command a line, and tells what\n"
	"became of them. Blank lines and those that begin with # are skipped. Words are quoted\n"
	"as in a shell, but none is started: for a pipe or a variable, sh -c '...'.\n"
	"A check has /dev/null as its standard input; of its output the first line is kept.\n"
	"  --concurrency N    at most so many at once (100)\n"
	"  --timeout SECONDS  for each, then it is killed with its process group (10; 0: none)\n"
	"  --delay MS         milliseconds between two starts (0)\n"
	"  --repeat N         go over the list so often (1)\n"
	"  --rounds N         with all: the methods take turns, each N times, for 1/N of the\n"
	"                     checks, so that what changes on the machine is in all (1)\n"
	"  --method NAME      aspawn (default), posix_spawn, popen, or all: compare.\n"
	"                     posix_spawn does the same, but the checks keep a raised limit of\n"
	"                     descriptors. popen goes through a shell, so that a check that\n"
	"                     cannot be started has exited with 126 or 127; it stays in the\n"
	"                     caller's group, and what it has started is not killed with it.\n"
	"  --resident MIB     touch so much memory first\n"
	"  --demo             a list of its own instead of FILE, some of which fails;\n"
	"                     --timeout is 1 then\n"
	"  --verbose          a line for each check\n"
	"Exits with 0 if each check ran to its end, whatever its status; 1 if one was killed for\n"
	"its time, could not be started or was not run; 2 if nothing was, for want of a list, an\n"
	"option or a limit. SIGINT and SIGTERM kill those that run and print the tables.\n";

static struct settings {
	const char *method;
	long concurrency, repeat, rounds, delay, resident;
	double timeout;
	bool has_timeout, is_demo, verbose;
} settings = { .method = "aspawn", .concurrency = 100, .repeat = 1, .rounds = 1, .timeout = 10 };

static int refuse(const char *what, const char *value)
{
	fprintf(stderr, "poller: %s: %s\n%s", what, value, usage);
	return 2;
}

static bool parse_number(const char *text, long least, long most, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return !errno && *text && !*end && *number >= least && *number <= most;
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	/* This rejects NaN too. */
	return *text && !*end && (*seconds == 0 || (*seconds >= 0.001 && *seconds <= 1e6));
}

static bool is_method(const char *name)
{
	for (size_t i = 0; i < METHODS; i++)
		if (!strcmp(methods[i].name, name))
			return true;
	return !strcmp(name, "all");
}

/* Returns 0; or the exit status, and sets *is_done. */
static int parse_options(int argc, char **argv, bool *is_done)
{
	static const struct option options[] = {
		{ "concurrency", required_argument, NULL, 'c' },
		{ "timeout", required_argument, NULL, 't' },
		{ "delay", required_argument, NULL, 'd' },
		{ "repeat", required_argument, NULL, 'n' },
		{ "rounds", required_argument, NULL, 'R' },
		{ "method", required_argument, NULL, 'm' },
		{ "resident", required_argument, NULL, 'r' },
		{ "demo", no_argument, NULL, 'D' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};

	*is_done = true;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'c':
			if (!parse_number(optarg, 1, 100000, &settings.concurrency))
				return refuse("--concurrency is from 1 to 100000", optarg);
			break;
		case 't':
			if (!parse_seconds(optarg, &settings.timeout))
				return refuse("--timeout is 0, or from 0.001 to 1000000 seconds",
					      optarg);
			settings.has_timeout = true;
			break;
		case 'd':
			if (!parse_number(optarg, 0, 3600000, &settings.delay))
				return refuse("--delay is from 0 to 3600000 ms", optarg);
			break;
		case 'n':
			if (!parse_number(optarg, 1, MOST_CHECKS, &settings.repeat))
				return refuse("--repeat is from 1 to 100000000", optarg);
			break;
		case 'R':
			if (!parse_number(optarg, 1, 1000, &settings.rounds))
				return refuse("--rounds is from 1 to 1000", optarg);
			break;
		case 'm':
			settings.method = optarg;
			if (!is_method(optarg))
				return refuse("no such method", optarg);
			break;
		case 'r':
			if (!parse_number(optarg, 1, 1L << 20, &settings.resident))
				return refuse("--resident is from 1 to 1048576 MiB", optarg);
			break;
		case 'D':
			settings.is_demo = true;
			break;
		case 'v':
			settings.verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	if (argc - optind > (settings.is_demo ? 0 : 1))
		return refuse("one list only", argv[argc - 1]);
	if (settings.is_demo && !settings.has_timeout)
		settings.timeout = 1;
	*is_done = false;
	return 0;
}

static bool read_list(struct list *list, const char *name)
{
	if (settings.is_demo)
		return list_demo(list);
	if (!name && isatty(0)) {
		refuse("no list", "FILE, - for standard input, or --demo");
		return false;
	}
	bool is_input = !name || !strcmp(name, "-");
	FILE *file = is_input ? stdin : fopen(name, "re");
	if (!file) {
		fprintf(stderr, "poller: %s: %s\n", name, strerror(errno));
		return false;
	}
	bool is_read = list_read(list, file, is_input ? "standard input" : name);
	if (!is_input)
		fclose(file);
	if (is_read && !list->count) {
		fprintf(stderr, "poller: %s: no check in it\n", is_input ? "standard input" : name);
		return false;
	}
	if (list->count > MOST_CHECKS / (size_t)settings.repeat) {
		fprintf(stderr, "poller: --repeat %ld of %zu checks: more than %d\n",
			settings.repeat, list->count, MOST_CHECKS);
		return false;
	}
	return is_read;
}

/* True if the system supports what the loop needs. */
static bool is_able(void)
{
	int pidfd = psys_pidfd_open(getpid(), 0);

	if (pidfd < 0) {
		fprintf(stderr, "poller: this kernel has no pidfd (Linux 5.3): %s\n",
			strerror(-pidfd));
		return false;
	}
	close(pidfd);
	return resources_descriptors((size_t)settings.concurrency);
}

static bool is_chosen(const struct method *method)
{
	return !strcmp(settings.method, "all") || !strcmp(settings.method, method->name);
}

/* Runs each method's share of the checks in turn. Returns false if the loop could not begin. */
static bool run_rounds(struct job *job, struct result results[METHODS])
{
	for (long round = 1; round <= settings.rounds; round++)
		for (size_t i = 0; i < METHODS && !interrupt_signal(); i++) {
			if (!is_chosen(&methods[i]))
				continue;
			job->method = &methods[i];
			job->until = results[i].planned * (size_t)round / (size_t)settings.rounds;
			if (!loop_run(job, &results[i]))
				return false;
		}
	return true;
}

/* Returns 0 if all checks ran to their end, 1 if not, 2 if the loop could not begin. */
static int run(const struct list *list)
{
	struct result results[METHODS] = { 0 }, chosen[METHODS];
	size_t count = 0;
	int status = 0;
	struct job job = {
		.list = list,
		.concurrency = (size_t)settings.concurrency,
		.timeout = (uint64_t)(settings.timeout * 1e9),
		.delay = (uint64_t)settings.delay * 1000000,
		.interrupt = interrupt_open(),
		.verbose = settings.verbose,
		.show_progress = isatty(2) && !settings.verbose,
	};

	if (job.interrupt < 0) {
		perror("poller: the signals");
		return 2;
	}
	for (size_t i = 0; i < METHODS; i++)
		if (is_chosen(&methods[i]) && !result_begin(&results[i], methods[i].name,
							    list->count * (size_t)settings.repeat)) {
			perror("poller: the times of the checks");
			status = 2;
		}
	if (!status && !run_rounds(&job, results))
		status = 2;
	for (size_t i = 0; i < METHODS; i++)
		if (is_chosen(&methods[i]))
			chosen[count++] = results[i];
	for (size_t i = 0; i < count && !status; i++)
		status = !result_is_complete(&chosen[i]);
	if (status < 2)
		result_print(chosen, count);
	for (size_t i = 0; i < METHODS; i++)
		result_free(&results[i]);
	close(job.interrupt);
	if (interrupt_signal())
		printf("ended by signal %d, %s\n", interrupt_signal(),
		       strsignal(interrupt_signal()));
	return interrupt_signal() ? 1 : status;
}

int main(int argc, char **argv)
{
	struct list list = { 0 };
	bool is_done;

	int status = parse_options(argc, argv, &is_done);
	if (is_done)
		return status;
	status = 2;
	if (read_list(&list, argv[optind]) && is_able() &&
	    (!settings.resident || resources_memory(settings.resident)))
		status = run(&list);
	list_free(&list);
	if (fflush(stdout) != 0) {
		perror("poller: the report");
		status = 1;
	}
	return status;
}
