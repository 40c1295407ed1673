/* SPDX-License-Identifier: MIT */
/*
 * Tracees. A program that calls ptrace(2) with PTRACE_TRACEME, as some do to notice a debugger, is
 * traced by its parent: by a helper, or by the thread of the caller that has started it. At its next
 * signal it stops, and nobody else can continue it.
 */
#ifndef ASPAWN_TRACEE_H
#define ASPAWN_TRACEE_H

#include <syscall/signal.h>

/* Detaches from the process whose stop waitid(2) has reported, and passes the signal on for which it
 * has stopped. Returns -ESRCH if it is not the calling thread that traces it. */
int aspw_detach(const struct psys_siginfo *stop);

#endif
