#!/bin/sh
# SPDX-License-Identifier: MIT
# The drop-ins with musl: linked, linked statically, and preloaded. musl's own functions are not
# tested, as it lacks some.
. "$(dirname "$0")/../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")/musl
if ! command -v musl-gcc >/dev/null; then
	echo "1..0 # SKIP no musl-gcc: apt-get install musl-tools"
	exit
fi

# make_of TARGET [VARIABLE=VALUE...]: by musl-gcc, without the caller's make variables.
make_of()
{
	env -u MAKEFLAGS -u MAKELEVEL make -s -j2 CC=musl-gcc BUILD_DIR="$build" "$@"
}

# Prints the tests that did not pass.
passes()
{
	"$@" >"$build/output" 2>&1
	status=$?
	grep -v '^ok' "$build/output"
	test $status = 0 && ! grep '^not ok' "$build/output"
}

passes_if_static()
{
	rm "$build/suite-compat"
	make_of "$build/suite-compat" LDFLAGS=-static && passes "$build/suite-compat"
}

# Otherwise the tests would pass with musl's own functions.
replaces_its_functions()
{
	for name in posix_spawn posix_spawnp popen pclose system; do
		llvm-nm -D --defined-only "$build/libaspawn-preload.so" | grep -q " T $name\$" || return 1
	done
}

loads_the_preload()
{
	make_of "$build/suite-standard" LDFLAGS="$build/libaspawn-preload.so -Wl,-rpath,$build" &&
		passes "$build/suite-standard"
}

check "the drop-ins and their tests are built" make_of compat "$build/suite-compat"
check "the drop-ins work with musl, linked" passes "$build/suite-compat"
check "the drop-ins work with musl, linked statically" passes_if_static
check "the preload replaces musl's functions" replaces_its_functions
check "the drop-ins work with musl, preloaded" loads_the_preload
finish
