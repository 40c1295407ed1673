/* SPDX-License-Identifier: MIT */
/*
 * sh4: system call numbers.
 * Linux 7.2, arch/sh/kernel/syscalls/syscall.tbl, where 435 is reserved for clone3
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_SH4_NUMBERS_H
#define PSYS_SH4_NUMBERS_H

#include "../shared/i386/numbers.h"

#define PSYS_NR_cacheflush 123
#define PSYS_NR_add_key 285
#define PSYS_NR_request_key 286
#define PSYS_NR_keyctl 287
#define PSYS_NR_ioprio_set 288
#define PSYS_NR_ioprio_get 289
#define PSYS_NR_inotify_init 290
#define PSYS_NR_inotify_add_watch 291
#define PSYS_NR_inotify_rm_watch 292
#define PSYS_NR_fanotify_init 337
#define PSYS_NR_fanotify_mark 338
#define PSYS_NR_prlimit64 339
#define PSYS_NR_socket 340
#define PSYS_NR_bind 341
#define PSYS_NR_connect 342
#define PSYS_NR_listen 343
#define PSYS_NR_accept 344
#define PSYS_NR_getsockname 345
#define PSYS_NR_getpeername 346
#define PSYS_NR_socketpair 347
#define PSYS_NR_send 348
#define PSYS_NR_sendto 349
#define PSYS_NR_recv 350
#define PSYS_NR_recvfrom 351
#define PSYS_NR_shutdown 352
#define PSYS_NR_setsockopt 353
#define PSYS_NR_getsockopt 354
#define PSYS_NR_sendmsg 355
#define PSYS_NR_recvmsg 356
#define PSYS_NR_recvmmsg_time32 357
#define PSYS_NR_accept4 358
#define PSYS_NR_name_to_handle_at 359
#define PSYS_NR_open_by_handle_at 360
#define PSYS_NR_clock_adjtime_time32 361
#define PSYS_NR_syncfs 362
#define PSYS_NR_sendmmsg 363
#define PSYS_NR_setns 364
#define PSYS_NR_process_vm_readv 365
#define PSYS_NR_process_vm_writev 366
#define PSYS_NR_kcmp 367
#define PSYS_NR_finit_module 368
#define PSYS_NR_sched_getattr 369
#define PSYS_NR_sched_setattr 370
#define PSYS_NR_renameat2 371
#define PSYS_NR_seccomp 372
#define PSYS_NR_getrandom 373
#define PSYS_NR_memfd_create 374
#define PSYS_NR_bpf 375
#define PSYS_NR_execveat 376
#define PSYS_NR_userfaultfd 377
#define PSYS_NR_membarrier 378
#define PSYS_NR_mlock2 379
#define PSYS_NR_copy_file_range 380
#define PSYS_NR_preadv2 381
#define PSYS_NR_pwritev2 382
#define PSYS_NR_pkey_mprotect 384
#define PSYS_NR_pkey_alloc 385
#define PSYS_NR_pkey_free 386
#define PSYS_NR_rseq 387
#define PSYS_NR_sync_file_range2 388

#endif
