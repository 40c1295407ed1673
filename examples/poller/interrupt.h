/* SPDX-License-Identifier: MIT */
/*
 * The signals that end the program, as a descriptor to poll. They are not blocked, as
 * for a signalfd: the checks would inherit that. A handler they do not inherit.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* From here on. The descriptor, readable from the first signal on; or -1 and errno. */
int interrupt_open(void);
/* 0, or the signal. */
int interrupt_signal(void);

#endif
