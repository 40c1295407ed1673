#!/bin/sh
# SPDX-License-Identifier: MIT
# The small examples do what they say.
. "$(dirname "$0")/../checks/tap.sh"
examples=${BUILD_DIR:-build}/examples
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# A descriptor that is closed while a child holds a copy of it goes on to be reported.
no_stale_events()
{
	"$examples/event_loop" 2000 | tee /dev/stderr | grep -q '^2000 commands, 0 failed, 0 stale events$'
}

does_all_actions()
{
	"$examples/command" >"$out" && printf '%s\n' 'directory /, locale C, processor time 10 s' \
		'no descriptor but 0, 1, 2' 'exit 0' | diff - "$out"
}

reports_a_failure()
{
	"$examples/command" /no/such/program 2>&1 | grep -Fx 'not started: exec "/no/such/program": ENOENT'
}

# The input comes back, with what the actions have done; then a tree that takes too long.
checks_in_one_call()
{
	"$examples/run" /etc | sed -n '2,/^ls/p' | sed '$d' >"$out"
	printf '%s\n' 'check in /: exit 3' input / C 10 error \
		'check in /: timed out, killed by SIGTERM' \
		'check in /no/such/directory: not started: action 0, chdir "/no/such/directory": ENOENT' |
		diff - "$out"
}

# shellcheck disable=SC2012 # the output of ls is what is counted
runs_in_one_call()
{
	"$examples/run" /etc >"$out" && grep -Fx "$(uname -sr)" "$out" &&
		grep -Fx "ls /etc: exit 0, $(ls -lR /etc | wc -c) bytes" "$out" &&
		! "$examples/run" /no/such/directory >"$out" 2>&1 && grep -Fx "ls /no/such/directory: exit 2, 0 bytes" "$out"
}

needs_no_libc()
{
	"$examples/freestanding" | grep -Fx "spoken by a real command" &&
		PATH=/nowhere "$examples/freestanding" 2>&1 | grep -Fx 'not started: search "echo": ENOENT'
}

check "an event loop takes descriptors out of epoll before they are closed" no_stale_events
check "a command with its actions" does_all_actions
check "a command that fails says where" reports_a_failure
check "everything in one call" checks_in_one_call
check "a command in one call, and a sink that grows" runs_in_one_call
check "a command without a libc" needs_no_libc
finish
