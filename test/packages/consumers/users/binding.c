/* SPDX-License-Identifier: MIT */
/*
 * The core of a binding for a language with an event loop: start() never blocks and reports each
 * error with the name of what failed; three kinds of descriptors are polled; a finalizer may come
 * at any time; the garbage collector moves objects between two calls.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aspawn/queue.h>

/* --- what the language gives ------------------------------------------------------------ */

typedef struct value value;
void loop_add(int fd, void (*ready)(void *), void *object);
void loop_remove(int fd);
void loop_timer(int64_t ms, void (*ready)(void *), void *object);
void emit(void *object, const char *event, int number, const char *text);
void give_stream(void *object, int which, int fd);
void lock_released(void);
void lock_taken(void);

static struct aspawn_pool pool;

/* --- errors ---------------------------------------------------------------------------- */

struct error {
	int number;    /* positive, as errno */
	int action;    /* index of the caller's actions; -1: no action */
	char name[32]; /* "chdir", "search", "argument" */
	char about[112];
};

static void set_error(struct error *error, int number, const struct aspawn_failure *failure)
{
	memset(error, 0, sizeof *error);
	error->number = -number;
	error->action = -1;
	if (!failure || !failure->error)
		return;
	error->number = -failure->error;
	error->action = failure->step;
	strncpy(error->name, aspawn_failure_name(failure), sizeof error->name - 1);
	memcpy(error->about, failure->subject, sizeof error->about);
}

/* --- a child ---------------------------------------------------------------------------- */

struct process {
	struct aspawn_child child;
	int pid; /* 0: not known yet */
	bool started_polled, ended_polled, done;
};

/* Options, checked and kept alive by the language. */
struct options {
	char **argv, **environment;
	const char *file, *directory;
	int streams[3]; /* enum aspawn_stream, or a descriptor */
	const struct aspawn_action *actions;
	size_t action_count;
	bool is_private, dies_with_us, debugged, forbids_image;
};

static void stop_polling(struct process *process)
{
	if (process->started_polled)
		loop_remove(process->child.started_fd);
	if (process->ended_polled)
		loop_remove(process->child.ended_fd);
	process->started_polled = process->ended_polled = false;
}

static void see_end(void *object);

static void see_start(void *object)
{
	struct process *process = object;
	struct aspawn_failure failure;
	struct error error;

	const int r = aspawn_wait_started(&process->child, &failure, 0);
	if (r == -ETIMEDOUT)
		return;
	loop_remove(process->child.started_fd);
	process->started_polled = false;
	process->pid = aspawn_describe(&process->child, ASPAWN_FACT_PID);
	if (r == 0) {
		emit(process, "spawn", process->pid, "");
		return;
	}
	set_error(&error, r, &failure);
	emit(process, "error", error.number, error.name);
}

static void see_end(void *object)
{
	struct process *process = object;
	int status = -1;

	if (process->started_polled)
		see_start(process);
	const int ended = aspawn_ended(&process->child);
	stop_polling(process);
	if (ended == 0) { /* its helper was killed, or there is no ended_fd */
		loop_timer(20, see_end, process);
		return;
	}
	const int r = aspawn_wait(&process->child, &status, NULL, 0);
	process->done = true;
	emit(process, "exit", r == -ECHILD ? -1 : status, "");
}

/* 0, or a negative number and *error. */
int process_start(struct process *process, const struct options *options, struct error *error)
{
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_STARTED_FD | ASPAWN_COMMAND_NONBLOCK |
			 ASPAWN_COMMAND_SHELL_ON_ENOEXEC |
			 (options->dies_with_us ? ASPAWN_COMMAND_DIES_WITH_CALLER : 0),
		.file = options->file,
		.argv = options->argv,
		.envp = options->environment,
		.actions = options->actions, /* may be an empty list of the language's */
		.action_count = options->action_count,
		.pool = &pool,
		.std_in = options->streams[0],
		.std_out = options->streams[1],
		.std_err = options->streams[2],
		.owner = options->is_private ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER,
		.memory = options->debugged      ? ASPAWN_MEMORY_SUSPENDED :
			  options->forbids_image ? ASPAWN_MEMORY_COPIED :
						   ASPAWN_MEMORY_SHARED,
	};
	struct aspawn_failure failure;

	memset(process, 0, sizeof *process);
	const int r = aspawn_start(&process->child, &command);
	if (r < 0) {
		aspawn_wait_started(&process->child, &failure, 0);
		set_error(error, r, &failure);
		return r;
	}
	process->pid = aspawn_describe(&process->child, ASPAWN_FACT_PID);
	loop_add(process->child.started_fd, see_start, process);
	process->started_polled = true;
	process->ended_polled = process->child.ended_fd >= 0;
	if (process->ended_polled)
		loop_add(process->child.ended_fd, see_end, process);
	else
		loop_timer(20, see_end, process);
	int *const ends[] = { &process->child.in_fd, &process->child.out_fd,
			      &process->child.err_fd };
	for (int i = 0; i < 3; i++)
		if (*ends[i] >= 0) { /* the language's stream closes it */
			give_stream(process, i, *ends[i]);
			*ends[i] = -1;
		}
	return 0;
}

