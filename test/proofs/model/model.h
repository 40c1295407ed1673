/* SPDX-License-Identifier: MIT */
/*
 * Runs random commands, and compares the commands with a model. The model performs the same command
 * in a fork of the caller, by the functions of the libc. Both end alike: the same step fails with
 * the same error, or the program has the same state and status. The library leaves the caller
 * unchanged.
 *
 *   commands.c  makes a random command from a number, and prints the command
 *   caller.c    makes a random caller: descriptors, signals, user, threads
 *   library.c   runs the command by the library, and looks at the caller before and after
 *   by_fork.c   runs the command by the model
 *   jobs.c      random jobs of a queue, whose results are known before
 *   main.c      makes the trials, and reduces a command with another end
 *   reporter.c  the program of the commands; state.c: the state of a process
 *   writer.c    the program of the jobs
 *   attacks.h   what both programs do to a helper or a server
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <aspawn/command.h>

#include "state.h"

/* --- random numbers ------------------------------------------------------- */

struct random {
	uint64_t state;
};

void random_begin(struct random *random, uint64_t number);

/* Returns a number below end. */
unsigned random_below(struct random *random, unsigned end);

/* One of the values, of type int, or of type const char *. */
#define ONE_OF(random, ...)                                                                       \
	((const int[]){ __VA_ARGS__ }[random_below(random, sizeof((const int[]){ __VA_ARGS__ }) / \
								   sizeof(int))])
#define ONE_STRING_OF(random, ...)                          \
	((const char *const[]){ __VA_ARGS__ }[random_below( \
		random, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))])

/* --- the world: what callers and commands have in common ------------------ */

/* The caller runs in the directory, which is for this run alone. */
struct world {
	char directory[64], reporter[96], writer[96], output[96], paths[256];
	char link[96]; /* to /proc/self/oom_score_adj */
};
extern struct world world;

/* Makes the directory, with copies of the two programs; the originals lie beside the model. Returns
 * false if something is missing. */
bool world_make(const char *own_program);
void world_remove(void);

/* Descriptors of each caller; all others but the standard streams are closed. */
enum {
	FILE_FD = 5,
	NULL_FD = 6,
	DIRECTORY_FD = 7, /* the world */
	CLOEXEC_FD = 8,
	NAMESPACE_FD = 9,
	OTHER_FILE_FD = 130,
	CLOSED_FD = 131, /* not open */
	HIGH_FD = 300
};

enum { TRIALS_OF_CALLER = 16 };

/* Makes the calling process the random caller of the number's trials, or of a queue. */
void caller_become(uint64_t trial, bool has_queue);

/* --- a trial: a command, and how it is run -------------------------------- */

enum { MOST_STEPS = 8, MOST_REPEATS = 1500 };

struct step {
	struct aspawn_action action;
	char text[192]; /* as it is written in C */
};

/* Functions of a handle are called in different orders. */
enum order { STARTED_FIRST, PID_FIRST, PIDFD_FIRST, ENDED_FIRST, STARTED_LAST, KILLED, ORDERS };

struct trial {
	uint64_t number;
	struct step steps[MOST_STEPS];
	int count;
	int repeats; /* of the first step */
	const char *file, *argument, *search_path;
	int owner, memory, stop_signal;
	uint64_t flags; /* enum aspawn_command_flags */
	int streams[3];
	bool has_pool;
	enum order order; /* of aspawn_start() */
	/* Only an aspawn_run() has these members. */
	bool is_run, has_input, has_output, has_errors, has_limit;
	uint64_t io_flags; /* enum aspawn_io_flags */
};

/* True if the program of aspawn_start() lingers, and is killed after its start. */
static inline bool is_killed(const struct trial *trial)
{
	return !trial->is_run && trial->order == KILLED;
}

void trial_make(struct trial *trial, uint64_t number);

/* Makes the trial a little simpler, in the way of the number. Returns false if the trial is already
 * simple in this respect, or if no way has the number: then *is_last is true. */
bool trial_simplify(struct trial *trial, int way, bool *is_last);

void trial_print(const struct trial *trial);

/* Stores the actions of the trial, and returns how many. */
size_t trial_actions(const struct trial *trial, struct aspawn_action *actions);

bool trial_has(const struct trial *trial, uint32_t kind);

/* True if a wait may fail with -ECHILD: somebody else has reaped the child, and the kernel does not
 * keep the status for a pidfd of the child. */
bool caller_may_lose_status(const struct trial *trial);

extern const char *const trial_environment[];
#define TRIAL_INPUT "hello"

/* What ASPAWN_CALL calls in the child; the model knows the effect. */
ASPAWN_CHILD int call_umask(void *mask);
ASPAWN_CHILD int call_failing(void *error);

/* --- how a trial ends ----------------------------------------------------- */

struct ending {
	int result;      /* of the library's functions; 0 or -ECANCELED in the model */
	int step, error; /* error 0: the program was executed */
	int status;
	struct text state; /* what the reporter has written */
};

/* A report tells people what is wrong. */
struct report {
	struct text text;
};
__attribute__((format(printf, 2, 3))) void complain(struct report *report, const char *format, ...);
void complain_of_lines(struct report *report, const struct text *expected, const struct text *found);

/* Remembers the state of the caller, and complains if the state has changed since; may_map: the
 * caller may have more mappings, as a pool keeps mappings. */
void caller_remember(void);
void caller_complain(struct report *report, bool may_map);

/* Complains if the caller has changed, too. */
void run_by_library(const struct trial *trial, struct ending *ending, struct report *report);
void run_by_fork(const struct trial *trial, struct ending *ending);

/* Reads the reporter's output and makes the file empty. */
void take_output(struct text *text);

/* --- jobs ----------------------------------------------------------------- */

/* Submits count random jobs to a random queue, and checks their results. */
void try_jobs(uint64_t number, int count, struct report *report);

#endif
