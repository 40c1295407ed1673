#!/bin/sh
# SPDX-License-Identifier: MIT
# make and make install where they are hard: spaces in paths, other compilers, another user,
# settings that change, a machine with few tools. Each in a copy of the sources.
. "$(dirname "$0")/../checks/tap.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset BUILD_DIR CC CXX AR CFLAGS CPPFLAGS LDFLAGS SANITIZE WERROR TARGET DESTDIR MAKEFLAGS MAKELEVEL
chmod 755 "$work"
nobody=65534

# tree NAME: a copy of what is built from, in $work/NAME, and there we are
tree()
{
	mkdir -p "$work/$1" && cd "$work/$1" && (cd "$source" && tar -cf - Makefile RELEASE aspawn bench/*.mk cli compat doc \
		examples include syscall test/test.mk test/proofs/coverage.mk test/suite test/hosted packaging tools) | tar -xf -
}

# Not root, who may do what others may not.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		HOME=$PWD setpriv --reuid $nobody --regid $nobody --clear-groups "$@"
	else
		"$@"
	fi
}

# path_of NAME COMMAND...: $work/NAME, with links to these and to what any build needs
path_of()
{
	path=$work/$1 && shift && mkdir "$path" &&
		for command in sh make mkdir rm find sed grep cat cksum dirname "$@"; do
			ln -s "$(command -v "$command")" "$path/" || return 1
		done
}

spaces_in_checkout()
{
	tree "a checkout" && make -s -j2 all compat suite CFLAGS=-O0 && SUITE_QUICK=1 "build/suite" >suite.out &&
		make -s install install-compat CFLAGS=-O0 DESTDIR="$work/a stage" PREFIX="/opt/a prefix" &&
		test -f "$work/a stage/opt/a prefix/include/aspawn/aspawn.h"
}

# builds_by CC [MAKE ARGUMENT]...: and the archive is the toolchain's
builds_by()
{
	compiler=$1 && shift
	make -s all CC="$compiler" CFLAGS=-O0 BUILD_DIR="$(echo "by $compiler" | tr ' /' __)" "$@" >"$work/output" 2>&1 ||
		{ cat "$work/output"; return 1; }
	test ! -s "$work/output" || { cat "$work/output"; return 1; }
}

# The objects are made anew for each setting, and with none changed nothing is.
settings_count()
{
	make -s all CFLAGS=-O0 && make -q all CFLAGS=-O0 || return 1
	for change in CFLAGS=-O1 CFLAGS= CC=gcc SANITIZE=undefined LDFLAGS=-Wl,-O1 CPPFLAGS=-DX; do
		! make -q all CFLAGS=-O0 "$change" || { echo "$change: nothing to be done"; return 1; }
	done
	odd='-O0 -DX="\"#$$$$\""'
	make -s all CFLAGS="$odd" && make -q all CFLAGS="$odd" && ! make -q all
}

sanitizes_after_a_plain_build()
{
	make -s build/examples/run && ! grep -q __ubsan build/examples/run &&
		make -s build/examples/run SANITIZE=undefined && grep -q __ubsan build/examples/run &&
		make -s install SANITIZE=undefined DESTDIR="$work/sanitized" && grep -q __ubsan "$work/sanitized"/usr/local/lib/*.so
}

prints_or_is_silent()
{
	make -n all BUILD_DIR=none | grep -q 'aspawn/action/action_info.c' && test ! -e none &&
		test -z "$(make -s all BUILD_DIR=silent CFLAGS=-O0 2>&1)" && test -f silent/libaspawn.so
}

# Without -s a line for each thing that is made.
shows_commands_when_asked()
{
	make all suite BUILD_DIR=few CFLAGS=-O0 V= >"$work/output" 2>&1 &&
		printf 'making few/%s\n' libpsys.a libaspawn.a libpsys.so libaspawn.so cli/aspawn suite | diff - "$work/output" &&
		make all BUILD_DIR=every CFLAGS=-O0 V=1 | grep -c ' -c ' | grep -q '^[0-9][0-9]'
}

says_what_it_makes_for_demo_and_site()
{
	make -n -C "$source" demo-built site BUILD_DIR=none V= >"$work/output" || return
	for made in libaspawn.a examples/start bench/memory bench/descriptors bench/waits site/index.html; do
		grep -F "'making none/$made'" "$work/output" || return
	done
}

builds_in_parallel()
{
	make -s -j4 all compat suite BUILD_DIR=parallel CFLAGS=-O0 && make -q all compat suite BUILD_DIR=parallel CFLAGS=-O0
}

warnings_are_no_errors()
{
	! make -n all BUILD_DIR=none | grep -q Werror && make -n all BUILD_DIR=none WERROR=-Werror | grep -q Werror
}

# With gcc and binutils alone: what clang has is not in PATH.
builds_with_gcc_alone()
{
	path_of gcc-alone gcc ar ld as && PATH=$work/gcc-alone make -s all compat suite BUILD_DIR=gcc-alone CFLAGS=-O0 &&
		grep -qx gcc gcc-alone/settings && SUITE_QUICK=1 gcc-alone/suite >/dev/null
}

# Without lld: clang looks for tools in its own directory too, so it is told of another.
builds_with_clang_alone()
{
	path_of clang-alone ar ld && cat >"$work/clang-alone/clang" <<C
#!/bin/sh
exec $(command -v clang) -ccc-install-dir $work/clang-alone -resource-dir $(clang -print-resource-dir) "\$@"
C
	chmod 755 "$work/clang-alone/clang" &&
		PATH=$work/clang-alone make -s all compat suite BUILD_DIR=clang-alone CFLAGS=-O0 &&
		grep -qx clang clang-alone/settings && SUITE_QUICK=1 clang-alone/suite >/dev/null
}

# State of a build: each file with its time.
state_of()
{
	find "$1" -type f -printf '%p %T@ %u\n' | sort
}

# Who installs need not name the settings again, and touches nothing of the build.
installs_what_another_built()
{
	tree another && chown -R $nobody . && as_user make -s all compat CC=gcc CFLAGS=-O1 && state_of . >"$work/before" &&
		make -s install install-compat DESTDIR="$work/by-root" && state_of . | cmp - "$work/before" &&
		cmp build/libaspawn.a "$work/by-root/usr/local/lib/libaspawn.a"
}

installs_as_user()
{
	mkdir home && chown -R $nobody . &&
		as_user make -s install install-compat PREFIX="$PWD/home/.local" LDCONFIG=false >"$work/output" 2>&1 &&
		test -f home/.local/lib/libaspawn.a && grep -q "ldconfig as root" "$work/output" ||
		{ cat "$work/output" && return 1; }
}

# sonames_are SONAME VERSION: in a tree that is built of another version
sonames_are()
{
	lib=$work/$2/usr/local/lib
	sed -i "s/^TAG=.*/TAG=v$2/" RELEASE && make -s install CFLAGS=-O0 DESTDIR="$work/$2" || return 1
	for name in libpsys libaspawn; do
		test "$(readlink "$lib/$name.so")" = "$name.so.$1" && test "$lib/$name.so.$1" -ef "$lib/$name.so.$2" &&
			readelf -d "$lib/$name.so.$2" | grep -qF "soname: [$name.so.$1]" || return 1
	done
}

check "a checkout below a directory with spaces" spaces_in_checkout
tree plain
for compiler in cc gcc musl-gcc clang x86_64-linux-gnu-gcc "gcc -m32"; do
	if $compiler -dM -E -x c /dev/null >/dev/null 2>&1; then
		check "make CC='$compiler'" builds_by "$compiler"
	else
		skip "make CC='$compiler'" "not installed"
	fi
done
mkdir "$work/bin" && printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/ccache" && chmod 755 "$work/bin/ccache"
PATH=$work/bin:$PATH check "make CC='ccache gcc'" builds_by "ccache gcc"
check "objects are made anew when a setting changes" settings_count
check "SANITIZE after a build without" sanitizes_after_a_plain_build
check "make -n makes nothing, and make -s prints nothing" prints_or_is_silent
check "V=1 shows each command" shows_commands_when_asked
check "make demo and make site say what they make" says_what_it_makes_for_demo_and_site
check "make -j" builds_in_parallel
check "warnings are errors for developers only" warnings_are_no_errors
check "a machine with gcc alone" builds_with_gcc_alone
check "a machine with clang, and no lld or llvm" builds_with_clang_alone
if [ "$(id -u)" = 0 ]; then
	check "install of what another user built, with other settings" installs_what_another_built
else
	skip "install of what another user built, with other settings" "needs root"
fi
check "install into a home directory" installs_as_user
tree release
make -s all CFLAGS=-O0
check "the soname of version 2.3.4 is 2" sonames_are 2 2.3.4
check "the soname of version 2.3.4-rc.1 is all of it" sonames_are 2.3.4-rc.1 2.3.4-rc.1
finish