int process_pid(struct process *process)
{
	if (!process->pid && !process->done)
		process->pid = aspawn_pid(&process->child); /* may wait */
	return process->pid;
}

int process_kill(struct process *process, int signal, bool group)
{
	return group ? aspawn_kill_group(&process->child, signal) :
		       aspawn_kill(&process->child, signal);
}

const char *process_how(const struct process *process)
{
	switch (aspawn_describe(&process->child, ASPAWN_FACT_MODE)) {
	case ASPAWN_MODE_IMAGE:
		return "image";
	case ASPAWN_MODE_FORK:
		return aspawn_describe(&process->child, ASPAWN_FACT_REASON) == ASPAWN_REASON_BUILD ?
			       "copied: built without the image" :
			       "copied";
	default:
		return "shared";
	}
}

/* Also of a process never started: all zero. With a pool nothing here waits for the child. */
void process_finalize(struct process *process)
{
	const int ends[] = { process->child.in_fd, process->child.out_fd, process->child.err_fd };

	stop_polling(process);
	for (int i = 0; i < 3; i++)
		if (ends[i] > 2)
			close(ends[i]);
	aspawn_release(&process->child);
}

/* --- run(): the lock of the interpreter is released meanwhile --------------------------------- */

struct bytes {
	char *at;
	size_t length, room;
};

static int append(void *arg, int stream, const void *bytes, size_t count)
{
	struct bytes *to = &((struct bytes *)arg)[stream - 1];

	if (to->room - to->length < count) {
		const size_t room = 2 * to->room + count;
		char *more = realloc(to->at, room);
		if (!more)
			return -ENOMEM;
		to->at = more;
		to->room = room;
	}
	memcpy(to->at + to->length, bytes, count);
	to->length += count;
	return 0;
}

/* ms and grace_ms: negative, as in the language, if not given. */
int run(const struct options *options, const void *input, size_t input_size, int64_t ms,
	int64_t grace_ms, struct bytes output[2], int *status, struct error *error)
{
	struct aspawn_command command = { .size = sizeof command, .pool = &pool };
	struct aspawn_io io = { .size = sizeof io };

	command.argv = options->argv;
	command.envp = options->environment;
	command.actions = options->actions;
	command.action_count = options->action_count;
	command.std_err = ASPAWN_STREAM_PIPE; /* to the sink too */
	io.input = input;
	io.input_size = input_size;
	io.sink = append;
	io.arg = output;
	io.time_limit_ms = ms < 0 ? 0 : ms ? ms : 1;
	io.grace_ms = grace_ms < 0 ? 0 : grace_ms ? grace_ms : ASPAWN_GRACE_NONE;
	lock_released();
	const int r = aspawn_run(&command, &io);
	lock_taken();
	*status = io.status;
	if (r < 0)
		set_error(error, r, &io.failure);
	return r;
}

/* --- the queue -------------------------------------------------------------------------------- */

struct jobs {
	struct aspawn_queue *queue;
};

static void take_results(void *object)
{
	struct jobs *jobs = object;
	const struct aspawn_result *results[16];
	char text[320];
	int count;

	do {
		count = aspawn_queue_wait(jobs->queue, results, 16, 0);
		for (int i = 0; i < count; i++) {
			aspawn_result_text(text, sizeof text, results[i]);
			emit((void *)(uintptr_t)results[i]->cookie, text, results[i]->status,
			     results[i]->out ? results[i]->out : "");
		}
		if (count > 0)
			aspawn_queue_release(jobs->queue, results, count);
	} while (count == 16);
}

int jobs_open(struct jobs *jobs, uint32_t at_once)
{
	const struct aspawn_queue_options options = { .size = sizeof options,
						      .flags = ASPAWN_QUEUE_FD,
						      .running = at_once };
	const int r = aspawn_queue_create(&jobs->queue, &options);

	if (r == 0)
		loop_add(aspawn_queue_fd(jobs->queue), take_results, jobs);
	return r;
}

int64_t jobs_submit(struct jobs *jobs, const struct options *options, void *object, int64_t ms,
		    struct error *error)
{
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = options->argv,
		.envp = options->environment,
		.actions = options->actions,
		.action_count = options->action_count,
		.pool = &pool, /* as every command of this binding */
	};
	const struct aspawn_job job = {
		.size = sizeof job,
		.cookie = (uintptr_t)object,
		.command = &command,
		.out_size = 8192,
		.err_size = 4096,
		.time_limit_ms = ms,
	};
	struct aspawn_failure failure;
	const int64_t r = aspawn_queue_submit(jobs->queue, &job, &failure);

	if (r < 0)
		set_error(error, (int)r, &failure);
	return r;
}

int jobs_waiting(const struct jobs *jobs)
{
	return aspawn_queue_count(jobs->queue, ASPAWN_COUNT_WAITING);
}

void jobs_close(struct jobs *jobs)
{
	loop_remove(aspawn_queue_fd(jobs->queue));
	aspawn_queue_close(jobs->queue);
}
