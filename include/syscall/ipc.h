/* SPDX-License-Identifier: MIT */
/*
 * Message queues, semaphores and shared memory.
 * Source: include/uapi/linux/{mqueue,ipc,sem,shm,msg}.h
 */
#ifndef PSYS_IPC_H
#define PSYS_IPC_H

#include <syscall/arch.h>

struct psys_mq_attr {
	psys_kernel_long mq_flags;
	psys_kernel_long mq_maxmsg;
	psys_kernel_long mq_msgsize; /* bytes */
	psys_kernel_long mq_curmsgs;
	psys_kernel_long __reserved[4];
};

struct psys_sembuf {
	unsigned short sem_num;
	short sem_op;
	short sem_flg;
};

/* The last argument of semctl: on 64-bit big-endian machines the kernel takes val from the upper
 * half. */
union psys_semun {
	int val;
	void *buf; /* struct semid64_ds, struct seminfo */
	unsigned short *array;
	unsigned long all;
};

#define PSYS_IPC_PRIVATE 0
#define PSYS_IPC_CREAT 00001000
#define PSYS_IPC_EXCL 00002000
#define PSYS_IPC_NOWAIT 00004000
#define PSYS_IPC_RMID 0
#define PSYS_IPC_SET 1
#define PSYS_IPC_STAT 2
#define PSYS_GETVAL 12
#define PSYS_SETVAL 16

#endif
