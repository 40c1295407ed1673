/*
 * A symbol for every wrapper of syscall.h, for callers that cannot use inline
 * functions, and the raw call.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they are the definitions */

#include <syscall/base.h>
#undef PSYS_INLINE
#define PSYS_INLINE PSYS_API PSYS_UNINSTRUMENTED

#include <syscall/syscall.h>

PSYS_UNINSTRUMENTED long pure_syscall(long nr, long a1, long a2, long a3, long a4, long a5,
				      long a6)
{
	return psys_call6(nr, a1, a2, a3, a4, a5, a6);
}
