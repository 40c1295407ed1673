/* SPDX-License-Identifier: MIT */
/*
 * Submits jobs and prepared commands of random sizes, with wild tickets. A job stays within its
 * place in the queue's memory, or is refused. No server takes the jobs.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <sys/socket.h>
#include <unistd.h>

#include "../../../aspawn/action/action_info.c"
#include "../../../aspawn/caller/arena.c"
#include "../../../aspawn/caller/start.c"
#include "../../../aspawn/caller/environment.c"
#include "../../../aspawn/queue/descriptors.c"
#include "../../../aspawn/queue/submit.c"
#include "../../../syscall/exec.c"
#include "../../../syscall/string.c"
#include "actions.h"

/* The first place is always taken: the second place ends with the memory. */
enum { PLACES_HERE = 2, UNIT = 32, LINE = 64 };

/* Longer than a place: what is too long is refused, and not read. */
static char job_input[UINT8_MAX * UNIT + LINE];
static struct aspawn_queue queue;
static const struct job *place;

static bool is_in_place(const void *pointer, size_t size)
{
	const char *at = pointer, *begin = (const char *)(place + 1);

	return at >= begin && at + size <= (const char *)place + queue.stride;
}

static void check_strings(char *const *copies, char *const *strings)
{
	for (; *strings; copies++, strings++)
		check(*copies && is_in_place(*copies, strlen(*copies) + 1) &&
			      !strcmp(*copies, *strings),
		      "another string");
	check(!*copies, "too many strings");
}

static void check_copy(const struct aspawn_action *copy, const struct aspawn_action *action)
{
	size_t at, size;

	check(copy->kind == action->kind && copy->flags == action->flags, "another action");
	for (int i = 0; (at = aspw_pointer_of(action, i, &size)); i++) {
		const void *to = member_pointer(copy, at), *from = member_pointer(action, at);
		if (size == IS_STRING)
			size = from ? strlen(from) + 1 : 0;
		check(!size || (is_in_place(to, size) && !memcmp(to, from, size)),
		      "another operand");
	}
}

static void check_command(const struct aspawn_command *command, char *const *argv)
{
	const struct aspawn_command *copy = &place->command;

	check(is_in_place(copy->file, 1) && !strcmp(copy->file, command->file), "another file");
	check_strings(copy->argv, argv);
	for (size_t i = 0; i < command->action_count; i++)
		check_copy(&copy->actions[i], &command->actions[i]);
}

static void check_job(const struct aspawn_job *job)
{
	check(place->state == JOB_QUEUED && queue.submitted == place, "it is not submitted");
	check(!job->input_size || (is_in_place(place->input, job->input_size) &&
				   !memcmp(place->input, job->input, job->input_size)),
	      "another input");
	check(!job->out_size || is_in_place(place->outputs[0].data, job->out_size),
	      "output goes elsewhere");
	check(!job->err_size || is_in_place(place->outputs[1].data, job->err_size),
	      "errors go elsewhere");
}

static void begin(char *memory_of_jobs, size_t stride)
{
	static uint32_t mark = QUEUE_MAGIC, taken;

	memset(&queue, 0, sizeof queue);
	taken = 1;
	queue.mark = &mark;
	queue.taken = &taken;
	queue.bits = 1;
	queue.capacity = PLACES_HERE;
	queue.stride = stride;
	queue.jobs = memory_of_jobs;
	queue.events = 1;
	queue.wake = queue.notify = queue.epoll = -1;
	place = queue_job(&queue, 1);
}

static size_t next_size(struct input *input, size_t most)
{
	const uint64_t size = next_number(input);

	return size < 200 ? (size_t)(size * most / 40) : (size_t)size;
}

static void use_tickets(struct input *input, int64_t ticket)
{
	const int64_t wild = ticket ^ (int64_t)next_number(input);

	if (wild == ticket)
		return;
	check(aspawn_queue_cancel(&queue, wild) == -PSYS_ESRCH, "a wild ticket is cancelled");
	check(aspawn_queue_release_prepared(&queue, wild) == -PSYS_EINVAL,
	      "a wild ticket is released");
}

static void submit(struct input *input, struct aspawn_job *job, struct lines *arguments)
{
	struct aspawn_failure failure;
	const struct aspawn_command *command = job->command;
	const bool prepares = next_byte(input) % 2;

	if (prepares) {
		const int64_t prepared = aspawn_queue_prepare(&queue, command, &failure);
		if (prepared < 0)
			return;
		check_command(command, command->argv);
		use_tickets(input, prepared);
		check(aspawn_queue_release_prepared(&queue, prepared) == 0, "it is not released");
	}
	const int64_t ticket = aspawn_queue_submit(&queue, job, &failure);
	if (ticket < 0) {
		check(queue.taken[0] == 1, "its place is not free");
		return;
	}
	check_command(command, arguments->list);
	check_job(job);
	use_tickets(input, ticket);
	check(aspawn_queue_cancel(&queue, ticket) == 0, "it is not cancelled");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct aspawn_action actions[MOST_ACTIONS_HERE];
	struct lines arguments, variables;
	int ends[2] = { -1, -1 };

	memset(job_input, 'i', sizeof job_input);
	next_lines(&arguments, &input);
	next_lines(&variables, &input);
	const size_t stride = (sizeof(struct job) + UNIT * (size_t)next_byte(&input) + LINE - 1) &
			      ~(size_t)(LINE - 1);
	char *jobs = aligned_alloc(LINE, PLACES_HERE * stride);
	check(jobs, "no memory");
	memset(jobs, 0, PLACES_HERE * stride);
	begin(jobs, stride);
	queue.is_local = next_byte(&input) % 2;
	if (!queue.is_local && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
		queue.life = ends[1];

	struct aspawn_command command = {
		.size = sizeof command,
		.file = "file",
		.argv = arguments.list,
		.envp = variables.list,
		.actions = actions,
	};
	struct aspawn_job job = {
		.size = sizeof job,
		.command = &command,
		.input = job_input,
		.input_size = next_size(&input, sizeof job_input / 4),
		.out_size = next_size(&input, 1000),
	};
	job.err_size = next_size(&input, 1000);
	for (int i = next_byte(&input) % MOST_ACTIONS_HERE; i > 0; i--) {
		int unused;
		actions[command.action_count] = next_action(&input, &unused);
		command.action_count += aspw_check_action(&actions[command.action_count]) == 0;
	}
	submit(&input, &job, &arguments);
	close(ends[0]);
	close(ends[1]);
	free(jobs);
	free_lines(&arguments);
	free_lines(&variables);
	return 0;
}
