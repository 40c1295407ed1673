/* SPDX-License-Identifier: MIT */
/*
 * The machine as a whole.
 * Source: include/uapi/linux/{sysinfo,kexec}.h, arch/riscv/include/uapi/asm/hwprobe.h
 */
#ifndef PSYS_MACHINE_H
#define PSYS_MACHINE_H

#include <syscall/arch.h>

struct psys_sysinfo {
	psys_kernel_long uptime; /* seconds */
	psys_kernel_ulong loads[3];
	psys_kernel_ulong totalram; /* this and the following in units of mem_unit bytes */
	psys_kernel_ulong freeram;
	psys_kernel_ulong sharedram;
	psys_kernel_ulong bufferram;
	psys_kernel_ulong totalswap;
	psys_kernel_ulong freeswap;
	uint16_t procs;
	uint16_t pad;
	psys_kernel_ulong totalhigh;
	psys_kernel_ulong freehigh;
	uint32_t mem_unit;
#if PSYS_KERNEL_LONG_BITS == 32
	char _f[8];
#endif
};

struct psys_kexec_segment {
	const void *buf;
	size_t bufsz;
	const void *mem;
	size_t memsz;
};

#ifdef PSYS_NR_riscv_hwprobe
struct psys_riscv_hwprobe {
	int64_t key;
	uint64_t value;
};
#endif

#endif
