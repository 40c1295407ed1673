/* SPDX-License-Identifier: MIT */
/* Makes commands of random actions, strings and sizes. The start fails or makes a child. The parent
 * never crashes, and no descriptor or process is left. */
#define _GNU_SOURCE
#include <errno.h>

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions.h"

enum { LIMIT_MS = 20000 };

/* Returns a valid stream, or sometimes a descriptor, open or not, or an invalid number. */
static int next_stream(struct input *input)
{
	const uint8_t kind = next_byte(input);

	return kind < 100 ? 0 : kind < 240 ? -(kind % 6) : (int)next_number(input);
}

static int count_descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* Makes a command from the input. Returns the number of actions. */
static size_t next_command(struct input *input, struct aspawn_command *command,
			   struct aspawn_action *actions, int *ends)
{
	static char name[] = "true";
	static char *const argv[] = { name, NULL }, *const empty[] = { NULL };
	static struct aspawn_pool pool;

	memset(command, 0, sizeof *command);
	command->size = sizeof *command;
	command->flags = next_number(input) & 31;
	command->file = next_byte(input) % 8 ? "true" : NULL;
	command->argv = next_byte(input) % 8 ? argv : NULL;
	command->envp = next_byte(input) % 2 ? empty : NULL;
	command->search_path = next_byte(input) % 8 ? "/bin" : NULL;
	const uint8_t memory_of = next_byte(input);
	command->pool = memory_of % 2 ? &pool : NULL;
	command->memory = memory_of / 2 % 4;
	command->std_in = next_stream(input);
	command->std_out = next_stream(input);
	command->std_err = next_stream(input);
	for (int i = next_byte(input) % MOST_ACTIONS_HERE; i > 0; i--) {
		struct aspawn_action *action = &actions[command->action_count];
		*action = next_action(input, &ends[i]);
		command->action_count += is_harmless(action);
	}
	command->actions = command->action_count ? actions : NULL;
	return command->action_count;
}

static void check_no_child(struct aspawn_child *child)
{
	check(aspawn_pid(child) == -EINVAL, "a child after an error");
	check(child->ended_fd == -1 && child->started_fd == -1, "a descriptor after an error");
	check(child->in_fd == -1 && child->out_fd == -1 && child->err_fd == -1 &&
		      child->pty_fd == -1,
	      "a pipe after an error");
	check(aspawn_release(child) == 0, "no release after an error");
}

static void check_start(struct aspawn_child *child, const struct aspawn_action *actions,
			size_t count)
{
	struct aspawn_failure failure;
	char text[320];
	const int r = aspawn_wait_started(child, &failure, LIMIT_MS);

	check(r == 0 || r == -PSYS_ECANCELED, "it never starts");
	check((r == 0) == (failure.error == 0) && failure.error <= 0, "a failure that does not fit");
	check(failure.step < (int)count, "a step that there is not");
	check(failure.kind == (failure.step < 0 ? 0 : actions[failure.step].kind),
	      "a kind that is another's");
	check(aspawn_failure_text(text, sizeof text, &failure) <= 255, "a text that is too long");
}

static void check_end(struct aspawn_child *child, bool communicates)
{
	const int fds[] = { child->in_fd, child->out_fd, child->err_fd, child->pty_fd };
	struct aspawn_io io = { .size = sizeof io, .time_limit_ms = LIMIT_MS };
	char text[320];
	int status = -1;

	aspawn_kill(child, PSYS_SIGKILL);
	const int r = communicates ? aspawn_communicate(child, &io) :
				     aspawn_wait(child, &status, NULL, LIMIT_MS);
	check(r == 0 || r == -PSYS_ECANCELED, "it never ends");
	if (communicates) {
		check(aspawn_io_text(text, sizeof text, r, &io) <= 319,
		      "an outcome that is too long");
		return;
	}
	check(r == 0 || WIFSIGNALED(status) || WEXITSTATUS(status) == 127,
	      "another status than 127");
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void check_found(const struct aspawn_command *command, int count)
{
	char *found = exact(NULL, 4096);
	int action = ASPAWN_STEP_NONE;
	const int r = aspawn_find(found, 4096, command, &action);

	check(r <= 0 && action >= ASPAWN_STEP_NONE && action < (count ? count : 1),
	      "an action that there is not");
	check(r < 0 || (*found && access(found, X_OK) == 0), "a file that cannot be executed");
	free(found);
}

/* A call waits a second for each helper: on a busy machine a helper may need longer. */
static void release(struct aspawn_pool *pool)
{
	int r = 0;

	for (int tries = 0; tries < LIMIT_MS && (r = aspawn_pool_release(pool)) == -EBUSY; tries++)
		usleep(1000);
	check(r == 0, "the pool is in use");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct aspawn_action actions[MOST_ACTIONS_HERE];
	int ends[MOST_ACTIONS_HERE];
	struct aspawn_command command;
	struct aspawn_child child;

	memset(ends, -1, sizeof ends);
	const size_t count = next_command(&input, &command, actions, ends);
	const bool communicates = next_byte(&input) % 4 == 0, releases = next_byte(&input) % 8 == 0;
	const int before = count_descriptors();
	check_found(&command, (int)count);
	memset(&child, 0x55, sizeof child);
	if (aspawn_start(&child, &command) < 0) {
		check_no_child(&child);
	} else {
		check_start(&child, actions, count);
		if (releases)
			check(aspawn_release(&child) == 0, "no release");
		check_end(&child, communicates);
	}
	if (command.pool)
		release(command.pool);
	for (int i = 0; i < MOST_ACTIONS_HERE; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	check(count_descriptors() == before, "descriptors are left");
	return 0;
}
