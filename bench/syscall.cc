/* SPDX-License-Identifier: MIT */
// Makes one system call, by each way. The lower bound is the instruction, written by hand; an
// inlined wrapper should cost the same.
#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <syscall/syscall.h>

// Declares the archive's symbols, which have the names of this file's inline functions.
extern "C" {
int called_getpid(void) __asm__("psys_getpid");
long called_read(int fd, void *buf, size_t count) __asm__("psys_read");
int called_clock_gettime(int clock, struct psys_timespec *time) __asm__("psys_clock_gettime");
}

#if defined(__x86_64__) && !defined(__ILP32__)
#define INSTRUCTION
static inline long instruction(long nr, long a1, long a2, long a3)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
#define INSTRUCTION
static inline long instruction(long nr, long a1, long a2, long a3)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	register long x2 __asm__("x2") = a3;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}
#endif

static int zero;
static char byte;
static struct timespec libc_time;
static struct psys_timespec kernel_time;

// Each call has a type of its own, so that it is inlined into the loop.
template <typename Call> static void add(const char *name, Call call)
{
	benchmark::RegisterBenchmark(name, [call](benchmark::State &state) {
		if (call() < 0)
			state.SkipWithError("the call failed");
		for (auto _ : state)
			benchmark::DoNotOptimize(call());
	});
}

static void add_getpid()
{
#ifdef INSTRUCTION
	add("the instruction/getpid", [] { return instruction(SYS_getpid, 0, 0, 0); });
#endif
	add("psys, inlined/getpid", [] { return psys_getpid(); });
	add("psys, called/getpid", [] { return called_getpid(); });
	add("libc/getpid", [] { return getpid(); });
	add("syscall(2)/getpid", [] { return syscall(SYS_getpid); });
}

static void add_read()
{
#ifdef INSTRUCTION
	add("the instruction/read", [] { return instruction(SYS_read, zero, (long)&byte, 1); });
#endif
	add("psys, inlined/read", [] { return psys_read(zero, &byte, 1); });
	add("psys, called/read", [] { return called_read(zero, &byte, 1); });
	add("libc/read", [] { return read(zero, &byte, 1); });
	add("syscall(2)/read", [] { return syscall(SYS_read, zero, &byte, 1); });
}

static void add_clock_gettime()
{
#ifdef INSTRUCTION
	add("the instruction/clock_gettime",
	    [] { return instruction(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&libc_time, 0); });
#endif
	add("psys, inlined/clock_gettime",
	    [] { return psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &kernel_time); });
	add("psys, called/clock_gettime",
	    [] { return called_clock_gettime(PSYS_CLOCK_MONOTONIC, &kernel_time); });
	// Reads the vDSO: no system call, if the kernel's clock allows that.
	add("libc/clock_gettime", [] { return clock_gettime(CLOCK_MONOTONIC, &libc_time); });
	add("syscall(2)/clock_gettime",
	    [] { return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &libc_time); });
}

int main(int argc, char **argv)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	add_getpid();
	add_read();
	add_clock_gettime();
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
