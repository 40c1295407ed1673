/* SPDX-License-Identifier: MIT */
/* A job in the server: its streams, its start, its output and its end. */
#include <syscall/string.h>

#include "queue.h"

enum { MOST_READS = 64 }; /* of one output in a row: another process may go on to write */

/* On the child's stack: the server goes on at once, and closes these descriptors. */
struct job_given {
	struct job *job;
	int parent;
	int streams[3]; /* -1: /dev/null, which the server has there */
	struct {
		int fd, at; /* at: the server's number; negative: an error */
	} registered[ASPAWN_MOST_REGISTERED];
	uint32_t registered_count;
};

_Static_assert(sizeof(struct job_given) <= JOB_GIVEN, "it has room on each stack");

/* --- the child ------------------------------------------------------------------- */

static PSYS_UNINSTRUMENTED int job_stream(int from, int to)
{
	return from < 0 || from == to ? 0 : psys_dup3(from, to, 0);
}

static PSYS_UNINSTRUMENTED int job_prepare_child(const struct aspawn_queue *queue,
						 const struct job *job, const int streams[3])
{
	const struct psys_sigaction ignored[2] = { { .handler = PSYS_SIG_IGN } };
	int r = 0;

	if (queue->ignores_sigchld)
		psys_rt_sigaction(PSYS_SIGCHLD, ignored, NULL, PSYS_SIGSET_SIZE);
	if (queue->raises_files)
		psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &queue->files, NULL);
	if (job->makes_group)
		r = psys_setpgid(0, 0);
	if (r >= 0)
		r = job_stream(streams[0], 0);
	if (r >= 0)
		r = job_stream(streams[1], 1);
	if (r >= 0)
		r = job_stream(streams[2], 2);
	return r;
}

static PSYS_UNINSTRUMENTED int job_move_away(int *fd)
{
	int r = (int)psys_fcntl(*fd, PSYS_F_DUPFD_CLOEXEC, 3);

	if (r >= 0)
		*fd = r;
	return r;
}

/* Gives registered descriptors the caller's numbers. One of these may be the server's number of
 * another, which is moved away first. */
static PSYS_UNINSTRUMENTED int job_place_registered(struct job_given *given, int *write_end)
{
	int r = 0;

	for (uint32_t i = 0; i < given->registered_count && r >= 0; i++) {
		const int fd = given->registered[i].fd, from = given->registered[i].at;

		for (uint32_t j = i + 1; j < given->registered_count && r >= 0; j++)
			if (given->registered[j].at == fd)
				r = job_move_away(&given->registered[j].at);
		if (r >= 0 && *write_end == fd)
			r = job_move_away(write_end);
		if (r >= 0 && from != fd)
			r = from < 0 ? -PSYS_EBADF : psys_dup3(from, fd, PSYS_O_CLOEXEC);
	}
	return r;
}

/* The aspawn_fn of jobs: data is a struct job_given. */
static PSYS_UNINSTRUMENTED int job_child(void *control, int write_end, void *mask, void *data,
					 size_t length)
{
	struct job_given *given = data;
	struct job *job = given->job;

	(void)length;
	if (!(job->queue->flags & ASPAWN_QUEUE_LOCAL)) {
		psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
		if (psys_getppid() != given->parent) /* the server has ended: the job is lost */
			psys_exit_group(127);
	}
	job->prepared->report_fd = write_end;
	int r = job_prepare_child(job->queue, job, given->streams);
	if (r >= 0)
		r = job_place_registered(given, &write_end);
	job->prepared->report_fd = write_end;
	if (r < 0) {
		job->prepared->report.step = ASPAWN_STEP_STREAMS;
		aspawn_fail(job->prepared, r, NULL);
	}
	return aspawn_perform(control, write_end, mask, job->prepared, 0);
}

/* --- streams ----------------------------------------------------------------------- */

static QUEUE_SERVER void job_unpoll(const struct server *server, int fd)
{
	struct psys_epoll_event none = { 0, 0 };

	psys_epoll_ctl(server->epoll, PSYS_EPOLL_CTL_DEL, fd, &none);
}

static QUEUE_SERVER int job_poll(const struct server *server, const struct job *job, int fd,
				 int kind)
{
	struct psys_epoll_event event = { PSYS_EPOLLIN,
					  (uint64_t)job->number << 2 | (unsigned)kind };

	return psys_epoll_ctl(server->epoll, PSYS_EPOLL_CTL_ADD, fd, &event);
}

/* Removes it from epoll first, which otherwise reports it as long as a child before its exec has a
 * copy. */
