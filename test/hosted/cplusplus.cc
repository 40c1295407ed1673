// The headers in C++17, and a callback that is a lambda.
#include <cstdio>
#include <sys/wait.h>

#include <aspawn/aspawn.h>
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

	std::printf("1..2\n");
	std::printf("%sok 1 - a lambda runs in the child\n", spawned ? "" : "not ");
	std::printf("%sok 2 - the stack is freed\n", aspawn_stack_free(&stack) == 0 ? "" : "not ");
	return 0;
}
