/* SPDX-License-Identifier: MIT */
// The headers in C++11, with -Wpedantic, and a callback that is a lambda.
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <type_traits>

#include <aspawn/aspawn.h>
#include <aspawn/command.h>
#include <syscall/clone.h>
#include <syscall/errno.h>
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

// A pointer into a temporary array would dangle.
using arguments = decltype(ASPAWN_ARGV("ls", "-l"));
static_assert(std::is_convertible<arguments &, char *const *>::value, "a variable is an argv");
static_assert(!std::is_convertible<arguments, char *const *>::value, "a temporary is none");

int main()
{
	Stack_t stack{};
	pid_t pid = 0;
	int status = 0;
	int fd = aspawn(
		&pid, &stack, 16384,
		[](void *, int, void *, void *data, size_t) ASPAWN_CHILD -> int {
			return *static_cast<int *>(data) + (psys_getpid() > 0 ? 1 : 0);
		},
		nullptr, &(status = 41), sizeof status);
	bool spawned = fd >= 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 42;

	static const aspawn_action actions[] = {
		ASPAWN_DUP2(1, 9),
		ASPAWN_CHDIR("/"),
		ASPAWN_WRITE("/dev/null", "text"),
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 10),
		ASPAWN_CLOSEFROM(3),
	};
	static char *const argv[] = { const_cast<char *>("sh"), const_cast<char *>("-c"),
				      const_cast<char *>("exit $(ulimit -t)"), nullptr };
	aspawn_command command{};
	command.size = sizeof command;
	command.file = "sh";
	command.argv = argv;
	command.actions = actions;
	command.action_count = 5;
	aspawn_child child;
	bool commanded = aspawn_start(&child, &command) == 0 &&
			 aspawn_wait(&child, &status, nullptr, -1) == 0 &&
			 WEXITSTATUS(status) == 10;

	char text[16];
	aspawn_io io{};
	io.size = sizeof io;
	io.out = text;
	io.out_size = sizeof text;
	bool ran = aspawn_run(ASPAWN_COMMAND("printf", "%s-%s", "a", "b"), &io) == 0 &&
		   io.status == 0 && std::strcmp(text, "a-b") == 0 && io.out_length == 3 &&
		   aspawn_run(ASPAWN_COMMAND("false"), &io) == 0 && io.status == 1 << 8 && !*text;

	// A pool, a stream, a sink that is a lambda, and an action that is assigned.
	static aspawn_pool pool;
	int bytes = 0;
	auto args = ASPAWN_ARGV("sh", "-c", "echo $VALUE");
	aspawn_action action = ASPAWN_DUP2(1, 9);
	action = ASPAWN_SETENV("VALUE", "of a variable");
	aspawn_command piped{};
	piped.size = sizeof piped;
	piped.argv = args;
	piped.actions = &action;
	piped.action_count = 1;
	piped.pool = &pool;
	piped.std_out = ASPAWN_STREAM_PIPE;
	aspawn_io sunk{};
	sunk.size = sizeof sunk;
	sunk.sink = [](void *arg, int stream, const void *, size_t count) -> int {
		*static_cast<int *>(arg) += stream * static_cast<int>(count);
		return 0;
	};
	sunk.arg = &bytes;
	bool talked = aspawn_start(&child, &piped) == 0 && aspawn_communicate(&child, &sunk) == 0 &&
		      bytes == 14 && sunk.outcome == ASPAWN_OUTCOME_RAN &&
		      aspawn_pool_release(&pool) == 0;

	std::printf("1..6\n");
	std::printf("%sok 1 - a lambda runs in the child\n", spawned ? "" : "not ");
	std::printf("%sok 2 - the stack is freed\n",
		    aspawn_stack_release(&stack) == 0 ? "" : "not ");
	std::printf("%sok 3 - a command of static actions\n", commanded ? "" : "not ");
	std::printf("%sok 4 - a command of nothing but arguments\n", ran ? "" : "not ");
	std::printf("%sok 5 - a pool, a stream, a sink and a variable\n", talked ? "" : "not ");
	std::printf("%sok 6 - the version that is loaded\n",
		    aspawn_version() == ASPAWN_VERSION ? "" : "not ");
	return 0;
}
