#!/bin/sh
# SPDX-License-Identifier: MIT
# Every hazard of doc/hazards.md has a heading and a paragraph "Tests: ...". Every test that such a
# paragraph or doc/trust.md names exists.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A paragraph a line, as a name may begin on one line and end on the next.
for page in hazards trust; do
	awk -v RS= '{ gsub(/\n */, " "); print }' "doc/$page.md" >"$work/$page.paragraphs"
done
# Names of tests, files, make targets.
grep '^Tests: ' "$work/hazards.paragraphs" | grep -o '`[^`]*`' | tr -d '`' | sort -u >"$work/hazards"
# Functions have parentheses on this page: a word with three underscores is a test.
grep -o '`[^`]*`' "$work/trust.paragraphs" | tr -d '`' |
	grep -E '^(make|build/suite) |^(test|\.ci)/|^[a-z0-9]+(_[a-z0-9]+){3,}$' | sort -u >"$work/trust"
sed -n 's/^TEST\(_SECONDS\)\{0,1\}(\([a-z0-9_]*\).*/\2/p' test/*/*.c test/suite/*/*.c >"$work/tests"

# exists NAME: a test, a file of the tree, targets of make, or a part of the suite
exists()
{
	case $1 in
	"make "*)
		for word in ${1#make }; do
			case $word in
			MODELS=*) test -e "test/proofs/models/${word#*=}.pml" ;;
			*=*) grep -q "[( ]${word#*=}[,)]" test/proofs/faults/scenarios.c ;;
			*) grep -q "^$word:" Makefile ./*/*.mk test/proofs/*.mk ;;
			esac || return 1
		done
		;;
	"build/suite "*) grep -q "${1#* }" "$work/tests" ;;
	*/*) test -e "$1" ;;
	*) grep -qx "$1" "$work/tests" ;;
	esac
}

# every_name_exists LIST LEAST: of more than LEAST names
every_name_exists()
{
	test "$(wc -l <"$1")" -gt "$2" || return 1
	missing=0
	while read -r name; do
		exists "$name" || {
			echo "no such test: $name"
			missing=1
		}
	done <"$1"
	return $missing
}

every_hazard_names_its_tests()
{
	! awk '/^#/ && hazard { print "no tests: " hazard; hazard = "" }
		/^### / { hazard = $0 }
		/^Tests: / { hazard = "" }
		END { if (hazard) print "no tests: " hazard }' "$work/hazards.paragraphs" | grep .
}

check "every hazard of doc/hazards.md names its tests, or that there are none" every_hazard_names_its_tests
check "every test that doc/hazards.md names exists" every_name_exists "$work/hazards" 50
check "every test that doc/trust.md names exists" every_name_exists "$work/trust" 40
finish
