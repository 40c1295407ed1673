/* SPDX-License-Identifier: MIT */
// See host.h.
#include "host.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

struct Order {
	Way way;
	bool until_reaped;
	long count;
};

[[noreturn]] void fail(const char *what)
{
	std::perror(what);
	std::exit(1);
}

class Host
{
      public:
	Host(void (*prepare)(long), long amount) : prepare(prepare), amount(amount) {}

	// Returns the seconds of each start; a negative number means that the start failed.
	std::vector<double> times(const Order &order)
	{
		std::vector<double> seconds(static_cast<size_t>(order.count));
		const size_t size = seconds.size() * sizeof(double);

		if (connection < 0)
			start();
		if (write(connection, &order, sizeof order) != sizeof order ||
		    recv(connection, seconds.data(), size, MSG_WAITALL) !=
			    static_cast<ssize_t>(size))
			fail("host");
		return seconds;
	}

      private:
	void (*prepare)(long);
	long amount;
	int connection = -1;

	void start()
	{
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
			fail("socketpair");
		pid_t pid = fork();
		if (pid < 0)
			fail("fork");
		close(ends[pid == 0]);
		connection = ends[pid != 0];
		if (pid == 0)
			serve();
	}

	[[noreturn]] void serve()
	{
		Order order;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare(amount);
		while (read(connection, &order, sizeof order) == sizeof order) {
			std::vector<double> seconds;
			for (long i = 0; i < order.count; i++)
				seconds.push_back(time_of(order.way, order.until_reaped));
			const size_t size = seconds.size() * sizeof(double);
			if (write(connection, seconds.data(), size) != static_cast<ssize_t>(size))
				break;
		}
		_exit(0);
	}
};

void measure(benchmark::State &state, Host &host, const Way &way, bool until_reaped)
{
	const std::vector<double> seconds =
		host.times({ way, until_reaped, static_cast<long>(state.max_iterations) });
	size_t i = 0;

	for (auto _ : state) {
		if (seconds[i] < 0) {
			state.SkipWithError("could not start the child");
			break;
		}
		state.SetIterationTime(seconds[i++]);
	}
}

} // namespace

void register_in_host(const std::vector<Way> &ways, Measured measured, void (*prepare)(long),
		      const char *unit, long amount)
{
	const auto host = std::make_shared<Host>(prepare, amount);

	for (bool until_reaped : { false, true }) {
		if (until_reaped && measured != Measured::both)
			break;
		for (const Way &way : ways) {
			std::string name = way.name;
			if (measured == Measured::both)
				name += until_reaped ? "/reaped" : "/blocked";
			name += std::string("/") + unit + ":" + std::to_string(amount);
			benchmark::RegisterBenchmark(name.c_str(),
						     [=](benchmark::State &state) {
							     measure(state, *host, way,
								     until_reaped);
						     })
				->UseManualTime()
				->Unit(benchmark::kMicrosecond);
		}
	}
}

void touch(long mebibytes)
{
	const size_t size = static_cast<size_t>(mebibytes) << 20;

	if (!size)
		return;
	char *memory = static_cast<char *>(
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
}
