#!/bin/sh
# SPDX-License-Identifier: MIT
# The small examples do what they say.
. "$(dirname "$0")/../../checks/tap.sh"
examples=${BUILD_DIR:-build}/examples
work=$(mktemp -d)
out=$work/out
trap 'rm -rf "$work"' EXIT

# A descriptor that is closed while a child holds a copy of it goes on to be reported.
no_stale_events()
{
	"$examples/event_loop" 2000 | tee /dev/stderr | grep -q '^2000 commands, 0 failed, 0 stale events$'
}

does_all_actions()
{
	"$examples/command" >"$out" && printf '%s\n' "file $(command -v sh)" 'directory /, locale C, processor time 10 s' \
		'no descriptor but 0, 1, 2' 'exit 0' | diff - "$out"
}

reports_a_failure()
{
	"$examples/command" /no/such/program 2>&1 | grep -Fx 'not started: exec "/no/such/program": ENOENT'
}

# The input comes back, with what the actions have done; then a tree that takes too long.
checks_in_one_call()
{
	"$examples/run" /usr/bin | sed -n '2,/^ls/p' | sed '$d' >"$out"
	printf '%s\n' 'check in /: exit 3' input / C 10 error \
		'check in /: timed out, killed by SIGTERM' \
		'check in /no/such/directory: not started: action 0, chdir "/no/such/directory": ENOENT' |
		diff - "$out"
}

# shellcheck disable=SC2012 # the output of ls is what is counted
runs_in_one_call()
{
	"$examples/run" /usr/bin >"$out" && grep -Fx "$(uname -sr)" "$out" &&
		grep -Fx "ls /usr/bin: exit 0, $(ls -lR /usr/bin | wc -c) bytes" "$out" &&
		! "$examples/run" /no/such/directory >"$out" 2>&1 && grep -Fx "ls /no/such/directory: exit 2, 0 bytes" "$out"
}

# /etc has directories that are closed to others than root.
lists_what_is_open_to_every_user()
{
	mkdir "$work/open" && chmod 755 "$work" "$work/open" && cp "$examples/run" "$work/open" || return 1
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$work/open/run"
	else
		"$work/open/run"
	fi
}

# The size is that of the terminal that it has itself, by another run of it.
runs_a_shell_on_a_terminal()
{
	# shellcheck disable=SC2016 # for the shell on the terminal
	echo 'stty size' | "$examples/terminal" sh -c 'read -r line && $line && exit 3' >"$out"
	test $? = 1 && tr -d '\r' <"$out" | grep -Fx '24 80' &&
		"$examples/terminal" sh -c "stty rows 30 cols 90; \"$examples/terminal\" stty size" </dev/null |
		grep -F '30 90'
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
check "the demonstration lists a directory that is open to every user" lists_what_is_open_to_every_user
check "a shell on a terminal" runs_a_shell_on_a_terminal
check "a command without a libc" needs_no_libc
finish
