#!/bin/sh
# SPDX-License-Identifier: MIT
# An inlined wrapper is only moves between registers, and the trap.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/good.c" <<'C'
#include <syscall/syscall.h>
int f_getpid(void) { return psys_getpid(); }
long f_read(int fd, void *buf, size_t count) { return psys_read(fd, buf, count); }
int f_close(int fd) { return psys_close(fd); }
void *f_mmap(void *addr, size_t length, int protection, int flags, int fd, int64_t offset)
{
	return psys_mmap(addr, length, protection, flags, fd, offset);
}
int f_clock_gettime(int clock, struct psys_timespec *time) { return psys_clock_gettime(clock, time); }
int f_openat(int dirfd, const char *path, int flags, unsigned mode)
{
	return psys_openat(dirfd, path, flags, mode);
}
C

# Each of these does a little more, and must fail the check.
cat >"$work/worse.c" <<'C'
#include <syscall/syscall.h>
int error;
_Thread_local int thread_error;
int elsewhere(int result);
int f_adds(int fd) { return psys_close(fd) + 1; }
int f_branches(int fd) { return psys_close(fd) < 0 ? elsewhere(fd) : 3; }
int f_calls(int fd) { return elsewhere(psys_close(fd)) ^ fd; }
int f_does_nothing(int fd) { return fd; }
int f_loads(const int *fd) { return psys_close(*fd); }
int f_stores(int fd) { return error = psys_close(fd); }
int f_stores_in_thread(int fd) { return thread_error = psys_close(fd); }
int f_traps_twice(int fd) { return psys_close(fd), psys_close(fd); }
C

# compile FILE COMPILER...
compile()
{
	file=$1
	shift
	"$@" -std=c11 -ffreestanding -O2 -ffunction-sections -Iinclude -c "$work/$file.c" -o "$work/$file.o"
}

# Prints the functions in FILE that are more than moves of registers and constants, one trap and the
# return, each with its first other instruction; and their number.
judge()
{
	llvm-objdump -d --no-show-raw-insn --no-leading-addr "$work/$1.o" | awk '
	function refuse(why) { if (!why_not) why_not = why }
	function finish()
	{
		if (!name)
			return
		if (traps != 1) refuse(traps " traps")
		if (returns != 1) refuse(returns " returns")
		if (why_not) print "refused " name ": " why_not
		functions++
		name = why_not = ""
		traps = returns = 0
	}
	/^<.*>:$/ { finish(); name = substr($1, 2, length($1) - 3); next }
	!name || !NF || /^Disassembly/ { next }
	{
		sub(/[ \t]*(#|\/\/|;) .*$/, "") # a comment
		instruction = $0
		mnemonic = $1
		sub(/^[ \t]*[^ \t]+[ \t]*/, "")
		registers = $0
	}
	returns { refuse("after the return " instruction) }
	# Landing pads and signing of the return address; an old objdump prints numbers.
	mnemonic ~ /^(endbr64|bti|paciasp|autiasp)$/ || mnemonic == "hint" && registers ~ /^#(25|29|34)$/ { next }
	mnemonic == "syscall" || mnemonic == "svc" { traps++; next }
	mnemonic ~ /^retq?$/ { returns++; next }
	mnemonic ~ /^xor[lq]?$/ && split(registers, of, ", ") == 2 && of[1] == of[2] { next }
	mnemonic ~ /^(mov[lq]?|movslq|movabsq|cltq|sxtw|uxtw)$/ &&
		registers ~ /^((%[a-z0-9]+|\$-?[0-9a-fx]+|[wx][0-9z][0-9r]?|#-?[0-9a-fx]+)(, |$))*$/ { next }
	{ refuse(instruction) }
	END { finish(); print functions + 0 }'
}

is_the_trap()
{
	compile good "$@" && judge good && test "$(judge good)" = 6
}

refuses_worse()
{
	compile worse "$@" && judge worse &&
		test "$(judge worse | grep -c '^refused')" = "$(grep -c '^int f_' "$work/worse.c")"
}

# Clang 19 reports an error if a wrapper would be inlined into a function that lacks a feature of
# the unit.
cat >"$work/fewer.c" <<'C'
#include <syscall/syscall.h>
__attribute__((target("no-sse"))) int f_fewer(int fd) { return psys_close(fd); }
C
is_called()
{
	compile fewer "$@" -DPSYS_NO_INLINE_CALLS && judge fewer | grep 'refused f_fewer:.*\(call\|jmp\)'
}

# shellcheck disable=SC2086 # a word each
for arch in x86_64 aarch64; do
	for compiler in "clang --target=$arch-linux-gnu" "$arch-linux-gnu-gcc"; do
		if command -v "${compiler%% *}" >/dev/null; then
			check "an inlined wrapper is only the trap: $compiler" is_the_trap $compiler
			check "the check detects more than the trap: $compiler" refuses_worse $compiler
		else
			lacks "an inlined wrapper is only the trap: $compiler" "${compiler%% *}"
			lacks "the check detects more than the trap: $compiler" "${compiler%% *}"
		fi
	done
done
# Compilers that do not know the name of a register that other releases know.
for compiler in mipsisa32r6-linux-gnu-gcc mipsisa64r6-linux-gnuabi64-gcc; do
	if command -v $compiler >/dev/null; then
		check "a wrapper is compiled: $compiler" compile good $compiler
	else
		lacks "a wrapper is compiled: $compiler" "${compiler%% *}"
	fi
done
for compiler in clang-14 clang-19; do
	name="a wrapper is called with PSYS_NO_INLINE_CALLS: $compiler"
	if command -v $compiler >/dev/null; then
		check "$name" is_called $compiler --target=x86_64-linux-gnu
	else
		lacks "$name" "${compiler%% *}"
	fi
done
finish
