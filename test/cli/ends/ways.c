/* SPDX-License-Identifier: MIT */
/*
 * Ways in which a program tries to leave a process behind. test/cli/ends/ends.py runs each below
 * several tools and counts the surviving processes.
 *
 *     ways            prints the table: name, kind, description
 *     ways NAME       runs a way
 *     ways @stay      is a process that stays; a few ways execute it by a shell
 *     ways @service   serves those who connect to the socket ENDS_SERVICE
 *     ways @hostile N [gentle]
 *                     is a random tree; with an odd N the program exits with 7; a gentle one stops
 *                     only itself
 *
 * A process about to stay writes a byte to the descriptor ENDS_READY. From the byte the driver
 * knows that the way was tried in full. The process ends by itself after a minute, or when the
 * driver has closed its end of the pipe. A way unsupported by the machine prints the reason, and
 * exits with NOT_HERE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { NOT_HERE = 77, LIFE = 60 /* seconds */, MILLISECOND = 1000000 };

static char self[4096];

/* --- what all ways use ------------------------------------------------------------------ */

static int number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : -1;
}

static void not_here(const char *why)
{
	printf("%s\n", why);
	fflush(stdout);
	_exit(NOT_HERE);
}

static void nap(long nanoseconds)
{
	nanosleep(&(struct timespec){ .tv_nsec = nanoseconds }, NULL);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The descriptor ENDS_HERE is of a pipe of the program's own, for await(). */
static void announce(void)
{
	signal(SIGPIPE, SIG_IGN); /* the program may have ended */
	if (write(number_of("ENDS_READY"), "x", 1) < 0 ||
	    (write(number_of("ENDS_HERE"), "x", 1) < 0 && errno != EPIPE && errno != EBADF))
		_exit(1);
}

/* True for a minute, and until the driver has closed its end of the pipe. */
static bool goes_on(void)
{
	static double end;
	struct pollfd ready = { .fd = number_of("ENDS_READY") };

	if (end == 0)
		end = now() + LIFE;
	poll(&ready, 1, 0);
	return now() < end && !(ready.revents & POLLERR);
}

static void stay(void)
{
	while (goes_on())
		nap(100 * MILLISECOND);
	_exit(0);
}

static void settle(void)
{
	announce();
	stay();
}

static int here = -1;

/* Waits for the announcement of a process below. */
static void await(void)
{
	char byte;

	if (read(here, &byte, 1) != 1)
		_exit(1);
}

static void ignore_signals(void)
{
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

static pid_t fork_to(void (*run)(void))
{
	const pid_t pid = fork();

	if (pid)
		return pid;
	run();
	_exit(0);
}

static int parent_of(int pid)
{
	char path[64], text[512] = "";
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
		sscanf(strrchr(text, ')') + 1, " %*c %d", &parent);
	close(fd);
	return parent;
}

/* The processes between the driver and the program: the tool, and the tool's helpers if any. The
 * driver itself is not included. */
enum { PARENT, GRANDPARENT, TOOL, MOST_ANCESTORS = 8 };
static int ancestors[MOST_ANCESTORS], ancestor_count;

static void find_ancestors(void)
{
	for (int pid = getppid();
	     pid > 1 && pid != number_of("ENDS_DRIVER") && ancestor_count < MOST_ANCESTORS;
	     pid = parent_of(pid))
		ancestors[ancestor_count++] = pid;
}

static int ancestor(int which)
{
	const int at = which == TOOL ? ancestor_count - 1 : which;

	if (!ancestor_count)
		not_here("the tool has executed the program");
	if (at >= ancestor_count || (which == TOOL && at == PARENT) ||
	    (which == GRANDPARENT && at == ancestor_count - 1))
		not_here("the tool has no such helper");
	return ancestors[at];
}

/* --- what the process does that is to survive --------------------------------------------- */

static void stop_again(void)
{
	announce();
	while (goes_on())
		raise(SIGSTOP);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	settle();
}

static void close_descriptors(void)
{
	announce();
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	stay();
}

/* Without the environment, the name and the program's file. */
static void clear_marks(void)
{
	char *const argv[] = { "[kworker/0:1]", "@quiet", NULL };
	const int copy = memfd_create("", MFD_CLOEXEC), file = open(self, O_RDONLY | O_CLOEXEC);
	char block[65536];

	for (ssize_t length; (length = read(file, block, sizeof block)) > 0;)
		if (write(copy, block, (size_t)length) != length)
			not_here("no memory for the program");
	announce();
	fexecve(copy, argv, (char *[]){ NULL });
	_exit(1);
}

/* proc_pid_stat(5) of the process begins like a zombie's, the child of process 1. */
static void have_an_odd_name(void)
{
	prctl(PR_SET_NAME, "x) Z 1 1 1 (");
	settle();
}

static void be_undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	settle();
}

static void be_busy(void)
{
	announce();
	while (goes_on())
		continue;
}

static void be_busy_and_idle(void)
{
	sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
	be_busy();
}

static void execute_again(void)
{
	announce();
	execl(self, "ways", "@again", NULL);
}

/* Each member forks the next member and exits. */
static void walk(int members, long pause)
{
	for (; members; members--) {
		if (fork())
			_exit(0);
		setsid();
		if (pause)
			nap(pause);
	}
}

static void be_a_chain(void)
{
	walk(200, 0);
	settle();
}

static void be_an_endless_chain(long pause)
{
	announce();
	while (goes_on())
		walk(1, pause);
}

static void walk_slowly(void)
{
	be_an_endless_chain(5 * MILLISECOND);
}

static void walk_quickly(void)
{
	be_an_endless_chain(0);
}

/* Each of two processes replaces the other process when the other process ends. */
static void be_a_hydra(void)
{
	sigset_t awaited;
	bool head = true;

	ignore_signals();
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	while (goes_on()) {
		if (fork() == 0) {
			setsid();
			prctl(PR_SET_PDEATHSIG, SIGUSR1);
		} else {
			if (head)
				announce();
			head = false;
			while (waitpid(-1, NULL, WNOHANG) > 0)
				continue;
		}
		sigtimedwait(&awaited, NULL, &(struct timespec){ .tv_sec = LIFE });
	}
}

static void leave_a_daemon(int number)
{
	(void)number;
	if (fork() == 0) {
		setsid();
		ignore_signals();
		stay();
	}
	_exit(0);
}

static void fork_at_sigterm(void)
{
	signal(SIGTERM, leave_a_daemon);
	signal(SIGHUP, leave_a_daemon);
	signal(SIGINT, leave_a_daemon);
	settle();
}

static void *settle_in_thread(void *argument)
{
	settle();
	return argument;
}

static void *fork_in_thread(void *argument)
{
	fork_to(settle);
	stay();
	return argument;
}

/* The process is then wrongly shown as a zombie. */
static void without_main_thread(void *(*thread)(void *))
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL))
		not_here("no threads");
	syscall(SYS_exit, 0);
}

