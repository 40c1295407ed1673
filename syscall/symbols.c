/* SPDX-License-Identifier: MIT */
/* Defines a symbol for each wrapper of syscall.h, for callers that cannot use inline functions, and
 * psys_syscall(). */
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they are the definitions */

#include <syscall/base.h>
#pragma push_macro("PSYS_INLINE")
#ifndef PSYS_NO_SYMBOLS
#undef PSYS_INLINE
#define PSYS_INLINE PSYS_API PSYS_UNINSTRUMENTED
#endif

#include <syscall/syscall.h>
#pragma pop_macro("PSYS_INLINE") /* other sources may follow in the same unit */

PSYS_UNINSTRUMENTED psys_word psys_syscall(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
					   psys_word a4, psys_word a5, psys_word a6)
{
	return psys_call6(nr, a1, a2, a3, a4, a5, a6);
}
