/* SPDX-License-Identifier: MIT */
/*
 * Supervises the command: signals, limits and the end. Runs in the tool.
 *
 * RUNNING    The program runs until it ends, a limit is reached, or a signal asks for the end.
 * LINGERING  The program has ended by itself: the processes that it has left have 100 ms.
 * ENDING     A signal was sent, and the grace runs.
 * KILLING    SIGKILL was sent to every process that the reaper has found. Soon the library ends the
 *            rest.
 * DRAINING   The tool still writes the output that is left.
 */
#include "cli.h"

enum phase { RUNNING, LINGERING, ENDING, KILLING, DRAINING };
/* Milliseconds. */
enum { LINGER = 100, GRACE_OF_REST = 1000, DRAIN = 1000, ESCALATION = 100, PATIENCE = 10000 };
enum { MOST_STOPPING = 200, SI_KERNEL = 0x80 };
enum { SIGNALS, ENDED, PARENT, STREAMS, POLLED = STREAMS + PUMPS };

struct supervision {
	struct setting *setting;
	const struct options *options;
	struct result *result;
	struct shared *shared;
	struct aspawn_child tree;
	struct psys_pollfd polled[POLLED];
	enum phase phase;
	int stops;                   /* signals that asked for the end */
	int kills;                   /* how often SIGKILL was ordered */
	bool is_helperless;          /* somebody has killed the helper */
	bool gives_up;               /* a signal asks for the end, and output is still there */
	bool is_over;                /* nothing of the command is left */
	int64_t ended_at;            /* the program's end, or 0 while it runs */
	int64_t timeout_at, step_at; /* when the timeout, or the phase, is over */
};

/* --- orders ---------------------------------------------------------------------------- */

static void ring(struct supervision *s)
{
	if (s->setting->reaps)
		reaper_turn(s->setting);
	else
		aspawn_kill(&s->tree, PSYS_SIGCONT);
}

static void order(struct supervision *s, bool all, int signal)
{
	int *orders = all ? s->shared->to_all : s->shared->to_program;

	if (signal < 1 || signal > MOST_SIGNAL)
		return;
	if (s->options->is_verbose)
		say("%n: %g is sent%s", *s->options->argv, signal, all ? " to all" : "");
	__atomic_store_n(&orders[signal], 1, __ATOMIC_RELEASE);
	ring(s);
}

/* Returns NO_TIME for 0, as 0 is no limit. */
static int64_t time_in(int64_t ms)
{
	return ms > 0 ? now_ms() + ms : NO_TIME;
}

static void kill_all(struct supervision *s)
{
	s->result->had_to_kill = true;
	s->phase = KILLING;
	s->step_at = time_in(ESCALATION);
	s->kills++;
	order(s, true, PSYS_SIGKILL);
}

/* Signal 0 sends nothing. */
static void stop(struct supervision *s, bool all, int signal, int64_t grace)
{
	if (s->phase >= KILLING)
		return;
	if (signal == PSYS_SIGKILL) {
		kill_all(s);
		return;
	}
	if (s->phase != ENDING)
		s->step_at = time_in(grace);
	s->phase = ENDING;
	order(s, all || s->shared->has_status, signal);
	if (signal)
		order(s, all || s->shared->has_status, PSYS_SIGCONT);
}

static void reach_limit(struct supervision *s, enum outcome outcome)
{
	if (s->phase != RUNNING)
		return;
	s->result->outcome = outcome;
	stop(s, !s->options->foreground, s->options->signal, s->options->kill_after);
}

/* --- signals to the tool ----------------------------------------------------------------- */

/* A second reason ends everything at once. Reason 0 is the end of the parent process. */
static void stop_by_signal(struct supervision *s, int reason, bool all, int signal)
{
	if (s->stops++ && s->phase != DRAINING) {
		kill_all(s);
		return;
	}
	s->gives_up = s->phase == DRAINING;
	if (s->phase == RUNNING) {
		s->result->outcome = STOPPED;
		s->result->stop_signal = reason;
	}
	stop(s, all, signal, s->options->kill_after);
}

/* Stops the tool as soon as the program has stopped, as the shell takes the terminal when the tool
 * stops: a program that still reads the terminal then takes input that is for the shell. The wait
 * is short, as a program may refuse to stop. */
static void stop_after_program(const struct supervision *s)
{
	const struct psys_timespec moment = { 0, 1000000 };

	for (int ms = 0; ms < MOST_STOPPING && !program_has_stopped(s->shared); ms++)
		psys_nanosleep(&moment, NULL);
	terminal_leave();
	psys_kill(s->setting->tool, PSYS_SIGSTOP); /* process 1 ignores SIGSTOP */
}

