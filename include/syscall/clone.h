/* SPDX-License-Identifier: MIT */
/*
 * clone and clone3 with a function for the child, written in assembly for each
 * architecture: the child begins on its own stack, as the outermost frame, calls
 * fn(arg) and ends its thread with exit(result).
 *
 * Both return the child's thread id in the parent, or a negative error number:
 * see clone(2). Async-signal-safe; the caller decides what the child shares.
 */
#ifndef PSYS_CLONE_H
#define PSYS_CLONE_H

#include <syscall/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * clone(2). stack is one past the highest byte of the child's stack, not NULL. It is rounded
 * down to the ABI's alignment, and a few words below it are written. The order of the arguments
 * is the same on every architecture; arguments that flags do not require are not read.
 */
PSYS_API long psys_clone_thunk(unsigned long flags, void *stack, int *parent_tid, int *child_tid,
			       void *tls, int (*fn)(void *), void *arg);

/*
 * clone3(2), since Linux 5.3. args->stack + args->stack_size must be aligned to 16 bytes; size is
 * the size of *args in bytes, at least PSYS_CLONE_ARGS_SIZE_VER0.
 */
PSYS_API long psys_clone3_thunk(const struct psys_clone_args *args, size_t size, int (*fn)(void *),
				void *arg);

#ifdef __cplusplus
}
#endif

#endif
