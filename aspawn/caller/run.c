/* SPDX-License-Identifier: MIT */
/* Runs a command to the end: feeds input, collects output, terminates the program after a
 * timeout. */
#include <syscall/string.h>

#include "../action/action_info.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "handle.h"
#include "kill.h"
#include "start.h"
#include "terminal.h"
#include "wait.h"

enum { INPUT, OUTPUT, ERROR, END, POLLED }; /* the first three are the streams' numbers */
enum { LAST_WAIT = 10000 };                 /* milliseconds, for a program that may not be killed */

struct communication {
	struct aspawn_io *io;
	struct aspawn_child *child;
	struct psys_pollfd polled[POLLED]; /* fd is -1 if it is closed or unused */
	int pty;                           /* the terminal, which may be two of these, or -1 */
	size_t fed;                        /* bytes of input written */
	int end;         /* why the program is to be ended, enum aspawn_outcome, or 0 */
	int result;      /* of the call, if end is set */
	int error;       /* of a read or write, or 0 */
	bool is_left;    /* the program may not be killed, and runs on */
	bool refused;    /* the sink has returned an error, and is not called again */
	int64_t tend_at; /* when the child is to be tended */
	int cgroup_fd;   /* the cgroup that the program has joined, or -1 */
	int oom_kills;   /* of the cgroup, before the start */
};

/* Leaves the terminal open until the end, since closing the terminal hangs it up. */
static void close_pipe_end(struct communication *communication, int which)
{
	int *fd = &communication->polled[which].fd;

	if (*fd >= 0 && *fd != communication->pty)
		psys_close(*fd);
	*fd = -1;
}

/* Keeps the first reason. */
static void end_communication(struct communication *communication, int end, int result)
{
	if (communication->end)
		return;
	communication->end = end;
	communication->result = result;
}

/* --- bytes ---------------------------------------------------------------- */

/* Returns the end of input for a terminal, where the first Ctrl-D only ends an unfinished line. */
static const char *end_of_input(const struct communication *communication)
{
	const struct aspawn_io *io = communication->io;
	const char *input = io->input;

	if (communication->polled[INPUT].fd != communication->pty)
		return "";
	return io->input_size && input[io->input_size - 1] != '\n' ? "\4\4" : "\4";
}

/* Blocks SIGPIPE for one write only: a program started by a sink would inherit a longer block. */
static __attribute__((noinline)) long write_without_sigpipe(int fd, const void *bytes, size_t size)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset pipe, mask, pending;

	psys_sigemptyset(&pipe);
	psys_sigaddset(&pipe, PSYS_SIGPIPE);
	psys_sigemptyset(&pending);
	psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE);
	long r = psys_rt_sigprocmask(PSYS_SIG_BLOCK, &pipe, &mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	r = psys_write(fd, bytes, size);
	if (r == -PSYS_EPIPE && !psys_sigismember(&pending, PSYS_SIGPIPE))
		psys_rt_sigtimedwait(&pipe, NULL, &at_once, PSYS_SIGSET_SIZE);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

static void write_input(struct communication *communication)
{
	const struct psys_pollfd *to = &communication->polled[INPUT];
	const size_t size = communication->io->input_size, fed = communication->fed;
	const char *end = end_of_input(communication);
	const size_t all = size + psys_strlen(end);
	const char *bytes =
		fed < size ? (const char *)communication->io->input + fed : end + (fed - size);
	const size_t count = (fed < size ? size : all) - fed;
	const long r = count ? write_without_sigpipe(to->fd, bytes, count) : 0;

	if (r > 0)
		communication->fed += (size_t)r;
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_EPIPE)
		communication->error = (int)r;
	/* Nobody reads from a terminal that is hung up. */
	if (r == -PSYS_EPIPE || to->revents & PSYS_POLLHUP || communication->fed == all)
		close_pipe_end(communication, INPUT);
}

/* Returns the number of bytes read. Also reads output that does not fit, to detect the excess, and
 * drops it. Kept output ends with a NUL. */
