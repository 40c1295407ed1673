/* SPDX-License-Identifier: MIT */
/*
 * i386: system call numbers.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_I386_NUMBERS_H
#define PSYS_I386_NUMBERS_H

#include "../shared/i386/numbers.h"

#define PSYS_NR_break 17
#define PSYS_NR_stty 31
#define PSYS_NR_gtty 32
#define PSYS_NR_ftime 35
#define PSYS_NR_prof 44
#define PSYS_NR_lock 53
#define PSYS_NR_mpx 56
#define PSYS_NR_ulimit 58
#define PSYS_NR_oldolduname 59
#define PSYS_NR_select 82
#define PSYS_NR_profil 98
#define PSYS_NR_ioperm 101
#define PSYS_NR_iopl 110
#define PSYS_NR_idle 112
#define PSYS_NR_vm86old 113
#define PSYS_NR_modify_ldt 123
#define PSYS_NR_create_module 127
#define PSYS_NR_get_kernel_syms 130
#define PSYS_NR_afs_syscall 137
#define PSYS_NR_vm86 166
#define PSYS_NR_query_module 167
#define PSYS_NR_getpmsg 188
#define PSYS_NR_putpmsg 189
#define PSYS_NR_set_thread_area 243
#define PSYS_NR_get_thread_area 244
#define PSYS_NR_vserver 273
#define PSYS_NR_add_key 286
#define PSYS_NR_request_key 287
#define PSYS_NR_keyctl 288
#define PSYS_NR_ioprio_set 289
#define PSYS_NR_ioprio_get 290
#define PSYS_NR_inotify_init 291
#define PSYS_NR_inotify_add_watch 292
#define PSYS_NR_inotify_rm_watch 293
#define PSYS_NR_recvmmsg_time32 337
#define PSYS_NR_fanotify_init 338
#define PSYS_NR_fanotify_mark 339
#define PSYS_NR_prlimit64 340
#define PSYS_NR_name_to_handle_at 341
#define PSYS_NR_open_by_handle_at 342
#define PSYS_NR_clock_adjtime_time32 343
#define PSYS_NR_syncfs 344
#define PSYS_NR_sendmmsg 345
#define PSYS_NR_setns 346
#define PSYS_NR_process_vm_readv 347
#define PSYS_NR_process_vm_writev 348
#define PSYS_NR_kcmp 349
#define PSYS_NR_finit_module 350
#define PSYS_NR_sched_setattr 351
#define PSYS_NR_sched_getattr 352
#define PSYS_NR_renameat2 353
#define PSYS_NR_seccomp 354
#define PSYS_NR_getrandom 355
#define PSYS_NR_memfd_create 356
#define PSYS_NR_bpf 357
#define PSYS_NR_execveat 358
#define PSYS_NR_socket 359
#define PSYS_NR_socketpair 360
#define PSYS_NR_bind 361
#define PSYS_NR_connect 362
#define PSYS_NR_listen 363
#define PSYS_NR_accept4 364
#define PSYS_NR_getsockopt 365
#define PSYS_NR_setsockopt 366
#define PSYS_NR_getsockname 367
#define PSYS_NR_getpeername 368
#define PSYS_NR_sendto 369
#define PSYS_NR_sendmsg 370
#define PSYS_NR_recvfrom 371
#define PSYS_NR_recvmsg 372
#define PSYS_NR_shutdown 373
#define PSYS_NR_userfaultfd 374
#define PSYS_NR_membarrier 375
#define PSYS_NR_mlock2 376
#define PSYS_NR_copy_file_range 377
#define PSYS_NR_preadv2 378
#define PSYS_NR_pwritev2 379
#define PSYS_NR_pkey_mprotect 380
#define PSYS_NR_pkey_alloc 381
#define PSYS_NR_pkey_free 382
#define PSYS_NR_arch_prctl 384
#define PSYS_NR_io_pgetevents_time32 385
#define PSYS_NR_rseq 386
#define PSYS_NR_memfd_secret 447

#endif
