#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the suite, with and without a libc, by each supported compiler at each level of
# optimization, with fewer repetitions. Skips a compiler that is not installed.
. "$(dirname "$0")/../checks/tap.sh"
build=${BUILD_DIR:-build}/compilers

passes()
{
	# Without the caller's other make variables.
	env -u MAKEFLAGS -u MAKELEVEL SUITE_QUICK=1 make -s -j2 test-suite test-hosted \
		CC="$1" CFLAGS="$2 -g" BUILD_DIR="$build/$1$(echo "$2" | tr -d ' ')"
}

for compiler in ${COMPILERS:-clang-14 clang-19 gcc-12}; do
	for flags in -O0 -O2 "-O2 -flto"; do
		if command -v "$compiler" >/dev/null; then
			check "$compiler $flags" passes "$compiler" "$flags"
		else
			skip "$compiler $flags" "not installed"
		fi
	done
done
finish
