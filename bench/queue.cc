/* SPDX-License-Identifier: MIT */
// Compares the queue with what it replaces: how long a submission takes, by bursts, and how many
// commands a second come to their end. Each round has all ways, in turns. The table has the
// medians, and their ratios to the clone floor or to posix_spawn.
//
//	queue [rounds [commands]]
//	queue list COMMANDS		only the queue, for pools.sh: commands a second
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/queue.h>
#include <syscall/clone.h>
#include <syscall/syscall.h>

static char child[] = BENCH_CHILD;
static char *const alone[] = { child, nullptr };
static char *const with_arguments[] = {
	child,  (char *)"-H", (char *)"192.0.2.17", (char *)"-w 100.0,20%", (char *)"-c 500.0,60%",
	nullptr
};
static const char *const shell[] = { "/bin/sh", "-c",
				     "echo 'PING OK - Packet loss = 0%, RTA = 0.05 ms|rta=0.05ms;"
				     "100.0;500.0;0 pl=0%;20;60;0;100 and some more'",
				     nullptr };
extern char **environ;

static double now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void check(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

// Each way begins after the same nap, on caches and a processor that others have used.
static void nap()
{
	const timespec time = { 0, 2000000 };

	nanosleep(&time, nullptr);
}

// --- the queue ---------------------------------------------------------------------

static aspawn_queue *make_queue(unsigned running)
{
	aspawn_queue_options options = {};
	aspawn_queue *queue = nullptr;

	options.size = sizeof options;
	options.jobs = 2048;
	options.running = running;
	check(aspawn_queue_create(&queue, &options) == 0, "aspawn_queue_create");
	return queue;
}

static aspawn_command command_of(char *const *argv)
{
	aspawn_command command = {};

	command.size = sizeof command;
	command.argv = argv;
	command.envp = environ;
	return command;
}

static int take_all(aspawn_queue *queue, int wanted)
{
	const aspawn_result *results[64];
	int taken = 0, count;

	while (taken < wanted && (count = aspawn_queue_wait(queue, results, 64, -1)) > 0) {
		aspawn_queue_release(queue, results, count);
		taken += count;
	}
	return taken;
}

// Returns the time of a submission in a burst. If asleep, the server has had time to fall asleep
// before.
static double submit_burst(aspawn_queue *queue, int64_t prepared, int burst, bool asleep)
{
	aspawn_command command = command_of(with_arguments);
	aspawn_job job = {};

	job.size = sizeof job;
	if (prepared) {
		job.prepared = prepared;
		job.argv = with_arguments;
	} else {
		job.command = &command;
	}
	nap();
	if (!asleep)
		check(aspawn_queue_submit(queue, &job, nullptr) > 0, "submit");
	const double begun = now();
	for (int i = 0; i < burst; i++)
		check(aspawn_queue_submit(queue, &job, nullptr) > 0, "submit");
	const double ended = now();
	take_all(queue, burst + !asleep);
	return (ended - begun) / burst;
}

static double queue_rate(unsigned running, char *const *argv, bool output, int commands)
{
	aspawn_queue *queue = make_queue(running);
	aspawn_command command = command_of(argv);
	aspawn_job job = {};
	int submitted = 0, ended = 0;

	job.size = sizeof job;
	if (output)
		command.std_err = ASPAWN_STREAM_STDOUT;
	job.prepared = aspawn_queue_prepare(queue, &command, nullptr);
	job.out_size = output ? 4096 : 0;
	const double begun = now();
	while (ended < commands) {
		while (submitted < commands && submitted - ended < 1024 &&
		       aspawn_queue_submit(queue, &job, nullptr) > 0)
			submitted++;
		ended += take_all(queue, 1);
	}
	const double rate = commands / (now() - begun) * 1e6;
	aspawn_queue_close(queue);
	return rate;
}

// --- by hand ------------------------------------------------------------------------

static ASPAWN_CHILD int exec_child(void *argv, int, void *, void *, size_t)
{
	return psys_execve(child, (char *const *)argv, environ);
}

// The caller reaps each of `running` children, each on a stack of its own.
static double loop_rate(unsigned running, int commands)
{
	std::vector<Stack_t> stacks(running);
	std::vector<unsigned> free_stacks;
	std::vector<std::pair<pid_t, unsigned>> children;
	int started = 0, ended = 0;

	for (unsigned i = 0; i < running; i++)
		free_stacks.push_back(i);
	const double begun = now();
	while (ended < commands) {
		while (started < commands && !free_stacks.empty()) {
			const unsigned at = free_stacks.back();
			pid_t pid;
			check(aspawn_with(ASPAWN_WITH_NO_PIPE, nullptr, &pid, &stacks[at], 4096,
					  exec_child, (void *)alone, nullptr, 0) >= 0,
			      "aspawn");
			free_stacks.pop_back();
			children.push_back({ pid, at });
			started++;
		}
		const pid_t pid = waitpid(-1, nullptr, 0);
		for (size_t i = 0; i < children.size(); i++)
			if (children[i].first == pid) {
				free_stacks.push_back(children[i].second);
				children[i] = children.back();
				children.pop_back();
				break;
			}
		ended++;
	}
	const double rate = commands / (now() - begun) * 1e6;
	for (Stack_t &stack : stacks)
		aspawn_stack_release(&stack);
	return rate;
}

static double posix_spawn_rate(unsigned running, int commands)
{
	unsigned alive = 0;
	int started = 0;
	pid_t pid;
	const double begun = now();

	while (started < commands || alive) {
		while (started < commands && alive < running) {
			check(posix_spawn(&pid, child, nullptr, nullptr, alone, environ) == 0,
			      "posix_spawn");
			started++;
			alive++;
		}
		waitpid(-1, nullptr, 0);
		alive--;
	}
	return commands / (now() - begun) * 1e6;
}

// Calls posix_spawn with a pipe for each command, and epoll, as an event loop does. A command has
// ended when its pipe has.
static double epoll_rate(unsigned running, const char *const *argv, int commands)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	std::vector<pid_t> of_fd(4096);
	int started = 0, ended = 0;
	unsigned alive = 0;
	char text[4096];
	const double begun = now();

	while (ended < commands) {
		while (started < commands && alive < running) {
			posix_spawn_file_actions_t actions;
			int ends[2];

			check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
			posix_spawn_file_actions_init(&actions);
			posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
			posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
			posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
			check(posix_spawn(&of_fd[(size_t)ends[0]], argv[0], &actions, nullptr,
					  (char *const *)argv, environ) == 0,
			      "posix_spawn");
			posix_spawn_file_actions_destroy(&actions);
			close(ends[1]);
			epoll_event event = {};
			event.events = EPOLLIN;
			event.data.fd = ends[0];
			epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
			started++;
			alive++;
		}
		epoll_event events[64];
		const int count = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < count; i++) {
			const int fd = events[i].data.fd;
			if (read(fd, text, sizeof text) > 0)
				continue;
			epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nullptr);
			close(fd);
			waitpid(of_fd[(size_t)fd], nullptr, 0);
			alive--;
			ended++;
		}
	}
	close(epoll);
	return commands / (now() - begun) * 1e6;
}

