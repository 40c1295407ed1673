/* SPDX-License-Identifier: MIT */
/*
 * Registered descriptors: copies of the caller's in the server, for the actions of jobs.
 *
 * The caller sends a descriptor over the socket whose hang-up tells the server of the caller's end,
 * and waits until the server has stored the number of its copy. A new server takes the registered
 * descriptors by their numbers from the caller's table, which it begins with. So a message that the
 * old server has not read brings a second copy, which is closed.
 */
#include <syscall/string.h>

#include "queue.h"

/* A message: an entry of shared->registered, with its descriptor, or alone to drop it. */
struct register_message {
	struct psys_msghdr header;
	struct psys_iovec bytes;
	struct {
		struct psys_cmsghdr header;
		int fd;
	} control;
	struct {
		uint32_t entry, serial;
	} which;
};

static QUEUE_SERVER void prepare_message(struct register_message *message)
{
	psys_memset(message, 0, sizeof *message);
	message->bytes.iov_base = &message->which;
	message->bytes.iov_len = sizeof message->which;
	message->header.msg_iov = &message->bytes;
	message->header.msg_iovlen = 1;
}

/* fd -1: to be dropped. */
static int send_entry(const struct aspawn_queue *queue, const struct registered *entry, int fd)
{
	struct register_message message;

	prepare_message(&message);
	message.which.entry = (uint32_t)(entry - queue->shared->registered);
	message.which.serial = entry->serial;
	if (fd >= 0) {
		message.control.header.cmsg_len =
			sizeof message.control.header + sizeof message.control.fd;
		message.control.header.cmsg_level = PSYS_SOL_SOCKET;
		message.control.header.cmsg_type = PSYS_SCM_RIGHTS;
		message.control.fd = fd;
		message.header.msg_control = &message.control;
		message.header.msg_controllen = sizeof message.control;
	}
	long r;
	do
		r = psys_sendmsg(queue->life[1], &message.header, PSYS_MSG_NOSIGNAL);
	while (r == -PSYS_EINTR);
	return r < 0 ? (int)r : 0;
}

/* Returns the entry of the caller's descriptor, or NULL. */
QUEUE_SERVER struct registered *aspawn_queue_registered(const struct aspawn_queue *queue, int fd)
{
	struct registered *entries = queue->shared->registered;

	for (int i = 0; i < ASPAWN_MOST_REGISTERED; i++)
		if (__atomic_load_n(&entries[i].fd, __ATOMIC_ACQUIRE) == fd)
			return &entries[i];
	return NULL;
}

/* Waits for the server, or for a new one after its death. */
static int await_entry(struct aspawn_queue *queue, int *word, int value)
{
	int seen, r = 0;

	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == value) {
		if (aspawn_queue_is_orphaned(queue, true)) {
			r = aspawn_queue_recover(queue, true);
			if (r < 0 && r != -PSYS_EAGAIN)
				return r;
		}
		deadline_sleep_on(word, seen, DEADLINE_NEVER);
	}
	return 0;
}

