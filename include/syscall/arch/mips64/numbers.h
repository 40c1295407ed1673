/* SPDX-License-Identifier: MIT */
/*
 * mips64 n64: system call numbers.
 * Linux 7.2, arch/mips/kernel/syscalls/syscall_n64.tbl, each with the
 * base 5000 (arch/mips/include/uapi/asm/unistd.h)
 */
#ifndef PSYS_MIPS64_NUMBERS_H
#define PSYS_MIPS64_NUMBERS_H

#define PSYS_NUMBER_BASE 5000
#include "../shared/mips/numbers.h"

#define PSYS_NR_nanosleep 5034
#define PSYS_NR_fcntl 5070
#define PSYS_NR_rt_sigtimedwait 5126
#define PSYS_NR_sched_rr_get_interval 5145
#define PSYS_NR_adjtimex 5154
#define PSYS_NR_futex 5194
#define PSYS_NR_io_getevents 5202
#define PSYS_NR_set_tid_address 5212
#define PSYS_NR_restart_syscall 5213
#define PSYS_NR_semtimedop 5214
#define PSYS_NR_fadvise64 5215
#define PSYS_NR_timer_create 5216
#define PSYS_NR_timer_settime 5217
#define PSYS_NR_timer_gettime 5218
#define PSYS_NR_timer_getoverrun 5219
#define PSYS_NR_timer_delete 5220
#define PSYS_NR_clock_settime 5221
#define PSYS_NR_clock_gettime 5222
#define PSYS_NR_clock_getres 5223
#define PSYS_NR_clock_nanosleep 5224
#define PSYS_NR_tgkill 5225
#define PSYS_NR_utimes 5226
#define PSYS_NR_mbind 5227
#define PSYS_NR_get_mempolicy 5228
#define PSYS_NR_set_mempolicy 5229
#define PSYS_NR_mq_open 5230
#define PSYS_NR_mq_unlink 5231
#define PSYS_NR_mq_timedsend 5232
#define PSYS_NR_mq_timedreceive 5233
#define PSYS_NR_mq_notify 5234
#define PSYS_NR_mq_getsetattr 5235
#define PSYS_NR_vserver 5236
#define PSYS_NR_waitid 5237
#define PSYS_NR_add_key 5239
#define PSYS_NR_request_key 5240
#define PSYS_NR_keyctl 5241
#define PSYS_NR_set_thread_area 5242
#define PSYS_NR_inotify_init 5243
#define PSYS_NR_inotify_add_watch 5244
#define PSYS_NR_inotify_rm_watch 5245
#define PSYS_NR_migrate_pages 5246
#define PSYS_NR_openat 5247
#define PSYS_NR_mkdirat 5248
#define PSYS_NR_mknodat 5249
#define PSYS_NR_fchownat 5250
#define PSYS_NR_futimesat 5251
#define PSYS_NR_newfstatat 5252
#define PSYS_NR_unlinkat 5253
#define PSYS_NR_renameat 5254
#define PSYS_NR_linkat 5255
#define PSYS_NR_symlinkat 5256
#define PSYS_NR_readlinkat 5257
#define PSYS_NR_fchmodat 5258
#define PSYS_NR_faccessat 5259
#define PSYS_NR_pselect6 5260
#define PSYS_NR_ppoll 5261
#define PSYS_NR_unshare 5262
#define PSYS_NR_splice 5263
#define PSYS_NR_sync_file_range 5264
#define PSYS_NR_tee 5265
#define PSYS_NR_vmsplice 5266
#define PSYS_NR_move_pages 5267
#define PSYS_NR_set_robust_list 5268
#define PSYS_NR_get_robust_list 5269
#define PSYS_NR_kexec_load 5270
#define PSYS_NR_getcpu 5271
#define PSYS_NR_epoll_pwait 5272
#define PSYS_NR_ioprio_set 5273
#define PSYS_NR_ioprio_get 5274
#define PSYS_NR_utimensat 5275
#define PSYS_NR_signalfd 5276
#define PSYS_NR_timerfd 5277
#define PSYS_NR_eventfd 5278
#define PSYS_NR_fallocate 5279
#define PSYS_NR_timerfd_create 5280
#define PSYS_NR_timerfd_gettime 5281
#define PSYS_NR_timerfd_settime 5282
#define PSYS_NR_signalfd4 5283
#define PSYS_NR_eventfd2 5284
#define PSYS_NR_epoll_create1 5285
#define PSYS_NR_dup3 5286
#define PSYS_NR_pipe2 5287
#define PSYS_NR_inotify_init1 5288
#define PSYS_NR_preadv 5289
#define PSYS_NR_pwritev 5290
#define PSYS_NR_rt_tgsigqueueinfo 5291
#define PSYS_NR_perf_event_open 5292
#define PSYS_NR_accept4 5293
#define PSYS_NR_recvmmsg 5294
#define PSYS_NR_fanotify_init 5295
#define PSYS_NR_fanotify_mark 5296
#define PSYS_NR_prlimit64 5297
#define PSYS_NR_name_to_handle_at 5298
#define PSYS_NR_open_by_handle_at 5299
#define PSYS_NR_clock_adjtime 5300
#define PSYS_NR_syncfs 5301
#define PSYS_NR_sendmmsg 5302
#define PSYS_NR_setns 5303
#define PSYS_NR_process_vm_readv 5304
#define PSYS_NR_process_vm_writev 5305
#define PSYS_NR_kcmp 5306
#define PSYS_NR_finit_module 5307
#define PSYS_NR_getdents64 5308
#define PSYS_NR_sched_setattr 5309
#define PSYS_NR_sched_getattr 5310
#define PSYS_NR_renameat2 5311
#define PSYS_NR_seccomp 5312
#define PSYS_NR_getrandom 5313
#define PSYS_NR_memfd_create 5314
#define PSYS_NR_bpf 5315
#define PSYS_NR_execveat 5316
#define PSYS_NR_userfaultfd 5317
#define PSYS_NR_membarrier 5318
#define PSYS_NR_mlock2 5319
#define PSYS_NR_copy_file_range 5320
#define PSYS_NR_preadv2 5321
#define PSYS_NR_pwritev2 5322
#define PSYS_NR_pkey_mprotect 5323
#define PSYS_NR_pkey_alloc 5324
#define PSYS_NR_pkey_free 5325
#define PSYS_NR_statx 5326
#define PSYS_NR_rseq 5327
#define PSYS_NR_io_pgetevents 5328

#endif
