#!/bin/sh
# SPDX-License-Identifier: MIT
# The library and psys.h for every target: each file compiles alone, with no option but the
# target's, and is what the tree is for it.
. "$(dirname "$0")/../../checks/tap.sh"
. "$(dirname "$0")/tools.sh"
tools/amalgamate.py "$work" || exit

# compiles_for DIRECTORY COMPILER...
compiles_for()
{
	directory=$1
	shift
	compiles_source "$@" && compiles_assembly "$@" && need_nothing_else
}

# callers_compile_for STANDARD COMPILER...
callers_compile_for()
{
	caller_compiles psys-caller "$@" && caller_compiles caller "$@" -DPSYS_LAST
}

all_equal_tree()
{
	for file in psys.h aspawn.h aspawn.c aspawn.S; do
		equals_tree $file "$@" || { echo "that was $file"; return 1; }
	done
}

targets >"$work/targets"
while read -r target directory compiler flags; do
	if ! command -v "$compiler" >/dev/null; then
		skip "$target" "no $compiler"
		continue
	fi
	# shellcheck disable=SC2086 # a word each
	check "$target: each file compiles alone" compiles_for "$directory" "$compiler" $flags
	# shellcheck disable=SC2086
	check "$target: the image links" links_image "$compiler" $flags
	# shellcheck disable=SC2086
	check "$target: callers in C11" callers_compile_for c11 "$compiler" $flags
	if has_cplusplus "$compiler"; then
		# shellcheck disable=SC2086
		check "$target: callers in C++17" callers_compile_for c++17 "$compiler" $flags
	else
		skip "$target: callers in C++17" "$compiler has no C++"
	fi
	# shellcheck disable=SC2086
	check "$target: the same as the tree" all_equal_tree "$directory" "$compiler" $flags
done <"$work/targets"
finish
