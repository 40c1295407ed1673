#!/bin/sh
# SPDX-License-Identifier: MIT
# The indexer, beside much memory: each way to start its filters counts the same words.
. "$(dirname "$0")/../../checks/tap.sh"
textindex=${BUILD_DIR:-build}/examples/textindex
out=$(mktemp)
trap 'rm -f "$out"' EXIT

counts_the_same()
{
	"$textindex" --resident 1024 --threads 8 --limit 100 --rounds 2 --method all >"$out" && cat "$out" &&
		awk 'NR > 2 && NF == 7 && !/^=>/ { print; rows++; failed += $4; words += $3 == 0; same[$3] } END { for (count in same) kinds++
			exit !(rows == 5 && kinds == 1 && !failed && !words) }' "$out" &&
		test "$(grep -c '^=> .* times the time of aspawn' "$out")" = 4
}

refuses_what_is_wrong()
{
	for wrong in "--threads 0" "--threads 257" "--limit x" "--rounds 0" "--rounds 101" "--resident -1" "--method none" "--none"; do
		# shellcheck disable=SC2086 # a word each
		"$textindex" $wrong >"$out" 2>&1
		test $? -eq 2 && grep "usage: textindex" "$out" || return 1
	done
}

check "all ways count the same words" counts_the_same
check "wrong arguments" refuses_what_is_wrong
finish
