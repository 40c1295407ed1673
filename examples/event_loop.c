/* SPDX-License-Identifier: MIT */
/*
 * Two hundred commands, sixteen at once, in one epoll loop, on the memory of one pool.
 *
 *	event_loop [COUNT]
 *
 * Remove a pidfd from epoll before aspawn_wait() closes it. Another child before its exec may hold
 * a copy, and epoll reports a descriptor until its last copy is closed: by then the number may
 * belong to another file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <aspawn/command.h>

enum { AT_ONCE = 16 };

static struct job {
	struct aspawn_child child;
	uint32_t number; /* 0: not running */
} jobs[AT_ONCE];

static struct aspawn_pool pool;
static int epoll, count = 200, started, running, failed, stale;

static void start(struct job *job)
{
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = ASPAWN_ARGV("sleep", "0.002"),
		.pool = &pool,
	};
	struct epoll_event event = { .events = EPOLLIN };

	int r = aspawn_start(&job->child, &command);
	if (r < 0 || job->child.ended_fd < 0) {
		fprintf(stderr, "aspawn_start: %s\n", r < 0 ? strerror(-r) : "no pidfd");
		exit(1);
	}
	job->number = (uint32_t)++started;
	event.data.u64 = (uint64_t)job->number << 32 | (uint64_t)(job - jobs);
	epoll_ctl(epoll, EPOLL_CTL_ADD, job->child.ended_fd, &event);
	running++;
}

static void finish(struct job *job, uint32_t number)
{
	int status;

	if (job->number != number) {
		stale++;
		return;
	}
	epoll_ctl(epoll, EPOLL_CTL_DEL, job->child.ended_fd, NULL); /* before it is closed */
	if (aspawn_wait(&job->child, &status, NULL, -1) < 0 || status)
		failed++;
	job->number = 0;
	running--;
	if (started < count)
		start(job);
}

int main(int argc, char **argv)
{
	struct epoll_event events[AT_ONCE];

	if (argc > 1)
		count = atoi(argv[1]);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return 1;
	while (running < AT_ONCE && started < count)
		start(&jobs[running]);
	while (running) {
		int ready = epoll_wait(epoll, events, AT_ONCE, -1);
		for (int i = 0; i < ready; i++)
			finish(&jobs[events[i].data.u64 % AT_ONCE],
			       (uint32_t)(events[i].data.u64 >> 32));
	}
	aspawn_pool_release(&pool);
	printf("%d commands, %d failed, %d stale events\n", count, failed, stale);
	return failed || stale;
}
