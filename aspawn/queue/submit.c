/* SPDX-License-Identifier: MIT */
/* Copies a job into the queue's memory, in one pass. No lock is taken, and no system call is made
 * except to send the caller's descriptors. */
#include <syscall/string.h>

#include "../action/action_info.h"
#include "../caller/start.h"
#include "descriptors.h"

enum {
	ALL_JOB_FLAGS = ASPAWN_JOB_TAIL,
	/* The other flags concern the handle, which a job does not have. */
	COMMAND_FLAGS = ASPAWN_COMMAND_SHELL_ON_ENOEXEC | ASPAWN_COMMAND_RELATIVE_TO_CALLER |
			ASPAWN_COMMAND_TREE_OR_GROUP | ASPAWN_COMMAND_INHERIT_SIGNALS,
};

static bool is_null_or_default(int stream)
{
	return stream == ASPAWN_STREAM_NULL || stream == ASPAWN_STREAM_DEFAULT;
}

/* Reads the command of a job as aspw_read_command() reads a command. */
static int read_command_of_job(struct aspawn_command *to, const struct aspawn_command *from,
			       struct aspawn_failure *failure)
{
	const int r = aspw_read_command(to, from, failure);

	if (r < 0)
		return r;
	if (to->memory == ASPAWN_MEMORY_SUSPENDED)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "memory");
	if (!is_null_or_default(to->std_in))
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "std_in");
	if (!is_null_or_default(to->std_out))
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "std_out");
	if (!is_null_or_default(to->std_err) && to->std_err != ASPAWN_STREAM_STDOUT)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "std_err");
	for (size_t i = 0; i < to->action_count; i++)
		if (is_pipe(&to->actions[i]) || makes_tracer(&to->actions[i])) {
			aspw_store_failure(failure, (int)i, -PSYS_EINVAL, to->actions[i].kind, "");
			return -PSYS_EINVAL;
		}
	to->flags &= COMMAND_FLAGS;
	/* Any other job is the server's child, which ends with the server. */
	if (to->owner == ASPAWN_OWNER_TREE)
		to->flags |= ASPAWN_COMMAND_DIES_WITH_CALLER;
	else
		to->owner = ASPAWN_OWNER_CALLER;
	return 0;
}

static int read_job(struct aspawn_job *to, const struct aspawn_job *from,
		    struct aspawn_failure *failure)
{
	if (!from)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job");
	const int r = aspw_read_structure(to, sizeof *to, from, from->size, sizeof *to);
	if (r < 0)
		return aspw_refuse_argument(failure, r, "job.size");
	if (to->flags & ~(uint64_t)ALL_JOB_FLAGS)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.flags");
	if (!to->command == !to->prepared)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.command");
	if (to->argv && !to->prepared)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.argv");
	if (!to->input && to->input_size)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.input");
	if (to->time_limit_ms < 0)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.time_limit_ms");
	if (to->grace_ms < ASPAWN_GRACE_NONE)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.grace_ms");
	if (to->priority < 0 || to->priority > ASPAWN_MOST_PRIORITY)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.priority");
	if (to->reserved)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.reserved");
	return 0;
}

/* Checks that the job uses only streams that the command leaves free. */
static int check_streams_of_job(const struct aspawn_job *job, const struct aspawn_command *command,
				struct aspawn_failure *failure)
{
	if (job->input && command->std_in)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.input");
	if (job->out_size && command->std_out)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.out_size");
	if (job->err_size && command->std_err)
		return aspw_refuse_argument(failure, -PSYS_EINVAL, "job.err_size");
	return 0;
}

/* Other actions that need their own memory do not clear the signal at the parent's death, and a
 * filter may forbid prctl(2) afterwards. */
static bool changes_credentials(const struct aspawn_command *command)
{
	for (size_t i = 0; i < command->action_count; i++)
		if (aspw_changes_credentials(&command->actions[i]))
			return true;
	return false;
}

/* A change of credentials clears the signal at the parent's death, so set the signal again at the
 * end. */
static void append_pdeathsig(struct arena *arena, struct aspawn_command *command)
{
	const size_t count = command->action_count;
	struct aspawn_action *actions =
		aspw_arena_allocate(arena, (count + 1) * sizeof *actions, sizeof(uint64_t));

	if (!actions)
		return;
	psys_memcpy(actions, command->actions, count * sizeof *actions);
	aspawn_action_pdeathsig(&actions[count], PSYS_SIGKILL);
	command->actions = actions;
	command->action_count = count + 1;
}

/* Returns the place of size bytes, of which the last is for the NUL, or NULL if size is 0. */
static char *place_output(struct arena *arena, struct job_output *output, size_t size)
{
	*output = (struct job_output){ .fd = -1, .size = size ? size - 1 : 0 };
	return output->data = size ? aspw_arena_allocate(arena, size, 1) : NULL;
}

