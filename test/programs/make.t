#!/bin/sh
# GNU make, by its own suite.
. "$(dirname "$0")/compare.sh"
needs make perl
source_of make-dfsg

# The suite gives its programs an environment of its own.
results()
{
	cp -r "$source/tests" "$source/src" .
	sed 's/@[A-Z_]*@//' tests/config-flags.pm.in >tests/config-flags.pm
	mkdir bin
	printf '#!/bin/sh\n%s exec %s "$@"\n' "${preloading:+LD_PRELOAD=$preloading}" "$(command -v make)" >bin/make
	chmod +x bin/make
	cd tests && perl run_make_tests.pl -srcdir "$PWD/.." -make "$PWD/../bin/make" |
		sed -n 's,^\([a-z]*/[^ ]*\) \.\.* \(.*\),\1\t\2,p'
}

binds posix_spawn make --version
same "GNU make $(make --version | sed -n '1s/.* //p')" 110
finish
