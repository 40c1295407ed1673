/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous input and output.
 * Source: include/uapi/linux/{io_uring,aio_abi}.h, fs/aio.c
 */
#ifndef PSYS_IO_H
#define PSYS_IO_H

#include <syscall/arch.h>
#include <syscall/signal.h>

/* io_uring_setup: offsets in the mapped rings */
struct psys_io_sqring_offsets {
	uint32_t head;
	uint32_t tail;
	uint32_t ring_mask;
	uint32_t ring_entries;
	uint32_t flags;
	uint32_t dropped;
	uint32_t array;
	uint32_t resv1;
	uint64_t user_addr;
};

struct psys_io_cqring_offsets {
	uint32_t head;
	uint32_t tail;
	uint32_t ring_mask;
	uint32_t ring_entries;
	uint32_t overflow;
	uint32_t cqes;
	uint32_t flags;
	uint32_t resv1;
	uint64_t user_addr;
};

struct psys_io_uring_params {
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t flags;
	uint32_t sq_thread_cpu;
	uint32_t sq_thread_idle; /* milliseconds */
	uint32_t features;
	uint32_t wq_fd;
	uint32_t resv[3];
	struct psys_io_sqring_offsets sq_off;
	struct psys_io_cqring_offsets cq_off;
};

#define PSYS_IORING_SETUP_SQPOLL 2U
#define PSYS_IORING_SETUP_CQSIZE 8U
#define PSYS_IORING_ENTER_GETEVENTS 1U
#define PSYS_IORING_REGISTER_BUFFERS 0
#define PSYS_IORING_OFF_SQ_RING 0ULL
#define PSYS_IORING_OFF_CQ_RING 0x8000000ULL
#define PSYS_IORING_OFF_SQES 0x10000000ULL

/* io_setup, io_submit, io_getevents */
typedef psys_kernel_ulong psys_aio_context; /* 0 before io_setup */

struct psys_iocb {
	uint64_t aio_data; /* the caller's own */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint32_t aio_key;
	int aio_rw_flags;
#else
	int aio_rw_flags;
	uint32_t aio_key;
#endif
	uint16_t aio_lio_opcode;
	int16_t aio_reqprio;
	uint32_t aio_fildes;
	uint64_t aio_buf; /* its address */
	uint64_t aio_nbytes;
	int64_t aio_offset;
	uint64_t aio_reserved2;
	uint32_t aio_flags;
	uint32_t aio_resfd;
};
#define PSYS_IOCB_CMD_PREAD 0
#define PSYS_IOCB_CMD_PWRITE 1
#define PSYS_IOCB_FLAG_RESFD 1

struct psys_io_event {
	uint64_t data;
	uint64_t obj; /* the address of the iocb */
	int64_t res;
	int64_t res2;
};

/* io_pgetevents: its last argument */
struct psys_aio_sigset {
	psys_kernel_ulong sigmask;    /* const struct psys_sigset * */
	psys_kernel_ulong sigsetsize; /* PSYS_SIGSET_SIZE */
};

#endif
