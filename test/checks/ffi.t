#!/bin/sh
# SPDX-License-Identifier: MIT
# What tools for other languages read of include/: rust-bindgen, and cffi's parser.
. "$(dirname "$0")/tap.sh"
clang=${CLANG:-clang-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bindgen 0.60 stops at a member without a tag if its libclang is newer than it is.
LIBCLANG_PATH=${LIBCLANG_PATH:-$(llvm-config --libdir 2>/dev/null)}
export LIBCLANG_PATH

# table.h and irregular.h are parts of syscall.h.
public_headers()
{
	(cd include && find aspawn syscall -maxdepth 1 -name '*.h' ! -name table.h ! -name irregular.h |
		sort | sed 's/.*/#include <&>/')
}

bindgen_reads_them()
{
	bindgen "$work/all.h" -- -Iinclude >"$work/all.rs" && [ -s "$work/all.rs" ]
}

# Older versions write tests of the layouts, newer ones let the compiler check them. Without
# rustfmt all is one line, with spaces.
layouts_are_the_compilers()
{
	tr -d ' ' <"$work/all.rs" | grep -q 'size_of::<aspawn_command>()' &&
		rustc --test --edition 2021 -A warnings -o "$work/all" "$work/all.rs" && "$work/all"
}

# Each macro without parameters but attributes, include guards, and what sizeof is part of.
constants_are_visible()
{
	clang -E -dM -Iinclude "$work/all.h" |
		awk '$1 == "#define" && $2 ~ /^(ASPAWN|PSYS)_[A-Za-z0-9_]+$/ && NF > 2 &&
			!/__attribute__|__SIZEOF_LONG__|sizeof/ && $2 !~ /^(ASPAWN_CHILD|PSYS_UNINSTRUMENTED)$/ {
			print $2 }' | sort -u >"$work/wanted"
	grep -oE 'pub const [A-Za-z0-9_]+ ?:' "$work/all.rs" | cut -d ' ' -f 3 | tr -d : | sort -u >"$work/found"
	grep -q '_ASPAWN_COMMAND_NONBLOCK$' "$work/found" && grep -qx PSYS_O_CLOEXEC "$work/wanted" &&
		! comm -23 "$work/wanted" "$work/found" | grep .
}

# They are so by their members alone: these parsers know no alignment.
sizes()
{
	cat <<-C
		#include <aspawn/command.h>
		_Static_assert(sizeof(struct aspawn_action) == 64, "");
		_Static_assert(sizeof(struct aspawn_child) == 128, "");
		_Static_assert(sizeof(struct aspawn_failure) == 128, "");
		_Static_assert(sizeof(struct aspawn_pool) == 64, "");
		_Static_assert(sizeof(struct aspawn_command) == (59 + 7 * sizeof(void *)) / 8 * 8, "");
		_Static_assert(sizeof(struct aspawn_io) == 200 + 10 * sizeof(void *) + 18 * PSYS_KERNEL_LONG_BITS / 8, "");
	C
}

# As doc/bindings.md says.
declarations()
{
	"$@" -E -P -DPSYS_DECLARATIONS_ONLY -Iinclude -include syscall/syscall.h include/aspawn/command.h
}

# shellcheck disable=SC2086 # flags, a word each
cffi_reads_every_target()
{
	failed=0
	for makefile in syscall/arch/*/target.mk; do
		for name in $(sed -n 's/^TARGETS += //p' "$makefile"); do
			triple=$(sed -n "s/^$name\.triple := //p" "$makefile")
			flags=$(sed -n "s/^$name\.flags := //p" "$makefile")
			declarations "$clang" --target="$triple" $flags >"$work/declarations" &&
				$python test/checks/cffi_layouts.py "$work/declarations" >/dev/null &&
				"$clang" --target="$triple" $flags -std=c11 -DPSYS_DECLARATIONS_ONLY \
					-Iinclude -fsyntax-only "$work/sizes.c" || {
				echo "that was $name"
				failed=1
			}
		done
	done
	return $failed
}

# Sizes and offsets as cffi computes them from declarations, asserted in a program in C.
cffi_computes_the_layouts()
{
	declarations "${CC:-clang}" >"$work/declarations" &&
		$python test/checks/cffi_layouts.py "$work/declarations" >"$work/layouts.c" &&
		grep -q 'struct aspawn_command, argv)' "$work/layouts.c" &&
		"${CC:-clang}" -std=c11 -Iinclude -fsyntax-only "$work/layouts.c"
}

# The program of doc/bindings.md, with the library that was built.
cffi_runs_a_command()
{
	sed -n '/^```python/,/^```/{/^```/d;p;}' doc/bindings.md |
		sed "s|\"libaspawn.so[^\"]*\"|\"${BUILD_DIR:-build}/libaspawn.so\"|" >"$work/program.py"
	$python -W ignore "$work/program.py" >"$work/output" &&
		printf '%s\n0 True\n' "$(uname -sr)" | diff - "$work/output"
}

public_headers >"$work/all.h"
sizes >"$work/sizes.c"
if ! command -v bindgen >/dev/null; then
	lacks "bindgen reads all public headers" "bindgen"
else
	check "bindgen reads all public headers" bindgen_reads_them
	check "bindgen has each constant" constants_are_visible
	if command -v rustc >/dev/null; then
		check "rustc has the same layouts" layouts_are_the_compilers
	else
		lacks "rustc has the same layouts" "rustc"
	fi
fi
# The distribution's has the distribution's cffi.
for python in python3 /usr/bin/python3 ''; do
	[ -z "$python" ] || { $python -c 'import cffi' 2>/dev/null && break; }
done
if [ -z "$python" ]; then
	lacks "cffi reads the declarations" "python3 with cffi"
else
	check "cffi computes the same layouts" cffi_computes_the_layouts
	check "cffi runs a command, as documented" cffi_runs_a_command
	if command -v "$clang" >/dev/null; then
		check "cffi reads the declarations of every target" cffi_reads_every_target
	else
		lacks "cffi reads the declarations of every target" "$clang"
	fi
fi
finish