// --- how long the caller is blocked -----------------------------------------------------

static ASPAWN_CHILD int execs_alone(void *)
{
	return psys_execve(child, alone, environ);
}

// Every spawn of this kind needs these system calls, as in responsiveness.
static double floor_of_clone()
{
	static char *const stack = (char *)mmap(nullptr, 65536, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	psys_clone_args args = {};
	psys_sigset all, old;

	args.flags = PSYS_CLONE_VM | PSYS_CLONE_CLEAR_SIGHAND;
	args.exit_signal = PSYS_SIGCHLD;
	args.stack = (uintptr_t)stack;
	args.stack_size = 65536;
	psys_sigfillset(&all);
	nap();
	const double begun = now();
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &old, PSYS_SIGSET_SIZE);
	long pid = psys_clone3_thunk(&args, PSYS_CLONE_ARGS_SIZE_VER0, execs_alone, nullptr);
	if (pid == -PSYS_ENOSYS) // in a container
		pid = psys_clone_thunk(PSYS_CLONE_VM | PSYS_SIGCHLD, stack + 65536, nullptr,
				       nullptr, nullptr, execs_alone, nullptr);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &old, nullptr, PSYS_SIGSET_SIZE);
	const double ended = now();

	check(pid > 0, "clone3");
	waitpid((pid_t)pid, nullptr, 0);
	return ended - begun;
}

static double blocked_by_posix_spawn()
{
	nap();
	const double begun = now();
	pid_t pid;
	check(posix_spawn(&pid, child, nullptr, nullptr, with_arguments, environ) == 0,
	      "posix_spawn");
	const double ended = now();

	waitpid(pid, nullptr, 0);
	return ended - begun;
}

static double blocked_by_aspawn()
{
	static Stack_t stack;
	pid_t pid;

	nap();
	const double begun = now();
	check(aspawn_with(ASPAWN_WITH_NO_PIPE, nullptr, &pid, &stack, 4096, exec_child,
			  (void *)with_arguments, nullptr, 0) >= 0,
	      "aspawn");
	const double ended = now();

	waitpid(pid, nullptr, 0);
	return ended - begun;
}