static QUEUE_SERVER void job_close_output(const struct server *server, struct job_output *output)
{
	if (output->fd < 0)
		return;
	if (output->is_polled)
		job_unpoll(server, output->fd);
	psys_close(output->fd);
	output->fd = -1;
	output->is_polled = false;
}

/* The child's ends. */
static QUEUE_SERVER void job_close_given(const struct server *server, struct job *job)
{
	if (job->in_fd >= 0 && job->in_fd != server->null)
		psys_close(job->in_fd);
	for (int i = 0; i < 2; i++)
		if (job->write_fds[i] >= 0 && job->write_fds[i] != server->null &&
		    (i == 0 || job->write_fds[1] != job->write_fds[0]))
			psys_close(job->write_fds[i]);
	job->in_fd = job->write_fds[0] = job->write_fds[1] = -1;
}

static QUEUE_SERVER int job_make_output(const struct server *server, struct job *job, int which)
{
	struct job_output *output = &job->outputs[which];
	int ends[2];
	int r = aspawn_files_pipe(ends);

	if (r < 0)
		return r;
	output->fd = ends[0];
	job->write_fds[which] = ends[1];
	r = (int)psys_fcntl(ends[0], PSYS_F_SETFL, PSYS_O_NONBLOCK);
	if (r >= 0)
		r = job_poll(server, job, ends[0], which);
	output->is_polled = r >= 0;
	return r;
}

/* A file in memory: a pipe would have to be fed while the program runs. */
static QUEUE_SERVER int job_make_input(struct job *job)
{
	size_t written = 0;
	long r = psys_memfd_create("aspawn-input", PSYS_MFD_CLOEXEC);

	if (r < 0)
		return (int)r;
	job->in_fd = (int)r;
	while (written < job->input_size) {
		r = psys_pwrite64(job->in_fd, (const char *)job->input + written,
				  job->input_size - written, (int64_t)written);
		if (r <= 0)
			return r < 0 ? (int)r : -PSYS_EIO;
		written += (size_t)r;
	}
	return 0;
}

static QUEUE_SERVER int job_make_streams(const struct server *server, struct job *job)
{
	int r = 0;

	job->in_fd = job->write_fds[0] = job->write_fds[1] = server->null;
	if (job->input)
		r = job_make_input(job);
	if (r >= 0 && job->flags & ASPAWN_JOB_OUTPUT)
		r = job_make_output(server, job, 0);
	if (r >= 0 && job->flags & ASPAWN_JOB_ERROR)
		r = job_make_output(server, job, 1);
	else if (job->flags & ASPAWN_JOB_ERROR_TO_OUTPUT)
		job->write_fds[1] = job->write_fds[0];
	return r;
}

/* --- the start --------------------------------------------------------------------- */

/* There are as many stacks as jobs may run, and a child leaves its stack early. */
static QUEUE_SERVER struct Stack_t *job_find_stack(const struct aspawn_queue *queue)
{
	for (uint32_t i = 0; i < queue->limit; i++) {
		struct Stack_t *stack = &queue->stacks[i];
		if (__atomic_load_n(&stack_state(stack)->use, __ATOMIC_ACQUIRE) == FREE)
			return stack;
	}
	for (uint32_t i = 0; i < queue->limit; i++) /* the kernel may not clear the word */
		if (!aspawn_stack_busy(&queue->stacks[i]))
			return &queue->stacks[i];
	return NULL;
}

static QUEUE_SERVER int job_spawn(const struct aspawn_queue *queue, const struct server *server,
				  struct job *job)
{
	struct job_given given = { .job = job,
				   .parent = job->prepared->parent,
				   .streams = { job->in_fd, job->write_fds[0], job->write_fds[1] },
				   .registered_count = job->fd_count };
	struct Stack_t *stack = job_find_stack(queue);
	struct spawned spawned;

	if (!stack)
		return -PSYS_EAGAIN;
	for (uint32_t i = 0; i < job->fd_count; i++) {
		const struct registered *entry = aspawn_queue_registered(queue, job->fds[i]);
		given.registered[i].fd = job->fds[i];
		given.registered[i].at = entry ? entry->at : -1;
	}
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
		.cgroup_fd = job->cgroup,
		.cgroup_is_optional = true,
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
	job->pid = spawned.pid;
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
	int *bucket = &server->buckets[job->pid & (PID_BUCKETS - 1)];

	job->next_of_pid = *bucket;
	*bucket = job->number;
}

QUEUE_SERVER bool aspawn_job_start(struct aspawn_queue *queue, struct server *server,
				   struct job *job)
{
	struct shared *shared = queue->shared;

