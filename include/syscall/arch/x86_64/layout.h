/* x86_64: what its kernel lays out otherwise than most. */
#ifndef PSYS_X86_64_LAYOUT_H
#define PSYS_X86_64_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL
#define PSYS_NEEDS_RESTORER /* arch/x86/kernel/signal_64.c, x64_setup_rt_frame */

#define PSYS_EPOLL_PACKED __attribute__((packed)) /* uapi/linux/eventpoll.h */

#endif
