#!/bin/sh
# SPDX-License-Identifier: MIT
# The command aspawn: exit codes, the line, the object of JSON, ends.
. "$(dirname "$0")/../checks/tap.sh"
aspawn=${BUILD_DIR:-build}/cli/aspawn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# exits CODE ARGUMENTS ...; the line is in $work/line, the output in $work/out.
exits()
{
	code=$1 got=0
	shift
	timeout 30 "$aspawn" "$@" >"$work/out" 2>"$work/line" || got=$?
	[ "$got" = "$code" ] || { echo "exit code $got instead of $code"; cat "$work/line"; return 1; }
}

# exits, and writes exactly this line.
says()
{
	line=$1
	shift
	exits "$@" && printf 'aspawn: %s\n' "$line" | diff - "$work/line"
}

quiet()
{
	exits "$@" && [ ! -s "$work/line" ]
}

# A process that writes its number, and whether that is gone.
is_gone()
{
	! kill -0 "$(cat "$work/pid")" 2>/dev/null
}

ends_a_session_at_a_limit()
{
	exits 124 -t 0.5 sh -c "setsid sh -c 'echo \$\$ >$work/pid; exec sleep 100' & sleep 100" && is_gone
}

ends_what_a_program_has_left()
{
	exits 0 sh -c "(setsid sh -c 'echo \$\$ >$work/pid; exec sleep 100' &); until [ -s $work/pid ]; do :; done" && is_gone &&
		grep -q 'had to end what it left: s' "$work/line"
}

leaves_what_a_program_has_left()
{
	exits 0 --leave sh -c "sleep 100 & echo \$! >$work/pid" && kill "$(cat "$work/pid")"
}

ends_all_if_killed()
{
	"$aspawn" sh -c "setsid sh -c 'echo \$\$ >$work/pid; exec sleep 100' & sleep 100" &
	until [ -s "$work/pid" ]; do sleep 0.01; done
	kill -KILL $!
	wait $! 2>/dev/null
	tries=0
	until is_gone; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || return 1
		sleep 0.05
	done
}

# The outer shell gets the signal; the others end with it.
passes_on_a_signal()
{
	"$aspawn" sh -c "trap 'echo term >$work/got; exit 3' TERM; echo >$work/ready; while :; do sleep 0.01; done" 2>"$work/line" &
	until [ -s "$work/ready" ]; do sleep 0.01; done
	kill -TERM $!
	wait $!
	[ $? = 3 ] && grep -q term "$work/got" && grep -q 'stopped by SIGTERM' "$work/line"
}

drops_excess_output()
{
	exits 3 --output-limit 5 sh -c 'echo 123456789; exit 3' && [ "$(cat "$work/out")" = 12345 ] &&
		grep -q '5 bytes of standard output dropped' "$work/line"
}

gives_output_that_is_held()
{
	exits 0 --leave --idle 50 sh -c 'sleep 5 & echo begins' && [ "$(cat "$work/out")" = begins ]
}

has_a_terminal()
{
	exits 0 --pty sh -c 'tty; stty size' </dev/null && grep -q ^/dev/pts/ "$work/out" && grep -q '^24 80' "$work/out"
}

ends_input_of_a_terminal()
{
	for option in --pty "--pty --leave"; do
		# shellcheck disable=SC2086 # a word each
		echo text | exits 0 -t 20 $option sh -c 'cat; cat; echo end' && [ "$(tr -d '\r' <"$work/out" | tr '\n' ' ')" = 'text end ' ] ||
			{ echo "with $option"; return 1; }
	done
}

# The program has not read the end of the input for a time in which the tool has looked often.
ends_input_of_a_terminal_once()
{
	exits 0 --pty sh -c 'sleep 2; stty -icanon min 0 time 0
		until count=$(dd bs=100 count=1 2>/dev/null | wc -c); [ "$count" -gt 0 ]; do sleep 0.1; done; echo "$count"' </dev/null &&
		echo "$(cat "$work/out") bytes" && [ "$(tr -d '\r' <"$work/out")" = 1 ]
}