static void lose_the_main_thread(void)
{
	without_main_thread(settle_in_thread);
}

static void fork_without_main_thread(void)
{
	without_main_thread(fork_in_thread);
}

static void clone_to_settle(unsigned long flags)
{
	const long pid = syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);

	if (pid == 0)
		settle();
	if (pid < 0)
		not_here("the clone is refused");
}

static void be_suspended_by_vfork(void)
{
	clone_to_settle(CLONE_VFORK | SIGCHLD);
}

static void clone_a_sibling(void)
{
	clone_to_settle(CLONE_PARENT | SIGCHLD);
}

static void clone_without_signal(void)
{
	clone_to_settle(0);
	stay();
}

static void clone_with_another_signal(void)
{
	signal(SIGUSR1, SIG_IGN);
	clone_to_settle(SIGUSR1);
	stay();
}

static void be_a_subreaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fork() == 0) {
		if (fork() == 0) {
			setsid();
			settle();
		}
		_exit(0);
	}
	stay();
}

static void be_a_subreaper_that_ends(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			if (fork() == 0) {
				setsid();
				settle();
			}
			_exit(0);
		}
	nap(50 * MILLISECOND);
}

static void have_many_children(void)
{
	for (int i = 0; i < 60; i++)
		if (fork() == 0) {
			setsid();
			stay();
		}
	settle();
}

