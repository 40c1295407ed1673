/* SPDX-License-Identifier: MIT */
/*
 * More system call numbers that are the same in the tables of m68k and s390x.
 * Linux 7.2, arch/m68k/kernel/syscalls/syscall.tbl, arch/s390/kernel/syscalls/syscall.tbl
 */
#ifndef PSYS_M68K_SHARED_H
#define PSYS_M68K_SHARED_H

#define PSYS_NR_create_module 127
#define PSYS_NR_get_kernel_syms 130
#define PSYS_NR_query_module 167
#define PSYS_NR_getpmsg 188
#define PSYS_NR_putpmsg 189
#define PSYS_NR_pivot_root 217
#define PSYS_NR_getdents64 220
#define PSYS_NR_epoll_create 249
#define PSYS_NR_epoll_ctl 250
#define PSYS_NR_epoll_wait 251
#define PSYS_NR_timer_create 254
#define PSYS_NR_timer_getoverrun 257
#define PSYS_NR_timer_delete 258
#define PSYS_NR_mbind 268
#define PSYS_NR_get_mempolicy 269
#define PSYS_NR_set_mempolicy 270
#define PSYS_NR_mq_open 271
#define PSYS_NR_mq_unlink 272
#define PSYS_NR_mq_notify 275
#define PSYS_NR_mq_getsetattr 276
#define PSYS_NR_ioprio_set 282
#define PSYS_NR_ioprio_get 283
#define PSYS_NR_inotify_init 284
#define PSYS_NR_inotify_add_watch 285
#define PSYS_NR_inotify_rm_watch 286
#define PSYS_NR_migrate_pages 287
#define PSYS_NR_openat 288
#define PSYS_NR_mkdirat 289
#define PSYS_NR_mknodat 290
#define PSYS_NR_fchownat 291
#define PSYS_NR_futimesat 292
#define PSYS_NR_unlinkat 294
#define PSYS_NR_renameat 295
#define PSYS_NR_linkat 296
#define PSYS_NR_symlinkat 297
#define PSYS_NR_readlinkat 298
#define PSYS_NR_fchmodat 299
#define PSYS_NR_faccessat 300
#define PSYS_NR_unshare 303
#define PSYS_NR_set_robust_list 304
#define PSYS_NR_get_robust_list 305
#define PSYS_NR_splice 306
#define PSYS_NR_sync_file_range 307
#define PSYS_NR_tee 308
#define PSYS_NR_vmsplice 309
#define PSYS_NR_move_pages 310
#define PSYS_NR_dup3 326
#define PSYS_NR_statx 379

#endif
