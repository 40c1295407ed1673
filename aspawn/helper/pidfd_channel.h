/* SPDX-License-Identifier: MIT */
/*
 * By a channel the caller gets a pidfd of a child that a helper has cloned. Another thread may reap
 * the child before the caller knows the number. From Linux 6.15 on the kernel keeps the status for
 * any open pidfd, also inside a socket.
 */
#ifndef HELPER_PIDFD_CHANNEL_H
#define HELPER_PIDFD_CHANNEL_H

/* Makes two connected sockets above 2. After a failure stores -1: then there is no channel. */
void aspw_channel_make(int ends[2]);

/* Sends the pidfd, without waiting. */
void aspw_channel_send(int end, int pidfd);

/* Returns a pidfd above 2, or a negative error number. Closes the end. */
int aspw_channel_receive(int end);

#endif