static long read_output(struct communication *communication, int which)
{
	struct aspawn_io *io = communication->io;
	const bool is_out = which == OUTPUT;
	const size_t size = is_out ? io->out_size : io->err_size;
	size_t *length = is_out ? &io->out_length : &io->err_length;
	const bool fits = *length + 1 < size;
	char piece[4096], *const kept = is_out ? io->out : io->err;
	char *to = fits ? kept + *length : piece;
	long r = psys_read(communication->polled[which].fd, to,
			   fits ? size - 1 - *length : sizeof piece);

	if (r == -PSYS_EAGAIN || r == -PSYS_EINTR)
		return 0;
	if (r == -PSYS_EIO &&
	    communication->polled[which].fd == communication->pty) /* nobody holds it open */
		r = 0;
	if (r < 0)
		communication->error = (int)r;
	if (r == 0)
		close_pipe_end(communication, which);
	if (r <= 0)
		return r;
	*(is_out ? &io->out_total : &io->err_total) += (uint64_t)r;
	if (fits) {
		*length += (size_t)r;
		to[r] = '\0';
	} else if (size) {
		if (!(io->flags & ASPAWN_IO_DROP_EXCESS))
			end_communication(communication, ASPAWN_OUTCOME_FULL, -PSYS_ENOBUFS);
	} else if (io->sink && !communication->refused) {
		int answer = io->sink(io->arg, which, piece, (size_t)r);
		communication->refused = answer < 0;
		if (answer < 0)
			end_communication(communication, ASPAWN_OUTCOME_CANCELLED, answer);
	}
	return r;
}

static void transfer_streams(struct communication *communication)
{
	if (communication->polled[INPUT].revents)
		write_input(communication);
	for (int which = OUTPUT; which <= ERROR; which++)
		if (communication->polled[which].revents)
			read_output(communication, which);
}

/* Reads what the pipes hold, and then once more, to see the end. Another process may go on
 * writing. */
static void drain_pipes(struct communication *communication)
{
	for (int which = OUTPUT; which <= ERROR; which++) {
		const int *fd = &communication->polled[which].fd;
		long left = held_by_pipe(*fd), r = 1;

		for (; left > 0 && r > 0; left -= r)
			r = read_output(communication, which);
		if (*fd >= 0)
			read_output(communication, which);
		if (*fd >= 0)
			communication->io->cut |= which;
	}
}

/* --- the event loop --------------------------------------------------------- */

/* Polls only the used descriptors, since ppoll(2) rejects more entries than RLIMIT_NOFILE. */
static int poll_used(struct communication *communication, struct psys_timespec timeout)
{
	struct psys_pollfd used[POLLED];
	int from[POLLED];
	unsigned count = 0;

	for (int i = 0; i < POLLED; i++) {
		communication->polled[i].revents = 0;
		if (communication->polled[i].fd < 0)
			continue;
		used[count] = communication->polled[i];
		from[count++] = i;
	}
	int r = psys_ppoll(used, count, &timeout, NULL, 0);
	for (unsigned i = 0; i < count && r > 0; i++)
		communication->polled[from[i]].revents = used[i].revents;
	return r;
}

/* Returns 1 if the child has ended, 0 if not, or a negative error number. */
static int has_ended(struct communication *communication)
{
	struct psys_pollfd *end = &communication->polled[END];

	if (end->fd >= 0 && !end->revents)
		return 0;
	int r = aspawn_ended(communication->child);
	if (r == 0) /* the helper was killed: look by the clock from now on */
		end->fd = -1;
	return r == -PSYS_ECHILD ? 1 : r;
}

static int64_t in_until_tending(const struct communication *communication)
{
	return aspw_deadline_in(aspw_until_tending(communication->child));
}

static int send_signal(struct communication *communication, int signal)
{
	int r = 0;

	if (communication->io->flags & ASPAWN_IO_KILL_GROUP)
		r = aspawn_kill_group(communication->child, signal);
	/* The child may have left its group. */
	if (!(communication->io->flags & ASPAWN_IO_KILL_GROUP) || signal == PSYS_SIGKILL)
		r = aspawn_kill(communication->child, signal);
	return r;
}

static int signal_program(struct communication *communication, int signal)
{
	const bool kills = signal == PSYS_SIGKILL;

	if (child_state(communication->child)->owner == OWNER_TREE &&
	    aspawn_kill_tree(communication->child,
			     kills ? ASPAWN_GRACE_NONE : communication->io->grace_ms) == 0)
		return 0;
	const int r = send_signal(communication, signal);
	if (!kills) /* a stopped program gets the signal only then */
		send_signal(communication, PSYS_SIGCONT);
	return r;
}

/* Runs until the child and its output have ended, or a timeout ends the wait. Returns 0, or a
 * negative error number if a stream, a signal or the wait for the child fails. */
