/* SPDX-License-Identifier: MIT */
/* The program of a container that has nothing else, for test/cli/container.t. Its argument: exit with
 * 7; leave a session that ignores SIGTERM, and exit with 7; stay. */
#include <syscall/syscall.h>
#include <syscall/signal.h>

int main(int argc, char **argv);

static void stay(void)
{
	psys_nanosleep(&(struct psys_timespec){ 60, 0 }, NULL);
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
	if (word == 's')
		stay();
	return 7;
}
