// The headers in C++11, with -Wpedantic, and a callback that is a lambda.
#include <cstdio>
#include <sys/wait.h>

#include <aspawn/aspawn.h>
#include <aspawn/command.h>
#include <syscall/clone.h>
#include <syscall/errno.h>
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

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
		ASPAWN_DUP2(1, 9), ASPAWN_CHDIR("/"), ASPAWN_WRITE("/dev/null", "text"),
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 10), ASPAWN_CLOSEFROM(3),
	};
	static char *const argv[] = { const_cast<char *>("sh"), const_cast<char *>("-c"),
				      const_cast<char *>("exit $(ulimit -t)"), nullptr };
	const struct aspawn_command command = { sizeof command, 0, "sh", argv, nullptr, nullptr, actions, 5 };
	aspawn_child child;
	bool commanded = aspawn_command(&child, &stack, &command) == 0 &&
			 aspawn_wait(&child, &status, nullptr, nullptr) == 0 && WEXITSTATUS(status) == 10;

	std::printf("1..3\n");
	std::printf("%sok 1 - a lambda runs in the child\n", spawned ? "" : "not ");
	std::printf("%sok 2 - the stack is freed\n", aspawn_stack_free(&stack) == 0 ? "" : "not ");
	std::printf("%sok 3 - a command of static actions\n", commanded ? "" : "not ");
	return 0;
}
