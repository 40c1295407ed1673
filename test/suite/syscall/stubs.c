/* SPDX-License-Identifier: MIT */
/* Tests of the register-level calls' arguments, results, errors */
#include "filter.h"

static long call(int count)
{
	const long nr = PSYS_NR_getpid;

	switch (count) {
	case 0:
		return psys_call0(nr);
	case 1:
		return psys_call1(nr, 1001);
	case 2:
		return psys_call2(nr, 1001, 1002);
	case 3:
		return psys_call3(nr, 1001, 1002, 1003);
	case 4:
		return psys_call4(nr, 1001, 1002, 1003, 1004);
	case 5:
		return psys_call5(nr, 1001, 1002, 1003, 1004, 1005);
	default:
		return psys_call6(nr, 1001, 1002, 1003, 1004, 1005, 1006);
	}
}

/* The checks run in another process, as a filter cannot be removed. */
static void check_arguments(int count)
{
	int pid = fork_child();

	if (pid == 0) {
		filter_check_arguments(PSYS_NR_getpid, count);
		CHECK_EQUAL(call(count), -PSYS_EDOM);
		if (count == 6)
			CHECK_EQUAL(psys_syscall(PSYS_NR_getpid, 1001, 1002, 1003, 1004, 1005, 1006),
				    -PSYS_EDOM);
		psys_exit_group(0);
	}
	int status = reap(pid);
	if (status == 77)
		psys_exit_group(status);
	CHECK_EQUAL(status, 0);
}

TEST(each_argument_is_in_its_register)
{
	for (int count = 0; count <= 6; count++)
		check_arguments(count);
}

/* Shows all six arguments without seccomp. */
TEST(mmap_and_pwrite_get_six_arguments)
{
	enum { size = 65536 };
	char *place = psys_mmap(NULL, 3 * size, PSYS_PROT_NONE,
				PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	int fd = psys_memfd_create("six", PSYS_MFD_CLOEXEC);

	if (fd == -PSYS_ENOSYS)
		skip("no memfd_create");
	CHECK(fd >= 0);
	CHECK(!PSYS_IS_ERROR(place));
	CHECK_EQUAL(psys_pwrite64(fd, "second", 7, size), 7);
	char *mapped = psys_mmap(place + size, size, PSYS_PROT_READ,
				 PSYS_MAP_SHARED | PSYS_MAP_FIXED, fd, size);
	CHECK(mapped == place + size);
	CHECK_EQUAL(psys_strcmp(mapped, "second"), 0);
}

TEST(results_above_two_gib_are_no_errors)
{
	int fd = psys_memfd_create("offsets", PSYS_MFD_CLOEXEC);
	const int64_t far = INT64_C(0x123456789);
	char byte = 0;

	if (fd == -PSYS_ENOSYS)
		skip("no memfd_create");
	CHECK_EQUAL(psys_pwrite64(fd, "x", 1, far), 1);
	int64_t end = psys_lseek(fd, 0, PSYS_SEEK_END);
	if (end == (int32_t)(far + 1) && psys_getenv(environment, "SUITE_EMULATOR"))
		skip("this emulator cuts results to 32 bits"); /* QEMU of mips n32 */
	CHECK_EQUAL(end, far + 1);
	CHECK_EQUAL(psys_lseek(fd, far, PSYS_SEEK_SET), far);
	CHECK_EQUAL(psys_read(fd, &byte, 1), 1);
	CHECK_EQUAL(byte, 'x');
	byte = 0;
	CHECK_EQUAL(psys_pread64(fd, &byte, 1, far), 1);
	CHECK_EQUAL(byte, 'x');
	CHECK_EQUAL(psys_pread64(fd, &byte, 1, far & 0xffffffff), 1);
	CHECK_EQUAL(byte, 0);
	CHECK_EQUAL(psys_lseek(fd, -1, PSYS_SEEK_SET), -PSYS_EINVAL);
	CHECK(PSYS_IS_ERROR(psys_lseek(fd, -1, PSYS_SEEK_SET)));
	CHECK(!PSYS_IS_ERROR(psys_lseek(fd, 0xfffff800, PSYS_SEEK_SET)));
	CHECK(!PSYS_IS_ERROR(psys_lseek(fd, INT64_C(0x1fffff800), PSYS_SEEK_SET)));
}

TEST(errors_are_negative_numbers)
{
	CHECK_EQUAL(psys_close(-1), -PSYS_EBADF);
	CHECK_EQUAL(psys_read(-1, NULL, 0), -PSYS_EBADF);
	CHECK_EQUAL(psys_open("/no such directory/file", PSYS_O_RDONLY, 0), -PSYS_ENOENT);
	CHECK_EQUAL(psys_kill(0x3fffffff, 0), -PSYS_ESRCH);
	CHECK_EQUAL(psys_call0(0x3fff), -PSYS_ENOSYS);
	CHECK_EQUAL((intptr_t)psys_mmap(NULL, 0, 0, PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0),
		    -PSYS_EINVAL);
}

TEST(dup2_of_equal_descriptors_changes_nothing)
{
	int fd = psys_dup(1);

	CHECK(fd >= 0);
	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_SETFD, PSYS_FD_CLOEXEC), 0);
	CHECK_EQUAL(psys_dup2(fd, fd), fd);
	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_dup2(-1, -1), -PSYS_EBADF);
	CHECK_EQUAL(psys_dup2(1, fd), fd);
	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), 0);
}

