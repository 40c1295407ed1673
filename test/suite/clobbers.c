/* SPDX-License-Identifier: MIT */
/*
 * What compilers keep in registers across a system call is there afterwards: more values live across
 * each stub than there are registers, so that each register that the stub does not list as clobbered
 * holds one. These tests fail if a kernel changes one more register, or if a list lacks one that the
 * kernel changes. User-mode emulators change fewer than kernels.
 */
#include "harness.h"

#define REPEAT8(F, a) F(a##0) F(a##1) F(a##2) F(a##3) F(a##4) F(a##5) F(a##6) F(a##7)
#define REPEAT32(F) REPEAT8(F, 1) REPEAT8(F, 2) REPEAT8(F, 3) REPEAT8(F, 4)

/* The kernel ignores arguments that the call does not have. */
#define CALL0(nr) psys_call0(nr)
#define CALL1(nr) psys_call1(nr, 1)
#define CALL2(nr) psys_call2(nr, 1, 2)
#define CALL3(nr) psys_call3(nr, 1, 2, 3)
#define CALL4(nr) psys_call4(nr, 1, 2, 3, 4)
#define CALL5(nr) psys_call5(nr, 1, 2, 3, 4, 5)
#define CALL6(nr) psys_call6(nr, 1, 2, 3, 4, 5, 6)

/* Volatile, as compilers could make a constant anew. */
static volatile long seed = 0x5a5a5a01;

#define FILL_LONG(i)                   \
	long kept##i = seed + 257 * i; \
	__asm__ volatile("" : "+r"(kept##i));
#define COUNT_LONG(i)                         \
	__asm__ volatile("" : "+r"(kept##i)); \
	lost += kept##i != seed + 257 * i;

/* Functions that return how many of 32 values are lost. They call no other function: across a
 * function's call a compiler would keep the values in memory all the time. */
#define KEEPER(name, count, BEGIN, FILL, COUNT, END)              \
	static __attribute__((noinline)) int name##count(long nr) \
	{                                                         \
		int lost = 0;                                     \
		BEGIN REPEAT32(FILL) CALL##count(nr);             \
		REPEAT32(COUNT)                                   \
		END return lost;                                  \
	}
#define KEEPERS(name, attribute, ...)                                      \
	attribute KEEPER(name, 0, __VA_ARGS__)                             \
	attribute KEEPER(name, 1, __VA_ARGS__)                             \
	attribute KEEPER(name, 2, __VA_ARGS__)                             \
	attribute KEEPER(name, 3, __VA_ARGS__)                             \
	attribute KEEPER(name, 4, __VA_ARGS__)                             \
	attribute KEEPER(name, 5, __VA_ARGS__)                             \
	attribute KEEPER(name, 6, __VA_ARGS__) static int (*const name[])( \
		long) = { name##0, name##1, name##2, name##3, name##4, name##5, name##6 };

/* Makes a call that does nothing, and one that lets other processes run. */
static void check_keepers(int (*const *keepers)(long nr))
{
	for (int i = 0; i < 7; i++) {
		int lost = keepers[i](PSYS_NR_getpid) + keepers[i](PSYS_NR_sched_yield);
		if (lost)
			note("lost by the stub with arguments:", i);
		CHECK_EQUAL(lost, 0);
	}
}

KEEPERS(longs, , , FILL_LONG, COUNT_LONG, )

TEST(stubs_keep_general_registers)
{
	check_keepers(longs);
}

/* Vectors whose size the processor has: SVE's and RISC-V's. Each byte is 1. */
#if defined(__clang__) && defined(__aarch64__)
#define HAS_VECTORS (psys_prctl(51 /* PR_SVE_GET_VL */, 0, 0, 0, 0) >= 0)
#define VECTORS __attribute__((target("+sve")))
#define SIZE_OF_VECTOR "rdvl %0, #1"
#define FILL_VECTOR(i)      \
	__SVInt8_t kept##i; \
	__asm__ volatile("dup %0.b, #1" : "=w"(kept##i));
#define STORE_VECTOR(i)                                                        \
	__asm__ volatile("str %0, [%1]" : : "w"(kept##i), "r"(at) : "memory"); \
	at += size;
/* A bit for each byte of a vector. */
#define FILL_PREDICATE(i)   \
	__SVBool_t kept##i; \
	__asm__ volatile("ptrue %0.b" : "=Upa"(kept##i));
#define COUNT_PREDICATE(i)                                                          \
	__asm__ volatile("str %0, [%1]" : : "Upa"(kept##i), "r"(bytes) : "memory"); \
	lost += bytes[0] != 0xff || bytes[1] != 0xff;
#elif defined(__clang__) && __clang_major__ >= 19 && defined(__riscv) && __riscv_xlen == 64
#define HAS_VECTORS (psys_prctl(70 /* PR_RISCV_V_GET_CONTROL */, 0, 0, 0, 0) >= 0)
#define VECTORS __attribute__((target("arch=+v")))
#define SIZE_OF_VECTOR "csrr %0, vlenb"
#define FILL_VECTOR(i)                                                     \
	__rvv_int8m1_t kept##i;                                            \
	__asm__ volatile("vsetvli t0, zero, e8, m1, ta, ma; vmv.v.i %0, 1" \
			 : "=vr"(kept##i)                                  \
			 :                                                 \
			 : "t0", "vl", "vtype");
#define STORE_VECTOR(i)                                                            \
	__asm__ volatile("vs1r.v %0, (%1)" : : "vr"(kept##i), "r"(at) : "memory"); \
	at += size;
#endif

#ifdef VECTORS
static unsigned char bytes[32 * 256];
#define BEGIN_VECTORS              \
	unsigned char *at = bytes; \
	long size;                 \
	__asm__ volatile(SIZE_OF_VECTOR : "=r"(size));
#define END_VECTORS                          \
	for (long i = 0; i < 32 * size; i++) \
		lost += bytes[i] != 1;

KEEPERS(vectors, VECTORS, BEGIN_VECTORS, FILL_VECTOR, STORE_VECTOR, END_VECTORS)
#endif
#ifdef FILL_PREDICATE
KEEPERS(predicates, VECTORS, , FILL_PREDICATE, COUNT_PREDICATE, )
#endif

TEST(stubs_keep_vectors)
{
#ifdef VECTORS
	if (!HAS_VECTORS)
		skip("a processor or kernel without vectors");
	check_keepers(vectors);
#else
	skip("no vectors of a variable size");
#endif
}

TEST(stubs_keep_predicates)
{
#ifdef FILL_PREDICATE
	if (!HAS_VECTORS)
		skip("a processor or kernel without vectors");
	check_keepers(predicates);
#else
	skip("no predicates");
#endif
}
