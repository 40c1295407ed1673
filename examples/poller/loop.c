/* SPDX-License-Identifier: MIT */
/*
 * One thread, one epoll. A check has two descriptors in epoll: the pipe of its output, which is read
 * so that it does not fill up, and its pidfd, which shows that the check has ended. The end of the
 * pipe does not show that: a check may close the pipe early, and a grandchild may hold it longer.
 */
#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
	KEPT = 160,       /* bytes of the first line */
	START_BATCH = 16, /* starts before running checks are served */
	EVENT_BATCH = 64,
};
#define NEVER UINT64_MAX
static const uint64_t interrupted = UINT64_MAX, millisecond = 1000000;

enum source { OUTPUT, END };

struct slot {
	const struct check *check; /* NULL: free */
	struct slot *next_free;
	struct running running;
	uint64_t begun, deadline;
	enum outcome forced; /* TIMED_OUT, STOPPED, NOT_STARTED: why it was killed; else OK */
	bool is_watched[2];
	bool has_line;
	size_t length;
	char text[KEPT];
};

struct loop {
	const struct job *job;
	struct result *result;
	struct slot *slots, *free;
	int epoll;
	size_t begun, running;
	bool is_stopping;
	uint64_t next_start, next_progress;
	uint64_t next_deadline; /* the earliest deadline, or a time before it */
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---------------------------------------------------------------- descriptors */

static int descriptor(const struct slot *slot, enum source source)
{
	return source == OUTPUT ? slot->running.output : slot->running.pidfd;
}

static bool watch(struct loop *loop, struct slot *slot, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.u64 = (uint64_t)(slot - loop->slots) * 2 + source;
	slot->is_watched[source] =
		epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor(slot, source), &event) == 0;
	return slot->is_watched[source];
}

/* Removes a descriptor from epoll before it is closed. The close does not remove it if a child that
 * has not executed its program yet has a copy. */
static void unwatch(struct loop *loop, struct slot *slot, enum source source)
{
	if (slot->is_watched[source])
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor(slot, source), NULL);
	slot->is_watched[source] = false;
}

static void close_output(struct loop *loop, struct slot *slot)
{
	unwatch(loop, slot, OUTPUT);
	methods_close_output(&slot->running);
}

/* --------------------------------------------------------------------- output */

/* Keeps the first line, without control characters. */
static void keep(struct slot *slot, const char *text, size_t length)
{
	for (size_t i = 0; i < length && !slot->has_line; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c != '\n' && slot->length < KEPT - 1)
			slot->text[slot->length++] = (char)(c < ' ' || c == 127 ? ' ' : c);
		slot->has_line = c == '\n' || slot->length == KEPT - 1;
	}
}

/* Returns true if there may be more to read at once. */
static bool read_output(struct loop *loop, struct slot *slot)
{
	static char text[65536];
	ssize_t length = methods_read(&slot->running, text, sizeof text);

	if (slot->running.pidfd >= 0 && !slot->is_watched[END]) { /* known by now */
		watch(loop, slot, END);
		if (slot->forced)
			methods_kill(loop->job->method, &slot->running);
	}
	if (length > 0)
		keep(slot, text, (size_t)length);
	else if (length == 0 || (errno != EAGAIN && errno != EINTR))
		close_output(loop, slot);
	return length > 0;
}

/* ---------------------------------------------------------------- end of a check */

static void record(struct loop *loop, const struct check *check, enum outcome outcome, int status,
		   uint64_t latency, const char *text)
{
	struct result *result = loop->result;

	result->ended++;
	result->outcomes[outcome]++;
	if (outcome == SIGNALLED)
		result->signals[WTERMSIG(status)]++;
	if (outcome == NOT_STARTED)
		result_not_started(result, text, check->line);
	else
		result->latencies[result->latency_count++] = latency;
	if (loop->job->verbose)
		result_print_check(loop->job->method->name, check->line, check->words[0], outcome,
				   status, latency, text);
}

/* Called when the check has ended. */
static void finish(struct loop *loop, struct slot *slot)
{
	const struct method *method = loop->job->method;
	enum outcome outcome = slot->forced;
	char why[REASON] = "";
	int status = 0;

	/* Read the rest of the first line from the pipe. */
	while (slot->running.output >= 0 && !slot->has_line && read_output(loop, slot))
		;
	close_output(loop, slot);
	unwatch(loop, slot, END);
	if (slot->forced)
		methods_kill(method, &slot->running);
	bool ran = method->finish(&slot->running, &status, why) == 0;
	if (!slot->forced)
		outcome = ran ? result_outcome(status) : NOT_STARTED;
	slot->text[slot->length] = '\0';
	record(loop, slot->check, outcome, status, now() - slot->begun,
	       ran || slot->forced ? slot->text : why);
	slot->check = NULL;
	slot->next_free = loop->free;
	loop->free = slot;
	loop->running--;
}

static void end(struct loop *loop, struct slot *slot, enum outcome why)
{
	slot->forced = why;
	slot->deadline = NEVER;
	methods_kill(loop->job->method, &slot->running);
}

/* --------------------------------------------------------------- start of a check */

static bool may_start(const struct loop *loop)
{
	return !loop->is_stopping && loop->begun < loop->job->until;
}

