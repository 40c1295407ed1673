/* SPDX-License-Identifier: MIT */
/* A job in the server: its streams, its start, its output and its end. */
#include <syscall/string.h>

#include "queue.h"

enum { MOST_READS = 64 }; /* of one output in a row: another process may go on to write */

/* --- the child ------------------------------------------------------------------- */

static PSYS_UNINSTRUMENTED int job_prepare_child(const struct aspawn_queue *queue,
						 const struct job *job)
{
	const struct psys_sigaction ignored[2] = { { .handler = PSYS_SIG_IGN } };
	int r = 0;

	if (queue->ignores_sigchld)
		psys_rt_sigaction(PSYS_SIGCHLD, ignored, NULL, PSYS_SIGSET_SIZE);
	if (queue->raises_files)
		psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &queue->files, NULL);
	if (job->makes_group)
		r = psys_setpgid(0, 0);
	for (int i = 0; i < 3 && r >= 0; i++)
		if (job->streams[i] >= 0 && job->streams[i] != i)
			r = psys_dup3(job->streams[i], i, 0);
	return r;
}

static PSYS_UNINSTRUMENTED int job_move_away(int *fd)
{
	int r = (int)psys_fcntl(*fd, PSYS_F_DUPFD_CLOEXEC, 3);

	if (r >= 0)
		*fd = r;
	return r;
}

/* Gives the caller's descriptors the caller's numbers. One of these may be the server's number of
 * another, which is moved away first. */
static PSYS_UNINSTRUMENTED int job_place_fds(struct job *job, int *write_end)
{
	struct job_fd *fds = job->fds;
	int r = 0;

	for (uint32_t i = 0; i < job->fd_count; i++)
		fds[i].child = fds[i].server;
	for (uint32_t i = 0; i < job->fd_count && r >= 0; i++) {
		const int number = fds[i].caller;

		for (uint32_t j = i + 1; j < job->fd_count && r >= 0; j++)
			if (fds[j].child == number)
				r = job_move_away(&fds[j].child);
		if (r >= 0 && *write_end == number)
			r = job_move_away(write_end);
		if (r >= 0 && fds[i].child != number)
			r = psys_dup3(fds[i].child, number, PSYS_O_CLOEXEC);
	}
	return r;
}

/* The aspawn_fn of jobs: data is a struct job_given. */
static PSYS_UNINSTRUMENTED int job_child(void *control, int write_end, void *mask, void *data,
					 size_t length)
{
	struct job *job = ((const struct job_given *)data)->job;

	(void)length;
	if (!(job->queue->flags & ASPAWN_QUEUE_LOCAL)) {
		psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
		if (psys_getppid() !=
		    job->prepared->parent) /* the server has ended: the job is lost */
			psys_exit_group(127);
	}
	int r = job_prepare_child(job->queue, job);
	if (r >= 0)
		r = job_place_fds(job, &write_end);
	job->prepared->report_fd = write_end;
	if (r < 0) {
		job->prepared->report.step = ASPAWN_STEP_STREAMS;
		aspawn_fail(job->prepared, r, NULL);
	}
	return aspawn_perform(control, write_end, mask, job->prepared, 0);
}

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

/* The child's ends. */
static QUEUE_SERVER void job_close_streams(const struct server *server, const struct job *job)
{
	for (int i = 0; i < 3; i++)
		if (job->streams[i] != server->null && (i < 2 || job->streams[2] != job->streams[1]))
			psys_close(job->streams[i]);
}

static QUEUE_SERVER int job_make_output(const struct server *server, struct job *job, int which,
					int *write_end)
{
	struct job_output *output = &job->outputs[which];
	int ends[2];
	int r = aspawn_descriptors_pipe(ends);

	if (r < 0)
		return r;
	output->fd = ends[0];
	*write_end = ends[1];
	r = (int)psys_fcntl(ends[0], PSYS_F_SETFL, PSYS_O_NONBLOCK);
	return r < 0 ? r : queue_watch(server->epoll, ends[0], job_event(job, which));
}

/* A file in memory: a pipe would have to be fed while the program runs. */
static QUEUE_SERVER int job_make_input(const struct job *job, int *fd)
{
	size_t written = 0;
	long r = psys_memfd_create("aspawn-input", PSYS_MFD_CLOEXEC);

	if (r < 0)
		return (int)r;
	*fd = (int)r;
	while (written < job->input_size) {
		r = psys_pwrite64(*fd, (const char *)job->input + written,
				  job->input_size - written, (int64_t)written);
		if (r <= 0)
			return r < 0 ? (int)r : -PSYS_EIO;
		written += (size_t)r;
	}
	return 0;
}

static QUEUE_SERVER int job_make_streams(const struct server *server, struct job *job)
{
	int *const streams = job->streams, r = 0;

	streams[0] = streams[1] = streams[2] = server->null;
	if (job->input)
		r = job_make_input(job, &streams[0]);
	if (r >= 0 && job->flags & ASPAWN_JOB_OUTPUT)
		r = job_make_output(server, job, 0, &streams[1]);
	if (r >= 0 && job->flags & ASPAWN_JOB_ERROR)
		r = job_make_output(server, job, 1, &streams[2]);
	else if (job->flags & ASPAWN_JOB_ERROR_TO_OUTPUT)
		streams[2] = streams[1];
	return r;
}

