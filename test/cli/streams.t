#!/bin/sh
# SPDX-License-Identifier: MIT
# The command aspawn: bytes through it, what a quiet program costs, an empty container.
# WHOLE=1: 1 GiB, and a minute of quiet.
# shellcheck disable=SC2317 # functions for check
. "$(dirname "$0")/../checks/tap.sh"
aspawn=$(realpath "${BUILD_DIR:-build}")/cli/aspawn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mib=$((${WHOLE:+960} + 64))
quiet=${WHOLE:+60}
limits="--timeout=1000 --idle=1000 --cpu-time=1000 --output-limit=10T --pty --setsid --rlimit=nofile=64:64 --leave --foreground"

# Numbers, which differ in each line.
much()
{
	seq 100000000 | head -c "$((mib * 1024 * 1024))"
}

passes_unchanged()
{
	sum=$(much | cksum)
	for way in "" --idle=1000 --output-limit=10T "--idle=1000 --output-limit=10T -t 1000"; do
		# shellcheck disable=SC2086 # a word each
		is=$("$aspawn" $way sh -c 'seq 100000000 | head -c "$1"' sh "$((mib * 1024 * 1024))" | cksum)
		[ "$is" = "$sum" ] || { echo "$way: $is instead of $sum"; return 1; }
	done
}

passes_input_unchanged()
{
	sum=$(much | cksum)
	for way in "" --idle=1000 --output-limit=10T; do
		# shellcheck disable=SC2086
		is=$(much | "$aspawn" $way cat | cksum)
		[ "$is" = "$sum" ] || { echo "$way: $is instead of $sum"; return 1; }
	done
}

# Both streams at once, to two readers of which one is slow.
passes_both_streams()
{
	"$aspawn" --idle=1000 sh -c 'seq 1000000; seq 2000000 >&2' 2>errors | { sleep 0.5; cksum >output; }
	[ "$(seq 1000000 | cksum)" = "$(cat output)" ] && seq 2000000 | cmp - errors
}

# What is beyond the limit is dropped, and the program keeps its exit code.
drops_what_is_beyond()
{
	code=0
	"$aspawn" -q --output-limit=1M sh -c 'seq 1000000; exit 3' >output || code=$?
	seq 1000000 | head -c 1048576 | cmp - output && echo "code $code" && [ "$code" = 3 ]
}

reads_only_what_it_needs()
{
	for limit in "" $limits; do
		# shellcheck disable=SC2086
		[ "$(yes | timeout 60 "$aspawn" $limit head -n 1 | tr -d '\r')" = y ] || { echo "with '$limit'"; return 1; }
	done
}

# The program gets SIGPIPE, or what stands between ends it.
ends_without_a_reader()
{
	for limit in "" $limits; do
		# shellcheck disable=SC2086
		{ timeout 60 "$aspawn" -q $limit yes; echo $? >code; } | head -n 1 | tr -d '\r' >line
		[ "$(cat line)" = y ] && [ "$(cat code)" != 124 ] || { echo "with '$limit': code $(cat code), $(cat line)"; return 1; }
	done
}

# Each run is a child of a shell of its own, whose times(2) has that of the tool.
cpu_time_of()
{
	sh -c '"$@" </dev/null >&3; times' sh "$@" | awk 'NR == 2 { split($1, user, /[ms]/); split($2, system_, /[ms]/)
		printf "%d\n", 1000 * (60 * user[1] + user[2] + 60 * system_[1] + system_[2]) }'
}

costs_less_than_100_ms()
{
	for limit in "" --timeout=1000 --idle=1000 --pty --output-limit=1M --die-with-parent; do
		# shellcheck disable=SC2086
		(cpu_time_of "$aspawn" $limit sleep "${quiet:-5}" 3>/dev/null >"cost$limit") &
	done
	wait
	for file in cost*; do
		echo "$file: $(cat "$file") ms"
		[ "$(cat "$file")" -lt 100 ] || bad=1
	done
	[ -z "${bad-}" ]
}

# The program has ended, and its output is in two pipes and the tool.
waits_for_a_reader_at_no_cost()
{
	for limit in "" --timeout=3 --leave; do
		# shellcheck disable=SC2086
		cpu_time_of "$aspawn" $limit --output-limit=1M head -c 100000 /dev/zero 3>&1 >cost | { sleep 3.5; wc -c >count; }
		echo "'$limit': $(cat cost) ms, $(cat count) bytes"
		[ "$(cat cost)" -lt 100 ] && [ "$(cat count)" = 100000 ] || return 1
	done
}

check passes_output_unchanged passes_unchanged
check passes_input_unchanged passes_input_unchanged
check passes_both_streams passes_both_streams
check drops_what_is_beyond_the_limit drops_what_is_beyond
check reads_only_what_the_program_needs reads_only_what_it_needs
check ends_a_program_without_a_reader ends_without_a_reader
check costs_less_than_100_ms_while_quiet costs_less_than_100_ms
check waits_for_a_slow_reader_at_no_cost waits_for_a_reader_at_no_cost
finish
