/* SPDX-License-Identifier: MIT */
/*
 * x86_64: system call numbers.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_64.tbl (abi 64)
 */
#ifndef PSYS_X86_64_NUMBERS_H
#define PSYS_X86_64_NUMBERS_H

#include "../shared/x86_64/numbers.h"

#define PSYS_NR_rt_sigaction 13
#define PSYS_NR_rt_sigreturn 15
#define PSYS_NR_ioctl 16
#define PSYS_NR_readv 19
#define PSYS_NR_writev 20
#define PSYS_NR_recvfrom 45
#define PSYS_NR_sendmsg 46
#define PSYS_NR_recvmsg 47
#define PSYS_NR_setsockopt 54
#define PSYS_NR_getsockopt 55
#define PSYS_NR_execve 59
#define PSYS_NR_ptrace 101
#define PSYS_NR_rt_sigpending 127
#define PSYS_NR_rt_sigtimedwait 128
#define PSYS_NR_rt_sigqueueinfo 129
#define PSYS_NR_sigaltstack 131
#define PSYS_NR_uselib 134
#define PSYS_NR__sysctl 156
#define PSYS_NR_create_module 174
#define PSYS_NR_get_kernel_syms 177
#define PSYS_NR_query_module 178
#define PSYS_NR_nfsservctl 180
#define PSYS_NR_set_thread_area 205
#define PSYS_NR_io_setup 206
#define PSYS_NR_io_submit 209
#define PSYS_NR_get_thread_area 211
#define PSYS_NR_epoll_ctl_old 214
#define PSYS_NR_epoll_wait_old 215
#define PSYS_NR_timer_create 222
#define PSYS_NR_vserver 236
#define PSYS_NR_mq_notify 244
#define PSYS_NR_kexec_load 246
#define PSYS_NR_waitid 247
#define PSYS_NR_set_robust_list 273
#define PSYS_NR_get_robust_list 274
#define PSYS_NR_vmsplice 278
#define PSYS_NR_move_pages 279
#define PSYS_NR_preadv 295
#define PSYS_NR_pwritev 296
#define PSYS_NR_rt_tgsigqueueinfo 297
#define PSYS_NR_recvmmsg 299
#define PSYS_NR_sendmmsg 307
#define PSYS_NR_process_vm_readv 310
#define PSYS_NR_process_vm_writev 311
#define PSYS_NR_execveat 322
#define PSYS_NR_preadv2 327
#define PSYS_NR_pwritev2 328

#endif
