/* SPDX-License-Identifier: MIT */
/*
 * Waiting for descriptors and for words in memory.
 * Source: include/uapi/asm-generic/poll.h,
 * include/uapi/linux/{eventpoll,eventfd,futex}.h
 */
#ifndef PSYS_POLL_H
#define PSYS_POLL_H

#include <syscall/arch.h>
#include <syscall/signal.h>

#define PSYS_POLLIN 0x001
#define PSYS_POLLPRI 0x002
#define PSYS_POLLOUT 0x004
#define PSYS_POLLERR 0x008
#define PSYS_POLLHUP 0x010
#define PSYS_POLLNVAL 0x020

struct psys_pollfd {
	int fd;
	short events;
	short revents;
};

#define PSYS_EPOLL_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_EPOLL_CTL_ADD 1
#define PSYS_EPOLL_CTL_DEL 2
#define PSYS_EPOLL_CTL_MOD 3
#define PSYS_EPOLLIN 0x00000001U
#define PSYS_EPOLLOUT 0x00000004U
#define PSYS_EPOLLERR 0x00000008U
#define PSYS_EPOLLHUP 0x00000010U
#define PSYS_EPOLLRDHUP 0x00002000U
#define PSYS_EPOLLONESHOT 0x40000000U
#define PSYS_EPOLLET 0x80000000U

#ifndef PSYS_EPOLL_PACKED
#define PSYS_EPOLL_PACKED
#endif
#ifndef PSYS_DECLARATIONS_ONLY
struct psys_epoll_event {
	uint32_t events;
	uint64_t data; /* the caller's own */
} PSYS_EPOLL_PACKED;
#endif

#define PSYS_EFD_SEMAPHORE 1
#define PSYS_EFD_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_EFD_NONBLOCK PSYS_O_NONBLOCK

/* futex: operations. Without PRIVATE_FLAG the futex is shared between processes;
 * CLONE_CHILD_CLEARTID wakes a shared futex. */
#define PSYS_FUTEX_WAIT 0
#define PSYS_FUTEX_WAKE 1
#define PSYS_FUTEX_WAIT_BITSET 9
#define PSYS_FUTEX_WAKE_BITSET 10
#define PSYS_FUTEX_PRIVATE_FLAG 128
#define PSYS_FUTEX_CLOCK_REALTIME 256
#define PSYS_FUTEX_BITSET_MATCH_ANY 0xffffffffU

/* futex_wait, futex_wake, futex_waitv, futex_requeue: flags */
#define PSYS_FUTEX2_SIZE_U32 0x02
#define PSYS_FUTEX2_PRIVATE PSYS_FUTEX_PRIVATE_FLAG

struct psys_futex_waitv {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t __reserved; /* 0 */
};

/* Bits of the word of a robust futex (set_robust_list). */
#define PSYS_FUTEX_WAITERS 0x80000000U
#define PSYS_FUTEX_OWNER_DIED 0x40000000U

/* set_robust_list */
struct psys_robust_list {
	struct psys_robust_list *next;
};

struct psys_robust_list_head {
	struct psys_robust_list list;
	long futex_offset;
	struct psys_robust_list *list_op_pending;
};

/* pselect6: its last argument (fs/select.c); x32 gets the kernel's own pointer and size */
struct psys_sigset_argpack {
	psys_kernel_ulong p;    /* const struct psys_sigset * */
	psys_kernel_ulong size; /* PSYS_SIGSET_SIZE */
};

#endif
