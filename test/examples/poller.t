#!/bin/sh
# SPDX-License-Identifier: MIT
# The poller, with real commands: what is counted, what is killed, what is left.
# shellcheck disable=SC1003,SC2002,SC2094 # odd lists of checks are what is tested
. "$(dirname "$0")/../checks/tap.sh"
build=$(realpath "${BUILD_DIR:-build}")
poller=$build/examples/poller
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export work

# Writes the tables to out; what hangs is ended.
poll()
{
	timeout -s KILL 30 "$poller" "$@" >out 2>err
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

# "ok=3 signal=1": the method's row in out, without what is 0.
outcomes()
{
	awk -v method="$1" '$1 == "outcome" { for (i = 2; i <= NF; i++) name[i] = $i; inside = 1; next }
		inside && $1 == method { for (i = 2; i <= NF; i++) if ($i) row = row " " name[i] "=" $i }
		END { print substr(row, 2) }' out
}

are()
{
	test "$(outcomes "$1")" = "$2" || { echo "expected of $1: $2, is: $(outcomes "$1")"; return 1; }
}

# Whether a process of the file of pids is left, after a moment for init to reap it.
some_are_left()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
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
	poll --method "$1" statuses && are "$1" "ok=7 warning=6 critical=5 unknown=4 exited=3 signal=2" &&
		grep -x "$1: 2 ended by signal 9, Killed" out
}

repeats()
{
	poll --repeat 3 statuses && are aspawn "ok=21 warning=18 critical=15 unknown=12 exited=9 signal=6" &&
		poll --repeat 3 --concurrency 1 - <statuses &&
		are aspawn "ok=21 warning=18 critical=15 unknown=12 exited=9 signal=6"
}

methods_take_turns()
{
	echo true >one
	poll --verbose --concurrency 1 --repeat 5 --rounds 2 --method all one &&
		test "$(grep ' line 1 ok ' out | cut -d ' ' -f 1 | uniq -c | awk '{ printf "%s %s, ", $1, $2 }')" = \
			"2 aspawn, 2 posix_spawn, 2 popen, 3 aspawn, 3 posix_spawn, 3 popen, " &&
		are aspawn "ok=5" && are posix_spawn "ok=5" && are popen "ok=5"
}

# What a parent ignores is inherited: then children are reaped by nobody.
counts_if_sigchld_is_ignored()
{
	timeout -s KILL 30 env --ignore-signal=CHLD "$poller" statuses >out &&
		are aspawn "ok=7 warning=6 critical=5 unknown=4 exited=3 signal=2"
}

printf '#!/no/such/interpreter\n' >no-interpreter
chmod +x no-interpreter
touch not-executable
printf '%s\n' true no-such-check no-such-check "$work/not-executable" "$work/no-interpreter" >missing

what_could_not_be_started()
{
	poll_exits 1 missing && are aspawn "ok=1 no-start=4" &&
		grep -F "aspawn: 2 could not be started, search \"no-such-check\": ENOENT (first: line 2)" out &&
		grep -F "aspawn: 1 could not be started, exec \"$work/not-executable\": EACCES (first: line 4)" out &&
		grep -F "aspawn: 1 could not be started, interpreter \"$work/no-interpreter\": ENOENT (first: line 5)" out
}

what_posix_spawn_could_not_start()
{
	poll_exits 1 --method posix_spawn missing && are posix_spawn "ok=1 no-start=4" &&
		grep -F "posix_spawn: 3 could not be started, posix_spawn: ENOENT (first: line 2)" out &&
		grep -F "posix_spawn: 1 could not be started, posix_spawn: EACCES (first: line 4)" out
}

all_methods_count_the_same()
{
	poll_exits 1 --demo --repeat 3 --timeout 0.8 --method all &&
		are aspawn "ok=18 warning=3 critical=3 unknown=3 signal=3 timeout=6 no-start=6" &&
		are posix_spawn "$(outcomes aspawn)" &&
		are popen "ok=18 warning=3 critical=3 unknown=3 exited=6 signal=3 timeout=6" &&
		grep -E '^aspawn .* 1\.00$' out && grep -E '^popen .* [0-9.]+$' out
}

