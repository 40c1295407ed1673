/* SPDX-License-Identifier: MIT */
// Measures what a command costs beside its own work, for doc/scaling.md: processor time of the
// caller and of the queues' servers, by how many run at once, and by the number of queues, each
// with a thread.
//
//	scaling [rounds [commands]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <aspawn/queue.h>

static char child[] = BENCH_CHILD;
static char *const quick[] = { child, nullptr };
static char *const shell[] = { (char *)"/bin/sh", (char *)"-c", (char *)"echo OK", nullptr };
static char *const slow[] = { (char *)"sleep", (char *)"1", nullptr };
extern char **environ;

static void check(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static double microseconds(const timeval &time)
{
	return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static double cpu(int who)
{
	rusage usage;

	getrusage(who, &usage);
	return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

static double now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

// Adds the processor time of the commands themselves to *own.
static void run(char *const *argv, unsigned running, int commands, double *own)
{
	aspawn_queue_options options = {};
	aspawn_command command = {};
	aspawn_job job = {};
	aspawn_queue *queue;
	const aspawn_result *results[64];
	int submitted = 0, count;

	options.size = sizeof options;
	options.jobs = std::min(2 * running + 256, 32768U);
	options.running = running;
	check(aspawn_queue_create(&queue, &options) == 0, "aspawn_queue_create");
	command.size = sizeof command;
	command.argv = argv;
	command.envp = environ;
	command.std_err = ASPAWN_STREAM_STDOUT;
	job.size = sizeof job;
	job.out_size = 4096;
	job.time_limit_ms = 60000;
	job.prepared = aspawn_queue_prepare(queue, &command, nullptr);
	check(job.prepared > 0, "aspawn_queue_prepare");
	do {
		while (submitted < commands && aspawn_queue_submit(queue, &job, nullptr) > 0)
			submitted++;
		count = aspawn_queue_wait(queue, results, 64, -1);
		for (int i = 0; i < count; i++) {
			check(results[i]->outcome == ASPAWN_OUTCOME_RAN, "a command");
			*own += (double)(results[i]->usage.ru_utime.tv_sec +
					 results[i]->usage.ru_stime.tv_sec) *
					1e6 +
				(double)(results[i]->usage.ru_utime.tv_usec +
					 results[i]->usage.ru_stime.tv_usec);
		}
		if (count > 0)
			aspawn_queue_release(queue, results, count);
	} while (count > 0);
	aspawn_queue_close(queue);
}

struct Measured {
	double rate, caller, servers, own;
};

static Measured measure(char *const *argv, unsigned queues, unsigned running, int commands)
{
	const double caller = cpu(RUSAGE_SELF), children = cpu(RUSAGE_CHILDREN), begun = now();
	std::vector<double> own(queues);
	std::vector<std::thread> threads;

	for (unsigned i = 0; i < queues; i++)
		threads.emplace_back(run, argv, running / queues, commands / (int)queues, &own[i]);
	for (std::thread &thread : threads)
		thread.join();
	double sum = 0;
	for (double of_one : own)
		sum += of_one;
	return { commands / (now() - begun) * 1e6, (cpu(RUSAGE_SELF) - caller) / commands,
		 (cpu(RUSAGE_CHILDREN) - children - sum) / commands, sum / commands };
}

static double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 9, commands = argc > 2 ? atoi(argv[2]) : 8000;
	static const struct {
		const char *name;
		char *const *argv;
		unsigned queues, running;
		int part; // of the commands
	} rows[] = {
		{ "static child", quick, 1, 16, 1 },    { "static child", quick, 1, 100, 1 },
		{ "static child", quick, 1, 1000, 1 },  { "static child", quick, 2, 100, 1 },
		{ "static child", quick, 4, 100, 1 },   { "sh -c 'echo OK'", shell, 1, 16, 4 },
		{ "sh -c 'echo OK'", shell, 2, 16, 4 }, { "sleep 1", slow, 1, 1000, 8 },
		{ "sleep 1", slow, 1, 4000, 2 },
	};
	enum { ROWS = sizeof rows / sizeof *rows };
	std::vector<Measured> of[ROWS];

	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < ROWS; i++)
			of[i].push_back(measure(rows[i].argv, rows[i].queues, rows[i].running,
						commands / rows[i].part));
	printf("%-16s %6s %8s %9s | CPU us: %8s %8s %8s\n", "command", "queues", "at once",
	       "a second", "caller", "servers", "its own");
	for (size_t i = 0; i < ROWS; i++) {
		auto middle = [&](double Measured::*member) {
			std::vector<double> values;
			for (const Measured &measured : of[i])
				values.push_back(measured.*member);
			return median(values);
		};
		printf("%-16s %6u %8u %9.0f | %16.1f %8.1f %8.1f\n", rows[i].name, rows[i].queues,
		       rows[i].running, middle(&Measured::rate), middle(&Measured::caller),
		       middle(&Measured::servers), middle(&Measured::own));
	}
}
