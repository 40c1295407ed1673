/* SPDX-License-Identifier: MIT */
/*
 * Compilers' values in registers survive a system call. More values live across each stub than the
 * machine has registers: each register missing in the stub's list of clobbers holds a value. The
 * tests fail if a kernel changes another register, or if a list lacks a changed register. User-mode
 * emulators change fewer than kernels.
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
#define CALL7(nr) psys_call7(nr, 1, 2, 3, 4, 5, 6, 7)

/* The seed is volatile, as compilers could make a constant anew. */
static volatile long seed = 0x5a5a5a01;

#define FILL_LONG(i)                   \
	long kept##i = seed + 257 * i; \
	__asm__ volatile("" : "+r"(kept##i));
#define COUNT_LONG(i)                         \
	__asm__ volatile("" : "+r"(kept##i)); \
	lost += kept##i != seed + 257 * i;

/* These functions return how many of 32 values are lost. The functions call no other function:
 * across a function's call a compiler would keep the values in memory all the time. */
#define KEEPER(name, count, BEGIN, FILL, COUNT, END)              \
	static __attribute__((noinline)) int name##count(long nr) \
	{                                                         \
		int lost = 0;                                     \
		BEGIN REPEAT32(FILL) CALL##count(nr);             \
		REPEAT32(COUNT)                                   \
		END return lost;                                  \
	}
#if defined(__mips__) && _MIPS_SIM == _ABIO32
#define KEEPER7(name, attribute, ...) attribute KEEPER(name, 7, __VA_ARGS__)
#define KEPT_BY_7(name) name##7
#else
#define KEEPER7(name, attribute, ...)
#define KEPT_BY_7(name) NULL
#endif
#define KEEPERS(name, attribute, ...)                                             \
	attribute KEEPER(name, 0, __VA_ARGS__)                                    \
	attribute KEEPER(name, 1, __VA_ARGS__)                                    \
	attribute KEEPER(name, 2, __VA_ARGS__)                                    \
	attribute KEEPER(name, 3, __VA_ARGS__)                                    \
	attribute KEEPER(name, 4, __VA_ARGS__)                                    \
	attribute KEEPER(name, 5, __VA_ARGS__)                                    \
	attribute KEEPER(name, 6, __VA_ARGS__)                                    \
		KEEPER7(name, attribute, __VA_ARGS__) static int (*const name[])( \
			long) = { name##0, name##1, name##2, name##3,             \
				  name##4, name##5, name##6, KEPT_BY_7(name) };

/* Makes a call that does nothing, and a call that lets a process with other values in the registers
 * run. */
static void check_keepers(int (*const *keepers)(long nr))
{
	int other = fork_child();

	if (other == 0)
		for (seed ^= 0x33333333;;)
			for (int i = 0; i < 8 && keepers[i]; i++)
				keepers[i](PSYS_NR_sched_yield);
	CHECK(other > 0);
	for (int i = 0; i < 8 && keepers[i]; i++) {
		int lost = keepers[i](PSYS_NR_getpid);

		for (int tries = 0; tries < 8; tries++)
			lost += keepers[i](PSYS_NR_sched_yield);
		if (lost)
			note("lost by the stub with arguments:", i);
		CHECK_EQUAL(lost, 0);
	}
	psys_kill(other, PSYS_SIGKILL);
	psys_wait4(other, NULL, 0, NULL);
}

KEEPERS(longs, , , FILL_LONG, COUNT_LONG, )

TEST(stubs_keep_general_registers)
{
	check_keepers(longs);
}

/* Floating point registers: no list of clobbered registers has them. Soft floats are in others. */
#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE2__))
#define FLOAT "x"
#elif defined(__aarch64__) || (defined(__arm__) && !defined(__SOFTFP__))
#define FLOAT "w"
#elif defined(__sparc__)
#define FLOAT "e"
#elif !defined(__arm__) && !defined(__i386__)
#define FLOAT "f"
#endif

#ifdef FLOAT
#define FILL_FLOAT(i)                              \
	double kept##i = (double)(seed + 257 * i); \
	__asm__ volatile("" : "+" FLOAT(kept##i));
#define COUNT_FLOAT(i)                             \
	__asm__ volatile("" : "+" FLOAT(kept##i)); \
	lost += kept##i != (double)(seed + 257 * i);

KEEPERS(floats, , , FILL_FLOAT, COUNT_FLOAT, )

TEST(stubs_keep_floats)
{
	check_keepers(floats);
}
#endif

/* Each processor of the target has vectors of 128 bits. */
#if defined(__SSE2__) || defined(__aarch64__)
#define SHORT_VECTOR FLOAT
#elif defined(__ALTIVEC__)
#define SHORT_VECTOR "v"
#endif

#ifdef SHORT_VECTOR
typedef int short_vector __attribute__((vector_size(16)));
#define FILL_SHORT_VECTOR(i)                                                 \
	short_vector kept##i = { (int)seed, 257 * i, 3 - (int)seed, 5 + i }; \
	__asm__ volatile("" : "+" SHORT_VECTOR(kept##i));
#define COUNT_SHORT_VECTOR(i)                                                                      \
	__asm__ volatile("" : "+" SHORT_VECTOR(kept##i));                                          \
	lost += kept##i[0] != (int)seed || kept##i[1] != 257 * i || kept##i[2] != 3 - (int)seed || \
		kept##i[3] != 5 + i;

KEEPERS(short_vectors, , , FILL_SHORT_VECTOR, COUNT_SHORT_VECTOR, )

TEST(stubs_keep_vectors_of_128_bits)
{
	check_keepers(short_vectors);
}
#endif

/* A product is in the registers HI and LO, of which compilers keep one at a time. */
#if defined(__mips__) && __mips_isa_rev < 6
#define FILL_LO           \
	long kept = seed; \
	__asm__ volatile("mtlo %1" : "=l"(kept) : "r"(kept));
#define FILL_NONE(i)
#define COUNT_LO                                              \
	__asm__ volatile("mflo %0" : "=r"(kept) : "l"(kept)); \
	lost += kept != seed;
KEEPERS(lo, , FILL_LO, FILL_NONE, FILL_NONE, COUNT_LO)

TEST(stubs_keep_products)
{
	check_keepers(lo);
}
#endif

/* The processor decides the size of these vectors, SVE's and RISC-V's. Each byte is 1. */
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
/* A predicate has a bit for each byte of a vector */
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

TEST(stubs_keep_vectors)
{
	if (!HAS_VECTORS)
		skip("a processor or kernel without vectors");
	check_keepers(vectors);
}
#endif

#ifdef FILL_PREDICATE
KEEPERS(predicates, VECTORS, , FILL_PREDICATE, COUNT_PREDICATE, )

TEST(stubs_keep_predicates)
{
	if (!HAS_VECTORS)
		skip("a processor or kernel without vectors");
	check_keepers(predicates);
}
#endif
