/* What aspawn() and aspawn_command() share. */
#ifndef ASPAWN_SPAWN_H
#define ASPAWN_SPAWN_H

#include <syscall/errno.h>

#include "ladder.h"

/*
 * The spawn itself, on a reserved stack whose lowest used byte is user_data, with
 * all signals blocked; mask is the caller's. options is complete. Returns the read
 * end of the pipe, 0 if there is none, or a negative error number.
 */
int aspawn_spawn(const struct aspawn_options *options, pid_t *pid, const struct Stack_t *stack,
		 const struct psys_sigset *mask, aspawn_fn fn, void *arg, void *user_data,
		 size_t user_data_len);

/*
 * Of a structure that begins with its size and may be older or newer than the one
 * that is known: 0, -EINVAL, or -E2BIG if it says more. man 2 openat2, "Extensibility"
 */
static inline int aspawn_check_size(const void *structure, size_t size, size_t known)
{
	if (size < known)
		return -PSYS_EINVAL;
	for (size_t i = known; i < size; i++)
		if (((const char *)structure)[i])
			return -PSYS_E2BIG;
	return 0;
}

/* A CLOEXEC pipe that keeps clear of the standard streams: 0 or an error. */
int aspawn_pipe(int ends[2]);
void aspawn_close_pipe(const int ends[2]);

/* Ends the child, whose command failed at this step. error is positive. */
_Noreturn void aspawn_fail(struct control *control, int step, int error);

#endif
