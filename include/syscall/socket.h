/* SPDX-License-Identifier: MIT */
/*
 * Sockets: socket pairs, and passing descriptors. Addresses are opaque bytes.
 * Source: include/linux/socket.h, include/uapi/linux/socket.h
 */
#ifndef PSYS_SOCKET_H
#define PSYS_SOCKET_H

#include <syscall/arch.h>
#include <syscall/file.h>

#define PSYS_AF_UNIX 1
#ifndef PSYS_SOCK_STREAM
#define PSYS_SOCK_STREAM 1
#define PSYS_SOCK_DGRAM 2
#endif
#define PSYS_SOCK_SEQPACKET 5
#define PSYS_SOCK_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_SOCK_NONBLOCK PSYS_O_NONBLOCK

#ifndef PSYS_SOL_SOCKET
#define PSYS_SOL_SOCKET 1
#endif
#define PSYS_SCM_RIGHTS 1
#define PSYS_SCM_CREDENTIALS 2 /* a struct psys_ucred, if the receiver has set PSYS_SO_PASSCRED */
#ifndef PSYS_SO_PASSCRED
#define PSYS_SO_PASSCRED 16
#endif
#define PSYS_MSG_NOSIGNAL 0x4000
#define PSYS_MSG_CMSG_CLOEXEC 0x40000000

/* The kernel's struct user_msghdr. */
struct psys_msghdr {
	void *msg_name;
	int msg_namelen;
	struct psys_iovec *msg_iov;
	size_t msg_iovlen;
	void *msg_control; /* psys_cmsghdr records, each aligned to a size_t */
	size_t msg_controllen;
	unsigned msg_flags;
};

struct psys_cmsghdr {
	size_t cmsg_len; /* this header included */
	int cmsg_level;
	int cmsg_type;
};

struct psys_ucred {
	int pid;
	unsigned uid, gid;
};

/* sendmmsg, recvmmsg */
struct psys_mmsghdr {
	struct psys_msghdr msg_hdr;
	unsigned msg_len; /* out, in bytes */
};

#define PSYS_AF_INET 2
#define PSYS_AF_NETLINK 16
#define PSYS_AF_INET6 10
#define PSYS_MSG_PEEK 0x2
#define PSYS_MSG_CTRUNC 0x8
#define PSYS_MSG_TRUNC 0x20
#define PSYS_MSG_DONTWAIT 0x40
#define PSYS_MSG_WAITALL 0x100

/* shutdown */
#define PSYS_SHUT_RD 0
#define PSYS_SHUT_WR 1
#define PSYS_SHUT_RDWR 2

#endif
