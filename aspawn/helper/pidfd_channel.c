/* SPDX-License-Identifier: MIT */
#include "pidfd_channel.h"

#include <syscall/syscall.h>

#include "../marks.h"
#include "../spawn/descriptor_table.h"

struct passed {
	struct psys_cmsghdr header;
	int pidfd;
};

/* Calls sendmsg(2) or recvmsg(2), and never waits. */
static IN_ANY long pass_pidfd(int end, struct passed *passed, size_t size, bool sends)
{
	char byte = 0;
	struct psys_iovec bytes = { &byte, 1 };
	struct psys_msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = passed, .msg_controllen = size
	};

	return sends ? psys_sendmsg(end, &message, PSYS_MSG_NOSIGNAL | PSYS_MSG_DONTWAIT) :
		       psys_recvmsg(end, &message, PSYS_MSG_DONTWAIT | PSYS_MSG_CMSG_CLOEXEC);
}

IN_SERVER void aspw_channel_make(int ends[2])
{
	if (psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_SEQPACKET | PSYS_SOCK_CLOEXEC, 0, ends) < 0 ||
	    aspw_descriptors_avoid_streams_by_both(ends) < 0)
		ends[0] = ends[1] = -1;
}

IN_HELPER void aspw_channel_send(int end, int pidfd)
{
	const size_t size = sizeof(struct psys_cmsghdr) + sizeof pidfd;
	struct passed passed = { { size, PSYS_SOL_SOCKET, PSYS_SCM_RIGHTS }, pidfd };

	pass_pidfd(end, &passed, size, true);
}

IN_SERVER int aspw_channel_receive(int end)
{
	struct passed passed;

	passed.header.cmsg_type = 0;
	const long r = pass_pidfd(end, &passed, sizeof passed, false);
	psys_close(end);
	return r <= 0 || passed.header.cmsg_type != PSYS_SCM_RIGHTS ?
		       -PSYS_EAGAIN :
		       aspw_descriptors_avoid_streams(passed.pidfd);
}
