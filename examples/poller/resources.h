/* SPDX-License-Identifier: MIT */
/* What a run needs of the system before it begins. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the descriptors of so many checks at once; raises the soft limit if it has
 * to, for this process but not for its checks. If false, why is on stderr. */
bool resources_descriptors(size_t concurrency);
/* Touches so much memory, and keeps it. If false, why is on stderr. */
bool resources_memory(long mebibytes);

#endif
