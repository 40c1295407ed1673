/* SPDX-License-Identifier: MIT */
/*
 * The signals that end the program, as a descriptor to poll. Not a signalfd, for which the signals
 * must be blocked: the checks would inherit the mask. A handler is not inherited.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* Returns a descriptor that is readable after the first signal, or -1 with errno. */
int interrupt_open(void);
/* Returns the signal, or 0. */
int interrupt_signal(void);

#endif
