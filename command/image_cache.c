/* SPDX-License-Identifier: MIT */
#include "image_cache.h"

#include <syscall/string.h>

#include "image.h"
#include "pool.h"

enum {
	SLOTS = 32,
	CACHE_SIZE = (1 + SLOTS) * IMAGE_PAGE,
	LOWEST_FD = 3, /* the host means something by lower ones */
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

PSYS_UNINSTRUMENTED void aspawn_image_cache_forget_file(struct image_cache *cache)
{
	cache->fd = -1;
}

/* A larger file would raise SIGXFSZ. */
static bool may_write(void)
{
	struct psys_rlimit64 limit;

	return psys_prlimit64(0, PSYS_RLIMIT_FSIZE, NULL, &limit) >= 0 &&
	       limit.rlim_cur >= CACHE_SIZE;
}

static int make_file(void)
{
	int fd = may_write() ? aspawn_image_make_file(PSYS_MFD_CLOEXEC) : -1;

	if (fd < 0)
		return fd;
	const int low = fd;
	if (low < LOWEST_FD) {
		fd = (int)psys_fcntl(low, PSYS_F_DUPFD_CLOEXEC, LOWEST_FD);
		psys_close(low);
	}
	if (fd >= 0 && (!aspawn_image_write(fd) || psys_ftruncate(fd, CACHE_SIZE) < 0)) {
		psys_close(fd);
		return -1;
	}
	return fd;
}

/* A forked process, which may have other privileges later, does not share the slots. */
static bool map_slots(struct image_cache *cache)
{
	char *slots = (char *)cache + IMAGE_PAGE;

	return !PSYS_IS_ERROR(psys_mmap(slots, CACHE_SIZE - IMAGE_PAGE,
					PSYS_PROT_READ | PSYS_PROT_WRITE,
					PSYS_MAP_SHARED | PSYS_MAP_FIXED, cache->fd, IMAGE_PAGE)) &&
	       psys_madvise(slots, CACHE_SIZE - IMAGE_PAGE, PSYS_MADV_DONTFORK) >= 0;
}

static bool begin_cache(struct image_cache *cache)
{
	struct psys_statx file;

	if (psys_madvise(cache, IMAGE_PAGE, PSYS_MADV_WIPEONFORK) < 0)
		return false;
	cache->fd = make_file();
	if (cache->fd < 0)
		return false;
	if (psys_statx(cache->fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &file) >= 0 &&
	    map_slots(cache)) {
		cache->device[0] = file.stx_dev_major;
		cache->device[1] = file.stx_dev_minor;
		cache->inode = file.stx_ino;
		return true;
	}
	psys_close(cache->fd);
	return false;
}

static struct image_cache *make_cache(void)
{
	struct image_cache *cache = psys_mmap(NULL, CACHE_SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
					      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	if (PSYS_IS_ERROR(cache))
		return NULL;
	if (begin_cache(cache))
		return cache;
	psys_munmap(cache, CACHE_SIZE);
	return NULL;
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
	if (prepared->image.size > IMAGE_PAGE - WATCH_SIZE)
		return NULL;
	struct image_cache *cache = cache_of(pool);
	const unsigned slot = cache ? take_slot(cache) : 0;
	if (!slot)
		return NULL;
	prepared->image.cache = cache;
	prepared->image.fd = cache->fd;
	prepared->image.offset = (long)slot * IMAGE_PAGE;
	psys_memset(watch_of(cache, slot), 0, WATCH_SIZE);
	return watch_of(cache, slot);
}

unsigned char aspawn_image_cache_slot(const struct prepared *prepared)
{
	return (unsigned char)(prepared->image.offset / IMAGE_PAGE);
}

void aspawn_image_cache_give(struct exec_watch *watch, unsigned slot, int pid)
{
	struct image_cache *cache = (void *)((char *)watch - (size_t)slot * IMAGE_PAGE);
	const uint32_t bit = UINT32_C(1) << (slot - 1);

	if (!cache->inode)
		return;
	cache->pids[slot - 1] = pid;
	if (!pid || aspawn_watch_is_over(watch))
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
