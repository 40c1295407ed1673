#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries need no other library, and have no state.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
nm=${NM:-llvm-nm}
archive=$build/libaspawn.a
shared=$build/libaspawn.so
cc=${CC:-clang}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ASan's function and a libc's environ are weak references, used only if the program has them.
undefined()
{
	$nm "$archive" 2>/dev/null | awk 'NF == 3 { defined[$3] }
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
	llvm-size -A "$archive" | awk '($1 ~ /^\.(data|bss|tdata|tbss)/) && $2 > 0 { print; found = 1 }
		END { exit found }'
}

no_executable_stack()
{
	! llvm-readelf --program-headers "$shared" | grep GNU_STACK | grep -q RWE
}

needs_no_library()
{
	! llvm-readelf --dynamic "$shared" | grep NEEDED
}

# Position-independent code without a relocation of text, and no lazy binding.
binds_now()
{
	llvm-readelf --dynamic "$shared" | grep -q NOW &&
		! llvm-readelf --dynamic "$shared" | grep -q TEXTREL
}

exports_only_its_own()
{
	! $nm -D --defined-only "$shared" | awk '{ print $3 }' |
		grep -v -E '^((psys|aspawn)_|aspawn(@|$)|LIBASPAWN)'
}

# With static linking every global name is in the program's namespace. __atomic_load_4 belongs to an
# ABI.
archive_names_are_prefixed()
{
	! $nm --extern-only --defined-only "$archive" | awk 'NF == 3 { print $3 }' |
		grep -v -E '^((psys|aspawn|_)_|aspawn$)'
}

# A program that defines the library's old names without a prefix, and uses each part of the library.
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
	$cc -Iinclude -w "$work/own.c" "$archive" -o "$work/own" && "$work/own" || return 1
	sed -i '/^int psys_/d' "$work/own.c"
	$cc -DALL -Iinclude "$work/own.c" "$archive" -o "$work/own" && "$work/own"
}

# command/image.h
has_the_image()
{
	$nm "$archive" | grep -q ' [rR] aspawn_image$'
}

image_segments()
{
	llvm-readelf --program-headers "$build/command/image/program" >"$work/segments" &&
		grep -q 'GNU_STACK.* RW ' "$work/segments" && grep -q 'LOAD.* R E ' "$work/segments" &&
		! grep -E 'RWE| WE |DYNAMIC|INTERP' "$work/segments"
}

# Prints the bytes of text that a program with one function links from the archive, without
# symbols.o, of which a linker takes only called functions.
text_of()
{
	echo "int $1(); int main(void) { return $1(); }" >"$work/use.c"
	$cc -w -static "$work/use.c" "$archive" -o "$work/use" -Wl,-t,-t 2>&1 |
		sed -n 's/.*libaspawn\.a[()]\([^()]*\.o\).*/\1/p' | sort -u >"$work/members"
	llvm-size "$archive" | awk -v members="$work/members" '
		BEGIN { while ((getline name < members) > 0) wanted[name] }
		NR > 1 && $6 != "symbols.o" && $6 in wanted { text += $1 }
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
		NR > 1 && $6 != "symbols.o" { text += $1 }
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
	llvm-readelf --dynamic "$shared" | grep -q 'SONAME.*libaspawn\.so\.[0-9]'
}

check "no undefined symbol" undefined
check "archive names are prefixed" archive_names_are_prefixed
if has_sections && [ -z "${SANITIZE-}" ]; then
	check "a program has its own find_exe()" a_program_has_its_own_find_exe
else
	skip "a program has its own find_exe()" "needs the archive's own flags"
fi
if has_sections; then
	check "no writable data" no_writable_data
else
	skip "no writable data" "the objects are for optimizing at link time"
fi
if [ "$(uname -m)" = x86_64 ] && [ -z "${CFLAGS+set}${SANITIZE+set}" ]; then
	check "aspawn() is at most 9 KiB of text" at_most 9216 aspawn
	check "aspawn_run() is at most 48 KiB of text" at_most 49152 aspawn_run
	check "all is at most 79 KiB of text" all_text_is_at_most 80896
fi
check "no stack protector, whatever CFLAGS say" has_no_stack_protector
check "no executable stack" no_executable_stack
check "the archive has the image" has_the_image
check "the image has no segment to write and execute" image_segments
check "the shared library needs no other library" needs_no_library
check "the shared library binds at start" binds_now
check "the shared library exports prefixed names only" exports_only_its_own
check "the shared library has a soname" has_soname
finish