# 20 of 100 take long.
percentiles()
{
	{ lines_of 80 true; lines_of 20 "sleep 1"; } >slow
	poll --concurrency 20 slow &&
		awk '/^start to reaped/ { getline; print; exit !($2 < 1000 && $3 >= 1000 && $4 >= 1000 && $5 >= $4) }' out
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
	poll --verbose --concurrency 1 words && sed -n 's/^aspawn line .* sh: //p' out | diff expected - &&
		poll --verbose --concurrency 1 --method popen words && sed -n 's/^popen line .* sh: //p' out | diff expected -
}

comments_are_skipped()
{
	printf '# no\n\n  \t \n  # no\ntrue\r\n\ttrue #\nfalse' >comments
	poll --verbose comments && are aspawn "ok=2 warning=1" && grep "line 7 warning" out
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
	poll_exits 2 empty && grep "empty: no check in it" err && poll_exits 2 none && grep "none: No such file" err &&
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
	refuses --concurrency 0 && refuses --concurrency 1x && refuses --timeout -1 && refuses --timeout nan &&
		refuses --timeout '' && refuses --delay 1.5 && refuses --repeat 0 && refuses --rounds 0 && refuses --method fork &&
		refuses --resident 0 && refuses --no-such-option && refuses another-list && refuses --demo &&
		poll trace-list && test -e trace
}

# ------------------------------------------------------------------------- a check's life

cat >tree <<'E2'
sh -c 'echo $$ >>pids; sleep 60 & echo $! >>pids; sh -c "echo \$\$ >>pids; exec sleep 60"'
sh -c 'trap "" TERM INT HUP; echo $$ >>pids; while :; do sleep 60 & echo $! >>pids; wait; done'
true
E2

# Also the check that ignores all that can be ignored.
a_timeout_kills_grandchildren()
{
	rm -f pids
	poll_exits 1 --timeout 1 --method "$1" tree
	ended=$?
	none_is_left pids && test $ended -eq 0 && are "$1" "ok=1 timeout=2" && test "$(wc -l <pids)" -eq 5
}

# The check has ended, and its end is what counts.
a_grandchild_holds_the_pipe()
{
	echo "sh -c 'sleep 20 & echo \$! >>held; echo its output; exit 2'" >holds
	rm -f held
	began=$(now_ms)
	poll --verbose --timeout 15 --method "$1" holds
	lasted=$(($(now_ms) - began))
	kill "$(cat held)" && test $lasted -lt 5000 && are "$1" "critical=1" && grep "its output" out
}

closes_its_output_early()
{
	echo "sh -c 'echo before; exec >&- 2>&-; sleep 0.4; exit 2'" >early
	began=$(now_ms)
	poll --verbose --method "$1" early && are "$1" "critical=1" && grep "before" out &&
		test $(($(now_ms) - began)) -ge 400
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
	poll --verbose --timeout 10 outputs && are aspawn "ok=2 warning=1 critical=1" &&
		grep "line 1 warning .* sh: the first$" out && grep -E "line 2 .* sh: x{100,250}$" out &&
		grep -F "printf: a [2Jb" out && grep "line 4 ok .* to stderr" out
}

# Its streams, its session, and no descriptor of the caller's.
surroundings()
{
	cat >around <<-'L'
		sh -c 'echo $(ls /proc/self/fd) $(readlink /proc/$$/fd/0)'
		sh -c 'test $(cut -d" " -f6 /proc/$$/stat) = $$ && exit 3'
	L
	poll --verbose --method "$1" around 7<around && are "$1" "ok=1 unknown=1" && grep -F "sh: 0 1 2 3 /dev/null" out
}

# ---------------------------------------------------------------------- how many at once

# Each counts those that run beside it, under a lock.
cat >count <<'E2'
#!/bin/sh
exec 9>lock
flock 9
: >"running/$$"
ls running | wc -l >>counted
flock -u 9
sleep 0.05
flock 9
rm "running/$$"
E2
chmod +x count

never_more_than_the_limit()
{
	rm -rf running counted
	mkdir running
	echo ./count >counts
	poll --concurrency 7 --repeat 60 --method "$1" counts && are "$1" "ok=60" &&
		test "$(sort -n counted | tail -n 1)" -eq 7 && test "$(wc -l <counted)" -eq 60
}

a_delay_between_starts()
{
	echo "sh -c 'date +%s%3N >>times'" >stamped
	rm -f times
	poll --delay 60 --repeat 6 stamped && test "$(wc -l <./times)" -eq 6 &&
		sort -n times | awk 'NR == 1 { first = $1 } { last = $1 } END { print last - first; exit last - first < 250 }'
}

# -------------------------------------------------------------------------- being ended

