#!/bin/sh
# The small examples do what they say.
. "$(dirname "$0")/../checks/tap.sh"
examples=${BUILD_DIR:-build}/examples

# A descriptor that is closed while a child holds a copy of it goes on to be reported.
no_stale_events()
{
	"$examples/event_loop" 2000 | tee /dev/stderr | grep -q '^2000 commands, 0 failed, 0 stale events$'
}

# Ten commands that fail at an action leave no descriptor open.
reports_a_failure()
{
	"$examples/command" /no/such/program 2>&1 | grep -q 'ENOENT'
}

check "an event loop takes descriptors out of epoll before they are closed" no_stale_events
check "a command that fails says where" reports_a_failure
finish
