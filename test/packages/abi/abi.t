#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that were linked with the first version of a soname run with the library.
. "$(dirname "$0")/../../checks/tap.sh"
build=${BUILD_DIR:-build}

# Functions that are new are no change.
changes_nothing()
{
	abidiff --no-added-syms --suppr "$(dirname "$0")/own.suppr" "$1" "$2"
}

for library in "$build/libaspawn.so" "$build/libpsys.so"; do
	soname=$(objdump -p "$library" | sed -n 's/ *SONAME *//p')
	baseline=$(dirname "$0")/$(basename "$library" .so)-${soname#*.so.}.abi
	says="no function of $soname is removed, no type is changed"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "$says" "the baseline is for x86_64"
	elif ! command -v abidiff >/dev/null; then
		skip "$says" "no abidiff"
	elif [ -e "$library" ] && ! objdump -h "$library" | grep -q debug_info; then
		skip "$says" "the library has no debugging information"
	else
		check "$says" changes_nothing "$baseline" "$library"
	fi
done
finish