struct thunk {
	int seen, aligned;
};

static ASPAWN_CHILD __attribute__((noinline)) int thunk_child(void *arg)
{
	struct thunk *thunk = arg;
	/* The compiler relies on the ABI's alignment of the stack. */
	_Alignas(16) volatile char object[16] = { 0 };

	thunk->seen = 1 + object[0];
	thunk->aligned = address_of(object) % 16 == 0;
	return 42;
}

/* The top of the stack is not aligned, as far as clone(2) accepts this. */
TEST(clone_thunk_aligns_calls_and_exits)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct thunk *thunk = shared_page();

	for (size_t off = 0; off < 16; off += 4) {
		thunk->seen = 0;
		int pid = (int)psys_clone_thunk(PSYS_SIGCHLD, stack + sizeof stack - off, NULL,
						NULL, NULL, thunk_child, thunk);
		CHECK(pid > 0);
		CHECK_EQUAL(reap(pid), 42);
		CHECK_EQUAL(thunk->seen, 1);
		CHECK_EQUAL(thunk->aligned, 1);
	}
}

/* tls is set only with its flag; child_tid and parent_tid are not swapped. */
TEST(clone_thunk_has_its_arguments_in_order)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct thunk *thunk = shared_page();
	int parent_tid = 0, child_tid = 5;
	int pid = (int)psys_clone_thunk(PSYS_CLONE_VM | PSYS_CLONE_VFORK | PSYS_CLONE_PARENT_SETTID |
						PSYS_CLONE_CHILD_CLEARTID | PSYS_SIGCHLD,
					stack + sizeof stack, &parent_tid, &child_tid,
					(void *)(uintptr_t)0xdead0000, thunk_child, thunk);

	CHECK(pid > 0);
	CHECK_EQUAL(reap(pid), 42);
	if (!memory_is_shared())
		skip("memory is not shared here");
	CHECK_EQUAL(parent_tid, pid);
	CHECK_EQUAL(child_tid, 0);
}

/* The memory is shared, as an emulator stores both ids in the child. */
TEST(clone_thunk_stores_the_ids)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct thunk *thunk = shared_page();
	int *ids = shared_page();
	int pid = (int)psys_clone_thunk(
		PSYS_CLONE_PARENT_SETTID | PSYS_CLONE_CHILD_SETTID | PSYS_SIGCHLD,
		stack + sizeof stack, &ids[0], &ids[1], NULL, thunk_child, thunk);

	CHECK(pid > 0);
	CHECK_EQUAL(reap(pid), 42);
	CHECK_EQUAL(ids[0], pid);
	CHECK_EQUAL(ids[1], pid);
}

TEST(clone3_thunk_calls_and_exits)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct thunk *thunk = shared_page();
	struct psys_clone_args args = { .exit_signal = PSYS_SIGCHLD,
					.stack = (uintptr_t)stack,
					.stack_size = sizeof stack };
	int pid = (int)psys_clone3_thunk(&args, sizeof args, thunk_child, thunk);

	if (pid == -PSYS_ENOSYS)
		skip("no clone3");
	CHECK(pid > 0);
	CHECK_EQUAL(reap(pid), 42);
	CHECK_EQUAL(thunk->seen, 1);
	CHECK_EQUAL(thunk->aligned, 1);
	CHECK_EQUAL(psys_clone3_thunk(&args, 1, thunk_child, thunk), -PSYS_EINVAL);
}

TEST(signal_set_functions)
{
	struct psys_sigset set;

	psys_sigemptyset(&set);
	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		CHECK(!psys_sigismember(&set, signal));
		psys_sigaddset(&set, signal);
		CHECK(psys_sigismember(&set, signal));
	}
	struct psys_sigset full;
	psys_sigfillset(&full);
	CHECK(same_mask(set, full));
	psys_sigdelset(&set, PSYS_SIGTERM);
	CHECK(!psys_sigismember(&set, PSYS_SIGTERM));
	CHECK_EQUAL(PSYS_SIGSET_SIZE, PSYS_NSIG / 8);
}

