/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_SERVER_H
#define QUEUE_SERVER_H

#include "queue.h"

/* The server gets descriptors to be woken, to notify callers that poll, and to see the caller's
 * end. */
enum { SERVER_FDS = 3 };

/* Opens what the server needs in the table where it has fds. Returns 0 or an error. */
int aspw_server_begin(struct aspawn_queue *queue, const int fds[SERVER_FDS]);

/* The entry point of the server, for the clone */
int aspw_server_main(void *queue);

enum until { UNTIL_CLOSED, UNTIL_RESULT, UNTIL_IDLE };

/* Serves until there is a result, no job is left, or the deadline has passed (INT64_MAX: never),
 * and returns true. Returns false if the queue is closed and no job is left. */
bool aspw_server_run(struct aspawn_queue *queue, enum until until, int64_t deadline);

/* Takes all submitted jobs, the newest first. If the server is killed here, each job is in the list
 * or JOB_TAKEN. */
struct job *aspw_queue_take(struct aspawn_queue *queue);

void aspw_list_add(struct job_list *list, struct job *job);
void aspw_list_remove(struct job_list *list, struct job *job);

#endif
