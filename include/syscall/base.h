/*
 * What every other header of this layer needs: the attributes of its
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

/* Clang has every sanitizer in "all" but the coverage, for which gcc has an attribute. */
#ifdef __clang__
#define PSYS_NO_SANITIZE __attribute__((no_sanitize("all", "coverage")))
#elif PSYS_HAS_ATTRIBUTE(no_sanitize)
#define PSYS_NO_SANITIZE __attribute__((no_sanitize("all")))
#else
#define PSYS_NO_SANITIZE
#endif

#if PSYS_HAS_ATTRIBUTE(no_sanitize_coverage)
#define PSYS_NO_COVERAGE __attribute__((no_sanitize_coverage))
#else
#define PSYS_NO_COVERAGE
#endif

/* Otherwise TSan and MSan still announce each function to their runtime. */
#if PSYS_HAS_ATTRIBUTE(disable_sanitizer_instrumentation)
#define PSYS_NO_INTERCEPTION __attribute__((disable_sanitizer_instrumentation))
#else
#define PSYS_NO_INTERCEPTION
#endif

#if PSYS_HAS_ATTRIBUTE(no_stack_protector)
#define PSYS_NO_STACK_PROTECTOR __attribute__((no_stack_protector))
#else
#define PSYS_NO_STACK_PROTECTOR
#endif

/* g++ takes the next two before a declaration only, not before a definition. */
#if PSYS_HAS_ATTRIBUTE(no_split_stack) && (defined(__clang__) || !defined(__cplusplus))
#define PSYS_NO_SPLIT_STACK __attribute__((no_split_stack))
#else
#define PSYS_NO_SPLIT_STACK
#endif

#if PSYS_HAS_ATTRIBUTE(no_stack_limit) && !defined(__cplusplus)
#define PSYS_NO_STACK_LIMIT __attribute__((no_stack_limit))
#else
#define PSYS_NO_STACK_LIMIT
#endif

#if PSYS_HAS_ATTRIBUTE(no_profile_instrument_function)
#define PSYS_NO_PROFILE __attribute__((no_profile_instrument_function))
#else
#define PSYS_NO_PROFILE
#endif

#if PSYS_HAS_ATTRIBUTE(patchable_function_entry)
#define PSYS_NO_PATCHING __attribute__((patchable_function_entry(0)))
#else
#define PSYS_NO_PATCHING
#endif

#if PSYS_HAS_ATTRIBUTE(xray_never_instrument)
#define PSYS_NO_XRAY __attribute__((xray_never_instrument))
#else
#define PSYS_NO_XRAY
#endif

/*
 * For a function that may run in a child that shares its parent's memory and thread
 * pointer. The parent's thread uses both at the same time, so nothing that a compiler adds
 * may touch them: a stack protector's canary, a sanitizer's state, a profile's counters,
 * the limit of a split stack. Clang's control flow integrity (-fsanitize=cfi, kcfi) is left
 * out with the sanitizers.
 *
 * No attribute keeps these out; compile the file of such a function without them:
 * -fmemory-profile, clang 14's -fsanitize=dataflow, g++'s -fsplit-stack, and gcc's where
 * the function has alloca() or an array of variable length. -ftrivial-auto-var-init may call
 * memset(), which is harmless if the program binds its calls at start (-z now).
 * -fstack-clash-protection, -fcf-protection and the thunks of -mretpoline and
 * -mindirect-branch= need not be kept out: they touch the function's own stack only.
 */
#define PSYS_UNINSTRUMENTED                                                                           \
	PSYS_NO_SANITIZE PSYS_NO_COVERAGE PSYS_NO_INTERCEPTION PSYS_NO_STACK_PROTECTOR                \
		PSYS_NO_SPLIT_STACK PSYS_NO_STACK_LIMIT PSYS_NO_PROFILE PSYS_NO_PATCHING PSYS_NO_XRAY \
		__attribute__((no_instrument_function))

/*
 * In a program the wrappers are inline functions; syscall/symbols.c defines
 * this otherwise, to give the archive a symbol for each. Clang inlines a function
 * that must not be profiled into others only if it must.
 *
 * PSYS_NO_INLINE_CALLS, defined before the first of these headers, makes them functions
 * that are called, with a copy in each unit that calls them. It is for units with a function
 * whose attributes an inlined system call does not go with:
 * - target("+sve") and gcc, if the unit has no SVE (-march): such a function keeps vectors
 *   across the trap, and all but 128 bits of each are lost.
 * - target("no-sse") and its like and clang 19, which refuses to inline what was compiled
 *   with more features.
 */
#ifndef PSYS_INLINE
#if defined(PSYS_NO_INLINE_CALLS) && PSYS_HAS_ATTRIBUTE(noipa)
#define PSYS_INLINE static __attribute__((unused, noipa)) PSYS_UNINSTRUMENTED
#elif defined(PSYS_NO_INLINE_CALLS)
#define PSYS_INLINE static __attribute__((unused, noinline)) PSYS_UNINSTRUMENTED
#elif defined(__clang__)
#define PSYS_INLINE static inline __attribute__((always_inline)) PSYS_UNINSTRUMENTED
#else
#define PSYS_INLINE static inline PSYS_UNINSTRUMENTED
#endif
#endif

/* A function of the library that is not inline. */
#ifndef PSYS_API
#define PSYS_API __attribute__((visibility("default")))
#endif

/* A result that only a mistake ignores. */
#define PSYS_MUST_CHECK __attribute__((warn_unused_result))

/*
 * A system call's result is an error when it lies in [-4095, -1]; the error
 * number is then its negative. (include/linux/err.h, MAX_ERRNO) Of an offset on a
 * 32-bit machine all 64 bits count.
 */
#ifdef __cplusplus
#define PSYS_IS_ERROR(result)                                                      \
	(sizeof(result) > sizeof(long) ? (unsigned long long)(result) > -4096ULL : \
					 (unsigned long)(result) > -4096UL)
#else
#define PSYS_IS_ERROR(result)                                           \
	((unsigned long long)__extension__ _Generic((result), int64_t   \
						    : (result), default \
						    : (long)(result)) > -4096ULL)
#endif

#endif
