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

/* The first of the numbers that describe a command; operands of actions follow. Its bytes are the
 * file, argv and envp, each with a NUL, and what operands lead to. */
enum aspawn_go_word {
	ASPAWN_GO_FLAGS,
	ASPAWN_GO_IN,
	ASPAWN_GO_OUT,
	ASPAWN_GO_ERR,
	ASPAWN_GO_OWNER,
	ASPAWN_GO_MEMORY,
	ASPAWN_GO_ARGC,
	ASPAWN_GO_ENVC,
	ASPAWN_GO_ACTIONS,
	ASPAWN_GO_WORDS
};

/* An action: detaches descriptor 0 from its terminal. */
enum { ASPAWN_GO_LEAVE_TERMINAL = -1 };

/* results: what actions store. */
int aspawn_go_start(struct aspawn_child *child, const int64_t *words, const char *bytes,
		    int *results);
/* Without command and input, which are added to a copy. */
int64_t aspawn_go_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
			 const int64_t *words, const char *bytes, const void *input,
			 struct aspawn_failure *failure);
/* A copy that Go closes, and takes into its poller, as it does not block; -1: there is none. */
int aspawn_go_polled(int fd);
int aspawn_go_readable(int fd);
/* Returns 1, and the limit of descriptors that this process was started with, if the runtime has
 * raised it since. */
int aspawn_go_first_limit(uint64_t *soft, uint64_t *hard);

#pragma GCC visibility pop

#endif
