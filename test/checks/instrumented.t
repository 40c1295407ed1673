#!/bin/sh
# SPDX-License-Identifier: MIT
# A function marked ASPAWN_CHILD, and the wrappers in it, compiled with each kind of
# instrumentation: the instrumentation must add no reference to a symbol, the thread pointer or a
# shadow stack. In the same function without the mark it must add some,
# otherwise the test shows nothing.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Code for each kind to instrument. Without instrumentation it refers to no symbol.
cat >"$work/child.c" <<'C'
#include <aspawn/aspawn.h>
#include <syscall/syscall.h>
#ifndef MARK
#define MARK ASPAWN_CHILD
#endif
#ifndef LENGTH
#define LENGTH 64
#endif
#ifdef __clang__
#define NONNULL _Nonnull
#else
#define NONNULL
#endif
struct given {
	int *NONNULL (*call)(int *NONNULL);
	int table[8], *next, shift, divisor;
	double real;
	unsigned char byte;
};
MARK int child(void *arg, int fd, void *mask, void *data, size_t length);
MARK int child(void *arg, int fd, void *mask, void *data, size_t length)
{
	struct given *given = arg;
	char copy[LENGTH];
	int *NONNULL next = given->next;
	int fds[2];
	size_t i;

	psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);
	for (i = 0; i < length && i < sizeof copy; i++)
		copy[i] = (char)(((const char *)data)[i] << given->shift);
	if (psys_write(fd, copy, i) < 0 || psys_pipe2(fds, 0) < 0)
		return given->table[i];
	given->byte += (unsigned char)length;
	switch (*given->call(next)) {
	case 1: return fds[0] / given->divisor;
	case 7: return (int)(given->real / given->byte);
	case 9: return (char *)mask < (char *)data ? (int)((char *)arg - (char *)data) : fds[1];
	default: return fds[1] + given->table[fds[0]];
	}
}
C

# Prints the references of the function and the wrappers, compiled by "COMPILER" "FLAGS" "LEVEL". At
# -O0 wrappers are not inlined, and a call of a wrapper does not count.
references()
{
	# shellcheck disable=SC2086 # a word each
	$1 -std=c11 -ffreestanding -fno-pic -ffunction-sections -w -Iinclude $3 $2 \
		-c "$work/child.c" -o "$work/child.o" || return
	$objdump --section-headers --disassemble --reloc --no-show-raw-insn "$work/child.o" |
		awk -v level="$3" '
	BEGIN {
		own = "^(\\.L(CPI|JTI|BB|C)|\\.?text\\.child|\\.rodata|child(\\.dfsan)?([-+]|$)" \
			(level == "-O0" ? "|(\\.text\\.)?psys_)" : ")")
	}
	$2 ~ /^(__patchable_function_entries|xray_instr_map|__mcount_loc)$/ { print $2 }
	/^[0-9a-f]+ <.*>:$/ { ours = $2 ~ /^<(child|psys_)/; next }
	!ours { next }
	$2 ~ /^R_/ && $3 !~ own { sub(/[-+]0x[0-9a-f]+$/, "", $3); print $3 }
	match($0, /%[fg]s:|tpidr_el0|\[x18\]|\((tp|gp)\)|[ \t](irg|stg)[ \t]/) {
		print substr($0, RSTART, RLENGTH)
	}' | sort -u
}
objdump=$(command -v llvm-objdump-19 || echo llvm-objdump)

# beyond "COMPILER" "FLAGS" LEVEL...: prints the references that the flags add
beyond()
{
	compiler=$1 flags=$2 definitions=
	shift 2
	for flag in $flags; do
		case $flag in -D*) definitions="$definitions $flag" ;; esac
	done
	for level; do
		without="$work/$compiler$definitions $level"
		[ -e "$without" ] || references "$compiler" "$definitions" "$level" >"$without"
		references "$compiler" "$flags" "$level" >"$work/with" || return
		comm -13 "$without" "$work/with"
	done
}

keeps_out()
{
	extra=$(beyond "$1" "$2" -O2 -O0) || { echo "$extra"; return 1; }
	[ -z "$extra" ] || { echo "$extra"; return 1; }
	extra=$(beyond "$1" "$2 -DMARK=" -O2) && [ -n "$extra" ] ||
		{ extra=$(beyond "$1" "$2 -DMARK=" -O0) && [ -n "$extra" ]; } ||
		{ echo "an unmarked function has nothing of it either"; return 1; }
}

is_harmless()
{
	extra=$(beyond "$1" "$2 -DMARK=" -O2 -O0) && echo "$extra" && [ -z "$extra" ]
}

# True if the compiler has the option; otherwise the check is skipped.
supports()
{
	# shellcheck disable=SC2086
	echo 'int f(void) { return 0; }' | $1 $2 -x c -c - -o "$work/nothing.o" >/dev/null 2>&1
}

# each CHECK "NAME" "COMPILER": the flags are lines of the standard input
each()
{
	while read -r flags; do
		if ! command -v "${3%% *}" >/dev/null; then
			lacks "$2: $3 $flags" "${3%% *}"
		elif ! supports "$3" "$flags"; then
			lacks "$2: $3 $flags" "such option of ${3%% *}, or not here"
		else
			check "$2: $3 $flags" "$1" "$3" "$flags"
		fi
	done
}

