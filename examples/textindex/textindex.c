/* SPDX-License-Identifier: MIT */
/*
 * An indexer's inner loop: walks directories of documents, runs a filter on each, from several
 * threads, and counts the words of the filter's output. --method all compares the ways to start a
 * filter.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "methods.h"

enum { METHODS = 5, MAX_ROUNDS = 100 };

static struct settings {
	const char *method;
	long threads, limit, resident, rounds;
} settings = { .method = "aspawn", .rounds = 1 };

/* -------------------------------------------------------------- the documents */

static struct documents {
	char **paths;
	size_t count, room;
} documents;

static int add_document(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type != FTW_F || !S_ISREG(stat->st_mode))
		return 0;
	if (settings.limit && documents.count == (size_t)settings.limit)
		return 1; /* enough */
	if (documents.count == documents.room) {
		size_t room = documents.room ? 2 * documents.room : 1024;
		char **paths = realloc(documents.paths, room * sizeof *paths);
		if (!paths)
			return -1;
		documents.paths = paths;
		documents.room = room;
	}
	documents.paths[documents.count] = strdup(path);
	return documents.paths[documents.count++] ? 0 : -1;
}

static int find_documents(char *const directories[])
{
	for (; *directories; directories++)
		if (nftw(*directories, add_document, 64, FTW_PHYS) < 0) {
			fprintf(stderr, "textindex: %s: %s\n", *directories, strerror(errno));
			return -1;
		}
	return 0;
}

/* ------------------------------------------------------------------- a pass */

struct totals {
	size_t documents, words, failed;
	int first_error; /* an error number, or -1: a filter failed */
	double seconds;
};

static struct pass {
	const struct method *method;
	size_t next; /* the first document that no thread has taken */
	struct totals totals;
	pthread_mutex_t lock;
} pass;

static char *const *filter_for(const char *path)
{
	static char *const gzip[] = { "gzip", "-dc", NULL }, *const cat[] = { "cat", NULL };
	size_t length = strlen(path);

	return length > 3 && !strcmp(path + length - 3, ".gz") ? gzip : cat;
}

/* Returns the number of words read from fd until its end. */
static size_t count_words(int fd)
{
	static _Thread_local unsigned char text[65536];
	size_t words = 0;
	bool inside = false;

	for (;;) {
		ssize_t length = read(fd, text, sizeof text);
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return words;
		for (ssize_t i = 0; i < length; i++) {
			bool space = isspace(text[i]);
			words += !space && !inside;
			inside = !space;
		}
	}
}

static void *work(void *arg)
{
	struct running running = { 0 };

	for (;;) {
		size_t i = __atomic_fetch_add(&pass.next, 1, __ATOMIC_RELAXED), words = 0;
		if (i >= documents.count)
			break;
		int error = pass.method->start(&running, filter_for(documents.paths[i]),
					       documents.paths[i]);
		if (!error) {
			words = count_words(running.output);
			error = pass.method->finish(&running);
		}
		pthread_mutex_lock(&pass.lock);
		pass.totals.documents++;
		pass.totals.words += words;
		pass.totals.failed += error != 0;
		if (!pass.totals.first_error)
			pass.totals.first_error = error;
		pthread_mutex_unlock(&pass.lock);
	}
	return arg;
}

