#!/bin/sh
# SPDX-License-Identifier: MIT
# repeated.t SUITE [TEST]...: the suite RUNS times, two copies at a time, beside a command that
# keeps the machine busy: STRESS, "" for none. What a failed run has printed is kept. stress-ng has
# a little less of the processors than the suite: 200 runs would take more than an hour.
runs=${RUNS:-200}
kept=${BUILD_DIR:-build}/repeated
command -v stress-ng >/dev/null || : "${STRESS=}"
stress=${STRESS-nice -n 5 stress-ng --quiet --cpu 2 --vm 1 --vm-bytes 256M --fork 1 --switch 1 --timeout 3h}
jobs=

# shellcheck disable=SC2317 # the trap's
end()
{
	trap - EXIT INT TERM
	# shellcheck disable=SC2086 # a word each
	kill $jobs 2>/dev/null
	wait
}

# every_second N SUITE [TEST]...: the runs N, N+2, N+4...
every_second()
{
	number=$1 && shift
	while [ "$number" -le "$runs" ]; do
		if "$@" >"$kept/$number.tap" 2>&1; then
			echo "ok - run $number"
			rm "$kept/$number.tap"
		else
			printf 'not ok - run %s, see %s\n%s\n' "$number" "$kept/$number.tap" \
				"$(grep -B 5 '^not ok' "$kept/$number.tap" | sed 's/^/# /')"
		fi
		number=$((number + 2))
	done
}

rm -rf "$kept" && mkdir -p "$kept" || exit 1
trap 'end; exit 1' INT TERM
trap end EXIT
echo "1..$runs"
if [ -n "$stress" ]; then
	$stress >/dev/null 2>&1 &
	jobs=$!
else
	echo "# nothing runs beside: no stress-ng, or STRESS is empty"
fi
every_second 1 "$@" &
first=$!
every_second 2 "$@" &
second=$!
jobs="$jobs $first $second"
wait "$first" "$second"
failed=$(find "$kept" -name '*.tap' | wc -l)
echo "# $runs runs, $failed failed"
rmdir "$kept" 2>/dev/null
exit "$((failed != 0))"
