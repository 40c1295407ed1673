#!/bin/sh
# SPDX-License-Identifier: MIT
# The rock, packed and installed for each Lua, with its tests and README's program.
. "$(dirname "$0")/../checks/tap.sh"
cd "$(dirname "$0")/../.." || exit 1
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

has_the_version_of_the_library()
{
	version=$(awk '/^#define ASPAWN_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' \
		include/aspawn/version.h)
	grep -q "\"$version-1\"" "$source/aspawn-$version-1.rockspec" &&
		grep -q "\"$version\"" "$source/src/module.c" && grep -q "aspawn-$version-1.src.rock" "$source/README.md"
}

packs()
{
	rm -rf "$work" && "$source/pack" "$work"
}

# In a directory without the tree.
installs()
{
	(cd "$work" && luarocks --lua-version "$1" --tree "$work/$1" install "$work"/aspawn-*.src.rock CFLAGS="-O1 -fPIC")
}

runs()
{
	lua=$1 version=$2
	shift 2
	(cd "$work" && LUA_CPATH="$work/$version/lib/lua/$version/?.so" LUA_PATH="$work/none/?.lua" \
		timeout 60 "$lua" "$@" </dev/null)
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
	sed -n '/^```lua/,/^```$/{/^```/d;p}' "$source/README.md" >"$work/readme.lua"
	runs "$1" "$2" "$work/readme.lua" >"$work/readme" || return 1
	printf '%s\n' '' 10 Linux 'false	exit 1' 'true	9' 'true	exit 0' 'unmae	not started: search "unmae": ENOENT' |
		LC_ALL=C sort >"$work/expected"
	LC_ALL=C sort "$work/readme" | diff "$work/expected" - # jobs end in any order
}

make -s "$BUILD_DIR/amalgamation/aspawn.c" >&2
check "the version is the library's" has_the_version_of_the_library
check "the rock is packed" packs
for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit; do
	version=${lua#lua}
	test $lua = luajit && version=5.1
	if ! command -v $lua >/dev/null; then
		skip "$lua" "no $lua"
		continue
	fi
	test $lua = luajit || check "$lua: the rock is installed" installs "$version"
	check "$lua: README's program" runs_the_readmes_lines "$lua" "$version"
	passes_its_tests "$lua" "$version"
done
finish