static double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct totals run_pass(const struct method *method)
{
	pthread_t threads[256];
	long started = 0;
	double begin = seconds_now();

	pass = (struct pass){ .method = method, .lock = PTHREAD_MUTEX_INITIALIZER };
	while (started < settings.threads &&
	       pthread_create(&threads[started], NULL, work, NULL) == 0)
		started++;
	if (!started) /* no thread could be started: work here */
		work(NULL);
	for (long i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pass.totals.seconds = seconds_now() - begin;
	return pass.totals;
}

/* ------------------------------------------------------------------ the report */

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. */
static double median(double values[], long count)
{
	qsort(values, (size_t)count, sizeof *values, compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void print_row(const char *name, const struct totals *totals, double seconds, double ratio)
{
	printf("%-12s %10zu %12zu %8zu %9.2f %10.0f", name, totals->documents, totals->words,
	       totals->failed, seconds, (double)totals->documents / seconds);
	if (ratio)
		printf(" %8.2f", ratio);
	printf("\n");
}

static double seconds[METHODS][MAX_ROUNDS]; /* of each method */

static bool is_chosen(size_t method)
{
	return !strcmp(settings.method, "all") || !strcmp(settings.method, methods[method].name);
}

/* Each method in turn, so that what changes on the machine is in the times of all. False
 * if a method counted otherwise than the first. */
static bool run_rounds(struct totals totals[])
{
	const struct totals *first = NULL;
	bool is_same = true;

	for (long round = 0; round < settings.rounds; round++)
		for (size_t i = 0; i < method_count; i++) {
			if (!is_chosen(i))
				continue;
			totals[i] = run_pass(&methods[i]);
			seconds[i][round] = totals[i].seconds;
			if (!first)
				first = &totals[i];
			is_same &= totals[i].words == first->words;
		}
	return is_same;
}

/* Returns 0, or 1 if a method's counts differ from those of the first. */
static int run(void)
{
	struct totals totals[METHODS] = { 0 };
	const struct totals *first = NULL;
	const bool all = !strcmp(settings.method, "all");
	double ratios[METHODS][MAX_ROUNDS];

	if (all) /* warm up: otherwise only the first method would read the documents from disk */
		run_pass(&methods[0]);
	bool is_same = run_rounds(totals);
	printf("%-12s %10s %12s %8s %9s %10s %8s\n", "method", "documents", "words", "failed",
	       "seconds", "spawns/s", all ? "ratio" : "");
	for (size_t i = 0; i < method_count; i++)
		for (long round = 0; round < settings.rounds; round++)
			ratios[i][round] = all ? seconds[i][round] / seconds[0][round] : 0;
	for (size_t i = 0; i < method_count; i++) {
		if (!is_chosen(i))
			continue;
		if (!first)
			first = &totals[i];
		print_row(methods[i].name, &totals[i], median(seconds[i], settings.rounds),
			  median(ratios[i], settings.rounds));
	}
	if (all && settings.rounds > 1)
		for (size_t i = 1; i < method_count; i++)
			printf("=> %s takes %.2f times the time of %s (rounds: %.2f to %.2f)\n",
			       methods[i].name, median(ratios[i], settings.rounds), methods[0].name,
			       ratios[i][0], ratios[i][settings.rounds - 1]);
	if (first->failed)
		printf("%zu documents failed, the first: %s\n", first->failed,
		       first->first_error < 0 ? "the filter failed" : strerror(first->first_error));
	if (!is_same)
		printf("the word counts differ\n");
	return !is_same || (first->documents && first->failed == first->documents);
}

/* ---------------------------------------------------------------- the command */

static const char usage[] =
	"usage: textindex [option...] [directory...]\n"
	"Counts the words of the documents in directories (/usr/share/doc, /usr/share/man),\n"
	"each read through a filter: gzip -dc for *.gz, else cat.\n"
	"  --method NAME   aspawn (default), posix_spawn, vfork, fork, popen, or all: compare\n"
	"  --rounds N      go over the documents so often, with all the methods in turn: the\n"
	"                  times are medians (1)\n"
	"  --threads N     1 to 256 (default: as many as processors)\n"
	"  --limit N       at most so many documents\n"
	"  --resident MIB  touch so much memory first: what fork has to copy\n";

static int refuse(const char *what, const char *value)
{
	fprintf(stderr, "textindex: %s: %s\n%s", what, value, usage);
	return 2;
}

static bool parse_number(const char *text, long least, long most, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return !errno && *text && !*end && *number >= least && *number <= most;
}

static bool is_method(const char *name)
{
	for (size_t i = 0; i < method_count; i++)
		if (!strcmp(methods[i].name, name))
			return true;
	return !strcmp(name, "all");
}

static int touch_memory(long mebibytes)
{
	size_t size = (size_t)mebibytes << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("textindex: --resident");
		return -1;
	}
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "method", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'R' },
		{ "threads", required_argument, NULL, 't' },
		{ "limit", required_argument, NULL, 'l' },
		{ "resident", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static char *default_directories[] = { "/usr/share/doc", "/usr/share/man", NULL };

	settings.threads = sysconf(_SC_NPROCESSORS_ONLN);
	if (settings.threads < 1 || settings.threads > 256)
		settings.threads = 4;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'm':
			settings.method = optarg;
			if (!is_method(optarg))
				return refuse("no such method", optarg);
			break;
		case 'R':
			if (!parse_number(optarg, 1, MAX_ROUNDS, &settings.rounds))
				return refuse("--rounds is from 1 to 100", optarg);
			break;
		case 't':
			if (!parse_number(optarg, 1, 256, &settings.threads))
				return refuse("not a number of threads", optarg);
			break;
		case 'l':
			if (!parse_number(optarg, 1, 1L << 30, &settings.limit))
				return refuse("not a number of documents", optarg);
			break;
		case 'r':
			if (!parse_number(optarg, 1, 1L << 20, &settings.resident))
				return refuse("not a number of MiB", optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	if (find_documents(optind < argc ? argv + optind : default_directories) < 0)
		return 1;
	printf("%zu documents, %ld threads", documents.count, settings.threads);
	if (settings.resident)
		printf(", %ld MiB touched", settings.resident);
	printf("\n");
	if (settings.resident && touch_memory(settings.resident) < 0)
		return 1;
	return run();
}
