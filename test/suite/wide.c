/*
 * What differs by architecture, seen by its effect: 64-bit arguments, which take
 * two registers on 32-bit ones (aligned or not, high or low half first, the last
 * argument first), times beyond 2038, and structures that there are two of.
 */
#include "harness.h"

static const int64_t FAR = INT64_C(0x123456789);

static int open_file(void)
{
	int fd = psys_memfd_create("wide", PSYS_MFD_CLOEXEC);

	if (fd == -PSYS_ENOSYS)
		skip("no memfd_create");
	if (psys_getenv(environment, "SUITE_EMULATOR"))
		skip("an emulator translates these calls in its own way");
	CHECK(fd >= 0);
	return fd;
}

static int64_t size_of(int fd)
{
	struct psys_statx status;

	CHECK_EQUAL(psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_SIZE, &status), 0);
	return (int64_t)status.stx_size;
}

static char byte_at(int fd, int64_t offset)
{
	char byte = '?';

	CHECK_EQUAL(psys_pread64(fd, &byte, 1, offset), 1);
	return byte;
}

TEST(truncation_beyond_four_gib)
{
	int fd = open_file();

	CHECK_EQUAL(psys_ftruncate(fd, FAR), 0);
	CHECK_EQUAL(size_of(fd), FAR);
	if (!have_proc())
		skip("no /proc");
	char path[32] = "/proc/self/fd/";
	psys_i64_to_decimal(path + psys_strlen(path), fd);
	CHECK_EQUAL(psys_truncate(path, FAR + 1), 0);
	CHECK_EQUAL(size_of(fd), FAR + 1);
	CHECK_EQUAL(psys_ftruncate(fd, -FAR), -PSYS_EINVAL);
}

TEST(vectors_beyond_four_gib)
{
	int fd = open_file();
	char got = '?';
	struct psys_iovec x = { (char[]){ 'x' }, 1 }, y = { (char[]){ 'y' }, 1 }, in = { &got, 1 };

	CHECK_EQUAL(psys_pwritev(fd, &x, 1, FAR), 1);
	CHECK_EQUAL(byte_at(fd, FAR), 'x');
	CHECK_EQUAL(psys_pwritev2(fd, &y, 1, FAR + 1, 0), 1);
	CHECK_EQUAL(byte_at(fd, FAR + 1), 'y');
	CHECK_EQUAL(psys_preadv(fd, &in, 1, FAR), 1);
	CHECK_EQUAL(got, 'x');
	CHECK_EQUAL(psys_preadv2(fd, &in, 1, FAR + 1, 0), 1);
	CHECK_EQUAL(got, 'y');
	CHECK_EQUAL(psys_preadv2(fd, &in, 1, FAR, 1 << 30), -PSYS_EOPNOTSUPP);
}

TEST(allocation_beyond_four_gib)
{
	const int hole = PSYS_FALLOC_FL_PUNCH_HOLE | PSYS_FALLOC_FL_KEEP_SIZE;
	int fd = open_file();

	CHECK_EQUAL(psys_pwrite64(fd, "xy", 2, FAR), 2);
	CHECK_EQUAL(psys_fallocate(fd, hole, FAR - 1, 2), 0);
	CHECK_EQUAL(byte_at(fd, FAR), 0);
	CHECK_EQUAL(byte_at(fd, FAR + 1), 'y');
	CHECK_EQUAL(psys_fallocate(fd, hole, 0, FAR + 2), 0);
	CHECK_EQUAL(byte_at(fd, FAR + 1), 0);
	CHECK_EQUAL(psys_fallocate(fd, 0, FAR, -1), -PSYS_EINVAL);
}

/* A length of 1 << 31 is negative if its halves are exchanged. */
TEST(advice_beyond_four_gib)
{
	const int64_t length = INT64_C(1) << 31, offset = INT64_C(0x100000063);
	int fd = open_file(), result;

	result = psys_fadvise64(fd, offset, length, PSYS_POSIX_FADV_NORMAL);
	if (result == -PSYS_ENOSYS)
		skip("no fadvise64");
	CHECK_EQUAL(result, 0);
	CHECK_EQUAL(psys_fadvise64(fd, offset, length, 99), -PSYS_EINVAL);
	CHECK_EQUAL(psys_fadvise64(fd, offset, -1, PSYS_POSIX_FADV_NORMAL), -PSYS_EINVAL);
	CHECK_EQUAL(psys_sync_file_range(fd, length, length, 0), 0);
	CHECK_EQUAL(psys_sync_file_range(fd, length, length, 99), -PSYS_EINVAL);
	CHECK_EQUAL(psys_sync_file_range(fd, -1, length, 0), -PSYS_EINVAL);
}

