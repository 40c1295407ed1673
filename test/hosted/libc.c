/* SPDX-License-Identifier: MIT */
/*
 * In a program with a libc the libc's headers come first, and the library does not change the
 * libc's state. The compiler adds the stack protector to every function.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "../suite/harness.h"
#include "../suite/sanitizer.h"

/* LeakSanitizer uses a clone and reads the environment: some tests forbid the clone, or leave the
 * environment empty. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

TEST(errno_is_not_changed)
{
	struct Stack_t stack = { 0 };
	int pid;

	errno = 1234;
	CHECK_EQUAL(psys_close(-1), -EBADF);
	CHECK_EQUAL(psys_open("/no such file", O_RDONLY, 0), -ENOENT);
	CHECK_EQUAL(aspawn(NULL, &stack, 0, child_returns, NULL, NULL, 0), -EINVAL);
	CHECK_EQUAL(aspawn(&pid, &stack, SIZE_MAX / 2, child_returns, NULL, NULL, 0), -ENOMEM);
	pid = spawn_without_pipe(&stack, child_execs_role, "exit_7");
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	CHECK_EQUAL(reap(pid), 7);
	CHECK_EQUAL(errno, 1234);
}

/* A caller may pass structures of the libc. */
TEST(libc_structures_have_the_same_layout)
{
	struct timespec none = { 0, 0 };
	sigset_t set;

	CHECK_EQUAL(sizeof(struct psys_timespec), sizeof(struct timespec));
	CHECK_EQUAL(sizeof(struct psys_iovec), sizeof(struct iovec));
	CHECK_EQUAL(sizeof(struct psys_epoll_event), sizeof(struct epoll_event));
	CHECK_EQUAL(sizeof(struct psys_siginfo), sizeof(siginfo_t));
	CHECK_EQUAL(sizeof(struct psys_rlimit64), sizeof(struct rlimit));
	CHECK_EQUAL(psys_nanosleep((struct psys_timespec *)&none, NULL), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(psys_sigismember((struct psys_sigset *)&set, PSYS_SIGUSR1));
}

/* A libc reads more bytes of the mask than the kernel's set has. */
static ASPAWN_CHILD int child_reads_libc_set(void *arg, int fd, void *mask, void *data,
					     size_t length)
{
	const unsigned char *bytes = mask;

	(void)arg, (void)fd, (void)data, (void)length;
	for (size_t i = PSYS_SIGSET_SIZE; i < sizeof(sigset_t); i++)
		if (bytes[i])
			return 1;
	return 0;
}

TEST(the_old_mask_has_the_size_of_the_libcs_sigset_t)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_reads_libc_set, NULL)), 0);
}

/* The thread's stack and thread block are unmapped: a function with the stack protector would fault
 * at the first instruction. */
static struct Stack_t lasting_stack;
static int lasting_pid, lasting_gate;

static void *spawn_and_end(void *arg)
{
	lasting_pid = spawn_without_pipe(&lasting_stack, child_waits, &lasting_gate);
	return arg;
}

TEST(a_pthread_may_end_before_its_child_execs)
{
	enum { size = 1 << 20 };
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	CHECK(stack != MAP_FAILED);
	pthread_attr_init(&attributes);
	CHECK_EQUAL(pthread_attr_setstack(&attributes, stack, size), 0);
	CHECK_EQUAL(pthread_create(&thread, &attributes, spawn_and_end, NULL), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK_EQUAL(munmap(stack, size), 0);
	CHECK_EQUAL(aspawn_stack_busy(&lasting_stack), 1);
	gate_open(&lasting_gate);
	CHECK_EQUAL(reap(lasting_pid), 0);
}

/* Cancels at any instruction, but never within aspawn(): the child would be lost. */
static struct Stack_t cancelled_stack;
static volatile int spawned, reaped;

static void *spawn_for_ever(void *arg)
{
	int pid;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		if (!aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &cancelled_stack, 4096,
				 child_returns, NULL, NULL, 0))
			spawned++;
	return arg;
}

TEST_SECONDS(cancellation_does_not_interrupt_a_spawn, 60)
{
	if (HAS_ASAN)
		skip("ASan takes what a cancelled thread leaves on its stack for an overflow");
	for (int i = 0; i < scaled(200); i++) {
		pthread_t thread;
		void *result;

		CHECK_EQUAL(pthread_create(&thread, NULL, spawn_for_ever, NULL), 0);
		usleep((unsigned)i * 10);
		CHECK_EQUAL(pthread_cancel(thread), 0);
		CHECK_EQUAL(pthread_join(thread, &result), 0);
		CHECK(result == PTHREAD_CANCELED);
		while (waitpid(-1, NULL, 0) > 0)
			reaped++;
		CHECK_EQUAL(aspawn_stack_busy(&cancelled_stack), 0);
	}
	CHECK(spawned > 0 && reaped >= spawned);
}

