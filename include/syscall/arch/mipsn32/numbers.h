/* SPDX-License-Identifier: MIT */
/*
 * mips64 n32: system call numbers.
 * Linux 7.2, arch/mips/kernel/syscalls/syscall_n32.tbl, each with the
 * base 6000 (arch/mips/include/uapi/asm/unistd.h)
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_MIPSN32_NUMBERS_H
#define PSYS_MIPSN32_NUMBERS_H

#define PSYS_NUMBER_BASE 6000
#include "../shared/mips/numbers.h"
#include "../shared/time64.h"

#define PSYS_NR_nanosleep_time32 6034
#define PSYS_NR_fcntl32 6070
#define PSYS_NR_rt_sigtimedwait_time32 6126
#define PSYS_NR_sched_rr_get_interval_time32 6145
#define PSYS_NR_adjtimex_time32 6154
#define PSYS_NR_futex_time32 6194
#define PSYS_NR_io_getevents_time32 6202
#define PSYS_NR_fcntl 6212
#define PSYS_NR_set_tid_address 6213
#define PSYS_NR_restart_syscall 6214
#define PSYS_NR_semtimedop_time32 6215
#define PSYS_NR_fadvise64 6216
#define PSYS_NR_statfs64 6217
#define PSYS_NR_fstatfs64 6218
#define PSYS_NR_sendfile64 6219
#define PSYS_NR_timer_create 6220
#define PSYS_NR_timer_settime_time32 6221
#define PSYS_NR_timer_gettime_time32 6222
#define PSYS_NR_timer_getoverrun 6223
#define PSYS_NR_timer_delete 6224
#define PSYS_NR_clock_settime_time32 6225
#define PSYS_NR_clock_gettime_time32 6226
#define PSYS_NR_clock_getres_time32 6227
#define PSYS_NR_clock_nanosleep_time32 6228
#define PSYS_NR_tgkill 6229
#define PSYS_NR_utimes 6230
#define PSYS_NR_mbind 6231
#define PSYS_NR_get_mempolicy 6232
#define PSYS_NR_set_mempolicy 6233
#define PSYS_NR_mq_open 6234
#define PSYS_NR_mq_unlink 6235
#define PSYS_NR_mq_timedsend_time32 6236
#define PSYS_NR_mq_timedreceive_time32 6237
#define PSYS_NR_mq_notify 6238
#define PSYS_NR_mq_getsetattr 6239
#define PSYS_NR_vserver 6240
#define PSYS_NR_waitid 6241
#define PSYS_NR_add_key 6243
#define PSYS_NR_request_key 6244
#define PSYS_NR_keyctl 6245
#define PSYS_NR_set_thread_area 6246
#define PSYS_NR_inotify_init 6247
#define PSYS_NR_inotify_add_watch 6248
#define PSYS_NR_inotify_rm_watch 6249
#define PSYS_NR_migrate_pages 6250
#define PSYS_NR_openat 6251
#define PSYS_NR_mkdirat 6252
#define PSYS_NR_mknodat 6253
#define PSYS_NR_fchownat 6254
#define PSYS_NR_futimesat 6255
#define PSYS_NR_newfstatat 6256
#define PSYS_NR_unlinkat 6257
#define PSYS_NR_renameat 6258
#define PSYS_NR_linkat 6259
#define PSYS_NR_symlinkat 6260
#define PSYS_NR_readlinkat 6261
#define PSYS_NR_fchmodat 6262
#define PSYS_NR_faccessat 6263
#define PSYS_NR_pselect6_time32 6264
#define PSYS_NR_ppoll_time32 6265
#define PSYS_NR_unshare 6266
#define PSYS_NR_splice 6267
#define PSYS_NR_sync_file_range 6268
#define PSYS_NR_tee 6269
#define PSYS_NR_vmsplice 6270
#define PSYS_NR_move_pages 6271
#define PSYS_NR_set_robust_list 6272
#define PSYS_NR_get_robust_list 6273
#define PSYS_NR_kexec_load 6274
#define PSYS_NR_getcpu 6275
#define PSYS_NR_epoll_pwait 6276
#define PSYS_NR_ioprio_set 6277
#define PSYS_NR_ioprio_get 6278
#define PSYS_NR_utimensat_time32 6279
#define PSYS_NR_signalfd 6280
#define PSYS_NR_timerfd 6281
#define PSYS_NR_eventfd 6282
#define PSYS_NR_fallocate 6283
#define PSYS_NR_timerfd_create 6284
#define PSYS_NR_timerfd_gettime_time32 6285
#define PSYS_NR_timerfd_settime_time32 6286
#define PSYS_NR_signalfd4 6287
#define PSYS_NR_eventfd2 6288
#define PSYS_NR_epoll_create1 6289
#define PSYS_NR_dup3 6290
#define PSYS_NR_pipe2 6291
#define PSYS_NR_inotify_init1 6292
#define PSYS_NR_preadv 6293
#define PSYS_NR_pwritev 6294
#define PSYS_NR_rt_tgsigqueueinfo 6295
#define PSYS_NR_perf_event_open 6296
#define PSYS_NR_accept4 6297
#define PSYS_NR_recvmmsg_time32 6298
#define PSYS_NR_getdents64 6299
#define PSYS_NR_fanotify_init 6300
#define PSYS_NR_fanotify_mark 6301
#define PSYS_NR_prlimit64 6302
#define PSYS_NR_name_to_handle_at 6303
#define PSYS_NR_open_by_handle_at 6304
#define PSYS_NR_clock_adjtime_time32 6305
#define PSYS_NR_syncfs 6306
#define PSYS_NR_sendmmsg 6307
#define PSYS_NR_setns 6308
#define PSYS_NR_process_vm_readv 6309
#define PSYS_NR_process_vm_writev 6310
#define PSYS_NR_kcmp 6311
#define PSYS_NR_finit_module 6312
#define PSYS_NR_sched_setattr 6313
#define PSYS_NR_sched_getattr 6314
#define PSYS_NR_renameat2 6315
#define PSYS_NR_seccomp 6316
#define PSYS_NR_getrandom 6317
#define PSYS_NR_memfd_create 6318
#define PSYS_NR_bpf 6319
#define PSYS_NR_execveat 6320
#define PSYS_NR_userfaultfd 6321
#define PSYS_NR_membarrier 6322
#define PSYS_NR_mlock2 6323
#define PSYS_NR_copy_file_range 6324
#define PSYS_NR_preadv2 6325
#define PSYS_NR_pwritev2 6326
#define PSYS_NR_pkey_mprotect 6327
#define PSYS_NR_pkey_alloc 6328
#define PSYS_NR_pkey_free 6329
#define PSYS_NR_statx 6330
#define PSYS_NR_rseq 6331
#define PSYS_NR_io_pgetevents_time32 6332

#endif
