/* SPDX-License-Identifier: MIT */
/* The language of binding.c: a loop of poll(2), and a program in the language. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <aspawn/queue.h>

/* As in binding.c; a real binding has a header. */
struct error {
	int number, action;
	char name[32], about[112];
};
struct process {
	struct aspawn_child child;
	int pid;
	bool started_polled, ended_polled, done;
};
struct options {
	char **argv, **environment;
	const char *file, *directory;
	int streams[3];
	const struct aspawn_action *actions;
	size_t action_count;
	bool is_private, dies_with_us, debugged, forbids_image;
};
struct bytes {
	char *at;
	size_t length, room;
};
struct jobs {
	struct aspawn_queue *queue;
};
int process_start(struct process *process, const struct options *options, struct error *error);
int process_pid(struct process *process);
int process_kill(struct process *process, int signal, bool group);
const char *process_how(const struct process *process);
void process_finalize(struct process *process);
int run(const struct options *options, const void *input, size_t input_size, int64_t ms,
	int64_t grace_ms, struct bytes output[2], int *status, struct error *error);
int jobs_open(struct jobs *jobs, uint32_t at_once);
int64_t jobs_submit(struct jobs *jobs, const struct options *options, void *object, int64_t ms,
		    struct error *error);
int jobs_waiting(const struct jobs *jobs);
void jobs_close(struct jobs *jobs);

/* --- the loop ---------------------------------------------------------------------------- */

enum { MOST = 64 };

static struct watch {
	int fd;
	void (*ready)(void *);
	void *object;
	int64_t due; /* of a timer */
} watches[MOST];
static int count, events;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void loop_add(int fd, void (*ready)(void *), void *object);
void loop_remove(int fd);
void loop_timer(int64_t ms, void (*ready)(void *), void *object);
void emit(void *object, const char *event, int number, const char *text);
void give_stream(void *object, int which, int fd);
void lock_released(void);
void lock_taken(void);

void loop_add(int fd, void (*ready)(void *), void *object)
{
	watches[count++] = (struct watch){ fd, ready, object, 0 };
}

void loop_timer(int64_t ms, void (*ready)(void *), void *object)
{
	watches[count++] = (struct watch){ -1, ready, object, now() + ms };
}

void loop_remove(int fd)
{
	for (int i = 0; i < count; i++)
		if (watches[i].fd == fd) {
			watches[i] = watches[--count];
			return;
		}
}

static void turn(void)
{
	struct pollfd polled[MOST];
	struct watch ready[MOST];
	int n = count;

	for (int i = 0; i < n; i++)
		polled[i] = (struct pollfd){ watches[i].fd, POLLIN, 0 };
	memcpy(ready, watches, sizeof ready);
	poll(polled, (nfds_t)n, 20);
	for (int i = 0; i < n; i++) {
		bool is_there = false;
		for (int j = 0; j < count; j++)
			is_there |= !memcmp(&ready[i], &watches[j], sizeof *watches);
		if (!is_there || (ready[i].fd >= 0 ? !polled[i].revents : ready[i].due > now()))
			continue;
		if (ready[i].fd < 0)
			for (int j = 0; j < count; j++)
				if (!memcmp(&ready[i], &watches[j], sizeof *watches)) {
					watches[j] = watches[--count];
					break;
				}
		ready[i].ready(ready[i].object);
	}
}

void emit(void *object, const char *event, int number, const char *text)
{
	(void)object;
	printf("%s %d %s\n", event, strcmp(event, "spawn") ? number : number > 0, text);
	events++;
}

void give_stream(void *object, int which, int fd)
{
	(void)object, (void)which;
	close(fd);
}

void lock_released(void) {}

void lock_taken(void) {}

static void until(int wanted)
{
	for (const int64_t end = now() + 10000; events < wanted && now() < end;)
		turn();
	if (events < wanted)
		exit(1);
}

int main(void)
{
	char *good[] = { "sh", "-c", "exit 3", NULL }, *missing[] = { "unmae", NULL };
	char *words[] = { "sh", "-c", "cat; echo error >&2", NULL },
	     *slow[] = { "sleep", "60", NULL };
	char *one[] = { "echo", "one", NULL };
	const struct aspawn_action nowhere[] = { ASPAWN_CHDIR("/no/such/directory") };
	const struct aspawn_action wrong[] = { ASPAWN_CLEARENV(), ASPAWN_CHDIR(NULL) };
	struct options options = { .argv = good, .actions = nowhere };
	struct process first, second, third, never = { .pid = 0 };
	struct bytes output[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct error error;
	struct jobs jobs;
	int status;

	if (process_start(&first, &options, &error))
		return 2;
	until(2);
	options.action_count = 1;
	if (process_start(&second, &options, &error))
		return 3;
	until(4);
	options.action_count = 0;
	options.argv = slow;
	options.is_private = true;
	options.streams[1] = ASPAWN_STREAM_PIPE;
	if (process_start(&third, &options, &error))
		return 4;
	until(5);
	if (process_pid(&third) <= 0 || process_kill(&third, 9, false))
		return 5;
	until(6);
	printf("%s\n", process_how(&first));
	process_finalize(&first);
	process_finalize(&second);
	process_finalize(&third);
	process_finalize(&never);
	options.actions = wrong;
	options.action_count = 2;
	if (process_start(&third, &options, &error) != -EINVAL)
		return 6;
	printf("%s %d of action %d\n", error.name, error.number, error.action);

	options = (struct options){ .argv = words };
	int r = run(&options, "input\n", 6, 5000, -1, output, &status, &error);
	printf("%d %d %.*s%.*s", r, status, (int)output[0].length, output[0].at,
	       (int)output[1].length, output[1].at);
	options.argv = missing;
	r = run(&options, NULL, 0, -1, 0, output, &status, &error);
	printf("%d: %s %d\n", r, error.name, error.number);

	if (jobs_open(&jobs, 4))
		return 7;
	options.argv = one;
	if (jobs_submit(&jobs, &options, NULL, 1000, &error) <= 0)
		return 8;
	options.argv = slow;
	if (jobs_submit(&jobs, &options, NULL, 50, &error) <= 0)
		return 9;
	until(8);
	printf("%d waiting\n", jobs_waiting(&jobs));
	options.actions = wrong;
	options.action_count = 2;
	if (jobs_submit(&jobs, &options, NULL, 50, &error) != -EINVAL)
		return 10;
	jobs_close(&jobs);
	return 0;
}
