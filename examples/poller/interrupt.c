/* SPDX-License-Identifier: MIT */
/* See interrupt.h. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t received;
static int event = -1;

static void receive(int signal)
{
	const int error = errno;
	const uint64_t one = 1;

	received = signal;
	if (write(event, &one, sizeof one) < 0) {
		/* The pipe is full: it already shows a signal. */
	}
	errno = error;
}

int interrupt_open(void)
{
	/* SIGPIPE too: the reader of the report is gone, but the checks must be ended. */
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction action = { .sa_handler = receive, .sa_flags = SA_RESTART }, before;

	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event < 0)
		return -1;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], &action, &before);
		if (signals[i] == SIGHUP && before.sa_handler == SIG_IGN)
			sigaction(signals[i], &before, NULL); /* nohup */
	}
	/* An inherited ignored SIGCHLD would reap the checks. */
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
	return event;
}

int interrupt_signal(void)
{
	return received;
}
