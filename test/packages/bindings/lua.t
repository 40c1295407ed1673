#!/bin/sh
# SPDX-License-Identifier: MIT
# The rock, packed and installed for each Lua, with its tests, README's program, and
# bindings/lua/fuzz.lua: FUZZ=10000 programs for each Lua (100), the first SEED (1).
. "$(dirname "$0")/../../checks/tap.sh"
exec </dev/null
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/lua
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$PWD/$BUILD_DIR ;;
esac
export BUILD_DIR
work=$BUILD_DIR/rocks

command -v luarocks >/dev/null || {
	echo "1..0 # SKIP no luarocks"
	exit 0
}

version=$(sed -n 's/^TAG=v//p' RELEASE)
has_the_version_of_the_library()
{
	rock=$(echo "$version" | sed 's/-rc\./rc/')-1
	grep -q "\"$rock\"" "$source/aspawn-$rock.rockspec" && grep -q "aspawn-$rock.src.rock" "$source/README.md"
}

packs()
{
	rm -rf "$work" && "$source/pack" "$work"
}

# In a directory without the tree.
installs()
{
	(cd "$work" && luarocks --lua-version "$1" --tree "$work/$1" install "$work"/aspawn-*.src.rock CFLAGS="-O0 -fPIC")
}

runs()
{
	lua=$1 version=$2
	shift 2
	(cd "$work" && LUA_CPATH="$tree/lib/lua/$version/?.so" LUA_PATH="$work/none/?.lua" \
		timeout $((60 + ${FUZZ:-0})) "$lua" "$@")
}

# What it says before its end, if that is not its own, names the last program:
# lua fuzz.lua SEED 1 show
no_program_crashes()
{
	(trap '' PIPE; runs "$1" "$2" "$source/fuzz.lua" "${SEED:-1}" "${FUZZ:-100}") >"$work/$1.fuzz" 2>"$work/$1.errors" ||
		{ echo "status $?"; grep '^# seed' "$work/$1.fuzz" | tail -n 1; grep -A 20 'ERROR: ' "$work/$1.errors"; return 1; }
	tail -n 1 "$work/$1.fuzz" | grep "^1\.\.${FUZZ:-100}$"
}

# In a Lua that is not itself built so.
installs_sanitized()
{
	(cd "$work" && luarocks --lua-version "$1" --tree "$work/sanitized-$1" install "$work"/aspawn-*.src.rock \
		CFLAGS="-O1 -g -fPIC -fsanitize=address" LIBFLAG="-shared -fsanitize=address")
}

no_sanitized_program_crashes()
{
	tree=$work/sanitized-$2 LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0
	export LD_PRELOAD ASAN_OPTIONS
	no_program_crashes "$1" "$2"
}

# Its tests are tests of this file.
passes_its_tests()
{
	runs "$1" "$2" "$source/test.lua" >"$work/$1.tap" 2>&1
	status=$?
	while read -r line; do
		case $line in
		ok* | not*)
			number=$((number + 1))
			echo "$line" | sed "s/ok [0-9]* - /ok $number - $1: /"
			;;
		*) echo "# $line" ;;
		esac
	done <"$work/$1.tap"
	check "$1: all tests have run" ended_well "$work/$1.tap" "$status"
}

ended_well()
{
	test "$2" = 0 && tail -n 1 "$1" | grep '^1\.\.[1-9]'
}

runs_the_readmes_lines()
{
	runs "$1" "$2" "$work/readme.lua" >"$work/readme" || return 1
	printf '%s\n' '' '' 10 10 Linux 'false	exit 1' 'true	9' 'true	exit 0' 'unmae	not started: search "unmae": ENOENT' |
		LC_ALL=C sort >"$work/expected"
	LC_ALL=C sort "$work/readme" | diff "$work/expected" - # jobs end in any order
}

has_what_the_table_says()
{
	test/packages/bindings/column.py Lua >"$work/names" && runs "$1" "$2" "$source/../../test/packages/bindings/has.lua" \
		"$tree/lib/lua/$2/aspawn.so" <"$work/names"
}

# As a user of that home, who has the packages.
first_commands_work()
{
	rm -rf "${work:?}/home" && mkdir -p "$work/home" || return 1
	sed -n '/^```sh/,/^```$/{/^```/d;p}' "$source/README.md" | grep -v '^apt-get' >"$work/commands"
	grep '^make rock' "$work/commands" || return 1
	sed -i "s|build/rocks|$work|" "$work/commands"
	echo "lua5.4 '$work/readme.lua' </dev/null" >>"$work/commands"
	HOME=$work/home sh -eu "$work/commands" && test -e "$work/home/.luarocks"
}

make -s "$BUILD_DIR/amalgamation/aspawn.c" >&2
check "the version is the library's" has_the_version_of_the_library
check "the rock is packed" packs
sed -n '/^```lua/,/^```$/{/^```/d;p}' "$source/README.md" >"$work/readme.lua"
for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit; do
	version=${lua#lua}
	test $lua = luajit && version=5.1
	if ! command -v $lua >/dev/null; then
		skip "$lua" "no $lua"
		continue
	fi
	tree=$work/$version
	case $lua in
	lua5.4)
		check "README's first commands work in a checkout" first_commands_work
		tree=$work/home/.luarocks
		;;
	luajit) ;;
	*) check "$lua: the rock is installed" installs "$version" ;;
	esac
	check "$lua: README's program" runs_the_readmes_lines "$lua" "$version"
	passes_its_tests "$lua" "$version"
	check "$lua: it has what doc/bindings.md says" has_what_the_table_says "$lua" "$version"
	check "$lua: no program of a grammar crashes" no_program_crashes "$lua" "$version"
done
if command -v lua5.4 >/dev/null && test -e "$(gcc -print-file-name=libasan.so)"; then
	check "lua5.4: the rock is installed with AddressSanitizer" installs_sanitized 5.4
	check "lua5.4: no program of a grammar crashes with it" no_sanitized_program_crashes lua5.4 5.4
else
	skip "lua5.4: no program of a grammar crashes with AddressSanitizer" "no lua5.4, or no libasan"
fi
finish