static volatile int handled;

static void on_signal(int signal)
{
	handled = signal;
}

TEST(a_signal_handler_returns_through_its_restorer)
{
	set_handler(PSYS_SIGUSR1, on_signal);
	CHECK_EQUAL(psys_kill(psys_getpid(), PSYS_SIGUSR1), 0);
	CHECK_EQUAL(handled, PSYS_SIGUSR1);
	CHECK_EQUAL(get_disposition(PSYS_SIGUSR1), (uintptr_t)on_signal);
}

TEST(structures_have_the_kernels_layout)
{
	struct psys_statx statx;
	struct psys_siginfo info;
	struct psys_rlimit64 limit;
	struct psys_epoll_event event = { PSYS_EPOLLIN, UINT64_C(0x123456789abcdef0) }, got;
	int ends[2];

	CHECK_EQUAL(sizeof(struct psys_siginfo), 128);
	CHECK_EQUAL(sizeof(struct psys_statx), 256);
	CHECK_EQUAL(psys_statx(PSYS_AT_FDCWD, "/", 0, PSYS_STATX_BASIC_STATS, &statx), 0);
	CHECK_EQUAL(statx.stx_mode & PSYS_S_IFMT, PSYS_S_IFDIR);

	int pid = fork_child();
	if (!pid)
		psys_exit_group(9);
	info.u.child.pid = 0;
	CHECK_EQUAL(psys_waitid(PSYS_P_PID, pid, &info, PSYS_WEXITED, NULL), 0);
	CHECK_EQUAL(info.signo, PSYS_SIGCHLD);
	CHECK_EQUAL(info.code, PSYS_CLD_EXITED);
	CHECK_EQUAL(info.u.child.pid, pid);
	CHECK_EQUAL(info.u.child.status, 9);

	limit.rlim_max = 0;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	CHECK(limit.rlim_cur > 2 && limit.rlim_cur <= limit.rlim_max);

	int epoll = psys_epoll_create1(PSYS_EPOLL_CLOEXEC);
	CHECK(epoll >= 0);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC | PSYS_O_NONBLOCK), 0);
	CHECK_EQUAL(psys_epoll_ctl(epoll, PSYS_EPOLL_CTL_ADD, ends[0], &event), 0);
	CHECK_EQUAL(psys_read(ends[0], &got, 1), -PSYS_EAGAIN);
	CHECK_EQUAL(psys_write(ends[1], "x", 1), 1);
	CHECK_EQUAL(psys_epoll_pwait(epoll, &got, 1, 1000, NULL, PSYS_SIGSET_SIZE), 1);
	CHECK(got.data == event.data);

	struct psys_timespec none = { 0, 0 };
	struct psys_pollfd poll = { ends[0], PSYS_POLLIN, 0 };
	CHECK_EQUAL(psys_ppoll(&poll, 1, &none, NULL, PSYS_SIGSET_SIZE), 1);
	CHECK_EQUAL(poll.revents, PSYS_POLLIN);
}

TEST(sendmsg_passes_descriptors)
{
	int pair[2], passed = -1;
	char byte = 'b';
	struct psys_iovec vector = { &byte, 1 };
	union {
		struct psys_cmsghdr header;
		char room[sizeof(struct psys_cmsghdr) + sizeof(long)];
	} control;
	struct psys_msghdr message = { 0 };

	CHECK_EQUAL(psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_STREAM | PSYS_SOCK_CLOEXEC, 0, pair), 0);
	message.msg_iov = &vector;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof control;
	control.header.cmsg_len = sizeof control.header + sizeof(int);
	control.header.cmsg_level = PSYS_SOL_SOCKET;
	control.header.cmsg_type = PSYS_SCM_RIGHTS;
	*(int *)(&control.header + 1) = pair[0];
	CHECK_EQUAL(psys_sendmsg(pair[0], &message, PSYS_MSG_NOSIGNAL), 1);
	psys_memset(&control, 0, sizeof control);
	CHECK_EQUAL(psys_recvmsg(pair[1], &message, PSYS_MSG_CMSG_CLOEXEC), 1);
	CHECK_EQUAL(control.header.cmsg_type, PSYS_SCM_RIGHTS);
	passed = *(int *)(&control.header + 1);
	CHECK_EQUAL(psys_fcntl(passed, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
}
