#!/bin/sh
# SPDX-License-Identifier: MIT
# The worker for Gearman, with a real gearmand on the loopback.
. "$(dirname "$0")/../../checks/tap.sh"
worker=$(realpath "${BUILD_DIR:-build}")/examples/worker
client=$(realpath "$(dirname "$0")")/client.py
if ! command -v gearmand >/dev/null || ! command -v gearman >/dev/null; then
	echo "1..0 # SKIP no gearman-job-server and gearman-tools"
	exit 0
fi
work=$(mktemp -d)
mkdir "$work/started" # a file for each process
trap 'kill -KILL $(ls "$work/started") 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

start_server()
{
	gearmand --listen 127.0.0.1 --port "$port" --log-file stderr >server.log 2>&1 &
	server=$!
	: >"started/$server"
	for _ in $(seq 50); do
		gearadmin --host 127.0.0.1 --port "$port" --status >/dev/null 2>&1 && break
		sleep 0.1
	done
}

# Its pid is in $started_worker.
start_worker()
{
	"$worker" --server "127.0.0.1:$port" "$@" check >>worker.log 2>&1 &
	started_worker=$!
	: >"started/$started_worker"
}

# end PID [SIGNAL]. The shell does not tell what has ended it.
end()
{
	kill "${2:--TERM}" "$1"
	wait "$1" 2>/dev/null
	rm -f "started/$1"
}

submit()
{
	timeout 60 gearman -h 127.0.0.1 -p "$port" -f check "$1" >answer
	status=$?
	cat answer
	return $status
}

many()
{
	timeout -s KILL 120 "$client" "$port" "$@" >answers 2>rate
}

# Each number has one answer, that of its own job.
each_is_answered_once()
{
	python3 - "$1" <<-'P'
		import json, sys
		rows = [line.split(' ', 1) for line in open('answers', encoding='utf-8')]
		assert sorted(int(row[0]) for row in rows) == list(range(int(sys.argv[1]))), len(rows)
		for number, text in rows:
		    answer = json.loads(text)
		    assert answer['outcome'] == 'critical' and answer['status'] == 2, answer
		    assert answer['output'].split()[0] == number, (number, answer)
		print(len({json.loads(text)['output'].split()[1] for number, text in rows}), 'workers')
	P
}

answers_with_status_and_output()
{
	start_worker
	submit "sh -c 'echo \"a \\\"b\\\"\"; echo to stderr >&2; exit 3'" && grep '"outcome":"unknown","status":3,' answer &&
		grep -F '"output":"a \u0022b\u0022\u000ato stderr\u000a"' answer && submit no-such-check &&
		grep -F '"outcome":"no-start"' answer && grep -F 'search \u0022no-such-check\u0022: ENOENT' answer
	status=$?
	end "$started_worker"
	return $status
}

fails_without_a_command()
{
	start_worker
	! submit "true 'a" && ! submit " " && submit true
	status=$?
	end "$started_worker"
	return $status
}

ends_what_takes_too_long()
{
	start_worker --timeout 3
	submit "sh -c 'echo begun; sleep 60 & sleep 60'" && grep -F '"outcome":"timeout"' answer && grep begun answer
	status=$?
	end "$started_worker"
	return $status
}

# Each job counts those that run beside it, under a lock. None leaves before seven have begun.
runs_as_many_as_allowed()
{
	mkdir -p running
	cat >count <<-'L'
		#!/bin/sh
		exec 9>lock
		flock 9
		: >"running/$$"
		ls running | wc -l >>counted
		flock -u 9
		until sleep 0.05; test "$(wc -l <counted)" -ge 7; do :; done
		flock 9
		rm "running/$$"
	L
	chmod +x count
	start_worker --concurrency 7
	many 80 "./count" && test "$(sort -n counted | tail -n 1)" -eq 7 && test "$(wc -l <counted)" -eq 80
	status=$?
	end "$started_worker"
	return $status
}

# The first is killed while it has jobs: those from the 200th on wait until then. The server gives
# them to the second.
a_worker_is_killed()
{
	: >pids
	start_worker --concurrency 8
	first=$started_worker
	start_worker --concurrency 8
	many 1000 "sh -c 'echo {} \$PPID; echo \$\$ >>pids; until test {} -lt 200 || test -e killed; do sleep 0.05; done; exit 2'" &
	waited=$!
	until test "$(wc -l <pids)" -ge 216; do sleep 0.02; done
	end "$first" -KILL
	: >killed
	wait $waited && cat rate && each_is_answered_once 1000 | grep -x '2 workers' && test "$(wc -l <pids)" -gt 1000
	status=$?
	end "$started_worker"
	return $status
}

# It ends what it has, and the second does the rest.
a_worker_is_terminated()
{
	: >pids
	start_worker --concurrency 8
	first=$started_worker
	start_worker --concurrency 8
	many 400 "sh -c 'echo {} \$PPID; echo \$\$ >>pids; sleep 0.05; exit 2'" &
	waited=$!
	until test "$(wc -l <pids)" -ge 100; do sleep 0.02; done
	kill $first
	wait $first
	ended=$?
	rm "started/$first"
	wait $waited && each_is_answered_once 400 && test "$(wc -l <pids)" -eq 400 && test $ended -eq 0
	status=$?
	end "$started_worker"
	return $status
}

# The new server names its jobs as the old one did. The answer for a job of the old one comes late.
the_server_is_killed()
{
	: >worker.log
	start_worker
	timeout 20 gearman -h 127.0.0.1 -p "$port" -f check "sh -c 'touch stale; trap \"\" TERM; sleep 60; sleep 60'" &
	until test -e stale; do sleep 0.02; done
	kill -KILL "$server"
	rm "started/$server"
	start_server
	submit "sh -c 'sleep 3; echo again'" && grep -F '"output":"again' answer && ! grep "server says" worker.log
	status=$?
	end "$started_worker"
	return $status
}

leaves_no_process()
{
	: >pids
	start_worker
	timeout 20 gearman -b -h 127.0.0.1 -p "$port" -f check "sh -c 'echo \$\$ >>pids; sleep 60 & echo \$! >>pids; wait'" || return 1
	until test "$(wc -l <pids)" -eq 2; do sleep 0.02; done
	kill $started_worker # twice: at once
	sleep 0.3
	end "$started_worker"
	for pid in $(cat pids); do
		! grep -v ' [ZX] ' "/proc/$pid/stat" 2>/dev/null || return 1
	done
}

wrong_arguments()
{
	for wrong in "" "--concurrency 0 check" "--timeout x check" "--timeout -1 check" "--none check" "check again"; do
		# shellcheck disable=SC2086 # a word each
		"$worker" $wrong >out 2>&1
		test $? -eq 2 && grep "usage: worker" out || return 1
	done
}

check "wrong arguments" wrong_arguments
start_server
check "an answer has the status and the output" answers_with_status_and_output
check "a workload that is no command fails" fails_without_a_command
check "a job that takes too long is ended" ends_what_takes_too_long
check "as many jobs run at once as are allowed" runs_as_many_as_allowed
check "a worker is killed, and each job is answered" a_worker_is_killed
check "a worker is terminated, and each job runs once" a_worker_is_terminated
check "a worker that is ended leaves no process" leaves_no_process
check "the server is killed and started again" the_server_is_killed
finish
