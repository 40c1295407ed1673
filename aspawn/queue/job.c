/* SPDX-License-Identifier: MIT */
/* This file has a job's streams, start, output and end in the server. */
#include <syscall/string.h>

#include "../action/action_info.h"
#include "../caller/handle.h"
#include "../caller/kill.h"
#include "../caller/start.h"
#include "../helper/helper.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/pidfd.h"
#include "descriptors.h"
#include "job.h"
#include "results.h"
#include "server.h"

enum {
	MOST_READS = 64,    /* of one output in a row: another process may go on to write */
	AGAIN_NS = 10000000 /* until a program that has no number yet is killed again */
};

/* --- streams ----------------------------------------------------------------------- */

static IN_SERVER void job_close_output(const struct aspawn_queue *queue, struct job_output *output)
{
	if (output->fd < 0)
		return;
	queue_unwatch(queue->server.epoll, output->fd);
	psys_close(output->fd);
	output->fd = -1;
}

/* Takes the signal of a write beyond RLIMIT_FSIZE. The signal is blocked here, but the caller's
 * thread which serves a local queue unblocks it later. */
static IN_SERVER void take_sigxfsz(void)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGXFSZ);
	psys_rt_sigtimedwait(&set, NULL, &at_once, PSYS_SIGSET_SIZE);
}

/* The input is a file in memory: somebody would have to feed a pipe while the program runs. */
static IN_SERVER int job_make_input(const struct job *job)
{
	const int fd =
		aspw_descriptors_avoid_streams(psys_memfd_create("aspawn-input", PSYS_MFD_CLOEXEC));
	struct psys_sigset pending;
	size_t written = 0;

	psys_sigemptyset(&pending);
	psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE);
	while (fd >= 0 && written < job->input_size) {
		const long r = psys_pwrite64(fd, (const char *)job->input + written,
					     job->input_size - written, (int64_t)written);
		if (r <= 0) {
			if (r == -PSYS_EFBIG && !psys_sigismember(&pending, PSYS_SIGXFSZ))
				take_sigxfsz();
			psys_close(fd);
			return r < 0 ? (int)r : -PSYS_EIO;
		}
		written += (size_t)r;
	}
	return fd;
}

/* --- the start --------------------------------------------------------------------- */

/* The child calls this function after all actions. */
static IN_CHILD void before_exec(struct prepared *prepared)
{
	struct job *job = prepared->of;

	job->result.executed_ns = queue_now(job->queue);
}

/* Prepares the first use of a stack. A forked copy of the caller's process does not get what the
 * jobs on the stack share with the server, and no call of the copy looks at the state. */
static IN_SERVER bool job_guard_stack(const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);

	if (!state->is_wiped_by_fork)
		state->is_wiped_by_fork =
			psys_mprotect((char *)stack->addr + STACK_UNIT, STACK_LOWEST - STACK_UNIT,
				      PSYS_PROT_NONE) >= 0;
	return state->is_wiped_by_fork;
}

/* Stores an unused stack. Fails with -EBUSY if all are in use: a child of a dead server or helper
 * is about to leave its stack, unless the child hangs in the kernel. */
static IN_SERVER int job_find_stack(const struct aspawn_queue *queue, struct job_stack **found)
{
	struct job_stack *stack = queue->stacks, *const end = stack + queue->limit;
	int r = -PSYS_EBUSY;

	for (; stack < end && r < 0; stack++) {
		if (stack->is_taken || aspw_stack_take_back(&stack->stack, PSYS_WNOHANG) < 0)
			continue;
		*found = stack;
		r = job_guard_stack(&stack->stack) ? 0 : -PSYS_EAGAIN;
	}
	return r;
}

static IN_SERVER void add_library_actions(const struct aspawn_queue *queue, const struct job *job,
					  struct library_actions *library)
{
	library->count = 0;
	library->await_clone = false;
	if (!queue->is_local)
		aspawn_action_pdeathsig(&library->list[library->count++], PSYS_SIGKILL);
	/* The creator ignores SIGCHLD, but the server must not. */
	if (queue->ignores_sigchld && job->command.flags & ASPAWN_COMMAND_INHERIT_SIGNALS)
		aspawn_action_signal_ignore(&library->list[library->count++], PSYS_SIGCHLD);
	aspw_add_process_group(library, &job->command);
}

