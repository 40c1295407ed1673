#!/bin/sh
# SPDX-License-Identifier: MIT
# A system call clears scalable vectors: compilers keep none across an inlined call, also in a
# function that has vectors by an attribute. Functions without vectors pay nothing.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Reads *vector before the trap and stores it afterwards.
cat >"$work/kept.c" <<'C'
#include <syscall/syscall.h>
#ifdef __riscv
#ifndef FEATURE
#define FEATURE "arch=+v"
#endif
typedef __rvv_int32m1_t vector;
#else
#ifndef FEATURE
#define FEATURE "+sve"
#endif
typedef __SVInt32_t vector;
typedef __SVBool_t predicate;
#endif
#ifdef WHOLE_UNIT
#define VECTORS
#else
#define VECTORS __attribute__((target(FEATURE)))
#endif
#ifdef BY_HAND
static inline int get(void)
{
	return 0;
}
#define psys_getpid() ({ __asm__ volatile(BY_HAND : : : "memory"); get(); })
#endif
VECTORS int f_vector(vector *v)
{
	vector kept = *v;
	int pid = psys_getpid();
	*v = kept;
	return pid;
}
VECTORS int f_vectors(vector *v, vector *w)
{
	vector first = *v, second = *w;
	int pid = psys_getpid();
	*v = second;
	*w = first;
	return pid;
}
#ifndef __riscv
VECTORS int f_predicate(predicate *p)
{
	predicate kept = *p;
	int pid = psys_getpid();
	*p = kept;
	return pid;
}
#endif
C

cat >"$work/plain.c" <<'C'
#include <syscall/syscall.h>
int f_nothing(void) { return psys_getpid(); }
double f_double(double kept) { psys_getpid(); return kept; }
C

# assembly FILE "COMPILER" "FLAGS"
assembly()
{
	# shellcheck disable=SC2086 # a word each
	$2 -std=gnu11 -ffreestanding -O2 -Iinclude -fno-asynchronous-unwind-tables -w $3 \
		-S "$work/$1.c" -o -
}

# Prints each vector register that is read after a trap, or a call, before it is written. A store
# only reads its operands; other instructions write their first operand.
kept()
{
	awk '
	/^f_[a-z]*:/ { name = $1; functions++; after = 0; next }
	/^psys_/ { name = "" }
	!name || /^[ \t]*[.#\/]/ || NF < 1 { next }
	$1 == "svc" || $1 == "ecall" || $1 == "bl" || $1 == "call" || $1 == "nop" {
		after = 1
		traps++
		delete written
		next
	}
	!after { next }
	{
		sub(/[ \t]*(#|\/\/).*/, "")
		count = split($0, operand, /[ \t,{}]+/)
		for (i = $1 ~ /^(st|vs[0-9e])/ ? 3 : 4; i <= count; i++)
			if (match(operand[i], /^[zpv][0-9]+/) && !(substr(operand[i], 1, RLENGTH) in written))
				print name " keeps " operand[i]
		if (match(operand[3], /^[zpv][0-9]+/)) written[substr(operand[3], 1, RLENGTH)]
	}
	END { if (!functions || traps < functions) print "no functions with a trap" }'
}

# keeps_nothing "COMPILER" "FLAGS" [FUNCTIONS]
keeps_nothing()
{
	assembly kept "$1" "$2" >"$work/kept.s" && kept <"$work/kept.s" | grep -e "${3:-.}" >"$work/kept"
	[ -s "$work/kept.s" ] && ! grep . "$work/kept"
}

notices()
{
	assembly kept "$1" "$2 -DBY_HAND=\"nop\"" >"$work/kept.s" && kept <"$work/kept.s" >"$work/kept"
	grep -q "f_vector: keeps" "$work/kept" && grep -q "f_vectors: keeps" "$work/kept"
}

costs_nothing()
{
	assembly plain "$1" "$2" >"$work/plain.s" &&
		[ "$(grep -c -w -e svc -e ecall "$work/plain.s")" = 2 ] &&
		! grep -E '^[^.#/]*\b(sp|s[0-9]+)\b' "$work/plain.s"
}

# try "COMPILER" CHECK "NAME" [ARGUMENT...]
try()
{
	compiler=$1 what=$2 name="$3: $1"
	shift 3
	if command -v "${compiler%% *}" >/dev/null; then
		check "$name${1:+ $1}" "$what" "$compiler" "$@"
	else
		lacks "$name${1:+ $1}" "${compiler%% *}"
	fi
}

sve='-march=armv8-a+sve -DWHOLE_UNIT'
rvv='-march=rv64gcv -DWHOLE_UNIT'
for compiler in "clang-14 --target=aarch64-linux-gnu -DFEATURE=\"sve\"" \
		"clang-19 --target=aarch64-linux-gnu" aarch64-linux-gnu-gcc; do
	try "$compiler" notices "what is kept is noticed"
	try "$compiler" keeps_nothing "keeps nothing" "$sve"
	try "$compiler" keeps_nothing "keeps no predicate" "" f_predicate
	case $compiler in
	clang*) try "$compiler" keeps_nothing "keeps nothing" ;;
	*) try "$compiler" keeps_nothing "keeps nothing" -DPSYS_NO_INLINE_CALLS ;;
	esac
	try "$compiler" costs_nothing "costs nothing without vectors"
done
try "clang-14 --target=riscv64-linux-gnu" keeps_nothing "keeps nothing" "$rvv"
try "clang-19 --target=riscv64-linux-gnu" notices "what is kept is noticed"
try "clang-19 --target=riscv64-linux-gnu" keeps_nothing "keeps nothing" "$rvv"
try "clang-19 --target=riscv64-linux-gnu" keeps_nothing "keeps nothing"
# Gcc has vectors since 13, by an attribute since 14.
if [ "$(riscv64-linux-gnu-gcc -dumpversion 2>/dev/null | cut -d. -f1)0" -ge 140 ]; then
	try riscv64-linux-gnu-gcc keeps_nothing "keeps nothing" "$rvv"
	try riscv64-linux-gnu-gcc keeps_nothing "keeps nothing"
else
	lacks "keeps nothing: riscv64-linux-gnu-gcc" "riscv64-linux-gnu-gcc 14"
fi
for compiler in "clang-14 --target=riscv64-linux-gnu" "clang-19 --target=riscv64-linux-gnu" \
		riscv64-linux-gnu-gcc; do
	try "$compiler" costs_nothing "costs nothing without vectors"
	try "$compiler" costs_nothing "is accepted" -march=rv64gcv
done
finish
