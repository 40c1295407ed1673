#!/bin/sh
# SPDX-License-Identifier: MIT
# Every linked object has the note of shadow stacks and landing pads: a program has them only if all
# its objects have the note.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
readelf=$(command -v llvm-readelf-19 || echo llvm-readelf) # older ones do not know GCS by name

# says FEATURES FILE: true if the object, library, program, or each member of the archive, has them
says()
{
	notes=$($readelf --notes "$2") || return 1
	said=$(echo "$notes" | grep -c "feature: $1\$")
	case $2 in
	*.a) test "$said" -gt 0 && test "$said" -eq "$(echo "$notes" | grep -c '^File:')" ;;
	*) test "$said" -eq 1 ;;
	esac || { echo "$2:"; echo "$notes"; return 1; }
}

all_say()
{
	features=$1
	shift
	for file; do
		says "$features" "$file" || return 1
	done
}

cross_builds_say()
{
	# Without the caller's make variables.
	env -u MAKEFLAGS -u MAKELEVEL -u CC make -s cross-"$1" BUILD_DIR="$build" &&
		all_say "$2" "$build/$1"/lib*.so "$build/$1"/lib*.a "$build/$1/suite"
}

x86="IBT, SHSTK" aarch64="BTI, PAC.*" # an older compiler knows nothing of GCS
case $(uname -m) in
x86_64) native=$x86 ;;
aarch64) native=$aarch64 ;;
*) native= ;;
esac
if [ -n "$native" ]; then
	# shellcheck disable=SC2046 # none if it is not there
	check "the libraries and the suite have the notes" all_say "$native" "$build/libaspawn.so" \
		"$build/libpsys.so" "$build/libaspawn.a" "$build/libpsys.a" \
		$(ls "$build/suite" 2>/dev/null)
else
	skip "the libraries and the suite have the notes" "no such notes on this architecture"
fi
if command -v clang-19 >/dev/null; then
	check "builds for aarch64 have the notes" cross_builds_say aarch64 "BTI, PAC, GCS"
	check "builds for x86_64 have the notes" cross_builds_say x86_64 "$x86"
else
	lacks "builds for aarch64 have the notes" "clang-19"
	lacks "builds for x86_64 have the notes" "clang-19"
fi
finish