static IN_SERVER int job_spawn(const struct aspawn_queue *queue, struct job *job,
			       struct aspawn_failure *failure)
{
	const int null =
		queue->is_local ? ASPAWN_STREAM_NULL : ASPAWN_STREAM_DEFAULT; /* the server's own */
	struct aspawn_command *command = &job->command;
	struct library_actions library;

	command->std_in = job->input ? job_make_input(job) : null;
	if (job->input && command->std_in < 0) {
		aspw_store_failure(failure, ASPAWN_STEP_STREAMS, command->std_in, 0, "input");
		return command->std_in;
	}
	command->std_out = job->result.out ? ASPAWN_STREAM_PIPE : null;
	if (job->result.err || command->std_err != ASPAWN_STREAM_STDOUT)
		command->std_err = job->result.err ? ASPAWN_STREAM_PIPE : null;
	add_library_actions(queue, job, &library);
	int r = job_find_stack(queue, &job->stack);
	if (r == 0) {
		const struct served served = {
			.stack = &job->stack->stack,
			.watch_at = job->stack->watch,
			.mask = &queue->mask,
			.lacks_clone3 = queue->lacks_clone3,
			.files = queue->raises_files ? &queue->files : NULL,
			.fds = job->fds,
			.fd_count = job->fd_count,
			.name = *queue->name ? queue->name : NULL,
			.is_local = queue->is_local,
			.before_exec = before_exec,
			.of = job,
		};
		library.served = &served;
		r = aspw_start_with(&job->child, command, &library, failure);
	}
	if (job->input)
		psys_close(command->std_in);
	if (r < 0) {
		job->stack = NULL;
		return r;
	}
	job->stack->is_taken = true;
	if (!job_is_tree(job)) /* a tree's helper has not cloned the program yet */
		job->result.pid = child_state(&job->child)->pid;
	job->outputs[0].fd = job->child.out_fd;
	job->outputs[1].fd = job->child.err_fd;
	return 0;
}

static IN_SERVER bool is_shortage(int error)
{
	return error == -PSYS_EMFILE || error == -PSYS_ENFILE || error == -PSYS_EAGAIN ||
	       error == -PSYS_ENOMEM;
}

/* A time of INT64_MAX sets no deadline. */
static IN_SERVER void job_set_deadline(struct aspawn_queue *queue, struct job *job, int64_t time)
{
	job->deadline = time;
	if (time < queue->server.next_deadline)
		queue->server.next_deadline = time;
}

static IN_SERVER void job_began(struct aspawn_queue *queue, struct job *job)
{
	const int fds[] = { job->outputs[0].fd, job->outputs[1].fd, job->child.ended_fd };

	for (uint32_t kind = 0; kind <= KIND_END; kind++)
		if ((fds[kind] >= 0 || kind == KIND_END) &&
		    queue_watch(queue->server.epoll, fds[kind], (uint32_t)job->number << 2 | kind) <
			    0)
			job->is_unpolled = true;
	queue->server.unpolled += job->is_unpolled;
	job_set_deadline(queue, job,
			 job->timeout ? job->result.started_ns + job->timeout : INT64_MAX);
	if (job_is_tree(job)) /* for the first look */
		queue->server.next_deadline = 0;
	aspw_list_remove(&queue->server.waiting[job->priority], job);
	aspw_list_add(&queue->server.running, job);
	__atomic_add_fetch(&queue->running, 1, __ATOMIC_RELAXED);
}

