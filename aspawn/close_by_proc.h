/* SPDX-License-Identifier: MIT */
/* Closing many descriptors where close_range(2) is missing. */
#ifndef ASPAWN_CLOSE_BY_PROC_H
#define ASPAWN_CLOSE_BY_PROC_H

#include <stdbool.h>

/* Before Linux 5.9 (5.11 with at_exec, which sets FD_CLOEXEC instead): closes the descriptors
 * from first to last that /proc lists, or else all numbers below RLIMIT_NOFILE. */
int aspw_close_via_proc(int first, int last, bool at_exec);

#endif
