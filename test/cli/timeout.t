#!/bin/sh
# SPDX-License-Identifier: MIT
# aspawn(1) does what other commands do, or differs for a reason: each row of
# doc/similar-commands.md has a test here, of the same name. Those of timeout are what the tests of
# GNU coreutils check.
. "$(dirname "$0")/../checks/tap.sh"
table=$PWD/doc/similar-commands.md
case ${BUILD_DIR:=build} in /*) ;; *) BUILD_DIR=$PWD/$BUILD_DIR ;; esac
aspawn=$BUILD_DIR/cli/aspawn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export aspawn
long=99.$$ # the seconds that a process sleeps which must not be left

# row COMMAND BEHAVIOUR FUNCTION...
row()
{
	printf '%s\t%s\n' "$1" "$2" >>rows
	of="$1: $2"
	shift 2
	check "$of" "$@"
}

# row_if CONDITION COMMAND BEHAVIOUR FUNCTION...: CONDITION is empty, or says what is missing
row_if()
{
	reason=$1
	shift
	[ -n "$reason" ] || { row "$@" && return; }
	printf '%s\t%s\n' "$1" "$2" >>rows
	skip "$1: $2" "$reason"
}

# exits STATUS COMMAND...
exits()
{
	wanted=$1
	shift
	"$@" 2>error
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit $got, not $wanted: $*"; cat error; return 1; }
}

# refuses WORD ARGUMENT...: with 125, and one line that names the word; nothing is started
refuses()
{
	word=$1
	shift
	rm -f started
	exits 125 "$aspawn" "$@" touch started && [ ! -e started ] && [ "$(wc -l <error)" = 1 ] && grep -F -e "$word" error
}

# waits COMMAND...: until it succeeds, for ten seconds
waits()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { echo "never: $*"; return 1; }
		sleep .05
	done
}

# No process sleeps for $long seconds.
nothing_sleeps()
{
	! grep -qsz "^$long\$" /proc/[0-9]*/cmdline
}

# No process that is still to become sleep: aspawn and a shell may have its arguments.
sleeps()
{
	pgrep -fx "sleep $long" >/dev/null
}

# ends_in SECONDS COMMAND...
ends_in()
{
	limit=$1 began=$(date +%s%N)
	shift
	"$@" || return
	[ $((($(date +%s%N) - began) / 1000000)) -lt "${limit}000" ] || { echo "later than $limit s: $*"; return 1; }
}

# limited STATUS ARGUMENT...: ALRM is the limit, after the program has touched "running"
limited()
{
	wanted=$1
	shift
	rm -f running
	"$aspawn" "$@" 2>error &
	waits test -e running
	kill -ALRM $!
	wait $!
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit $got, not $wanted: $*"; cat error; return 1; }
}

# A program that only KILL ends.
stubborn='trap "" TERM; touch running; while :; do sleep 1; done'

# ------------------------------------------------------------------------------------- timeout

within_its_limit()
{
	exits 0 "$aspawn" -t 10 true && exits 2 "$aspawn" -t 10 sh -c 'exit 2'
}

zero_is_none()
{
	exits 0 "$aspawn" -t 0 sleep .1
}

durations()
{
	for duration in 1d 1h 1m 10s 10.34 9.999999999 .5m 5. 10000ms; do
		exits 0 "$aspawn" -t $duration true || return
	done
}

huge_durations()
{
	for duration in 9223372036854775808 4294967296 9223372036854775807d 99999999999999999999999999999999; do
		exits 0 "$aspawn" -t $duration sleep .1 || return
	done
}

exponents()
{
	refuses 1e3 -t 1e3 && refuses 1e-5000 -t 1e-5000
}

tiny_durations()
{
	ends_in 15 exits 124 "$aspawn" -t .0000000001 sleep 20
}

invalid_values()
{
	refuses invalid -t invalid && refuses invalid --kill-after=invalid -t 1 && refuses 42D -t 42D &&
		refuses invalid --signal=invalid -t 1
}

negative_durations()
{
	refuses -0.1 -t -0.1 && refuses ' -0.1' -t ' -0.1' && refuses -1 --timeout=-1
}

at_the_limit()
{
	ends_in 15 exits 124 "$aspawn" -t .1 sleep 20
}

preserves_the_status()
{
	exits 143 "$aspawn" --preserve-status -t .1 sleep 20 && exits 143 "$aspawn" -p -t .1 sleep 20 &&
		limited 3 -p sh -c 'trap "exit 3" TERM; touch running; sleep 20 & wait'
}

