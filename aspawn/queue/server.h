/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_SERVER_H
#define QUEUE_SERVER_H

#include "queue.h"

/* The server's descriptors that its maker has: to wake it, to notify those who poll, and the caller's life. */
enum { SERVER_FDS = 3 };

/* Opens what the server needs in its table, where it has these: 0 or a negative error number. */
int aspw_server_begin(struct aspawn_queue *queue, const int fds[SERVER_FDS]);

/* The entry point of the server, for the clone. */
int aspw_server_main(void *queue);

enum until { UNTIL_CLOSED, UNTIL_RESULT, UNTIL_IDLE };

/* Serves until there is a result, or no job any more; or until the deadline (INT64_MAX: none): true.
 * False if the queue is closed, and no job is left. */
bool aspw_server_run(struct aspawn_queue *queue, enum until until, int64_t deadline);

/* Takes all submitted jobs, the newest first. If the server is killed here, each is either in the list or
 * JOB_TAKEN. */
struct job *aspw_queue_take(struct aspawn_queue *queue);

void aspw_list_add(struct job_list *list, struct job *job);
void aspw_list_remove(struct job_list *list, struct job *job);

#endif
