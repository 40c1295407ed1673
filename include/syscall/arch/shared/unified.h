/* SPDX-License-Identifier: MIT */
/*
 * The system call numbers since Linux 5.1, which are the same on all architectures, except for
 * PSYS_NUMBER_BASE, which an ABI may add to every number. A new system call needs one line here.
 * (447, memfd_secret, is in the files of the architectures that have it.)
 * Linux 7.3-rc7, scripts/syscall.tbl, and the same lines of each architecture's table
 */
#ifndef PSYS_UNIFIED_H
#define PSYS_UNIFIED_H

#ifndef PSYS_NUMBER_BASE
#define PSYS_NUMBER_BASE 0
#endif

#define PSYS_NR_pidfd_send_signal (PSYS_NUMBER_BASE + 424)
#define PSYS_NR_io_uring_setup (PSYS_NUMBER_BASE + 425)
#define PSYS_NR_io_uring_enter (PSYS_NUMBER_BASE + 426)
#define PSYS_NR_io_uring_register (PSYS_NUMBER_BASE + 427)
#define PSYS_NR_open_tree (PSYS_NUMBER_BASE + 428)
#define PSYS_NR_move_mount (PSYS_NUMBER_BASE + 429)
#define PSYS_NR_fsopen (PSYS_NUMBER_BASE + 430)
#define PSYS_NR_fsconfig (PSYS_NUMBER_BASE + 431)
#define PSYS_NR_fsmount (PSYS_NUMBER_BASE + 432)
#define PSYS_NR_fspick (PSYS_NUMBER_BASE + 433)
#define PSYS_NR_pidfd_open (PSYS_NUMBER_BASE + 434)
#define PSYS_NR_clone3 (PSYS_NUMBER_BASE + 435)
#define PSYS_NR_close_range (PSYS_NUMBER_BASE + 436)
#define PSYS_NR_openat2 (PSYS_NUMBER_BASE + 437)
#define PSYS_NR_pidfd_getfd (PSYS_NUMBER_BASE + 438)
#define PSYS_NR_faccessat2 (PSYS_NUMBER_BASE + 439)
#define PSYS_NR_process_madvise (PSYS_NUMBER_BASE + 440)
#define PSYS_NR_epoll_pwait2 (PSYS_NUMBER_BASE + 441)
#define PSYS_NR_mount_setattr (PSYS_NUMBER_BASE + 442)
#define PSYS_NR_quotactl_fd (PSYS_NUMBER_BASE + 443)
#define PSYS_NR_landlock_create_ruleset (PSYS_NUMBER_BASE + 444)
#define PSYS_NR_landlock_add_rule (PSYS_NUMBER_BASE + 445)
#define PSYS_NR_landlock_restrict_self (PSYS_NUMBER_BASE + 446)
#define PSYS_NR_process_mrelease (PSYS_NUMBER_BASE + 448)
#define PSYS_NR_futex_waitv (PSYS_NUMBER_BASE + 449)
#define PSYS_NR_set_mempolicy_home_node (PSYS_NUMBER_BASE + 450)
#define PSYS_NR_cachestat (PSYS_NUMBER_BASE + 451)
#define PSYS_NR_fchmodat2 (PSYS_NUMBER_BASE + 452)
#define PSYS_NR_map_shadow_stack (PSYS_NUMBER_BASE + 453)
#define PSYS_NR_futex_wake (PSYS_NUMBER_BASE + 454)
#define PSYS_NR_futex_wait (PSYS_NUMBER_BASE + 455)
#define PSYS_NR_futex_requeue (PSYS_NUMBER_BASE + 456)
#define PSYS_NR_statmount (PSYS_NUMBER_BASE + 457)
#define PSYS_NR_listmount (PSYS_NUMBER_BASE + 458)
#define PSYS_NR_lsm_get_self_attr (PSYS_NUMBER_BASE + 459)
#define PSYS_NR_lsm_set_self_attr (PSYS_NUMBER_BASE + 460)
#define PSYS_NR_lsm_list_modules (PSYS_NUMBER_BASE + 461)
#define PSYS_NR_mseal (PSYS_NUMBER_BASE + 462)
#define PSYS_NR_setxattrat (PSYS_NUMBER_BASE + 463)
#define PSYS_NR_getxattrat (PSYS_NUMBER_BASE + 464)
#define PSYS_NR_listxattrat (PSYS_NUMBER_BASE + 465)
#define PSYS_NR_removexattrat (PSYS_NUMBER_BASE + 466)
#define PSYS_NR_open_tree_attr (PSYS_NUMBER_BASE + 467)
#define PSYS_NR_file_getattr (PSYS_NUMBER_BASE + 468)
#define PSYS_NR_file_setattr (PSYS_NUMBER_BASE + 469)
#define PSYS_NR_listns (PSYS_NUMBER_BASE + 470)
#define PSYS_NR_rseq_slice_yield (PSYS_NUMBER_BASE + 471)
#define PSYS_NR_fchroot (PSYS_NUMBER_BASE + 472)

#endif
