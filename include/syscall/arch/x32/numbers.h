/* SPDX-License-Identifier: MIT */
/*
 * x32: system call numbers.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_64.tbl (abi x32),
 * each with __X32_SYSCALL_BIT, 0x40000000 (arch/x86/include/uapi/asm/unistd.h)
 */
#ifndef PSYS_X32_NUMBERS_H
#define PSYS_X32_NUMBERS_H

#define PSYS_NUMBER_BASE 0x40000000
#include "../shared/x86_64/numbers.h"

#define PSYS_NR_rt_sigaction (PSYS_NUMBER_BASE + 512)
#define PSYS_NR_rt_sigreturn (PSYS_NUMBER_BASE + 513)
#define PSYS_NR_ioctl (PSYS_NUMBER_BASE + 514)
#define PSYS_NR_readv (PSYS_NUMBER_BASE + 515)
#define PSYS_NR_writev (PSYS_NUMBER_BASE + 516)
#define PSYS_NR_recvfrom (PSYS_NUMBER_BASE + 517)
#define PSYS_NR_sendmsg (PSYS_NUMBER_BASE + 518)
#define PSYS_NR_recvmsg (PSYS_NUMBER_BASE + 519)
#define PSYS_NR_execve (PSYS_NUMBER_BASE + 520)
#define PSYS_NR_ptrace (PSYS_NUMBER_BASE + 521)
#define PSYS_NR_rt_sigpending (PSYS_NUMBER_BASE + 522)
#define PSYS_NR_rt_sigtimedwait (PSYS_NUMBER_BASE + 523)
#define PSYS_NR_rt_sigqueueinfo (PSYS_NUMBER_BASE + 524)
#define PSYS_NR_sigaltstack (PSYS_NUMBER_BASE + 525)
#define PSYS_NR_timer_create (PSYS_NUMBER_BASE + 526)
#define PSYS_NR_mq_notify (PSYS_NUMBER_BASE + 527)
#define PSYS_NR_kexec_load (PSYS_NUMBER_BASE + 528)
#define PSYS_NR_waitid (PSYS_NUMBER_BASE + 529)
#define PSYS_NR_set_robust_list (PSYS_NUMBER_BASE + 530)
#define PSYS_NR_get_robust_list (PSYS_NUMBER_BASE + 531)
#define PSYS_NR_vmsplice (PSYS_NUMBER_BASE + 532)
#define PSYS_NR_move_pages (PSYS_NUMBER_BASE + 533)
#define PSYS_NR_preadv (PSYS_NUMBER_BASE + 534)
#define PSYS_NR_pwritev (PSYS_NUMBER_BASE + 535)
#define PSYS_NR_rt_tgsigqueueinfo (PSYS_NUMBER_BASE + 536)
#define PSYS_NR_recvmmsg (PSYS_NUMBER_BASE + 537)
#define PSYS_NR_sendmmsg (PSYS_NUMBER_BASE + 538)
#define PSYS_NR_process_vm_readv (PSYS_NUMBER_BASE + 539)
#define PSYS_NR_process_vm_writev (PSYS_NUMBER_BASE + 540)
#define PSYS_NR_setsockopt (PSYS_NUMBER_BASE + 541)
#define PSYS_NR_getsockopt (PSYS_NUMBER_BASE + 542)
#define PSYS_NR_io_setup (PSYS_NUMBER_BASE + 543)
#define PSYS_NR_io_submit (PSYS_NUMBER_BASE + 544)
#define PSYS_NR_execveat (PSYS_NUMBER_BASE + 545)
#define PSYS_NR_preadv2 (PSYS_NUMBER_BASE + 546)
#define PSYS_NR_pwritev2 (PSYS_NUMBER_BASE + 547)

#endif
