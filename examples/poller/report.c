/* SPDX-License-Identifier: MIT */
/* See poller.h. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <wchar.h>

#include "poller.h"

static const char *const names[OUTCOMES] = { "ok",     "warning", "critical", "unknown", "exited",
					     "signal", "timeout", "no-start", "stopped", "lost" };

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static enum outcome outcome_of(const struct aspawn_result *result)
{
	static const enum outcome of_end[] = { [ASPAWN_OUTCOME_NOT_STARTED] = NOT_STARTED,
					       [ASPAWN_OUTCOME_TIMED_OUT] = TIMED_OUT,
					       [ASPAWN_OUTCOME_CANCELLED] = STOPPED,
					       [ASPAWN_OUTCOME_LOST] = LOST };
	const int status = result->status;

	if (result->outcome != ASPAWN_OUTCOME_RAN)
		return of_end[result->outcome];
	if (WIFSIGNALED(status))
		return SIGNALLED;
	return WEXITSTATUS(status) <= UNKNOWN ? (enum outcome)WEXITSTATUS(status) : EXITED;
}

/* The exit status or the signal; -1: none. */
static int number_of(int status)
{
	return status == -1 ? -1 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void json_string(FILE *to, const char *text, size_t size)
{
	mbstate_t state = { 0 };

	fputc('"', to);
	for (size_t at = 0, length; at < size; at += length ? length : 1) {
		wchar_t c = 0;
		length = mbrtowc(&c, text + at, size - at, &state);
		if (length > size) { /* invalid, or cut */
			c = 0xfffd;
			length = 1;
			memset(&state, 0, sizeof state);
		}
		if (c < ' ' || c == '"' || c == '\\' || c == 0xfffd)
			fprintf(to, "\\u%04x", (unsigned)c);
		else
			fwrite(text + at, 1, length, to);
	}
	fputc('"', to);
}

static double seconds_of(const struct aspawn_result *result)
{
	return result->started_ns ? (double)(result->ended_ns - result->started_ns) * 1e-9 : 0;
}

/* Returns the output, or why the check could not be started. */
static const char *text_of(const struct aspawn_result *result, char why[320], size_t *size)
{
	*size = result->outcome == ASPAWN_OUTCOME_NOT_STARTED ?
			aspawn_failure_text(why, 320, &result->failure) :
			result->out_length;
	return result->outcome == ASPAWN_OUTCOME_NOT_STARTED ? why : result->out;
}

void result_json(FILE *to, const struct aspawn_result *result)
{
	char why[320];
	size_t size;
	const char *text = text_of(result, why, &size);

	fprintf(to, "\"outcome\":\"%s\",\"%s\":%d,\"seconds\":%.6f,\"bytes\":%llu,\"output\":",
		names[outcome_of(result)],
		result->status != -1 && WIFSIGNALED(result->status) ? "signal" : "status",
		number_of(result->status), seconds_of(result),
		(unsigned long long)result->out_total);
	json_string(to, text, size);
}

static void print(const struct check *check, const struct aspawn_result *result)
{
	char why[320];
	size_t size;
	const char *text = text_of(result, why, &size);

	printf("%s: %s %d, line %zu, %.3f s\n", check->label, names[outcome_of(result)],
	       number_of(result->status), check->line, seconds_of(result));
	for (size_t i = 0; i < size; i++) {
		if (!i || text[i - 1] == '\n')
			printf("%s| ", check->label);
		/* No control character, which a terminal would obey. */
		const unsigned char c = (unsigned char)text[i];
		putchar(c == '\n' || c == '\t' || (c >= ' ' && c != 127) ? c : ' ');
	}
	if (size && text[size - 1] != '\n')
		putchar('\n');
}

void report_add(struct report *report, const struct check *check, const struct aspawn_result *result)
{
	const enum outcome outcome = outcome_of(result);

	report->ended++;
	report->outcomes[outcome]++;
	if (report->style == JSON) {
		printf("{\"line\":%zu,\"name\":", check->line);
		json_string(stdout, check->label, strlen(check->label));
		putchar(',');
		result_json(stdout, result);
		puts("}");
	} else if (report->style == OUTPUT || outcome == NOT_STARTED) {
		print(check, result);
	}
}

void report_progress(struct report *report)
{
	static const char bar[] = "##############################";
	static double last;
	const size_t ended = report->ended, planned = report->planned;
	const double seconds = now() - report->started, rate = (double)ended / seconds;

	if (!report->shows_progress || seconds - last < 0.1)
		return;
	last = seconds;
	fprintf(stderr, "\r[%-30.*s] %zu of %zu, %.0f/s, %.0f s left \033[K",
		(int)(30 * ended / planned), bar, ended, planned, rate,
		rate > 0 ? (double)(planned - ended) / rate : 0);
}

void report_print(struct report *report)
{
	const double seconds = now() - report->started;

	if (report->shows_progress)
		fputs("\r\033[K", stderr);
	if (report->style == JSON)
		return;
	printf("%zu of %zu checks, %.2f s, %.0f a second\n", report->ended, report->planned,
	       seconds, (double)report->ended / seconds);
	for (size_t i = 0; i < OUTCOMES; i++)
		if (report->outcomes[i])
			printf("%9zu %s\n", report->outcomes[i], names[i]);
}
