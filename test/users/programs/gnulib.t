#!/bin/sh
# SPDX-License-Identifier: MIT
# Gnulib's tests of posix_spawn, from m4's source.
. "$(dirname "$0")/compare.sh"
needs clang ld.lld
source_of m4

# Stubs for the gnulib functions that the tests need. One test gets a script to execute.
build_tests()
{
	cp -r "$source/tests" "$work/built"
	cd "$work/built" || return 1
	printf '#define _GNU_SOURCE\n#define _GL_ATTRIBUTE_FORMAT(a)\n#define _GL_UNUSED __attribute__((unused))\n' >config.h
	echo 'const char *find_in_path(const char *name) { return "/bin/pwd"; }' >findprog.c
	for script in stdin stdout; do
		cp test-posix_spawn-dup2-$script.in.sh test-posix_spawn-dup2-$script.sh
	done
	for file in test-posix_spawn*.c; do
		clang -fuse-ld=lld -w '-DBOURNE_SHELL="/bin/sh"' '-DSRCDIR="./"' -Dposix_spawn_file_actions_addchdir=posix_spawn_file_actions_addchdir_np \
			-I. -I"$source/lib" "$file" findprog.c -o "${file%.c}" || return 1
	done
}

results()
{
	for file in "$work/built"/test-posix_spawn*.c; do
		cp -r "$work/built" here
		test=$(basename "$file" .c)
		(cd here && srcdir=. preloaded "./$test") >output 2>&1 && result=passed || result=failed
		printf '%s\t%s %s\n' "$test" "$result" "$(tr '\n' ' ' <output)"
		rm -r here
	done
}

check "gnulib's tests are built" build_tests
# shellcheck disable=SC2016 # expanded by that shell
binds "posix_spawn posix_spawnp" sh -c 'cd "$0" && for test in test-posix_spawn*.c; do "./${test%.c}"; done' "$work/built"
same "Gnulib, of m4 $(sed 's/-.*//' "$source/.version")" 13
finish
