/* SPDX-License-Identifier: MIT */
/*
 * The version of the library: at compile time, and of the library that is loaded. The macros are
 * numbers, not expressions, for tools that do not evaluate C.
 */
#ifndef ASPAWN_VERSION_H
#define ASPAWN_VERSION_H

#include <syscall/base.h>

/* The first number of the version. */
#define ASPAWN_VERSION_MAJOR 1
/* The second. */
#define ASPAWN_VERSION_MINOR 0
/* The third. */
#define ASPAWN_VERSION_PATCH 0
/*
 * What follows the numbers in the name of a version before a release. Its soname
 * (libaspawn.so.1.0.0-rc.1) is that of no other version. "" in a release (libaspawn.so.1).
 */
#define ASPAWN_VERSION_SUFFIX ""
/* major * 10000 + minor * 100 + patch */
#define ASPAWN_VERSION 10000

#if ASPAWN_VERSION != \
	ASPAWN_VERSION_MAJOR * 10000 + ASPAWN_VERSION_MINOR * 100 + ASPAWN_VERSION_PATCH
#error "ASPAWN_VERSION and its parts differ"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the loaded library's version as ASPAWN_VERSION: major * 10000 + minor * 100 + patch.
 *
 * Details: the call cannot fail.
 */
PSYS_API int aspawn_version(void);

#ifdef __cplusplus
}
#endif

#endif
