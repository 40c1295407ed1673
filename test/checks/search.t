#!/bin/sh
# SPDX-License-Identifier: MIT
# grep and ctags find each function of the library in include/ under its full name: no macro pastes
# a name together.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
nm=${NM:-llvm-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

functions()
{
	$nm --extern-only --defined-only "$build/libpsys.a" 2>/dev/null |
		awk 'NF == 3 && $2 == "T" { print $3 }' | grep '^psys_' | sort
}

# Each function of the archive is named in include/.
found_by_grep()
{
	grep -rhoE '\bpsys_[a-z0-9_]+\b' include | sort -u >"$work/words"
	functions | comm -23 - "$work/words" | grep . && return 1
	functions | grep -qx psys_openat
}

# The definition; for a call of the table it is the table's line.
found_by_ctags()
{
	ctags -R -f - include syscall | awk '$NF == "f" || /\tf\t/ { print $1 }' | sort -u >"$work/tags"
	functions | grep -v -e _thunk -e psys_restorer | comm -23 - "$work/tags" | grep . && return 1
	functions | grep -qx psys_openat
}

if functions | grep -q .; then
	check "grep finds each function in include/" found_by_grep
	if ctags --version 2>/dev/null | grep -q Universal; then
		check "ctags finds each function" found_by_ctags
	else
		lacks "ctags finds each function" "Universal Ctags"
	fi
else
	skip "grep finds each function in include/" "the objects are for optimizing at link time"
fi
finish
