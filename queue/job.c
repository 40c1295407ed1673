/* SPDX-License-Identifier: MIT */
/* A job in the server: its streams, its start, its output and its end. */
#include <syscall/string.h>

#include "queue.h"

enum { MOST_READS = 64 }; /* of one output in a row: another process may go on to write */

/* --- streams ----------------------------------------------------------------------- */

/* kind: as server_see_event() takes it. */
static QUEUE_SERVER uint32_t job_event(const struct job *job, int kind)
{
	return (uint32_t)job->number << 2 | (unsigned)kind;
}

static QUEUE_SERVER void job_close_output(const struct server *server, struct job_output *output)
{
	if (output->fd < 0)
		return;
	queue_unwatch(server->epoll, output->fd);
	psys_close(output->fd);
	output->fd = -1;
}

/* A file in memory: a pipe would have to be fed while the program runs. */
static QUEUE_SERVER int job_make_input(const struct job *job)
{
	const int fd =
		aspw_descriptors_avoid_streams(psys_memfd_create("aspawn-input", PSYS_MFD_CLOEXEC));
	size_t written = 0;

	while (fd >= 0 && written < job->input_size) {
		const long r = psys_pwrite64(fd, (const char *)job->input + written,
					     job->input_size - written, (int64_t)written);
		if (r <= 0) {
			psys_close(fd);
			return r < 0 ? (int)r : -PSYS_EIO;
		}
		written += (size_t)r;
	}
	return fd;
}

/* --- the start --------------------------------------------------------------------- */

/* In the child, when all actions are done. */
static PSYS_UNINSTRUMENTED void before_exec(struct prepared *prepared)
{
	struct job *job = prepared->of;

	job->result.executed_ns = queue_now(job->queue);
}

/* Before the first use of a stack. A process that the host forks does not get what the jobs on it share with
 * the server, and no call of its looks at the state. */
static QUEUE_SERVER bool job_guard_stack(const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);

	if (!state->is_wiped_by_fork)
		state->is_wiped_by_fork =
			psys_mprotect((char *)stack->addr + STACK_UNIT, STACK_LOWEST - STACK_UNIT,
				      PSYS_PROT_NONE) >= 0;
	return state->is_wiped_by_fork;
}

/* Returns a stack that no job has, or NULL: on one a child of a dead server may hang in the kernel. */
static QUEUE_SERVER struct job_stack *job_find_stack(const struct aspawn_queue *queue)
{
	struct job_stack *stack = queue->stacks, *const end = stack + queue->limit;

	while (stack < end && (stack->is_taken || aspawn_stack_busy(&stack->stack) ||
			       !job_guard_stack(&stack->stack)))
		stack++;
	return stack < end ? stack : NULL;
}

static QUEUE_SERVER void add_own_actions(const struct aspawn_queue *queue, const struct job *job,
					 struct own_actions *own)
{
	own->count = 0;
	if (!(queue->flags & ASPAWN_QUEUE_LOCAL))
		aspawn_action_pdeathsig(&own->list[own->count++], PSYS_SIGKILL);
	if (queue->ignores_sigchld)
		aspawn_action_signal_ignore(&own->list[own->count++], PSYS_SIGCHLD);
	if (!(job->flags & ASPAWN_JOB_SAME_GROUP))
		aspw_add_group(own, &job->command);
}

static QUEUE_SERVER int job_spawn(const struct aspawn_queue *queue, const struct server *server,
				  struct job *job)
{
	const int null = server->is_local ? ASPAWN_STREAM_NULL :
					    ASPAWN_STREAM_DEFAULT; /* the server's own */
	struct aspawn_command *command = &job->command;
	struct aspawn_failure unwanted;
	struct own_actions own;
	int r = job->input ? job_make_input(job) : 0;

	add_own_actions(queue, job, &own);
	own.await_clone = false;
	command->std_in = job->input ? r : null;
	command->std_out = job->result.out ? ASPAWN_STREAM_PIPE : null;
	if (job->result.err || command->std_err != ASPAWN_STREAM_STDOUT)
		command->std_err = job->result.err ? ASPAWN_STREAM_PIPE : null;
	job->stack = job_find_stack(queue);
	if (r >= 0 && !job->stack)
		r = -PSYS_EAGAIN;
	if (r >= 0) {
		const struct served served = {
			.stack = &job->stack->stack,
			.mask = &queue->mask,
			.files = queue->raises_files ? &queue->files : NULL,
			.fds = job->fds,
			.fd_count = job->fd_count,
			.before_exec = before_exec,
			.of = job,
		};
		own.served = &served;
		r = aspw_start_with(&job->child, command, &own, &unwanted);
	}
	if (job->input)
		psys_close(command->std_in); /* of a negative one: no effect */
	if (r < 0)
		return r;
	job->stack->is_taken = true;
	job->result.pid = child_state(&job->child)->pid;
	job->outputs[0].fd = job->child.out_fd;
	job->outputs[1].fd = job->child.err_fd;
	return 0;
}

