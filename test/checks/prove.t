#!/bin/sh
# SPDX-License-Identifier: MIT
# test/prove keeps prove's exit status, and counts what was passed, failed and skipped.
. "$(dirname "$0")/tap.sh"
unset TEST_RESULTS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tap NAME LINE...: a script that prints the lines
tap()
{
	name=$1
	shift
	{
		echo "#!/bin/sh"
		for line; do echo "echo '$line'"; done
	} >"$work/$name"
	chmod 755 "$work/$name"
}

tap passes "ok 1 - a" "ok 2 - b # SKIP no fish" "ok 3 - c # SKIP no fish" 1..3
tap fails "ok 1 - a" "not ok 2 - b" 1..2
tap skips "1..0 # SKIP not the user"
tap breaks "ok 1 - a"

# proves STATUS COUNTS FILE...
proves()
{
	status=$1 counts=$2
	shift 2
	test/prove --exec '' "$@" >"$work/output" 2>&1
	test "$?" = "$status" && grep -Fx "tests: $counts" "$work/output"
}

says_why()
{
	proves 0 "1 passed, 0 failed, 3 skipped" "$work/passes" "$work/skips" &&
		grep -x ' *2 skipped: no fish (passes)' "$work/output" &&
		grep -x ' *1 skipped: not the user (skips)' "$work/output"
}

fails()
{
	proves 1 "1 passed, 1 failed, 0 skipped" "$work/fails" &&
		proves 1 "1 passed, 1 failed, 0 skipped" "$work/breaks"
}

sums_up()
{
	test/prove --summary sh -c 'test/prove --exec "" "$1/passes" && test/prove --exec "" "$1/passes" "$1/skips"
		test/prove --summary test/prove --exec "" "$1/fails"; exit 3' sh "$work" >"$work/output" 2>/dev/null
	test $? = 3 && grep -x ' *4 skipped: no fish (passes)' "$work/output" &&
		test "$(grep '^tests:' "$work/output")" = "tests: 3 passed, 1 failed, 5 skipped" &&
		grep '^failed: sh' "$work/output"
}

check "what was skipped, and why" says_why
check "the exit status" fails
check "several runs have one summary, and its command's status" sums_up
finish