kill_after_keeps_124()
{
	for options in "" -f --foreground; do
		# shellcheck disable=SC2086 # no word, or one
		ends_in 15 limited 124 $options -k .1 sh -c "$stubborn" || return
	done
	limited 137 -p -k .1 sh -c "$stubborn"
}

verbose_names_signals()
{
	for option in -v --verbose; do
		limited 124 $option -k .1 sh -c "$stubborn" && grep TERM error && grep KILL error || return
	done
	exits 124 "$aspawn" -q -t .1 sleep 20 && [ ! -s error ]
}

not_executable()
{
	exits 126 "$aspawn" -t 10 . && exits 126 "$aspawn" -t 10 /etc/passwd && exits 127 "$aspawn" -t 10 ./no-such-file &&
		exits 127 "$aspawn" -t 10 no-such-command
}

own_failures_are_125()
{
	exits 125 "$aspawn" --no-such-option true && exits 125 "$aspawn"
}

sigchld_ignored()
{
	(trap '' CHLD && exec "$aspawn" -t 10 sh -c 'exit 7')
	[ $? = 7 ]
}

child_from_before()
{
	out=$(sleep .1 & exec "$aspawn" -t .5 sh -c 'sleep 2; echo late' 2>error)
	status=$?
	[ "$out" = "" ] && [ $status = 124 ]
}

signals_blocked()
{
	perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGALRM, SIGTERM, SIGCHLD)); exec @ARGV' \
		"$aspawn" -k .1 -t .1 sleep 20 2>error
	[ $? = 124 ]
}

inherits_ignored()
{
	ignored=$(trap '' HUP USR1 && "$aspawn" grep SigIgn /proc/self/status) && echo "$ignored" &&
		[ "${ignored##*	}" = "$(trap '' HUP USR1 && grep SigIgn /proc/self/status | cut -f 2)" ]
}

# A program that makes "received" at USR1, and touches "running" before. It starts no process at
# USR1, as the process could get USR1 too.
receiver()
{
	rm -f received running
	cat >receiver <<-'S'
		trap ': >received; exit 0' USR1
		touch running
		i=0
		until [ -e received ] || [ $i = 200 ]; do sleep .1; i=$((i + 1)); done
	S
}

group_signal_reaches_the_command()
{
	receiver
	setsid sh -c "trap '' USR1; env --default-signal=USR1 '$aspawn' --foreground -t 25 sh receiver & wait" &
	waits test -e running && kill -USR1 "-$!" && wait && [ -e received ]
}

cascaded()
{
	receiver
	limited 124 -f -s ALRM -t 30 "$aspawn" -s USR1 -t 25 sh receiver && [ -e received ]
}

alrm_is_the_limit()
{
	limited 124 sh -c 'touch running; sleep 20'
}

killed_itself()
{
	"$aspawn" -t 25 sh -c "setsid sleep $long & sleep $long" &
	waits sleeps && kill -KILL $! && { wait $! 2>/dev/null; waits nothing_sleeps; }
}

below_process_1()
{
	# shellcheck disable=SC2086 # a word each
	unshare $namespaces "$aspawn" -t 10 sleep .2 && exits 124 unshare $namespaces "$aspawn" -t .1 sleep 20
}

other_sessions_end()
{
	exits 124 "$aspawn" -t .2 sh -c "setsid sleep $long & sleep $long" && nothing_sleeps &&
		exits 0 "$aspawn" sh -c "setsid sleep $long &" && nothing_sleeps
}

stopped_commands_end()
{
	# shellcheck disable=SC2016 # for the inner shell
	ends_in 15 exits 124 "$aspawn" -t .2 sh -c 'kill -STOP $$; sleep 20'
}

# A program in a background group would be stopped by TTIN.
terminal_stays()
{
	echo answer | script -qec "$aspawn -t 60 head -n 1" /dev/null | grep -q answer
}

# ---------------------------------------------------------------------------------------- tini

# In process 1 of a namespace: an orphan that has exited is no zombie.
reaps_orphans()
{
	# shellcheck disable=SC2016,SC2086 # for the inner shell; a word each
	unshare $namespaces --mount-proc "$aspawn" sh -c '(sleep .1 & ) ; sleep .4; i=0
		while grep -s "^State:.Z" /proc/[0-9]*/status; do i=$((i + 1)); [ $i -lt 100 ] || exit 1; sleep .1; done'
}

term_ends_a_program_without_handler()
{
	# shellcheck disable=SC2086 # a word each
	unshare $namespaces "$aspawn" sh -c "exec sleep $long" 2>error &
	outer=$!
	waits sleeps && kill -TERM "$(pgrep -P "$outer")"
	wait "$outer"
	[ $? = 143 ]
}

