/* SPDX-License-Identifier: MIT */
/* The program of an otherwise empty container, for test/cli/container.t. The argument: exit with 7;
 * leave a session that ignores SIGTERM, and exit with 7; orphan a short process, and exit with 7
 * when process 1 has reaped the orphan; stay. */
#include <stdbool.h>

#include <syscall/syscall.h>
#include <syscall/signal.h>

int main(int argc, char **argv);

static void stay(void)
{
	psys_nanosleep(&(struct psys_timespec){ 60, 0 }, NULL);
}

/* Returns true if somebody reaps an orphan. */
static bool orphan_is_reaped(void)
{
	int orphan = 0, ends[2];

	if (psys_pipe2(ends, 0) < 0)
		return false;
	const int parent = (int)psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	if (parent == 0) {
		orphan = (int)psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
		if (orphan > 0)
			psys_write(ends[1], &orphan, sizeof orphan);
		psys_exit_group(0);
	}
	psys_read(ends[0], &orphan, sizeof orphan);
	psys_wait4(parent, NULL, 0, NULL);
	for (int i = 0; i < 600 && psys_kill(orphan, 0) == 0; i++)
		psys_nanosleep(&(struct psys_timespec){ 0, 100000000 }, NULL);
	return orphan > 0 && psys_kill(orphan, 0) < 0;
}

int main(int argc, char **argv)
{
	static const struct psys_sigaction ignore = { .handler = PSYS_SIG_IGN };
	const char word = argc > 1 ? *argv[1] : 'e';

	if (word == 'l' && psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		psys_rt_sigaction(PSYS_SIGTERM, &ignore, NULL, PSYS_SIGSET_SIZE);
		psys_setsid();
		stay();
	}
	if (word == 'o' && !orphan_is_reaped())
		return 1;
	if (word == 's')
		stay();
	return 7;
}
