/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_JOB_H
#define QUEUE_JOB_H

#include "queue.h"

enum { KIND_END = 2 /* of an event: the end of a job; 0 or 1: one of its outputs */ };

/* Starts a waiting job. Returns true if the job runs, or has ended because it could not be started;
 * false if no descriptor or process is available for it now. */
bool aspw_job_start(struct aspawn_queue *queue, struct job *job);

/* Reads an output, which is kind 0 or 1, or reaps the process if it has ended: KIND_END. */
void aspw_job_see(struct aspawn_queue *queue, struct job *job, unsigned kind);

/* Ends a job whose deadline has passed. */
void aspw_job_expire(struct aspawn_queue *queue, struct job *job);

/* Ends a running job by its stop signal, and by SIGKILL after its grace; with at_once by SIGKILL
 * alone. ended_as is the outcome. */
void aspw_job_stop(struct aspawn_queue *queue, struct job *job, int ended_as, bool at_once);

/* Fills the result and completes a job that no longer runs or waits, or that the server leaves
 * alone. */
void aspw_job_finish(struct aspawn_queue *queue, struct job *job);

#endif