static QUEUE_SERVER bool is_shortage(int error)
{
	return error == -PSYS_EMFILE || error == -PSYS_ENFILE || error == -PSYS_EAGAIN ||
	       error == -PSYS_ENOMEM;
}

/* time 0: none. */
static QUEUE_SERVER void job_set_deadline(struct server *server, struct job *job, int64_t time)
{
	job->deadline = time;
	if (time && time < server->next_deadline)
		server->next_deadline = time;
}

/* The job waits no more. error: why it cannot be started. */
static QUEUE_SERVER void job_fail(struct aspawn_queue *queue, struct server *server,
				  struct job *job, int error)
{
	const bool is_lost = error == -PSYS_EPIPE;

	aspw_list_remove(queue, &server->waiting[job->priority], job);
	job->result.failure.error = is_lost ? 0 : error;
	aspw_job_finish(queue, server, job,
			is_lost ? ASPAWN_OUTCOME_LOST : ASPAWN_OUTCOME_NOT_STARTED);
}

static QUEUE_SERVER void job_began(struct aspawn_queue *queue, struct server *server,
				   struct job *job)
{
	job->is_unpolled = queue_watch(server->epoll, job->child.ended_fd, job_event(job, 2)) < 0;
	for (int i = 0; i < 2; i++)
		if (job->outputs[i].fd >= 0 &&
		    queue_watch(server->epoll, job->outputs[i].fd, job_event(job, i)) < 0)
			job->is_unpolled = true;
	server->unpolled += job->is_unpolled;
	job_set_deadline(server, job, job->timeout ? job->result.started_ns + job->timeout : 0);
	aspw_list_remove(queue, &server->waiting[job->priority], job);
	aspw_list_add(queue, &server->running, job);
	__atomic_add_fetch(&queue->shared->running, 1, __ATOMIC_RELAXED);
}

QUEUE_SERVER bool aspw_job_start(struct aspawn_queue *queue, struct server *server, struct job *job)
{
	job->result.started_ns = queue_now(queue);
	int r = aspw_server_receive_fds(queue, server, job);
	if (r < 0) {
		job_fail(queue, server, job, r);
		return true;
	}
	r = job_spawn(queue, server, job);
	if (r >= 0) {
		aspw_server_close_fds(queue, server, job);
		job_began(queue, server, job);
		return true;
	}
	if (is_shortage(r) && queue->shared->running)
		return false;
	job_fail(queue, server, job, r);
	return true;
}

/* --- output -------------------------------------------------------------------------- */

/* Returns what read(2) does. What does not fit is read too, and dropped. */
static QUEUE_SERVER long job_read_once(struct job *job, int which)
{
	struct job_output *output = &job->outputs[which];
	char dropped[4096];
	size_t room = output->size - output->at;

	long r = psys_read(output->fd, room ? output->data + output->at : dropped,
			   room ? room : sizeof dropped);
	if (r <= 0)
		return r;
	output->total += (uint64_t)r;
	if (room)
		output->at += (size_t)r;
	if (room && output->at == output->size && job->flags & ASPAWN_JOB_TAIL)
		output->at = 0;
	return r;
}

static QUEUE_SERVER bool job_is_silent(const struct job *job)
{
	return job->outputs[0].fd < 0 && job->outputs[1].fd < 0;
}

/* At least so many bytes, if they are there. */
static QUEUE_SERVER void job_read_all(struct server *server, struct job *job, int which, long least)
{
	struct job_output *output = &job->outputs[which];

	for (int reads = 0; output->fd >= 0 && (least > 0 || reads < MOST_READS); reads++) {
		long r = job_read_once(job, which);
		if (r == -PSYS_EAGAIN)
			return;
		if (r <= 0 && r != -PSYS_EINTR)
			job_close_output(server, output);
		least -= r;
	}
}

QUEUE_SERVER void aspw_job_read(struct aspawn_queue *queue, struct server *server, struct job *job,
				int which)
{
	job_read_all(server, job, which, 0);
	if (job->has_ended && job_is_silent(job))
		aspw_job_finish(queue, server, job, 0);
}

static QUEUE_SERVER void job_reverse(char *bytes, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		const char byte = bytes[i];
		bytes[i] = bytes[count - 1 - i];
		bytes[count - 1 - i] = byte;
	}
}

/* Of a tail: rotates what was kept, so that the oldest byte comes first. */
static QUEUE_SERVER size_t job_kept(const struct job_output *output)
{
	if (output->total <= output->size)
		return (size_t)output->total;
	if (output->at != output->size) {
		job_reverse(output->data, output->at);
		job_reverse(output->data + output->at, output->size - output->at);
		job_reverse(output->data, output->size);
	}
	return output->size;
}

