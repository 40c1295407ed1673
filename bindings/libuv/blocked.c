/* SPDX-License-Identifier: MIT */
/*
 * How long uv_spawn() blocks its caller: blocked MIB ROUNDS. Touches so much memory, starts
 * "true" by its name, and prints the median of the calls in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void ended(uv_process_t *process, int64_t status, int signal)
{
	if (status || signal)
		abort();
	uv_close((uv_handle_t *)process, NULL);
}

static int ascending(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static double measured(uv_loop_t *loop)
{
	uv_process_t process;
	char *argv[] = { "true", NULL };
	uv_process_options_t options = { .file = "true", .args = argv, .exit_cb = ended };
	double begin = now(), blocked;

	if (uv_spawn(loop, &process, &options) < 0)
		abort();
	blocked = now() - begin;
	uv_run(loop, UV_RUN_DEFAULT);
	return blocked;
}

int main(int argc, char **argv)
{
	size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 0) << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 100;
	double *times = calloc((size_t)rounds, sizeof *times);
	volatile char *memory = malloc(size + 1);

	if (rounds < 1 || !times || !memory)
		return 1;
	for (size_t i = 0; i <= size; i += 4096)
		memory[i] = 1;
	for (int i = 0; i < rounds; i++)
		times[i] = measured(uv_default_loop());
	qsort(times, (size_t)rounds, sizeof *times, ascending);
	printf("%.1f\n", times[rounds / 2]);
	free((void *)memory);
	free(times);
	return 0;
}
