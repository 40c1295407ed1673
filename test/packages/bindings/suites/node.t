#!/bin/sh
# SPDX-License-Identifier: MIT
# Node's own tests of child_process, without and with aspawn/register, and with one that starts
# nothing, which they must notice. By each Node that there is: ../nodes.
. "$(dirname "$0")/../../../checks/tap.sh"
nodes=$("$(dirname "$0")/../nodes")
test -n "$nodes" || { echo "1..0 # SKIP no node: test/packages/bindings/node.install"; exit 0; }
source=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/programs/nodejs
test -d "$source" || { echo "1..0 # SKIP nodejs is not fetched: test/packages/bindings/suites/install node"; exit 0; }
run=$(realpath "$(dirname "$0")/run-node-test")
package=$(realpath "${BUILD_DIR:-build}")/bindings/node/installed/node_modules/aspawn
test -e "$package/register.js" || { echo "1..0 # SKIP no package: make bindings-node"; exit 0; }
RESULTS=$(mktemp -d)
export RESULTS
trap 'rm -rf "$RESULTS"' EXIT
: >"$RESULTS/without.js"
echo "require('$package/register.js');" >"$RESULTS/with.js"
echo "require('$package/register.js'); require('$package/lib/handle.js').binding.spawn = () => -38;" >"$RESULTS/broken.js"
unset NODE_OPTIONS MAKEFLAGS MAKELEVEL
export LC_ALL=C

cd "$source" || exit 1
all_tests=$(find test/parallel -name "test-child-process-*.js" -printf "%f\n" | sed "s,\.js$,," | sort)

run_all()
{
	for way; do
		echo "$tests" | xargs -P 3 -n 1 "$run" "$way"
	done
}

# Runs a test that differs twice more: one that fails now and then without the module is no
# difference.
same()
{
	for _ in 1 2 3; do
		cmp -s "$RESULTS/without/$1" "$RESULTS/with/$1" && return
		"$run" without "$1"
		"$run" with "$1"
	done
	echo "status $(cat "$RESULTS/with/$1") with the module, $(cat "$RESULTS/without/$1") without"
	tail -20 "$RESULTS/with/$1.output"
	return 1
}

most_fail_if_nothing_starts()
{
	failed=$(cat "$RESULTS"/broken/*[!t] | grep -vcx 0)
	echo "$failed fail"
	test "$failed" -gt 40
}

while read -r NODE <&3; do
	export NODE
	version=$("$NODE" --version)
	tests=$all_tests
	rm -rf "${RESULTS:?}"/*/ && mkdir "$RESULTS/files" "$RESULTS/without" "$RESULTS/with" "$RESULTS/broken"
	run_all without with
	for test in $tests; do
		check "$version: $test" same "$test"
	done
	# Otherwise the suite would not be one for this Node.
	failed=$(cat "$RESULTS"/without/*[!t] | grep -vcx 0)
	check "$version, tests of $(cat .version): $(echo "$tests" | wc -l) tests, of which $failed fail without the module" \
		test "$failed" -lt 10
	tests=$(echo "$tests" | grep -v -e timeout -e flood -e fork)
	run_all broken
	check "$version: tests notice a module that starts nothing" most_fail_if_nothing_starts
done 3<<END
$nodes
END
finish
