/* SPDX-License-Identifier: MIT */
/*
 * Tests of the clone methods, which all pass the same checks. Seccomp filters simulate older
 * kernels, containers, sandboxes and emulators.
 */
#include "filter.h"
#include "observe.h"

static ASPAWN_CHILD int child_checks(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)mask;
	if (get_disposition(PSYS_SIGUSR1) != PSYS_SIG_DFL ||
	    get_disposition(PSYS_SIGPIPE) != PSYS_SIG_IGN)
		return 1;
	if (length != 5 || psys_memcmp(data, "data", 5))
		return 2;
	return fd >= 0 && psys_write(fd, "message", 7) == 7 ? (int)(intptr_t)arg : 3;
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Returns the clone method, which only the handle of a command tells. */
static enum aspawn_clone_mode best_mode(void)
{
	return observe(NULL, 0, "").mode;
}

static void check_mode(enum aspawn_clone_mode mode)
{
	struct Stack_t stack = { 0 };
	char text[8], data[] = "data";
	int pid, pidfd = -2;

	CHECK_EQUAL(best_mode(), mode);
	set_handler(PSYS_SIGUSR1, on_signal);
	set_disposition(PSYS_SIGPIPE, PSYS_SIG_IGN);
	for (int i = 0; i < 3; i++) {
		int fd = aspawn_with(0, i ? &pidfd : NULL, &pid, &stack, 16384, child_checks,
				     (void *)66, data, sizeof data);
		CHECK(fd >= 0);
		CHECK_EQUAL(psys_read(fd, text, sizeof text), 7);
		CHECK_EQUAL(psys_read(fd, text, sizeof text), 0);
		CHECK_EQUAL(aspawn_stack_wait(&stack, LONG), 0);
		if (i && pidfd >= 0) {
			struct psys_pollfd poll = { pidfd, PSYS_POLLIN, 0 };
			CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, PSYS_SIGSET_SIZE), 1);
			psys_close(pidfd);
		}
		CHECK_EQUAL(reap(pid), 66);
		psys_close(fd);
	}
	/* The stack becomes free at exec, not only at exit. */
	pid = spawn_without_pipe(&stack, child_execs_role, "lingers");
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	kill_lingering(pid);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* python/cpython#112334: the fast path was disabled for months, unnoticed. */
TEST(the_best_clone_method_is_used)
{
	enum aspawn_clone_mode mode = best_mode();

	note("kernel shares memory by clone3:", mode == ASPAWN_MODE_CLONE3);
	if (mode == ASPAWN_MODE_FORK)
		skip("this emulator copies the memory");
	need_call(psys_clone3(NULL, 0), "no clone3");
	CHECK_EQUAL(mode, ASPAWN_MODE_CLONE3);
	check_mode(mode);
}

static void check_clone3_refused(int error)
{
	if (best_mode() == ASPAWN_MODE_FORK)
		skip("this emulator copies the memory");
	filter_refuse(PSYS_NR_clone3, error);
	check_mode(ASPAWN_MODE_CLONE);
}

/* ocaml-multicore/eio#514, moby/moby#42680, systemd/systemd#34005 */
TEST(clone3_enosys_falls_back_to_clone)
{
	check_clone3_refused(PSYS_ENOSYS);
}

TEST(clone3_eperm_falls_back_to_clone)
{
	check_clone3_refused(PSYS_EPERM);
}

TEST(clone3_eacces_falls_back_to_clone)
{
	check_clone3_refused(PSYS_EACCES);
}

TEST(clone3_e2big_falls_back_to_clone)
{
	check_clone3_refused(PSYS_E2BIG);
}

TEST(clone3_einval_falls_back_to_clone)
{
	check_clone3_refused(PSYS_EINVAL);
}

TEST(clone3_without_clear_sighand_falls_back_to_clone)
{
	need_call(psys_clone3(NULL, 0), "no clone3");
	filter_refuse_clone3_flags(PSYS_CLONE_CLEAR_SIGHAND, PSYS_EINVAL);
	check_mode(ASPAWN_MODE_CLONE);
}

TEST(clone_vm_falls_back_to_clone_vfork)
{
	if (best_mode() == ASPAWN_MODE_FORK)
		skip("this emulator copies the memory");
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags_without(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_CLONE_VFORK,
				    PSYS_EINVAL);
	check_mode(ASPAWN_MODE_VFORK);
}

TEST(without_clone_vm_falls_back_to_fork)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	check_mode(ASPAWN_MODE_FORK);
}

TEST(without_clone_pidfd_falls_back_to_pidfd_open)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	check_mode(ASPAWN_MODE_FORK);
}

/* A child that hangs before its exec would otherwise suspend the caller. */
TEST(clone_refuses_a_pidfd_alone)
{
	if (best_mode() == ASPAWN_MODE_FORK)
		skip("this emulator copies the memory");
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	check_mode(ASPAWN_MODE_CLONE);
}

/* swiftlang/swift-subprocess#271: the parent hung without a pidfd. */
TEST(pidfd_is_minus_one_if_not_supported)
{
	struct Stack_t stack = { 0 };
	int pid, pidfd = -2;

	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	CHECK_EQUAL(aspawn_with(ASPAWN_WITH_NO_PIPE, &pidfd, &pid, &stack, 4096, child_returns,
				(void *)5, NULL, 0),
		    0);
	CHECK_EQUAL(pidfd, -1);
	CHECK_EQUAL(reap(pid), 5);
}

/* In python/cpython#91307 a clone with shared memory failed after unshare(CLONE_NEWTIME). */
TEST(a_time_namespace_for_children_falls_back_to_fork)
{
	if (best_mode() == ASPAWN_MODE_FORK)
		skip("this emulator copies the memory");
	if (psys_unshare(PSYS_CLONE_NEWTIME) < 0)
		skip("may not unshare the time namespace");
	note("mode:", best_mode());
	check_mode(best_mode());
}