ends_with_its_program()
{
	# shellcheck disable=SC2086 # a word each
	ends_in 15 unshare $namespaces "$aspawn" sh -c "setsid sleep $long & exit 0" && nothing_sleeps
}

forwards()
{
	receiver
	"$aspawn" sh receiver 2>error &
	waits test -e running && kill -USR1 $! && wait $! && [ -e received ]
}

status_of_the_program()
{
	exits 42 "$aspawn" sh -c 'exit 42'
	# shellcheck disable=SC2016 # for the inner shell
	exits 138 "$aspawn" -q sh -c 'kill -USR1 $$'
}

reaps_without_an_option()
{
	exits 0 "$aspawn" sh -c '(sleep .05 &); sleep 1' && [ ! -s error ]
}

dies_with_parent()
{
	sh -c '"$aspawn" --die-with-parent sleep "$1" & until [ -e go ]; do sleep .05; done; kill -KILL $$' sh "$long" &
	waits sleeps && touch go && wait
	waits nothing_sleeps
}

term_reaches_all()
{
	"$aspawn" sh -c "setsid sleep $long & sleep $long" 2>error &
	waits sleeps && kill -TERM $!
	ends_in 15 wait $!
	nothing_sleeps
}

never_remaps()
{
	refuses -e -e 143 && exits 143 "$aspawn" sh -c 'exit 143'
}

no_warning_of_orphans()
{
	refuses -w -w
}

same_process_group()
{
	# shellcheck disable=SC2016 # for the inner shell
	group=$(sh -c 'ps -o pgid= -p $$; "$aspawn" sh -c "ps -o pgid= -p \$\$"; :' | tr -d ' ' | uniq) &&
		[ "$(echo "$group" | wc -l)" = 1 ]
}

no_variables()
{
	TINI_SUBREAPER=1 TINI_VERBOSITY=3 TINI_KILL_PROCESS_GROUP=1 DUMB_INIT_SETSID=0 DUMB_INIT_DEBUG=1 exits 0 "$aspawn" true &&
		[ ! -s error ]
}

# ----------------------------------------------------------------------------------- dumb-init

one_in_another()
{
	[ "$("$aspawn" "$aspawn" "$aspawn" echo 'oh, hi')" = 'oh, hi' ]
}

single_child()
{
	cat >single <<-'S'
		trap 'wait; exit 5' TERM
		sh -c 'trap "touch child" TERM; touch running; i=0; while [ $i -lt 20 ]; do sleep .05; i=$((i + 1)); done' &
		wait
	S
	rm -f child
	limited 124 -f sh single && [ ! -e child ]
}

no_rewriting()
{
	refuses --rewrite --rewrite 15:2 && receiver && limited 124 -s USR1 sh receiver && [ -e received ]
}

interpreter()
{
	printf '#!%s /bin/sh\nsetsid sleep %s &\necho from "$0"\n' "$aspawn" "$long" >script && chmod 755 script &&
		[ "$(./script)" = "from ./script" ] && nothing_sleeps
}

session_by_an_option()
{
	# shellcheck disable=SC2016 # for the inner shell
	"$aspawn" --setsid sh -c 'test "$(ps -o sid= -p $$ | tr -d " ")" = $$' &&
		! "$aspawn" -q --setsid sh -c 'exec 3</dev/tty' 2>/dev/null
}

# ---------------------------------------------------------------------------------------- reap

all_dead_before_it_exits()
{
	"$aspawn" sh -c "for i in 1 2 3 4 5; do setsid sh -c '(sleep $long &)'; done" && nothing_sleeps
}

int_and_term_end_all()
{
	for signal in INT TERM; do
		# A shell's background job ignores INT.
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$aspawn" sh -c "setsid sleep $long & sleep $long" 2>error &
		waits sleeps && kill -$signal $!
		wait $!
		nothing_sleeps || return
	done
}

no_new_privileges()
{
	"$aspawn" --no-new-privs grep -x 'NoNewPrivs:	1' /proc/self/status
}

does_not_wait_for_the_rest()
{
	ends_in 15 "$aspawn" sh -c "sleep $long &" && nothing_sleeps
}

# ----------------------------------------------------------------------------------- moreutils

output_passes()
{
	[ "$("$aspawn" sh -c 'echo out; exit 0')" = out ]
}

status_of_a_signal()
{
	# shellcheck disable=SC2016 # for the inner shell
	exits 137 "$aspawn" -q sh -c 'kill -KILL $$' && exits 143 "$aspawn" -q sh -c 'kill -TERM $$'
}