# In the library, all functions that run in a child are marked, and call only marked functions.
# -finstrument-functions shows unmarked functions.
calls_marked_functions_only()
{
	for file in syscall/*.c aspawn/*/*.c; do
		$1 -std=c11 -ffreestanding -fno-pic -ffunction-sections -O0 -finstrument-functions -w -Iinclude \
			-c "$file" -o "$work/library.o" || exit
		$objdump --disassemble --reloc --no-show-raw-insn "$work/library.o"
	done | awk '
	/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); functions++ }
	$2 !~ /^R_/ { next }
	{ sub(/[-+]0x[0-9a-f]+$/, "", $3); sub(/^\.text\./, "", $3) }
	$3 ~ /^__cyg_profile/ { unmarked[name]; next }
	{ calls[name, $3] }
	END {
		for (call in calls) {
			split(call, of, SUBSEP)
			if (!(of[1] in unmarked) && of[2] in unmarked) {
				print of[1] " calls " of[2]
				found = 1
			}
		}
		exit found || functions < 100
	}'
}

for compiler in gcc-12 clang-14; do
	name="the library's marked functions call no other: $compiler"
	if command -v $compiler >/dev/null; then
		check "$name" calls_marked_functions_only $compiler
	else
		lacks "$name" "$compiler"
	fi
done

# shellcheck disable=SC2043 # a list, if of one
for compiler in gcc-12; do
	each keeps_out "keeps out" $compiler <<'FLAGS'
-fprofile-arcs
-fprofile-arcs -fprofile-update=atomic
-fprofile-generate
-fprofile-generate -fprofile-update=atomic
-fsanitize=address
-fsanitize=address,pointer-compare,pointer-subtract
-fsanitize=kernel-address
-fsanitize=thread
-fsanitize=undefined
-fsanitize=bounds-strict
-fsanitize=float-cast-overflow
-fsanitize=float-divide-by-zero
-fsanitize-coverage=trace-pc
-fsanitize-coverage=trace-cmp
-fsplit-stack
-fstack-limit-symbol=limit -DLENGTH=length
-fstack-protector-all
-fstack-protector-strong
-finstrument-functions
-pg
-pg -mfentry
-fpatchable-function-entry=4,2
FLAGS
	each is_harmless "is harmless" $compiler <<'FLAGS'
-fstack-clash-protection
-fstack-check
-fcf-protection
-fzero-call-used-regs=all
FLAGS
done

for compiler in "clang-14 --target=x86_64-linux-gnu" "clang-19 --target=x86_64-linux-gnu"; do
	each keeps_out "keeps out" "$compiler" <<'FLAGS'
-fprofile-generate
-fprofile-instr-generate
-fprofile-instr-generate -fcoverage-mapping
-fcs-profile-generate
-fprofile-arcs -ftest-coverage
-fsanitize=address
-fsanitize=address -fsanitize-address-use-after-return=always
-fsanitize=kernel-address
-fsanitize=thread
-fsanitize=memory
-fsanitize=kernel-memory
-fsanitize=undefined
-fsanitize=integer
-fsanitize=implicit-conversion
-fsanitize=nullability
-fsanitize=float-divide-by-zero
-fsanitize=numerical
-fsanitize=safe-stack
-fsanitize=fuzzer-no-link
-fsanitize-coverage=trace-pc
-fsanitize-coverage=trace-pc-guard
-fsanitize-coverage=inline-8bit-counters
-fsanitize-coverage=inline-bool-flag
-fsanitize-coverage=bb,trace-pc-guard,trace-cmp,trace-div,trace-gep
-fsanitize-coverage=trace-pc-guard,stack-depth
-fsplit-stack
-fstack-protector-all
-fstack-protector-strong
-finstrument-functions
-finstrument-functions-after-inlining
-finstrument-function-entry-bare
-pg
-pg -mfentry
-fpatchable-function-entry=4,2
-fxray-instrument -fxray-instruction-threshold=1
FLAGS
	each is_harmless "is harmless" "$compiler" <<'FLAGS'
-fstack-clash-protection
-fsanitize=local-bounds
-fsanitize=kcfi
-fcf-protection
-fzero-call-used-regs=all
FLAGS
done

# Clang 14 has no attribute for it.
each keeps_out "keeps out" "clang-19 --target=x86_64-linux-gnu" <<'FLAGS'
-fsanitize=dataflow
FLAGS

for compiler in aarch64-linux-gnu-gcc "clang-14 --target=aarch64-linux-gnu" \
		"clang-19 --target=aarch64-linux-gnu"; do
	each keeps_out "keeps out" "$compiler" <<'FLAGS'
-fsanitize=hwaddress
-fsanitize=shadow-call-stack -ffixed-x18
-march=armv8.5-a+memtag -fsanitize=memtag-stack
-fstack-protector-all
-pg
FLAGS
done
each keeps_out "keeps out" "clang-19 --target=riscv64-linux-gnu" <<'FLAGS'
-fsanitize=shadow-call-stack
FLAGS
finish