	job->pid = 0;
	job->pidfd = job->report_fd = job->outputs[0].fd = job->outputs[1].fd = -1;
	job->stage = STAGE_RUNS;
	job->ended_as = 0;
	job->has_ended = job->is_absorbed = false;
	job->prepared->parent = server->is_local ? queue->host : shared->server_pid;
	job->result.started = queue_now(queue);
	int r = job_make_streams(server, job);
	if (r >= 0)
		r = job_spawn(queue, server, job);
	job_close_given(server, job);
	if (r < 0) {
		job_close_output(server, &job->outputs[0]);
		job_close_output(server, &job->outputs[1]);
		if (is_shortage(r) && shared->counts.running)
			return false;
		job->prepared->report.error = r;
		job->prepared->report.step = ASPAWN_STEP_NONE;
		aspawn_job_finish(queue, server, job, ASPAWN_JOB_NOT_STARTED);
		return true;
	}
	job->result.pid = job->pid;
	if (server->is_local && (job->pidfd < 0 || job_poll(server, job, job->pidfd, 2) < 0))
		server->unpolled++;
	if (!server->is_local)
		job_note_pid(server, job);
	job->deadline = 0;
	if (job->timeout) {
		job->deadline = job->result.started + job->timeout;
		if (job->deadline < server->next_deadline)
			server->next_deadline = job->deadline;
	}
	aspawn_list_add(queue, &server->running, job);
	queue_count_up(&shared->counts.running);
	queue_count_up(&shared->counts.started);
	return true;
}

/* --- output -------------------------------------------------------------------------- */

/* After an error of the sink the rest is dropped. */
static QUEUE_SERVER void job_feed_sink(struct server *server, struct job *job, int which,
				       size_t count)
{
	struct job_output *output = &job->outputs[which];

	output->total += count;
	if (job->sink(job->sink_arg, which + 1, output->data, count) >= 0)
		return;
	job->sink = NULL;
	job->outputs[0].size = job->outputs[1].size = 0;
	aspawn_job_stop(server, job, ASPAWN_JOB_CANCELLED, false);
}

/* Returns what read(2) does. What does not fit is read too, and dropped. */
static QUEUE_SERVER long job_read_once(struct server *server, struct job *job, int which)
{
	struct job_output *output = &job->outputs[which];
	char dropped[4096];
	size_t room = output->size - output->at;

	long r = psys_read(output->fd, room ? output->data + output->at : dropped,
			   room ? room : sizeof dropped);
	if (r <= 0)
		return r;
	if (job->sink) {
		job_feed_sink(server, job, which, (size_t)r);
		return r;
	}
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

static QUEUE_SERVER void job_read_all(struct server *server, struct job *job, int which)
{
	struct job_output *output = &job->outputs[which];

	for (int reads = 0; output->fd >= 0 && reads < MOST_READS; reads++) {
		long r = job_read_once(server, job, which);
		if (r == -PSYS_EAGAIN)
			return;
		if (r <= 0 && r != -PSYS_EINTR)
			job_close_output(server, output);
	}
}

QUEUE_SERVER void aspawn_job_read(struct aspawn_queue *queue, struct server *server,
				  struct job *job, int which)
{
	job_read_all(server, job, which);
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
		r = psys_kill(-job->pid, signal);
	if (r < 0 || signal == PSYS_SIGKILL) /* it may have left its group, or not made it yet */
		psys_kill(job->pid, signal);
}

static QUEUE_SERVER void job_set_deadline(struct server *server, struct job *job, int64_t time)
{
	job->deadline = time;
	if (time && time < server->next_deadline)
		server->next_deadline = time;
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
		job_close_output(server, &job->outputs[0]);
		job_close_output(server, &job->outputs[1]);
		aspawn_job_finish(queue, server, job, 0);
	} else {
		aspawn_job_stop(server, job, ASPAWN_JOB_TIMED_OUT, job->stage != STAGE_RUNS);
	}
}

static QUEUE_SERVER void job_forget_pid(struct aspawn_queue *queue, struct server *server,
					const struct job *job)
{
	int *at = &server->buckets[job->pid & (PID_BUCKETS - 1)];

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
	if (!server->is_local)
		job_forget_pid(queue, server, job);
	if (job->pidfd >= 0) {
		job_unpoll(server, job->pidfd);
		psys_close(job->pidfd);
		job->pidfd = -1;
	}
	job_read_all(server, job, 0);
	job_read_all(server, job, 1);
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

	if (result->pid) {
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
	if (result->out)
		result->out_size = job_kept(&job->outputs[0]);
	if (result->err)
		result->err_size = job_kept(&job->outputs[1]);
	result->end = end;
	job->is_absorbed = queue->completed && queue->completed(queue->completed_arg, result) != 0;
	aspawn_queue_complete(queue, job, end);
	server->completed++;
}
