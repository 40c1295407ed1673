/* SPDX-License-Identifier: MIT */
/*
 * Some wrappers differ by architecture: 64-bit arguments, which take two registers on 32-bit
 * architectures (aligned or not, high or low half first, the last argument first), times beyond
 * 2038, and structures with two versions in the kernel.
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

TEST(truncate_works_beyond_four_gib)
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

TEST(preadv_and_pwritev_work_beyond_four_gib)
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

TEST(fallocate_works_beyond_four_gib)
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

/* A length of 1 << 31 is negative if its halves are swapped. */
TEST(fadvise_works_beyond_four_gib)
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

TEST(sendfile_works_beyond_four_gib)
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

TEST(fanotify_mark_passes_64_bits)
{
	int fd = psys_fanotify_init(PSYS_FAN_CLOEXEC, PSYS_O_RDONLY);

	if (fd == -PSYS_ENOSYS || fd == -PSYS_EPERM)
		skip("no fanotify, or not for this user");
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_fanotify_mark(fd, PSYS_FAN_MARK_ADD, PSYS_FAN_OPEN, PSYS_AT_FDCWD, "/"), 0);
	CHECK_EQUAL(psys_fanotify_mark(fd, PSYS_FAN_MARK_ADD, UINT64_C(1) << 63, PSYS_AT_FDCWD, "/"),
		    -PSYS_EINVAL);
}

TEST(times_beyond_2038_are_kept)
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

TEST(statfs_has_the_kernels_layout)
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

/* The older structure of shmctl has the segment's size in its first 32 bytes. */
TEST(shmctl_uses_the_newer_structure)
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

/* ------------------------------------------------ stat and the like, by statx */

static const char *new_file(const char *content)
{
	static char path[64] = "/tmp/aspawn-stat-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	int fd = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_EXCL | PSYS_O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_write(fd, content, psys_strlen(content)), psys_strlen(content));
	psys_close(fd);
	return path;
}

static void check_same_file(const struct psys_stat *a, const struct psys_stat *b)
{
	CHECK_EQUAL(a->st_dev, b->st_dev);
	CHECK_EQUAL(a->st_ino, b->st_ino);
	CHECK_EQUAL(a->st_mode, b->st_mode);
	CHECK_EQUAL(a->st_nlink, b->st_nlink);
	CHECK_EQUAL(a->st_size, b->st_size);
	CHECK_EQUAL(a->st_ctim.tv_sec, b->st_ctim.tv_sec);
	CHECK_EQUAL(a->st_ctim.tv_nsec, b->st_ctim.tv_nsec);
}

TEST(stat_has_one_structure_on_every_architecture)
{
	const struct psys_timespec times[2] = { { 1500000000, 123456789 },
						{ 1600000000, 987654321 } };
	const char *path = new_file("12345");
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	struct psys_stat status, by_fd = { 0 }, by_dirfd = { 0 };
	struct psys_timespec now;

	CHECK_EQUAL(psys_fchmod(fd, 0640), 0);
	CHECK_EQUAL(psys_utimensat(PSYS_AT_FDCWD, path, times, 0), 0);
	psys_memset(&status, '#', sizeof status);
	CHECK_EQUAL(psys_stat(path, &status), 0);
	CHECK_EQUAL(status.st_mode, PSYS_S_IFREG | 0640);
	CHECK_EQUAL(status.st_size, 5);
	CHECK_EQUAL(status.st_nlink, 1);
	CHECK_EQUAL(status.st_uid, psys_geteuid());
	CHECK_EQUAL(status.st_rdev, 0);
	CHECK(status.st_ino && status.st_blksize >= 512 && status.st_blocks < 1000);
	CHECK_EQUAL(status.st_atim.tv_sec, times[0].tv_sec);
	CHECK_EQUAL(status.st_atim.tv_nsec, times[0].tv_nsec);
	CHECK_EQUAL(status.st_mtim.tv_sec, times[1].tv_sec);
	CHECK_EQUAL(status.st_mtim.tv_nsec, times[1].tv_nsec);
	CHECK_EQUAL(psys_clock_gettime(PSYS_CLOCK_REALTIME, &now),
		    0); /* some machines begin in 1970 */
	CHECK(now.tv_sec - status.st_ctim.tv_sec <= 20 && now.tv_sec >= status.st_ctim.tv_sec);

	CHECK_EQUAL(psys_fstat(fd, &by_fd), 0);
	check_same_file(&status, &by_fd);
	CHECK_EQUAL(psys_fstatat(PSYS_AT_FDCWD, path, &by_dirfd, 0), 0);
	check_same_file(&status, &by_dirfd);
	CHECK_EQUAL(psys_fstatat(fd, "", &by_dirfd, PSYS_AT_EMPTY_PATH), 0);
	check_same_file(&status, &by_dirfd);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, 0), 0);
	CHECK_EQUAL(psys_fstat(fd, &by_fd), 0);
	CHECK_EQUAL(by_fd.st_nlink, 0);
}

