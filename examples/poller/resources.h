/* SPDX-License-Identifier: MIT */
/* Reserves the resources of a run before it begins. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* Ensures that this number of checks can have descriptors at once. If necessary raises the soft limit,
 * for this process but not for its checks. Returns false with an error on stderr. */
bool resources_descriptors(size_t concurrency);
/* Touches this amount of memory, and keeps it. Returns false with an error on stderr. */
bool resources_memory(long mebibytes);

#endif
