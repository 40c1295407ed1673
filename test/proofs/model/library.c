/* SPDX-License-Identifier: MIT */
/* Runs a command by the library, and compares the caller before and after. */
#define _GNU_SOURCE
#include "model.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attacks.h"

enum { LONG_MS = 120000, BUFFER = 256 };

static struct aspawn_pool pool;

void complain(struct report *report, const char *format, ...)
{
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	text_add(&report->text, line);
	text_add(&report->text, "\n");
}

/* True if the text has the line of length characters. */
static bool has_line(const char *text, const char *line, size_t length)
{
	for (const char *found = text; (found = memmem(found, strlen(found), line, length)); found++)
		if ((found == text || found[-1] == '\n') &&
		    (found[length] == '\n' || !found[length]))
			return true;
	return false;
}

static void complain_of_missing(struct report *report, const char *what, const char *text,
				const char *other)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (!has_line(other, text, length))
			complain(report, "  %s: %.*s", what, (int)length, text);
	}
}

void complain_of_lines(struct report *report, const struct text *expected, const struct text *found)
{
	complain_of_missing(report, "expected", expected->bytes, found->bytes);
	complain_of_missing(report, "found", found->bytes, expected->bytes);
}

/* --- the caller ----------------------------------------------------------- */

struct caller {
	struct text text;
	long peak; /* KiB; never falls without a reset */
	int mappings;
};

static void read_file(const char *path, struct text *text)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = read(fd, text->bytes, sizeof text->bytes - 1);

	close(fd);
	text->length = length < 0 ? 0 : (size_t)length;
	text->bytes[text->length] = '\0';
}

static long status_number(const struct text *status, const char *name)
{
	const char *found = strstr(status->bytes, name);

	return found ? atol(found + strlen(name)) : 0;
}