TEST(lstat_does_not_follow_a_link)
{
	const char *path = new_file("12345");
	struct psys_stat status = { 0 };
	char link[80];

	psys_strlcpy(link, path, sizeof link);
	psys_strlcpy(link + psys_strlen(link), "-link", 6);
	psys_unlinkat(PSYS_AT_FDCWD, link, 0);
	CHECK_EQUAL(psys_symlinkat(path, PSYS_AT_FDCWD, link), 0);
	CHECK_EQUAL(psys_lstat(link, &status), 0);
	CHECK_EQUAL(status.st_mode & PSYS_S_IFMT, PSYS_S_IFLNK);
	CHECK_EQUAL(status.st_size, psys_strlen(path));
	CHECK_EQUAL(psys_fstatat(PSYS_AT_FDCWD, link, &status, PSYS_AT_SYMLINK_NOFOLLOW), 0);
	CHECK_EQUAL(status.st_mode & PSYS_S_IFMT, PSYS_S_IFLNK);
	CHECK_EQUAL(psys_stat(link, &status), 0);
	CHECK_EQUAL(status.st_mode & PSYS_S_IFMT, PSYS_S_IFREG);
	CHECK_EQUAL(status.st_size, 5);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, link, 0), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, 0), 0);
}

TEST(stat_has_64_bit_sizes_and_times)
{
	const struct psys_timespec times[2] = { { INT64_C(5000000000), 1 },
						{ INT64_C(6000000000), 2 } };
	struct psys_stat status = { 0 };
	int fd = open_file();

	CHECK_EQUAL(psys_ftruncate(fd, FAR), 0);
	CHECK_EQUAL(psys_utimensat(fd, NULL, times, 0), 0);
	CHECK_EQUAL(psys_fstat(fd, &status), 0);
	CHECK_EQUAL(status.st_size, FAR);
	CHECK_EQUAL(status.st_blocks, 0);
	CHECK_EQUAL(status.st_mtim.tv_sec, INT64_C(6000000000));
}

TEST(device_numbers_are_split_and_joined)
{
	struct psys_stat status = { 0 };

	CHECK_EQUAL(PSYS_MAKEDEV(1, 3), 0x103);
	CHECK(PSYS_MAKEDEV(0xfedcba98U, 0x76543210U) == UINT64_C(0xfedcb765432a9810));
	CHECK_EQUAL(PSYS_MAJOR(PSYS_MAKEDEV(0xfedcba98U, 0x76543210U)), 0xfedcba98U);
	CHECK_EQUAL(PSYS_MINOR(PSYS_MAKEDEV(0xfedcba98U, 0x76543210U)), 0x76543210U);
	if (psys_stat("/dev/null", &status) < 0)
		skip("no /dev/null");
	CHECK_EQUAL(status.st_mode & PSYS_S_IFMT, PSYS_S_IFCHR);
	CHECK_EQUAL(status.st_rdev, PSYS_MAKEDEV(1, 3));
}

TEST(stat_fails_with_the_kernels_errors)
{
	struct psys_stat status = { 0 };

	psys_memset(&status, '#', sizeof status);
	CHECK_EQUAL(psys_stat("", &status), -PSYS_ENOENT);
	CHECK_EQUAL(psys_lstat("/no such file", &status), -PSYS_ENOENT);
	CHECK_EQUAL(psys_stat(NULL, &status), -PSYS_EFAULT);
	CHECK_EQUAL(psys_fstat(-1, &status), -PSYS_EBADF);
	CHECK_EQUAL(psys_fstat(PSYS_AT_FDCWD, &status), -PSYS_EBADF); /* not the directory */
	CHECK_EQUAL(psys_fstat(9999, &status), -PSYS_EBADF);
	CHECK_EQUAL(psys_fstatat(-1, "x", &status, 0), -PSYS_EBADF);
	CHECK_EQUAL(psys_fstatat(PSYS_AT_FDCWD, "/", &status, 1 << 30), -PSYS_EINVAL);
	CHECK_EQUAL(status.st_mode, 0x23232323); /* written on success only */
}

