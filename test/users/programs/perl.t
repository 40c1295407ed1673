#!/bin/sh
# SPDX-License-Identifier: MIT
# Perl, by its own tests that start programs. Perl forks, so the preload must change nothing.
. "$(dirname "$0")/compare.sh"
needs perl
source_of perl

tests="t/io/argv.t t/io/dup.t t/io/inplace.t t/io/open.t t/io/openpid.t t/io/pipe.t
	t/op/die_exit.t t/op/exec.t t/op/fork.t t/op/getppid.t t/op/kill0.t
	lib/open.t ext/IPC-Open3/t/IPC-Open2.t ext/IPC-Open3/t/IPC-Open3.t ext/IPC-Open3/t/fd.t"

# The tests expect the library beside them: links to the installed one.
results()
{
	cp -r "$source/t" "$source/ext" .
	mkdir lib
	for directory in $(perl -MConfig -e 'print "$Config{privlibexp} $Config{archlibexp}"') /usr/lib/*/perl-base; do
		cp -rsn "$directory/." lib
	done
	cp "$source/lib/open.t" lib
	ln -s "$(command -v perl)" t/perl
	cd t || return
	for name in $tests; do
		({ test "${name%%/*}" != ext || cd "../${name%/t/*}"; } && preloaded perl -I"$(realpath ../lib)" "$(realpath ../"$name")") 2>&1 |
			sed -n "s,^ok \([0-9]*\).*,$name \1	ok,p; s,^not ok \([0-9]*\).*,$name \1	failed,p"
	done
}

binds "" perl --version
same "Perl $(perl -MConfig -e 'print $Config{version}')" 380
finish
