/* SPDX-License-Identifier: MIT */
/* psys_stat() and the like return what the libc's functions return, device numbers included. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../suite/harness.h"

static void check_same(const struct psys_stat *ours, const struct stat *libc)
{
	CHECK_EQUAL(ours->st_dev, libc->st_dev);
	CHECK_EQUAL(ours->st_ino, libc->st_ino);
	CHECK_EQUAL(ours->st_rdev, libc->st_rdev);
	CHECK_EQUAL(ours->st_size, libc->st_size);
	CHECK_EQUAL(ours->st_blocks, libc->st_blocks);
	CHECK_EQUAL(ours->st_atim.tv_nsec, libc->st_atim.tv_nsec);
	CHECK_EQUAL(ours->st_mtim.tv_sec, libc->st_mtim.tv_sec);
	CHECK_EQUAL(ours->st_mtim.tv_nsec, libc->st_mtim.tv_nsec);
	CHECK_EQUAL(ours->st_ctim.tv_sec, libc->st_ctim.tv_sec);
	CHECK_EQUAL(ours->st_ctim.tv_nsec, libc->st_ctim.tv_nsec);
	CHECK_EQUAL(ours->st_mode, libc->st_mode);
	CHECK_EQUAL(ours->st_nlink, libc->st_nlink);
	CHECK_EQUAL(ours->st_uid, libc->st_uid);
	CHECK_EQUAL(ours->st_gid, libc->st_gid);
	CHECK_EQUAL(ours->st_blksize, libc->st_blksize);
}

TEST(stat_agrees_with_the_libc)
{
	static const char *const paths[] = { "/usr", "/dev/null", "/dev/tty", "/etc/passwd",
					     "/bin/sh" };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct psys_stat ours;
		struct stat libc;
		int error = stat(paths[i], &libc);

		CHECK_EQUAL(psys_stat(paths[i], &ours) < 0, error < 0);
		if (error < 0)
			continue;
		check_same(&ours, &libc);
		CHECK_EQUAL(PSYS_MAJOR(ours.st_rdev), major(libc.st_rdev));
		CHECK_EQUAL(PSYS_MINOR(ours.st_rdev), minor(libc.st_rdev));
		CHECK_EQUAL(lstat(paths[i], &libc), 0);
		CHECK_EQUAL(psys_lstat(paths[i], &ours), 0);
		check_same(&ours, &libc);
	}
	CHECK(PSYS_MAKEDEV(0xfedcba98U, 0x76543210U) == makedev(0xfedcba98U, 0x76543210U));
}

TEST(getrlimit_agrees_with_the_libc)
{
	for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
		struct psys_rlimit64 ours;
		struct rlimit libc;

		CHECK_EQUAL(getrlimit(resource, &libc), 0);
		CHECK_EQUAL(psys_getrlimit(resource, &ours), 0);
		CHECK_EQUAL(ours.rlim_cur, libc.rlim_cur);
		CHECK_EQUAL(ours.rlim_max, libc.rlim_max);
	}
}
