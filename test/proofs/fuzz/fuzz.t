#!/bin/sh
# SPDX-License-Identifier: MIT
# Each target of build.sh with its corpus of regressions; then SECONDS of random inputs, which all
# share: those that start no process need less. An input that fails is left in the directory of the
# targets.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$root/$BUILD_DIR ;;
esac
export BUILD_DIR
targets=$(basename -s .c test/proofs/fuzz/*.c)
has_lua=$(test ! -e /usr/include/lua5.4/lua.h || echo yes)
[ "$has_lua" ] || targets=$(echo "$targets" | grep -vx lua)

# Each target runs in a directory of its own, as commands write to files of the current one.
runs()
{
	target=$1
	shift
	(mkdir -p "$BUILD_DIR/fuzz/work/$target" && cd "$BUILD_DIR/fuzz/work/$target" &&
		"$BUILD_DIR/fuzz/$target" -artifact_prefix="$BUILD_DIR/fuzz/$target-" -max_len=512 "$@" \
			>"$BUILD_DIR/fuzz/$target.log" 2>&1) ||
		{ grep -v '^#\|^INFO' "$BUILD_DIR/fuzz/$target.log" | head -25; return 1; }
}

# Half of the time is for commands.
finds_nothing()
{
	share=$((SECONDS_OF_ALL / 2))
	[ "$1" = commands ] || share=$((share / $(($(echo "$targets" | wc -l) - 1))))
	mkdir -p "$BUILD_DIR/fuzz/found/$1"
	runs "$1" -max_total_time="$((share + !share))" "$BUILD_DIR/fuzz/found/$1" "$root/test/proofs/fuzz/corpus/$1"
}

# shellcheck disable=SC2086 # a word each
check "the targets are built" test/proofs/fuzz/build.sh $targets
[ "$has_lua" ] || skip lua "no liblua5.4-dev"
for target in $targets; do
	check "$target: $(find "test/proofs/fuzz/corpus/$target" -type f | wc -l) inputs, the corpus of regressions" \
		runs "$target" -runs=0 "$root/test/proofs/fuzz/corpus/$target"
	[ -z "${SECONDS_OF_ALL-}" ] || check "$target: random inputs" finds_nothing "$target"
done
finish