static int count_lines(const struct text *text)
{
	int lines = 0;

	for (const char *at = text->bytes; (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

/* Looks at children found by wait(2), at children found only with __WALL, and at files in the
 * world. */
static void look_at(struct caller *caller)
{
	static struct text file;
	siginfo_t info = { 0 };
	struct stat status = { 0 };

	caller->text.length = 0;
	text_add_state(&caller->text);
	read_file("/proc/self/maps", &file);
	caller->mappings = count_lines(&file);
	read_file("/proc/thread-self/children", &file);
	text_add(&caller->text, "children ");
	text_add(&caller->text, file.bytes);
	text_add_line(&caller->text, "", 0);
	text_add_line(&caller->text, "wait",
		      waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL));
	stat(world.directory, &status);
	text_add_line(&caller->text, "directories in the world", (int64_t)status.st_nlink);
	read_file("/proc/self/status", &file);
	text_add_line(&caller->text, "threads", status_number(&file, "Threads:"));
	text_add_line(&caller->text, "locked", status_number(&file, "VmLck:"));
	caller->peak = status_number(&file, "VmHWM:");
}

static struct caller before, after;

void caller_remember(void)
{
	look_at(&before);
}

/* A helper may be a zombie until its stack is used again; processes that nobody
 * waits for end later. */
static void look_until_equal(void)
{
	for (int naps = 0; naps < 200; naps++) {
		look_at(&after);
		if (strcmp(after.text.bytes, before.text.bytes) == 0)
			return;
		aspawn_pool_release(&pool);
		usleep(10000);
	}
}

void caller_complain(struct report *report, bool may_map)
{
	look_until_equal();
	if (strcmp(before.text.bytes, after.text.bytes) != 0) {
		complain(report, "the caller has changed:");
		complain_of_lines(report, &before.text, &after.text);
	}
	if (after.peak < before.peak)
		complain(report, "the caller's peak of memory fell from %ld to %ld KiB",
			 before.peak, after.peak);
	if (!may_map && after.mappings > before.mappings)
		complain(report, "the caller has %d mappings, not %d", after.mappings,
			 before.mappings);
}

/* --- the command ---------------------------------------------------------- */

static void check_descriptor(struct report *report, const char *name, int fd)
{
	if (fd >= 0 && fd < 3)
		complain(report, "%s is %d, a standard stream", name, fd);
	if (fd >= 0 && fcntl(fd, F_GETFD) != FD_CLOEXEC)
		complain(report, "%s is %d without FD_CLOEXEC", name, fd);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void use_first(struct aspawn_child *child, enum order order, struct report *report)
{
	int fd;

	switch (order) {
	case PID_FIRST:
		(void)!aspawn_pid(child);
		break;
	case PIDFD_FIRST:
		fd = aspawn_pidfd(child);
		check_descriptor(report, "aspawn_pidfd()", fd);
		close_fd(fd);
		break;
	case ENDED_FIRST:
		for (int naps = 0; aspawn_ended(child) == 0 && naps < LONG_MS; naps++)
			usleep(1000);
		break;
	default:
		break;
	}
}

static const char holds[] = LINGERS_AND_HOLDS;

static bool is_locked(void)
{
	const int fd = open(world.output, O_RDWR | O_CLOEXEC);
	const bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;

	close(fd);
	return !is_free;
}

static bool kills_tree(const struct trial *trial)
{
	return trial->owner == ASPAWN_OWNER_TREE && trial->number % 3 == 0;
}

/* A held helper does not end its tree. The caller then kills the tree by pidfds, which a filter may
 * refuse. */
static const char *argument_of(const struct trial *trial)
{
	if (!is_killed(trial))
		return trial->argument;
	return kills_tree(trial) && prctl(PR_GET_SECCOMP) == 0 ? holds : LINGERS;
}

/* Sends SIGKILL to the program, to its group, or to its tree. */
static void kill_program(struct aspawn_child *child, const struct trial *trial,
			 struct report *report)
{
	int r;

	for (int naps = 0; argument_of(trial) == holds && !is_locked() && naps < 1000; naps++)
		usleep(1000);
	if (kills_tree(trial))
		r = aspawn_kill_tree(child, ASPAWN_GRACE_NONE);
	else if (trial->number % 3 == 1)
		r = aspawn_kill_group(child, SIGKILL);
	else
		r = aspawn_kill(child, SIGKILL);
	if (r == 0)
		return;
	complain(report, "the program cannot be killed: %d", r);
	kill(aspawn_pid(child), SIGKILL);
}

static void wait_for(struct aspawn_child *child, const struct trial *trial, struct ending *ending,
		     struct aspawn_failure *failure, struct report *report)
{
	check_descriptor(report, "ended_fd", child->ended_fd);
	check_descriptor(report, "started_fd", child->started_fd);
	check_descriptor(report, "in_fd", child->in_fd);
	check_descriptor(report, "out_fd", child->out_fd);
	check_descriptor(report, "err_fd", child->err_fd);
	use_first(child, trial->order, report);
	if (trial->order != STARTED_LAST && aspawn_wait_started(child, failure, LONG_MS) == 0 &&
	    trial->order == KILLED)
		kill_program(child, trial, report);
	ending->result = aspawn_wait(child, &ending->status, NULL, trial->number % 2 ? LONG_MS : -1);
	if (ending->result == -PSYS_ETIMEDOUT) {
		complain(report, "the program does not end");
		aspawn_kill(child, SIGKILL);
		aspawn_wait(child, &ending->status, NULL, -1);
	}
	if (trial->order == STARTED_LAST)
		aspawn_wait_started(child, failure, 0);
	close_fd(child->in_fd);
	close_fd(child->out_fd);
	close_fd(child->err_fd);
}

static void start(const struct aspawn_command *command, const struct trial *trial,
		  struct ending *ending, struct aspawn_failure *failure, struct report *report)
{
	struct aspawn_child child;

	ending->result = aspawn_start(&child, command);
	if (ending->result == 0)
		wait_for(&child, trial, ending, failure, report);
	else
		aspawn_wait_started(&child, failure, 0);
}

static void run(const struct aspawn_command *command, const struct trial *trial,
		struct ending *ending, struct aspawn_failure *failure)
{
	static char out[BUFFER], err[BUFFER];
	struct aspawn_io io = {
		.size = sizeof io,
		.flags = trial->io_flags,
		.input = trial->has_input ? TRIAL_INPUT : NULL,
		.input_size = trial->has_input ? strlen(TRIAL_INPUT) : 0,
		.out = trial->has_output ? out : NULL,
		.out_size = trial->has_output ? sizeof out : 0,
		.err = trial->has_errors ? err : NULL,
		.err_size = trial->has_errors ? sizeof err : 0,
		.time_limit_ms = trial->has_limit ? LONG_MS : 0,
	};

	ending->result = aspawn_run(command, &io);
	ending->status = io.status;
	*failure = io.failure;
}

/* A process that an ATTACK_LEAVE has left holds a lock. Waits for the end of the process: the next
 * command would see the lock, too. */
static void complain_of_left(struct report *report)
{
	const int fd = open(world.output, O_RDWR | O_CLOEXEC);

	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		complain(report, "a process of the tree lives on");
		flock(fd, LOCK_EX);
	}
	close(fd);
}

void run_by_library(const struct trial *trial, struct ending *ending, struct report *report)
{
	static struct aspawn_action actions[MOST_STEPS + MOST_REPEATS];
	struct aspawn_failure failure = { .step = ASPAWN_STEP_NONE };
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = trial->flags,
		.file = trial->file,
		.argv = ASPAWN_ARGV("reporter", world.output, argument_of(trial)),
		.envp = (char *const *)(uintptr_t)trial_environment,
		.search_path = trial->search_path,
		.actions = actions,
		.action_count = trial_actions(trial, actions),
		.pool = trial->has_pool ? &pool : NULL,
		.std_in = trial->streams[0],
		.std_out = trial->streams[1],
		.std_err = trial->streams[2],
		.owner = trial->owner,
		.memory = trial->memory,
		.stop_signal = trial->stop_signal,
	};

	caller_remember();
	ending->status = -1;
	if (trial->is_run)
		run(&command, trial, ending, &failure);
	else
		start(&command, trial, ending, &failure, report);
	ending->step = failure.step;
	ending->error = failure.error;
	if (trial->owner == ASPAWN_OWNER_TREE && !(trial->flags & ASPAWN_COMMAND_TREE_OR_GROUP))
		complain_of_left(report);
	caller_complain(report, trial->has_pool);
	take_output(&ending->state);
}
