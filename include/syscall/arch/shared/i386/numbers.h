/* SPDX-License-Identifier: MIT */
/*
 * i386, and sh4, whose table is like it: the system call numbers of both.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl, arch/sh/kernel/syscalls/syscall.tbl
 */
#ifndef PSYS_I386_SHARED_NUMBERS_H
#define PSYS_I386_SHARED_NUMBERS_H

#include "../nonarm.h"
#include "../classic32.h"

#define PSYS_NR_waitpid 7
#define PSYS_NR_time 13
#define PSYS_NR_lchown16 16
#define PSYS_NR_oldstat 18
#define PSYS_NR_stime 25
#define PSYS_NR_oldfstat 28
#define PSYS_NR_sgetmask 68
#define PSYS_NR_ssetmask 69
#define PSYS_NR_getrlimit 76
#define PSYS_NR_oldlstat 84
#define PSYS_NR_olduname 109
#define PSYS_NR_chown16 182
#define PSYS_NR_lchown 198
#define PSYS_NR_chown 212
#define PSYS_NR_pivot_root 217
#define PSYS_NR_mincore 218
#define PSYS_NR_madvise 219
#define PSYS_NR_getdents64 220
#define PSYS_NR_fcntl 221
#define PSYS_NR_gettid 224
#define PSYS_NR_readahead 225
#define PSYS_NR_setxattr 226
#define PSYS_NR_lsetxattr 227
#define PSYS_NR_fsetxattr 228
#define PSYS_NR_getxattr 229
#define PSYS_NR_lgetxattr 230
#define PSYS_NR_fgetxattr 231
#define PSYS_NR_listxattr 232
#define PSYS_NR_llistxattr 233
#define PSYS_NR_flistxattr 234
#define PSYS_NR_removexattr 235
#define PSYS_NR_lremovexattr 236
#define PSYS_NR_fremovexattr 237
#define PSYS_NR_tkill 238
#define PSYS_NR_sendfile64 239
#define PSYS_NR_futex_time32 240
#define PSYS_NR_sched_setaffinity 241
#define PSYS_NR_sched_getaffinity 242
#define PSYS_NR_io_setup 245
#define PSYS_NR_io_destroy 246
#define PSYS_NR_io_getevents_time32 247
#define PSYS_NR_io_submit 248
#define PSYS_NR_io_cancel 249
#define PSYS_NR_fadvise64 250
#define PSYS_NR_exit_group 252
#define PSYS_NR_lookup_dcookie 253
#define PSYS_NR_epoll_create 254
#define PSYS_NR_epoll_ctl 255
#define PSYS_NR_epoll_wait 256
#define PSYS_NR_remap_file_pages 257
#define PSYS_NR_set_tid_address 258
#define PSYS_NR_timer_create 259
#define PSYS_NR_timer_settime_time32 260
#define PSYS_NR_timer_gettime_time32 261
#define PSYS_NR_timer_getoverrun 262
#define PSYS_NR_timer_delete 263
#define PSYS_NR_clock_settime_time32 264
#define PSYS_NR_clock_gettime_time32 265
#define PSYS_NR_clock_getres_time32 266
#define PSYS_NR_clock_nanosleep_time32 267
#define PSYS_NR_statfs64 268
#define PSYS_NR_fstatfs64 269
#define PSYS_NR_tgkill 270
#define PSYS_NR_utimes 271
#define PSYS_NR_fadvise64_64 272
#define PSYS_NR_mbind 274
#define PSYS_NR_get_mempolicy 275
#define PSYS_NR_set_mempolicy 276
#define PSYS_NR_mq_open 277
#define PSYS_NR_mq_unlink 278
#define PSYS_NR_mq_timedsend_time32 279
#define PSYS_NR_mq_timedreceive_time32 280
#define PSYS_NR_mq_notify 281
#define PSYS_NR_mq_getsetattr 282
#define PSYS_NR_kexec_load 283
#define PSYS_NR_waitid 284
#define PSYS_NR_migrate_pages 294
#define PSYS_NR_openat 295
#define PSYS_NR_mkdirat 296
#define PSYS_NR_mknodat 297
#define PSYS_NR_fchownat 298
#define PSYS_NR_futimesat 299
#define PSYS_NR_fstatat64 300
#define PSYS_NR_unlinkat 301
#define PSYS_NR_renameat 302
#define PSYS_NR_linkat 303
#define PSYS_NR_symlinkat 304
#define PSYS_NR_readlinkat 305
#define PSYS_NR_fchmodat 306
#define PSYS_NR_faccessat 307
#define PSYS_NR_pselect6_time32 308
#define PSYS_NR_ppoll_time32 309
#define PSYS_NR_unshare 310
#define PSYS_NR_set_robust_list 311
#define PSYS_NR_get_robust_list 312
#define PSYS_NR_splice 313
#define PSYS_NR_sync_file_range 314
#define PSYS_NR_tee 315
#define PSYS_NR_vmsplice 316
#define PSYS_NR_move_pages 317
#define PSYS_NR_getcpu 318
#define PSYS_NR_epoll_pwait 319
#define PSYS_NR_utimensat_time32 320
#define PSYS_NR_signalfd 321
#define PSYS_NR_timerfd_create 322
#define PSYS_NR_eventfd 323
#define PSYS_NR_fallocate 324
#define PSYS_NR_timerfd_settime_time32 325
#define PSYS_NR_timerfd_gettime_time32 326
#define PSYS_NR_signalfd4 327
#define PSYS_NR_eventfd2 328
#define PSYS_NR_epoll_create1 329
#define PSYS_NR_dup3 330
#define PSYS_NR_pipe2 331
#define PSYS_NR_inotify_init1 332
#define PSYS_NR_preadv 333
#define PSYS_NR_pwritev 334
#define PSYS_NR_rt_tgsigqueueinfo 335
#define PSYS_NR_perf_event_open 336
#define PSYS_NR_statx 383

#endif
