#!/bin/sh
# SPDX-License-Identifier: MIT
# The poller, with real commands: what is counted, what is killed, what is left.
# shellcheck disable=SC1003,SC2002,SC2094 # odd lists of checks are what is tested
. "$(dirname "$0")/../../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")
poller=$build/examples/poller
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export work

# Writes the tables to out. A poller that hangs is killed: the limit leaves time for a busy machine.
poll()
{
	timeout -s KILL 600 "$poller" "$@" >out 2>err
	status=$?
	cat out err
	return $status
}

# As poll, but this is its exit status.
poll_exits()
{
	expected=$1
	shift
	poll "$@"
	test $? -eq "$expected"
}

# The sums of out are these: "ok=3 signal=1".
are()
{
	is=$(awk '$1 ~ /^[0-9]+$/ && NF == 2 { row = row " " $2 "=" $1 } END { print substr(row, 2) }' out)
	test "$is" = "$1" || { echo "expected: $1, is: $is"; return 1; }
}

# True if a process of the file of pids is left after half a minute.
some_are_left()
{
	for _ in $(seq 300); do
		left=
		for pid in $(cat "$1"); do
			state=$(sed -n 's/.*) \(.\).*/\1/p' /proc/"$pid"/stat 2>/dev/null)
			case $state in '' | Z) ;; *) left="$left $pid" ;; esac
		done
		test -z "$left" && return 1
		sleep 0.1
	done
	echo "left:$left"
	# shellcheck disable=SC2086 # a word each
	kill $left
}

none_is_left()
{
	test -s "$1" && ! some_are_left "$1"
}

lines_of()
{
	for _ in $(seq "$1"); do echo "$2"; done
}

now_ms()
{
	date +%s%3N
}

# ------------------------------------------------------------------ what is counted

{
	lines_of 7 true
	lines_of 6 "sh -c 'exit 1'"
	lines_of 5 "sh -c 'exit 2'"
	lines_of 4 "sh -c 'exit 3'"
	lines_of 3 "sh -c 'exit 4'"
	lines_of 2 "sh -c 'kill -KILL \$\$'"
} >statuses

statuses_are_counted()
{
	poll statuses && are "ok=7 warning=6 critical=5 unknown=4 exited=3 signal=2" && grep '^27 of 27 checks, ' out &&
		poll --output statuses && grep '^sh: signal 9, line 26, ' out && grep '^sh: exited 4, line 23, ' out
}

repeats()
{
	poll --repeat 3 statuses && are "ok=21 warning=18 critical=15 unknown=12 exited=9 signal=6" &&
		poll --repeat 3 --concurrency 1 - <statuses &&
		are "ok=21 warning=18 critical=15 unknown=12 exited=9 signal=6"
}

# What a parent ignores is inherited.
counts_if_sigchld_is_ignored()
{
	timeout -s KILL 600 env --ignore-signal=CHLD "$poller" statuses >out &&
		are "ok=7 warning=6 critical=5 unknown=4 exited=3 signal=2"
}

printf '#!/no/such/interpreter\n' >no-interpreter
chmod +x no-interpreter
touch not-executable
printf '%s\n' true no-such-check no-such-check "$work/not-executable" "$work/no-interpreter" >missing

what_could_not_be_started()
{
	poll_exits 1 missing && are "ok=1 no-start=4" &&
		grep -A 1 '^no-such-check: no-start [0-9]*, line 2,' out | grep -Fx 'no-such-check| search "no-such-check": ENOENT' &&
		grep -F "| exec \"$work/not-executable\": EACCES" out &&
		grep -F "| interpreter \"/no/such/interpreter\": ENOENT" out
}

a_command_that_is_too_long()
{
	printf 'true %0300000d\ntrue\n' 0 >too-long
	poll_exits 1 too-long && are "ok=1 no-start=1" && grep E2BIG out
}

# --------------------------------------------------------------------------- the list

# The words are those that a shell makes of the line.
words_are_a_shells()
{
	show="sh -c 'for word; do printf \"<%s>\" \"\$word\"; done' sh"
	cat >quoted <<-'L'
		'a b' "c d" e\ f
		'' "" x''y
		"it's" 'a "quote"' \"
		"\"\\\$\`" "\a" '\a' \a \\
		a'b'"c"\d e#f
		*? $HOME`id`;|&<>() #g
	L
	# The last has what only a shell knows.
	sed -e '$d' -e "s|^|$show |" quoted >words
	while IFS= read -r line; do eval "$line"; echo; done <words >expected
	tail -n 1 quoted | sed "s|^|$show |" >>words
	echo '<*?><$HOME`id`;|&<>()><#g>' >>expected
	poll --output --concurrency 1 words && sed -n 's/^sh| //p' out | diff expected -
}