static struct arena arena_of(const struct aspawn_queue *queue, struct job *job)
{
	return (struct arena){ (char *)(job + 1), 0, queue->stride - sizeof *job, 0 };
}

/* Copies the command into the job's memory. */
static void fill_command(struct aspawn_queue *queue, struct job *job, struct arena *arena,
			 struct aspawn_command *command)
{
	struct library_actions library;

	library.count = 0;
	library.served = NULL;
	library.await_clone = false;
	if (!queue->is_local && changes_credentials(command))
		append_pdeathsig(arena, command);
	const struct prepared *prepared = aspw_prepare_command(arena, command, &library);
	if (!arena->error && !queue->is_local)
		aspw_job_note_fds(job, prepared, arena);
	if (arena->error)
		return;
	job->command = (struct aspawn_command){
		.flags = prepared->flags | ASPAWN_COMMAND_NONBLOCK,
		.file = prepared->file,
		.argv = prepared->argv,
		.envp = prepared->envp,
		.search_path = prepared->path,
		.actions = prepared->actions,
		.action_count = prepared->count,
		.owner = command->owner,
		.memory = command->memory,
		.std_in = command->std_in,
		.std_out = command->std_out,
		.std_err = command->std_err,
		.stop_signal = command->stop_signal,
	};
}

/* Does for a prepared command what fill_command() does, but copies only the arguments. */
static void refer_to_command(struct job *job, struct arena *arena, const struct job *other,
			     char *const *argv)
{
	job->fd_count = other->fd_count;
	job->fds = aspw_arena_allocate(arena, other->fd_count * sizeof *job->fds, sizeof(int));
	psys_memcpy(&job->command, &other->command, sizeof job->command);
	if (argv)
		job->command.argv = aspw_copy_strings(arena, argv);
	if (!arena->error)
		psys_memcpy(job->fds, other->fds, other->fd_count * sizeof *job->fds);
}

/* Fills the job: the command, its input and its outputs lie behind each other. other is a prepared
 * command, or NULL. */
static int fill_job(struct aspawn_queue *queue, struct job *job, const struct aspawn_job *from,
		    struct aspawn_command *command, const struct job *other)
{
	struct arena arena = arena_of(queue, job);

	job->result.cookie = from->cookie;
	job->result.status = -1;
	job->result.failure.step = ASPAWN_STEP_NONE;
	if (other)
		refer_to_command(job, &arena, other, from->argv);
	else
		fill_command(queue, job, &arena, command);
	job->input =
		from->input_size ? aspw_arena_copy(&arena, from->input, from->input_size, 1) : NULL;
	job->input_size = from->input_size;
	job->result.out = place_output(&arena, &job->outputs[0], from->out_size);
	job->result.err = place_output(&arena, &job->outputs[1], from->err_size);
	if (arena.error)
		return -PSYS_E2BIG;
	job->flags = (uint32_t)from->flags;
	job->timeout = ms_to_ns(from->time_limit_ms);
	job->grace_ms = from->grace_ms ? from->grace_ms : 1000;
	job->key = from->key;
	job->key_limit = from->key ? from->key_limit : 0;
	job->priority = from->priority;
	job->result.submitted_ns = queue_now(queue);
	return 0;
}

/* Returns NULL if the number names no prepared command. */
static struct job *find_prepared(const struct aspawn_queue *queue, int64_t prepared)
{
	struct job *job = queue_find(queue, prepared);

	return job && __atomic_load_n(&job->state, __ATOMIC_ACQUIRE) == JOB_PREPARED &&
			       job->result.ticket == prepared ?
		       job :
		       NULL;
}

/* Takes the lowest free place. Returns NULL if there is none. */
static struct job *take_place(struct aspawn_queue *queue)
{
	for (uint32_t number = 0; number < queue->capacity; number++) {
		uint32_t *word = &queue->taken[number / 32], bit = 1U << number % 32;
		const uint32_t bits = __atomic_load_n(word, __ATOMIC_RELAXED);

		if (bits == UINT32_MAX)
			number |= 31;
		if (bits & bit || __atomic_fetch_or(word, bit, __ATOMIC_ACQUIRE) & bit)
			continue;
		struct job *job = queue_job(queue, number);
		psys_memset(&job->number, 0, sizeof *job - offsetof(struct job, number));
		job->number = (int)number;
		job->queue = queue;
		return job;
	}
	return NULL;
}

/* Gives back the place of a job that does not fit. */
static int refuse_place(struct aspawn_queue *queue, struct job *job, struct aspawn_failure *failure)
{
	const bool has_room = job->fd_count > MOST_SENT;

	queue_free_place(queue, job);
	return aspw_refuse_argument(failure, -PSYS_E2BIG, has_room ? "actions" : "job_bytes");
}

