/* SPDX-License-Identifier: MIT */
/*
 * The version of the library: at compile time, and of the library that is loaded.
 * Numbers, not expressions, so that tools which do not evaluate C can read them.
 */
#ifndef ASPAWN_VERSION_H
#define ASPAWN_VERSION_H

#include <syscall/base.h>

#define ASPAWN_VERSION_MAJOR 0
#define ASPAWN_VERSION_MINOR 2
#define ASPAWN_VERSION_PATCH 0
/* major * 10000 + minor * 100 + patch */
#define ASPAWN_VERSION 200

#if ASPAWN_VERSION != \
	ASPAWN_VERSION_MAJOR * 10000 + ASPAWN_VERSION_MINOR * 100 + ASPAWN_VERSION_PATCH
#error "ASPAWN_VERSION and its parts differ"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ASPAWN_VERSION of the library that is loaded. Async-signal-safe; cannot fail. */
PSYS_API int aspawn_version(void);

#ifdef __cplusplus
}
#endif

#endif
