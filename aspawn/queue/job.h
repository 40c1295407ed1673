/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_JOB_H
#define QUEUE_JOB_H

#include "queue.h"

enum { KIND_END = 2 /* of an event: the end of a job; 0 or 1: one of its outputs */ };

/* Starts a job that waits: true if it runs, or has ended as one that could not be started; false if
 * there is no descriptor or process for it now. */
bool aspw_job_start(struct aspawn_queue *queue, struct job *job);

/* kind: 0 or 1, an output to be read; or KIND_END, a process to be reaped if it has ended. */
void aspw_job_see(struct aspawn_queue *queue, struct job *job, unsigned kind);

/* Its deadline has passed. */
void aspw_job_expire(struct aspawn_queue *queue, struct job *job);

/* Ends a running job by its stop signal, and SIGKILL after its grace; at_once: by SIGKILL. ended_as: why. */
void aspw_job_stop(struct aspawn_queue *queue, struct job *job, int ended_as, bool at_once);

/* Fills the result and completes the job, which runs or waits no more, or is left. */
void aspw_job_finish(struct aspawn_queue *queue, struct job *job);

#endif