/* --- the start --------------------------------------------------------------------- */

/* There are as many stacks as jobs may run, and a child leaves its stack early. */
static QUEUE_SERVER struct Stack_t *job_find_stack(const struct aspawn_queue *queue)
{
	for (uint32_t i = 0; i < queue->limit; i++)
		if (__atomic_load_n(&stack_state(&queue->stacks[i])->use, __ATOMIC_ACQUIRE) == FREE)
			return &queue->stacks[i];
	for (uint32_t i = 0; i < queue->limit; i++) /* the kernel may not clear the word */
		if (!aspawn_stack_busy(&queue->stacks[i]))
			return &queue->stacks[i];
	return NULL;
}

static QUEUE_SERVER int job_spawn(const struct aspawn_queue *queue, const struct server *server,
				  struct job *job)
{
	const struct job_given given = { job };
	struct Stack_t *stack = job_find_stack(queue);
	struct spawned spawned;

	if (!stack)
		return -PSYS_EAGAIN;
	int r = aspawn_stack_reserve(
		stack,
		JOB_FRAMES +
			(job->prepared->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC ? queue->stride : 0),
		sizeof given);
	if (r == 0 && stack_state(stack)->mode == ASPAWN_MODE_NONE) /* its first child */
		r = psys_mprotect((char *)stack->addr + STACK_UNIT, STACK_LOWEST - STACK_UNIT,
				  PSYS_PROT_NONE);
	if (r < 0)
		return r;
	struct request request = {
		.copy_memory = job->copies_memory,
		.pipe = PIPE_IF_COPIED,
		.wants_pidfd = server->is_local,
		.kernel_stores_pid = !server->is_local,
		.cgroup_fd = -1, /* the action joins it: the clone may be killed in it */
		.fn = job_child,
		.arg = stack_control(stack),
		.user_data = aspawn_stack_place(stack, sizeof given),
		.user_data_len = sizeof given,
	};
	request.mask = queue->mask;
	psys_memcpy(request.user_data, &given, sizeof given);
	r = aspawn_spawn(&spawned, &request, stack);
	if (r < 0)
		return r;
	job->result.pid = spawned.pid;
	job->pidfd = spawned.pidfd;
	job->report_fd = spawned.read_end;
	if (job->report_fd >= 0)
		psys_fcntl(job->report_fd, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	return 0;
}

static QUEUE_SERVER bool is_shortage(int error)
{
	return error == -PSYS_EMFILE || error == -PSYS_ENFILE || error == -PSYS_EAGAIN ||
	       error == -PSYS_ENOMEM;
}

static QUEUE_SERVER void job_note_pid(struct server *server, struct job *job)
{
	int *bucket = &server->buckets[job->result.pid & (PID_BUCKETS - 1)];

	job->next_of_pid = *bucket;
	*bucket = job->number;
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

	aspawn_list_remove(queue, &server->waiting[job->priority], job);
	job->prepared->report.error = is_lost ? 0 : error;
	job->prepared->report.step = ASPAWN_STEP_NONE;
	aspawn_job_finish(queue, server, job, is_lost ? ASPAWN_JOB_LOST : ASPAWN_JOB_NOT_STARTED);
}

static QUEUE_SERVER void job_began(struct aspawn_queue *queue, struct server *server,
				   struct job *job)
{
	if (server->is_local && queue_watch(server->epoll, job->pidfd, job_event(job, 2)) < 0) {
		psys_close(job->pidfd); /* of a negative one: no effect */
		job->pidfd = -1;
		server->unpolled++;
	}
	job_note_pid(server, job);
	job_set_deadline(server, job, job->timeout ? job->result.started + job->timeout : 0);
	aspawn_list_remove(queue, &server->waiting[job->priority], job);
	aspawn_list_add(queue, &server->running, job);
	queue_count_up(&queue->shared->counts.running);
	queue_count_up(&queue->shared->counts.started);
}

QUEUE_SERVER bool aspawn_job_start(struct aspawn_queue *queue, struct server *server,
				   struct job *job)
{
	const struct shared *shared = queue->shared;

