#!/bin/sh
# SPDX-License-Identifier: MIT
# The drop-ins with a newer libc, which test/compat/fetch fetches: linked, and by a preload that was
# built with the host's libc.
. "$(dirname "$0")/../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")
nm=${NM:-llvm-nm}
libc=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/libc
newer=$build/newer-libc
if [ ! -d "$libc" ]; then
	echo "1..0 # SKIP the libc is not fetched: test/compat/fetch"
	exit
fi
files=$(dirname "$(find "$libc/usr" -name libc.so.6)")
loader=$(find "$libc/" -path '*/lib*/ld-linux*' | head -1)

builds()
{
	make -s "$newer/suite-standard" "$newer/suite-compat" BUILD_DIR="$newer" \
		CFLAGS="-O2 -g --sysroot=$libc --gcc-toolchain=/usr" \
		LDFLAGS="-static-libgcc -Wl,--dynamic-linker=$loader -Wl,-rpath,$files"
}

# Prints the tests that did not pass. A test that only a newer libc has must have run.
passes()
{
	preload=$1
	shift
	LD_PRELOAD=$preload "$@" >"$newer/output" 2>&1
	status=$?
	grep -v '^ok' "$newer/output"
	test $status = 0 && grep -q '^ok .*pidfd_spawn_reports_errors' "$newer/output" && ! grep '^not ok' "$newer/output"
}

replaces_all_file_actions()
{
	for file in "$files/libc.so.6" "$build/libaspawn-preload.so"; do
		$nm -D --defined-only "$file" | grep -o -E '(posix_spawn_file_actions_|pidfd_spawn)[a-z0-9_]*' | sort -u \
			>"$newer/$(basename "$file").names"
	done
	test -s "$newer/libc.so.6.names" && ! comm -23 "$newer/libc.so.6.names" "$newer/libaspawn-preload.so.names" | grep .
}

check "the suites are built" builds
check "the newer libc itself passes" passes "" "$newer/suite-standard"
check "the drop-ins work linked with the newer libc" passes "" "$newer/suite-compat"
check "a preload built with an older libc works with the newer" passes "$build/libaspawn-preload.so" "$newer/suite-standard"
check "the preload replaces all functions of file actions of the newer libc" replaces_all_file_actions
finish
