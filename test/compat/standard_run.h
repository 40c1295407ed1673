/* SPDX-License-Identifier: MIT */
/* Runs programs by posix_spawn(), and checks their output. */
#ifndef STANDARD_RUN_H
#define STANDARD_RUN_H

#include <spawn.h>

#include "../suite/harness.h"
#include "newer.h"

typedef posix_spawn_file_actions_t file_actions;

extern char *const sh_true[]; /* succeeds and does nothing */

/* musl has no policy and priority in the attributes. */
bool has_scheduling(void);

/* The program must not change its own attributes: a shell changes its mask. */
#define CHECK_WRITES(argv, expected, attr) check_writes_in(__FILE__, __LINE__, argv, expected, attr)
void check_writes_in(const char *file, int line, char *const *argv, const char *expected,
		     posix_spawnattr_t *attr);

/* Runs the script with the actions and attributes, and with standard output in a pipe. Returns the
 * script's status, or a negative error. */
int run_script(const char *script, char *text, size_t size, file_actions *actions,
	       posix_spawnattr_t *attr, char *const *envp);

/* Checks that the script writes the expected text and succeeds. */
#define CHECK_SAYS(script, expected, actions, attr) \
	check_says_in(__FILE__, __LINE__, script, expected, actions, attr)
void check_says_in(const char *file, int line, const char *script, const char *expected,
		   file_actions *actions, posix_spawnattr_t *attr);

/* Checks that the spawn fails with the error and leaves no child. */
#define CHECK_FAILS(error, path, actions, attr) \
	check_fails_in(__FILE__, __LINE__, error, path, actions, attr)
void check_fails_in(const char *file, int line, int error, const char *path, file_actions *actions,
		    posix_spawnattr_t *attr);

#endif
