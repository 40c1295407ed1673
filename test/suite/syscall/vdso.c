/* SPDX-License-Identifier: MIT */
/* Tests of the vDSO's functions */
#include <syscall/vdso.h>

#include "filter.h"
#include "harness.h"

static int64_t to_ns(const struct psys_timespec *time)
{
	return time->tv_sec * 1000000000 + time->tv_nsec;
}

static void check_clock(psys_clock_fn function, int clock)
{
	struct psys_timespec before, time, after;

	for (int i = 0; i < 100; i++) {
		CHECK_EQUAL(psys_clock_gettime(clock, &before), 0);
		CHECK_EQUAL(function(clock, &time), 0);
		CHECK_EQUAL(psys_clock_gettime(clock, &after), 0);
		CHECK(to_ns(&before) <= to_ns(&time) && to_ns(&time) <= to_ns(&after));
	}
}

/* Skips the test unless the kernel or emulator has given this process a vDSO that the library
 * reads. */
static void need_vdso(void)
{
	uintptr_t words[128] = { 0 };
	bool has_one = false;

	int fd = psys_open("/proc/self/auxv", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	need_call(fd, "no /proc");
	CHECK(psys_read(fd, words, sizeof words) > 0);
	CHECK_EQUAL(psys_close(fd), 0);
	for (int i = 0; i < 128 && words[i]; i += 2)
		has_one = has_one || (words[i] == 33 && words[i + 1]); /* AT_SYSINFO_EHDR */
	if (!has_one || sizeof(void *) == 4) {
		CHECK(!psys_vdso_clock());
		skip("no vDSO of 64 bits");
	}
}

TEST(vdso_has_the_clock)
{
	struct psys_timespec time;

	need_vdso();
	const psys_clock_fn clock = psys_vdso_clock();
	CHECK(clock);
	check_clock(clock, PSYS_CLOCK_MONOTONIC);
	check_clock(clock, PSYS_CLOCK_BOOTTIME);
	CHECK(clock(12345, &time) != 0);
}

TEST(vdso_functions_are_found_by_name)
{
	need_vdso();
	void *const ordinary = psys_vdso_find("__vdso_clock_gettime");
	void *const other = psys_vdso_find("__kernel_clock_gettime");
	CHECK(ordinary || other);
	CHECK((psys_clock_fn)(uintptr_t)(ordinary ? ordinary : other) == psys_vdso_clock());
	CHECK(!psys_vdso_find("__vdso_clock_gettim"));
	CHECK(!psys_vdso_find("__vdso_clock_gettime_"));
	CHECK(!psys_vdso_find(""));
}

/* Linux 6.4 has the auxiliary vector also without /proc. */
TEST(vdso_is_found_without_proc)
{
	uintptr_t word;

	need_vdso();
	if (psys_prctl(PSYS_PR_GET_AUXV, (uintptr_t)&word, sizeof word, 0, 0) < 0)
		skip("before Linux 6.4");
	const psys_clock_fn clock = psys_vdso_clock();
	filter_refuse(PSYS_NR_openat, PSYS_ENOENT);
	CHECK(psys_vdso_clock() == clock);
}
