/* SPDX-License-Identifier: MIT */
/*
 * What Go calls beside the library's functions, of which none waits for a child here: what takes
 * pointers to pointers, or is nothing of Go's. Go passes no pointers in its memory.
 */
#ifndef ASPAWN_GO_SHIM_H
#define ASPAWN_GO_SHIM_H

#ifndef ASPAWN_GO_LIBRARY
#include "aspawn.h"
#endif

#pragma GCC visibility push(hidden)

/*
 * command: as Go sends it, without pointers.
 * words: the numbers of arguments and variables, then the operands of the actions.
 * bytes: the file, argv and envp, each with a NUL, and what operands lead to.
 * results: what actions store.
 */
int aspawn_go_start(struct aspawn_child *child, const struct aspawn_command *command,
		    const int64_t *words, const void *bytes, int *results);
/* job: without command and input. */
int64_t aspawn_go_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
			 const struct aspawn_command *command, const int64_t *words,
			 const void *bytes, const void *input, struct aspawn_failure *failure);
int aspawn_go_readable(int fd);
/* Returns 1, and the limit of descriptors that this process was started with, if the runtime has
 * raised it since. */
int aspawn_go_first_limit(uint64_t *soft, uint64_t *hard);

#pragma GCC visibility pop

#endif