static int event_loop(struct communication *communication)
{
	const struct psys_timespec tick = { 0, 10000000 };
	const int64_t timeout = communication->io->time_limit_ms;
	const int64_t grace = grace_in_ms(communication->io->grace_ms);
	int64_t deadline = aspw_deadline_in(timeout ? timeout : -1);
	bool ended = false;
	int signal = 0;
	unsigned turns = 0;

	while (!ended || communication->polled[OUTPUT].fd >= 0 ||
	       communication->polled[ERROR].fd >= 0) {
		/* Without a clock the deadline is 0, and would always be past. */
		const int64_t tend_at =
			ended || !communication->tend_at ? DEADLINE_NEVER : communication->tend_at;
		struct psys_timespec left =
			aspw_deadline_left(tend_at < deadline ? tend_at : deadline);
		if (!ended && communication->polled[END].fd < 0 &&
		    (left.tv_sec || left.tv_nsec > tick.tv_nsec))
			left = tick;
		int r = poll_used(communication, left);
		/* The clock is read now and then while there is much output. */
		const bool is_idle = r == 0, looks = is_idle || ++turns % 64 == 0;
		if (r > 0)
			transfer_streams(communication);
		if (communication->error)
			return communication->error;
		if (r < 0 && r != -PSYS_EINTR)
			return r;
		if (!ended) { /* frequent signals may interrupt every tick */
			r = has_ended(communication);
			if (r < 0)
				return r;
			if (r) {
				ended = true;
				communication->polled[END].fd = -1;
				deadline = aspw_deadline_in(grace);
			} else if (looks && (communication->tend_at ?
						     aspw_deadline_is_past(communication->tend_at) :
						     is_idle)) {
				if (aspw_tend_child(communication->child, signal == PSYS_SIGKILL))
					return -PSYS_ECHILD;
				communication->tend_at = in_until_tending(communication);
			}
		}
		const bool is_late = aspw_deadline_is_past(deadline);
		if (ended) {
			if (is_late) /* a grandchild holds the pipe */
				drain_pipes(communication);
			if (communication->end && signal != PSYS_SIGKILL) /* for what is left */
				signal_program(communication, (signal = PSYS_SIGKILL));
			if (is_late)
				break;
			continue;
		}
		if (!is_late && (!communication->end || signal))
			continue;
		end_communication(communication, ASPAWN_OUTCOME_TIMED_OUT, -PSYS_ETIMEDOUT);
		deadline = signal ? DEADLINE_NEVER : aspw_deadline_in(grace);
		signal = signal || communication->io->grace_ms < 0 ?
				 PSYS_SIGKILL :
				 child_state(communication->child)->stop_signal;
		r = signal_program(communication, signal);
		communication->tend_at = in_until_tending(communication);
		if (r == -PSYS_EPERM && signal == PSYS_SIGKILL) /* the user has changed */
			return r;
		if (r == -PSYS_EAGAIN && signal == PSYS_SIGKILL) /* there is no child yet */
			deadline = aspw_deadline_in(10);
	}
	return communication->error;
}

/* --- the public calls --------------------------------------------------------- */

static void clear_results(struct aspawn_io *io)
{
	if (io->out && io->out_size)
		*(char *)io->out = '\0';
	if (io->err && io->err_size)
		*(char *)io->err = '\0';
	io->out_length = io->err_length = 0;
	io->out_total = io->err_total = io->memory_peak = 0;
	io->cut = io->survivor = 0;
	io->outcome = ASPAWN_OUTCOME_NONE;
	io->status = -1;
	psys_memset(&io->usage, 0, sizeof io->usage);
	aspw_store_failure(&io->failure, ASPAWN_STEP_NONE, 0, 0, "");
}

/* Clears the results and checks the members of the first version, which all versions have. */
static int check_io(struct aspawn_io *io)
{
	const uint64_t flags = ASPAWN_IO_KILL_GROUP | ASPAWN_IO_DROP_EXCESS;

	if (!io || io->size < sizeof *io)
		return -PSYS_EINVAL;
	clear_results(io);
	int r = aspw_read_structure(NULL, sizeof *io, io, io->size, sizeof *io);
	if (r < 0)
		return aspw_refuse_argument(&io->failure, r, "io.size");
	if (io->flags & ~flags)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.flags");
	if (!io->input && io->input_size)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.input");
	if (!io->out && io->out_size)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.out");
	if (!io->err && io->err_size)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.err");
	if (io->time_limit_ms < 0)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.time_limit_ms");
	if (io->grace_ms < ASPAWN_GRACE_NONE)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.grace_ms");
	return 0;
}