static void handle_signal(struct supervision *s, const struct psys_signalfd_siginfo *info)
{
	const int signal = (int)info->ssi_signo;
	/* The terminal has sent it to the tool's process group, and so to the command too. */
	const bool is_sent = info->ssi_code == SI_KERNEL && !s->options->setsid &&
			     !s->options->pty && !s->setting->is_init;

	if (signal == PSYS_SIGCHLD || info->ssi_pid == (unsigned)s->setting->tool)
		return;
	if (signal == PSYS_SIGALRM)
		reach_limit(s, TIMEOUT);
	else if (signal == PSYS_SIGTERM || signal == PSYS_SIGHUP ||
		 (!is_sent && (signal == PSYS_SIGINT || signal == PSYS_SIGQUIT)))
		stop_by_signal(s, signal, !s->options->foreground, is_sent ? 0 : signal);
	else if (info->ssi_code != SI_KERNEL)
		order(s, false, signal);
	if (signal == PSYS_SIGTSTP || signal == PSYS_SIGTTIN || signal == PSYS_SIGTTOU)
		stop_after_program(s);
	if (s->options->pty && signal == PSYS_SIGWINCH)
		terminal_resize();
}

static void read_signals(struct supervision *s)
{
	struct psys_signalfd_siginfo info;

	while (psys_read(s->polled[SIGNALS].fd, &info, sizeof info) == sizeof info)
		handle_signal(s, &info);
	if (s->setting->reaps)
		reaper_turn(s->setting);
}

/* --- ends ---------------------------------------------------------------------------------- */

static void see_program_end(struct supervision *s)
{
	const bool is_gentle =
		s->phase == ENDING && s->options->foreground && !s->result->had_to_end;

	if (!s->ended_at)
		s->ended_at = now_ms();
	if (s->phase != RUNNING && !is_gentle)
		return;
	s->phase = LINGERING;
	s->step_at = time_in(LINGER);
}

/* The helper's end is the tree's end, unless somebody has killed the helper: then the reaper has to
 * end the rest. */
static void see_tree_end(struct supervision *s)
{
	const int ended = aspawn_ended(&s->tree);

	if (ended == -PSYS_EOWNERDEAD && !s->is_helperless) {
		s->is_helperless = true;
		s->result->outcome = LOST;
		kill_all(s);
	}
	if (ended)
		s->polled[ENDED].fd = -1;
	s->is_over |= ended && (!s->is_helperless || s->shared->is_empty);
}

static void take_step(struct supervision *s)
{
	if (s->phase == LINGERING) {
		s->result->had_to_end = true;
		stop(s, true, PSYS_SIGTERM, GRACE_OF_REST);
	} else if (s->phase == KILLING && ((!s->setting->reaps && !s->is_helperless) ||
					   s->kills > PATIENCE / ESCALATION)) {
		s->is_over = true;
	} else {
		kill_all(s);
	}
}

static void see_time(struct supervision *s)
{
	const int64_t now = now_ms();

	if (now >= s->timeout_at) {
		s->timeout_at = NO_TIME;
		reach_limit(s, TIMEOUT);
	}
	if (s->options->idle && now >= streams_last_output() + s->options->idle)
		reach_limit(s, IDLE);
	if (s->options->cpu_time &&
	    cgroup_cpu_us(s->setting) >= (uint64_t)s->options->cpu_time * 1000)
		reach_limit(s, CPU_TIME);
	if (now >= s->step_at)
		take_step(s);
	terminal_tend();
}

/* --- the loop --------------------------------------------------------------------------------- */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The tool looks now and then if no descriptor tells the tree's end, and wakes a stopped reaper. */
static int64_t next_time(const struct supervision *s)
{
	const bool looks_often =
		s->options->pty || (s->options->cpu_time && s->setting->cgroup >= 0);
	const int look = s->polled[ENDED].fd < 0 && !s->setting->reaps && !s->is_over ? 10 :
			 looks_often                                                  ? 200 :
											1000;
	const int64_t drained_at = s->ended_at + DRAIN;
	int64_t time = now_ms() + look;

	if (s->is_over) /* after it only a slow reader is waited for */
		return now_ms() < drained_at ? earlier(time, drained_at) : time;
	if (s->phase == RUNNING && s->options->idle)
		time = earlier(time, streams_last_output() + s->options->idle);
	return earlier(time, earlier(s->timeout_at, s->step_at));
}

static void wait_for_event(struct supervision *s)
{
	const int64_t left = next_time(s) - now_ms();
	const uint32_t ms = left < 0 ? 0 : (uint32_t)left; /* a second at most */
	struct psys_timespec time = { ms / 1000, (int64_t)(ms % 1000) * 1000000 };

	streams_poll(s->polled + STREAMS);
	if (psys_ppoll(s->polled, POLLED, &time, NULL, 0) == 0 && !s->setting->reaps && !s->is_over)
		ring(s);
}

