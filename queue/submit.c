/* SPDX-License-Identifier: MIT */
/* Copies a job into the queue's memory, in one pass: no system call, no lock. */
#include <syscall/string.h>

#include "queue.h"

enum {
	ALL_JOB_FLAGS = 2 * ASPAWN_JOB_SAME_GROUP - 1,
	ALL_COMMAND_FLAGS = ASPAWN_COMMAND_SHELL_ON_ENOEXEC | ASPAWN_COMMAND_RELATIVE_TO_CALLER |
			    ASPAWN_COMMAND_FORK,
	USUAL_OUTPUT = 4096,
	MOST_GENERATIONS = 0x7fff,
	FEW_JOBS = 8, /* of one server: fewer are not worth waking another */
};

static int64_t ms_to_ns(int64_t ms)
{
	return ms > INT64_MAX / 4000000 ? INT64_MAX / 4 : ms * 1000000;
}

/* Returns the caller's descriptor above 2 that the action uses, or -1. */
static int foreign_of(const struct aspawn_command *command, size_t index)
{
	const struct aspawn_action *action = &command->actions[index];
	const size_t uses = aspawn_action_infos[action->kind].uses;
	const int fd = uses ? member_int(action, uses) : -1;

	if (fd <= 2)
		return -1;
	for (size_t i = 0; i < index; i++)
		if (replaced_by(&command->actions[i]) == fd)
			return -1;
	return fd;
}

static int check_command(const struct aspawn_queue *queue, const struct aspawn_command *command)
{
	if (command->flags & ~(uint64_t)ALL_COMMAND_FLAGS || command->std_in || command->std_out ||
	    command->std_err || command->pool || command->stack)
		return -PSYS_EINVAL;
	for (size_t i = 0; i < command->action_count; i++) {
		int r = aspawn_check_action(&command->actions[i]);
		if (r < 0)
			return r;
		if (is_pipe(&command->actions[i]))
			return -PSYS_EINVAL;
		const int fd = queue->flags & ASPAWN_QUEUE_LOCAL ? -1 : foreign_of(command, i);
		if (fd >= 0 && !aspawn_queue_registered(queue, fd))
			return -PSYS_EBADF;
	}
	return 0;
}

/* Notes the registered descriptors that the actions use, each once. */
static void note_registered(const struct aspawn_queue *queue, struct job *job, struct arena *arena,
			    const struct aspawn_command *command)
{
	int fds[ASPAWN_MOST_REGISTERED];
	uint32_t count = 0;

	for (size_t i = 0; i < command->action_count; i++) {
		const int fd = queue->flags & ASPAWN_QUEUE_LOCAL ? -1 : foreign_of(command, i);
		uint32_t at = 0;
		while (at < count && fds[at] != fd)
			at++;
		if (fd >= 0 && at == count && count < ASPAWN_MOST_REGISTERED)
			fds[count++] = fd;
	}
	job->fds = count ? aspawn_copy(arena, fds, count * sizeof *fds, sizeof *fds) : NULL;
	job->fd_count = count;
}

static int check_job(struct aspawn_job *to, const struct aspawn_job *from)
{
	if (!from)
		return -PSYS_EINVAL;
	int r = aspawn_read_structure(to, sizeof *to, from, from->size, ASPAWN_JOB_SIZE_VER0);
	if (r < 0)
		return r;
	if (to->flags & ~(uint64_t)ALL_JOB_FLAGS || (!to->input && to->input_size) ||
	    !to->key != !to->key_limit || !to->command == !to->prepared ||
	    (to->argv && !to->prepared) || to->reserved || to->reserved2 || to->priority < 0 ||
	    to->priority > ASPAWN_MOST_PRIORITY ||
	    (to->flags & ASPAWN_JOB_ERROR && to->flags & ASPAWN_JOB_ERROR_TO_OUTPUT))
		return -PSYS_EINVAL;
	return 0;
}

