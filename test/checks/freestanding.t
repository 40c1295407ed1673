#!/bin/sh
# SPDX-License-Identifier: MIT
# A program without a libc, which copies and clears structures, is linked by each compiler at each
# level, and runs: memset and the like come from PSYS_DEFINE_MEMORY_FUNCTIONS.
. "$(dirname "$0")/tap.sh"
: "${BUILD_DIR:=build}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# links SOURCE COMPILER LEVEL
links()
{
	linker=
	[ "$2" = clang ] && linker=-fuse-ld=lld
	# shellcheck disable=SC2086 # a level may be two options
	"$2" $3 $linker -std=c11 -static -nostdlib -ffreestanding -fno-stack-protector -Wall -Wextra -Werror \
		-Iinclude "$1" "$BUILD_DIR/syscall/start.o" "$BUILD_DIR/libaspawn.a" -o "$work/program" 2>&1
}

sed '/PSYS_DEFINE_MEMORY_FUNCTIONS/d' examples/freestanding.c >"$work/without.c"

cat >"$work/bytes.c" <<'C'
#define PSYS_DEFINE_MEMORY_FUNCTIONS
#include <syscall/string.h>
#include <syscall/syscall.h>

int main(void)
{
	char bytes[] = "abcdef";
	char *volatile at = bytes; /* not to be computed by the compiler */

	memmove(at + 1, at, 4); /* aabcdf */
	if (memcmp(at, "aabcdf", 7) != 0)
		return 1;
	memmove(at, at + 2, 4); /* bcdfdf */
	if (memcmp(at, "bcdfdf", 7) != 0 || memcmp(at, "bcdfd\377", 6) >= 0)
		return 2;
	memset(memcpy(at, "xyz", 3), 0x141, 2); /* AAzfdf */
	return memcmp(at, "AAzfdf", 7) != 0 ? 3 : 0;
}
C
for compiler in clang gcc; do
	if ! command -v "$compiler" >/dev/null; then
		lacks "links by $compiler" "$compiler"
		continue
	fi
	for level in -O0 -O1 -O2 -O3 -Os '-O2 -flto'; do
		check "links by $compiler $level" eval 'links examples/freestanding.c "$compiler" "$level" &&
			"$work/program" | grep -Fx "spoken by a real command"'
		check "moves, copies, sets and compares bytes, $compiler $level" eval 'links "$work/bytes.c" \
			"$compiler" "$level" && "$work/program"'
	done
done
# This shows that the functions are needed, and so that the tests above see them. grep reads to the
# end, as clang leaves its object file behind if the pipe breaks.
if command -v clang >/dev/null; then
	check "does not link by clang without them" eval '! links "$work/without.c" clang -O0 &&
		links "$work/without.c" clang -O0 | grep "undefined symbol: mem"'
fi

finish
