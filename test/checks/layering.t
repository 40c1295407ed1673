#!/bin/sh
# SPDX-License-Identifier: MIT
# Each layer depends only on those below it; the core includes the compiler's headers only.
. "$(dirname "$0")/tap.sh"

includes()
{
	grep -rhoE '#include [<"][^>"]+[>"]' "$@" --include='*.[chS]' | sed 's/#include //' | sort -u
}

core_includes_no_foreign_header()
{
	! includes syscall aspawn include |
		grep -v -E '^<(stddef|stdint|stdarg|stdbool|limits)\.h>$|^<(syscall|aspawn)/|^"'
}

syscall_knows_no_spawning()
{
	! grep -rn 'aspawn/' syscall include/syscall --include='*.[chS]'
}

# From the bottom. A file includes those of its own directory and of the ones below it.
directories_include_no_higher_one()
{
	above=
	for directory in queue caller helper child action spawn; do
		[ -d "aspawn/$directory" ] || return 1
		[ -z "$above" ] || ! grep -rnE "#include \"[./]*/($above)/" "aspawn/$directory" || return 1
		above=${above:+$above|}$directory
	done
	! grep -rn '#include "../aspawn' syscall
}

spawn_knows_no_commands()
{
	! grep -rn 'aspawn/command\.h' aspawn/spawn aspawn/helper include/aspawn/aspawn.h --include='*.[chS]'
}

commands_know_no_queue()
{
	! grep -rnE 'queue/|aspawn/queue\.h' syscall aspawn include/syscall include/aspawn/aspawn.h \
		include/aspawn/action.h include/aspawn/command.h --include='*.[chS]' --exclude-dir=queue
}

architectures_stay_in_their_directories()
{
	! grep -rniE "$(sed -n 's/^#\(el\)\?if defined(\(__[A-Za-z0-9]*\).*/\2/p' include/syscall/arch.h | paste -sd '|')" \
		syscall/*.c syscall/*.h aspawn include/syscall/*.h include/aspawn |
		grep -v '^include/syscall/arch.h:'
}

# Common parts of architectures are in shared/: no architecture includes a file of another.
architectures_share_by_shared()
{
	! grep -rnE '#include ("\.\./|<syscall/arch/)' include/syscall/arch syscall/arch |
		grep -v -e '"\.\./shared/' -e '/shared/[^:]*:.*"\.\./[a-z0-9]*\.h"' |
		awk -F'[:/<]' '{ own = $1 == "syscall" ? $3 : $4 } !index($0, "<syscall/arch/" own "/")' | grep .
}

# shellcheck disable=SC2044 # names of ours have no spaces
headers_have_guards()
{
	for header in $(find include/ -name '*.h' ! -name table.h); do
		grep -q '^#ifndef PSYS_\|^#ifndef ASPAWN_' "$header" || echo "$header"
	done | grep . && return 1
	return 0
}

# A program may include each public header alone, in C and in C++.
# shellcheck disable=SC2044,SC2086 # names of ours have no spaces; flags, a word each
headers_stand_alone()
{
	for header in $(cd include && find syscall aspawn -maxdepth 1 -name '*.h' ! -name table.h ! -name irregular.h); do
		for language in "c -std=c11" "c++ -std=c++17"; do
			echo "#include <$header>" | ${CC:-clang} -Iinclude -Wall -Wextra -Werror \
				-fsyntax-only -x $language - || return 1
		done
	done
}

check "the core includes no foreign header" core_includes_no_foreign_header
check "syscall/ knows of no spawning" syscall_knows_no_spawning
check "a directory of aspawn/ includes only those below it" directories_include_no_higher_one
check "aspawn/spawn/ and helper/ know of no commands" spawn_knows_no_commands
check "functions call what may run in their process: aspawn/marks.h" test/checks/marks.py
check "only aspawn/queue/ knows of the queue" commands_know_no_queue
check "only arch.h distinguishes architectures" architectures_stay_in_their_directories
check "architectures share files in arch/shared/ only" architectures_share_by_shared
check "headers have guards" headers_have_guards
check "each header compiles alone, in C and C++" headers_stand_alone
finish