static bool changes_credentials(const struct aspawn_command *command)
{
	return aspawn_has_action(command, ASPAWN_ACTION_USER) ||
	       aspawn_has_action(command, ASPAWN_ACTION_RESUID) ||
	       aspawn_has_action(command, ASPAWN_ACTION_RESGID);
}

/* A change of credentials clears the signal at the parent's death: set it again at the end. */
static void append_pdeathsig(struct arena *arena, struct aspawn_command *command)
{
	const size_t count = command->action_count;
	struct aspawn_action *actions =
		aspawn_allocate(arena, (count + 1) * sizeof *actions, sizeof(uint64_t));

	if (!actions)
		return;
	psys_memcpy(actions, command->actions, count * sizeof *actions);
	aspawn_action_pdeathsig(&actions[count], PSYS_SIGKILL);
	command->actions = actions;
	command->action_count = count + 1;
}

static void place_output(struct arena *arena, struct job_output *output, const char **data,
			 size_t size, bool is_wanted)
{
	*output = (struct job_output){ .fd = -1 };
	*data = NULL;
	if (!is_wanted)
		return;
	*data = output->data = aspawn_allocate(arena, size, 1);
	output->size = size;
}

static struct arena arena_of(const struct aspawn_queue *queue, struct job *job)
{
	return (struct arena){ (char *)(job + 1), 0, queue->stride - sizeof *job, 0 };
}

/* Copies the command into the job's memory. */
static void fill_command(struct aspawn_queue *queue, struct job *job, struct arena *arena,
			 struct aspawn_command *command)
{
	struct own_actions own;

	own.count = 0;
	note_registered(queue, job, arena, command);
	job->may_lead = !aspawn_has_action(command, ASPAWN_ACTION_SETSID) &&
			!aspawn_has_action(command, ASPAWN_ACTION_SETPGID);
	if (!(queue->flags & ASPAWN_QUEUE_LOCAL) && changes_credentials(command))
		append_pdeathsig(arena, command);
	job->prepared = aspawn_prepare(arena, command, &own);
	if (arena->error)
		return;
	const struct requirements requirements = aspawn_requirements(job->prepared);
	job->copies_memory = requirements.copy_memory || command->flags & ASPAWN_COMMAND_FORK;
	job->cgroup = requirements.cgroup ? requirements.cgroup->u.join_cgroup.fd : -1;
	job->prepared->joined = requirements.cgroup;
	job->prepared->far_count = 0; /* the child begins on a copy of all descriptors */
}

/* As fill_command(), of a prepared command: only the arguments are copied. */
static void refer_to_command(struct job *job, struct arena *arena, const struct job *other,
			     char *const *argv)
{
	job->may_lead = other->may_lead;
	job->copies_memory = other->copies_memory;
	job->cgroup = other->cgroup;
	job->fds = other->fds;
	job->fd_count = other->fd_count;
	job->prepared = aspawn_allocate(arena, sizeof *job->prepared, STACK_ALIGN);
	char *const *copy = argv ? aspawn_copy_strings(arena, argv) : other->prepared->argv;
	if (arena->error)
		return;
	psys_memcpy(job->prepared, other->prepared, sizeof *job->prepared);
	job->prepared->argv = copy;
}

/* In the child, when all actions are done. */
static PSYS_UNINSTRUMENTED void before_exec(struct prepared *prepared)
{
	struct job *job = prepared->of;

	job->result.executed = queue_now(job->queue);
}

/* Fills the job: the command, its input and its outputs lie behind each other. other: a prepared
 * command, or NULL. */
static int fill_job(struct aspawn_queue *queue, struct job *job, const struct aspawn_job *from,
		    struct aspawn_command *command, const struct job *other)
{
	const size_t output_size = from->output_size ? from->output_size : USUAL_OUTPUT;
	struct arena arena = arena_of(queue, job);