comments_are_skipped()
{
	printf '# no\n\n  \t \n  # no\ntrue\r\n\ttrue #\nfalse' >comments
	poll --output comments && are "ok=2 warning=1" && grep "^false: warning 1, line 7," out
}

# Before the bad line and after it something would leave a trace.
starts_nothing_of()
{
	printf 'touch %s/trace\n\n%b\ntouch %s/trace\n' "$work" "$1" "$work" >bad
	poll_exits 2 bad && grep "bad:3: $2" err && ! test -e trace && ! test -s out
}

bad_lists()
{
	starts_nothing_of "true 'a" "a ' is not closed" &&
		starts_nothing_of 'true "a'"'" 'a " is not closed' &&
		starts_nothing_of 'true a\\' "nothing follows" &&
		starts_nothing_of 'true a\0b' "it has a NUL"
}

no_list()
{
	printf '# nothing\n\n' >empty
	poll_exits 2 empty && grep "empty:2: no check in it" err && poll_exits 2 none && grep "none:0: No such file" err &&
		poll_exits 2 "$work" && grep "Is a directory" err
}

refuses()
{
	rm -f trace
	{ poll_exits 2 "$@" trace-list && grep "usage: poller" err && ! test -e trace && ! test -s out; } ||
		{ echo "not refused: $*"; return 1; }
}

wrong_arguments()
{
	echo "touch $work/trace" >trace-list
	refuses --concurrency 0 && refuses --concurrency 1x && refuses --concurrency 32769 && refuses --timeout -1 &&
		refuses --timeout nan && refuses --timeout '' && refuses --delay 1.5 && refuses --repeat 0 &&
		refuses --no-such-option && refuses another-list && poll trace-list && test -e trace
}

# --------------------------------------------------------------------------- its output

for_each_line()
{
	printf 'web1\n  web 2  \n\n# no\nweb3' >hosts
	poll --output --each hosts sh -c 'echo "this is $1"; echo more' sh '{}:{}' && LC_ALL=C sort out >sorted &&
		printf '%s\n' 'web 2| more' 'web 2| this is web 2:web 2' 'web1| more' 'web1| this is web1:web1' \
			'web3| more' 'web3| this is web3:web3' >expected && grep '|' sorted | diff expected - && are "ok=3" &&
		poll --output --each hosts sh -c 'test {} != web3' && are "ok=1 warning=1 critical=1" && grep '^web3: warning 1, line 5, ' out &&
		poll_exits 2 --each hosts && grep usage err
}

# Any bytes become valid JSON, with the same text where they are text.
json()
{
	cat >outputs <<-'L'
		printf 'a "b" \\ c\n\tsnö €\001\177'
		printf 'bad \377 \303'
		printf 'a\000b'
		no-such-check
		sh -c 'kill -9 $$'
		sh -c 'yes | head -c 100000'
	L
	printf '\n\n\n\n\n\nsleep 60\n' >sleeps
	poll_exits 1 --json --timeout 0 outputs && mv out rows && poll_exits 1 --json --timeout 0.1 sleeps &&
		cat out >>rows && python3 - 7 <<-'P'
		import json, sys
		rows = {row['line']: row for row in map(json.loads, open('rows', encoding='utf-8'))}
		assert len(rows) == int(sys.argv[1]), rows
		assert rows[1]['output'] == 'a "b" \\ c\n\tsnö €\x01\x7f', rows[1]
		assert rows[2]['output'] == 'bad \ufffd \ufffd', rows[2]
		assert rows[3]['output'] == 'a\0b', rows[3]
		assert rows[4]['outcome'] == 'no-start' and rows[4]['output'] == 'search "no-such-check": ENOENT', rows[4]
		assert rows[5]['outcome'] == 'signal' and rows[5]['signal'] == 9, rows[5]
		assert rows[6]['bytes'] == 100000 and rows[6]['output'] == 'y\n' * 32768 and rows[6]['status'] == 0
		assert rows[7]['outcome'] == 'timeout' and rows[7]['name'] == 'sleep', rows[7]
	P
}

