/* SPDX-License-Identifier: MIT */
/* The status of a child that somebody else has reaped (PIDFD_GET_INFO, Linux 6.15). */
#ifndef ASPAWN_REAPED_H
#define ASPAWN_REAPED_H

#include <syscall/time.h>

/* Waits until somebody has reaped the process of the pidfd: only then has the kernel its exit code.
 * Returns 0, -ETIMEDOUT, or -EBADF if it is no descriptor. */
int aspw_await_reaped(int pidfd, int64_t deadline);

/* Stores the status of the process of the pidfd, if it is reaped. Returns 0, -EAGAIN if it is not,
 * or -ECHILD if the kernel does not have the status (Linux before 6.15). */
int aspw_reaped_status(int pidfd, int *status);

#endif