	if (other)
		refer_to_command(job, &arena, other, from->argv);
	else
		fill_command(queue, job, &arena, command);
	job->input = from->input_size ? aspawn_copy(&arena, from->input, from->input_size, 1) : NULL;
	job->input_size = from->input_size;
	place_output(&arena, &job->outputs[0], &job->result.out, output_size,
		     from->flags & ASPAWN_JOB_OUTPUT);
	place_output(&arena, &job->outputs[1], &job->result.err, output_size,
		     from->flags & ASPAWN_JOB_ERROR);
	if (arena.error)
		return -PSYS_E2BIG;
	job->flags = (uint32_t)from->flags;
	job->makes_group = job->may_lead && !(from->flags & ASPAWN_JOB_SAME_GROUP);
	job->prepared->before_exec = before_exec;
	job->prepared->of = job;
	job->timeout = from->timeout_ms > 0 ? ms_to_ns(from->timeout_ms) : 0;
	job->grace = from->grace_ms < 0 ? -1 : ms_to_ns(from->grace_ms ? from->grace_ms : 1000);
	job->key = from->key;
	job->key_limit = from->key_limit;
	job->priority = from->priority;
	job->sink = from->sink;
	job->sink_arg = from->sink_arg;
	if (job->sink)
		job->result.out = job->result.err = NULL;
	job->pid = 0;
	job->pidfd = job->report_fd = -1;
	return 0;
}

static void clear_result(const struct aspawn_queue *queue, struct job *job, uint64_t cookie)
{
	struct aspawn_result *result = &job->result;

	result->cookie = cookie;
	result->ticket = job->ticket;
	result->end = result->pid = 0;
	result->status = -1;
	result->out_size = result->err_size = 0;
	result->out_total = result->err_total = 0;
	result->started = result->executed = result->ended = 0;
	psys_memset(&result->usage, 0, sizeof result->usage);
	result->submitted = queue_now(queue);
}

/* NULL: the number is no prepared command's. */
static struct job *find_prepared(const struct aspawn_queue *queue, int prepared)
{
	struct job *job = queue_find(queue, prepared);

	return job && __atomic_load_n(&job->state, __ATOMIC_ACQUIRE) == JOB_HELD &&
			       job->is_prepared && job->ticket == prepared ?
		       job :
		       NULL;
}

/* Takes a free place. */
static struct job *take_place(struct aspawn_queue *queue)
{
	uint32_t number;

	if (!ring_pop(&queue->shared->free, &number) && !out_pop(&queue->shared->absorbed, &number))
		return NULL;
	struct job *job = queue_job(queue, number);
	__atomic_store_n(&job->state, JOB_FILLING, __ATOMIC_RELAXED);
	job->is_prepared = false;
	return job;
}

static void give_place(struct job *job)
{
	__atomic_store_n(&job->state, JOB_FREE, __ATOMIC_RELAXED);
	ring_push(&job->queue->shared->free, (uint32_t)job->number);
}

static int new_ticket(struct job *job)
{
	job->generation = job->generation % MOST_GENERATIONS + 1;
	return job->ticket = job->generation << 16 | (int)job->queue->first | job->number;
}

/* Jobs that could start at once; negative: jobs that have to wait. */
static int32_t room_of(const struct aspawn_queue *part)
{
	return (int32_t)(part->limit - queue_left(part, &part->shared->ended.tail));
}

/* Returns true if the part can take a job without a look at the others. */
static bool has_few_jobs(const struct aspawn_queue *part, int32_t room)
{
	return room > 0 && room > (int32_t)part->limit - FEW_JOBS;
}

/*
 * Stays with the part of the last submission while it has few jobs, so that these wake one server.
 * Otherwise takes the next one with few jobs, or the one with most room. Jobs of a key are always the
 * same part's, by a multiplicative hash.
 */