IN_SERVER bool aspw_job_start(struct aspawn_queue *queue, struct job *job)
{
	struct aspawn_failure failure;

	aspw_store_failure(&failure, ASPAWN_STEP_NONE, 0, 0, "");
	job->result.started_ns = queue_now(queue);
	int r = aspw_server_receive_fds(queue, job);
	const bool has_fds = r == 0;
	if (has_fds)
		r = job_spawn(queue, job, &failure);
	if (r == 0) {
		aspw_server_close_fds(queue, job);
		job_began(queue, job);
		return true;
	}
	job->result.started_ns = 0;
	if (r == -PSYS_EBUSY || (has_fds && is_shortage(r) && queue->running))
		return false;
	failure.error = r;
	if (r == -PSYS_EPIPE)
		job->ended_as = ASPAWN_OUTCOME_LOST;
	else
		psys_memcpy(&job->result.failure, &failure, sizeof failure);
	aspw_job_finish(queue, job);
	return true;
}

/* --- output -------------------------------------------------------------------------- */

/* Reads at least that many available bytes. Bytes that do not fit are read and dropped. */
static IN_SERVER void job_read_output(struct aspawn_queue *queue, const struct job *job,
				      struct job_output *output, long least)
{
	char dropped[4096];

	for (int reads = 0; output->fd >= 0 && (least > 0 || reads < MOST_READS); reads++) {
		const size_t room = output->size - output->at;
		const long r = psys_read(output->fd, room ? output->data + output->at : dropped,
					 room ? room : sizeof dropped);
		if (r == -PSYS_EAGAIN)
			return;
		if (r <= 0 && r != -PSYS_EINTR)
			job_close_output(queue, output);
		if (r <= 0)
			continue;
		least -= r;
		output->total += (uint64_t)r;
		output->at += room ? (size_t)r : 0;
		if (output->at == output->size && job->flags & ASPAWN_JOB_TAIL)
			output->at = 0;
	}
}

static IN_SERVER bool job_finish_if_silent(struct aspawn_queue *queue, struct job *job)
{
	const bool is_over = job->has_ended && job->outputs[0].fd < 0 && job->outputs[1].fd < 0;

	if (is_over)
		aspw_job_finish(queue, job);
	return is_over;
}

static IN_SERVER void job_reverse(char *bytes, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		const char byte = bytes[i];
		bytes[i] = bytes[count - 1 - i];
		bytes[count - 1 - i] = byte;
	}
}

/* Returns the number of kept bytes. A tail is rotated, so that the oldest byte comes first. */
static IN_SERVER size_t job_kept(const struct job_output *output)
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

/* A filter may refuse each call that proves whose number this is. The number is right without
 * proof: only the server reaps its children. */
static IN_SERVER int job_signal(const struct job *job, int signal, bool to_process_group)
{
	const int pid = job->result.pid;
	const int r = aspw_send_signal(job->child.ended_fd, pid, signal, to_process_group);

	return (r == -PSYS_EPERM || r == -PSYS_ENOSYS) && !job->queue->is_local ?
		       psys_kill(to_process_group ? -pid : pid, signal) :
		       r;
}

/* Returns false if the signal must be sent again. */
static IN_SERVER bool job_send(struct job *job, int signal)
{
	if (job_is_tree(job)) {
		const bool kills = signal == PSYS_SIGKILL;
		aspw_order_tree_end(&job->child, kills ? ASPAWN_GRACE_NONE : job->grace_ms);
		return !kills || aspw_kill_suspended(&job->child);
	}
	int r = job_signal(job, signal, true);

	if (r < 0 || signal == PSYS_SIGKILL) /* the program may have left or not made its group */
		r = job_signal(job, signal, false);
	job->is_left = r == -PSYS_EPERM && signal == PSYS_SIGKILL;
	return true;
}

IN_SERVER void aspw_job_stop(struct aspawn_queue *queue, struct job *job, int ended_as, bool at_once)
{
	if (job->has_ended) /* nobody waits for the rest of its output any more */
		job_set_deadline(queue, job, 0);
	if (job->has_ended || (job->signal && !at_once))
		return;
	if (!job->signal)
		job->ended_as = ended_as;
	const bool kills = at_once || job->grace_ms < 0;
	job->signal = kills ? PSYS_SIGKILL : stop_signal_of(&job->command);
	const bool is_sent = job_send(job, job->signal);
	if (!kills && !job_is_tree(job)) /* a stopped program gets the signal only then */
		job_send(job, PSYS_SIGCONT);
	int64_t deadline = INT64_MAX;
	if (!kills)
		deadline = queue_now(queue) + ms_to_ns(job->grace_ms);
	else if (job->is_left)
		deadline = 0;
	else if (!is_sent)
		deadline = queue_now(queue) + AGAIN_NS;
	job_set_deadline(queue, job, deadline);
}

