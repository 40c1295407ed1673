/* SPDX-License-Identifier: MIT */
#include "image_cache.h"

#include <syscall/string.h>

#include "../aspawn/files.h"
#include "image.h"
#include "pool.h"

enum {
	SLOTS = 32,
	CACHE_SIZE = (1 + SLOTS) * IMAGE_PAGE,
	ALL_SEALS = PSYS_F_SEAL_SEAL | PSYS_F_SEAL_SHRINK | PSYS_F_SEAL_GROW | PSYS_F_SEAL_WRITE,
};

struct kept_file {
	int fd;
	uint32_t device[2]; /* major, minor */
	uint64_t inode;
};

struct image_cache {
	struct image_cache *next;
	struct kept_file program; /* fd -1: the image is installed */
	bool is_whole;            /* false: a fork has wiped all */
	int proven;
	uint32_t used;   /* a bit for each slot */
	uint32_t left;   /* of these, the ones that were given back while the child used them */
	int pids[SLOTS]; /* of the children that use these */
};

/* --- files --------------------------------------------------------------------- */

/* Returns 1 if the number is still the file's, 0 if not, or an error. */
static PSYS_UNINSTRUMENTED int find_file(const struct kept_file *file)
{
	struct psys_statx now;
	int r = psys_statx(file->fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &now);

	if (r < 0)
		return r == -PSYS_EBADF ? 0 : r;
	return now.stx_ino == file->inode && now.stx_dev_major == file->device[0] &&
	       now.stx_dev_minor == file->device[1];
}

static PSYS_UNINSTRUMENTED bool is_kept(const struct kept_file *file)
{
	return find_file(file) > 0;
}

/* Returns false if that has to be tried again. */
static bool close_file(const struct kept_file *file)
{
	const int r = file->fd < 0 ? 0 : find_file(file);

	if (r > 0)
		psys_close(file->fd);
	return r >= 0;
}

/* The same of a file that has just been made, and is the number's as far as one knows. */
static void discard_file(const struct kept_file *file)
{
	if (file->fd >= 0 && find_file(file) != 0)
		psys_close(file->fd);
}

/* fd may be an error. On failure it is closed. */
static bool keep_file(struct kept_file *file, int fd)
{
	struct psys_statx now;

	file->fd = -1;
	if (fd < 0)
		return false;
	if (psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &now) < 0) {
		psys_close(fd);
		return false;
	}
	*file = (struct kept_file){ fd, { now.stx_dev_major, now.stx_dev_minor }, now.stx_ino };
	return true;
}

PSYS_UNINSTRUMENTED bool aspawn_image_cache_is_intact(const struct image_cache *cache)
{
	return cache->is_whole && (cache->program.fd < 0 || is_kept(&cache->program));
}

PSYS_UNINSTRUMENTED int aspawn_image_cache_program(const struct image_cache *cache)
{
	return cache->program.fd;
}

/* A larger file would raise SIGXFSZ. */
static bool may_write(void)
{
	struct psys_rlimit64 limit;

	return psys_prlimit64(0, PSYS_RLIMIT_FSIZE, NULL, &limit) >= 0 &&
	       limit.rlim_cur >= CACHE_SIZE;
}

/* No forked process can change what the caller's children execute, nor that it is executable. One of
 * another user cannot open it for writing, which would forbid the exec. */
static bool make_program(struct kept_file *file)
{
	const int fd = aspawn_image_make_file(PSYS_MFD_CLOEXEC | PSYS_MFD_ALLOW_SEALING);

	if (!keep_file(file, aspawn_files_avoid_streams(fd)) || psys_fchmod(file->fd, 0555) < 0 ||
	    (psys_fcntl(file->fd, PSYS_F_ADD_SEALS, ALL_SEALS | PSYS_F_SEAL_EXEC) < 0 &&
	     psys_fcntl(file->fd, PSYS_F_ADD_SEALS, ALL_SEALS) < 0))
		return false;
	const int r = aspawn_image_is_in_file(file->fd);
	if (r == 0)
		file->fd = -1; /* another thread has put another file in its place */
	return r > 0 && is_kept(file);
}

static struct image_cache *map_cache(void)
{
	struct image_cache *cache = psys_mmap(NULL, CACHE_SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
					      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	if (PSYS_IS_ERROR(cache))
		return NULL;
	if (psys_madvise((char *)cache + IMAGE_PAGE, CACHE_SIZE - IMAGE_PAGE, PSYS_MADV_DONTFORK) >=
		    0 &&
	    psys_madvise(cache, IMAGE_PAGE, PSYS_MADV_WIPEONFORK) >= 0)
		return cache;
	psys_munmap(cache, CACHE_SIZE);
	return NULL;
}

static struct image_cache *make_cache(void)
{
	struct kept_file program = { .fd = -1 };
	struct image_cache *cache =
		may_write() && (aspawn_image_is_installed() || make_program(&program)) ?
			map_cache() :
			NULL;