struct Row {
	std::string name;
	std::function<double()> measure;
	std::vector<double> values = {};
};

// Compares the rows with the row `unit`.
static void compare(const char *title, const char *of, std::vector<Row> rows, size_t unit,
		    int rounds)
{
	for (int round = 0; round < rounds; round++)
		for (Row &row : rows)
			row.values.push_back(row.measure());
	const double one = median(rows[unit].values);
	printf("\n%-46s %10s\n", title, of);
	for (const Row &row : rows)
		printf("%-36s %9.2f %10.3f\n", row.name.c_str(), median(row.values),
		       median(row.values) / one);
}

// --- memory and descriptors of the caller ---------------------------------------------------

// Touches memory of the caller, in small pages. Returns false if the machine has less.
static bool touch(size_t mebibytes)
{
	static char *memory;
	static size_t size;
	const size_t available =
		(size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 1048576;

	if (memory)
		munmap(memory, size);
	memory = nullptr;
	size = mebibytes * 1048576;
	if (!size)
		return true;
	if (available < mebibytes + mebibytes / 8)
		return false;
	memory = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(memory != MAP_FAILED, "mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	return true;
}

static bool open_descriptors(unsigned count)
{
	static std::vector<int> fds;

	while (fds.size() > count) {
		close(fds.back());
		fds.pop_back();
	}
	while (fds.size() < count) {
		const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return false;
		fds.push_back(fd);
	}
	return true;
}

// Returns the time from the submission of a job until its end, of jobs one after the other.
static double life_of_a_job(aspawn_queue *queue, int64_t prepared)
{
	const aspawn_result *result;
	aspawn_job job = {};

	job.size = sizeof job;
	job.prepared = prepared;
	const double begun = now();
	check(aspawn_queue_submit(queue, &job, nullptr) > 0, "submit");
	check(aspawn_queue_wait(queue, &result, 1, -1) == 1, "wait");
	const double ended = now();
	aspawn_queue_release(queue, &result, 1);
	return ended - begun;
}

static double life_by_posix_spawn()
{
	pid_t pid;
	const double begun = now();

	check(posix_spawn(&pid, child, nullptr, nullptr, alone, environ) == 0, "posix_spawn");
	waitpid(pid, nullptr, 0);
	return now() - begun;
}

// Shows if what the caller has touched or opened makes a difference. The job of the prepared
// command own_memory needs memory of its own, as a job of another user does.
static void show_row(const char *what, aspawn_queue *queue, int64_t prepared, int64_t own_memory,
		     int rounds)
{
	std::vector<double> submits, lives, own_lives, others;

	for (int round = 0; round < rounds; round++) // not in turns: a close takes on
		submits.push_back(submit_burst(queue, prepared, 32, false));
	for (int round = 0; round < rounds; round++)
		lives.push_back(life_of_a_job(queue, prepared));
	for (int round = 0; round < rounds; round++)
		own_lives.push_back(life_of_a_job(queue, own_memory));
	for (int round = 0; round < rounds; round++)
		others.push_back(life_by_posix_spawn());
	nap();
	printf("%-36s %9.2f %10.1f %10.1f %12.1f\n", what, median(submits), median(lives),
	       median(own_lives), median(others));
}

static void show_callers(aspawn_queue *queue, int64_t prepared, int rounds)
{
	const aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
	aspawn_command command = command_of(with_arguments);

	command.actions = &nothing;
	command.action_count = 1;
	const int64_t own_memory = aspawn_queue_prepare(queue, &command, nullptr);
	check(own_memory > 0, "aspawn_queue_prepare");
	printf("\n%-36s %9s %10s %10s %12s\n", "us, medians; the caller has", "submit 32",
	       "its life", "own memory", "posix_spawn");
	for (size_t mebibytes : { 0, 64, 1024, 4096 }) {
		char what[64];
		snprintf(what, sizeof what, "touched %zu MiB", mebibytes);
		if (touch(mebibytes))
			show_row(what, queue, prepared, own_memory, rounds);
		else
			printf("%-36s not so much memory here\n", what);
	}
	touch(0);
	for (unsigned count : { 0U, 1000U, 19900U }) {
		char what[64];
		snprintf(what, sizeof what, "opened %u descriptors", count);
		if (open_descriptors(count))
			show_row(what, queue, prepared, own_memory, rounds);
		else
			printf("%-36s not so many descriptors here\n", what);
	}
	open_descriptors(0);
}

// --- many checks -----------------------------------------------------------------------------

static double processor_time(int who)
{
	rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Keeps `running` jobs at a time and no more, so that the time from submission to end is the job's
// own. RUSAGE_CHILDREN has the processor time of the jobs and of the server, which is a child that
// is reaped at the end.
static void show_checks(unsigned running, int commands)
{
	const double before = processor_time(RUSAGE_SELF) + processor_time(RUSAGE_CHILDREN);
	aspawn_queue *queue = make_queue(running);
	aspawn_command command = command_of(alone);
	const aspawn_result *results[64];
	std::vector<double> lives;
	aspawn_job job = {};
	int submitted = 0, count;

	job.size = sizeof job;
	command.std_err = ASPAWN_STREAM_STDOUT;
	job.prepared = aspawn_queue_prepare(queue, &command, nullptr);
	job.out_size = 4096;
	const double begun = now();
	while ((int)lives.size() < commands) {
		while (submitted < commands && submitted - (int)lives.size() < (int)running) {
			check(aspawn_queue_submit(queue, &job, nullptr) > 0, "submit");
			submitted++;
		}
		count = aspawn_queue_wait(queue, results, 64, -1);
		check(count > 0, "wait");
		for (int i = 0; i < count; i++)
			lives.push_back((double)(results[i]->ended_ns - results[i]->submitted_ns) /
					1e3);
		aspawn_queue_release(queue, results, count);
	}
	const double time = now() - begun;
	aspawn_queue_close(queue);
	const double used = processor_time(RUSAGE_SELF) + processor_time(RUSAGE_CHILDREN) - before;
	std::sort(lives.begin(), lives.end());
	printf("%-36u %9.0f %10.0f %10.0f %10.0f\n", running, commands / time * 1e6,
	       lives[lives.size() / 2], lives[lives.size() * 99 / 100], used / commands);
}

// Runs shells that echo, for pools.sh, and collects their output.
static int run_list(int commands)
{
	printf("%.0f\n", queue_rate(16, (char *const *)shell, true, commands));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "list"))
		return run_list(atoi(argv[2]));
	const int rounds = argc > 1 ? atoi(argv[1]) : 25, commands = argc > 2 ? atoi(argv[2]) : 4000;
	aspawn_queue *queue = make_queue(16);
	aspawn_command command = command_of(with_arguments);
	const int64_t prepared = aspawn_queue_prepare(queue, &command, nullptr);

	check(prepared > 0, "aspawn_queue_prepare");
	compare("blocked, us", "of clone",
		{ { "bare clone (the floor)", floor_of_clone },
		  { "aspawn", blocked_by_aspawn },
		  { "posix_spawn", blocked_by_posix_spawn },
		  { "submit, 1, server asleep",
		    [=] { return submit_burst(queue, prepared, 1, true); } },
		  { "submit, 1, server awake",
		    [=] { return submit_burst(queue, prepared, 1, false); } },
		  { "submit, 32, server asleep",
		    [=] { return submit_burst(queue, prepared, 32, true); } },
		  { "submit, 32, server awake",
		    [=] { return submit_burst(queue, prepared, 32, false); } },
		  { "submit, 1000, server awake",
		    [=] { return submit_burst(queue, prepared, 1000, false); } },
		  { "submit, 32, awake, environment copied",
		    [=] { return submit_burst(queue, 0, 32, false); } } },
		0, rounds * 4);
	show_callers(queue, prepared, rounds);
	aspawn_queue_close(queue);
	printf("\n%-36s %9s %10s %10s %10s\n", "checks with output, at once", "a second", "p50, us",
	       "p99, us", "CPU, us");
	for (unsigned running : { 1U, 16U, 100U })
		show_checks(running, commands);
	for (unsigned running : { 16U, 100U }) {
		const std::string title =
			"a second, static child, " + std::to_string(running) + " at once";
		compare(title.c_str(), "of p_spawn",
			{ { "posix_spawn", [=] { return posix_spawn_rate(running, commands); } },
			  { "aspawn, cached stacks, by hand",
			    [=] { return loop_rate(running, commands); } },
			  { "queue", [=] { return queue_rate(running, alone, false, commands); } } },
			0, rounds / 2);
	}
	compare("a second, static child, output collected", "of p_spawn",
		{ { "posix_spawn, epoll, by hand", [=] { return epoll_rate(16, alone, commands); } },
		  { "queue", [=] { return queue_rate(16, alone, true, commands); } } },
		0, rounds / 2);
	compare("a second, sh that echoes 100 bytes", "of p_spawn",
		{ { "posix_spawn, epoll, by hand",
		    [=] { return epoll_rate(16, shell, commands / 2); } },
		  { "queue",
		    [=] { return queue_rate(16, (char *const *)shell, true, commands / 2); } } },
		0, rounds / 2);
}
