/* SPDX-License-Identifier: MIT */
#include "held.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

static int reached, go, holder;

static void let_it_go(int signal)
{
	(void)signal;
	gate_open(&go);
}

static int signals_the_holder(void *arg)
{
	(void)arg;
	gate_wait(&reached);
	sleep_ms(50);
	return psys_tgkill(psys_getpid(), holder, PSYS_SIGUSR1);
}

void hold_until_signal(long nr, struct thread *thread)
{
	holder = psys_gettid();
	set_handler(PSYS_SIGUSR1, let_it_go);
	thread_start(thread, signals_the_holder, NULL);
	filter_hold(nr, &reached, &go);
}

int first_child_of(int thread)
{
	char path[64] = "/proc/self/task/", text[16] = "";
	size_t length = psys_strlen(path);
	int pid = 0;

	length += psys_i64_to_decimal(path + length, thread);
	psys_strlcpy(path + length, "/children", sizeof path - length);
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	for (const char *at = text; *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (*at - '0');
	return pid;
}

static int kills_the_child(void *killed)
{
	gate_wait(&reached);
	const int pid = first_child_of(holder);
	if (pid)
		psys_kill(pid, PSYS_SIGKILL);
	*(int *)killed = pid;
	if (pid) /* wait for the child's end, without reaping */
		psys_waitid(PSYS_P_PID, pid, NULL, (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WALL),
			    NULL);
	gate_open(&go);
	return 0;
}

void hold_until_child_is_killed(long nr, struct thread *thread, int *killed)
{
	holder = psys_gettid();
	thread_start(thread, kills_the_child, killed);
	filter_hold(nr, &reached, &go);
}