/* At most 200 processes in all, a new process each two milliseconds from each. */
static void fork_on_and_on(void)
{
	int *left =
		mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*left = 200;
	announce();
	for (; goes_on(); nap(2 * MILLISECOND))
		if (__atomic_sub_fetch(left, 1, __ATOMIC_RELAXED) > 0 && fork() == 0)
			setsid();
}

static void be_traced(void)
{
	if (fork() == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		stay();
	}
	settle();
}

static void be_seized(void)
{
	const pid_t tracee = fork_to(stay);

	if (ptrace(PTRACE_SEIZE, tracee, NULL, NULL) < 0)
		not_here("ptrace(2) is refused");
	ptrace(PTRACE_INTERRUPT, tracee, NULL, NULL);
	settle();
}

static int open_terminal(int *slave)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		not_here("no terminals");
	*slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	return master;
}

/* The process holds both ends of its terminal: nobody can hang the terminal up. */
static void have_a_terminal(void)
{
	int slave;

	open_terminal(&slave);
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	settle();
}

/* The terminal stops a process group in the background. */
static void be_stopped_by_a_terminal(void)
{
	int slave;
	char byte;

	open_terminal(&slave);
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	if (fork() == 0) {
		setpgid(0, 0);
		signal(SIGHUP, SIG_IGN);
		announce();
		while (read(slave, &byte, 1) < 0)
			nap(MILLISECOND);
	}
	stay();
}

static void be_init_of_a_namespace(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		not_here("no namespaces");
	fork_to(settle);
	stay();
}

static void fill_the_process_table(void)
{
	/* The kernel does not hold root to RLIMIT_NPROC: a count of its own is the second bound. As
	 * root this loop once took all 32 768 numbers of the machine (lead's note:
	 * never fork without a bound). */
	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 40, 40 });
	for (int i = 0; i < 60; i++) {
		const pid_t pid = fork();
		if (pid < 0)
			break;
		if (pid == 0)
			settle();
	}
	settle();
}

/* --- what the program does ----------------------------------------------------------------- */

static void run_shell(const char *shell, const char *option, const char *script)
{
	const pid_t pid = fork();

	if (pid == 0) {
		execlp(shell, shell, option, script, self, NULL);
		not_here("no such shell");
	}
	if (!strcmp(shell, "bash")) {
		int status;
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) == NOT_HERE)
			_exit(NOT_HERE);
	}
	await();
}

static void nohup(void)
{
	run_shell("sh", "-c", "nohup \"$0\" @stay >/dev/null 2>&1 &");
}

static void disown(void)
{
	run_shell("bash", "-c", "\"$0\" @stay & disown -h; disown -a");
}

static void setsid_of_a_shell(void)
{
	run_shell("sh", "-c", "setsid \"$0\" @stay </dev/null &");
}

static void subshells(void)
{
	run_shell("sh", "-c", "( ( \"$0\" @stay & ) & )");
}

static void job_control(void)
{
	run_shell("bash", "-mc", "\"$0\" @stay & \"$0\" @stay & exit 0");
}

static void escape(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			ignore_signals();
			settle();
		}
		_exit(0);
	}
	await();
}

static void signal_ancestor(int which, int signal)
{
	const int pid = ancestor(which);

	escape();
	kill(pid, signal);
	stay();
}

static void stop_the_parent(void)
{
	signal_ancestor(PARENT, SIGSTOP);
}

static void stop_the_parent_and_exit(void)
{
	const int pid = ancestor(PARENT);

	escape();
	kill(pid, SIGSTOP);
}

static void stop_the_grandparent(void)
{
	signal_ancestor(GRANDPARENT, SIGSTOP);
}

static void stop_the_tool(void)
{
	signal_ancestor(TOOL, SIGSTOP);
}

static void kill_the_parent(void)
{
	signal_ancestor(PARENT, SIGKILL);
}

