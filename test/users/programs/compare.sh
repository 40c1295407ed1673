# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Compares the results of a program's test suite without and with the preload.
#
#	needs COMMAND...               or all is skipped
#	source_of PACKAGE              what fetch has of it, in $source, or all is skipped
#	binds "FUNCTIONS" COMMAND...   exactly these of the program are the preload's
#	same NAME LEAST                compares what the function results writes, at least
#	                               so many tests; the row of the table is of that name
#
# results runs the suite in an empty directory and writes a line for each test: its name, a tab,
# and its result. It starts the suite's programs by `preloaded`, or with $preloading in their
# environment. With BROKEN set to a preload that starts nothing the results must differ.
. "$(dirname "$0")/../../checks/tap.sh"

# A suite that hangs fails.
if [ -z "${LIMITED:-}" ]; then
	export LIMITED=1
	exec timeout -k 10 "${LIMIT:-900}" "$0"
fi

build=${BUILD_DIR:-build}
preload=$(realpath "$build")/libaspawn-preload.so
cache=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/programs
suite=$(basename "$0" .t)
rows=$(realpath "$build")/programs
rm -f "$rows/$suite"
test -e "$preload" || { echo "Bail out! No $preload"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Suites expect a usual limit of descriptors, English messages, and no variables of make.
ulimit -n 1024
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD_DIR CC LD_PRELOAD PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE

skip_all()
{
	echo "1..0 # SKIP $1"
	exit
}

needs()
{
	for command; do
		command -v "$command" >/dev/null || skip_all "$command is not installed: test/users/programs/install $suite"
	done
}

source_of()
{
	source=$cache/$1
	test -d "$source" || skip_all "$1 is not fetched: test/users/programs/install $suite"
}

preloaded()
{
	if [ -n "$preloading" ]; then
		LD_PRELOAD=$preloading "$@"
	else
		"$@"
	fi
}

bound()
{
	LD_DEBUG=bindings LD_BIND_NOW=1 LD_PRELOAD=$preload "$@" 2>&1 </dev/null |
		sed -n "s/.* \([^ ]*\) \[0\] to .*libaspawn-preload.so \[0\]: normal symbol .\([a-z0-9_]*\)'.*/\1 \2/p" |
		grep -v -e '^[^ ]*libaspawn-preload' -e file_actions_ | cut -d' ' -f2 | sort -u | xargs
}

binds_exactly()
{
	expected=$1
	shift
	now=$(bound "$@")
	test "$now" = "$expected" || { echo "it binds: $now"; return 1; }
}

binds()
{
	functions=${1:-none of them}
	if [ -n "${BROKEN:-}" ]; then
		test -n "$1" || skip_all "it binds none of them"
		return
	fi
	check "$suite binds $functions" binds_exactly "$@"
}

# Runs the suite once, in a directory of its own; the results are in $work/$1.
run()
{
	preloading=$2
	rm -rf "$work/run"
	mkdir "$work/run"
	(cd "$work/run" && results) </dev/null >"$work/output" 2>"$work/errors"
	sort "$work/output" >"$work/$1"
}

names_in()
{
	cut -f1 "$1" | sort -u
}

# Counts the first words.
outcomes()
{
	cut -f2- "$work/with" | cut -d' ' -f1 | sort | uniq -c | awk '{ printf "%s%s %s", separator, $1, tolower($2); separator = ", " }'
}

# Runs the suite again after a difference, to distinguish unstable tests, which are named, from
# tests that the preload changes: those never have the same result with it.
same_results()
{
	least=$1
	run without ""
	run with "$preload"
	for again in 2 3; do
		cmp -s "$work/without" "$work/with" && break
		diff "$work/without" "$work/with" | sed "s/^/run $((again - 1)): /"
		for way in without with; do
			mv "$work/$way" "$work/$way.before"
			run $way "$(test $way = without || echo "$preload")"
			sort -u -o "$work/$way" "$work/$way" "$work/$way.before"
		done
	done
	names_in "$work/with" >"$work/names"
	echo "@ $(wc -l <"$work/names") | $(outcomes)"
	comm -12 "$work/with" "$work/without" | cut -f1 | sort -u >"$work/same"
	for way in without with; do
		cut -f1 "$work/$way" | uniq -d | comm -12 - "$work/same" | sed "s/^/= not always the same $way the preload: /"
	done
	sed -n 's/\t\(fail\|error\|not ok\).*//p' "$work/with" | sed 's/^/= it fails both ways: /'
	test "$(wc -l <"$work/names")" -ge "$least" || { echo "less than $least"; tail -20 "$work/errors"; return 1; }
	names_in "$work/without" | diff - "$work/names" || return 1
	! comm -23 "$work/names" "$work/same" | grep .
}

# With a broken preload: true if it is loaded where the suite starts its programs.
notices()
{
	run without ""
	run with "$BROKEN"
	! cmp "$work/without" "$work/with"
}

same()
{
	title=$1
	shift
	if [ -n "${BROKEN:-}" ]; then
		check "$suite notices a preload that starts nothing" notices
		return
	fi
	check "$suite: each test is the same with the preload" same_results "$@"
	mkdir -p "$rows"
	echo "$output" | sed -n "s/^@ \(.*\)/| $title | $functions | \1 |/p; s/^= /    /p" >"$rows/$suite"
	sed 's/^/# /' "$rows/$suite"
}
