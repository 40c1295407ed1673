/* SPDX-License-Identifier: MIT */
/* x86_64, with pointers of 64 and of 32 bits: what differs from most architectures. */
#ifndef PSYS_X86_64_SHARED_LAYOUT_H
#define PSYS_X86_64_SHARED_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL
#define PSYS_NEEDS_RESTORER /* arch/x86/kernel/signal_64.c, x64_setup_rt_frame, x32_... */

#define PSYS_EPOLL_PACKED __attribute__((packed)) /* uapi/linux/eventpoll.h */

#endif