	if (!cache) {
		discard_file(&program);
		return NULL;
	}
	cache->program = program;
	cache->is_whole = true;
	return cache;
}

void aspawn_image_caches_push(struct image_cache **list, struct image_cache *caches)
{
	struct image_cache *last = caches, *head = NULL;

	if (!caches)
		return;
	while (last->next)
		last = last->next;
	do
		last->next = head;
	while (!__atomic_compare_exchange_n(list, &head, caches, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST));
}

/* Another thread may make one too: then the pool has both. */
static struct image_cache *cache_of(struct aspawn_pool *pool)
{
	struct image_cache **list = aspawn_pool_images(pool);
	struct image_cache *cache = __atomic_load_n(list, __ATOMIC_SEQ_CST);

	if (cache && aspawn_image_cache_is_intact(cache))
		return cache;
	if (cache)
		aspawn_pool_trim_images(pool);
	cache = make_cache();
	aspawn_image_caches_push(list, cache);
	return cache;
}

/* --- slots ----------------------------------------------------------------------- */

static struct exec_watch *watch_of(struct image_cache *cache, unsigned slot)
{
	return (struct exec_watch *)(void *)((char *)cache + (size_t)slot * IMAGE_PAGE);
}

/* ARMv5 has no other operation for this. */
static void change_bits(uint32_t *word, uint32_t clear, uint32_t set)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(word, &old, (old & ~clear) | set, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

/* Frees the slots whose children have executed a program or ended since. */
static void sweep(struct image_cache *cache)
{
	uint32_t left = __atomic_exchange_n(&cache->left, 0, __ATOMIC_ACQ_REL), free = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		if (left & UINT32_C(1) << i && (aspawn_watch_is_over(watch_of(cache, i + 1)) ||
						aspawn_child_is_gone(cache->pids[i])))
			free |= UINT32_C(1) << i;
	change_bits(&cache->used, free, 0);
	change_bits(&cache->left, 0, left & ~free);
}

/* Returns a number from 1, or 0. */
static unsigned take_slot(struct image_cache *cache)
{
	uint32_t used = __atomic_load_n(&cache->used, __ATOMIC_RELAXED), all;

	if (used == UINT32_MAX) {
		sweep(cache);
		used = __atomic_load_n(&cache->used, __ATOMIC_RELAXED);
	}
	do {
		all = used | (used + 1);
		if (all == used)
			return 0;
	} while (!__atomic_compare_exchange_n(&cache->used, &used, all, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	for (unsigned slot = 1;; slot++) /* __builtin_ctz() is a function of libgcc on sh4 */
		if ((all ^ used) >> (slot - 1) == 1)
			return slot;
}

struct exec_watch *aspawn_image_cache_take(struct aspawn_pool *pool, struct prepared *prepared)
{
	struct image_cache *cache = cache_of(pool);
	const unsigned slot = cache ? take_slot(cache) : 0;
	if (!slot)
		return NULL;
	prepared->image.cache = cache;
	prepared->image.watch_offset = (long)slot * IMAGE_PAGE;
	psys_memset(watch_of(cache, slot), 0, WATCH_SIZE);
	return watch_of(cache, slot);
}

unsigned char aspawn_image_cache_slot(const struct prepared *prepared)
{
	return (unsigned char)(prepared->image.watch_offset / IMAGE_PAGE);
}

static struct image_cache *cache_with(const struct exec_watch *watch, unsigned slot)
{
	return (void *)((char *)(uintptr_t)watch - (size_t)slot * IMAGE_PAGE);
}

bool aspawn_image_cache_has(const struct exec_watch *watch, unsigned slot)
{
	return cache_with(watch, slot)->is_whole;
}

void aspawn_image_cache_give(struct exec_watch *watch, unsigned slot, int pid)
{
	struct image_cache *cache = cache_with(watch, slot);
	const uint32_t bit = UINT32_C(1) << (slot - 1);

	cache->pids[slot - 1] = pid;
	if (!pid || aspawn_watch_is_over(watch) || aspawn_child_is_gone(pid))
		change_bits(&cache->used, bit, 0);
	else
		change_bits(&cache->left, 0, bit);
}

struct image_cache *aspawn_image_caches_free(struct image_cache *caches)
{
	struct image_cache *used = NULL, *next;

	for (; caches; caches = next) {
		next = caches->next;
		sweep(caches);
		if (__atomic_load_n(&caches->used, __ATOMIC_ACQUIRE) ||
		    !close_file(&caches->program)) {
			caches->next = used;
			used = caches;
			continue;
		}
		/* A forked process may have other mappings where the slots were. */
		psys_munmap(caches, caches->is_whole ? CACHE_SIZE : IMAGE_PAGE);
	}
	return used;
}

/* --- what is known of it -------------------------------------------------------- */

bool aspawn_image_cache_is_proven(const struct image_cache *cache)
{
	return __atomic_load_n(&cache->proven, __ATOMIC_RELAXED);
}

PSYS_UNINSTRUMENTED void aspawn_image_cache_set_proven(struct image_cache *cache, bool proven)
{
	__atomic_store_n(&cache->proven, proven, __ATOMIC_RELAXED);
}
