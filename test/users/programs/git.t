#!/bin/sh
# SPDX-License-Identifier: MIT
# git, by its own tests that start programs. git forks, so the preload must change nothing. The
# helper of the tests is built; git itself is the installed one.
. "$(dirname "$0")/compare.sh"
needs git clang ld.lld make perl
source_of git

tests="t0014-alias t0021-conversion t0061-run-command t1800-hook t6500-gc t7006-pager t7503-pre-commit-and-pre-merge-commit-hooks"

build_helper()
{
	cp -r "$source/." "$work/built"
	make -s -j2 -C "$work/built" CC=clang CFLAGS=-w LDFLAGS=-fuse-ld=lld NO_CURL=1 NO_EXPAT=1 NO_OPENSSL=1 \
		NO_GETTEXT=1 NO_PYTHON=1 NO_TCLTK=1 GIT-BUILD-OPTIONS t/helper/test-tool &&
		make -s -C "$work/built/templates" TEST_SHELL=/bin/sh
}

results()
{
	cd "$work/built/t" || return
	for name in $tests; do
		preloaded env GIT_TEST_INSTALLED="$(dirname "$(command -v git)")" sh "./$name.sh" --root="$work/run" 2>&1 |
			sed -n "s/^\(not \)*ok \([0-9]*\)\( - [^#]*\)*\(# .*\)*/$name \2	\1ok \4/p"
	done
}

binds "" git --version
check "the helper of git's tests is built" build_helper
same "git $(git --version | sed 's/.* //')" 150
finish
