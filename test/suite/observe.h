/* Commands that run this program as an observer of what their actions did. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <aspawn/command.h>

#include "harness.h"
#include "last_action.h"

struct observation {
	int result; /* of aspawn_run(): -ECANCELED if an action or a stage has failed */
	int status;
	int end;  /* enum aspawn_end */
	int mode; /* enum aspawn_clone_mode */
	struct aspawn_failure failure;
	char text[4096]; /* what it wrote */
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

/* CHECK_FAILS(step, error, action, ...): that action, or stage, with that error (positive). */
#define CHECK_FAILS(step, error, ...)                                    \
	do {                                                             \
		const struct aspawn_action actions_[] = { __VA_ARGS__ }; \
		check_fails(__FILE__, __LINE__, step, error, actions_,   \
			    sizeof actions_ / sizeof *actions_);         \
	} while (0)
void check_fails(const char *file, int line, int step, int error,
		 const struct aspawn_action *actions, size_t count);

bool is_emulated(void);

/* Whether mounts can be made in a namespace of their own: as root, and where "/" is
 * a mount, which it is not after a chroot. */
bool may_mount(void);

/* This program as a command in a role; self is what it points to. */
struct aspawn_command command_in_role(struct self *self, const char *role, const char *argument);

/* Starts a copy of it on the stack, or the test fails; stack NULL: as the command says. */
struct aspawn_child start_command(struct Stack_t *stack, const struct aspawn_command *command);

/* Waits until it is known whether it started: 0, or the failure's error, which is negative. */
int why_not_started(struct aspawn_child *child);

/* Waits for its end, which must have this status, as of wait(2). What aspawn_wait() returns
 * must fit it: -ECANCELED only of exit 127, or of a signal before the exec. */
void check_ends(struct aspawn_child *child, int expected);

#endif