static void kill_the_grandparent(void)
{
	signal_ancestor(GRANDPARENT, SIGKILL);
}

static void kill_the_tool(void)
{
	signal_ancestor(TOOL, SIGKILL);
}

/* All but the tool. */
static void stop_helpers_again(void)
{
	ancestor(TOOL);
	if (fork() == 0) {
		setsid();
		ignore_signals();
		announce();
		for (; goes_on(); nap(MILLISECOND))
			for (int i = 0; i < ancestor_count - 1; i++)
				kill(ancestors[i], SIGSTOP);
		_exit(0);
	}
	await();
	stay();
}

/* Each heir of the program is stopped too. */
static void kill_the_tool_and_stop(void)
{
	const int tool = ancestor(TOOL);

	if (fork() == 0) {
		if (fork())
			_exit(0);
		setsid();
		ignore_signals();
		announce();
		kill(tool, SIGKILL);
		for (int pid; goes_on();)
			if ((pid = getppid()) > 1 && pid != number_of("ENDS_DRIVER"))
				kill(pid, SIGSTOP);
		_exit(0);
	}
	await();
}

static void kill_all_ancestors(void)
{
	ancestor(TOOL);
	escape();
	for (int i = 0; i < ancestor_count; i++)
		kill(ancestors[i], SIGSTOP);
	for (int i = 0; i < ancestor_count; i++)
		kill(ancestors[i], SIGKILL);
	stay();
}

static void kill_the_group(void)
{
	escape();
	kill(0, SIGKILL);
}

static void terminate_the_group(void)
{
	signal(SIGTERM, SIG_IGN);
	escape();
	kill(0, SIGTERM);
	stay();
}

static void limit_ancestors(int what, rlim_t limit)
{
	const struct rlimit both = { limit, limit };

	ancestor(PARENT);
	escape();
	for (int i = 0; i < ancestor_count; i++)
		if (prlimit(ancestors[i], what, &both, NULL) < 0)
			not_here("prlimit(2) is refused");
	stay();
}

static void limit_files(void)
{
	limit_ancestors(RLIMIT_NOFILE, 0);
}

static void limit_processes(void)
{
	limit_ancestors(RLIMIT_NPROC, 0);
}

static void limit_memory(void)
{
	limit_ancestors(RLIMIT_AS, 0);
}

static void limit_stack(void)
{
	limit_ancestors(RLIMIT_STACK, 0);
}

static void limit_file_size(void)
{
	limit_ancestors(RLIMIT_FSIZE, 0);
}

static void limit_signals(void)
{
	limit_ancestors(RLIMIT_SIGPENDING, 0);
}

/* Each orphan gives an ancestor something to do, until its second is over. */
static void limit_cpu_time(void)
{
	const int limited = ancestor(PARENT);

	escape();
	if (prlimit(limited, RLIMIT_CPU, &(struct rlimit){ 0, 0 }, NULL) < 0)
		not_here("prlimit(2) is refused");
	while (goes_on() && getppid() == limited)
		for (int i = 0; i < 50; i++)
			if (fork() == 0) {
				if (fork() == 0)
					_exit(0);
				_exit(0);
			} else {
				waitpid(-1, NULL, WNOHANG);
			}
	stay();
}

static void trace_the_parent(void)
{
	const int traced = ancestor(PARENT);

	escape();
	if (ptrace(PTRACE_SEIZE, traced, NULL, NULL) < 0)
		not_here("ptrace(2) is refused");
	ptrace(PTRACE_INTERRUPT, traced, NULL, NULL);
	stay();
}

static void set_user_id(void)
{
	const char *file = getenv("ENDS_SET_USER_ID");

	if (!file)
		not_here("only root can make a set-user-ID program");
	if (fork() == 0) {
		setsid();
		execl(file, "ways", "@root", NULL);
		_exit(1);
	}
	await();
}

static void ask_a_service(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("ENDS_SERVICE");
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	if (!path)
		not_here("no service");
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 || read(fd, &byte, 1) != 1)
		not_here("no service");
}

/* --- the table ------------------------------------------------------------------------------ */

