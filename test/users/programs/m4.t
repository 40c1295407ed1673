#!/bin/sh
# SPDX-License-Identifier: MIT
# GNU m4, by the examples of its manual.
. "$(dirname "$0")/compare.sh"
needs m4
source_of m4

# Each example checks its status, output and errors.
results()
{
	cp -r "$source/checks" "$source/examples" .
	cd checks || return
	preloaded ./check-them -I ../examples -m m4 [0-9]*.* >output
	tail -5 output | tr ' ' '\n' | sed -n 's/^\([0-9]*\.[^:]*\)\(:.*\)/\1 failed\2/p; s/^\([0-9]*\.[^:]*\)$/\1 skipped/p' |
		sort >others
	printf '%s\n' [0-9]*.* | while read -r name; do
		printf '%s\t%s\n' "$name" "$(sed -n "s/^$name //p" others | xargs | grep . || echo passed)"
	done
}

binds "posix_spawn posix_spawnp" m4 --version
same "GNU m4 $(m4 --version | sed -n '1s/.* //p')" 200
finish
