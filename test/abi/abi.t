#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that were linked with the first version of this soname run with the library.
. "$(dirname "$0")/../checks/tap.sh"
library=${BUILD_DIR:-build}/libaspawn.so
soname=$(objdump -p "$library" | sed -n 's/ *SONAME *//p')
baseline=$(dirname "$0")/$(echo "$soname" | sed 's/\.so\./-/').abi
name="no function of $soname is removed, no type is changed"

# Functions that are new are no change.
changes_nothing()
{
	abidiff --no-added-syms --suppr "$(dirname "$0")/own.suppr" "$baseline" "$library"
}

if [ "$(uname -m)" != x86_64 ]; then
	skip "$name" "the baseline is for x86_64"
elif ! command -v abidiff >/dev/null; then
	skip "$name" "no abidiff"
elif [ -e "$library" ] && ! objdump -h "$library" | grep -q debug_info; then
	skip "$name" "the library has no debugging information"
else
	check "$name" changes_nothing
fi
finish
