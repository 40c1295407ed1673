/* SPDX-License-Identifier: MIT */
/* See result.h. */
#define _GNU_SOURCE
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *const outcome_names[OUTCOMES] = {
	"ok",     "warning", "critical", "unknown", "exited",
	"signal", "timeout", "no-start", "stopped",
};

bool result_begin(struct result *result, const char *method, size_t planned)
{
	*result = (struct result){ .method = method, .planned = planned };
	result->starts = calloc(planned, sizeof *result->starts);
	result->latencies = calloc(planned, sizeof *result->latencies);
	return result->starts && result->latencies;
}

void result_free(struct result *result)
{
	free(result->starts);
	free(result->latencies);
	*result = (struct result){ 0 };
}

enum outcome result_outcome(int status)
{
	if (WIFSIGNALED(status))
		return SIGNALLED;
	return WEXITSTATUS(status) <= UNKNOWN ? (enum outcome)WEXITSTATUS(status) : EXITED;
}

void result_not_started(struct result *result, const char *why, size_t line)
{
	size_t i = 0;

	while (i < REASONS - 1 && result->reasons[i].count &&
	       strcmp(result->reasons[i].text, why) != 0)
		i++;
	if (!result->reasons[i].count++)
		snprintf(result->reasons[i].text, REASON, "%s",
			 i < REASONS - 1 ? why : "other reasons");
	if (!result->reasons[i].line || line < result->reasons[i].line)
		result->reasons[i].line = line;
}

bool result_is_complete(const struct result *result)
{
	return result->ended == result->planned && !result->outcomes[TIMED_OUT] &&
	       !result->outcomes[NOT_STARTED] && !result->outcomes[STOPPED];
}

/* ------------------------------------------------------------------- a check */

void result_print_check(const char *method, size_t line, const char *program, enum outcome outcome,
			int status, uint64_t latency, const char *text)
{
	char name[32];

	snprintf(name, sizeof name, "%s", outcome_names[outcome]);
	if (outcome == EXITED)
		snprintf(name, sizeof name, "exit %d", WEXITSTATUS(status));
	if (outcome == SIGNALLED)
		snprintf(name, sizeof name, "signal %d", WTERMSIG(status));
	printf("%s line %zu %s %.3f s %s: %s\n", method, line, name, (double)latency * 1e-9,
	       program, text);
}

/* ------------------------------------------------------------------ the tables */

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Returns a percentile of sorted times: the least time that percent of them do not exceed. */
static uint64_t percentile(const uint64_t *times, size_t count, unsigned percent)
{
	return count ? times[(count * percent + 99) / 100 - 1] : 0;
}

/* Prints the ratio to the first method; nothing if there is only one. */
static void print_ratio(double value, double first, size_t count)
{
	if (count > 1 && first > 0)
		printf(" %9.2f", value / first);
	printf("\n");
}

/* Returns how many checks ran at once, on average: a slow start keeps that below the limit. */
static double mean_running(const struct result *result)
{
	double sum = 0;

	for (size_t i = 0; i < result->latency_count; i++)
		sum += (double)result->latencies[i];
	return result->duration ? sum / (double)result->duration : 0;
}

static void print_rates(const struct result results[], size_t count)
{
	printf("%-24s %9s %9s %9s %9s %9s\n", "method", "checks", "at once", "seconds", "checks/s",
	       count > 1 ? "ratio" : "");
	for (size_t i = 0; i < count; i++) {
		const struct result *result = &results[i];
		double seconds = (double)result->duration * 1e-9;

		printf("%-24s %9zu %9.1f %9.2f %9.0f", result->method, result->ended,
		       mean_running(result), seconds,
		       seconds > 0 ? (double)result->ended / seconds : 0);
		print_ratio(seconds, (double)results->duration * 1e-9, count);
	}
}

struct times {
	const uint64_t *of;
	size_t count;
};

static struct times starts_of(const struct result *result)
{
	return (struct times){ result->starts, result->start_count };
}

static struct times latencies_of(const struct result *result)
{
	return (struct times){ result->latencies, result->latency_count };
}

static void print_times(const char *title, struct times (*times_of)(const struct result *),
			double unit, const struct result results[], size_t count)
{
	static const unsigned percents[] = { 50, 90, 99, 100 };
	const struct times first = times_of(results);

	printf("\n%-24s %9s %9s %9s %9s %9s\n", title, "50 %", "90 %", "99 %", "max",
	       count > 1 ? "ratio" : "");
	for (size_t i = 0; i < count; i++) {
		const struct times times = times_of(&results[i]);

		printf("%-24s", results[i].method);
		for (size_t j = 0; j < sizeof percents / sizeof *percents; j++)
			printf(" %9.*f", unit > 1e3 ? 2 : 1,
			       (double)percentile(times.of, times.count, percents[j]) / unit);
		print_ratio((double)percentile(times.of, times.count, 50),
			    (double)percentile(first.of, first.count, 50), count);
	}
}

static void print_outcomes(const struct result results[], size_t count)
{
	printf("\n%-12s", "outcome");
	for (size_t j = 0; j < OUTCOMES; j++)
		printf(" %8s", outcome_names[j]);
	printf("\n");
	for (size_t i = 0; i < count; i++) {
		printf("%-12s", results[i].method);
		for (size_t j = 0; j < OUTCOMES; j++)
			printf(" %8zu", results[i].outcomes[j]);
		printf("\n");
	}
}

static void print_details(const struct result *result)
{
	for (int i = 0; i < SIGNALS; i++)
		if (result->signals[i])
			printf("%s: %zu ended by signal %d, %s\n", result->method,
			       result->signals[i], i, strsignal(i));
	for (size_t i = 0; i < REASONS; i++)
		if (result->reasons[i].count)
			printf("%s: %zu could not be started, %s (first: line %zu)\n",
			       result->method, result->reasons[i].count, result->reasons[i].text,
			       result->reasons[i].line);
	if (result->ended < result->planned)
		printf("%s: %zu of %zu not run\n", result->method, result->planned - result->ended,
		       result->planned);
}

/* What the times show: who blocks the loop for how long. */
static void print_comparison(const struct result results[], size_t count)
{
	const double first = (double)percentile(results->starts, results->start_count, 50);

	if (count < 2 || first <= 0)
		return;
	printf("\n=> A start blocks the loop for %.0f us by %s", first / 1e3, results->method);
	for (size_t i = 1; i < count; i++)
		printf(", %.1f times as long by %s",
		       (double)percentile(results[i].starts, results[i].start_count, 50) / first,
		       results[i].method);
	printf(".\n");
}

void result_print(struct result results[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		qsort(results[i].starts, results[i].start_count, sizeof(uint64_t), compare);
		qsort(results[i].latencies, results[i].latency_count, sizeof(uint64_t), compare);
	}
	print_rates(results, count);
	print_times("start to reaped, ms", latencies_of, 1e6, results, count);
	print_times("start blocks loop, us", starts_of, 1e3, results, count);
	print_outcomes(results, count);
	for (size_t i = 0; i < count; i++)
		print_details(&results[i]);
	print_comparison(results, count);
}
