/* SPDX-License-Identifier: MIT */
// Measures what a caller waits for that starts a program: five tables, each under several
// conditions. Each condition has a process of its own, which starts all ways in turns, in random
// order.
//
//	waits full|quick|demo FILE [TABLE...]
//
// FILE gets a JSON object for each line: the figures of one way under one condition, or the reason
// why a condition cannot be measured here. bench/waits.py makes tables and charts of it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/queue.h>
#include <syscall/clone.h>
#include <syscall/syscall.h>

#include "calls.h"
#include "host.h"

namespace
{

using Clock = std::chrono::steady_clock;

char child[] = BENCH_CHILD;
char *const child_argv[] = { child, nullptr };
char *const no_environment[] = { nullptr };

// --- ways of the library ---------------------------------------------------------------

aspawn_pool pool;
aspawn_child handle;
const aspawn_action closefrom = ASPAWN_CLOSEFROM(3);
const aspawn_action only_below = ASPAWN_ONLY_BELOW(3);
const aspawn_action other_user = ASPAWN_USER(65534, 65534, nullptr, 0);
aspawn_action join_group;

template <uint64_t OWNER, const aspawn_action *ACTIONS, size_t COUNT, int STREAM = 0, bool POOL = true>
int start_command()
{
	aspawn_command command = {};

	command.size = sizeof command;
	command.owner = OWNER;
	command.argv = child_argv;
	command.envp = no_environment;
	command.actions = ACTIONS;
	command.action_count = COUNT;
	command.std_in = command.std_out = STREAM;
	command.pool = POOL ? &pool : nullptr;
	return aspawn_start(&handle, &command);
}

void finish_command(int)
{
	close(handle.in_fd); // -1 if it is no pipe
	close(handle.out_fd);
	aspawn_wait(&handle, nullptr, nullptr, -1);
}

aspawn_queue *queue;

int submit()
{
	aspawn_command command = {};
	aspawn_job job = {};

	if (!queue && aspawn_queue_create(&queue, nullptr) < 0)
		return -1;
	command.size = sizeof command;
	command.argv = child_argv;
	command.envp = no_environment;
	job.size = sizeof job;
	job.command = &command;
	return aspawn_queue_submit(queue, &job, nullptr) > 0 ? 0 : -1;
}

void finish_job(int)
{
	const aspawn_result *result;

	if (aspawn_queue_wait(queue, &result, 1, -1) == 1)
		aspawn_queue_release(queue, &result, 1);
}

// --- ways that join a control group ------------------------------------------------------

int group = -1; // its directory

bool write_at(const char *name, const char *text)
{
	const int fd = openat(group, name, O_WRONLY | O_CLOEXEC);
	const ssize_t size = static_cast<ssize_t>(std::strlen(text));
	const bool written = fd >= 0 && write(fd, text, static_cast<size_t>(size)) == size;

	if (fd >= 0)
		close(fd);
	return written;
}

ASPAWN_CHILD int execute(void *)
{
	return psys_execve(child, child_argv, no_environment);
}

// FLAGS are flags of clone(2), beside those of the floor.
template <uint64_t FLAGS> int clone_into_group()
{
	static char *const stack = static_cast<char *>(
		mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	psys_clone_args args = {};

	args.flags = PSYS_CLONE_VM | PSYS_CLONE_INTO_CGROUP | FLAGS;
	args.exit_signal = PSYS_SIGCHLD;
	args.stack = reinterpret_cast<uintptr_t>(stack);
	args.stack_size = 65536;
	args.cgroup = static_cast<uint64_t>(group);
	return static_cast<int>(psys_clone3_thunk(&args, sizeof args, execute, nullptr));
}

void join_and_execute()
{
	const int fd = openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (write(fd, "0", 1) == 1)
		execve(child, child_argv, no_environment);
	_exit(127);
}

int fork_and_join()
{
	const pid_t pid = fork();

	if (pid == 0)
		join_and_execute();
	return pid;
}

int vfork_and_join()
{
	const pid_t pid = vfork();

	if (pid == 0)
		join_and_execute();
	return pid;
}

// --- the ways ------------------------------------------------------------------------

const char FLOOR[] = "bare clone3 (the floor)";
const char PLAIN[] = "aspawn_start";
using Ways = std::vector<Way>;

// Returns the ways of the charts alone if brief.
Ways all_ways(bool brief)
{
	Ways chosen;

	for (const Way &way : ways)
		for (const char *name : { FLOOR, "vfork", "posix_spawn", "fork" })
			if (!std::strcmp(way.name, name))
				chosen.push_back(way);
	chosen.push_back({ PLAIN, start_command<0, nullptr, 0>, finish_command });
	if (brief)
		return chosen;
	const uint64_t hidden = ASPAWN_OWNER_PRIVATE, tree = ASPAWN_OWNER_TREE;
	const int pipe = ASPAWN_STREAM_PIPE;
	const Ways others = {
		{ "aspawn_start, closefrom, two pipes", start_command<0, &closefrom, 1, pipe>,
		  finish_command },
		{ "aspawn_start, private", start_command<hidden, nullptr, 0>, finish_command },
		{ "aspawn_start, tree", start_command<tree, nullptr, 0>, finish_command },
		{ "aspawn_start, another user", start_command<0, &other_user, 1>, finish_command },
		{ "aspawn_start, no pool", start_command<0, nullptr, 0, 0, false>, finish_command },
		{ "aspawn_start, private, no pool", start_command<hidden, nullptr, 0, 0, false>,
		  finish_command },
		{ "aspawn_start, only_below", start_command<0, &only_below, 1>, finish_command },
		{ "aspawn_queue_submit", submit, finish_job },
	};
	chosen.insert(chosen.end(), others.begin(), others.end());
	return chosen;
}

// --- results ---------------------------------------------------------------------------

FILE *results;

// Each line that is written names its condition.
struct Condition {
	const char *table;
	std::string name;
	const char *caller; // what it has done before each start

	void begin_line(const char *way) const
	{
		std::fprintf(results,
			     "{\"table\": \"%s\", \"condition\": \"%s\", \"caller\": \"%s\"", table,
			     name.c_str(), caller);
		if (way)
			std::fprintf(results, ", \"way\": \"%s\"", way);
	}

	void skip(const std::string &reason, const char *way = nullptr) const
	{
		begin_line(way);
		std::fprintf(results, ", \"skipped\": \"%s\"}\n", reason.c_str());
		std::fprintf(stderr, "skipped: %s, %s%s%s: %s\n", table, name.c_str(),
			     way ? ", " : "", way ? way : "", reason.c_str());
	}
};

struct Start {
	double seconds = -1; // that the caller was blocked; -1: the start failed
	bool lost = false;   // the caller had to leave its processor to another process
	bool slept = false;  // the caller gave its processor up, to wait
};

double percentile(const std::vector<double> &sorted, size_t percent)
{
	return sorted.empty() ? 0 : sorted[(sorted.size() - 1) * percent / 100] * 1e6;
}

void write_line(const Condition &condition, const char *way, const std::vector<Start> &starts)
{
	std::vector<double> all, kept;
	size_t slept = 0;

	for (const Start &start : starts) {
		if (start.seconds < 0)
			continue;
		all.push_back(start.seconds);
		if (!start.lost)
			kept.push_back(start.seconds);
		slept += start.slept;
	}
	if (all.empty()) {
		condition.skip("every start failed", way);
		return;
	}
	std::sort(all.begin(), all.end());
	std::sort(kept.begin(), kept.end());
	condition.begin_line(way);
	std::fprintf(results,
		     ", \"starts\": %zu, \"failed\": %zu, \"p50\": %.2f, \"p95\": %.2f, "
		     "\"p99\": %.2f, \"longest\": %.2f, \"kept_p99\": %.2f, \"lost\": %zu, "
		     "\"slept\": %zu}\n",
		     all.size(), starts.size() - all.size(), percentile(all, 50),
		     percentile(all, 95), percentile(all, 99), percentile(all, 100),
		     percentile(kept, 99), all.size() - kept.size(), slept);
}

// A repetition is one start.
class Writer : public benchmark::BenchmarkReporter
{
      public:
	explicit Writer(const Condition &condition) : condition(condition) {}

	bool ReportContext(const Context &) override
	{
		return true;
	}

	void ReportRuns(const std::vector<Run> &runs) override
	{
		std::vector<Start> starts;

		for (const Run &run : runs)
			if (run.run_type == Run::RT_Iteration)
				starts.push_back({ run.counters.at("seconds").value,
						   run.counters.at("lost").value > 0,
						   run.counters.at("slept").value > 0 });
		if (!starts.empty())
			write_line(condition, runs[0].run_name.function_name.c_str(), starts);
	}

      private:
	const Condition &condition;
};

// --- one start --------------------------------------------------------------------------

void work_for_a_millisecond()
{
	const auto end = Clock::now() + std::chrono::milliseconds(1);

	while (Clock::now() < end)
		continue;
}

void rest_for_a_millisecond()
{
	usleep(1000);
}

rusage usage_of_thread()
{
	rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage;
}

Start blocked_by(const Way &way)
{
	const rusage before = usage_of_thread();
	const auto begun = Clock::now();
	const int pid = way.start();
	const auto ended = Clock::now();
	const rusage after = usage_of_thread();

	if (pid < 0)
		return {};
	const Start start = { std::chrono::duration<double>(ended - begun).count(),
			      after.ru_nivcsw != before.ru_nivcsw,
			      after.ru_nvcsw != before.ru_nvcsw };
	way.finish(pid);
	return start;
}

using Measure = std::function<Start(const Way &)>;

// Measures the ways that work here, `count` times each.
void measure(const Condition &condition, const Ways &compared, long count,
	     const Measure &measure_one)
{
	std::string repetitions = "--benchmark_repetitions=" + std::to_string(count);
	char name[] = "waits", in_turns[] = "--benchmark_enable_random_interleaving=true";
	char *arguments[] = { name, in_turns, repetitions.data() };
	int argument_count = 3;
	Writer writer(condition);

	std::fprintf(stderr, "%s, %s, %s: %zu ways, %ld starts\n", condition.table,
		     condition.name.c_str(), condition.caller, compared.size(), count);
	for (const Way &way : compared) {
		bool works = true; // and what it keeps for later starts is there
		for (int i = 0; i < 3 && works; i++)
			works = measure_one(way).seconds >= 0;
		if (!works) {
			condition.skip("cannot start the child here", way.name);
			continue;
		}
		benchmark::RegisterBenchmark(way.name,
					     [=](benchmark::State &state) {
						     for (auto _ : state) {
							     const Start start = measure_one(way);
							     state.SetIterationTime(start.seconds);
							     state.counters["seconds"] =
								     start.seconds;
							     state.counters["lost"] = start.lost;
							     state.counters["slept"] = start.slept;
						     }
					     })
			->UseManualTime()
			->Iterations(1);
	}
	benchmark::Initialize(&argument_count, arguments);
	benchmark::RunSpecifiedBenchmarks(&writer);
}

void measure_worked(const Condition &condition, const Ways &compared, long count)
{
	measure(condition, compared, count, [](const Way &way) {
		work_for_a_millisecond();
		return blocked_by(way);
	});
}

void measure_rested(const Condition &condition, const Ways &compared, long count)
{
	measure(condition, compared, count, [](const Way &way) {
		rest_for_a_millisecond();
		return blocked_by(way);
	});
}

std::string error(const char *what)
{
	return std::string(what) + ": " + std::strerror(errno);
}

// Runs in a process of its own, whose end ends all that the condition needs.
void in_process(const Condition &condition, const std::function<void(const Condition &)> &run)
{
	std::fflush(results);
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(condition);
		std::fflush(results);
		_exit(0);
	}
	int status = 0;
	if (pid < 0)
		condition.skip(error("fork"));
	else if (waitpid(pid, &status, 0) == pid && status)
		condition.skip("the process that measures has ended with status " +
			       std::to_string(status));
}

pid_t fork_that_ends_with_caller()
{
	const pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

[[noreturn]] void compute()
{
	for (volatile unsigned turns = 0;; turns = turns + 1)
		continue;
}

void keep_processors_busy(int processes_for_each)
{
	cpu_set_t processors;

	sched_getaffinity(0, sizeof processors, &processors);
	for (int i = CPU_COUNT(&processors) * processes_for_each; i; i--)
		if (fork_that_ends_with_caller() == 0)
			compute();
	usleep(processes_for_each ? 200000 : 0); // until the scheduler has spread them
}

struct Plan {
	bool brief;
	long many, few; // starts of each way: where one is fast, and where it takes long
};

// --- 1. load -----------------------------------------------------------------------------

void measure_load(const Plan &plan)
{
	const std::vector<int> loads =
		plan.brief ? std::vector<int>{ 0, 1 } : std::vector<int>{ 0, 1, 4, 16 };

	for (int load : loads) {
		const long count = load > 4 ? plan.few : load > 1 ? plan.many / 2 : plan.many;
		in_process({ "load", std::to_string(load), "worked" }, [&](const Condition &it) {
			keep_processors_busy(load);
			measure_worked(it, all_ways(plan.brief), count);
		});
		if (!plan.brief)
			in_process({ "load", std::to_string(load), "rested" },
				   [&](const Condition &it) {
					   keep_processors_busy(load);
					   measure_rested(it, all_ways(false), count);
				   });
	}
}

// --- 2. an exec that takes long -----------------------------------------------------------

// Acts as a scanner: allows each exec of the child after so long.
[[noreturn]] void scan(int events, int milliseconds)
{
	fanotify_event_metadata event;

	prctl(PR_SET_TIMERSLACK, 1UL);
	while (read(events, &event, sizeof event) == sizeof event) {
		if (milliseconds)
			usleep(static_cast<useconds_t>(milliseconds) * 1000);
		const fanotify_response answer = { event.fd, FAN_ALLOW };
		if (write(events, &answer, sizeof answer) != sizeof answer)
			break;
		close(event.fd);
	}
	_exit(1);
}

void measure_slow_exec(const Plan &plan)
{
	const std::vector<int> delays =
		plan.brief ? std::vector<int>{ 20 } : std::vector<int>{ 0, 1, 20 };

	for (int delay : delays)
		in_process({ "exec", std::to_string(delay), "worked" }, [&](const Condition &it) {
			const int events = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
			if (events < 0 || fanotify_mark(events, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM,
							AT_FDCWD, child) < 0) {
				it.skip(error("fanotify"));
				return;
			}
			if (fork_that_ends_with_caller() == 0)
				scan(events, delay);
			close(events);
			measure_worked(it, all_ways(plan.brief), delay < 20 ? plan.many : plan.few);
		});
}

// --- 3. real time --------------------------------------------------------------------------

bool become_real_time(int policy)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} wanted = {};

