/* SPDX-License-Identifier: MIT */
/*
 * Gives the caller a child's report. A process forked by the caller, or a child that went wrong,
 * may have written the report. The caller reads the report from a pipe, from the page of an
 * exec_watch, or from the child's stack: the first byte says from which. The same input is a
 * subject for the child to shorten.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <fcntl.h>
#include <unistd.h>

#include "../../../aspawn/action/action_info.c"
#include "../../../aspawn/caller/handle.c"
#include "../../../aspawn/child/execute.c"
#include "../../../aspawn/caller/text.c"
#include "../../../syscall/kernel_file.c"
#include "../../../syscall/string.c"

/* Returns the end to read. */
static int report_by_pipe(const struct input *input)
{
	const size_t size = input->size < 4096 ? input->size : 4096;
	int ends[2];

	check(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], input->data, size) == (ssize_t)size,
	      "no pipe");
	close(ends[1]);
	return ends[0];
}

static struct exec_watch *report_by_page(const struct input *input)
{
	struct exec_watch *watch = aspw_watch_map(NULL, WATCH_SHARED, -1, 0);

	check(watch, "no page");
	memset(watch->report, 0x55, sizeof watch->report); /* no NUL is left of zeros */
	memcpy(watch->report, input->data,
	       input->size < sizeof watch->report ? input->size : sizeof watch->report);
	watch->word = PSYS_FUTEX_OWNER_DIED;
	return watch;
}

/* The caller believes its own pointer to the command. */
static struct prepared *report_on_stack(const struct input *input, struct Stack_t *stack, int pid)
{
	struct prepared *prepared = exact(NULL, sizeof *prepared);

	memset(prepared, 0x55, sizeof *prepared);
	memcpy(&prepared->in_memory, input->data,
	       input->size < sizeof prepared->in_memory ? input->size : sizeof prepared->in_memory);
	check(aspw_stack_reserve(stack, 4096, 0) == 0, "no stack");
	stack_state(stack)->begun.pid = pid;
	*(void **)(uintptr_t)&stack_control(stack)->request.user_data = prepared;
	return prepared;
}

static void check_failure(const struct aspawn_failure *failure)
{
	char text[256];

	check(memchr(failure->subject, '\0', sizeof failure->subject), "a subject without an end");
	check(aspawn_failure_text(text, sizeof text, failure) <= 255, "a text that is too long");
}

static void read_report(struct input *input)
{
	const uint8_t kind = next_byte(input) % 3;
	struct aspawn_child *child = exact(NULL, sizeof *child);
	struct child_state *state = child_state(child);
	struct prepared *prepared = NULL;
	struct aspawn_failure first, again;

	memset(child, 0, sizeof *child);
	child->ended_fd = child->started_fd = -1;
	state->report = state->child_pidfd = -1;
	state->pid = getpid();
	state->copied = kind < 2;
	if (kind == 0)
		state->report = report_by_pipe(input);
	else if (kind == 1)
		state->watch = report_by_page(input);
	else
		prepared = report_on_stack(input, &state->stack, state->pid);
	const int r = aspawn_wait_started(child, &first, 0);
	check(r == 0 || r == -PSYS_ECANCELED, "no answer");
	check_failure(&first);
	check(aspawn_wait_started(child, &again, 0) == r, "another answer");
	check_failure(&again);
	const size_t length = strlen(first.subject), most = sizeof state->subject - 1;
	check(!strcmp(again.subject, first.subject + (length > most ? length - most : 0)),
	      "another subject");
	check(state->report < 0 && !state->watch && !state->stack.addr, "something is left");
	free(prepared);
	free(child);
}

/* Only the child calls the function. */
static void write_report(struct input *input)
{
	char *subject = next_line(input);
	const size_t length = strlen(subject),
		     most = sizeof((struct aspawn_failure *)0)->subject - 1;
	struct aspawn_failure *report = exact(NULL, sizeof *report);
	struct prepared *prepared = exact(NULL, sizeof *prepared);

	prepared->report = report;
	aspw_store_report(prepared, -PSYS_ENOENT, subject);
	check(!strcmp(report->subject, subject + (length > most ? length - most : 0)),
	      "another end of the subject");
	free(subject);
	free(report);
	free(prepared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	read_report(&input);
	input = (struct input){ data, size };
	write_report(&input);
	return 0;
}
