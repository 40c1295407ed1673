# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For the tests of the amalgamation: what is asked of its files for any compiler and target.
# They are in $work, which has nothing else that could be included.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The smallest uses, in the C and the C++ that the headers are for.
cat >"$work/psys-caller" <<'C'
#include "psys.h"
int main(void)
{
	return psys_close(-1) == -PSYS_EBADF && psys_write(1, "", 0) == 0 ? 0 : 1;
}
C
cat >"$work/caller" <<'C'
#ifdef PSYS_FIRST
#include "psys.h"
#endif
#include "aspawn.h"
#ifdef PSYS_LAST
#include "psys.h"
#endif
static ASPAWN_CHILD int child(void *arg, int fd, void *mask, void *data, size_t size)
{
	(void)arg, (void)mask, (void)data, (void)size;
	return psys_write(fd, "", 1) == 1 ? 7 : 8;
}
int main(void)
{
	struct Stack_t stack = { NULL, 0 };
	char text[16];
	struct aspawn_io io;
	pid_t pid;
	int status = 0, fd;

	psys_memset(&io, 0, sizeof io);
	io.size = sizeof io;
	io.out = text;
	io.out_size = sizeof text;
	/* with the caller's environment */
	if (aspawn_run(ASPAWN_COMMAND("sh", "-c", "printf a-$HAS"), &io) || io.status)
		return 1;
	if (psys_strcmp(text, "a-b") || psys_strcmp(psys_errname(PSYS_ENOENT), "ENOENT"))
		return 2;
	fd = aspawn(&pid, &stack, 8192, child, NULL, NULL, 0);
	if (fd < 0 || psys_read(fd, text, 1) != 1)
		return 3;
	return psys_wait4(pid, &status, 0, NULL) == pid && status == 7 << 8 ? 0 : 4;
}
C
for language in c cc; do
	cp "$work/psys-caller" "$work/psys-caller.$language"
	cp "$work/caller" "$work/caller.$language"
done

# "NAME DIRECTORY COMPILER FLAGS" of each target; DIRECTORY is its own of syscall/arch. Clang
# is to find no header of the host's libc; gcc has its own only if told that there is none.
targets()
{
	for makefile in syscall/arch/*/target.mk; do
		for name in $(sed -n 's/^TARGETS += //p' "$makefile"); do
			cc=$(sed -n "s/^$name\.cc := //p" "$makefile")
			triple=$(sed -n "s/^$name\.triple := //p" "$makefile")
			flags=$(sed -n "s/^$name\.flags := //p" "$makefile")
			if [ -n "$cc" ]; then
				flags="$cc $flags -ffreestanding"
			else
				flags="clang-19 --target=$triple $flags -nostdlibinc"
			fi
			echo "$name $(basename "$(dirname "$makefile")") $flags"
		done
	done
}

# in_work COMMAND...: with nothing to include but the amalgamation
in_work()
{
	(cd "$work" && "$@")
}

compiles_source()
{
	in_work "$@" -O2 -Wall -Wextra -Wpedantic -Wshadow -Werror -std=c11 -c aspawn.c -o c.o
}

# The assembly file, and that it asks for no executable stack.
compiles_assembly()
{
	in_work "$@" -c aspawn.S -o S.o &&
		llvm-readelf --sections "$work/S.o" | grep GNU-stack | grep -v X
}

links_image()
{
	in_work "$@" -ffreestanding -O2 -Wall -Wextra -Werror -std=c11 -fsyntax-only aspawn-image.c || return
	case $1 in clang*) set -- "$@" -fuse-ld=lld ;; esac
	in_work ./aspawn-image.sh aspawn-image "$@"
}

# Compilers may call memcpy and memset wherever they like. ASan's function is called only in a
# program that has it, and a libc's environ is read likewise.
need_nothing_else()
{
	llvm-nm "$work/c.o" "$work/S.o" | awk 'NF == 3 { defined[$3] }
		$1 ~ /^[Uwv]$/ { wanted[$2] = $1 }
		END { for (name in wanted)
			if (!(name in defined) && name !~ /^(memcpy|memset|_GLOBAL_OFFSET_TABLE_|_gp_disp|\.TOC\.)$/ &&
					!(wanted[name] ~ /^[wv]$/ && name ~ /^(__asan_unpoison_memory_region|environ)$/)) {
				print name; found = 1 }
			exit found || !("aspawn" in defined) || !("psys_clone_thunk" in defined) }'
}

# caller_compiles CALLER STANDARD COMPILER...: CALLER is a file's name without its end
caller_compiles()
{
	caller=$1 standard=$2
	shift 2
	case $standard in *++*) caller=$caller.cc ;; *) caller=$caller.c ;; esac
	in_work "$@" -std="$standard" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$caller"
}

has_cplusplus()
{
	echo | "$1" -fsyntax-only -x c++ - 2>/dev/null
}

# --- the same as the tree ---------------------------------------------------------

# What a compiler reads, a word a line.
words_of()
{
	"$@" -E -P | grep -v '^#pragma' | tr -s '[:space:]' '\n'
}

# The macros that are left, without include guards and those of the amalgamation.
macros_of()
{
	"$@" -E -dM | sed 's/[[:space:]]\{1,\}/ /g' | grep -v -E '^#define (\w+_H|PSYS_TARGET_\w+|PSYS_NO_SYMBOLS)( 1)? *$' | sort
}

# equals_tree FILE DIRECTORY COMPILER...: of FILE, for the architecture of DIRECTORY
equals_tree()
{
	file=$1 directory=$2 language=c
	shift 2
	case $file in
	psys.h) tree=include/syscall/syscall.h ;;
	aspawn.h) tree="include/syscall/syscall.h $(grep -l '^#ifndef .*_H$' include/syscall/*.h include/aspawn/*.h |
			grep -v unprefixed)" ;;
	aspawn.c) tree="syscall/symbols.c $(echo syscall/*.c | sed 's|syscall/symbols.c||') aspawn/*/*.c" ;;
	aspawn.S) tree=$(printf '%s\n' "syscall/arch/$directory"/*.S | grep -v start.S)
		language=assembler-with-cpp ;;
	esac
	for part in $tree; do
		echo "#include \"$PWD/$part\""
	done >"$work/tree"
	set -- "$@" -O1 -DPSYS_API= -x "$language"
	[ "$file" != aspawn.S ] || set -- "$@" -DASPAWN_EXPORT
	[ "$file" != aspawn.c ] || set -- "$@" -DPSYS_NO_UNPREFIXED
	words_of "$@" "$work/$file" >"$work/words" && words_of "$@" -Iinclude -DPSYS_NO_SYMBOLS "$work/tree" >"$work/tree.words" &&
		[ "$(wc -l <"$work/words")" -gt 60 ] && diff "$work/tree.words" "$work/words" || return
	[ "$file" = aspawn.S ] || {
		macros_of "$@" "$work/$file" >"$work/macros"
		macros_of "$@" -Iinclude -DPSYS_NO_SYMBOLS "$work/tree" >"$work/tree.macros"
		diff "$work/tree.macros" "$work/macros"
	}
}
