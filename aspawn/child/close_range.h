/* SPDX-License-Identifier: MIT */
#ifndef CHILD_CLOSE_RANGE_H
#define CHILD_CLOSE_RANGE_H

#include <stdbool.h>

/* Closes the descriptors from first to last in /proc, or else all numbers below RLIMIT_NOFILE.
 * at_exec sets FD_CLOEXEC instead. Linux before 5.9 needs this (before 5.11 with at_exec). */
int aspw_close_via_proc(int first, int last, bool at_exec);

#endif