# On a terminal, which script(1) makes. Four checks wait for the bar of the two that have ended.
a_bar_on_a_terminal()
{
	{ lines_of 2 true; lines_of 4 "sh -c 'until grep -q \" 2 of 6\" typed; do sleep 0.1; done'"; } >slow
	rm -f typed
	script -qefc "$poller --concurrency 2 slow" typed </dev/null >typescript && tr '\r' '\n' <typescript >out && cat out &&
		grep -E '^\[##########  *\] 2 of 6, [0-9]+/s, [0-9]+ s left' out && are "ok=6" &&
		poll slow && ! grep left err
}

# ------------------------------------------------------------------------- a check's life

cat >tree <<'E2'
sh -c 'echo $$ >>pids; sleep 60 & echo $! >>pids; sh -c "echo \$\$ >>pids; exec sleep 60"'
sh -c 'trap "" TERM INT HUP; echo $$ >>pids; while :; do sleep 60 & echo $! >>pids; wait; done'
true
E2

# Also the check that ignores all that can be ignored. On a busy machine the processes need more
# time to begin.
a_timeout_kills_grandchildren()
{
	for seconds in 1 5 25 125; do
		: >pids
		poll_exits 1 --timeout $seconds tree
		ended=$?
		! some_are_left pids && test $ended -eq 0 || return
		test "$(wc -l <pids)" -ge 5 && are "ok=1 timeout=2" && return
	done
	return 1
}

# The check has ended, and its end is what counts.
a_grandchild_holds_the_pipe()
{
	echo "sh -c 'sleep 3600 & echo \$! >>held; echo its output; exit 2'" >holds
	rm -f held
	poll --output --timeout 0 holds
	kill "$(cat held)" && are "critical=1" && grep -Fx "sh| its output" out
}

closes_its_output_early()
{
	echo "sh -c 'echo before; exec >&- 2>&-; sleep 0.4; exit 2'" >early
	began=$(now_ms)
	poll --output early && are "critical=1" && grep -Fx "sh| before" out && test $(($(now_ms) - began)) -ge 400
}

# More than a pipe holds; a line without an end; bytes that a terminal would obey.
output_of_all_kinds()
{
	cat >outputs <<-'L'
		sh -c 'yes the first | head -c 3000000; exit 1'
		sh -c 'head -c 3000000 /dev/zero | tr "\0" x; exit 2'
		printf 'a\033[2Jb\n'
		sh -c 'echo to stderr >&2'
	L
	poll --output --timeout 0 outputs && are "ok=2 warning=1 critical=1" && test "$(grep -cx 'sh| the first' out)" -eq 6553 &&
		grep -E "^sh\| x{1000}" out | wc -c | grep -x 65541 && grep -Fx "printf| a [2Jb" out && grep -Fx "sh| to stderr" out
}

# Its streams, its session, and no descriptor of the caller's.
surroundings()
{
	cat >around <<-'L'
		sh -c 'echo $(ls /proc/self/fd) $(readlink /proc/$$/fd/0)'
		sh -c 'test $(cut -d" " -f6 /proc/$$/stat) = $$ && exit 3'
	L
	poll --output around 7<around && are "ok=1 unknown=1" && grep -Fx "sh| 0 1 2 3 /dev/null" out
}

# ---------------------------------------------------------------------- how many at once

# Each counts those that run beside it, under a lock. None leaves before seven have begun.
cat >count <<'E2'
#!/bin/sh
exec 9>lock
flock 9
: >"running/$$"
ls running | wc -l >>counted
flock -u 9
until test "$(wc -l <counted)" -ge 7; do sleep 0.05; done
flock 9
rm "running/$$"
E2
chmod +x count

never_more_than_the_limit()
{
	rm -rf running counted
	mkdir running
	echo ./count >counts
	poll --concurrency 7 --repeat 60 counts && are "ok=60" &&
		test "$(sort -n counted | tail -n 1)" -eq 7 && test "$(wc -l <counted)" -eq 60
}

a_delay_between_starts()
{
	echo true >delayed
	began=$(now_ms)
	poll --delay 60 --repeat 6 delayed && are "ok=6" && test $(($(now_ms) - began)) -ge 300
}

# -------------------------------------------------------------------------- being ended