enum {
	FORKS = 1,         /* a child of the program is to survive */
	TWICE = FORKS | 2, /* a grandchild is, of which the parent has exited */
	SESSION = 4,
	GROUP = 8,
	IGNORES = 16, /* all signals */
	EXITS = 32,   /* the program exits then; otherwise it waits */
	DAEMON = TWICE | SESSION | IGNORES,
};

/* With FORKS, run is for the process that is to survive; otherwise run is for the program. named:
 * by what the manual names, this may survive aspawn. */
struct way {
	const char *name;
	unsigned flags;
	void (*run)(void);
	const char *what, *named;
};

static const struct way ways[] = {
	{ "child", FORKS, settle, "a child" },
	{ "orphan", FORKS | EXITS, settle, "a child of a program that exits" },
	{ "double-fork", TWICE | EXITS, settle, "two forks, the program exits" },
	{ "double-fork-waits", TWICE, settle, "two forks, the program stays" },
	{ "setpgid", FORKS | GROUP, settle, "a process group of its own" },
	{ "setpgid-exits", FORKS | GROUP | EXITS, settle, "the same, the program exits" },
	{ "setsid", FORKS | SESSION, settle, "a session of its own" },
	{ "setsid-exits", FORKS | SESSION | EXITS, settle, "the same, the program exits" },
	{ "sigterm-ignored", FORKS | IGNORES, settle, "ignores signals" },
	{ "sigterm-ignored-exits", FORKS | IGNORES | EXITS, settle, "the same, the program exits" },
	{ "signals-blocked", TWICE | SESSION, block_signals, "a daemon that blocks signals" },
	{ "daemon", DAEMON, settle, "a daemon that ignores signals" },
	{ "daemon-exits", DAEMON | EXITS, settle, "the same, the program exits" },
	{ "daemon-closes", DAEMON, close_descriptors, "a daemon without descriptors" },
	{ "daemon-without-marks", DAEMON, clear_marks,
	  "a daemon without environment, name and file" },
	{ "odd-name", FORKS | SESSION, have_an_odd_name,
	  "a name that misleads readers of /proc/PID/stat" },
	{ "undumpable", DAEMON, be_undumpable, "a daemon that nobody may inspect" },
	{ "stopped", FORKS | GROUP, stop_again, "stops itself" },
	{ "stopped-daemon", TWICE | SESSION | EXITS, stop_again, "a daemon that stops itself" },
	{ "busy", DAEMON, be_busy, "a daemon that computes" },
	{ "busy-idle", DAEMON, be_busy_and_idle, "the same, with the lowest priority" },
	{ "executes", DAEMON, execute_again, "a daemon that executes itself again and again" },
	{ "chain", TWICE | EXITS, be_a_chain, "200 forks and exits" },
	{ "endless-chain", DAEMON, walk_slowly, "forks and exits without end" },
	{ "endless-chain-quick", DAEMON, walk_quickly, "the same, without a pause" },
	{ "hydra", FORKS, be_a_hydra, "two processes, of which each replaces the other" },
	{ "sigterm-forks", FORKS, fork_at_sigterm, "answers SIGTERM with a daemon" },
	{ "no-main-thread", FORKS | SESSION, lose_the_main_thread, "its main thread has ended" },
	{ "no-main-thread-forks", FORKS | SESSION, fork_without_main_thread,
	  "a child of such a process" },
	{ "vfork", FORKS | SESSION, be_suspended_by_vfork,
	  "a child that holds its parent by vfork" },
	{ "sibling", 0, clone_a_sibling, "a sibling of the program, by CLONE_PARENT" },
	{ "no-exit-signal", FORKS | SESSION, clone_without_signal,
	  "a child without an exit signal" },
	{ "other-exit-signal", FORKS | SESSION, clone_with_another_signal,
	  "a child with another exit signal" },
	{ "subreaper", TWICE | SESSION, be_a_subreaper, "a subreaper, with an orphan" },
	{ "subreaper-ends", TWICE | SESSION, be_a_subreaper_that_ends,
	  "a subreaper that ends, with orphans" },
	{ "crowd", TWICE | IGNORES, have_many_children, "60 sessions" },
	{ "fork-bomb", TWICE | SESSION | IGNORES, fork_on_and_on,
	  "200 processes, each in a session" },
	{ "process-table", DAEMON, fill_the_process_table, "a full process table" },
	{ "traced", FORKS | SESSION, be_traced, "a child stopped by ptrace(2)" },
	{ "seized", DAEMON, be_seized, "the same, by PTRACE_SEIZE" },
	{ "terminal", TWICE, have_a_terminal, "a session that holds its terminal" },
	{ "terminal-stops", TWICE, be_stopped_by_a_terminal, "stopped by its terminal" },
	{ "pid-namespace", FORKS | SESSION, be_init_of_a_namespace,
	  "the init of a process namespace" },
	{ "nohup", EXITS, nohup, "nohup of a shell" },
	{ "disown", EXITS, disown, "disown of a shell" },
	{ "setsid-command", EXITS, setsid_of_a_shell, "setsid(1)" },
	{ "subshells", EXITS, subshells, "subshells in the background" },
	{ "job-control", EXITS, job_control, "jobs of a shell, each a process group" },
	{ "term-group", 0, terminate_the_group, "sends SIGTERM to its process group" },
	{ "kill-group", 0, kill_the_group, "kills its process group" },
	{ "stop-parent", 0, stop_the_parent, "stops its parent" },
	{ "stop-parent-exits", EXITS, stop_the_parent_and_exit, "the same, the program exits" },
	{ "stop-grandparent", 0, stop_the_grandparent, "stops its grandparent" },
	{ "stop-tool", 0, stop_the_tool, "stops the tool", "stops the tool" },
	{ "stop-helpers-again", 0, stop_helpers_again, "stops the tool's helpers again and again" },
	{ "kill-parent", 0, kill_the_parent, "kills its parent", "kills its helper" },
	{ "kill-grandparent", 0, kill_the_grandparent, "kills its grandparent", "kills its helper" },
	{ "kill-tool", 0, kill_the_tool, "kills the tool" },
	{ "kill-tool-stop-helpers", 0, kill_the_tool_and_stop,
	  "the same, and stops what is left of it", "stops the helper" },
	{ "kill-all", 0, kill_all_ancestors, "kills the tool with its helpers", "kills its helper" },
	{ "limit-files", 0, limit_files, "prlimit(2) of the tool: no descriptor" },
	{ "limit-processes", 0, limit_processes, "... no process" },
	{ "limit-memory", 0, limit_memory, "... no memory" },
	{ "limit-stack", 0, limit_stack, "... no stack" },
	{ "limit-file-size", 0, limit_file_size, "... no file" },
	{ "limit-signals", 0, limit_signals, "... no pending signal" },
	{ "limit-cpu-time", 0, limit_cpu_time, "... no processor time", "RLIMIT_CPU" },
	{ "trace-parent", 0, trace_the_parent, "stops its parent by ptrace(2)", "ptrace" },
	{ "set-user-id", 0, set_user_id, "a set-user-ID program of root", "set-user-ID" },
	{ "service", 0, ask_a_service, "a service starts it", "service" },
};