/* swiftlang/swift-subprocess#374: signal() in the child took a lock of abort(). */
static volatile int stop_sigaction;

static void *loop_sigaction(void *arg)
{
	while (!stop_sigaction)
		signal(SIGABRT, SIG_DFL);
	return arg;
}

TEST_SECONDS(a_child_does_not_deadlock_with_sigaction_of_abort, 60)
{
	struct Stack_t stack = { 0 };
	pthread_t thread;

	CHECK_EQUAL(pthread_create(&thread, NULL, loop_sigaction, NULL), 0);
	for (int i = 0; i < 500; i++)
		CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_execs_role, "exit_7")), 7);
	stop_sigaction = 1;
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* openjdk/jdk#25428, glibc BZ 26275: an ignored SIGABRT stays ignored in the child. */
static ASPAWN_CHILD int child_checks_abort(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	return get_disposition(PSYS_SIGABRT) == PSYS_SIG_IGN;
}

TEST(an_ignored_abort_is_ignored_in_the_child)
{
	struct Stack_t stack = { 0 };

	signal(SIGABRT, SIG_IGN);
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_checks_abort, NULL)), 1);
}

/* Unwinding by tables or by frame pointers stops at the child's first frame. */
static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *count)
{
	(void)context;
	return ++*(int *)count > 50 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static int child_unwinds(void *arg)
{
	void **frame = __builtin_frame_address(0);
	int count = 0;

	(void)arg;
	if (frame[0]) /* the thunk's frame */
		return 1;
	return _Unwind_Backtrace(count_frame, &count) == _URC_END_OF_STACK && count <= 3 ? 42 : 2;
}

TEST(the_childs_first_frame_is_the_outermost)
{
	static char stack[1 << 20] __attribute__((aligned(16)));
	struct psys_clone_args args = { .exit_signal = PSYS_SIGCHLD,
					.stack = (uintptr_t)stack,
					.stack_size = sizeof stack };
	int pid = (int)psys_clone_thunk(PSYS_SIGCHLD, stack + sizeof stack, NULL, NULL, NULL,
					child_unwinds, NULL);

	CHECK(pid > 0);
	CHECK_EQUAL(reap(pid), 42);
	pid = (int)psys_clone3_thunk(&args, sizeof args, child_unwinds, NULL);
	if (pid == -PSYS_ENOSYS)
		skip("no clone3");
	CHECK_EQUAL(reap(pid), 42);
}

/* The child finds a command in PATH. */
static ASPAWN_CHILD int child_runs_echo(void *ends, int fd, void *mask, void *words, size_t length)
{
	char *argv[] = { "echo", words, NULL };

	(void)length;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);
	psys_dup2(((int *)ends)[1], 1);
	int error = psys_execvpe("echo", argv, environment, psys_getenv(environment, "PATH"), 0);
	psys_write(fd, &error, sizeof error);
	return 127;
}

TEST(a_callback_runs_a_command_found_in_path)
{
	struct Stack_t stack = { 0 };
	char words[] = "spoken by echo", text[64] = { 0 };
	int ends[2], pid, error;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	int fd = aspawn(&pid, &stack, 16384, child_runs_echo, ends, words, sizeof words);
	CHECK(fd >= 0);
	close(ends[1]);
	CHECK_EQUAL(read(fd, &error, sizeof error), 0);
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(read(ends[0], text, sizeof text - 1), (long)sizeof words);
	CHECK_EQUAL(strcmp(text, "spoken by echo\n"), 0);
}

/* An instrumented function leaves a frame poisoned when the child execs; the next child uses the
 * same stack. */
static int child_is_instrumented(void *arg, int fd, void *mask, void *data, size_t length)
{
	volatile char room[200];

	(void)mask, (void)data, (void)length, (void)fd;
	memset((void *)room, 1, sizeof room);
	return exec_role(arg, NULL) + room[0];
}

TEST(a_stack_is_unpoisoned_for_reuse)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < 20; i++) {
		int pid = i % 2 ? spawn_without_pipe(&stack, child_returns, (void *)7) :
				  spawn_without_pipe(&stack, child_is_instrumented, "exit_7");
		CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
		CHECK_EQUAL(reap(pid), 7);
	}
}