	wanted.size = sizeof wanted;
	wanted.policy = static_cast<uint32_t>(policy);
	wanted.flags = SCHED_FLAG_RESET_ON_FORK;
	if (policy == SCHED_FIFO)
		wanted.priority = 10;
	else {
		wanted.runtime = 5000000;
		wanted.deadline = wanted.period = 10000000;
	}
	return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
}

void measure_real_time(const Plan &plan)
{
	for (int policy : { SCHED_FIFO, SCHED_DEADLINE }) {
		if (plan.brief && policy != SCHED_FIFO)
			continue;
		const char *name = policy == SCHED_FIFO ? "SCHED_FIFO" : "SCHED_DEADLINE";
		in_process({ "real time", name, "worked" }, [&](const Condition &it) {
			keep_processors_busy(1);
			if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
				it.skip(error("mlockall"));
			else if (!become_real_time(policy))
				it.skip(error("sched_setattr"));
			else
				measure_worked(it, all_ways(plan.brief), plan.many);
		});
	}
}

// --- 4. a control group that does not run ---------------------------------------------------

const char group_path[] = "/sys/fs/cgroup/aspawn-waits";

// Mounts in a namespace of this process, and makes a group.
bool make_group()
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		return false;
	if (mount("none", "/sys/fs/cgroup", "cgroup2", 0, nullptr) &&
	    errno != EBUSY) // it is mounted there
		return false;
	if (mkdir(group_path, 0755) && errno != EEXIST)
		return false;
	group = open(group_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	aspawn_action_join_cgroup(&join_group, group);
	return group >= 0;
}

