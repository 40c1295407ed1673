/* SPDX-License-Identifier: MIT */
#ifndef CHILD_CLOSE_RANGE_H
#define CHILD_CLOSE_RANGE_H

#include <stdbool.h>

/* Before Linux 5.9 (5.11 with at_exec, which sets FD_CLOEXEC instead): closes the descriptors
 * from first to last that /proc lists, or else all numbers below RLIMIT_NOFILE. */
int aspw_close_via_proc(int first, int last, bool at_exec);

#endif
