/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_DESCRIPTORS_H
#define QUEUE_DESCRIPTORS_H

#include "../action/prepared.h"
#include "../caller/arena.h"
#include "queue.h"

enum { MOST_SENT = 253 /* descriptors of a job: the kernel's SCM_MAX_FD */ };

/* Collects the caller's descriptors that the actions of the job's command use. */
void aspw_job_note_fds(struct job *job, const struct prepared *prepared, struct arena *arena);

/* Sends the job's descriptors to the server. Returns 0, or a negative error if nothing was sent. */
int aspw_job_send_fds(struct aspawn_queue *queue, const struct job *job);

/* Drops messages up to the first from the caller. Returns false if the caller is gone. */
bool aspw_server_skip_messages(const struct aspawn_queue *queue);

/* Raises the server's limit of descriptors to the caller's hard limit. Jobs get the caller's
 * limit. */
void aspw_server_raise_files(struct aspawn_queue *queue);

/* Takes the descriptors of a job from the socket, unless the server already has them. Fails with
 * -EMFILE if the server's table is full, -EPIPE if they were sent to a killed server, or as
 * recvmsg(2). */
int aspw_server_receive_fds(struct aspawn_queue *queue, struct job *job);

/* Closes the job's descriptors, also if they are still in the socket. */
void aspw_server_close_fds(struct aspawn_queue *queue, struct job *job);

#endif