/* Leaves a program of another user to the server, or with a local queue to the caller, to be
 * reaped. */
static IN_SERVER void job_leave_program(const struct aspawn_queue *queue, struct job *job)
{
	const int fd = job->child.ended_fd;
	struct psys_epoll_event left = { PSYS_EPOLLIN, (uint64_t)(unsigned)fd << 32 };

	job->result.survivors = 1;
	if (!queue->is_local &&
	    psys_epoll_ctl(queue->server.epoll, PSYS_EPOLL_CTL_MOD, fd, &left) >= 0)
		return;
	queue_unwatch(queue->server.epoll, fd);
	psys_close(fd); /* close(-1) is harmless */
}

IN_SERVER void aspw_job_expire(struct aspawn_queue *queue, struct job *job)
{
	job->deadline = INT64_MAX;
	if (!job->has_ended && !job->is_left) {
		aspw_job_stop(queue, job, ASPAWN_OUTCOME_TIMED_OUT, job->signal);
		return;
	}
	if (!job->has_ended)
		job_leave_program(queue, job);
	for (int i = 0; i < 2; i++) { /* another process holds its pipe */
		struct job_output *output = &job->outputs[i];

		/* This reads all that the pipe holds, and the end. */
		job_read_output(queue, job, output, held_by_pipe(output->fd) + 1);
		/* A process killed by the library may be about to leave the pipe. */
		if (output->fd >= 0 && !(job->has_ended && job->signal))
			job->result.cut |= 1 << i;
		job_close_output(queue, output);
	}
	aspw_job_finish(queue, job);
}

/* Reaps the ended program. If the queue ends the job, first kills what the program has left behind:
 * until the program is reaped, no other process group can have the number. */
static IN_SERVER int job_reap_zombie(const struct job *job, struct aspawn_result *result)
{
	struct psys_siginfo info;

	if (job->signal)
		aspw_send_signal(job->child.ended_fd, result->pid, PSYS_SIGKILL, true);
	info.u.child.pid = 0;
	const int r = psys_waitid(PSYS_P_PID, result->pid, &info, REAP_ANY, &result->usage);
	if (r < 0 || !info.u.child.pid)
		return r;
	result->status = aspw_wait_status(&info);
	return info.u.child.pid;
}

/* Takes the place of waitid(2) where a filter refuses that call. The stop of a tracee is no end. */
static IN_SERVER int job_reap_by_wait4(struct aspawn_result *result)
{
	const int r = psys_wait4(result->pid, &result->status, PSYS_WNOHANG, &result->usage);

	return r > 0 && (result->status & 0xff) == 0x7f ? 0 : r;
}

/* Returns true if the program has ended, and is reaped. */
static IN_SERVER bool job_reap_program(struct aspawn_queue *queue, struct job *job)
{
	int r = aspw_child_has_ended(job->child.ended_fd, job->result.pid);

	if (r > 0)
		r = job_reap_zombie(job, &job->result);
	else if (r < 0 && r != -PSYS_EINTR && r != -PSYS_ECHILD)
		r = job_reap_by_wait4(&job->result);
	if (r == 0 || r == -PSYS_EINTR)
		return false;
	if (r < 0 && !queue->is_local) {
		queue->server.has_failed = true;
		return false;
	}
	if (r < 0) /* somebody else has reaped it */
		job->ended_as = ASPAWN_OUTCOME_LOST;
	return true;
}

/* Returns true if the helper has ended. Somebody may have killed it before or after its clone
 * call. */
