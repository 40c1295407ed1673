/* SPDX-License-Identifier: MIT */
/*
 * m68k: system call numbers.
 * Linux 7.2, arch/m68k/kernel/syscalls/syscall.tbl
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_M68K_NUMBERS_H
#define PSYS_M68K_NUMBERS_H

#include "../shared/nonarm.h"
#include "../shared/classic32.h"
#include "../shared/m68k.h"

#define PSYS_NR_waitpid 7
#define PSYS_NR_time 13
#define PSYS_NR_chown16 16
#define PSYS_NR_oldstat 18
#define PSYS_NR_stime 25
#define PSYS_NR_oldfstat 28
#define PSYS_NR_sgetmask 68
#define PSYS_NR_ssetmask 69
#define PSYS_NR_getrlimit 76
#define PSYS_NR_select 82
#define PSYS_NR_oldlstat 84
#define PSYS_NR_cacheflush 123
#define PSYS_NR_getpagesize 166
#define PSYS_NR_lchown16 182
#define PSYS_NR_chown 198
#define PSYS_NR_lchown 212
#define PSYS_NR_gettid 221
#define PSYS_NR_tkill 222
#define PSYS_NR_setxattr 223
#define PSYS_NR_lsetxattr 224
#define PSYS_NR_fsetxattr 225
#define PSYS_NR_getxattr 226
#define PSYS_NR_lgetxattr 227
#define PSYS_NR_fgetxattr 228
#define PSYS_NR_listxattr 229
#define PSYS_NR_llistxattr 230
#define PSYS_NR_flistxattr 231
#define PSYS_NR_removexattr 232
#define PSYS_NR_lremovexattr 233
#define PSYS_NR_fremovexattr 234
#define PSYS_NR_futex_time32 235
#define PSYS_NR_sendfile64 236
#define PSYS_NR_mincore 237
#define PSYS_NR_madvise 238
#define PSYS_NR_fcntl 239
#define PSYS_NR_readahead 240
#define PSYS_NR_io_setup 241
#define PSYS_NR_io_destroy 242
#define PSYS_NR_io_getevents_time32 243
#define PSYS_NR_io_submit 244
#define PSYS_NR_io_cancel 245
#define PSYS_NR_fadvise64 246
#define PSYS_NR_exit_group 247
#define PSYS_NR_lookup_dcookie 248
#define PSYS_NR_remap_file_pages 252
#define PSYS_NR_set_tid_address 253
#define PSYS_NR_timer_settime_time32 255
#define PSYS_NR_timer_gettime_time32 256
#define PSYS_NR_clock_settime_time32 259
#define PSYS_NR_clock_gettime_time32 260
#define PSYS_NR_clock_getres_time32 261
#define PSYS_NR_clock_nanosleep_time32 262
#define PSYS_NR_statfs64 263
#define PSYS_NR_fstatfs64 264
#define PSYS_NR_tgkill 265
#define PSYS_NR_utimes 266
#define PSYS_NR_fadvise64_64 267
#define PSYS_NR_mq_timedsend_time32 273
#define PSYS_NR_mq_timedreceive_time32 274
#define PSYS_NR_waitid 277
#define PSYS_NR_add_key 279
#define PSYS_NR_request_key 280
#define PSYS_NR_keyctl 281
#define PSYS_NR_fstatat64 293
#define PSYS_NR_pselect6_time32 301
#define PSYS_NR_ppoll_time32 302
#define PSYS_NR_sched_setaffinity 311
#define PSYS_NR_sched_getaffinity 312
#define PSYS_NR_kexec_load 313
#define PSYS_NR_getcpu 314
#define PSYS_NR_epoll_pwait 315
#define PSYS_NR_utimensat_time32 316
#define PSYS_NR_signalfd 317
#define PSYS_NR_timerfd_create 318
#define PSYS_NR_eventfd 319
#define PSYS_NR_fallocate 320
#define PSYS_NR_timerfd_settime_time32 321
#define PSYS_NR_timerfd_gettime_time32 322
#define PSYS_NR_signalfd4 323
#define PSYS_NR_eventfd2 324
#define PSYS_NR_epoll_create1 325
#define PSYS_NR_pipe2 327
#define PSYS_NR_inotify_init1 328
#define PSYS_NR_preadv 329
#define PSYS_NR_pwritev 330
#define PSYS_NR_rt_tgsigqueueinfo 331
#define PSYS_NR_perf_event_open 332
#define PSYS_NR_get_thread_area 333
#define PSYS_NR_set_thread_area 334
#define PSYS_NR_atomic_cmpxchg_32 335
#define PSYS_NR_atomic_barrier 336
#define PSYS_NR_fanotify_init 337
#define PSYS_NR_fanotify_mark 338
#define PSYS_NR_prlimit64 339
#define PSYS_NR_name_to_handle_at 340
#define PSYS_NR_open_by_handle_at 341
#define PSYS_NR_clock_adjtime_time32 342
#define PSYS_NR_syncfs 343
#define PSYS_NR_setns 344
#define PSYS_NR_process_vm_readv 345
#define PSYS_NR_process_vm_writev 346
#define PSYS_NR_kcmp 347
#define PSYS_NR_finit_module 348
#define PSYS_NR_sched_setattr 349
#define PSYS_NR_sched_getattr 350
#define PSYS_NR_renameat2 351
#define PSYS_NR_getrandom 352
#define PSYS_NR_memfd_create 353
#define PSYS_NR_bpf 354
#define PSYS_NR_execveat 355
#define PSYS_NR_socket 356
#define PSYS_NR_socketpair 357
#define PSYS_NR_bind 358
#define PSYS_NR_connect 359
#define PSYS_NR_listen 360
#define PSYS_NR_accept4 361
#define PSYS_NR_getsockopt 362
#define PSYS_NR_setsockopt 363
#define PSYS_NR_getsockname 364
#define PSYS_NR_getpeername 365
#define PSYS_NR_sendto 366
#define PSYS_NR_sendmsg 367
#define PSYS_NR_recvfrom 368
#define PSYS_NR_recvmsg 369
#define PSYS_NR_shutdown 370
#define PSYS_NR_recvmmsg_time32 371
#define PSYS_NR_sendmmsg 372
#define PSYS_NR_userfaultfd 373
#define PSYS_NR_membarrier 374
#define PSYS_NR_mlock2 375
#define PSYS_NR_copy_file_range 376
#define PSYS_NR_preadv2 377
#define PSYS_NR_pwritev2 378
#define PSYS_NR_seccomp 380
#define PSYS_NR_pkey_mprotect 381
#define PSYS_NR_pkey_alloc 382
#define PSYS_NR_pkey_free 383
#define PSYS_NR_rseq 384

#endif