is_ended_by()
{
	rm -f pids
	{ cat tree; lines_of 50 "sh -c 'echo \$\$ >>pids; exec sleep 60'"; } >long
	timeout -s KILL 20 "$poller" --timeout 0 --concurrency 20 long >out 2>err &
	pid=$!
	until test "$(cat pids 2>/dev/null | wc -l)" -ge 22; do sleep 0.05; done
	began=$(now_ms)
	kill -s "$1" $pid # timeout(1) hands it on
	wait $pid
	status=$? lasted=$(($(now_ms) - began))
	cat out
	none_is_left pids && test $status -eq 1 && test $lasted -lt 3000 && are aspawn "ok=1 stopped=20" &&
		grep "aspawn: 32 of 53 not run" out
}

is_ended_if_nobody_reads()
{
	rm -f pids
	{ cat tree; lines_of 3000 "echo a line"; } >long
	timeout -s KILL 30 "$poller" --timeout 0 --verbose long | head -n 1
	none_is_left pids
}

# ---------------------------------------------------------------------------- no leaks

mixed()
{
	lines_of 455 true
	lines_of 20 "sh -c 'exec >&- 2>&-; exit 2'"
	lines_of 20 no-such-check
	lines_of 5 "sleep 60"
}

# Under a limit of descriptors that a leak would reach.
leaks_no_descriptor()
{
	mixed >mixed
	(ulimit -n 60 && poll_exits 1 --concurrency 20 --repeat 3 --timeout 0.6 --method "$1" mixed) &&
		are "$1" "ok=1365 critical=60 timeout=15 no-start=60" && ! grep EMFILE out
}

leaves_no_zombie()
{
	lines_of 30 true >zombies
	lines_of 30 no-such-check >>zombies
	echo "sh -c 'grep -h ^. /proc/[0-9]*/stat 2>/dev/null | sed \"s/.*) //\" | grep \"^Z \$PPID \" && exit 2; exit 0'" >>zombies
	poll_exits 1 --concurrency 1 --verbose --method "$1" zombies && are "$1" "ok=31 no-start=30"
}

# The soft limit is raised for the poller, and not for a check of aspawn's.
a_low_soft_limit()
{
	echo "sh -c 'echo limit \$(ulimit -n); sleep 0.3'" >limits
	(ulimit -Sn 24 && poll --verbose --concurrency 50 --repeat 50 limits) && are aspawn "ok=50" &&
		test "$(grep -c 'limit 24$' out)" -eq 50
}

a_low_hard_limit()
{
	rm -f trace
	(ulimit -n 40 && poll_exits 2 --concurrency 50 trace-list) && grep "the hard limit is 40" err && ! test -e trace
}

for method in aspawn posix_spawn popen; do
	check "statuses are counted, $method" statuses_are_counted $method
done
check "the list is gone over again; it may be standard input" repeats
check "methods that are compared take turns" methods_take_turns
check "SIGCHLD is ignored by the parent" counts_if_sigchld_is_ignored
check "what could not be started, and why" what_could_not_be_started
check "what posix_spawn could not start, and why" what_posix_spawn_could_not_start
check "all methods count the same" all_methods_count_the_same
check "percentiles" percentiles
check "words are those of a shell" words_are_a_shells
check "comments and blank lines are skipped" comments_are_skipped
check "a bad list starts nothing, and has its line told" bad_lists
check "an empty list, and none" no_list
check "wrong arguments start nothing" wrong_arguments
for method in aspawn posix_spawn; do
	check "a timeout kills grandchildren, $method" a_timeout_kills_grandchildren $method
	check "streams, session and descriptors of a check, $method" surroundings $method
	check "no descriptor is leaked, $method" leaks_no_descriptor $method
	check "no zombie is left, $method" leaves_no_zombie $method
done
for method in aspawn posix_spawn popen; do
	check "a grandchild holds the pipe, $method" a_grandchild_holds_the_pipe $method
	check "a check closes its output early, $method" closes_its_output_early $method
	check "never more at once than the limit, $method" never_more_than_the_limit $method
done
check "output of all kinds" output_of_all_kinds
check "a delay between starts" a_delay_between_starts
for signal in INT TERM HUP; do
	check "SIG$signal ends it and leaves no process" is_ended_by $signal
done
check "it ends when nobody reads what it writes" is_ended_if_nobody_reads
check "a low soft limit of descriptors is raised" a_low_soft_limit
check "a low hard limit of descriptors is told" a_low_hard_limit
finish
