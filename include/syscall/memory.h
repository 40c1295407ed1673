/* SPDX-License-Identifier: MIT */
/*
 * Memory mappings.
 * Source: include/uapi/asm-generic/mman-common.h, include/uapi/linux/mman.h
 */
#ifndef PSYS_MEMORY_H
#define PSYS_MEMORY_H

#include <syscall/arch.h>

#define PSYS_PROT_NONE 0
#define PSYS_PROT_READ 1
#define PSYS_PROT_WRITE 2
#define PSYS_PROT_EXEC 4

#define PSYS_MAP_SHARED 0x01
#define PSYS_MAP_PRIVATE 0x02
#define PSYS_MAP_FIXED 0x10
#ifndef PSYS_MAP_ANONYMOUS
#define PSYS_MAP_ANONYMOUS 0x20
#endif
#ifndef PSYS_MAP_NORESERVE
#define PSYS_MAP_NORESERVE 0x4000
#endif
#ifndef PSYS_MAP_STACK
#define PSYS_MAP_STACK 0x20000
#define PSYS_MAP_POPULATE 0x8000
#endif
#define PSYS_MAP_FIXED_NOREPLACE 0x100000

#define PSYS_MREMAP_MAYMOVE 1
#define PSYS_MREMAP_FIXED 2

#define PSYS_MADV_DONTNEED 4
#define PSYS_MADV_FREE 8
#define PSYS_MADV_DONTFORK 10
#define PSYS_MADV_HUGEPAGE 14
#define PSYS_MADV_WIPEONFORK 18

#define PSYS_MS_ASYNC 1
#define PSYS_MS_INVALIDATE 2
#define PSYS_MS_SYNC 4

#ifndef PSYS_MCL_CURRENT
#define PSYS_MCL_CURRENT 1
#define PSYS_MCL_FUTURE 2
#define PSYS_MCL_ONFAULT 4
#endif
#define PSYS_MLOCK_ONFAULT 1

/* mbind, set_mempolicy, get_mempolicy */
#define PSYS_MPOL_DEFAULT 0
#define PSYS_MPOL_PREFERRED 1
#define PSYS_MPOL_BIND 2
#define PSYS_MPOL_INTERLEAVE 3
#define PSYS_MPOL_LOCAL 4
#define PSYS_MPOL_PREFERRED_MANY 5      /* 5.15 */
#define PSYS_MPOL_WEIGHTED_INTERLEAVE 6 /* 6.9 */
#define PSYS_MPOL_F_NUMA_BALANCING (1 << 13)
#define PSYS_MPOL_F_RELATIVE_NODES (1 << 14)
#define PSYS_MPOL_F_STATIC_NODES (1 << 15)

/* pkey_alloc: access rights */
#define PSYS_PKEY_DISABLE_ACCESS 1
#define PSYS_PKEY_DISABLE_WRITE 2

/* membarrier */
#define PSYS_MEMBARRIER_CMD_QUERY 0
#define PSYS_MEMBARRIER_CMD_GLOBAL 1

#endif
