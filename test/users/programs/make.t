#!/bin/sh
# SPDX-License-Identifier: MIT
# GNU make, by its own suite.
. "$(dirname "$0")/compare.sh"
needs make perl
source_of make-dfsg

# The suite sets its own environment for programs, to which the preload is added.
results()
{
	cp -r "$source/tests" "$source/src" .
	sed 's/@[A-Z_]*@//' tests/config-flags.pm.in >tests/config-flags.pm
	sed -i "s/'LD_LIBRARY_PATH',/& 'LD_PRELOAD',/" tests/test_driver.pl
	cd tests && preloaded perl run_make_tests.pl -srcdir "$PWD/.." -make "$(command -v make)" |
		sed -n 's,^\([a-z]*/[^ ]*\) \.\.* \(.*\),\1\t\2,p'
}

binds posix_spawn make --version
same "GNU make $(make --version | sed -n '1s/.* //p')" 110
finish
