/*
 * What every other header of this storey needs: the attributes of its
 * functions and the way an argument becomes a register.
 */
#ifndef PSYS_BASE_H
#define PSYS_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __has_attribute
#define PSYS_HAS_ATTRIBUTE(attribute) __has_attribute(attribute)
#else
#define PSYS_HAS_ATTRIBUTE(attribute) 0
#endif

#if PSYS_HAS_ATTRIBUTE(no_stack_protector)
#define PSYS_NO_STACK_PROTECTOR __attribute__((no_stack_protector))
#else
#define PSYS_NO_STACK_PROTECTOR
#endif

#if defined(__clang__)
#define PSYS_NO_SANITIZE                                                       \
	__attribute__((no_sanitize("address", "hwaddress", "thread", "memory", \
				   "undefined", "safe-stack", "shadow-call-stack")))
#elif defined(__GNUC__)
#define PSYS_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define PSYS_NO_SANITIZE
#endif

#if PSYS_HAS_ATTRIBUTE(disable_sanitizer_instrumentation)
#define PSYS_NO_INTERCEPTION __attribute__((disable_sanitizer_instrumentation))
#else
#define PSYS_NO_INTERCEPTION
#endif

/*
 * For a function that may run in a child that shares its parent's memory and
 * thread pointer: the stack protector reads its canary through the thread
 * pointer, and the sanitizers keep state of the thread, which the parent's
 * thread is using at the same time.
 */
#define PSYS_UNINSTRUMENTED                                         \
	PSYS_NO_STACK_PROTECTOR PSYS_NO_SANITIZE PSYS_NO_INTERCEPTION \
		__attribute__((no_instrument_function))

/*
 * In a program the wrappers are inline functions; syscall/symbols.c defines
 * this otherwise, to give the archive a symbol for each.
 */
#ifndef PSYS_INLINE
#define PSYS_INLINE static inline PSYS_UNINSTRUMENTED
#endif

/* A function of the library that is not inline. */
#define PSYS_API __attribute__((visibility("default")))

/*
 * A system call's result is an error when it lies in [-4095, -1]; the error
 * number is then its negative. (include/linux/err.h, MAX_ERRNO) Of an offset on a
 * 32-bit machine all 64 bits count.
 */
#ifdef __cplusplus
#define PSYS_IS_ERROR(result)                                                    \
	(sizeof(result) > sizeof(long) ? (unsigned long long)(result) > -4096ULL \
				       : (unsigned long)(result) > -4096UL)
#else
#define PSYS_IS_ERROR(result)                                                         \
	((unsigned long long)__extension__ _Generic((result),                         \
		int64_t: (result), default: (long)(result)) > -4096ULL)
#endif

#endif