/* Checks that the input and each buffer have a pipe or the terminal. */
static int check_pipes(struct aspawn_io *io, bool in, bool out, bool err)
{
	if (io->input && !in)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.input");
	if (io->out_size && !out)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.out");
	if (io->err_size && !err)
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "io.err");
	return 0;
}

/* True if SIGKILL has ended the program, and the OOM killer has killed in the joined cgroup. */
static bool is_out_of_memory(const struct communication *communication, int status)
{
	return communication->cgroup_fd >= 0 && PSYS_WIFSIGNALED(status) &&
	       PSYS_WTERMSIG(status) == PSYS_SIGKILL &&
	       aspawn_oom_kills(communication->cgroup_fd) > communication->oom_kills;
}

/* Reaps the child and stores the results. looped is the result of event_loop(). Gives the child up
 * after patience_ms. */
static int conclude_run(struct communication *communication, int looped, int64_t patience_ms)
{
	struct aspawn_io *io = communication->io;
	/* Ask before the wait, which keeps only the end of the subject. */
	int started = aspawn_wait_started(communication->child, &io->failure, 0);
	int waited = aspw_wait_child(communication->child, &io->status, &io->usage,
				     &io->memory_peak, patience_ms);
	const bool is_left = waited == -PSYS_ETIMEDOUT;

	if (is_left)
		io->survivor = child_state(communication->child)->pid;

	if (started == -PSYS_ETIMEDOUT)
		started = aspawn_wait_started(communication->child, &io->failure, 0);
	aspw_give_up_child(communication->child); /* if the wait has failed */
	if (communication->is_left && looped == -PSYS_EPERM &&
	    !is_left) /* the program has ended in the meantime */
		looped = 0;
	/* -ECHILD means that this run has ended the child before its exec. */
	if (looped >= 0 && started == -PSYS_ECANCELED &&
	    !(communication->end && io->failure.error == -PSYS_ECHILD)) {
		io->outcome = ASPAWN_OUTCOME_NOT_STARTED;
		return started;
	}
	aspw_store_failure(&io->failure, ASPAWN_STEP_NONE, 0, 0, "");
	const bool loses = is_left || waited == -PSYS_ECHILD || waited == -PSYS_EOWNERDEAD;
	const bool survives = waited == -PSYS_ENOTEMPTY;
	if (looped < 0 || (waited < 0 && !communication->end && !survives)) {
		io->outcome = loses ? ASPAWN_OUTCOME_LOST : ASPAWN_OUTCOME_NONE;
		return looped < 0 ? looped : waited;
	}
	io->outcome = child_state(communication->child)->outcome;
	if (communication->end)
		io->outcome = communication->end;
	else if (is_out_of_memory(communication, io->status))
		io->outcome = ASPAWN_OUTCOME_OUT_OF_MEMORY;
	if (survives)
		return waited;
	return communication->end ? communication->result : 0;
}

/* Returns the caller's end of a stream, or -1. */
static int end_of(struct aspawn_child *child, int stream)
{
	const int ends[] = { child->in_fd, child->out_fd, child->err_fd };

	return child_state(child)->on_pty >> stream & 1 ? child->pty_fd : ends[stream];
}

/* Returns the result of event_loop(). */
static int run_event_loop(struct communication *communication)
{
	struct aspawn_child *child = communication->child;
	const struct aspawn_io *io = communication->io;

	communication->pty = child->pty_fd;
	for (int i = INPUT; i <= ERROR; i++) {
		struct psys_pollfd *polled = &communication->polled[i];

		polled->fd = end_of(child, i);
		polled->events = i == INPUT ? PSYS_POLLOUT : PSYS_POLLIN;
		long r = polled->fd < 0 ? 0 : psys_fcntl(polled->fd, PSYS_F_SETFL, PSYS_O_NONBLOCK);
		if (r < 0)
			communication->error = (int)r;
	}
	child->in_fd = child->out_fd = child->err_fd = child->pty_fd = -1;
	if (io->flags & ASPAWN_IO_KILL_GROUP) /* keep a pidfd for the group after the child's end */
		aspw_child_pidfd(child);
	communication->polled[END].fd = child->ended_fd;
	communication->polled[END].events = PSYS_POLLIN;
	communication->tend_at = in_until_tending(communication);
	int looped = communication->error ? communication->error : event_loop(communication);
	communication->is_left =
		looped < 0 && signal_program(communication, PSYS_SIGKILL) == -PSYS_EPERM;
	for (int i = INPUT; i <= ERROR; i++)
		close_pipe_end(communication, i);
	psys_close(communication->pty); /* close(-1) is harmless */
	return looped;
}

