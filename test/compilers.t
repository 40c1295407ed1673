#!/bin/sh
# The suite, with and without a libc, by each compiler that is supported and at
# each level of optimization, with fewer repetitions. A compiler that is not
# installed is a skip.
. "$(dirname "$0")/checks/tap.sh"
build=${BUILD_DIR:-build}/compilers

passes()
{
	# Of the caller's make nothing else is inherited.
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