static void run_way(const struct way *way)
{
	if (!(way->flags & FORKS)) {
		way->run();
	} else {
		const pid_t pid = fork();
		if (pid == 0) {
			if (way->flags & SESSION)
				setsid();
			if (way->flags & GROUP)
				setpgid(0, 0);
			if ((way->flags & TWICE) == TWICE && fork())
				_exit(0);
			if (way->flags & IGNORES)
				ignore_signals();
			way->run();
			_exit(0);
		}
		if ((way->flags & TWICE) == TWICE)
			waitpid(pid, NULL, 0);
		await();
	}
	if (!(way->flags & EXITS))
		stay();
}

static void serve(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	signal(SIGCHLD, SIG_IGN);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", getenv("ENDS_SERVICE"));
	if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 4) < 0)
		not_here("no service");
	for (int client; (client = accept(fd, NULL, NULL)) >= 0; close(client))
		if (fork() == 0) {
			announce();
			if (write(client, "x", 1) < 0)
				_exit(1);
			close(client);
			stay();
		}
}

/* --- random trees ----------------------------------------------------------------------------- */

static unsigned seed;
static bool is_gentle;
static int *left; /* processes that may be made, of all */

static unsigned any_below(unsigned limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed >> 3) % limit;
}

static void misbehave(int generation);

