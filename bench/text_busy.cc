/* SPDX-License-Identifier: MIT */
// Eight threads each write a program and start it, as a compiler's driver or a test runner
// does. Counts how often the start fails with ETXTBSY, because another thread's child still
// holds the descriptor through which the program was written.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/errno.h>

static char *const nothing[] = { nullptr };

// Returns 0 or an error number; no child is left.
static int start_posix_spawn(aspawn_pool *, const char *path)
{
	char *const argv[] = { const_cast<char *>(path), nullptr };
	pid_t pid;
	int error = posix_spawn(&pid, path, nullptr, nullptr, argv, nothing);
	if (!error)
		waitpid(pid, nullptr, 0);
	return error;
}

static const aspawn_action close_action = ASPAWN_CLOSEFROM(3);
static const aspawn_action only_action = ASPAWN_ONLY_BELOW(3);

template <const aspawn_action *ACTION> static int start_command(aspawn_pool *pool, const char *path)
{
	struct aspawn_command command = {};
	command.size = sizeof command;
	command.file = path;
	command.actions = ACTION;
	command.action_count = 1;
	command.pool = pool;
	aspawn_child child;
	int error = -aspawn_start(&child, &command);
	if (!error) {
		error = -aspawn_wait_started(&child, nullptr, -1);
		aspawn_wait(&child, nullptr, nullptr, -1);
	}
	return error;
}

static std::string program()
{
	std::string text;
	char part[4096];
	int fd = open(BENCH_CHILD, O_RDONLY | O_CLOEXEC);
	for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;)
		text.append(part, static_cast<size_t>(n));
	close(fd);
	return text;
}

static void compare(const char *name, int (*start)(aspawn_pool *, const char *), int seconds)
{
	const std::string text = program();
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
	std::atomic<int> started{ 0 }, busy{ 0 }, others{ 0 };
	std::vector<std::thread> threads;

	for (int i = 0; i < 8; i++)
		threads.emplace_back([&, i] {
			const std::string path =
				"./text_busy." + std::to_string(getpid()) + "." + std::to_string(i);
			aspawn_pool pool{};
			while (std::chrono::steady_clock::now() < end) {
				int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					      0755);
				bool written = write(fd, text.data(), text.size()) ==
					       static_cast<ssize_t>(text.size());
				close(fd);
				int error = written ? start(&pool, path.c_str()) : EIO;
				(error == 0 ? started : error == ETXTBSY ? busy : others)++;
				unlink(path.c_str());
			}
			aspawn_pool_release(&pool);
		});
	for (std::thread &thread : threads)
		thread.join();
	std::printf("| %s | %d | %d | %d |\n", name, started.load(), busy.load(), others.load());
}

int main(int argc, char **argv)
{
	const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;

	std::printf("\n**Programs written and started by 8 threads for %d s**\n\n", seconds);
	std::printf("| | started | ETXTBSY | other errors |\n| --- | ---: | ---: | ---: |\n");
	compare("posix_spawn", start_posix_spawn, seconds);
	compare("aspawn_start, ASPAWN_CLOSEFROM(3)", start_command<&close_action>, seconds);
	compare("aspawn_start, ASPAWN_ONLY_BELOW(3)", start_command<&only_action>, seconds);
	return 0;
}