const std::chrono::milliseconds FROZEN_FOR(50);

Ways group_ways()
{
	return { { FLOOR, clone_into_group<0>, reap },
		 { PLAIN, start_command<0, &join_group, 1>, finish_command },
		 { "aspawn_start, private", start_command<ASPAWN_OWNER_PRIVATE, &join_group, 1>,
		   finish_command },
		 { "fork", fork_and_join, reap },
		 { "vfork", vfork_and_join, reap },
		 { "clone3, as posix_spawn calls it", clone_into_group<PSYS_CLONE_VFORK>, reap } };
}

// The group is thawed 50 ms after each start has begun.
void measure_frozen(const Condition &condition, long count)
{
	if (!make_group() || !write_at("cgroup.freeze", "0")) {
		condition.skip(error("a control group of version 2"));
		return;
	}
	measure(condition, group_ways(), count, [](const Way &way) {
		write_at("cgroup.freeze", "1");
		std::thread thaws([] {
			std::this_thread::sleep_for(FROZEN_FOR);
			write_at("cgroup.freeze", "0");
		});
		const Start start = blocked_by(way);
		thaws.join();
		return start;
	});
	rmdir(group_path);
}

// A process of the group uses up its millisecond in each tenth of a second.
void measure_used_up(const Condition &condition, long count)
{
	pid_t hog = -1;

	if (!make_group() || !write_at("cpu.max", "1000 100000"))
		condition.skip(error("cpu.max of a control group"));
	else if ((hog = fork_that_ends_with_caller()) == 0)
		compute();
	else if (!write_at("cgroup.procs", std::to_string(hog).c_str()))
		condition.skip(error("cgroup.procs"));
	else {
		usleep(200000);
		measure(condition, group_ways(), count, blocked_by);
	}
	if (hog > 0) {
		kill(hog, SIGKILL);
		reap(hog);
	}
	rmdir(group_path);
}

