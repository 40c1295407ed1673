/* SPDX-License-Identifier: MIT */
/*
 * Runs many jobs from many threads, with random inputs, timeouts, keys and cancels, while another
 * thread kills the server now and then. Each job must end exactly once, in a way allowed by a
 * model, with the status and the output of the job's own program.
 *
 *	model CHILD [local] [jobs [seed]]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <aspawn/queue.h>

enum { THREADS = 8 };
enum kind { PLAIN, MISSING, SLOW, KINDS };

/* The model knows this of a job, whose index is the cookie. */
struct known {
	enum kind kind;
	bool was_cancelled; /* stored before the request */
	bool has_timeout;
	int status, seen;
};

static struct aspawn_queue *queue;
static struct known *jobs;
static const char *child;
static int count, submitted, taken, failures, kills;
static bool is_local;
static int by_end[ASPAWN_OUTCOME_LOST + 1];

static void wrong(const char *format, ...)
{
	va_list arguments;

	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	va_start(arguments, format);
	printf("# ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
}

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static void check_ran(const struct aspawn_result *result, const struct known *job)
{
	char text[32];
	const int length = snprintf(text, sizeof text, "%llu", (unsigned long long)result->cookie);

	if (result->status != job->status)
		wrong("job %s: status %x, not %x", text, (unsigned)result->status,
		      (unsigned)job->status);
	if (result->out_length != (size_t)length ||
	    memcmp(result->out, text, result->out_length) != 0)
		wrong("job %s: output of %zu bytes: %.*s", text, result->out_length,
		      (int)result->out_length, result->out);
}

static void check_result(const struct aspawn_result *result)
{
	struct known *job = &jobs[result->cookie];

	if (result->cookie >= (uint64_t)count) {
		wrong("cookie %llu", (unsigned long long)result->cookie);
		return;
	}
	if (__atomic_exchange_n(&job->seen, 1, __ATOMIC_SEQ_CST))
		wrong("job %llu ended twice", (unsigned long long)result->cookie);
	const bool was_cancelled = __atomic_load_n(&job->was_cancelled, __ATOMIC_SEQ_CST);
	const bool is_allowed = result->outcome == ASPAWN_OUTCOME_RAN ? job->kind != MISSING :
				result->outcome == ASPAWN_OUTCOME_NOT_STARTED ?
									job->kind == MISSING :
				result->outcome == ASPAWN_OUTCOME_TIMED_OUT ? job->has_timeout :
				result->outcome == ASPAWN_OUTCOME_CANCELLED ? was_cancelled :
				result->outcome == ASPAWN_OUTCOME_LOST      ? !is_local :
									      false;
	if (!is_allowed)
		wrong("job %llu of kind %d: end %d, error %d at step %d",
		      (unsigned long long)result->cookie, job->kind, result->outcome,
		      result->failure.error, result->failure.step);
	else
		__atomic_add_fetch(&by_end[result->outcome], 1, __ATOMIC_RELAXED);
	if (result->outcome == ASPAWN_OUTCOME_RAN)
		check_ran(result, job);
	if (result->outcome == ASPAWN_OUTCOME_NOT_STARTED && result->failure.error != -PSYS_ENOENT)
		wrong("job %llu: error %d", (unsigned long long)result->cookie,
		      result->failure.error);
}

/* Returns the ticket. */
static int64_t submit_random(uint64_t cookie, unsigned *random)
{
	struct known *known = &jobs[cookie];
	char text[32], ms[16], status[16];
	const int code = (int)(next_random(random) % 100);
	const uint32_t key = next_random(random) % 8 ? 0 : 1 + next_random(random) % 8;

	known->kind = next_random(random) % 20 == 0 ? MISSING :
		      next_random(random) % 20 == 0 ? SLOW :
						      PLAIN;
	known->has_timeout = known->kind == SLOW;
	known->status = code << 8;
	snprintf(text, sizeof text, "%llu", (unsigned long long)cookie);
	snprintf(ms, sizeof ms, "%d", known->kind == SLOW ? 5000 : (int)(next_random(random) % 2));
	snprintf(status, sizeof status, "%d", code);
	const struct aspawn_command command = {
		.size = sizeof command,
		.file = known->kind == MISSING ? "/none/such" : child,
		.argv = ASPAWN_ARGV(child, text, ms, status),
		.envp = ASPAWN_ARGV("A=1"),
	};
	const struct aspawn_job job = {
		.size = sizeof job,
		.out_size = 32,
		.cookie = cookie,
		.command = &command,
		.input = next_random(random) % 4 ? NULL : text,
		.input_size = 0,
		.time_limit_ms = known->has_timeout ? 1 + next_random(random) % 20 : 0,
		.grace_ms = next_random(random) % 2 ? -1 : 0,
		.key = key,
		.key_limit = key ? 2 : 0,
	};
	return aspawn_queue_submit(queue, &job, NULL);
}

static int take(int timeout_ms)
{
	const struct aspawn_result *results[8];
	int r = aspawn_queue_wait(queue, results, 8, timeout_ms);

	for (int i = 0; i < r; i++)
		check_result(results[i]);
	if (r > 0) {
		if (aspawn_queue_release(queue, results, r) < 0)
			wrong("release");
		__atomic_add_fetch(&taken, r, __ATOMIC_SEQ_CST);
	}
	return r;
}

static void *use(void *arg)
{
	unsigned random = (unsigned)(uintptr_t)arg;

	for (;;) {
		const int cookie = __atomic_fetch_add(&submitted, 1, __ATOMIC_SEQ_CST);
		int64_t ticket;

		if (cookie >= count)
			break;
		while ((ticket = submit_random((uint64_t)cookie, &random)) == -PSYS_EAGAIN)
			take(1);
		if (ticket <= 0) {
			wrong("submit: %d", (int)ticket);
			return NULL;
		}
		if (next_random(&random) % 16 == 0) {
			__atomic_store_n(&jobs[cookie].was_cancelled, true, __ATOMIC_SEQ_CST);
			aspawn_queue_cancel(queue, ticket);
		}
		if (next_random(&random) % 4 == 0)
			take(0);
	}
	while (__atomic_load_n(&taken, __ATOMIC_SEQ_CST) < count &&
	       !__atomic_load_n(&failures, __ATOMIC_RELAXED))
		take(10);
	return NULL;
}

/* Returns the child of this process with the name, or 0. */
static int find_server(void)
{
	char line[512];
	int pid = 0;
	FILE *children = popen("ps -o pid=,ppid=,comm= -e", "r");

	while (children && fgets(line, sizeof line, children)) {
		int of, parent;
		char name[64];
		if (sscanf(line, "%d %d %63s", &of, &parent, name) == 3 && parent == getpid() &&
		    !strcmp(name, "aspawn-queue"))
			pid = of;
	}
	if (children)
		pclose(children);
	return pid;
}

static void *kill_server(void *arg)
{
	unsigned random = (unsigned)(uintptr_t)arg;

	while (__atomic_load_n(&taken, __ATOMIC_SEQ_CST) < count &&
	       !__atomic_load_n(&failures, __ATOMIC_RELAXED)) {
		usleep(20000 + next_random(&random) % 100000);
		const int server = find_server();
		if (server && kill(server, SIGKILL) == 0)
			kills++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 1];

	if (argc < 2)
		return 2;
	child = argv[1];
	is_local = argc > 2 && !strcmp(argv[2], "local");
	count = argc > 2 + is_local ? atoi(argv[2 + is_local]) : 5000;
	const unsigned seed =
		argc > 3 + is_local ? (unsigned)atoi(argv[3 + is_local]) : (unsigned)time(NULL);
	const struct aspawn_queue_options options = {
		.size = sizeof options,
		.jobs = 64,
		.running = 8,
		.flags = is_local ? ASPAWN_QUEUE_LOCAL : 0,
	};
	jobs = calloc((size_t)count, sizeof *jobs);
	int r = jobs ? aspawn_queue_create(&queue, &options) : -PSYS_ENOMEM;
	if (r < 0) {
		printf("1..0 # SKIP %s\n", psys_errname(r));
		return 0;
	}
	printf("1..1\n# seed %u\n", seed);
	if (!is_local)
		pthread_create(&threads[THREADS], NULL, kill_server, (void *)(uintptr_t)seed);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use,
			       (void *)(uintptr_t)(seed + 7919U * (unsigned)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		if (!jobs[i].seen && !failures)
			wrong("job %d has not ended", i);
	if (!is_local)
		pthread_join(threads[THREADS], NULL);
	aspawn_queue_close(queue);
	printf("# %d ran, %d not started, %d timed out, %d cancelled, %d lost, %d servers killed\n",
	       by_end[ASPAWN_OUTCOME_RAN], by_end[ASPAWN_OUTCOME_NOT_STARTED],
	       by_end[ASPAWN_OUTCOME_TIMED_OUT], by_end[ASPAWN_OUTCOME_CANCELLED],
	       by_end[ASPAWN_OUTCOME_LOST], kills);
	printf("%sok 1 - %d jobs of %d threads end as a model allows%s\n", failures ? "not " : "",
	       count, THREADS, is_local ? ", in this process" : ", while the server is killed");
	return failures != 0;
}
