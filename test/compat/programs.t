#!/bin/sh
# Test suites of programs that spawn, with and without the preload: no test may differ.
. "$(dirname "$0")/../checks/tap.sh"
build=${BUILD_DIR:-build}
preload=$(realpath "$build")/libaspawn-preload.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Debian has CPython's in libpython3-testsuite.
python=${PYTHON:-python3}

counts()
{
	LD_PRELOAD=$1 "$python" -m test "$2" >"$work/output" 2>&1
	echo "status $?, $(sed -n 's/^Total tests: //p; /^Tests result\|^Result/p' "$work/output" | tr '\n' ' ')"
}

same_counts()
{
	without=$(cd "$work" && counts "" "$1")
	with=$(cd "$work" && counts "$preload" "$1")
	echo "# $1: $with"
	test "$with" = "$without" || { echo "without the preload: $without"; grep -E '^(FAIL|ERROR)' "$work/output"; return 1; }
}

for module in test_posix test_subprocess test_popen test_os; do
	if "$python" -c "import test.$module" 2>/dev/null; then
		check "CPython's $module" same_counts $module
		echo "$output" | sed -n 's/^# /# /p'
	else
		skip "CPython's $module" "$python has no tests"
	fi
done
finish
