#!/bin/sh
# SPDX-License-Identifier: MIT
# libuv with the patch of bindings/libuv, of each version that is fetched: its own tests of
# processes, and the results that a program sees, compared with libuv as it is.
. "$(dirname "$0")/../../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")
sources=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/programs
for needed in cmake patch; do
	command -v $needed >/dev/null || { echo "1..0 # SKIP no $needed: test/users/ports/install libuv"; exit 0; }
done
test -d "$sources/libuv1" || { echo "1..0 # SKIP libuv1 is not fetched: test/users/ports/install libuv"; exit 0; }
# libuv's runner refuses root without it; tests of users need root. Its tests have 5 seconds each,
# which are few on a busy machine.
export UV_RUN_AS_ROOT=1 UV_TEST_TIMEOUT_MULTIPLIER=4

own_tests()
{
	"$port/with/uv_run_tests_a" --list | sort -u |
		grep -E '^(closed_fd_events|delayed_accept|ipc_|kill|process_|spawn_)'
}

# 0: passed, 7: skipped. libuv's tests use a port and files of fixed names. A lock keeps the tests
# of two runs apart.
result()
{
	(cd "$port/$1/source" && flock -o /tmp timeout 60 ../uv_run_tests_a "$2" >"$port/output" 2>&1 </dev/null)
	echo $?
}

passes()
{
	with=$(result with "$1")
	test "$with" -eq 0 && return
	without=$(result without "$1")
	cat "$port/output"
	echo "status $with with the patch, $without without it"
	test "$with" -eq "$without"
}

same_results()
{
	for copy in without with; do
		${CC:-clang} -Wall -Wextra -Werror -I"$port/$copy/source/include" test/users/ports/libuv.c \
			"$port/$copy"/libuv*.a -pthread -ldl -Wl,--wrap=uv__aspawn -o "$port/$copy/program" &&
			rm -rf "$port/files" && mkdir -m 755 "$port/files" &&
			timeout 100 "$port/$copy/program" "$port/files" >"$port/$copy/results" || return 1
	done
	test "$(wc -l <"$port/with/results")" -ge 35 &&
		sed '/^memory\|^aspawn/d' "$port/without/results" >"$port/expected" &&
		sed '/^memory\|^aspawn/d; s/: exit_cb /: /' "$port/with/results" | diff "$port/expected" -
}

# A patch that lands elsewhere, as fuzz lets it, builds a libuv that passes the rest.
starts_by_aspawn()
{
	grep '^aspawn' "$port/with/results"
	grep -qx 'aspawn: 0 of [1-9][0-9]* starts' "$port/without/results" &&
		grep -qx 'aspawn: \([1-9][0-9]*\) of \1 starts' "$port/with/results"
}

late_errors_reach_exit_cb()
{
	grep -q '^late' "$port/with/results" && ! grep '^late' "$port/with/results" | grep -v ': exit_cb '
}

# Except ENOEXEC, by which an exec fails after 1.52.1, as no shell runs the file.
other_errors_are_returned()
{
	! sed '/^late/d; /: exit_cb ENOEXEC$/d' "$port/with/results" | grep ': exit_cb '
}

# Also for another user, whose child executes the image first; root alone can start one. libuv forks
# for that, and up to 1.52.1 for each start.
copies_no_memory()
{
	grep '^memory' "$port/with/results"
	! grep '^memory of another user: shared' "$port/without/results" && ! grep '^memory.*: copied' "$port/with/results" &&
		test "$(grep -c '^memory' "$port/with/results")" = $(($(id -u) == 0 ? 2 : 1))
}

# The image is executed from memory, which a filter or a setting may forbid.
may_execute_memory()
{
	grep -qx 'Seccomp:	0' /proc/self/status && test "$(cat /proc/sys/vm/memfd_noexec 2>/dev/null)" != 2
}

for name in libuv1 libuv1-trixie libuv1-crate; do
	source=$sources/$name
	port=$build/ports/$name
	if ! test -d "$source"; then
		skip "$name" "not fetched: test/users/ports/install libuv"
		continue
	fi
	version=$(cat "$source/.version")
	check "libuv $version is built, without and with the patch" \
		bindings/libuv/build "$source" "$build/amalgamation" "$port"
	check "$version has tests of processes" test "$(own_tests | wc -l)" -ge 45
	for test in $(own_tests); do
		check "$version: $test" passes "$test"
	done
	check "$version: uv_spawn() has the same results" same_results
	check "$version: the patch hands each start over to aspawn" starts_by_aspawn
	if may_execute_memory; then
		check "$version: no memory is copied" copies_no_memory
	else
		skip "$version: no memory is copied" "no program can be executed from memory here"
	fi
	check "$version: an exec that fails late is the exit status, with the same error" late_errors_reach_exit_cb
	check "$version: uv_spawn() returns the other errors" other_errors_are_returned
done
finish
