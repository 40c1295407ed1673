#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds all targets of this directory, or those that are named, each with its seeds, as OSS-Fuzz
# wants it: $CC, $CXX, $CFLAGS, $CXXFLAGS and $LIB_FUZZING_ENGINE say how, $SANITIZER with what,
# $WORK and $OUT where. Without these, for libFuzzer with ASan and UBSan, in build/fuzz. The target
# lua needs liblua5.4-dev.
set -eu
cd "$(dirname "$0")/../../.."
: "${BUILD_DIR:=build}" "${SANITIZER=address}" "${LIB_FUZZING_ENGINE=-fsanitize=fuzzer}"
: "${WORK:=$BUILD_DIR/fuzz/work}" "${OUT:=$BUILD_DIR/fuzz}"
case $SANITIZER in
address) sanitizers=fuzzer-no-link,address,undefined ;;
undefined) sanitizers=fuzzer-no-link,undefined ;;
coverage) sanitizers=fuzzer-no-link ;;
*) echo "$0: $SANITIZER does not know the library's own system calls" >&2; exit 2 ;;
esac
usual="-O1 -g -fno-omit-frame-pointer -fsanitize=$sanitizers -fno-sanitize-recover=all"
[ "$SANITIZER" != coverage ] || usual="$usual -fprofile-instr-generate -fcoverage-mapping"
: "${CC:=clang}" "${CXX:=clang++}" "${CFLAGS=$usual}" "${CXXFLAGS=$usual}"
: "${LUA_CFLAGS=-I/usr/include/lua5.4}" "${LUA_LIBS=-l:liblua5.4.a -lm -ldl}"
export LUA_CFLAGS LUA_LIBS CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE WORK OUT BUILD_DIR
# shellcheck disable=SC2046 # a word each
[ $# -gt 0 ] || set -- $(basename -s .c test/proofs/fuzz/*.c)

mkdir -p "$WORK" "$OUT"
make -s -j"$(nproc)" BUILD_DIR="$WORK/library" SANITIZE= TARGET= IMAGE_FILE= "$WORK/library/libaspawn.a"

# The module as the rock has it, and a Lua that is not sanitized.
case " $* " in
*' lua '*)
	make -s BUILD_DIR="$WORK/library" SANITIZE= TARGET= "$WORK/library/amalgamation/aspawn.c"
	rm -rf "$WORK/rock" "$WORK/module"
	mkdir -p "$WORK/module"
	BUILD_DIR="$WORK/library" bindings/lua/pack "$WORK/rock"
	rock=$(echo "$WORK"/rock/aspawn-*/)
	# shellcheck disable=SC2016 # for the shells that xargs starts
	find "$rock/src" "$rock/vendor" -name '*.[cS]' ! -name 'aspawn-image.*' -print0 |
		xargs -0 -P "$(nproc)" -I '{}' sh -euc '$CC $CFLAGS -D_FILE_OFFSET_BITS=64 -I"$2/vendor" $LUA_CFLAGS \
			-c "$1" -o "$WORK/module/$(basename "$1").o"' sh '{}' "$rock"
	;;
esac

# The library comes last: a target has some of its members itself.
# shellcheck disable=SC2016 # for the shells that xargs starts
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh -euc '
	includes="-Iinclude -Icompat/popen_noshell/include" libraries=$WORK/library/libaspawn.a
	if [ "$1" = lua ]; then
		includes="-I$2/vendor -Ibindings/lua/src $LUA_CFLAGS" libraries="$WORK/module/*.o $LUA_LIBS"
	fi
	$CC $CFLAGS -std=gnu11 $includes -Wall -Wextra -Wno-missing-field-initializers ${WERROR-} \
		-c test/proofs/fuzz/$1.c -o "$WORK/$1.o"
	$CXX $CXXFLAGS "$WORK/$1.o" $libraries $LIB_FUZZING_ENGINE -o "$OUT/$1"' sh '{}' "${rock-}"
for target; do
	rm -f "$OUT/${target}_seed_corpus.zip"
	python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "test/proofs/fuzz/corpus/$target"/*
	printf '[libfuzzer]\nmax_len = 512\n' >"$OUT/$target.options"
done
