// SPDX-License-Identifier: MIT
//go:build linux && cgo

/* The library, with no symbol for others, and what Go calls. */
#if defined(__x86_64__) && __has_include("aspawn-image-x86_64")
#define ASPAWN_IMAGE "aspawn-image-x86_64"
#elif defined(__aarch64__) && __has_include("aspawn-image-aarch64")
#define ASPAWN_IMAGE "aspawn-image-aarch64"
#endif
#include "library.h"
#define ASPAWN_GO_LIBRARY

#include "shim.h"
#include <stdlib.h>
#include <string.h>

static struct aspawn_pool aspawn_go_pool;
static struct psys_rlimit64 aspawn_go_limit;

/* Before Go's runtime raises the limit. */
__attribute__((constructor)) static void aspawn_go_remember_limit(void)
{
	psys_getrlimit(PSYS_RLIMIT_NOFILE, &aspawn_go_limit);
}

/* The runtime has raised the soft limit to the hard one, or to one less. */
int aspawn_go_first_limit(uint64_t *soft, uint64_t *hard)
{
	struct psys_rlimit64 now;

	if (psys_getrlimit(PSYS_RLIMIT_NOFILE, &now) < 0 || now.rlim_cur < now.rlim_max - 1 ||
	    now.rlim_max != aspawn_go_limit.rlim_max || now.rlim_cur <= aspawn_go_limit.rlim_cur)
		return 0;
	*soft = aspawn_go_limit.rlim_cur;
	*hard = aspawn_go_limit.rlim_max;
	return 1;
}

#include "interface.h"

/* The strings one after another; returns what follows them. */
static const char *aspawn_go_strings(char **to, int64_t count, const char *strings)
{
	for (int64_t i = 0; i < count; i++) {
		to[i] = (char *)strings;
		strings += strlen(strings) + 1;
	}
	to[count] = NULL;
	return strings;
}

/* Adds the pointers to the command. Returns memory for its arrays, which the caller frees. */
static void *aspawn_go_command(struct aspawn_command *command, const int64_t *words,
			       const char *bytes, int *results)
{
	const int64_t argc = *words++, envc = *words++;
	const size_t count = command->action_count;
	struct aspawn_action *actions =
		malloc(count * sizeof *actions + (size_t)(argc + envc + 2) * sizeof(char *));
	char **argv = (char **)(actions + count), **envp = argv + argc + 1;

	if (!actions)
		return NULL;
	command->file = bytes;
	command->argv = argv;
	command->envp = envp;
	command->actions = actions;
	command->pool = &aspawn_go_pool;
	aspawn_go_strings(envp, envc, aspawn_go_strings(argv, argc, bytes + strlen(bytes) + 1));
	for (size_t i = 0; i < count; i++)
		words = aspawn_go_action(&actions[i], words, bytes, results);
	return actions;
}

int aspawn_go_start(struct aspawn_child *child, const struct aspawn_command *command,
		    const int64_t *words, const void *bytes, int *results)
{
	struct aspawn_command started = *command;
	void *arrays = aspawn_go_command(&started, words, bytes, results);
	const int r = arrays ? aspawn_start(child, &started) : -PSYS_ENOMEM;

	free(arrays);
	return r;
}

int64_t aspawn_go_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
			 const struct aspawn_command *command, const int64_t *words,
			 const void *bytes, const void *input, struct aspawn_failure *failure)
{
	struct aspawn_command submitted = *command;
	struct aspawn_job complete = *job;
	void *arrays = aspawn_go_command(&submitted, words, bytes, NULL);

	complete.command = &submitted;
	complete.input = input;
	const int64_t r = arrays ? aspawn_queue_submit(queue, &complete, failure) : -PSYS_ENOMEM;
	free(arrays);
	return r;
}

int aspawn_go_readable(int fd)
{
	struct psys_pollfd polled = { .fd = fd, .events = PSYS_POLLIN };
	struct psys_timespec at_once = { 0, 0 };

	return psys_ppoll(&polled, 1, &at_once, NULL, 0) != 0;
}
