/* SPDX-License-Identifier: MIT */
// Finds the libc's own functions, which the drop-ins replace under the same names.
#ifndef BENCH_COMPAT_LIBCS_H
#define BENCH_COMPAT_LIBCS_H

#include <cstdlib>

#include <dlfcn.h>

#include <popen_noshell.h>

template <typename Function> static Function *libcs(const char *name, Function *)
{
	static void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = dlsym(library, name);
	if (!found)
		abort();
	return reinterpret_cast<Function *>(found);
}
#define LIBC(function) libcs(#function, function)

// popen_noshell.c is built a second time, on the libc's posix_spawnp: see bench.mk.
extern "C" decltype(popen_noshell) over_libcs_popen_noshell;
extern "C" decltype(popen_noshell_compat) over_libcs_popen_noshell_compat;
extern "C" decltype(popen_noshell_set_fork_mode) over_libcs_popen_noshell_set_fork_mode;

#endif