	job->prepared->parent = server->is_local ? queue->host : shared->server_pid;
	job->result.started = queue_now(queue);
	int r = aspawn_server_receive_fds(queue, server, job);
	if (r < 0) {
		job_fail(queue, server, job, r);
		return true;
	}
	r = job_make_streams(server, job);
	if (r >= 0)
		r = job_spawn(queue, server, job);
	job_close_streams(server, job);
	if (r >= 0) {
		aspawn_server_close_fds(queue, server, job);
		job_began(queue, server, job);
		return true;
	}
	job_close_output(server, &job->outputs[0]);
	job_close_output(server, &job->outputs[1]);
	if (is_shortage(r) && shared->counts.running)
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

QUEUE_SERVER void aspawn_job_read(struct aspawn_queue *queue, struct server *server,
				  struct job *job, int which)
{
	job_read_all(server, job, which, 0);
	if (job->has_ended && job_is_silent(job))
		aspawn_job_finish(queue, server, job, 0);
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

QUEUE_SERVER void aspawn_job_stop(struct server *server, struct job *job, int ended_as, bool at_once)
{
	const struct aspawn_queue *queue = job->queue;

	if (job->has_ended || (job->stage != STAGE_RUNS && !at_once))
		return;
	if (job->stage == STAGE_RUNS) {
		server->stopping++;
		job->ended_as = ended_as;
	}
	at_once = at_once || job->grace < 0;
	job->stage = at_once ? STAGE_KILLED : STAGE_TERMINATED;
	job_send(job, at_once ? PSYS_SIGKILL : PSYS_SIGTERM);
	job_set_deadline(server, job, at_once ? 0 : queue_now(queue) + job->grace);
}

QUEUE_SERVER void aspawn_job_expire(struct aspawn_queue *queue, struct server *server,
				    struct job *job)
{
	job->deadline = 0;
	if (job->has_ended) { /* another process holds its pipe */
		for (int i = 0; i < 2; i++) {
			job_read_all(server, job, i, held_by_pipe(job->outputs[i].fd));
			job_close_output(server, &job->outputs[i]);
		}
		aspawn_job_finish(queue, server, job, 0);
	} else {
		aspawn_job_stop(server, job, ASPAWN_JOB_TIMED_OUT, job->stage != STAGE_RUNS);
	}
}

static QUEUE_SERVER void job_forget_pid(struct aspawn_queue *queue, struct server *server,
					const struct job *job)
{
	int *at = &server->buckets[job->result.pid & (PID_BUCKETS - 1)];

	while (*at != NO_JOB && *at != job->number)
		at = &queue_job(queue, (uint32_t)*at)->next_of_pid;
	if (*at != NO_JOB)
		*at = job->next_of_pid;
}

QUEUE_SERVER void aspawn_job_ended(struct aspawn_queue *queue, struct server *server,
				   struct job *job, int status, const struct psys_rusage *usage)
{
	const bool stopped = job->stage != STAGE_RUNS;

	job->result.ended = queue_now(queue);
	job->result.status = status;
	psys_memcpy(&job->result.usage, usage, sizeof *usage);
	job->has_ended = true;
	if (stopped)
		server->stopping--;
	job_forget_pid(queue, server, job);
	if (job->pidfd >= 0) {
		queue_unwatch(server->epoll, job->pidfd);
		psys_close(job->pidfd);
		job->pidfd = -1;
	}
	job_read_all(server, job, 0, 0);
	job_read_all(server, job, 1, 0);
	if (job_is_silent(job)) {
		aspawn_job_finish(queue, server, job, 0);
		return;
	}
	job->stage = STAGE_DRAINS;
	job_set_deadline(server, job,
			 job->result.ended + (stopped || job->grace < 0 ? 0 : job->grace));
}

/* Of a child in a copy of the memory, which has ended: its reports are in the pipe. */
static QUEUE_SERVER void job_read_reports(struct job *job)
{
	struct aspawn_failure *kept = &job->prepared->report, report;

	kept->step = ASPAWN_STEP_NONE;
	kept->error = 0;
	while (psys_read(job->report_fd, &report, sizeof report) == sizeof report)
		psys_memcpy(kept, &report, sizeof report);
	psys_close(job->report_fd);
	job->report_fd = -1;
}

static QUEUE_SERVER void job_fill_failure(struct job *job)
{
	struct aspawn_failure *failure = &job->result.failure;

	if (job->report_fd >= 0)
		job_read_reports(job);
	psys_memcpy(failure, &job->prepared->report, sizeof *failure);
	if (!failure->error && (failure->step == ASPAWN_STEP_EXEC || !job->result.pid))
		failure->step = ASPAWN_STEP_NONE;
	else if (!failure->error)
		failure->error = -PSYS_ECHILD;
}

/* end 0: as it has ended. */
QUEUE_SERVER void aspawn_job_finish(struct aspawn_queue *queue, struct server *server,
				    struct job *job, int end)
{
	struct aspawn_result *result = &job->result;

	if (!result->pid)
		aspawn_server_close_fds(queue, server, job);
	else {
		aspawn_list_remove(queue, &server->running, job);
		__atomic_sub_fetch(&queue->shared->counts.running, 1, __ATOMIC_RELAXED);
		server->must_wait = false;
	}
	job_fill_failure(job);
	if (!end)
		end = job->ended_as         ? job->ended_as :
		      result->failure.error ? ASPAWN_JOB_NOT_STARTED :
					      ASPAWN_JOB_RAN;
	if (!result->ended)
		result->ended = queue_now(queue);
	result->out_total = job->outputs[0].total;
	result->err_total = job->outputs[1].total;
	result->out_size = job_kept(&job->outputs[0]);
	result->err_size = job_kept(&job->outputs[1]);
	aspawn_queue_complete(queue, job, end);
	server->completed++;
}