TEST(a_file_is_sent_from_beyond_four_gib)
{
	int fd = open_file(), ends[2];
	int64_t offset = FAR;
	char got = '?';

	CHECK_EQUAL(psys_pwrite64(fd, "x", 1, FAR), 1);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	CHECK_EQUAL(psys_sendfile(ends[1], fd, &offset, 1), 1);
	CHECK_EQUAL(offset, FAR + 1);
	CHECK_EQUAL(psys_read(ends[0], &got, 1), 1);
	CHECK_EQUAL(got, 'x');
}

TEST(a_mask_of_64_bits_is_watched)
{
	int fd = psys_fanotify_init(PSYS_FAN_CLOEXEC, PSYS_O_RDONLY);

	if (fd == -PSYS_ENOSYS || fd == -PSYS_EPERM)
		skip("no fanotify, or not for this user");
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_fanotify_mark(fd, PSYS_FAN_MARK_ADD, PSYS_FAN_OPEN, PSYS_AT_FDCWD, "/"),
		    0);
	CHECK_EQUAL(
		psys_fanotify_mark(fd, PSYS_FAN_MARK_ADD, UINT64_C(1) << 63, PSYS_AT_FDCWD, "/"),
		-PSYS_EINVAL);
}

TEST(times_beyond_2038)
{
	const struct psys_timespec times[2] = { { INT64_C(5000000000), 1 },
						{ INT64_C(6000000000), 2 } };
	const struct psys_itimerspec hundred_years = { { 0, 0 }, { INT64_C(3155760000), 0 } };
	struct psys_itimerspec left;
	struct psys_statx status;
	int fd = open_file();

	CHECK_EQUAL(psys_utimensat(fd, NULL, times, 0), 0);
	CHECK_EQUAL(psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_BASIC_STATS, &status), 0);
	CHECK_EQUAL(status.stx_mtime.tv_sec, INT64_C(6000000000));
	CHECK_EQUAL(status.stx_mtime.tv_nsec, 2);
	fd = psys_timerfd_create(PSYS_CLOCK_MONOTONIC, PSYS_TFD_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_timerfd_settime(fd, 0, &hundred_years, NULL), 0);
	CHECK_EQUAL(psys_timerfd_gettime(fd, &left), 0);
	CHECK(left.it_value.tv_sec > INT64_C(3155759900) &&
	      left.it_value.tv_sec <= INT64_C(3155760000));
}

TEST(file_systems_have_the_kernels_layout)
{
	struct psys_statfs status;

	if (!have_proc())
		skip("no /proc");
	CHECK_EQUAL(psys_statfs("/proc", &status), 0);
	CHECK_EQUAL(status.f_type, 0x9fa0); /* PROC_SUPER_MAGIC */
	CHECK_EQUAL(status.f_namelen, 255);
	CHECK_EQUAL(status.f_bsize, status.f_frsize);
	int fd = psys_open("/proc", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_fstatfs(fd, &status), 0);
	CHECK_EQUAL(status.f_type, 0x9fa0);
}

/* Of the two structures of shmctl the old one has the size of the segment in its
 * first 32 bytes. */
TEST(ipc_has_the_structures_of_today)
{
	enum { SIZE = 0x56000, WORDS = 40 };
	unsigned long words[WORDS] = { 0 };
	int segment = psys_shmget(PSYS_IPC_PRIVATE, SIZE, 0600), set, at = 0;

	if (segment == -PSYS_ENOSYS)
		skip("no System V IPC");
	CHECK(segment >= 0);
	CHECK_EQUAL(psys_shmctl(segment, PSYS_IPC_STAT, words), 0);
	CHECK_EQUAL(psys_shmctl(segment, PSYS_IPC_RMID, NULL), 0);
	while (at < WORDS && words[at] != SIZE)
		at++;
	CHECK(at < WORDS && at * sizeof *words >= 32);

	set = psys_semget(PSYS_IPC_PRIVATE, 2, 0600);
	CHECK(set >= 0);
	CHECK_EQUAL(psys_semctl(set, 1, PSYS_SETVAL, (union psys_semun){ .val = 77 }), 0);
	CHECK_EQUAL(psys_semctl(set, 1, PSYS_GETVAL, (union psys_semun){ 0 }), 77);
	CHECK_EQUAL(psys_semctl(set, 0, PSYS_IPC_RMID, (union psys_semun){ 0 }), 0);
}
