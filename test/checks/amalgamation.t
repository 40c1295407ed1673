#!/bin/sh
# SPDX-License-Identifier: MIT
# The amalgamation on this machine, in a directory with nothing else: aspawn.h, aspawn.c, aspawn.S
# and psys.h compile alone, and programs and a shared library are made of them, with the image and
# without. `make test-amalgamation` is the same for every target.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/../packages/amalgamation/tools.sh"

# runs CALLER COMPILER FLAGS...: a program of all files, or of psys.h alone, does what it should
runs()
{
	caller=$1
	shift
	case $caller in
	psys*) in_work "$@" "$caller" -o program ;;
	*) in_work "$@" -c aspawn.c -o c.o && in_work "$@" -c aspawn.S -o S.o &&
		in_work "$@" "$caller" c.o S.o -o program ;;
	esac && HAS=b "$work/program"
}

# callers_compile "STANDARDS" COMPILER...
callers_compile()
{
	standards=$1
	shift
	for standard in $standards; do
		caller_compiles psys-caller "$standard" "$@" && caller_compiles caller "$standard" "$@" &&
			caller_compiles caller "$standard" "$@" -DPSYS_FIRST &&
			caller_compiles caller "$standard" "$@" -DPSYS_LAST || return
	done
}

compiles()
{
	compiles_source "$@" && compiles_assembly "$@" && need_nothing_else &&
		compiles_source "$@" -DASPAWN_EXPORT && need_nothing_else
}

cat >"$work/image-caller.c" <<'C'
#include "aspawn.h"
int main(void)
{
	struct aspawn_command command = *ASPAWN_COMMAND("true");
	struct aspawn_action action;
	struct aspawn_child child;
	int mode, status = -1;

	aspawn_action_oom_score_adj(&action, 1000);
	command.actions = &action;
	command.action_count = 1;
	if (aspawn_start(&child, &command))
		return 2;
	if (aspawn_wait_started(&child, NULL, -1))
		return 3;
	mode = aspawn_describe(&child, ASPAWN_FACT_MODE);
	return aspawn_wait(&child, &status, NULL, -1) || status ? 4 :
		mode == ASPAWN_MODE_IMAGE ? 0 : 10 + aspawn_describe(&child, ASPAWN_FACT_REASON);
}
C

# The child of a command that would copy the memory executes the image.
has_an_image()
{
	links_image "$@" &&
		in_work "$@" -O2 '-DASPAWN_IMAGE="aspawn-image"' image-caller.c aspawn.c aspawn.S -o program && "$work/program"
}

says_that_it_has_no_image()
{
	in_work "$@" -O2 image-caller.c aspawn.c aspawn.S -o program || return
	"$work/program"
	[ $? = 14 ] # ASPAWN_REASON_BUILD
}

# exports_of COMPILER FLAGS...: of a shared library
exports_of()
{
	in_work "$@" -O2 -fPIC -shared -nostdlib aspawn.c aspawn.S -o library.so &&
		llvm-nm -D --defined-only "$work/library.so" >"$work/exports"
}

exports_nothing()
{
	exports_of "$@" && ! grep . "$work/exports"
}

# The functions of the library and of each system call; and none is called by way of a table,
# which is filled by the child where calls are not bound at start.
exports_its_own()
{
	exports_of "$@" -DASPAWN_EXPORT || return
	for name in aspawn aspawn_run psys_read psys_syscall psys_strlen; do
		grep " $name\$" "$work/exports" || return
	done
	! grep -v -E ' (aspawn|(aspawn|psys)_[a-z0-9_]*)$' "$work/exports" &&
		! llvm-readelf --relocs "$work/library.so" | grep -E "JU?MP_SLO"
}

has_all_properties()
{
	in_work "$@" -c aspawn.S -o S.o &&
		[ "$(llvm-readelf --notes "$work/S.o" | grep -c 'x86 feature: IBT, SHSTK')" = 1 ]
}

# A child has the thread pointer of a thread that may have ended; the stack protector reads
# its canary there.
children_have_no_protector()
{
	sed -n 's/^\(static \)*\(PSYS_UNINSTRUMENTED\|IN_[A-Z]*\) .*[ *]\([a-z_0-9]*\)(.*/\3/p' "$work/aspawn.c" >"$work/marked"
	in_work "$@" -O0 -fno-pic -fstack-protector-all -c aspawn.c -o c.o &&
		llvm-objdump --disassemble --reloc "$work/c.o" | awk -v marked="$work/marked" '
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3) }
		/__stack_chk_fail/ { protected[name] }
		END {
			while ((getline name < marked) > 0) {
				count++
				if (name in protected) { print name; found = 1 }
			}
			exit found || count < 50 || !("aspawn" in protected) }'
}

equals_the_tree()
{
	for file in psys.h aspawn.h aspawn.c aspawn.S; do
		equals_tree $file "$@" || { echo "that was $file"; return 1; }
	done
}

documents_count_its_files()
{
	tools/amalgamate.py "$work/counted" && [ "$(find "$work/counted" -type f | wc -l)" = 8 ] &&
		grep "eight files" README.md && grep "eight files" doc/embedding.md
}

if ! command -v python3 >/dev/null; then
	skip "the amalgamation" "no python3"
	finish
	exit
fi
check "it is made" tools/amalgamate.py "$work"
check "README.md and doc/embedding.md say how many files it has" documents_count_its_files
# shellcheck disable=SC2086 # a word each
for compiler in gcc clang-14 clang-19; do
	if ! command -v $compiler >/dev/null; then
		lacks "$compiler" "$compiler"
		continue
	fi
	case $compiler in clang*) lld=-fuse-ld=lld${compiler#clang} ;; *) lld= ;; esac
	check "$compiler: each file compiles alone" compiles $compiler
	check "$compiler: callers in C99 and C11" callers_compile "c99 c11" $compiler
	if has_cplusplus $compiler; then
		check "$compiler: callers in C++11 and C++17" callers_compile "c++11 c++17" $compiler
	else
		skip "$compiler: callers in C++11 and C++17" "it has no C++"
	fi
	check "$compiler: a program of psys.h alone" runs psys-caller.c $compiler
	check "$compiler: a program of all" runs caller.c $compiler
	check "$compiler: a program with the image" has_an_image $compiler
	check "$compiler: a program without the image" says_that_it_has_no_image $compiler
	check "$compiler: a program with -flto" runs caller.c $compiler -O2 -flto ${lld:+"$lld"}
	check "$compiler: a shared library exports nothing" exports_nothing $compiler
	check "$compiler: a shared library with ASPAWN_EXPORT exports its own" exports_its_own $compiler
	check "$compiler: no function of the child has a stack protector" children_have_no_protector $compiler
	[ "$(uname -m)" != x86_64 ] || check "$compiler: IBT and SHSTK" has_all_properties $compiler
	[ "$(uname -m)" != x86_64 ] || check "$compiler: the same as the tree" equals_the_tree x86_64 $compiler
done
finish