# In a group whose children have the controller, or an error of what is missing there.
limits_memory()
{
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=$(mktemp -d "$root/aspawn-cli-XXXXXX") || return 1
	if echo +memory >"$root/cgroup.subtree_control"; then
		says 'tail: out of memory, killed by SIGKILL' 137 --cgroup "$group" --memory 16M tail /dev/zero
	else
		exits 125 --cgroup "$group" --memory 16M touch "$work/never" && [ ! -e "$work/never" ] &&
			exits 0 --cgroup "$group" grep -F "${group##*/}/aspawn-" /proc/self/cgroup
	fi
	status=$?
	rmdir "$group" && return "$status"
}

has_json()
{
	exits 124 --json "$work/json" -t 2 sleep 100 &&
		python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))
assert (r["version"], r["outcome"], r["signal"], r["ended"]) == (1, "timeout", "SIGTERM", ["sleep"]), r' "$work/json"
}

has_json_of_a_wrong_option()
{
	exits 125 --json "$work/json" --timeout=never touch "$work/started" && [ ! -e "$work/started" ] &&
		python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["outcome"] == "not-started"' "$work/json"
}

# What a program finds open of 0, 1 and 2.
keeps_streams_closed()
{
	program='for fd in 0 1 2; do [ ! -e "/proc/$$/fd/$fd" ] || open=$open$fd; done; echo "$open" >"$0"'
	for option in "" --leave --idle=20 --setsid; do
		# shellcheck disable=SC2086 # a word each
		open='' "$aspawn" $option sh -c "$program" "$work/in" <&- && open='' "$aspawn" $option sh -c "$program" "$work/all" <&- >&- 2>&- &&
			[ "$(cat "$work/in" "$work/all")" = 12 ] || { echo "with '$option': $(cat "$work/in" "$work/all")"; return 1; }
	done
}

check keeps_the_exit_code quiet 7 sh -c 'exit 7'
check tells_a_signal says 'sh: killed by SIGKILL' 137 sh -c 'kill -9 $$'
check tells_a_missing_program says 'no-such: search "no-such": ENOENT' 127 no-such
check tells_a_file_that_is_not_executable exits 126 /etc/passwd
check tells_a_wrong_value says '--timeout "x": is no duration (a number of seconds, or with ms, s, m, h or d)' 125 --timeout=x true
check reaches_a_time_limit says 'sleep: timed out after 0.200 s, killed by SIGTERM' 124 -t 200ms sleep 100
check kills_after_the_grace says 'sh: timed out after 2.000 s, killed by SIGKILL' 124 -t 2 -k 0.2 sh -c 'trap "" TERM; sleep 100; sleep 100'
check preserves_the_status exits 143 -p -t 0.2 sleep 100
check ends_a_session_at_a_limit ends_a_session_at_a_limit
rm -f "$work/pid"
check ends_what_a_program_has_left ends_what_a_program_has_left
check leaves_what_a_program_has_left leaves_what_a_program_has_left
rm -f "$work/pid"
check ends_all_if_killed ends_all_if_killed
check passes_on_a_signal passes_on_a_signal
check ends_a_silent_program exits 124 --idle 0.3 sh -c 'echo begins; sleep 100'
check drops_excess_output drops_excess_output
check gives_output_that_is_held gives_output_that_is_held
check has_a_terminal has_a_terminal
check ends_input_of_a_terminal ends_input_of_a_terminal
check keeps_closed_streams_closed keeps_streams_closed
check ends_input_that_is_unread_once ends_input_of_a_terminal_once
if [ -w "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/cgroup.procs" ]; then
	check limits_memory limits_memory
else
	skip limits_memory "no control group of version 2 that this user may change"
fi
check has_json has_json
check has_json_of_a_wrong_option has_json_of_a_wrong_option
finish
