#!/bin/sh
# SPDX-License-Identifier: MIT
# cli.sh LAUNCH CHILD COMMAND STARTER...: prints how long COMMAND CHILD takes, beside each STARTER
# CHILD, in turns. There are ROUNDS=15, each of COUNT=200 starts.
launch=$1 child=$2 command=$3
shift 3

# microseconds PROGRAM: prints how long one start takes
microseconds()
{
	begin=$(date +%s%N)
	"$launch" "${COUNT:-200}" 0 "$1" "$child" || exit 1
	echo $((($(date +%s%N) - begin) / ${COUNT:-200} / 1000))
}

for starter; do
	for _ in $(seq "${ROUNDS:-15}"); do
		echo "$(microseconds "$starter") $(microseconds "$command")"
	done | awk '{ printf "%d %d %.3f\n", $1, $2, $2 / $1 }' | sort -k 3n | awk -v name="${starter##*/}" '
		{ starter[NR] = $1; command[NR] = $2; ratio[NR] = $3 }
		END {
			middle = int((NR + 1) / 2)
			printf "%s: %d us, aspawn: %d us, ratio %.2f (%.2f to %.2f)\n", name,
				starter[middle], command[middle], ratio[middle], ratio[1], ratio[NR]
		}'
done
