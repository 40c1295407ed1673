/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_RESULTS_H
#define QUEUE_RESULTS_H

#include "queue.h"

/* Puts an ended job, whose result is filled, into the ended ring. */
void aspw_queue_complete(struct aspawn_queue *queue, struct job *job, int end);

/* Tells waiters of at least count ended jobs, or that there is nothing to wait for. Unless notify
 * is negative, a write there tells callers that poll. */
void aspw_queue_announce(struct aspawn_queue *queue, int notify, int count);

#endif