void measure_group(const Plan &plan)
{
	const long count = plan.brief ? 3 : std::max(plan.few / 15, 5L);

	in_process({ "group", "frozen", "rested" },
		   [&](const Condition &it) { measure_frozen(it, count); });
	if (!plan.brief)
		in_process({ "group", "used up", "rested" },
			   [&](const Condition &it) { measure_used_up(it, count); });
}

// --- 5. other threads -----------------------------------------------------------------------

// The thread of a Toucher touches pages while it is watched.
class Toucher
{
      public:
	Toucher()
	{
		pages = static_cast<char *>(mmap(nullptr, SIZE, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		madvise(pages, SIZE, MADV_NOHUGEPAGE);
		if (pipe2(begin, O_CLOEXEC) < 0)
			std::abort();
		std::thread([this] { touch_pages(); }).detach();
	}

	void watch()
	{
		const unsigned long before = faults;

		state = WATCHED;
		if (write(begin[1], "", 1) != 1)
			std::abort();
		while (faults == before)
			continue;
	}

	// Returns seconds.
	double longest()
	{
		state = ENDING;
		while (state != ENDED)
			std::this_thread::yield();
		return longest_fault;
	}

      private:
	enum { WATCHED, ENDING, ENDED };
	static constexpr size_t SIZE = 64 << 20;
	char *pages;
	int begin[2];
	std::atomic<int> state{ ENDED };
	std::atomic<unsigned long> faults{ 0 };
	double longest_fault = 0;

	void touch_pages()
	{
		size_t at = 0;
		char byte;

		while (read(begin[0], &byte, 1) == 1) {
			longest_fault = 0;
			for (bool ends = false; !ends; at = (at + 4096) % SIZE) {
				ends = state == ENDING;
				if (!at)
					madvise(pages, SIZE, MADV_DONTNEED);
				const rusage before = usage_of_thread();
				const auto begun = Clock::now();
				*static_cast<volatile char *>(pages + at) = 1;
				const double time =
					std::chrono::duration<double>(Clock::now() - begun).count();
				const rusage after = usage_of_thread();
				// A fault does not count that took long only because the thread
				// lost its processor.
				if (after.ru_nivcsw == before.ru_nivcsw ||
				    after.ru_nvcsw != before.ru_nvcsw)
					longest_fault = std::max(longest_fault, time);
				faults++;
			}
			state = ENDED;
		}
	}
};

void measure_threads(const Plan &plan)
{
	const std::vector<long> sizes =
		plan.brief ? std::vector<long>{ 1024 } : std::vector<long>{ 0, 1024, 4096 };
	const long count = plan.brief ? 10 : plan.few;
	const Ways compared = all_ways(plan.brief);

	for (long size : sizes)
		in_process({ "threads", std::to_string(size), "rested" }, [&](const Condition &it) {
			const long needed = size + size / 4;
			if (sysconf(_SC_AVPHYS_PAGES) / 256 * (sysconf(_SC_PAGESIZE) / 4096) <
			    needed) {
				it.skip("not so much memory here");
				return;
			}
			touch(size);
			Toucher toucher;
			measure(it, compared, count, [&](const Way &way) {
				rest_for_a_millisecond();
				toucher.watch();
				const int pid = way.start();
				const double seconds = toucher.longest();
				if (pid < 0)
					return Start{};
				way.finish(pid);
				return Start{ seconds, false, false };
			});
		});
	for (const Way &way : compared) {
		const Condition condition = { "threads", "calls", "rested" };
		const Calls calls = calls_of(way);
		if (calls.changes < 0) {
			condition.skip("cannot trace", way.name);
			continue;
		}
		condition.begin_line(way.name);
		std::fprintf(results, ", \"changes\": %d, \"copies\": %d}\n", calls.changes,
			     calls.copies);
	}
}

std::string processor_model()
{
	std::ifstream file("/proc/cpuinfo");

	for (std::string line; std::getline(file, line);)
		if (line.compare(0, 10, "model name") == 0)
			return line.substr(line.find(':') + 2);
	return "";
}

void write_machine()
{
	const time_t now = time(nullptr);
	double load = 0;
	utsname system;
	char day[16];

	uname(&system);
	getloadavg(&load, 1);
	std::strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
	std::fprintf(
		results,
		"{\"day\": \"%s\", \"kernel\": \"%s\", \"architecture\": \"%s\", \"processors\": %ld, "
		"\"model\": \"%s\", \"load_before\": %.1f}\n",
		day, system.release, system.machine, sysconf(_SC_NPROCESSORS_ONLN),
		processor_model().c_str(), load);
}

} // namespace

int main(int argc, char **argv)
{
	const std::map<std::string, Plan> plans = { { "full", { false, 2000, 300 } },
						    { "quick", { false, 100, 30 } },
						    { "demo", { true, 100, 20 } } };
	const std::vector<std::pair<const char *, void (*)(const Plan &)>> tables = {
		{ "load", measure_load },           { "exec", measure_slow_exec },
		{ "real-time", measure_real_time }, { "group", measure_group },
		{ "threads", measure_threads },
	};
	const auto plan = plans.find(argc > 1 ? argv[1] : "");
	const std::set<std::string> wanted(argv + std::min(argc, 3), argv + argc);

	if (argc < 3 || plan == plans.end()) {
		std::fprintf(
			stderr,
			"usage: waits full|quick|demo FILE [load|exec|real-time|group|threads...]\n");
		return 2;
	}
	if (!(results = std::fopen(argv[2], "we"))) {
		std::perror(argv[2]);
		return 1;
	}
	write_machine();
	for (const auto &[name, run] : tables)
		if (wanted.empty() || wanted.count(name))
			run(plan->second);
	return std::fclose(results) != 0;
}
