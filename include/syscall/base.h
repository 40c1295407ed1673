/* SPDX-License-Identifier: MIT */
/*
 * Needed by all other headers of this layer: attributes of functions, and the conversion of
 * arguments to registers.
 */
#ifndef PSYS_BASE_H
#define PSYS_BASE_H

/*
 * PSYS_DECLARATIONS_ONLY, given to a preprocessor (cc -E -P), makes these headers plain
 * declarations: no inline function, so no system call but psys_syscall(), no assembly, no
 * attribute, no packed structure, no header of the compiler's. It is for parsers of C in other
 * languages, as cffi's, and not for compilers. See doc/bindings.md.
 */
#ifdef PSYS_DECLARATIONS_ONLY
#define __attribute__(list)
#define __extension__
typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __has_attribute
#define PSYS_HAS_ATTRIBUTE(attribute) __has_attribute(attribute)
#else
#define PSYS_HAS_ATTRIBUTE(attribute) 0
#endif

/* Clang's "all" excludes coverage, for which gcc has an attribute of its own. */
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

/* Without this, TSan and MSan still call their runtime in each function. */
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

/* g++ accepts the next two before declarations, not before definitions. */
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

#ifdef PSYS_NO_PROFILE /* empty in `make coverage`, whose counters are shared memory */
#elif PSYS_HAS_ATTRIBUTE(no_profile_instrument_function)
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
 * Marks a function that may run in a child that shares its parent's memory and thread pointer. The
 * parent's thread uses both at the same time, so instrumentation must not touch them: a stack
 * protector's canary, a sanitizer's state, a profile's counters, the limit of a split stack.
 * Clang's control flow integrity (-fsanitize=cfi, kcfi) is turned off with the sanitizers.
 *
 * No attribute turns these options off; compile the file of such a function without them:
 * -fmemory-profile, clang 14's -fsanitize=dataflow, g++'s -fsplit-stack, and gcc's -fsplit-stack
 * if the function has alloca() or an array of variable length. -ftrivial-auto-var-init may call
 * memset(), which is harmless if the program binds its calls at start (-z now).
 * -fstack-clash-protection, -fcf-protection and the thunks of -mretpoline and
 * -mindirect-branch= are harmless: they touch only the function's own stack.
 */
#define PSYS_UNINSTRUMENTED                                                                           \
	PSYS_NO_SANITIZE PSYS_NO_COVERAGE PSYS_NO_INTERCEPTION PSYS_NO_STACK_PROTECTOR                \
		PSYS_NO_SPLIT_STACK PSYS_NO_STACK_LIMIT PSYS_NO_PROFILE PSYS_NO_PATCHING PSYS_NO_XRAY \
		__attribute__((no_instrument_function))

/*
 * In a program the wrappers are inline functions; syscall/symbols.c redefines PSYS_INLINE, to
 * make a symbol for each. always_inline, because clang inlines an unprofiled function into a
 * profiled one only if it must.
 *
 * PSYS_NO_INLINE_CALLS, defined before the first of these headers, makes the wrappers static
 * functions that are called. It is for units with a function whose attributes conflict with
 * inlined system calls:
 * - target("+sve") with gcc, if the unit has no SVE (-march): such a function keeps vectors
 *   across the trap, which clears all but 128 bits of each.
 * - target("no-sse") and the like with clang 19, which does not inline a function that was
 *   compiled with more features.
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

/* A condition that the compiler checks. */
#ifdef PSYS_DECLARATIONS_ONLY
#define PSYS_ASSERT(name, condition)
#else
#define PSYS_ASSERT(name, condition) typedef char name[(condition) ? 1 : -1]
#endif

/* A function of the library that is not inline. */
#ifndef PSYS_API
#define PSYS_API __attribute__((visibility("default")))
#endif

/* For functions whose result the caller must use. */
#define PSYS_MUST_CHECK __attribute__((warn_unused_result))

/*
 * A result in [-4095, -1] is an error, the negated error number (include/linux/err.h,
 * MAX_ERRNO). For a 64-bit offset on a 32-bit machine all 64 bits are compared.
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