TEST(getrlimit_and_setrlimit_equal_prlimit)
{
	struct psys_rlimit64 limit = { 0 }, other = { 0 }, lower;
	int pid = fork_child();

	if (pid) {
		CHECK_EQUAL(reap(pid), 0);
		return;
	}
	CHECK_EQUAL(psys_getrlimit(PSYS_RLIMIT_NOFILE, &limit), 0);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &other), 0);
	CHECK_EQUAL(limit.rlim_cur, other.rlim_cur);
	CHECK_EQUAL(limit.rlim_max, other.rlim_max);
	lower.rlim_cur = 17;
	lower.rlim_max = limit.rlim_max;
	CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &lower), 0);
	CHECK_EQUAL(psys_getrlimit(PSYS_RLIMIT_NOFILE, &other), 0);
	CHECK_EQUAL(other.rlim_cur, 17);
	CHECK_EQUAL(other.rlim_max, limit.rlim_max);
	lower.rlim_max = 16; /* below rlim_cur */
	CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, &lower), -PSYS_EINVAL);
	CHECK_EQUAL(psys_getrlimit(99, &limit), -PSYS_EINVAL);
	CHECK_EQUAL(psys_getrlimit(PSYS_RLIMIT_NOFILE, NULL), -PSYS_EFAULT);
	CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_NOFILE, NULL), -PSYS_EFAULT);
	psys_exit_group(0);
}

static void need_kernel(void)
{
	if (psys_getenv(environment, "SUITE_EMULATOR"))
		skip("an emulator translates these calls in its own way");
}

/* x32 has the calls of x86_64, with words of 64 bits behind pointers. */
TEST(words_behind_pointers_are_the_kernels)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset mask;
	struct psys_timespec zero = at_once;
	struct psys_timeval none = { 0, 0 };
	struct {
		psys_kernel_ulong set[1];
		uint32_t guard;
	} words = { { 1 }, 0x12345678 };
	psys_aio_context context = 0;

	need_kernel();
	psys_sigemptyset(&mask);
	const struct psys_sigset_argpack pack = { (uintptr_t)&mask, PSYS_SIGSET_SIZE };
	const struct psys_aio_sigset aio = { (uintptr_t)&mask, PSYS_SIGSET_SIZE };
	CHECK_EQUAL(psys_pselect6(0, NULL, NULL, NULL, &zero, &pack), 0);
	CHECK(psys_pselect6(1, NULL, NULL, words.set, &zero, NULL) >= 0);
	CHECK_EQUAL(words.guard, 0x12345678);
#ifdef PSYS_HAVE_SELECT
	CHECK(psys_select(1, NULL, NULL, words.set, &none) >= 0);
	CHECK_EQUAL(words.guard, 0x12345678);
#endif
	(void)none;
	if (psys_io_setup(1, &context) == 0) {
		zero = at_once;
		CHECK_EQUAL(psys_io_pgetevents(context, 0, 1, NULL, &zero, &aio), 0);
		psys_io_destroy(context);
	}
}

TEST(negative_numbers_and_whole_masks_reach_the_kernel)
{
	struct {
		psys_kernel_long type;
		char text[8];
	} message = { 3, "text" };
	int word = 0;

	need_kernel();
	const int woken =
		psys_futex_wake(&word, PSYS_FUTEX_BITSET_MATCH_ANY, 1, PSYS_FUTEX2_SIZE_U32);
	CHECK(woken == 0 || woken == -PSYS_ENOSYS);
	const int queue = psys_msgget(PSYS_IPC_PRIVATE, 0600);
	if (queue == -PSYS_ENOSYS)
		skip("no System V IPC");
	CHECK(queue >= 0);
	const int sent = psys_msgsnd(queue, &message, 4, PSYS_IPC_NOWAIT);
	const long length = psys_msgrcv(queue, &message, 4, -5, PSYS_IPC_NOWAIT);
	CHECK_EQUAL(psys_msgctl(queue, PSYS_IPC_RMID, NULL), 0);
	CHECK_EQUAL(sent, 0);
	CHECK_EQUAL(length, 4);
}

TEST(an_array_is_a_pointer_as_an_argument)
{
	char text[16];

	CHECK_EQUAL(psys_chdir("/"), 0);
	CHECK_EQUAL(PSYS_SYSCALL(getcwd, text, sizeof text), 2);
}
