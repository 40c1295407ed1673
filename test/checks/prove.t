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

# Each part runs, whatever became of those before.
sums_up()
{
	! test/prove --summary sh -c 'echo "part $2"; case $2 in
		inner) exec test/prove --summary "$0" "$1/run" -- passes skips ;;
		stops) echo "no such compiler"; exit 2 ;;
		esac; exec "$1/run" "$2"' sh "$work" -- fails stops passes inner breaks >"$work/output" 2>&1 || return 1
	test "$(grep -c '^part ' "$work/output")" = 5 &&
		grep -x ' *4 skipped: no fish (passes)' "$work/output" &&
		test "$(grep '^failed:' "$work/output")" = "failed: fails: b; stops; breaks: No plan found in TAP output" &&
		test "$(tail -1 "$work/output")" = "tests: 4 passed, 2 failed, 5 skipped"
}

names_what_failed()
{
	proves 1 "1 passed, 1 failed, 0 skipped" "$work/fails" && test "$(grep '^failed:' "$work/output")" = "failed: fails: b"
}

# Before it, as the suite writes them, or after it.
comments_are_of_failures()
{
	tap comments "# of a" "ok 1 - a" "# of b: 7" "not ok 2 - b" "# of b: 8" "ok 3 - c" "# of c" 1..3
	for jobs in 1 2; do
		V='' proves 1 "3 passed, 1 failed, 2 skipped" "-j$jobs" "$work/comments" "$work/passes" &&
			test "$(grep -c '^# of b' "$work/output")" = 2 && ! grep '^# of [ac]' "$work/output" || return 1
	done
	V=1 proves 1 "2 passed, 1 failed, 0 skipped" "$work/comments" && grep '^# of a' "$work/output"
}

surroundings_are_the_same()
{
	printf '#!/bin/sh\necho 1..1\ntest "$LC_ALL $PATH" = "C $1" && echo ok 1\n' >"$work/surrounded"
	chmod 755 "$work/surrounded"
	LC_ALL=C.UTF-8 PATH="$work/missing:/usr/bin:/bin" proves 0 "1 passed, 0 failed, 0 skipped" \
		"$work/surrounded" :: /usr/bin:/bin
}

printf '#!/bin/sh\nexec test/prove --exec "" "%s/$1"\n' "$work" >"$work/run" && chmod 755 "$work/run"
check "what was skipped, and why" says_why
check "the exit status" fails
check "all parts run after one failed, and have one summary, whose last line counts" sums_up
check "a line names the tests that failed" names_what_failed
check "tests run in the C locale, and PATH has no directory that may not be searched" surroundings_are_the_same
check "comments of tests that pass are shown with V=1 alone" comments_are_of_failures
finish