/* --- the end ------------------------------------------------------------------------- */

static QUEUE_SERVER void job_send(const struct job *job, int signal)
{
	int r = -PSYS_ESRCH;

	if (!(job->flags & ASPAWN_JOB_SAME_GROUP))
		r = psys_kill(-job->result.pid, signal);
	if (r < 0 || signal == PSYS_SIGKILL) /* it may have left its group, or not made it yet */
		psys_kill(job->result.pid, signal);
}

QUEUE_SERVER void aspw_job_stop(struct server *server, struct job *job, int ended_as, bool at_once)
{
	const struct aspawn_queue *queue = job->queue;

	if (job->has_ended || (job->stage != STAGE_RUNS && !at_once))
		return;
	if (job->stage == STAGE_RUNS)
		job->ended_as = ended_as;
	at_once = at_once || job->grace < 0;
	job->stage = at_once ? STAGE_KILLED : STAGE_TERMINATED;
	job_send(job, at_once ? PSYS_SIGKILL : PSYS_SIGTERM);
	job_set_deadline(server, job, at_once ? 0 : queue_now(queue) + job->grace);
}

QUEUE_SERVER void aspw_job_expire(struct aspawn_queue *queue, struct server *server, struct job *job)
{
	job->deadline = 0;
	if (job->has_ended) { /* another process holds its pipe */
		for (int i = 0; i < 2; i++) {
			job_read_all(server, job, i, held_by_pipe(job->outputs[i].fd));
			job_close_output(server, &job->outputs[i]);
		}
		aspw_job_finish(queue, server, job, 0);
	} else {
		aspw_job_stop(server, job, ASPAWN_OUTCOME_TIMED_OUT, job->stage != STAGE_RUNS);
	}
}

QUEUE_SERVER void aspw_job_ended(struct aspawn_queue *queue, struct server *server, struct job *job,
				 int status, const struct psys_rusage *usage)
{
	const bool stopped = job->stage != STAGE_RUNS;

	job->result.ended_ns = queue_now(queue);
	job->result.status = status;
	psys_memcpy(&job->result.usage, usage, sizeof *usage);
	job->has_ended = true;
	if (job->child.ended_fd >= 0) {
		queue_unwatch(server->epoll, job->child.ended_fd);
		psys_close(job->child.ended_fd);
	}
	job_read_all(server, job, 0, 0);
	job_read_all(server, job, 1, 0);
	if (job_is_silent(job)) {
		aspw_job_finish(queue, server, job, 0);
		return;
	}
	job->stage = STAGE_DRAINS;
	job_set_deadline(server, job,
			 job->result.ended_ns + (stopped || job->grace < 0 ? 0 : job->grace));
}

/* The job's process has ended. Learns if it has executed the program, and gives the stack back. */
static QUEUE_SERVER void job_leave_stack(struct job *job)
{
	const struct Stack_t *stack = &job->stack->stack;
	struct aspawn_failure *failure = &job->result.failure;

	/* A server that is killed in between leaves it mapped. */
	stack_control(stack)->watch = NULL;
	/* The kernel may not have cleared it. */
	__atomic_store_n(&stack_state(stack)->use, FREE, __ATOMIC_RELEASE);
	if (aspw_started(&job->child, failure, 0) == -PSYS_ETIMEDOUT &&
	    child_state(&job->child)->known != EXECUTING)
		failure->error = -PSYS_ECHILD;
	aspw_release_reports(&job->child);
	job->stack->is_taken = false;
}

/* end 0: as it has ended. */
QUEUE_SERVER void aspw_job_finish(struct aspawn_queue *queue, struct server *server,
				  struct job *job, int end)
{
	struct aspawn_result *result = &job->result;

	if (!result->pid) {
		aspw_server_close_fds(queue, server, job);
	} else {
		aspw_list_remove(queue, &server->running, job);
		__atomic_sub_fetch(&queue->shared->running, 1, __ATOMIC_RELAXED);
		server->must_wait = false;
		server->unpolled -= job->is_unpolled;
		job_leave_stack(job);
	}
	if (!end)
		end = job->ended_as         ? job->ended_as :
		      result->failure.error ? ASPAWN_OUTCOME_NOT_STARTED :
					      ASPAWN_OUTCOME_RAN;
	if (!result->ended_ns)
		result->ended_ns = queue_now(queue);
	result->out_total = job->outputs[0].total;
	result->err_total = job->outputs[1].total;
	result->out_length = job_kept(&job->outputs[0]);
	result->err_length = job_kept(&job->outputs[1]);
	aspw_queue_complete(queue, job, end);
	server->completed++;
}
