/* SPDX-License-Identifier: MIT */
#ifndef QUEUE_DESCRIPTORS_H
#define QUEUE_DESCRIPTORS_H

#include "../action/prepared.h"
#include "../caller/arena.h"
#include "queue.h"

enum { MOST_SENT = 253 /* descriptors of a job: the kernel's SCM_MAX_FD */ };

/* Notes which descriptors of the caller's the actions of the job's command use. */
void aspw_job_note_fds(struct job *job, const struct prepared *prepared, struct arena *arena);

/* Sends them to the server: 0, or a negative error number; then nothing was sent. */
int aspw_job_send_fds(struct aspawn_queue *queue, const struct job *job);

/* Drops messages of others, up to the first of the caller's. False if the caller is gone. */
bool aspw_server_skip_messages(const struct aspawn_queue *queue);

/* Gives the server as many descriptors as the caller may have; its jobs have the caller's limit. */
void aspw_server_raise_files(struct aspawn_queue *queue);

/* Takes the descriptors of a job from the socket, unless the server has them already. 0; -EMFILE: its table
 * is full; -EPIPE: they were sent to a server that was killed; another error of recvmsg(2). */
int aspw_server_receive_fds(struct aspawn_queue *queue, struct job *job);

/* Closes them, also those that are still in the socket. */
void aspw_server_close_fds(struct aspawn_queue *queue, struct job *job);

#endif
