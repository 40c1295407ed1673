/* SPDX-License-Identifier: MIT */
/*
 * How the caller gets a pidfd of its child that a helper has cloned. Another thread may reap the
 * child before the caller knows its number. From Linux 6.15 on the kernel keeps the status for
 * whoever has a pidfd, also for one that lies in a socket.
 */
#ifndef HELPER_PIDFD_CHANNEL_H
#define HELPER_PIDFD_CHANNEL_H

/* Makes two connected sockets above 2. If it cannot, stores -1: then there is no channel. */
void aspw_channel_make(int ends[2]);

/* Sends the pidfd, without waiting. */
void aspw_channel_send(int end, int pidfd);

/* Returns the pidfd, which is above 2, or a negative error number. Closes the end. */
int aspw_channel_receive(int end);

#endif
