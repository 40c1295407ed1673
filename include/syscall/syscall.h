/* SPDX-License-Identifier: MIT */
/*
 * Pure system calls.
 *
 * psys_<name>() is the system call of that name, with the kernel's arguments in the kernel's order,
 * as section 2 of the manual describes it. Returns the kernel's value, or a negative error number.
 * The wrappers use no errno, no thread-local or global variable and no libc: each may be called
 * from any thread, from a signal handler, and from a child that shares its parent's memory. No
 * wrapper is a cancellation point, and none restarts the call after -PSYS_EINTR.
 *
 * Each is an inline function here and a symbol of the same name in the library.
 */
#ifndef PSYS_SYSCALL_H
#define PSYS_SYSCALL_H

#include <syscall/arch.h>
#include <syscall/errno.h>
#include <syscall/exec.h>
#include <syscall/file.h>
#include <syscall/have.h>
#include <syscall/io.h>
#include <syscall/ipc.h>
#include <syscall/machine.h>
#include <syscall/memory.h>
#include <syscall/poll.h>
#include <syscall/process.h>
#include <syscall/security.h>
#include <syscall/signal.h>
#include <syscall/socket.h>
#include <syscall/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any system call by its number, for callers in other languages. */
PSYS_API psys_word psys_syscall(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				psys_word a4, psys_word a5, psys_word a6);

#ifndef PSYS_DECLARATIONS_ONLY
#define PSYS_CALL0(since, type, name, nr)          \
	PSYS_INLINE type name(void)                \
	{                                          \
		return (type)(long)psys_call0(nr); \
	}
#define PSYS_CALL1(since, type, name, nr, A, a)                  \
	PSYS_INLINE type name(A a)                               \
	{                                                        \
		return (type)(long)psys_call1(nr, PSYS_WORD(a)); \
	}
#define PSYS_CALL2(since, type, name, nr, A, a, B, b)                          \
	PSYS_INLINE type name(A a, B b)                                        \
	{                                                                      \
		return (type)(long)psys_call2(nr, PSYS_WORD(a), PSYS_WORD(b)); \
	}
#define PSYS_CALL3(since, type, name, nr, A, a, B, b, C, c)                                  \
	PSYS_INLINE type name(A a, B b, C c)                                                 \
	{                                                                                    \
		return (type)(long)psys_call3(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c)); \
	}
#define PSYS_CALL4(since, type, name, nr, A, a, B, b, C, c, D, d)                           \
	PSYS_INLINE type name(A a, B b, C c, D d)                                           \
	{                                                                                   \
		return (type)(long)psys_call4(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), \
					      PSYS_WORD(d));                                \
	}
#define PSYS_CALL5(since, type, name, nr, A, a, B, b, C, c, D, d, E, e)                     \
	PSYS_INLINE type name(A a, B b, C c, D d, E e)                                      \
	{                                                                                   \
		return (type)(long)psys_call5(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), \
					      PSYS_WORD(d), PSYS_WORD(e));                  \
	}
#define PSYS_CALL6(since, type, name, nr, A, a, B, b, C, c, D, d, E, e, F, f)               \
	PSYS_INLINE type name(A a, B b, C c, D d, E e, F f)                                 \
	{                                                                                   \
		return (type)(long)psys_call6(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), \
					      PSYS_WORD(d), PSYS_WORD(e), PSYS_WORD(f));    \
	}
#define PSYS_IRREGULAR(...) /* irregular.h */
#include <syscall/table.h>
#undef PSYS_CALL0
#undef PSYS_CALL1
#undef PSYS_CALL2
#undef PSYS_CALL3
#undef PSYS_CALL4
#undef PSYS_CALL5
#undef PSYS_CALL6
#undef PSYS_IRREGULAR

#include <syscall/irregular.h>
#endif

#ifdef __cplusplus
}
#endif

#endif