# shellcheck disable=SC2154 # it is what says so
reports_by_json()
{
	# shellcheck disable=SC2016 # for the inner shell
	exits 3 "$aspawn" --json result sh -c 'exit 3' && grep '"outcome": *"exited"' result && grep '"status": *3' result
}

namespaces="--pid --fork --map-root-user --user"
[ "$(id -u)" != 0 ] || namespaces="--pid --fork"
# shellcheck disable=SC2086 # a word each
no_namespaces=$(unshare $namespaces --mount-proc true 2>/dev/null || echo "namespaces are refused")
row timeout "a command that ends in time keeps its exit status" within_its_limit
row timeout "0 is no limit" zero_is_none
row timeout "durations with a suffix or a fraction" durations
row timeout "durations beyond what the kernel can count" huge_durations
row timeout "durations with an exponent" exponents
row timeout "a duration shorter than a nanosecond" tiny_durations
row timeout "125 for an invalid duration or signal" invalid_values
row timeout "125 for a negative duration" negative_durations
row timeout "125 for errors of its own" own_failures_are_125
row timeout "126 if the command cannot be executed, 127 if it is not found" not_executable
row timeout "124 at the limit" at_the_limit
row timeout "the command's own status with \`--preserve-status\`" preserves_the_status
row timeout "137 if KILL was needed" kill_after_keeps_124
row timeout "\`--verbose\` names each signal" verbose_names_signals
row timeout "started with SIGCHLD ignored" sigchld_ignored
row timeout "started with a child of its own" child_from_before
row timeout "started with signals blocked" signals_blocked
row timeout "ignored signals stay ignored" inherits_ignored
row timeout "\`--foreground\`: a signal for the caller's process group reaches the command" group_signal_reaches_the_command
row timeout "a limit within a limit" cascaded
row timeout "ALRM is the limit" alrm_is_the_limit
row timeout "killed by SIGKILL, it ends the command" killed_itself
row_if "$no_namespaces" timeout "started by process 1" below_process_1
row timeout "processes in other sessions live on" other_sessions_end
row timeout "a stopped command ends" stopped_commands_end
if command -v script >/dev/null; then missing=; else missing="no script command"; fi
row_if "$missing" timeout "the command cannot read from the terminal" terminal_stays

row_if "$no_namespaces" tini "reaps orphans as process 1" reaps_orphans
row_if "$no_namespaces" tini "TERM ends a program that has no handler" term_ends_a_program_without_handler
row_if "$no_namespaces" tini "exits with its program, and the container ends" ends_with_its_program
row tini "forwards signals" forwards
row tini "exits with its program's status" status_of_the_program
row tini "\`-s\`: reaps orphans without being process 1" reaps_without_an_option
row tini "\`-p\`: a signal at its parent's end" dies_with_parent
row tini "\`-g\`: signals for the process group" term_reaches_all
row tini "\`-e\`: makes an exit status 0" never_remaps
row tini "\`-w\`: a warning for each orphan" no_warning_of_orphans
row tini "makes its program the foreground process group" same_process_group
row tini "variables of the environment" no_variables

row dumb-init "signals reach all of the command" term_reaches_all
row dumb-init "\`--single-child\`: signals for the program alone" single_child
row dumb-init "\`--rewrite\`: another signal in place of one" no_rewriting
row dumb-init "one within another" one_in_another
row dumb-init "interpreter of a script" interpreter
row dumb-init "a session of the command's own" session_by_an_option
row dumb-init "ends what its program has left" all_dead_before_it_exits

row reap "all processes have ended when it exits" all_dead_before_it_exits
row reap "INT and TERM end everything" int_and_term_end_all
row reap "\`-x\`: no set-user-ID programs" no_new_privileges
row reap "\`-w\`: waits for what its program has left" does_not_wait_for_the_rest
row reap "exits with its program's status" status_of_the_program
row reap "111 for errors of its own" own_failures_are_125

row moreutils "\`chronic\`: no output of a command that succeeds" output_passes
row moreutils "\`chronic -v\`: reports the status" reports_by_json
row moreutils "\`mispipe\`: 128 and the number of a signal" status_of_a_signal

rows_of_the_table()
{
	awk -F ' *[|] *' '/^## / { command = $0; sub(/^## /, "", command) } /^[|]/ && $2 !~ /^(-+|behaviour)/ { print command "\t" $2 }' "$table" |
		diff - rows
}
check "doc/similar-commands.md has these rows" rows_of_the_table
finish
