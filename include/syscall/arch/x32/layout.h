/* x32: what its kernel lays out otherwise than most. */
#ifndef PSYS_X32_LAYOUT_H
#define PSYS_X32_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL
#define PSYS_NEEDS_RESTORER /* arch/x86/kernel/signal_64.c, x32_setup_rt_frame */

#define PSYS_EPOLL_PACKED __attribute__((packed)) /* uapi/linux/eventpoll.h */

typedef long long psys_kernel_long;
typedef unsigned long long psys_kernel_ulong;
#define PSYS_KERNEL_LONG_BITS 64
#define PSYS_ARCH_KERNEL_LONG

/* 64 bits that lie where 32 would (uapi/asm/siginfo.h). */
typedef long long psys_siginfo_clock __attribute__((aligned(4)));
#define PSYS_ARCH_SIGINFO_CLOCK

/* preadv and its like take an offset in one register (fs/read_write.c,
 * compat_sys_preadv64v2). */
#define PSYS_ARG_HALVES(value) (value)

#endif
