#!/bin/sh
# SPDX-License-Identifier: MIT
# ninja: its unit tests, built from source, and tests of the installed program's output.
. "$(dirname "$0")/compare.sh"
needs ninja clang++ ld.lld python3 script
source_of ninja-build

build_tests()
{
	cp -r "$source/." "$work/built"
	cd "$work/built" || return 1
	find src -name '*.cc' ! -name '*perftest*' ! -name '*win32*' ! -name '*.in.cc' ! -name 'msvc*' \
		! -name browse.cc ! -name ninja.cc ! -name hash_collision_bench.cc ! -name 'includes_normalize*' \
		! -name 'minidump*' ! -name getopt.c -print0 |
		xargs -0 -P2 -n4 clang++ -std=c++11 -w -c && clang++ -fuse-ld=lld ./*.o -o tests -pthread &&
		ln -s "$(command -v ninja)" ninja
}

results()
{
	built=$work/built
	preloaded "$built/tests" >output 2>&1
	tr '\r' '\n' <output | awk '/^\[[0-9]*\/[0-9]*\] / { if (name) print name "\tok"; name = $2 }
		/^\*\*\* Failure/ && name { print name "\tfailed"; name = "" }
		END { if (name) print name "\t" ($1 == "passed" ? "ok" : "failed") }'
	cd "$built" && preloaded python3 misc/output_test.py -v 2>&1 |
		awk '/^test_/ { name = $1 } / \.\.\. / && name { print name "\t" $NF; name = "" }'
}

check "ninja's tests are built" build_tests
binds posix_spawn ninja --version
same "ninja $(ninja --version)" 390
finish
