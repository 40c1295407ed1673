/* SPDX-License-Identifier: MIT */
/*
 * The file of the image that a pool keeps, with slots for commands in flight. So a start makes no
 * file, and once the image has been executed from it the caller is not suspended for the next one.
 *
 *   offset 0                64 KiB           128 KiB
 *   | image                 | slot           | slot ...      the file
 *   | struct image_cache    | slot           | slot ...      the caller's mapping
 *
 * A slot has a watch and the prepared command: image.h. It is taken from before the clone until the
 * image's exec or end. The first unit of the mapping is the caller's alone. A fork wipes it, and the
 * new process has no slots: only the descriptor, which it does not know.
 *
 * The host may have closed the descriptor, and have given its number to another file, which is never
 * executed: the caller looks before it uses the file, and the child looks again, as its table is its
 * own.
 */
#ifndef COMMAND_IMAGE_CACHE_H
#define COMMAND_IMAGE_CACHE_H

#include "../aspawn/watch.h"
#include "prepared.h"

/* Takes a slot of the pool for the command: stores fd, offset and cache in prepared->image. Returns
 * the watch in it, all zeros; NULL: none is free, or no file can be kept. Called with all signals
 * blocked, and a stack taken from the pool. */
struct exec_watch *aspawn_image_cache_take(struct aspawn_pool *pool, struct prepared *prepared);

/* Number of the prepared command's slot, from 1. */
unsigned char aspawn_image_cache_slot(const struct prepared *prepared);

/* Gives the slot of a watch back: at once if the child has ended its use, or never began (pid 0). */
void aspawn_image_cache_give(struct exec_watch *watch, unsigned slot, int pid);

/* In caller and child: true if fd is the file of the cache. */
bool aspawn_image_cache_is_intact(const struct image_cache *cache);
/* In the child: fd is a file of the host. It is neither used nor closed from now on. */
void aspawn_image_cache_forget_file(struct image_cache *cache);

/* True if the image has been executed from this file. The child may store false. */
bool aspawn_image_cache_is_proven(const struct image_cache *cache);
void aspawn_image_cache_set_proven(struct image_cache *cache, bool proven);

/* Frees the caches of a pool whose stacks were all given back, and returns those in use. */
struct image_cache *aspawn_image_caches_free(struct image_cache *caches);
void aspawn_image_caches_push(struct image_cache **list, struct image_cache *caches);

#endif
