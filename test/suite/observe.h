/* SPDX-License-Identifier: MIT */
/* Commands run this program, and show the effects of their actions. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "harness.h"
#include "last_action.h"
#include "way.h"

struct observation {
	int result; /* of aspawn_run(); -ECANCELED if an action or another step has failed */
	int status;
	int outcome; /* enum aspawn_outcome */
	int mode;    /* enum aspawn_clone_mode */
	struct aspawn_failure failure;
	char text[4096]; /* the program's output */
};

/* Runs this program in the role "shows" what, after the actions. */
struct observation observe(const struct aspawn_action *actions, size_t count, const char *what);

/* CHECK_SHOWS("text", "what", action, ...) */
#define CHECK_SHOWS(text, what, ...)                                     \
	do {                                                             \
		const struct aspawn_action actions_[] = { __VA_ARGS__ }; \
		check_shows(__FILE__, __LINE__, text, what, actions_,    \
			    sizeof actions_ / sizeof *actions_);         \
	} while (0)
void check_shows(const char *file, int line, const char *text, const char *what,
		 const struct aspawn_action *actions, size_t count);

/* CHECK_FAILS(step, error, action, ...) checks that the step fails with error, which is
 * positive. */
#define CHECK_FAILS(step, error, ...)                                    \
	do {                                                             \
		const struct aspawn_action actions_[] = { __VA_ARGS__ }; \
		check_fails(__FILE__, __LINE__, step, error, actions_,   \
			    sizeof actions_ / sizeof *actions_);         \
	} while (0)
void check_fails(const char *file, int line, int step, int error,
		 const struct aspawn_action *actions, size_t count);

/* What servers ignore for themselves. */
static const unsigned char of_servers[] = { PSYS_SIGPIPE, PSYS_SIGXFSZ, PSYS_SIGCHLD, PSYS_SIGTERM,
					    PSYS_SIGALRM, PSYS_SIGUSR1, PSYS_SIGUSR2 };

bool is_emulated(void);

/* Returns true if the test may mount in a namespace of its own: as root, and if "/" is a mount,
 * unlike after a chroot. */
bool may_mount(void);

/* Returns a command to run this program in a role. The command points to *self. */
struct aspawn_command command_in_role(struct self *self, const char *role, const char *argument);

/* Starts the command, or fails the test; pool NULL: the command's. */
struct aspawn_child start_command(struct aspawn_pool *pool, const struct aspawn_command *command);

/* Returns the child's stack, until the handle gives it back. */
const struct Stack_t *stack_of(struct aspawn_child *child);

/* Waits for the child's number: a helper may first run later than the library waits. */
int pid_of(struct aspawn_child *child);

/* Waits until no child or helper uses the pool's memory, and gives the memory back. */
void release_pool(struct aspawn_pool *pool);

/* Waits for the exec. Returns 0, or the negative error of the failure. */
int why_not_started(struct aspawn_child *child);

/* Waits for the child's end, and checks the status as wait(2) stores it. aspawn_wait() may return
 * -ECANCELED only with exit 127 or a signal. */
void check_ends(struct aspawn_child *child, int expected);

#endif