static void sprout(int generation, unsigned long flags)
{
	if (generation > 8 || __atomic_sub_fetch(left, 1, __ATOMIC_RELAXED) < 0 ||
	    syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL))
		return;
	seed = seed * 2654435761U + (unsigned)generation + 1;
	misbehave(generation + 1);
	if (any_below(3))
		stay();
	_exit(0);
}

static void sprout_twice(int generation)
{
	if (fork())
		return;
	sprout(generation, 0);
	_exit(0);
}

static void misbehave(int generation)
{
	for (unsigned steps = 1 + any_below(5); steps > 0; steps--)
		switch (any_below(16)) {
		case 0:
			setsid();
			break;
		case 1:
			setpgid(0, 0);
			break;
		case 2:
			sprout_twice(generation);
			break;
		case 3:
			signal(SIGTERM, SIG_IGN);
			break;
		case 4:
			signal(SIGCHLD, SIG_IGN);
			break;
		case 5:
			prctl(PR_SET_CHILD_SUBREAPER, 1);
			break;
		case 6:
			sprout(generation, CLONE_PARENT);
			break;
		case 7:
			sprout(generation, CLONE_VFORK);
			break;
		case 8:
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			break;
		case 9:
			raise(SIGSTOP);
			break;
		case 10:
			signal(SIGTERM, leave_a_daemon);
			break;
		case 11:
			if (!is_gentle && getppid() != number_of("ENDS_DRIVER"))
				kill(getppid(), any_below(2) ? SIGSTOP : SIGCONT);
			break;
		case 12:
			_exit(0);
		default:
			sprout(generation, 0);
			break;
		}
}

static int be_hostile(unsigned number, bool gentle)
{
	is_gentle = gentle;
	seed = (number + 1) * 2654435761U;
	left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*left = 24;
	signal(SIGHUP,
	       SIG_IGN); /* the kernel sends it if a group with a stopped member is orphaned */
	for (int i = 0; i < 4; i++) {
		sprout(0, 0);
		if (any_below(3) == 0)
			sprout_twice(0);
	}
	if (number % 2 == 0)
		stay();
	return 7;
}

static int play(char **argv)
{
	const char *role = argv[1] + 1;

	if (!strcmp(role, "stay"))
		settle();
	if (!strcmp(role, "quiet"))
		stay();
	if (!strcmp(role, "service"))
		serve();
	if (!strcmp(role, "hostile") && argv[2])
		return be_hostile((unsigned)atoi(argv[2]), argv[3]);
	if (!strcmp(role, "root")) {
		if (setresuid(0, 0, 0) < 0)
			return 1;
		settle();
	}
	if (!strcmp(role, "again") && goes_on()) {
		nap(MILLISECOND);
		execv(self, argv);
	}
	return 0;
}

int main(int argc, char **argv)
{
	char number[16];
	int ends[2];

	const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length < 0)
		not_here("no /proc");
	if (argc > 1 && *argv[1] == '@')
		return play(argv);
	if (argc < 2) {
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
			printf("%s\t%s\t%s\n", ways[i].name, ways[i].named ? ways[i].named : "",
			       ways[i].what);
		return 0;
	}
	if (pipe(ends) < 0)
		return 1;
	find_ancestors();
	here = ends[0];
	fcntl(here, F_SETFD, FD_CLOEXEC);
	snprintf(number, sizeof number, "%d", ends[1]);
	setenv("ENDS_HERE", number, 1);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(ways[i].name, argv[1])) {
			run_way(&ways[i]);
			return 0;
		}
	fprintf(stderr, "ways: there is no way %s\n", argv[1]);
	return 2;
}
