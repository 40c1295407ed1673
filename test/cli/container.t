#!/bin/sh
# SPDX-License-Identifier: MIT
# The command aspawn as ENTRYPOINT: process 1 of a directory that has it, a static program, and
# nothing else. With /proc, without, and as a process other than 1.
# shellcheck disable=SC2317 # functions for check
. "$(dirname "$0")/../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p root/proc
cp "$build/cli/aspawn" root/aspawn
cp "$build/test/cli/entry" root/program
ids=$([ "$(id -u)" = 0 ] || echo --user --map-root-user)
code=0
# shellcheck disable=SC2086 # a word each
unshare $ids --pid --fork --mount chroot root /program exit 2>/dev/null || code=$?
if [ "$code" != 7 ]; then
	echo "1..0 # SKIP no namespaces, or no chroot"
	exit 0
fi

# runs INIT PROC CODE ARGUMENTS...: yes or no, the exit code
runs()
{
	init=$1 proc=$2 expected=$3 code=0
	shift 3
	# shellcheck disable=SC2086
	timeout -s KILL 60 unshare $ids --pid --fork --mount --kill-child sh -c '
		[ "$1" = no ] || mount -t proc proc root/proc || exit 99
		init=$2; shift 2
		[ "$init" = no ] && { chroot root "$@"; exit; }
		exec chroot root "$@"' sh "$proc" "$init" /aspawn "$@" >output 2>&1 </dev/null || code=$?
	[ "$code" = "$expected" ] || { echo "exit code $code instead of $expected"; cat output; return 1; }
}

# What is left has 100 ms, SIGTERM, a second, SIGKILL.
lasts_about_a_second()
{
	begin=$(date +%s)
	"$@" && [ $(($(date +%s) - begin)) -lt 30 ]
}

is_stopped_by_docker_stop()
{
	# shellcheck disable=SC2086
	unshare $ids --pid --fork --mount --kill-child sh -c 'exec chroot root /aspawn -q /program stay-$1' sh $$ &
	outer=$! tries=0
	until pgrep -f "^/program stay-$$\$" >/dev/null || [ $tries = 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	inner=$(cat /proc/$outer/task/$outer/children)
	# shellcheck disable=SC2086
	kill -TERM $inner
	code=0
	wait $outer || code=$?
	echo "code $code"
	[ "$code" = 143 ]
}

for init in yes no; do
	for proc in yes no; do
		suffix=$([ $init = yes ] && echo as_process_1 || echo as_another_process)_$([ $proc = yes ] && echo with_proc || echo without_proc)
		check "keeps_the_exit_code_$suffix" runs $init $proc 7 /program exit
		check "ends_a_program_at_a_limit_$suffix" runs $init $proc 124 -t 0.3 -k 0.3 /program stay
		check "tells_a_missing_program_$suffix" runs $init $proc 127 /no-program
		check "ends_what_was_left_$suffix" lasts_about_a_second runs $init $proc 7 /program leave
	done
done
for leave in "" --leave; do
	# shellcheck disable=SC2086 # no word, or one
	check "reaps_the_orphans_of_process_1${leave:+_with_$leave}" runs yes no 7 $leave /program orphan
done
check is_stopped_by_sigterm is_stopped_by_docker_stop
finish
