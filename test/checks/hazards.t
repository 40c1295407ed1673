#!/bin/sh
# SPDX-License-Identifier: MIT
# Every test that doc/hazards.md names exists.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The last column of the tables: names of tests, files, make targets.
awk -F '|' '/^\|/ { print $(NF - 1) }' doc/hazards.md | grep -o '`[^`]*`' | tr -d '`' | sort -u >"$work/named"
sed -n 's/^TEST\(_SECONDS\)\{0,1\}(\([a-z0-9_]*\).*/\2/p' test/*/*.c >"$work/tests"

# exists NAME: a test, a file of the tree or of test/, or targets of make
exists()
{
	case $1 in
	"make "*)
		for word in ${1#make }; do
			case $word in
			*=*) grep -q "[( ]${word#*=}[,)]" test/faults/scenarios.c ;;
			*) grep -q "^$word:" Makefile ./*/*.mk ;;
			esac || return 1
		done
		;;
	*/*) test -e "$1" ;;
	*.*) test -n "$(find test -name "$1")" ;;
	*) grep -qx "$1" "$work/tests" ;;
	esac
}

every_name_exists()
{
	test "$(wc -l <"$work/named")" -gt 50 || return 1
	missing=0
	while read -r name; do
		exists "$name" || {
			echo "no such test: $name"
			missing=1
		}
	done <"$work/named"
	return $missing
}

check "every test that doc/hazards.md names exists" every_name_exists
finish
