#!/bin/sh
# SPDX-License-Identifier: MIT
# Every hazard of doc/hazards.md has a heading and a paragraph "Tests: ...", and every test that this
# names exists.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A paragraph a line.
awk -v RS= '{ gsub(/\n/, " "); print }' doc/hazards.md >"$work/paragraphs"
# Names of tests, files, make targets.
grep '^Tests: ' "$work/paragraphs" | grep -o '`[^`]*`' | tr -d '`' | sort -u >"$work/named"
sed -n 's/^TEST\(_SECONDS\)\{0,1\}(\([a-z0-9_]*\).*/\2/p' test/*/*.c test/suite/*/*.c >"$work/tests"

# exists NAME: a test, a file of the tree, or targets of make
exists()
{
	case $1 in
	"make "*)
		for word in ${1#make }; do
			case $word in
			*=*) grep -q "[( ]${word#*=}[,)]" test/proofs/faults/scenarios.c ;;
			*) grep -q "^$word:" Makefile ./*/*.mk test/proofs/*.mk ;;
			esac || return 1
		done
		;;
	*/*) test -e "$1" ;;
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

every_hazard_names_its_tests()
{
	! awk '/^#/ && hazard { print "no tests: " hazard; hazard = "" }
		/^### / { hazard = $0 }
		/^Tests: / { hazard = "" }
		END { if (hazard) print "no tests: " hazard }' "$work/paragraphs" | grep .
}

check "every hazard of doc/hazards.md names its tests, or that there are none" every_hazard_names_its_tests
check "every test that doc/hazards.md names exists" every_name_exists
finish
