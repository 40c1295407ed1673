/* SPDX-License-Identifier: MIT */
/*
 * The actions of a job may use the caller's descriptors.
 *
 * Before a job gets into the list, its submitter sends the descriptors to the server, by the socket
 * whose hang-up tells the server of the caller's end. The message names the job by its ticket, and
 * stays in the socket until the server starts or drops the job, or a job whose message lies behind.
 * So the server's table holds few descriptors beside those of running jobs, and a submitter whose
 * server is behind gets EAGAIN. A killed server takes its socket along, and the kernel closes what
 * is in it.
 *
 * A forked copy of the caller also has the end for sending, and may have dropped its privileges
 * since. So the server drops messages of which the kernel names another sender.
 */
#include <syscall/string.h>

#include "../caller/decide.h"
#include "../caller/start.h"
#include "../spawn/deadline.h"
#include "descriptors.h"

struct fd_control {
	struct psys_cmsghdr header;
	int fds[MOST_SENT];
};

/* --- the submitter ------------------------------------------------------------------------ */

void aspw_job_note_fds(struct job *job, const struct prepared *prepared, struct arena *arena)
{
	const struct aspawn_action *action = prepared->actions;

	if (arena->error)
		return;
	struct callers callers = aspw_callers_begin(prepared);
	for (; action < prepared->actions + prepared->count && !arena->error; action++) {
		const int fd = aspw_callers_next(&callers, action);
		uint32_t at = 0;
		while (at < job->fd_count && job->fds[at].callers != fd)
			at++;
		if (fd <= 2 || at < job->fd_count)
			continue;
		/* This lies directly behind the previous allocation. */
		struct given_fd *given = aspw_arena_allocate(arena, sizeof *given, sizeof(int));
		if (given) {
			given->callers = fd;
			job->fds = given - job->fd_count++;
		}
		if (job->fd_count > MOST_SENT)
			arena->error = -PSYS_E2BIG;
	}
}

static int send_once(const struct aspawn_queue *queue, const struct job *job)
{
	struct fd_control control;
	struct psys_iovec bytes = { (void *)(uintptr_t)&job->result.ticket,
				    sizeof job->result.ticket };
	const struct psys_msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control.header + job->fd_count * sizeof *control.fds,
	};

	control.header =
		(struct psys_cmsghdr){ message.msg_controllen, PSYS_SOL_SOCKET, PSYS_SCM_RIGHTS };
	for (uint32_t i = 0; i < job->fd_count; i++)
		control.fds[i] = job->fds[i].callers;
	const long r = psys_sendmsg(queue->life, &message, PSYS_MSG_NOSIGNAL | PSYS_MSG_DONTWAIT);
	return r < 0 ? (int)r : 0;
}

int aspw_job_send_fds(struct aspawn_queue *queue, const struct job *job)
{
	int r = send_once(queue, job);

	if (r != -PSYS_EPIPE && r != -PSYS_ECONNRESET)
		return r;
	r = aspw_queue_recover(queue, true);
	return r < 0 ? r : send_once(queue, job);
}

/* --- the server --------------------------------------------------------------------------- */

/* This is what recvmsg(2) stores. The kernel stores the message's sender before the descriptors. */
struct received {
	int64_t ticket;
	struct control_received {
		struct psys_cmsghdr sender_header;
		struct psys_ucred sender;
		_Alignas(size_t) struct fd_control fds;
	} control;
};

/* Without with_fds the kernel closes the descriptors. */
static IN_SERVER long receive_message(const struct aspawn_queue *queue, struct received *received,
				      bool with_fds, int flags)
{
	struct psys_iovec bytes = { &received->ticket, sizeof received->ticket };
	struct psys_msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &received->control,
		.msg_controllen = with_fds ? sizeof received->control :
					     offsetof(struct control_received, fds),
	};

	received->control.sender_header.cmsg_type = received->control.fds.header.cmsg_type = 0;
	return psys_recvmsg(queue->server.life, &message,
			    flags | PSYS_MSG_DONTWAIT | PSYS_MSG_CMSG_CLOEXEC);
}

static IN_SERVER bool has_sender(const struct received *received)
{
	return received->control.sender_header.cmsg_type == PSYS_SCM_CREDENTIALS;
}

IN_SERVER bool aspw_server_skip_messages(const struct aspawn_queue *queue)
{
	struct received received;

	for (;;) {
		const long r = receive_message(queue, &received, false, PSYS_MSG_PEEK);
		if (r == -PSYS_EAGAIN)
			return true;
		/* The socket or pipe is at its end, unless a filter forbids recvmsg(2). */
		if (!has_sender(&received))
			return r < 0 && aspw_deadline_poll(queue->server.life, 0, 0) < 0;
		if (received.control.sender.pid == queue->caller_pid)
			return true;
		receive_message(queue, &received, false, 0);
	}
}

/* Returns the job that the message belongs to, or NULL. */
static IN_SERVER struct job *find_addressee(const struct aspawn_queue *queue,
					    const struct received *received, long size)
{
	struct job *job = size == sizeof received->ticket &&
					  received->control.sender.pid == queue->caller_pid ?
				  queue_find(queue, received->ticket) :
				  NULL;

	return job && job->result.ticket == received->ticket ? job : NULL;
}

/* Takes the next message, and notes the descriptors in the job. Fails with -EPIPE without a
 * message. */
static IN_SERVER int receive_next(const struct aspawn_queue *queue)
{
	struct received received;
	const long size = receive_message(queue, &received, true, 0);
	const struct fd_control *control = &received.control.fds;

	if (size < 0 || !has_sender(&received))
		return size < 0 && size != -PSYS_EAGAIN ? (int)size : -PSYS_EPIPE;
	const size_t count =
		control->header.cmsg_type == PSYS_SCM_RIGHTS ?
			(control->header.cmsg_len - sizeof control->header) / sizeof(int) :
			0;
	struct job *job = find_addressee(queue, &received, size);
	const size_t fds = job ? job->fd_count : 0;
	for (size_t i = 0; i < fds; i++) /* count is too small if the table is full: MSG_CTRUNC */
		job->fds[i].servers = i < count ? control->fds[i] : -1;
	for (size_t i = fds; i < count; i++)
		psys_close(control->fds[i]);
	if (job)
		job->received_by = queue->servers;
	return 0;
}

IN_SERVER void aspw_server_raise_files(struct aspawn_queue *queue)
{
	const struct psys_rlimit64 files = { queue->files.rlim_max, queue->files.rlim_max };

	queue->raises_files = queue->files.rlim_cur < queue->files.rlim_max &&
			      psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &files, NULL) >= 0;
}

IN_SERVER int aspw_server_receive_fds(struct aspawn_queue *queue, struct job *job)
{
	int r = 0;

	if (!job->fd_count)
		return 0;
	while (job->received_by != queue->servers && r == 0) {
		r = receive_next(queue);
		/* The message was for a job that continues to wait, and many jobs may. */
		if (job->received_by != queue->servers && !queue->raises_files)
			aspw_server_raise_files(queue);
	}
	if (r < 0)
		return r;
	aspw_server_skip_messages(queue); /* those behind the message */
	return job->fds[job->fd_count - 1].servers < 0 ? -PSYS_EMFILE : 0;
}

IN_SERVER void aspw_server_close_fds(struct aspawn_queue *queue, struct job *job)
{
	aspw_server_receive_fds(queue, job);
	if (job->received_by != queue->servers)
		return;
	for (uint32_t i = 0; i < job->fd_count; i++)
		psys_close(job->fds[i].servers); /* close(-1) is harmless */
}
