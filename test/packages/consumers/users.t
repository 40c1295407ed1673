#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of users/, each written from the headers alone: a command with output, a time limit
# and another user, in C and C++; an event loop with 200 children; a privileged server; the core of
# a binding for a language. Compiled for what is installed, with the warnings that people use.
cd "$(dirname "$0")/../../.." || exit
. test/checks/tap.sh
cc=${CC:-clang}
cxx=${CXX:-$(echo "$cc" | sed 's/clang/clang++/;s/gcc/g++/')}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s install BUILD_DIR="${BUILD_DIR:-build}" PREFIX="$work/usr" DESTDIR='' >/dev/null || exit
export PKG_CONFIG_PATH="$work/usr/lib/pkgconfig"
warnings='-Wall -Wextra -Werror'

# shellcheck disable=SC2046,SC2086 # a word each
# builds COMPILER PROGRAM SOURCE...
builds()
{
	compiler=$1 program=$work/$2
	shift 2
	(cd test/packages/consumers/users && $compiler $warnings -D_GNU_SOURCE "$@" \
		$(pkg-config --cflags aspawn) "$work/usr/lib/libaspawn.a" -o "$program")
}

# says PATTERN COMMAND...: each line of the output matches
says()
{
	pattern=$1
	shift
	"$@" >"$work/output" 2>&1 </dev/null
	status=$?
	grep -qxE "$pattern" "$work/output" && return $status
	cat "$work/output"
	return 99
}

# ends_as STATUS COMMAND...
ends_as()
{
	expected=$1
	shift
	"$@"
	test $? -eq "$expected"
}

root_runs()
{
	[ "$(id -u)" = 0 ]
}

event_loop()
{
	timeout 60 "$work/event_loop" >"$work/output" && [ "$(grep -c '\[exit 0\]$' "$work/output")" = 100 ] &&
		[ "$(grep -c '\[killed by SIGTERM\]$' "$work/output")" = 100 ]
}

server_runs()
{
	printf 'nobody / id -un\nnobody /root true\nno-such-user / true\n' |
		timeout 60 "$work/server" "$work/log" >"$work/output" 2>&1
	status=$?
	cat "$work/output" "$work/log"
	[ $status = 0 ] && grep -qx 'exit 0' "$work/output" && grep -qx nobody "$work/log" &&
		grep -q 'no access to /root' "$work/output" && grep -q 'no-such-user: no such user' "$work/output"
}

binding_runs()
{
	timeout 60 "$work/binding" >"$work/output" 2>&1 && for line in 'spawn 1 ' 'exit 768 ' 'error 2 chdir' \
		'exit 9 ' 'chdir 22 of action 1' '0 0 input' 'error' '-125: search 2' 'exit 0 0 one' \
		'timed out, killed by SIGTERM 15 ' '0 waiting'; do
		grep -qx -e "$line" "$work/output" || { cat "$work/output" && return 1; }
	done
}

check "C99: output, a time limit, another user" builds "$cc -std=gnu99" ten_minutes ten_minutes.c
check "the same in C++11" builds "$cxx -std=c++11" ten_minutes_cc ten_minutes.cc
check "an event loop with 200 children" builds "$cc -std=gnu99" event_loop event_loop.c
check "a privileged server" builds "$cc -std=gnu99" server server.c
check "a binding" builds "$cc -std=gnu99" binding binding.c binding_loop.c
if root_runs; then
	check "the program ran as nobody" says nobody "$work/ten_minutes" 10 id -un
	check "its status" ends_as 3 "$work/ten_minutes" 10 sh -c 'exit 3'
	check "its time limit" ends_as 124 says 'sleep: timed out, killed by SIGTERM' "$work/ten_minutes" 1 sleep 60
	check "a command that is missing" ends_as 124 says 'unmae: not started: search "unmae": ENOENT' \
		env PATH=/usr/bin:/bin "$work/ten_minutes" 10 unmae
	check "the server ran commands as other users" server_runs
else
	check "another user needs root" ends_as 124 says 'this needs root|id: not started: .*EPERM' "$work/ten_minutes" 10 id
fi
check "the C++ program ran" says 'Linux .*' "$work/ten_minutes_cc"
check "100 children of the loop ended, 100 were ended" event_loop
check "the binding ran" binding_runs
finish
