#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries need no other library, and have no state.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
nm=${NM:-llvm-nm}
archive=$build/libaspawn.a
psys=$build/libpsys.a
cc=${CC:-clang}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ASan's function and a libc's environ are weak references, used only if the program has them.
undefined()
{
	$nm "$1" 2>/dev/null | awk 'NF == 3 { defined[$3] }
		$1 ~ /^[Uwv]$/ { wanted[$2] = $1 }
		END { for (name in wanted)
			if (!(name in defined) && !(wanted[name] ~ /^[wv]$/ && name ~ /^(__asan_unpoison_memory_region|environ)$/) && name != "_GLOBAL_OFFSET_TABLE_") {
				print name; found = 1 }
			exit found }'
}

# With link-time optimization the objects have no sections to check.
has_sections()
{
	llvm-readobj --sections "$archive" 2>/dev/null | grep -q 'Name: .text'
}

no_writable_data()
{
	llvm-size -A "$1" | awk '($1 ~ /^\.(data|bss|tdata|tbss)/) && $2 > 0 { print; found = 1 }
		END { exit found }'
}

no_executable_stack()
{
	! llvm-readelf --program-headers "$1" | grep GNU_STACK | grep -q RWE
}

needs_no_library()
{
	! llvm-readelf --dynamic "$1" | grep NEEDED
}

# Position-independent code without a relocation of text, and no lazy binding.
binds_now()
{
	llvm-readelf --dynamic "$1" | grep -q NOW &&
		! llvm-readelf --dynamic "$1" | grep -q TEXTREL
}

# exports_only NAMES LIBRARY
exports_only()
{
	! $nm -D --defined-only "$2" | awk '{ print $3 }' | grep -v -E "^($1)"
}

# Without those that make an action.
exports_few()
{
	count=$($nm -D --defined-only "$1" | grep -c -v aspawn_action_)
	echo "$count" && [ "$count" -gt 30 ] && [ "$count" -lt 75 ]
}

# With static linking every global name is in the program's namespace. __atomic_load_4 belongs to an
# ABI.
archive_names_are_prefixed()
{
	! $nm --extern-only --defined-only "$1" | awk 'NF == 3 { print $3 }' |
		grep -v -E '^((psys|aspawn|aspw|_)_|aspawn$)'
}

