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
#define PSYS_MADV_HUGEPAGE 14

#endif