static IN_SERVER bool job_reap_tree(struct job *job)
{
	const struct Stack_t *stack = &job->stack->stack;
	struct aspawn_result *result = &job->result;

	if (aspw_stack_has(stack, STACK_HELPER))
		return false;
	aspw_learn_child(&job->child, DEADLINE_NEVER);
	const int pid = child_state(&job->child)->pid;
	result->pid = pid > 0 ? pid : 0;
	result->survivors = stack_state(stack)->survivors;
	result->memory_peak = stack_state(stack)->memory_peak;
	if (!aspw_helper_result(stack, &result->status, &result->usage)) {
		result->status = pid > 0 ? -1 : PSYS_SIGKILL;
		if (pid > 0)
			job->ended_as = ASPAWN_OUTCOME_LOST;
	} else if (!job->ended_as && aspw_helper_saw_oom(stack_state(stack))) {
		job->ended_as = ASPAWN_OUTCOME_OUT_OF_MEMORY;
	}
	aspw_stack_take_back(stack, PSYS_WNOHANG); /* or its next use does: somebody may trace it */
	return true;
}

static IN_SERVER void job_reap(struct aspawn_queue *queue, struct job *job)
{
	struct aspawn_result *result = &job->result;

	if (job->has_ended ||
	    !(job_is_tree(job) ? job_reap_tree(job) : job_reap_program(queue, job)))
		return;
	result->ended_ns = queue_now(queue);
	job->has_ended = true;
	queue_unwatch(queue->server.epoll, job->child.ended_fd);
	psys_close(job->child.ended_fd); /* close(-1) is harmless */
	for (int i = 0; i < 2; i++)
		job_read_output(queue, job, &job->outputs[i], 0);
	if (!job_finish_if_silent(queue, job))
		job_set_deadline(queue, job,
				 queue_now(queue) + (job->signal || job->grace_ms < 0 ?
							     0 :
							     ms_to_ns(job->grace_ms)));
}

IN_SERVER void aspw_job_see(struct aspawn_queue *queue, struct job *job, unsigned kind)
{
	if (kind == KIND_END) {
		job_reap(queue, job);
		return;
	}
	job_read_output(queue, job, &job->outputs[kind], 0);
	job_finish_if_silent(queue, job);
}

/* The job's process has ended. This learns if it has executed the program, and frees the stack. */
static IN_SERVER void job_leave_stack(struct job *job)
{
	const struct Stack_t *stack = &job->stack->stack;
	struct aspawn_failure *failure = &job->result.failure;

	/* The kernel may not have cleared the word. A killed helper's child may still be there. */
	if (job_is_tree(job) ? aspw_helper_result(stack, NULL, NULL) : job->has_ended)
		stack_is_left(stack_state(stack));
	if (aspw_wait_started(&job->child, failure, 0) == -PSYS_ETIMEDOUT &&
	    child_state(&job->child)->answer != EXECUTING)
		failure->error = -PSYS_ECHILD;
	if (failure->error && job->ended_as == ASPAWN_OUTCOME_OUT_OF_MEMORY)
		job->ended_as = 0; /* there was no program yet */
	aspw_release_reports(&job->child);
	job->stack->is_taken = false;
}

IN_SERVER void aspw_job_finish(struct aspawn_queue *queue, struct job *job)
{
	struct aspawn_result *result = &job->result;

	if (!job->stack) {
		aspw_list_remove(&queue->server.waiting[job->priority], job);
		aspw_server_close_fds(queue, job);
	} else {
		aspw_list_remove(&queue->server.running, job);
		__atomic_sub_fetch(&queue->running, 1, __ATOMIC_RELAXED);
		queue->server.must_wait = false;
		queue->server.unpolled -= job->is_unpolled;
		job_leave_stack(job);
	}
	if (!result->ended_ns)
		result->ended_ns = queue_now(queue);
	result->out_total = job->outputs[0].total;
	result->err_total = job->outputs[1].total;
	result->out_length = job_kept(&job->outputs[0]);
	result->err_length = job_kept(&job->outputs[1]);
	if (!job->ended_as)
		job->ended_as =
			result->failure.error ? ASPAWN_OUTCOME_NOT_STARTED : ASPAWN_OUTCOME_RAN;
	aspw_queue_complete(queue, job, job->ended_as);
	queue->server.completed++;
}