# What is public is in a header; the image is data of the build.
internal_names_are_not_public()
{
	cat include/aspawn/*.h >"$work/headers"
	$nm --extern-only --defined-only "$archive" | awk 'NF == 3 { print $3 }' | grep '^aspawn_' |
		grep -v '^aspawn_image' | while read -r name; do
			grep -qw "$name" "$work/headers" || echo "$name"
		done | grep . && return 1
	return 0
}

# A program that defines the library's old names without a prefix,
# and uses each part of the library.
a_program_has_its_own_find_exe()
{
	cat >"$work/own.c" <<'C'
#include <aspawn/aspawn.h>
#include <aspawn/command.h>
#ifdef ALL
#define PSYS_NO_UNPREFIXED
#include <syscall/syscall.h>
#endif
int find_exe(void) { return 1; }
int handle_execve_err(void) { return 2; }
int pure_syscall(void) { return 3; }
int psys_execvpe(), psys_syscall();
void *const uses[] = { (void *)aspawn_start, (void *)psys_execvpe, (void *)psys_syscall };
int main(void)
{
	return !uses[0] || find_exe() + handle_execve_err() + pure_syscall() != 6;
}
C
	$cc -Iinclude -w "$work/own.c" "$psys" "$archive" -o "$work/own" && "$work/own" || return 1
	sed -i '/^int psys_/d' "$work/own.c"
	$cc -DALL -Iinclude "$work/own.c" "$psys" "$archive" -o "$work/own" && "$work/own"
}

# Calls each function of libaspawn, and makes a system call in the child.
cat >"$work/alone.c" <<C
#include <aspawn/queue.h>
#include <syscall/syscall.h>
static ASPAWN_CHILD int child(void *arg, int fd, void *mask, void *data, size_t length)
{
	return (void)arg, (void)mask, (void)data, (void)length, psys_write(fd, "x", 1) != 1;
}
void *const functions[] = { $($nm -D --defined-only "$build/libaspawn.so" |
	sed -n 's/.* T \(aspawn[a-z_0-9]*\).*/(void *)\1,/p') };
int main(void)
{
	struct Stack_t stack = { 0 };
	pid_t pid;
	char c = 0;
	int fd = aspawn(&pid, &stack, 4096, child, NULL, NULL, 0);

	if (!functions[0] || fd < 0 || psys_read(fd, &c, 1) != 1 || c != 'x')
		return 1;
	return psys_wait4(pid, NULL, 0, NULL) != pid || aspawn_stack_release(&stack);
}
C
# The same with what libpsys has, and libaspawn has within it.
{
	echo '#include <syscall/exec.h>'
	sed 's/functions\[\] = {/& (void *)psys_execvpe, (void *)psys_syscall, (void *)psys_errname,/' "$work/alone.c"
} >"$work/both.c"

for library in libaspawn libpsys; do
	soname=$(llvm-readelf --dynamic "$build/$library.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
	ln -s "$(realpath "$build/$library.so")" "$work/$soname"
done

# links_and_runs PROGRAM LIBRARY...
links_and_runs()
{
	program=$1
	shift
	$cc -Iinclude "$work/$program.c" "$@" -Wl,-z,now -o "$work/$program" && LD_LIBRARY_PATH=$work "$work/$program"
}

# In any order, and with all members of one of them.
both_link_together()
{
	links_and_runs both "$psys" "$archive" && links_and_runs both "$archive" "$psys" &&
		links_and_runs both "$build/libaspawn.so" "$build/libpsys.so" &&
		links_and_runs both "$build/libpsys.so" "$archive" && links_and_runs both "$psys" "$build/libaspawn.so" &&
		links_and_runs both -Wl,--whole-archive "$psys" -Wl,--no-whole-archive "$archive" &&
		links_and_runs both -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "$psys"
}

hidden_in_libaspawn()
{
	! links_and_runs both "$build/libaspawn.so" 2>"$work/error" && grep -q psys_execvpe "$work/error"
}

# aspawn/child/image.h
has_the_image()
{
	$nm "$archive" | grep -q ' [rR] aspawn_image$'
}

image_segments()
{
	llvm-readelf --program-headers "$build/aspawn/child/image/program" >"$work/segments" &&
		grep -q 'GNU_STACK.* RW ' "$work/segments" && grep -q 'LOAD.* R E ' "$work/segments" &&
		! grep -E 'RWE| WE |DYNAMIC|INTERP' "$work/segments"
}

# Prints the bytes of text that a program with one function links from the archive.
text_of()
{
	echo "int $1(); int main(void) { return $1(); }" >"$work/use.c"
	$cc -w -static "$work/use.c" "$archive" -o "$work/use" -Wl,-t,-t 2>&1 |
		sed -n 's/.*libaspawn\.a[()]\([^()]*\.o\).*/\1/p' | sort -u >"$work/members"
	llvm-size "$archive" | awk -v members="$work/members" '
		BEGIN { while ((getline name < members) > 0) wanted[name] }
		NR > 1 && $6 in wanted { text += $1 }
		END { print text + 0 }'
}

# at_most BYTES FUNCTION
at_most()
{
	text=$(text_of "$2")
	echo "$text" && [ "$text" -gt 0 ] && [ "$text" -le "$1" ]
}

all_text_is_at_most()
{
	llvm-size "$archive" | awk -v most="$1" '
		NR > 1 { text += $1 }
		END { print text; exit text == 0 || text > most }'
}

# Of a distribution's CFLAGS, or of a compiler's own.
has_no_stack_protector()
{
	make -s BUILD_DIR="$work/protected" CFLAGS='-O2 -fstack-protector-all' "$work/protected/libaspawn.a" &&
		$nm "$work/protected/libaspawn.a" >"$work/symbols" &&
		grep -q ' T aspawn$' "$work/symbols" && ! grep __stack_chk "$work/symbols"
}

has_soname()
{
	llvm-readelf --dynamic "$1" | grep -q "SONAME.*${1##*/}\.[0-9]"
}

for library in "$archive" "$psys"; do
	file=$(basename "$library")
	check "$file: no undefined symbol" undefined "$library"
	check "$file: archive names are prefixed" archive_names_are_prefixed "$library"
	if has_sections; then
		check "$file: no writable data" no_writable_data "$library"
	else
		skip "$file: no writable data" "the objects are for optimizing at link time"
	fi
done
check "libaspawn.a: aspawn_ is of public names, aspw_ of internal ones" internal_names_are_not_public
if has_sections && [ -z "${SANITIZE-}" ]; then
	check "a program has its own find_exe()" a_program_has_its_own_find_exe
	check "a program links libaspawn.a alone" links_and_runs alone "$archive"
	check "a program links libaspawn.so alone" links_and_runs alone "$build/libaspawn.so"
	check "a program links libaspawn and libpsys" both_link_together
	check "what libpsys has is hidden in libaspawn.so" hidden_in_libaspawn
else
	skip "a program has its own find_exe()" "needs the archive's own flags"
fi
if [ "$(uname -m)" = x86_64 ] && [ -z "${CFLAGS+set}${SANITIZE+set}" ]; then
	check "aspawn() is at most 9 KiB of text" at_most 9216 aspawn
	check "aspawn_run() is at most 63 KiB of text" at_most 64512 aspawn_run
	check "all is at most 97 KiB of text" all_text_is_at_most 99328
fi
check "no stack protector, whatever CFLAGS say" has_no_stack_protector
check "the archive has the image" has_the_image
check "the image has no segment to write and execute" image_segments
for library in "$build/libaspawn.so" "$build/libpsys.so"; do
	file=$(basename "$library")
	check "$file: no executable stack" no_executable_stack "$library"
	check "$file needs no other library" needs_no_library "$library"
	check "$file binds at start" binds_now "$library"
	check "$file has a soname" has_soname "$library"
done
check "libaspawn.so exports its own names only" exports_only 'aspawn_|aspawn(@|$)|LIBASPAWN' "$build/libaspawn.so"
check "libpsys.so exports its own names only" exports_only 'psys_|LIBPSYS' "$build/libpsys.so"
check "libaspawn.so exports less than 75 names that make no action" exports_few "$build/libaspawn.so"
finish
