/* SPDX-License-Identifier: MIT */
/*
 * Before main(): maps the counters of a program that is built for coverage onto the file COUNTERS.
 * What any process of it counts is there at once, however the process ends, and whether it shares
 * memory, is a copy, or executes another program next.
 *
 * The compiler adds __llvm_profile_counter_bias to the address of each counter
 * (-runtime-counter-relocation). Without the file nothing is recorded.
 */
#include <syscall/syscall.h>

/* Far from where the kernel places mappings: those of a test merge as they would without this one. */
#define PLACE 0x200000000000

extern char __start___llvm_prf_cnts[], __stop___llvm_prf_cnts[];
extern intptr_t __llvm_profile_counter_bias;

int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp)
{
	const size_t size = (size_t)(__stop___llvm_prf_cnts - __start___llvm_prf_cnts);
	const int fd = psys_open(COUNTERS, PSYS_O_RDWR | PSYS_O_CLOEXEC, 0);

	if (fd >= 0 && psys_ftruncate(fd, (int64_t)size) >= 0) {
		char *counters = psys_mmap((void *)PLACE, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
					   PSYS_MAP_SHARED, fd, 0);

		if (!PSYS_IS_ERROR(counters))
			__llvm_profile_counter_bias =
				(intptr_t)counters - (intptr_t)__start___llvm_prf_cnts;
	}
	if (fd >= 0)
		psys_close(fd);
	return __real_main(argc, argv, envp);
}
