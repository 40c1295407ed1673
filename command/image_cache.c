/* SPDX-License-Identifier: MIT */
#include "image_cache.h"

#include <syscall/string.h>

#include "../aspawn/files.h"
#include "image.h"
#include "pool.h"

enum {
	SLOTS = 32,
	CACHE_SIZE = (1 + SLOTS) * IMAGE_PAGE,
	SEALS = 1 | 2 | 4, /* F_SEAL_SEAL, _SHRINK, _GROW */
};

struct image_cache {
	struct image_cache *next;
	int fd;
	int proven;
	uint32_t device[2]; /* major, minor */
	uint64_t inode;     /* 0: a fork has wiped all */
	uint32_t used;      /* a bit for each slot */
	uint32_t left;      /* of these, the ones that were given back while the child used them */
	int pids[SLOTS];    /* of the children that use these */
};

/* --- the file ------------------------------------------------------------------ */

PSYS_UNINSTRUMENTED bool aspawn_image_cache_is_intact(const struct image_cache *cache)
{
	struct psys_statx file;

	return cache->inode &&
	       psys_statx(cache->fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &file) >= 0 &&
	       file.stx_ino == cache->inode && file.stx_dev_major == cache->device[0] &&
	       file.stx_dev_minor == cache->device[1];
}

/* A larger file would raise SIGXFSZ. */
static bool may_write(void)
{
	struct psys_rlimit64 limit;

	return psys_prlimit64(0, PSYS_RLIMIT_FSIZE, NULL, &limit) >= 0 &&
	       limit.rlim_cur >= CACHE_SIZE;
}

/* No forked process can make the file smaller: the caller would get SIGBUS. */
static int make_file(void)
{
	const unsigned flags = PSYS_MFD_CLOEXEC | PSYS_MFD_ALLOW_SEALING;
	int fd = may_write() ? psys_memfd_create("aspawn", flags | PSYS_MFD_NOEXEC_SEAL) : -1;

	if (fd == -PSYS_EINVAL) /* before Linux 6.3 */
		fd = psys_memfd_create("aspawn", flags);
	fd = aspawn_files_avoid_streams(fd);
	if (fd >= 0 &&
	    (psys_ftruncate(fd, CACHE_SIZE) < 0 || psys_fcntl(fd, PSYS_F_ADD_SEALS, SEALS) < 0)) {
		psys_close(fd);
		return -1;
	}
	return fd;
}

/* The kernel chooses an address that suits the file, whose pages some caches alias. */
static struct image_cache *map_file(int fd)
{
	struct image_cache *cache = psys_mmap(NULL, CACHE_SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
					      PSYS_MAP_SHARED, fd, 0);

	if (PSYS_IS_ERROR(cache))
		return NULL;
	if (psys_madvise(cache, CACHE_SIZE, PSYS_MADV_DONTFORK) >= 0 &&
	    psys_mmap(cache, IMAGE_PAGE, PSYS_PROT_READ | PSYS_PROT_WRITE,
		      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS | PSYS_MAP_FIXED, -1, 0) == cache &&
	    psys_madvise(cache, IMAGE_PAGE, PSYS_MADV_WIPEONFORK) >= 0)
		return cache;
	psys_munmap(cache, CACHE_SIZE);
	return NULL;
}

static struct image_cache *make_cache(void)
{
	const int fd = make_file();
	struct psys_statx file;

	if (fd < 0)
		return NULL;
	struct image_cache *cache =
		psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &file) >= 0 ? map_file(fd) :
										     NULL;
	if (!cache) {
		psys_close(fd);
		return NULL;
	}
	cache->fd = fd;
	cache->device[0] = file.stx_dev_major;
	cache->device[1] = file.stx_dev_minor;
	cache->inode = file.stx_ino;
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
	prepared->image.pool_fd = cache->fd;
	prepared->image.pool_offset = (long)slot * IMAGE_PAGE;
	psys_memset(watch_of(cache, slot), 0, WATCH_SIZE);
	return watch_of(cache, slot);
}

unsigned char aspawn_image_cache_slot(const struct prepared *prepared)
{
	return (unsigned char)(prepared->image.pool_offset / IMAGE_PAGE);
}

static struct image_cache *cache_with(const struct exec_watch *watch, unsigned slot)
{
	return (void *)((char *)(uintptr_t)watch - (size_t)slot * IMAGE_PAGE);
}

bool aspawn_image_cache_has(const struct exec_watch *watch, unsigned slot)
{
	return cache_with(watch, slot)->inode;
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
		if (__atomic_load_n(&caches->used, __ATOMIC_ACQUIRE)) {
			caches->next = used;
			used = caches;
			continue;
		}
		if (aspawn_image_cache_is_intact(caches))
			psys_close(caches->fd);
		/* A forked process may have other mappings where the slots were. */
		psys_munmap(caches, caches->inode ? CACHE_SIZE : IMAGE_PAGE);
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