static int64_t new_ticket(const struct aspawn_queue *queue, struct job *job)
{
	const uint32_t use = (__atomic_load_n(&job->use, __ATOMIC_RELAXED) | 1) + 1;
	const uint32_t high = job->use_high + !use;

	__atomic_store_n(&job->use_high, high, __ATOMIC_RELAXED);
	__atomic_store_n(&job->use, use, __ATOMIC_RELAXED);
	const uint64_t uses = (uint64_t)high << 31 | use >> 1;
	return job->result.ticket = (int64_t)(uses << queue->bits | (uint32_t)job->number);
}

static void push_job(struct aspawn_queue *queue, struct job *job)
{
	__atomic_add_fetch(&queue->submissions, 1, __ATOMIC_SEQ_CST);
	job->next = __atomic_load_n(&queue->submitted, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&queue->submitted, &job->next, job, true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
}

static int64_t submit_job(struct aspawn_queue *queue, const struct aspawn_job *from,
			  struct aspawn_command *command, const struct job *prepared,
			  struct aspawn_failure *failure)
{
	int r = aspw_queue_is_orphaned(queue, false) ? aspw_queue_recover(queue, true) : 0;
	struct job *job = r < 0 ? NULL : take_place(queue);

	if (!job) {
		aspw_queue_tend(queue, queue_now(queue));
		return r < 0 ? r : -PSYS_EAGAIN;
	}
	if (fill_job(queue, job, from, command, prepared) < 0)
		return refuse_place(queue, job, failure);
	aspw_queue_tend(queue, job->result.submitted_ns);
	const int64_t ticket = new_ticket(queue, job);
	r = job->fd_count ? aspw_job_send_fds(queue, job) : 0;
	if (r < 0) {
		queue_free_place(queue, job);
		return r;
	}
	__atomic_store_n(&job->state, JOB_QUEUED, __ATOMIC_RELEASE);
	push_job(queue, job);
	aspw_queue_wake(queue);
	if (aspw_queue_is_orphaned(queue, false)) /* the server ended meanwhile: the job is lost */
		aspw_queue_recover(queue, false);
	return ticket;
}

/* Checks the queue as aspw_queue_check(), and stores what is invalid. */
static int check_submitter(const struct aspawn_queue *queue, struct aspawn_failure *failure)
{
	const int r = aspw_queue_check(queue);

	if (r == -PSYS_EINVAL)
		return aspw_refuse_argument(failure, r, "queue");
	aspw_store_failure(failure, ASPAWN_STEP_NONE, 0, 0, "");
	return r;
}

int64_t aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *from,
			    struct aspawn_failure *failure)
{
	struct aspawn_failure unwanted, *const to = failure ? failure : &unwanted;
	struct aspawn_command command;
	struct aspawn_job copy;
	const struct job *prepared = NULL;
	int64_t r = check_submitter(queue, to);

	if (r == 0)
		r = read_job(&copy, from, to);
	if (r == 0 && !copy.prepared)
		r = read_command_of_job(&command, copy.command, to);
	else if (r == 0 && !(prepared = find_prepared(queue, copy.prepared)))
		r = aspw_refuse_argument(to, -PSYS_EINVAL, "job.prepared");
	if (r == 0)
		r = check_streams_of_job(&copy, prepared ? &prepared->command : &command, to);
	if (r < 0)
		return r;
	const int64_t ticket = submit_job(queue, &copy, &command, prepared, to);
	r = aspw_queue_check(queue); /* a handler may have forked */
	return r < 0 ? r : ticket;
}

int64_t aspawn_queue_prepare(struct aspawn_queue *queue, const struct aspawn_command *from,
			     struct aspawn_failure *failure)
{
	struct aspawn_failure unwanted, *const to = failure ? failure : &unwanted;
	struct aspawn_command command;
	int r = check_submitter(queue, to);

	if (r == 0)
		r = read_command_of_job(&command, from, to);
	if (r < 0)
		return r;
	struct job *job = take_place(queue);
	if (!job)
		return -PSYS_EAGAIN;
	struct arena arena = arena_of(queue, job);
	fill_command(queue, job, &arena, &command);
	if (arena.error)
		return refuse_place(queue, job, to);
	const int64_t ticket = new_ticket(queue, job);
	__atomic_store_n(&job->state, JOB_PREPARED, __ATOMIC_RELEASE);
	r = aspw_queue_check(queue); /* a handler may have forked */
	return r < 0 ? r : ticket;
}

int aspawn_queue_release_prepared(struct aspawn_queue *queue, int64_t prepared)
{
	int r = aspw_queue_check(queue);

	struct job *job = r < 0 ? NULL : find_prepared(queue, prepared);
	if (!job)
		return r < 0 ? r : -PSYS_EINVAL;
	queue_free_place(queue, job);
	return 0;
}
