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

static const void *aspawn_go_bytes(const char *bytes, int64_t at)
{
	return at < 0 ? NULL : bytes + at;
}

#include "interface.h"

static ASPAWN_CHILD int aspawn_go_leave_terminal(void *arg)
{
	(void)arg;
	return (int)psys_ioctl(0, PSYS_TIOCNOTTY, 0);
}

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

/* Fills in the command. Returns memory for its arrays, which the caller frees. */
static void *aspawn_go_command(struct aspawn_command *command, const int64_t *words,
			       const char *bytes, int *results)
{
	const int64_t argc = words[ASPAWN_GO_ARGC], envc = words[ASPAWN_GO_ENVC];
	const size_t count = (size_t)words[ASPAWN_GO_ACTIONS];
	struct aspawn_action *actions =
		malloc(count * sizeof *actions + (size_t)(argc + envc + 2) * sizeof(char *));
	char **argv = (char **)(actions + count), **envp = argv + argc + 1;
	const int64_t *operands = words + ASPAWN_GO_WORDS;

	if (!actions)
		return NULL;
	*command = (struct aspawn_command){
		.size = sizeof *command,
		.flags = (uint64_t)words[ASPAWN_GO_FLAGS],
		.file = bytes,
		.argv = argv,
		.envp = envp,
		.actions = actions,
		.action_count = count,
		.pool = &aspawn_go_pool,
		.std_in = (int)words[ASPAWN_GO_IN],
		.std_out = (int)words[ASPAWN_GO_OUT],
		.std_err = (int)words[ASPAWN_GO_ERR],
		.owner = (int)words[ASPAWN_GO_OWNER],
		.memory = (int)words[ASPAWN_GO_MEMORY],
	};
	aspawn_go_strings(envp, envc, aspawn_go_strings(argv, argc, bytes + strlen(bytes) + 1));
	for (size_t i = 0; i < count; i++) {
		if (*operands == ASPAWN_GO_LEAVE_TERMINAL) {
			aspawn_action_call(&actions[i], aspawn_go_leave_terminal, NULL);
			operands++;
		} else {
			operands = aspawn_go_action(&actions[i], operands, bytes, results);
		}
	}
	return actions;
}

int aspawn_go_start(struct aspawn_child *child, const int64_t *words, const char *bytes,
		    int *results)
{
	struct aspawn_command command;
	void *arrays = aspawn_go_command(&command, words, bytes, results);
	const int r = arrays ? aspawn_start(child, &command) : -PSYS_ENOMEM;

	free(arrays);
	return r;
}

int64_t aspawn_go_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
			 const int64_t *words, const char *bytes, const void *input,
			 struct aspawn_failure *failure)
{
	struct aspawn_command command;
	struct aspawn_job submitted = *job;
	void *arrays = aspawn_go_command(&command, words, bytes, NULL);

	submitted.command = &command;
	submitted.input = input;
	const int64_t r = arrays ? aspawn_queue_submit(queue, &submitted, failure) : -PSYS_ENOMEM;
	free(arrays);
	return r;
}

int aspawn_go_polled(int fd)
{
	const int copy = fd < 0 ? -1 : (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);

	if (copy >= 0)
		psys_fcntl(copy, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	return copy < 0 ? -1 : copy;
}

int aspawn_go_readable(int fd)
{
	struct psys_pollfd polled = { .fd = fd, .events = PSYS_POLLIN };
	struct psys_timespec at_once = { 0, 0 };

	return psys_ppoll(&polled, 1, &at_once, NULL, 0) != 0;
}