static uint32_t choose_part(const struct aspawn_queue *queue, const struct aspawn_job *job)
{
	if (queue->servers == 1)
		return 0;
	if (job->key_limit)
		return (uint32_t)((uint64_t)(job->key * 2654435769U) * queue->servers >> 32);
	const uint32_t last = __atomic_load_n(&queue->shared->chosen, __ATOMIC_RELAXED);
	uint32_t at = last, best = last;
	int32_t most = INT32_MIN;
	do {
		const int32_t room = room_of(queue->parts[at]);
		if (room > most) {
			most = room;
			best = at;
		}
		if (has_few_jobs(queue->parts[at], room))
			break;
		at = queue_next_part(queue, at);
	} while (at != last);
	if (best != last)
		__atomic_store_n(&queue->shared->chosen, best, __ATOMIC_RELAXED);
	return best;
}

static int submit_to_part(struct aspawn_queue *queue, const struct aspawn_job *from,
			  struct aspawn_command *command, const struct job *prepared)
{
	int r = aspawn_queue_is_orphaned(queue, false) ? aspawn_queue_recover(queue, true) : 0;
	struct job *job = r < 0 ? NULL : take_place(queue);

	if (!job)
		return r < 0 ? r : -PSYS_EAGAIN;
	r = fill_job(queue, job, from, command, prepared);
	if (r < 0) {
		give_place(job);
		return r;
	}
	r = new_ticket(job);
	clear_result(queue, job, from->cookie);
	__atomic_store_n(&job->state, JOB_QUEUED, __ATOMIC_RELEASE);
	queue_count_up(&queue->shared->counts.submitted);
	ring_push(&queue->shared->submitted, (uint32_t)job->number);
	aspawn_queue_wake(queue);
	if (aspawn_queue_is_orphaned(queue, false)) /* it ended meanwhile: the job is lost */
		aspawn_queue_recover(queue, false);
	return r;
}

int aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *from)
{
	struct aspawn_command command;
	struct aspawn_job known;
	const struct job *prepared = NULL;
	int r = aspawn_queue_check(queue);

	if (r == 0)
		r = check_job(&known, from);
	if (r == 0 && !known.prepared)
		r = aspawn_read_command(&command, known.command);
	if (r == 0 && !known.prepared)
		r = check_command(queue, &command);
	else if (r == 0 && !(prepared = find_prepared(queue, known.prepared)))
		r = -PSYS_EINVAL;
	if (r < 0)
		return r;
	uint32_t part = choose_part(queue, &known);
	r = submit_to_part(queue->parts[part], &known, &command, prepared);
	for (uint32_t i = 1; i < queue->servers && r == -PSYS_EAGAIN && !known.key_limit; i++) {
		part = queue_next_part(queue, part);
		r = submit_to_part(queue->parts[part], &known, &command, prepared);
	}
	return r;
}

int aspawn_queue_prepare(struct aspawn_queue *queue, const struct aspawn_command *from)
{
	struct aspawn_command command;
	int r = aspawn_queue_check(queue);

	if (r == 0)
		r = aspawn_read_command(&command, from);
	if (r == 0)
		r = check_command(queue, &command);
	if (r < 0)
		return r;
	/* Its memory is the servers' of all parts. */
	struct job *job = NULL;
	for (uint32_t i = 0; i < queue->servers && !job; i++)
		job = take_place(queue->parts[i]);
	if (!job)
		return -PSYS_EAGAIN;
	struct arena arena = arena_of(queue, job);
	fill_command(queue, job, &arena, &command);
	if (arena.error) {
		give_place(job);
		return -PSYS_E2BIG;
	}
	job->is_prepared = true;
	r = new_ticket(job);
	__atomic_store_n(&job->state, JOB_HELD, __ATOMIC_RELEASE);
	return r;
}

int aspawn_queue_unprepare(struct aspawn_queue *queue, int prepared)
{
	int r = aspawn_queue_check(queue);

	struct job *job = r < 0 ? NULL : find_prepared(queue, prepared);
	if (!job)
		return r < 0 ? r : -PSYS_EINVAL;
	give_place(job);
	return 0;
}