static void see_events(struct supervision *s)
{
	read_signals(s);
	streams_turn();
	if (s->polled[PARENT].fd >= 0 && s->polled[PARENT].revents) {
		s->polled[PARENT].fd = -1;
		stop_by_signal(s, 0, true, s->options->signal);
	}
	if (s->shared->has_status)
		see_program_end(s);
	if (!s->setting->reaps)
		see_tree_end(s);
	else
		s->is_over = s->shared->started < 0 ||
			     (s->shared->has_status && (s->options->leave || s->shared->is_empty));
	if (!s->is_over)
		see_time(s);
}

/* With --leave, other writers to the pipes have a second after the program's end. A slow reader of
 * the output gets all bytes. */
static void drain(struct supervision *s)
{
	s->phase = DRAINING;
	s->polled[ENDED].fd = s->polled[PARENT].fd = -1;
	do {
		streams_turn();
		if (streams_are_done(s->options->leave && now_ms() < s->ended_at + DRAIN))
			return;
		wait_for_event(s);
		read_signals(s);
	} while (!s->gives_up);
}

/* The library ends the processes that are left, as it knows how to treat hostile programs. */
static void await_tree_end(struct supervision *s)
{
	if (s->phase == KILLING)
		aspawn_kill_tree(&s->tree, ASPAWN_GRACE_NONE);
	const int r = aspawn_wait(&s->tree, NULL, NULL, -1);
	if (s->shared->started == 0 && s->result->outcome == EXITED) { /* there was no reaper */
		s->shared->started = -1;
		aspawn_wait_started(&s->tree, &s->shared->failure, 0);
	}
	if (r == -PSYS_ENOTEMPTY)
		s->result->survivors = aspawn_describe(&s->tree, ASPAWN_FACT_SURVIVORS);
	if (r == -PSYS_EOWNERDEAD && !s->shared->is_empty)
		s->result->survivors = -1;
}

/* --- the start -------------------------------------------------------------------------------- */

static int start_tree(struct supervision *s)
{
	static struct aspawn_action action;
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_DIES_WITH_CALLER | ASPAWN_COMMAND_INHERIT_SIGNALS |
			 (s->setting->has_proc ? 0 : ASPAWN_COMMAND_TREE_OR_GROUP),
		.argv = s->options->argv,
		.envp = s->options->envp,
		.actions = &action,
		.action_count = 1,
		.owner = ASPAWN_OWNER_TREE,
		.memory = ASPAWN_MEMORY_COPIED,
	};

	aspawn_action_call(&action, reaper_main, s->setting);
	const int r = aspawn_start(&s->tree, &command);
	s->polled[ENDED].fd = r < 0 ? -1 : s->tree.ended_fd;
	return r;
}

/* The tool still ignores the signals that were ignored at its beginning, as nohup(1) expects. */
static int open_signals(void)
{
	struct psys_sigset set;
	struct psys_sigaction old;

	psys_sigemptyset(&set);
	for (int signal = 1; signal <= MOST_SIGNAL; signal++) {
		old.handler = PSYS_SIG_DFL;
		psys_rt_sigaction(signal, NULL, &old, PSYS_SIGSET_SIZE);
		if (old.handler == PSYS_SIG_DFL)
			psys_sigaddset(&set, signal);
	}
	return psys_signalfd4(-1, &set, PSYS_SIGSET_SIZE, PSYS_SFD_NONBLOCK | PSYS_SFD_CLOEXEC);
}

static int start(struct supervision *s)
{
	for (int i = 0; i < POLLED; i++)
		s->polled[i] = (struct psys_pollfd){ -1, PSYS_POLLIN, 0 };
	s->polled[SIGNALS].fd = open_signals();
	if (s->polled[SIGNALS].fd < 0)
		return s->polled[SIGNALS].fd;
	s->polled[PARENT].fd = s->setting->parent_fd;
	s->timeout_at = time_in(s->options->timeout);
	s->step_at = NO_TIME;
	if (!s->setting->reaps)
		return start_tree(s);
	program_start(s->setting);
	return 0;
}

void supervise(struct setting *setting)
{
	static struct supervision s;
	const int64_t begin = now_ms();

	s.setting = setting;
	s.options = &setting->options;
	s.result = &setting->result;
	s.shared = setting->shared;
	terminal_guard();
	terminal_enter();
	const int r = start(&s);
	streams_give(setting);
	if (r < 0) {
		s.shared->error = r;
		s.shared->started = -1;
	} else {
		for (see_events(&s); !s.is_over; see_events(&s))
			wait_for_event(&s);
		if (!setting->reaps)
			await_tree_end(&s);
		drain(&s);
	}
	terminal_end();
	s.result->duration = now_ms() - begin;
}
