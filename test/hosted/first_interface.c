/* SPDX-License-Identifier: MIT */
/*
 * Uses the documented interface of the library's first version, as a program of the time does:
 * names without a prefix, the old order of arguments, a poll of the pipe before the stack is used
 * again. PSYS_NO_UNPREFIXED is therefore not defined here.
 */
#define _GNU_SOURCE
#include <aspawn/aspawn.h>
#include <syscall/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/harness.h"

/* The functions are declared again as documented: a compiler rejects any other type. */
typedef int (*aspawn_fn)(void *arg, int wirte_end_fd, void *old_sigset, void *user_data,
			 size_t user_data_len);
int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz, aspawn_fn fn,
	   void *arg, void *user_data, size_t user_data_len);
long pure_syscall(long syscall_number, long arg1, long arg2, long arg3, long arg4, long arg5,
		  long arg6);
int find_exe(const char *file, size_t file_len, char *constructed_path, const char **PATH,
	     size_t path_max_len);
int handle_execve_err(int result, int *got_eaccess);
int psys_execve(const char *pathname, char *const argv[], char *const envp[]);
int psys_execveat(int dirfd, const char *pathname, char *const argv[], char *const envp[],
		  int flags);

/* arg is argv, and user_data is the PATH to search. */
static ASPAWN_CHILD int execute(void *arg, int write_end_fd, void *old_sigset, void *user_data,
				size_t user_data_len)
{
	static char *const envp[] = { NULL };
	char *const *argv = arg;
	const char *file = argv[0];
	const char *path = user_data;
	char constructed_path[PATH_MAX + 1];
	size_t file_len = 0;
	int error = -ENOENT;

	(void)user_data_len;
	while (file[file_len])
		file_len++;
	pure_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)old_sigset, 0, PSYS_SIGSET_SIZE, 0, 0);

	for (int got_eaccess = 0;;) {
		int result;

		switch (find_exe(file, file_len, constructed_path, &path, PATH_MAX)) {
		case 1:
			result = handle_execve_err(psys_execve(constructed_path, argv, envp),
						   &got_eaccess);
			if (result < 0) {
				error = result; /* the file exists, but cannot be executed */
				break;
			}
			continue;
		case -1:
			continue; /* the path is longer than PATH_MAX */
		case 0:
			if (got_eaccess)
				error = -EACCES;
			break;
		}
		break;
	}
	psys_write(write_end_fd, &error, sizeof error);
	return 127;
}

/* Waits until the pipe hangs up, as the first version said when to use the stack again.
 * Returns the child's message, or 0. */
static int message_of(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLHUP };
	int error = 0;

	while (!(poll_fd.revents & POLLHUP))
		CHECK(poll(&poll_fd, 1, -1) == 1);
	ssize_t length = read(fd, &error, sizeof error);
	CHECK(length == 0 || length == sizeof error);
	close(fd);
	return error;
}

static int status_of(pid_t pid)
{
	int status;

	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	return status;
}

static int start(pid_t *pid, struct Stack_t *stack, const char *const *argv, const char *path)
{
	char copied[256];

	CHECK(strlen(path) < sizeof copied);
	strcpy(copied, path);
	int fd = aspawn(pid, stack, PATH_MAX + 1, execute, (void *)(uintptr_t)argv, copied,
			strlen(copied) + 1);
	memset(copied, 'x', sizeof copied); /* the child has a copy */
	CHECK(fd >= 0);
	CHECK_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
	return fd;
}

TEST(programs_run_on_one_stack)
{
	static const char *const exits[] = { "sh", "-c", "exit $1", "sh", "7", NULL };
	static const char *const killed[] = { "sh", "-c", "kill -KILL $$", NULL };
	static const char *const true_[] = { "true", NULL };
	struct Stack_t stack;
	pid_t pids[3];

	stack.addr = NULL;
	stack.size = 0;
	CHECK_EQUAL(message_of(start(&pids[0], &stack, exits, "/nowhere:/bin:/usr/bin")), 0);
	void *addr = stack.addr;
	CHECK_EQUAL(message_of(start(&pids[1], &stack, killed, "/bin:/usr/bin")), 0);
	CHECK_EQUAL(message_of(start(&pids[2], &stack, true_, "/bin:/usr/bin")), 0);
	CHECK(stack.addr == addr);

	int status = status_of(pids[0]);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	status = status_of(pids[1]);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQUAL(status_of(pids[2]), 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

TEST(a_failing_exec_sends_its_error)
{
	char directory[] = "/tmp/aspawn-test-XXXXXX", file[64], path[128];
	const char *const argv[] = { "no-such-program", NULL };
	struct Stack_t stack = { 0 };
	pid_t pid;

	CHECK(mkdtemp(directory));
	CHECK_EQUAL(message_of(start(&pid, &stack, argv, directory)), -ENOENT);
	CHECK_EQUAL(WEXITSTATUS(status_of(pid)), 127);

	/* The first file found may not be executed: the search goes on, and remembers the error. */
	strcat(strcat(strcpy(file, directory), "/"), argv[0]);
	int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	CHECK(fd >= 0);
	strcat(strcpy(path, directory), ":/nowhere");
	CHECK_EQUAL(message_of(start(&pid, &stack, argv, path)), -EACCES);
	CHECK_EQUAL(WEXITSTATUS(status_of(pid)), 127);

	/* The file is executable, but no program: the search ends here. */
	CHECK_EQUAL(fchmod(fd, 0755), 0);
	close(fd);
	CHECK_EQUAL(message_of(start(&pid, &stack, argv, path)), -ENOEXEC);
	CHECK_EQUAL(WEXITSTATUS(status_of(pid)), 127);

	unlink(file);
	rmdir(directory);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

static ASPAWN_CHILD int execute_open_file(void *fd, int write_end_fd, void *old_sigset,
					  void *user_data, size_t user_data_len)
{
	static char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 5", NULL };
	static char *const envp[] = { NULL };

	(void)user_data, (void)user_data_len;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL, PSYS_SIGSET_SIZE);
	int error = psys_execveat(*(int *)fd, "", argv, envp, AT_EMPTY_PATH);
	psys_write(write_end_fd, &error, sizeof error);
	return 127;
}

TEST(execveat_runs_an_open_file)
{
	struct Stack_t stack = { 0 };
	int sh = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	pid_t pid;

	CHECK(sh >= 0);
	CHECK_EQUAL(message_of(aspawn(&pid, &stack, 4096, execute_open_file, &sh, NULL, 0)), 0);
	CHECK_EQUAL(WEXITSTATUS(status_of(pid)), 5);
	close(sh);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

TEST(find_exe_skips_what_is_longer_than_the_path)
{
	char constructed_path[8 + 1] = "";
	const char *path = "/directory:/d";

	CHECK_EQUAL(find_exe("exe", 3, constructed_path, &path, 8), -1);
	CHECK_EQUAL(find_exe("exe", 3, constructed_path, &path, 8), 1);
	CHECK(!strcmp(constructed_path, "/d/exe"));
	CHECK_EQUAL(find_exe("exe", 3, constructed_path, &path, 8), 0);
}

TEST(pure_syscall_returns_the_kernels_value)
{
	errno = EDOM;
	CHECK_EQUAL(pure_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), getpid());
	CHECK_EQUAL(pure_syscall(SYS_close, -1, 0, 0, 0, 0, 0), -EBADF);
	CHECK_EQUAL(errno, EDOM);
}