/* Concludes the run. Also stores in the handle why the program has ended. */
static int finish_run(struct communication *communication, int looped, int64_t patience_ms)
{
	const int r = conclude_run(communication, looped, looped == -PSYS_ECHILD ? 0 : patience_ms);

	child_state(communication->child)->outcome = (unsigned char)communication->io->outcome;
	return r;
}

int aspawn_communicate(struct aspawn_child *child, struct aspawn_io *io)
{
	struct communication communication = { .io = io, .child = child, .cgroup_fd = -1 };
	int r = check_io(io);

	if (r < 0)
		return r;
	if (!is_child(child))
		return aspw_refuse_argument(&io->failure, -PSYS_EINVAL, "child");
	r = check_pipes(io, end_of(child, INPUT) >= 0, end_of(child, OUTPUT) >= 0,
			end_of(child, ERROR) >= 0);
	if (r < 0)
		return r;
	r = run_event_loop(&communication);
	if (!communication.is_left)
		return finish_run(&communication, r, -1);
	io->outcome = ASPAWN_OUTCOME_LOST;
	io->survivor = child_state(child)->pid;
	return -PSYS_EPERM;
}

/* Sets the command's default streams to what *io asks for. */
static int choose_streams(struct aspawn_command *command, struct aspawn_io *io)
{
	if (command->std_in == ASPAWN_STREAM_DEFAULT)
		command->std_in = io->input ? ASPAWN_STREAM_PIPE : ASPAWN_STREAM_NULL;
	if (command->std_out == ASPAWN_STREAM_DEFAULT && (io->out_size || io->sink))
		command->std_out = ASPAWN_STREAM_PIPE;
	if (command->std_err == ASPAWN_STREAM_DEFAULT && io->err_size)
		command->std_err = ASPAWN_STREAM_PIPE;
	const unsigned on_pty = streams_on_pty(command);
	return check_pipes(io, command->std_in == ASPAWN_STREAM_PIPE || on_pty & 1 << INPUT,
			   command->std_out == ASPAWN_STREAM_PIPE || on_pty & 1 << OUTPUT,
			   command->std_err == ASPAWN_STREAM_PIPE || on_pty & 1 << ERROR);
}

/* Notes the cgroup that the command joins by a descriptor of the caller. Version 1 has a cgroup for
 * each controller: then notes the last that counts OOM kills. */
static void note_cgroup(struct communication *communication, const struct aspawn_command *command)
{
	for (size_t i = 0; i < command->action_count; i++) {
		if (command->actions[i].kind != ASPAWN_ACTION_JOIN_CGROUP)
			continue;
		const int fd = command->actions[i].u.join_cgroup.fd, kills = aspawn_oom_kills(fd);
		if (kills < 0)
			continue;
		communication->cgroup_fd = fd;
		communication->oom_kills = kills;
	}
}

int aspawn_run(const struct aspawn_command *command, struct aspawn_io *io)
{
	struct library_actions library; /* an initializer would call memset() */
	struct aspawn_command copy;
	struct aspawn_child child;
	struct communication communication = { .io = io, .child = &child, .cgroup_fd = -1 };
	int r = check_io(io);

	library.count = 0;
	library.served = NULL;
	if (r == 0)
		r = aspw_read_command(&copy, command, &io->failure);
	if (r == 0)
		r = choose_streams(&copy, io);
	if (r < 0)
		return r;
	library.await_clone = io->flags & ASPAWN_IO_KILL_GROUP;
	if (io->flags & ASPAWN_IO_KILL_GROUP || copy.flags & ASPAWN_COMMAND_TREE_OR_GROUP)
		aspw_add_process_group(&library, &copy);
	note_cgroup(&communication, &copy);
	r = aspw_start_with(&child, &copy, &library, &io->failure);
	if (r < 0 &&
	    io->failure.step == ASPAWN_STEP_CLONE) { /* of the helper, which was waited for */
		io->outcome = ASPAWN_OUTCOME_NOT_STARTED;
		io->status = 127 << 8;
		return -PSYS_ECANCELED;
	}
	if (r < 0)
		return r;
	r = run_event_loop(&communication);
	return finish_run(&communication, r, communication.is_left ? LAST_WAIT : -1);
}
