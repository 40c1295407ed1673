#!/bin/sh
# SPDX-License-Identifier: MIT
# The suite with aspawn.c and aspawn.S, compiled with no option but the target's, in place of
# the library: without a libc, natively and under an emulator, and beside a libc with what
# distributions compile with. Of the emulated, the tests of what depends on the architecture.
# TARGETS="riscv64" for others of them.
. "$(dirname "$0")/../../checks/tap.sh"
. "$(dirname "$0")/tools.sh"
tools/amalgamate.py "$work" || exit
chmod 755 "$work" # tests execute the suite as other users
# compiles_library COMPILER FLAGS...
compiles_library()
{
	in_work "$@" -c aspawn.c -o c.o && in_work "$@" -c aspawn.S -o S.o
}

# passes SUITE "PROVE-OPTIONS" MAKE-ARGUMENT...: builds a suite with these objects, and runs it
passes()
{
	suite=$work/build/$1 run=$2
	shift 2
	# Of the caller's make nothing else is inherited.
	env -u MAKEFLAGS -u MAKELEVEL make -s -j2 "$suite" BUILD_DIR="$work/build" \
		objects="$work/c.o $work/S.o" CFLAGS=-O0 "$@" &&
		SUITE_QUICK=1 eval "prove $run" </dev/null
	status=$?
	rm -rf "$work/build"
	return $status
}

passes_alone()
{
	compiles_library "$1" -O2 && passes suite '--exec "" "$suite"' CC="$1"
}

passes_beside_a_libc()
{
	compiles_library "$1" -O2 -fPIE -fstack-protector-strong -fstack-clash-protection \
		-D_FORTIFY_SOURCE=2 &&
		passes suite-hosted '--exec "" "$suite"' CC="$1"
}

# passes_emulated EMULATOR TRIPLE FLAGS...
passes_emulated()
{
	emulator=$1 triple=$2
	shift 2
	compiles_library clang-19 --target="$triple" "$@" -nostdlibinc -O2 &&
		passes suite '--exec "$emulator" "$suite" :: stubs.c aspawn.c commands_' CC=clang-19 \
			TARGET="$triple" TARGET_FLAGS="$*"
}

for compiler in clang-19 gcc; do
	if ! command -v $compiler >/dev/null; then
		skip "$compiler: the suite" "not installed"
		continue
	fi
	[ $compiler = gcc ] || check "$compiler: the suite without a libc" passes_alone $compiler
	[ $compiler != gcc ] || check "$compiler: the suite beside a libc" passes_beside_a_libc $compiler
done
for target in ${TARGETS:-aarch64 s390x}; do
	of() { sed -n "s/^$target\.$1 := //p" syscall/arch/*/target.mk; }
	emulator=$(of emulator)
	if [ -n "$(of cc)" ] || ! command -v clang-19 >/dev/null; then
		skip "$target: the suite" "no clang-19 for it"
	elif ! SUITE_EMULATOR=$(command -v "$emulator"); then
		skip "$target: the suite" "no $emulator"
	else
		export SUITE_EMULATOR
		# shellcheck disable=SC2046 # a word each
		check "$target: the suite" passes_emulated "$emulator" "$(of triple)" $(of flags)
	fi
done
finish
