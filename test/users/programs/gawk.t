#!/bin/sh
# SPDX-License-Identifier: MIT
# GNU awk, by its own suite.
. "$(dirname "$0")/compare.sh"
needs gawk make cmp
source_of gawk

# The suite expects files of a build: links lead to the installed files. Tests that also fail
# without the preload need other locales, or extensions that are built for the tests alone.
results()
{
	cp -r "$source/." .
	ln -s "$(command -v gawk)" gawk
	mkdir -p extension
	ln -s /usr/lib/*/gawk extension/.libs
	cd test || return
	sed -e '/^Makefile:/,/^$/d' -e 's/@srcdir@/./; s,@SHELL@,/bin/sh,; s/@[A-Za-z_]*@//g' Makefile.in >Makefile
	preloaded make -k check CMP=cmp abs_srcdir="$PWD" abs_builddir="$PWD" >output 2>&1
	grep -x '[a-zA-Z0-9_-]*' output | sort -u | while read -r name; do
		test -e "_$name" && outcome=failed || outcome=passed
		printf '%s\t%s\n' "$name" "$outcome"
	done
}

binds "pclose popen system" gawk --version
same "GNU awk $(gawk --version | sed -n '1s/^GNU Awk \([0-9.]*\).*/\1/p')" 400
finish