static int register_with(struct aspawn_queue *queue, int fd)
{
	struct registered *entries = queue->shared->registered, *entry = NULL;
	int unused = ENTRY_FREE;

	if (aspawn_queue_registered(queue, fd))
		return -PSYS_EEXIST;
	for (int i = 0; i < ASPAWN_MOST_REGISTERED && !entry; i++, unused = ENTRY_FREE)
		if (__atomic_compare_exchange_n(&entries[i].fd, &unused, ENTRY_FILLING, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			entry = &entries[i];
	if (!entry)
		return -PSYS_ENOSPC;
	entry->serial++;
	__atomic_store_n(&entry->at, ENTRY_UNKNOWN, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->fd, fd, __ATOMIC_RELEASE);
	int r = send_entry(queue, entry, fd);
	if (r == 0)
		r = await_entry(queue, &entry->at, ENTRY_UNKNOWN);
	if (r == 0 && __atomic_load_n(&entry->at, __ATOMIC_ACQUIRE) < 0)
		r = __atomic_load_n(&entry->at, __ATOMIC_RELAXED);
	if (r < 0) {
		entry->serial++; /* a later server may still read the message */
		__atomic_store_n(&entry->fd, ENTRY_FREE, __ATOMIC_RELEASE);
	}
	return r;
}

static int unregister_from(struct aspawn_queue *queue, int fd)
{
	struct registered *entry = fd > 2 ? aspawn_queue_registered(queue, fd) : NULL;
	if (!entry || !__atomic_compare_exchange_n(&entry->fd, &fd, ENTRY_DROPPED, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return -PSYS_EBADF;
	int r = send_entry(queue, entry, -1);
	return r < 0 ? r : await_entry(queue, &entry->fd, ENTRY_DROPPED);
}

int aspawn_queue_register(struct aspawn_queue *queue, int fd)
{
	int r = aspawn_queue_check(queue);
	uint32_t count = 0;

	if (r == 0 && (fd <= 2 || psys_fcntl(fd, PSYS_F_GETFD, 0) < 0))
		r = -PSYS_EBADF;
	if (r < 0 || queue->flags & ASPAWN_QUEUE_LOCAL)
		return r;
	while (count < queue->servers && (r = register_with(queue->parts[count], fd)) == 0)
		count++;
	while (r < 0 && count-- > 0)
		unregister_from(queue->parts[count], fd);
	return r;
}

int aspawn_queue_unregister(struct aspawn_queue *queue, int fd)
{
	int first = aspawn_queue_check(queue);

	if (first < 0 || queue->flags & ASPAWN_QUEUE_LOCAL)
		return first;
	for (uint32_t i = 0; i < queue->servers; i++) {
		const int r = unregister_from(queue->parts[i], fd);
		first = first < 0 ? first : r;
	}
	return first;
}

/* --- the server -------------------------------------------------------------------------- */

static QUEUE_SERVER void note_entry(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	psys_futex(word, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static QUEUE_SERVER void drop_entry(struct registered *entry)
{
	if (__atomic_load_n(&entry->fd, __ATOMIC_ACQUIRE) != ENTRY_DROPPED)
		return;
	if (entry->at >= 0)
		psys_close(entry->at);
	entry->at = ENTRY_UNKNOWN;
	note_entry(&entry->fd, ENTRY_FREE);
}

QUEUE_SERVER bool aspawn_server_receive(struct aspawn_queue *queue, const struct server *server)
{
	struct register_message message;

	prepare_message(&message);
	message.header.msg_control = &message.control;
	message.header.msg_controllen = sizeof message.control;
	long r = psys_recvmsg(server->life, &message.header,
			      PSYS_MSG_DONTWAIT | PSYS_MSG_CMSG_CLOEXEC);
	if (r == -PSYS_EAGAIN || r == -PSYS_EINTR)
		return true;
	if (r != sizeof message.which || message.which.entry >= ASPAWN_MOST_REGISTERED)
		return false;
	struct registered *entry = &queue->shared->registered[message.which.entry];
	const bool has_control = message.header.msg_controllen >=
				 sizeof message.control.header + sizeof message.control.fd;
	const bool is_current = entry->serial == message.which.serial;
	if (has_control && is_current &&
	    __atomic_load_n(&entry->at, __ATOMIC_ACQUIRE) == ENTRY_UNKNOWN)
		note_entry(&entry->at, message.control.fd);
	else if (has_control)
		psys_close(message.control.fd);
	else if (!is_current)
		return true;
	else if (message.header.msg_flags & PSYS_MSG_CTRUNC)
		note_entry(&entry->at, -PSYS_EMFILE);
	else
		drop_entry(entry);
	return true;
}

QUEUE_SERVER void aspawn_server_drop_registered(const struct aspawn_queue *queue)
{
	for (int i = 0; i < ASPAWN_MOST_REGISTERED; i++)
		drop_entry(&queue->shared->registered[i]);
}
