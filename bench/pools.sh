#!/bin/sh
# SPDX-License-Identifier: MIT
# The same list of shells that echo 100 bytes, 16 at once, by the queue and by what people use for
# it: commands a second. pools.sh QUEUE [COMMANDS]; what is not installed is left out.
queue=$1
count=${2:-2000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
text='PING OK - Packet loss = 0%, RTA = 0.05 ms|rta=0.05ms;100.0;500.0;0 pl=0%;20;60;0;100 and some more'

awk -v text="$text" -v count="$count" 'BEGIN { for (i = 0; i < count; i++) print "echo \"" text "\"" }' >"$work/list"
cat >"$work/pool.py" <<'END'
import concurrent.futures, subprocess, sys

def run(line):
    return subprocess.run(['/bin/sh', '-c', line], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

with concurrent.futures.ThreadPoolExecutor(16) as pool:
    for _ in pool.map(run, open(sys.argv[1]).read().splitlines()):
        pass
END

now()
{
	date +%s%N
}

# measure NAME COUNT COMMAND...: on the first COUNT lines of the list.
measure()
{
	name=$1
	lines=$2
	shift 2
	head -n "$lines" "$work/list" >"$work/lines"
	begun=$(now)
	"$@" >"$work/output" 2>&1 || return
	ended=$(now)
	awk -v name="$name" -v lines="$lines" -v time=$((ended - begun)) \
		'BEGIN { printf "%-36s %9.0f\n", name, lines / time * 1e9 }'
}

# shellcheck disable=SC2317 # called by measure
by_xargs()
{
	tr '\n' '\0' <"$work/lines" | xargs -0 -n 1 -P 16 /bin/sh -c
}

# shellcheck disable=SC2317 # called by measure
by_parallel()
{
	parallel --will-cite -j 16 <"$work/lines"
}

printf '\n%-36s %9s\n' 'sh that echoes 100 bytes, 16 at once' 'a second'
printf '%-36s %9s\n' 'queue' "$("$queue" list "$count")"
measure 'xargs -P 16' "$count" by_xargs
command -v python3 >/dev/null && measure 'Python, ThreadPoolExecutor' "$count" python3 "$work/pool.py" "$work/lines"
command -v parallel >/dev/null && measure 'GNU parallel -j 16' $((count / 10)) by_parallel
exit 0
