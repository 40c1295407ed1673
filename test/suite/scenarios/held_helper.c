/* SPDX-License-Identifier: MIT */
/* Another process traces the helper, or stops the helper beside short waits. */
#include "held.h"
#include "tree.h"

enum { SEIZE = 0x4206 }; /* ptrace(2) */

/* The daemon traces the helper until the gate is open: meanwhile nobody else
 * can reap the helper. */
ROLE(has_its_helper_traced)
{
	const int helper = psys_getppid();
	int *ready = shared_page();

	(void)argc, (void)argv;
	if (fork_child()) {
		gate_wait(ready);
		return *ready == 1 ? 7 : 9;
	}
	psys_setsid();
	const long r = psys_ptrace(SEIZE, helper, NULL, NULL);
	__atomic_store_n(ready, r < 0 ? 2 : 1, __ATOMIC_RELEASE);
	psys_futex(ready, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	const int self = psys_getpid();
	psys_write(1, &self, sizeof self);
	sleep_ms(600000);
	return 0;
}

TEST(no_wait_hangs_because_a_helper_is_traced)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "has_its_helper_traced", NULL);
	int status = -1, daemon;

	need_lists();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(psys_read(child.out_fd, &daemon, sizeof daemon), sizeof daemon);
	const int r = aspawn_wait(&child, &status, NULL, -1);
	/* Without the tracer the helper can be reaped. The daemon and the helper are this process's
	 * children. */
	psys_kill(daemon, PSYS_SIGKILL);
	while (psys_wait4(-1, NULL, (int)PSYS___WALL, NULL) > 0)
		continue;
	CHECK_EQUAL(r, 0);
	if (status == 9 << 8)
		skip("no ptrace of a parent");
	CHECK_EQUAL(status, 7 << 8);
	psys_close(child.out_fd);
}

/* The waits are shorter than the second after which a wait looks. */
TEST(short_waits_continue_a_helper_that_its_program_has_stopped)
{
	struct self self;
	char signal[PSYS_DECIMAL_SIZE];
	int status = -1, r;

	signal[psys_i64_to_decimal(signal, PSYS_SIGSTOP)] = '\0';
	struct aspawn_command command = private_command(&self, "signals_helper", signal);
	command.std_out = ASPAWN_STREAM_NULL;
	need_shared_memory();
	struct aspawn_child child = start_command(NULL, &command);
	while ((r = aspawn_wait(&child, &status, NULL, 100)) == -PSYS_ETIMEDOUT)
		continue;
	CHECK_EQUAL(r, 0);
	CHECK_EQUAL(status, 7 << 8);
}