static void start(struct loop *loop)
{
	const struct job *job = loop->job;
	const struct check *check = &job->list->checks[loop->begun++ % job->list->count];
	struct slot *slot = loop->free;
	char why[REASON];

	const uint64_t begun = now();
	bool is_started = job->method->start(&slot->running, check->words, why) == 0;
	const uint64_t blocked = now() - begun;

	loop->result->starts[loop->result->start_count++] = blocked;
	loop->next_start = begun + blocked + job->delay;
	if (!is_started) {
		record(loop, check, NOT_STARTED, 0, 0, why);
		return;
	}
	loop->free = slot->next_free;
	loop->running++;
	slot->check = check;
	slot->begun = begun;
	slot->deadline = job->timeout ? begun + job->timeout : NEVER;
	slot->forced = OK;
	slot->has_line = false;
	slot->length = 0;
	if (slot->deadline < loop->next_deadline)
		loop->next_deadline = slot->deadline;
	if (!watch(loop, slot, OUTPUT) || (slot->running.pidfd >= 0 && !watch(loop, slot, END))) {
		/* Without epoll the loop would not learn of the check's end. */
		slot->length = (size_t)snprintf(slot->text, KEPT, "epoll_ctl: %s", strerror(errno));
		slot->has_line = true;
		end(loop, slot, NOT_STARTED);
		finish(loop, slot);
	}
}

/* ------------------------------------------------------------------------ the loop */

static void stop(struct loop *loop)
{
	loop->is_stopping = true;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, loop->job->interrupt, NULL);
	for (size_t i = 0; i < loop->job->concurrency; i++)
		if (loop->slots[i].check)
			end(loop, &loop->slots[i], STOPPED);
}

static void end_late(struct loop *loop, uint64_t time)
{
	if (time < loop->next_deadline)
		return;
	loop->next_deadline = NEVER;
	for (size_t i = 0; i < loop->job->concurrency; i++) {
		struct slot *slot = &loop->slots[i];
		if (!slot->check)
			continue;
		if (slot->deadline <= time)
			end(loop, slot, TIMED_OUT);
		if (slot->deadline < loop->next_deadline)
			loop->next_deadline = slot->deadline;
	}
}

static void handle(struct loop *loop, uint64_t which)
{
	if (which == interrupted) {
		stop(loop);
		return;
	}
	struct slot *slot = &loop->slots[which / 2];
	if (!slot->check) /* it was finished in the same batch */
		return;
	if (which % 2 == END) {
		finish(loop, slot);
		return;
	}
	read_output(loop, slot);
	if (slot->running.output < 0 && !slot->is_watched[END]) /* popen: the pid is not known */
		finish(loop, slot);
}

/* Returns the milliseconds until the next timer; -1: there is none. */
static int patience(const struct loop *loop, uint64_t time)
{
	uint64_t until = loop->running ? loop->next_deadline : NEVER;

	if (may_start(loop) && loop->free && loop->next_start < until)
		until = loop->next_start;
	if (until == NEVER)
		return -1;
	if (until <= time)
		return 0;
	uint64_t left = (until - time + millisecond - 1) / millisecond;
	return left < 1000000 ? (int)left : 1000000;
}

static void show_progress(struct loop *loop, uint64_t time)
{
	if (!loop->job->show_progress || time < loop->next_progress)
		return;
	loop->next_progress = time + 100 * millisecond;
	fprintf(stderr, "\r%-12s %zu of %zu checks, %zu running ", loop->job->method->name,
		loop->result->ended, loop->result->planned, loop->running);
}

static void loop_over(struct loop *loop)
{
	struct epoll_event events[EVENT_BATCH];

	while (loop->running || may_start(loop)) {
		for (int i = 0;
		     i < START_BATCH && may_start(loop) && loop->free && now() >= loop->next_start;
		     i++)
			start(loop);
		int count = epoll_wait(loop->epoll, events, EVENT_BATCH, patience(loop, now()));
		for (int i = 0; i < count; i++)
			handle(loop, events[i].data.u64);
		const uint64_t time = now();
		end_late(loop, time);
		show_progress(loop, time);
	}
	if (loop->job->show_progress)
		fprintf(stderr, "\r%*s\r", 70, "");
}

static bool prepare(struct loop *loop)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = interrupted };

	loop->slots = calloc(loop->job->concurrency, sizeof *loop->slots);
	if (!loop->slots)
		return false;
	for (size_t i = loop->job->concurrency; i-- > 0;) {
		loop->slots[i].next_free = loop->free;
		loop->free = &loop->slots[i];
	}
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll >= 0 &&
	       epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->job->interrupt, &event) == 0;
}

bool loop_run(const struct job *job, struct result *result)
{
	struct loop loop = { .job = job, .result = result, .epoll = -1, .next_deadline = NEVER };
	loop.begun = result->start_count; /* of the rounds before */
	bool is_prepared = prepare(&loop);
	const uint64_t begun = now();

	if (is_prepared)
		loop_over(&loop);
	else
		perror("poller: the event loop");
	result->duration += now() - begun;
	free(loop.slots);
	if (loop.epoll >= 0)
		close(loop.epoll);
	return is_prepared;
}