is_ended_by()
{
	rm -f pids
	{ cat tree; lines_of 50 "sh -c 'echo \$\$ >>pids; exec sleep 60'"; } >long
	timeout -s KILL 600 "$poller" --timeout 0 --concurrency 20 long >out 2>err &
	pid=$!
	until test "$(cat pids 2>/dev/null | wc -l)" -ge 23; do sleep 0.05; done
	kill -s "$1" $pid # timeout(1) hands it on
	wait $pid
	status=$?
	cat out
	none_is_left pids && test $status -eq 1 && are "ok=1 stopped=20" && grep "^21 of 53 checks" out
}

is_ended_if_nobody_reads()
{
	rm -f pids
	{ cat tree; lines_of 3000 "echo a line"; } >long
	timeout -s KILL 600 "$poller" --timeout 0 --output long | {
		until test -s pids; do sleep 0.05; done # which the tree writes
		head -n 1
	}
	none_is_left pids
}

# ---------------------------------------------------------------------------- no leaks

mixed()
{
	lines_of 455 true
	lines_of 20 "sh -c 'exec >&- 2>&-; exit 2'"
	lines_of 20 no-such-check
}

# Under a limit of descriptors that a leak would reach.
leaks_no_descriptor()
{
	mixed >mixed
	lines_of 100 "sleep 60" >sleeps
	(ulimit -n 60 && poll_exits 1 --concurrency 20 --repeat 3 --timeout 0 mixed) &&
		are "ok=1365 critical=60 no-start=60" && ! grep EMFILE out &&
		(ulimit -n 60 && poll_exits 1 --concurrency 20 --timeout 0.1 sleeps) && are "timeout=100" && ! grep EMFILE out
}

leaves_no_zombie()
{
	lines_of 30 true >zombies
	lines_of 30 no-such-check >>zombies
	echo "sh -c 'grep -h ^. /proc/[0-9]*/stat 2>/dev/null | sed \"s/.*) //\" | grep \"^Z \$PPID \" && exit 2; exit 0'" >>zombies
	poll_exits 1 --concurrency 1 zombies && are "ok=31 no-start=30"
}

# The server raises its own, and a check has that of the poller.
a_low_soft_limit()
{
	echo "sh -c 'echo limit \$(ulimit -n); sleep 0.3'" >limits
	(ulimit -Sn 24 && poll --output --concurrency 50 --repeat 50 limits) && are "ok=50" &&
		test "$(grep -c 'limit 24$' out)" -eq 50
}

# Then fewer run at once.
a_low_hard_limit()
{
	lines_of 100 true >many
	(ulimit -n 40 && poll --concurrency 100 many) && are "ok=100"
}

check "statuses are counted" statuses_are_counted
check "the list is gone over again; it may be standard input" repeats
check "SIGCHLD is ignored by the parent" counts_if_sigchld_is_ignored
check "what could not be started, and why" what_could_not_be_started
check "a command that does not fit is one that could not be started" a_command_that_is_too_long
check "words are those of a shell" words_are_a_shells
check "comments and blank lines are skipped" comments_are_skipped
check "a bad list starts nothing, and has its line told" bad_lists
check "an empty list, and none" no_list
check "wrong arguments start nothing" wrong_arguments
check "a command for each line of a file, with its output" for_each_line
check "JSON of any output" json
if command -v script >/dev/null; then
	check "progress on a terminal, and nowhere else" a_bar_on_a_terminal
else
	skip "progress on a terminal" "no script(1)"
fi
check "a timeout kills grandchildren" a_timeout_kills_grandchildren
check "streams, session and descriptors of a check" surroundings
check "no descriptor is leaked" leaks_no_descriptor
check "no zombie is left" leaves_no_zombie
check "a grandchild holds the pipe" a_grandchild_holds_the_pipe
check "a check closes its output early" closes_its_output_early
check "never more at once than the limit" never_more_than_the_limit
check "output of all kinds" output_of_all_kinds
check "a delay between starts" a_delay_between_starts
for signal in INT TERM HUP; do
	check "SIG$signal ends it and leaves no process" is_ended_by $signal
done
check "it ends when nobody reads what it writes" is_ended_if_nobody_reads
check "a low soft limit of descriptors is raised" a_low_soft_limit
check "with a low hard limit of descriptors fewer run at once" a_low_hard_limit
finish
