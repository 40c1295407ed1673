#!/bin/sh
# SPDX-License-Identifier: MIT
# GLib, by the tests of its spawning that Debian has built.
. "$(dirname "$0")/compare.sh"
source_of libglib2.0-tests
tests=$source/usr/libexec/installed-tests/glib
needs "$tests/spawn-test"

# They speak TAP.
results()
{
	for name in spawn-multithreaded spawn-singlethread spawn-path-search spawn-test gsubprocess unix shell; do
		test -x "$tests/$name" || continue
		(cd "$tests" && preloaded "$tests/$name" --tap) >output 2>errors && status=ok || status="failed $?"
		sed -n "s/^ok [0-9]* \([^ ]*\)\( *# SKIP.*\)*/$name\1	ok\2/p; s/^not ok [0-9]* \([^ ]*\).*/$name\1	failed/p" output
		printf '%s\t%s\n' "$name" "$status"
	done
}

binds "posix_spawn posix_spawnp" "$tests/spawn-test" --help
same "GLib $(sed 's/-.*//' "$source/.version")" 30
finish
