/* SPDX-License-Identifier: MIT */
/*
 * What a pool keeps for children in the image. A sealed file has the image. Memory has watches, in
 * slots, which the parent knows before it clones: so once the image has been executed with one, the
 * caller is not suspended for the next child.
 *
 *   offset 0                64 KiB           128 KiB
 *   | struct image_cache    | watch          | watch ...
 *
 * A slot is taken from before the clone until the image's exec or end. The child maps a file of its
 * own over the slot before it executes the image: until then, which is as long as it uses the stack,
 * the caller sees zeros there. A fork wipes the first unit and does not inherit the slots.
 *
 * A forked process has the descriptor, and may have fewer privileges. So nothing can change the image,
 * and no process but the caller, the child and the image has the watch.
 *
 * The host may have closed the descriptor, and have given its number to another file: the caller
 * looks before it uses it, and the child looks again, as its table is its own.
 */
#ifndef COMMAND_IMAGE_CACHE_H
#define COMMAND_IMAGE_CACHE_H

#include "../aspawn/watch.h"
#include "prepared.h"

/* Takes a slot of the pool for the command, and stores it in prepared->image. Returns the watch, all
 * zeros; NULL: none is free, or the image cannot be kept. Called with all signals blocked, and a stack
 * taken from the pool. */
struct exec_watch *aspawn_image_cache_take(struct aspawn_pool *pool, struct prepared *prepared);

/* Number of the prepared command's slot, from 1. */
unsigned char aspawn_image_cache_slot(const struct prepared *prepared);

/* Gives the slot of a watch back: at once if the child has ended its use, or never began (pid 0). */
void aspawn_image_cache_give(struct exec_watch *watch, unsigned slot, int pid);

/* In caller and child: true if the descriptor is that of the file. */
bool aspawn_image_cache_is_intact(const struct image_cache *cache);

/* Descriptor of the image; -1: that is installed. */
int aspawn_image_cache_program(const struct image_cache *cache);

/* False in a forked process, which does not have the slot. */
bool aspawn_image_cache_has(const struct exec_watch *watch, unsigned slot);

/* True if the image has been executed with a slot of it. The child may store false. */
bool aspawn_image_cache_is_proven(const struct image_cache *cache);
void aspawn_image_cache_set_proven(struct image_cache *cache, bool proven);

/* Frees the caches of a pool whose stacks were all given back, and returns those in use. */
struct image_cache *aspawn_image_caches_free(struct image_cache *caches);
void aspawn_image_caches_push(struct image_cache **list, struct image_cache *caches);

#endif
