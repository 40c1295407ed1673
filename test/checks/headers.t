#!/bin/sh
# SPDX-License-Identifier: MIT
# A copy of include/ is complete: a program may include each public header alone, for every
# target, or with clang 14 for this machine, in C and in C++. There is no symbolic link, as some
# checkouts and archives lose them.
. "$(dirname "$0")/tap.sh"
clang=${CLANG:-$(command -v clang-19 || echo clang)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "NAME: FLAGS" of each target.
targets()
{
	sed -n 's/^TARGETS += //p' syscall/arch/*/target.mk | tr ' ' '\n' | while read -r name; do
		triple=$(sed -n "s/^$name\.triple := //p" syscall/arch/*/target.mk)
		flags=$(sed -n "s/^$name\.flags := //p" syscall/arch/*/target.mk)
		echo "$name: --target=$triple $flags"
	done
}

# compiles LANGUAGE STANDARD TARGET...: compiles each file of $work/LANGUAGE alone. One process of
# the compiler proper compiles all files, which takes a third of the time.
compiles()
{
	language=$1 standard=$2
	shift 2
	eval "set -- $($clang "$@" -std="$standard" -ffreestanding -nostdlibinc -I"$work/include" \
		-Wall -Wextra -Wpedantic -Wno-variadic-macros -Werror -fsyntax-only \
		-x "$language" "$work/first" '-###' 2>&1 | tail -1)"
	"$@" "$work/$language"/*
}

# Prints the targets that fail.
every_target_compiles()
{
	failed=0
	while IFS=: read -r name flags; do
		# shellcheck disable=SC2086 # a word each
		compiles "$1" "$2" $flags || { echo "that was $name"; failed=1; }
	done <"$work/targets"
	return $failed
}

# Prints the enumerations of include/aspawn of which one begins with another's prefix, ASPAWN_STEP_.
prefixes_are_distinct()
{
	sed -n '/^enum [a-z_]* {/,/^}/s/^\(enum [a-z_]*\|\tASPAWN_[A-Z0-9]*_\).*/\1/p' include/aspawn/*.h |
		awk '/^enum/ { name = $2; next }
		{ prefix[name] = prefix[name] ? prefix[name] : $1 }
		$1 != prefix[name] { print name " has " $1 " and " prefix[name]; found = 1 }
		END {
			for (a in prefix)
				for (b in prefix) {
					count++
					if (a != b && index(prefix[a], prefix[b]) == 1) {
						print a " and " b " share " prefix[b]; found = 1
					}
				}
			exit found || count < 100
		}'
}

has_no_link()
{
	! find include -type l | grep .
}

# Where ASPAWN_SYSCALL makes it.
each_call_has_a_class()
{
	python3 -c 'import sys; sys.path.insert(0, "tools"); import reference; reference.classes()'
}

cp -R include "$work/include"
mkdir "$work/c" "$work/c++"
echo 'int first;' >"$work/first"
# table.h is a list for macros of its includer.
for header in $(cd include && find syscall aspawn -maxdepth 1 -name '*.h' ! -name table.h); do
	for language in c c++; do
		echo "#include <$header>" >"$work/$language/$(echo "$header" | tr / -)"
	done
done
if $clang --version 2>/dev/null | grep -q 'version 1[0-8]\.'; then
	echo "this machine" >"$work/targets"
else
	targets >"$work/targets"
fi

check "no symbolic link in include/" has_no_link
check "no enumeration begins with another's prefix" prefixes_are_distinct
check "each system call has one class" each_call_has_a_class
if command -v "$clang" >/dev/null; then
	check "each header compiles alone for every target, in C11" every_target_compiles c c11
	check "each header compiles alone for every target, in C++17" every_target_compiles c++ c++17
else
	lacks "each header compiles alone for every target" "$clang"
fi
finish
