/* SPDX-License-Identifier: MIT */
/*
 * Before main(), __wrap_main() maps the file COUNTERS over the counters of a program built for
 * coverage, and over the program's bitmaps of conditions (counters.ld). The file has at once what
 * any process of the program counts, however the process ends, and whether the process shares
 * memory, is a copy, or executes another program next.
 *
 * Without the file nothing is recorded.
 */
#include <syscall/syscall.h>

extern char __start___llvm_prf_cnts[], __stop___llvm_prf_bits[];

int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp)
{
	const size_t size = (size_t)(__stop___llvm_prf_bits - __start___llvm_prf_cnts);
	const int fd = psys_open(COUNTERS, PSYS_O_RDWR | PSYS_O_CLOEXEC, 0);

	if (fd >= 0 && psys_ftruncate(fd, (int64_t)size) >= 0)
		psys_mmap(__start___llvm_prf_cnts, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			  PSYS_MAP_SHARED | PSYS_MAP_FIXED, fd, 0);
	if (fd >= 0)
		psys_close(fd);
	return __real_main(argc, argv, envp);
}
