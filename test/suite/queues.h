/* SPDX-License-Identifier: MIT */
/* What the tests of queues have in common */
#ifndef QUEUES_H
#define QUEUES_H

#include <aspawn/queue.h>

#include "observe.h"

enum { KEPT = 4097 }; /* for out_size, with the NUL */

/* Skips the test where no process can share memory. */
struct aspawn_queue *open_queue(const struct aspawn_queue_options *options);
void close_queue(struct aspawn_queue *queue);

/* Submits this program in a role, or a command: the ticket, or a negative error number. */
int64_t submit(struct aspawn_queue *queue, struct aspawn_job job, const char *role,
	       const char *argument);
int64_t submit_command(struct aspawn_queue *queue, struct aspawn_job job,
		       const struct aspawn_command *command);

/* Returns the next result, which must come. */
const struct aspawn_result *next_result(struct aspawn_queue *queue);
void give_back(struct aspawn_queue *queue, const struct aspawn_result *result);

/* Waits until so many jobs run. */
void await_running(struct aspawn_queue *queue, int count);

bool exists(int pid);

/* The letter of proc_pid_stat(5): 'S' asleep, 'T' stopped, 'Z' a zombie; 0 without it. */
char state_of(int pid);

/* Returns true when the process has ended, also as a zombie for another process. */
bool ends_soon(int pid);

/* Returns the pid of the server, which is the parent of a job. */
int server_of(struct aspawn_queue *queue);

#endif
