#!/bin/sh
# SPDX-License-Identifier: MIT
# Projects of other build systems that use the library, in directories with a space in their
# names: the library installed, and its sources within the project.
cd "$(dirname "$0")/../../.." && root=$PWD || exit
. test/checks/tap.sh
build=${BUILD_DIR:-build}
cc=${CC:-clang}
cxx=${CXX:-$(echo "$cc" | sed 's/clang/clang++/;s/gcc/g++/')}
cache=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}
zig=${ZIG:-$(command -v zig || echo "$cache/zig/ziglang/zig")}
work=$(mktemp -d "${TMPDIR:-/tmp}/aspawn consumers XXXXXX")
prefix=$(mktemp -d) # of make install
trap 'rm -rf "$work" "$prefix"' EXIT
export CC="$cc" CXX="$cxx"
unset CFLAGS CXXFLAGS LDFLAGS DESTDIR MAKEFLAGS

# What is needed of the sources, and nothing else.
tree="$work/source tree/aspawn"
mkdir -p "$tree"
cp -R CMakeLists.txt RELEASE meson.build build.zig build.zig.zon LICENSE include syscall aspawn cli compat doc packaging \
	"$tree" 2>/dev/null
tar -C "$work/source tree" -czf "$work/aspawn-sources.tar.gz" aspawn
version=$(sed -n 's/^TAG=v\([0-9.]*\).*/\1/p' RELEASE)
files_of_tree=$(cd "$tree" && find . | sort)

# project NAME KIND: enters a copy of the directory with the programs in it.
project()
{
	mkdir -p "$work/$1" && cd "$root/test/packages/consumers" && cp -R "$2"/. ./*.c ./*.cc aarch64.* "$work/$1" &&
		cd "$work/$1" || return
}

# runs DIRECTORY PROGRAM...
runs()
{
	directory=$1
	shift
	for program; do
		LD_LIBRARY_PATH=$libraries $emulator "$directory/$program" || return 1
	done
}

needs_shared_library()
{
	readelf -d "$1" | grep 'NEEDED.*libaspawn\.so'
}

needs_no_shared_library()
{
	! needs_shared_library "$1"
}

# quietly COMMAND...: its last lines if it fails
quietly()
{
	"$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" && false; }
}

# cmake_builds ARGUMENTS...: of the project in the working directory
cmake_builds()
{
	quietly cmake -S . -B build "$@" && quietly cmake --build build --parallel 2
}

# command_runs PREFIX: the command is static, and has its page and completions beside it.
command_runs()
{
	exits=0
	"$1/bin/aspawn" -q -t .1 sleep 10 || exits=$?
	[ $exits = 124 ] && ! readelf -d "$1/bin/aspawn" | grep NEEDED && test -f "$1/share/man/man1/aspawn.1" &&
		cmp "$tree/cli/completions/aspawn.bash" "$1/share/bash-completion/completions/aspawn" &&
		cmp "$tree/cli/completions/_aspawn" "$1/share/zsh/site-functions/_aspawn" &&
		cmp "$tree/cli/completions/aspawn.fish" "$1/share/fish/vendor_completions.d/aspawn.fish"
}

installs()
{
	make -s install install-compat BUILD_DIR="$build" PREFIX="$prefix" &&
		command_runs "$prefix" && mkdir -p "$work/moved" && cp -R "$prefix/." "$work/moved"
}

make_finds_shared()
(
	project make-shared make && PKG_CONFIG_PATH=$prefix/lib/pkgconfig make CC="$cc" CXX="$cxx" &&
		libraries=$prefix/lib && runs . run run-cc both drop-in && needs_shared_library run
)

make_finds_static()
(
	project make-static make &&
		PKG_CONFIG_PATH=$prefix/lib/pkgconfig make CC="$cc" CXX="$cxx" STATIC=-static &&
		runs . run run-cc both drop-in
)

# find_package_in PREFIX NAME ARGUMENTS...
find_package_in()
{
	place=$1 name=$2
	shift 2
	project "$name" cmake-find-package && libraries=$place/lib &&
		cmake_builds -DCMAKE_PREFIX_PATH="$place" "$@" && runs build run run-cc both drop-in &&
		! grep -r "$prefix" build # from where it has been moved
}

cmake_finds_static()
(
	find_package_in "$work/moved" found-static && needs_no_shared_library build/run
)

cmake_finds_shared()
(
	find_package_in "$work/moved" found-shared -DBUILD_SHARED_LIBS=ON &&
		needs_shared_library build/run && needs_shared_library build/drop-in
)

# A major version is an interface of its own.
# takes_right_versions PREFIX
takes_right_versions()
(
	minor=${version%.*}
	rm -rf "$work/versions" && project versions cmake-versions &&
		cmake -S . -B build -DCMAKE_PREFIX_PATH="$1" -DVERSION="$version" \
			-DRIGHT="${version%%.*};$minor;$version;0.1...$version;0.1...<99" \
			-DWRONG="0.1;${version%%.*}.99;99;$minor.99;0.1...<$version;99...100"
)

cmake_takes_right_versions()
{
	takes_right_versions "$work/moved"
}

# cmake --install, of a tree that has been built by CMake as a project of its own.
# installed_by_cmake NAME ARGUMENTS...
installed_by_cmake()
{
	name=$1
	shift
	quietly cmake -S "$tree" -B "$work/$name" -DCMAKE_INSTALL_LIBDIR=lib "$@" &&
		quietly cmake --build "$work/$name" --parallel 2 &&
		quietly cmake --install "$work/$name" --prefix "$work/$name to" &&
		cmp "$tree/doc/interface.json" "$work/$name to/share/aspawn/interface.json" && command_runs "$work/$name to" &&
		find_package_in "$work/$name to" "$name consumer" -DCMAKE_BUILD_TYPE=Debug
}

cmake_installs_static()
(
	installed_by_cmake by-cmake-static && needs_no_shared_library build/run &&
		same_as_make "$work/by-cmake-static" &&
		takes_right_versions "$work/by-cmake-static to"
)

cmake_installs_shared()
(
	installed_by_cmake by-cmake-shared -DBUILD_SHARED_LIBS=ON &&
		needs_shared_library build/run && needs_shared_library build/drop-in
)

# names LIBRARY: what it defines for others
names()
{
	nm --defined-only --extern-only "$1" | awk 'NF == 3 { print $2, $3 }' | sort
}

same_names()
{
	names "$1" >"$work/names" && names "$2" | diff "$work/names" - && test -s "$work/names"
}

same_as_make()
{
	same_names "$prefix/lib/libaspawn.a" "$1/libaspawn.a" && same_names "$prefix/lib/libpsys.a" "$1/libpsys.a" &&
		same_names "$prefix/lib/libaspawn-compat.a" "$1/libaspawn-compat.a"
}

cmake_subdirectory()
(
	project subdirectory cmake-subdirectory && cmake_builds -DASPAWN_SOURCE="$tree" &&
		runs build run run-cc both drop-in && same_as_make build/aspawn
)

cmake_fetch_content()
(
	project fetch-content cmake-fetch-content &&
		cmake_builds -DASPAWN_URL="$work/aspawn-sources.tar.gz" -DBUILD_SHARED_LIBS=ON \
			-DCMAKE_INSTALL_PREFIX="$work/fetched" &&
		runs build run both drop-in && needs_shared_library build/run && cmake --install build &&
		test -f "$work/fetched/include/aspawn/aspawn.h" &&
		test -e "$work/fetched/lib/libaspawn.so" -o -e "$work"/fetched/lib/*/libaspawn.so
)

cmake_cross()
(
	project cmake-cross cmake-fetch-content && emulator=qemu-aarch64-static && unset CC &&
		cmake_builds -DASPAWN_URL="$work/aspawn-sources.tar.gz" -DCMAKE_TOOLCHAIN_FILE=aarch64.cmake \
			-DCMAKE_BUILD_TYPE=RelWithDebInfo &&
		runs build run both drop-in && readelf -h build/run | grep AArch64
)

# meson_builds ARGUMENTS...: of the project in the working directory
meson_builds()
{
	quietly meson setup build "$@" && quietly meson compile -C build -j 2
}

meson_subproject()
(
	project meson-subproject meson-subproject && mkdir -p subprojects && cp -R "$tree" subprojects/aspawn &&
		meson_builds --wrap-mode=forcefallback && runs build run both drop-in &&
		needs_no_shared_library build/run && same_as_make build/subprojects/aspawn &&
		meson install -C build --destdir "$PWD/installed" && ! find installed -type f | grep .
)

meson_subproject_shared()
(
	project meson-subproject-shared meson-subproject && mkdir -p subprojects && cp -R "$tree" subprojects/aspawn &&
		meson_builds --wrap-mode=forcefallback -Daspawn:default_library=shared && runs build run both drop-in &&
		needs_shared_library build/run &&
		meson install -C build --destdir "$PWD/installed" && find installed -name 'libaspawn.so*' | grep .
)

meson_cross()
(
	project meson-cross meson-subproject && mkdir -p subprojects && cp -R "$tree" subprojects/aspawn &&
		emulator=qemu-aarch64-static && unset CC CXX &&
		meson_builds --wrap-mode=forcefallback --cross-file aarch64.ini --buildtype=debugoptimized && runs build run both drop-in &&
		readelf -h build/run | grep AArch64
)

meson_finds_shared()
(
	project meson-shared meson-pkg-config &&
		meson_builds --pkg-config-path "$prefix/lib/pkgconfig" && runs build run run-cc both drop-in &&
		needs_shared_library build/run
)

meson_finds_static()
(
	project meson-static meson-pkg-config &&
		meson_builds --pkg-config-path "$prefix/lib/pkgconfig" -Dstatic=true &&
		runs build run run-cc both drop-in && needs_no_shared_library build/run
)

# meson install, of the tree as a project of its own.
meson_installs()
(
	meson setup "$work/by meson" "$tree" --prefix="$prefix/meson" --libdir=lib -Ddefault_library=shared &&
		meson install -C "$work/by meson" &&
		cmp "$tree/doc/interface.json" "$prefix/meson/share/aspawn/interface.json" && command_runs "$prefix/meson" && project "meson installed" meson-pkg-config &&
		libraries=$prefix/meson/lib &&
		meson_builds --pkg-config-path "$prefix/meson/lib/pkgconfig" && runs build run run-cc both drop-in
)

zig_dependency()
(
	project zig zig && cp -R "$tree" aspawn && quietly "$zig" build -j2 && runs zig-out/bin run both drop-in
)

# All of its sources, although build.zig has a list of them.
zig_installs()
(
	project zig-tree zig && cp -R "$tree" aspawn && cd aspawn &&
		quietly "$zig" build -j2 --prefix "$work/by zig" && same_as_make "$work/by zig/lib" &&
		test -f "$work/by zig/include/aspawn/aspawn.h" && "$work/by zig/bin/aspawn" -t 10 true &&
		quietly "$zig" build -j2 -Dtarget=riscv64-linux-musl --prefix "$work/riscv64" &&
		readelf -h "$work/riscv64/lib/libaspawn.a" | grep RISC-V
)

leaves_the_tree_alone()
{
	test "$files_of_tree" = "$(cd "$tree" && find . | sort)"
}

# checks_with COMMAND [NAME FUNCTION]...: skipped if there is no such command
checks_with()
{
	command=$1
	shift
	while [ $# -gt 0 ]; do
		if command -v "$command" >/dev/null; then
			check "$1" "$2"
		else
			skip "$1" "no ${command##*/} command"
		fi
		shift 2
	done
}

check "make install install-compat" installs
checks_with pkg-config \
	"make, pkg-config: shared" make_finds_shared \
	"make, pkg-config: static" make_finds_static
checks_with cmake \
	"CMake, find_package of what make installed: static" cmake_finds_static \
	"CMake, find_package of what make installed: shared" cmake_finds_shared \
	"CMake, find_package of a version" cmake_takes_right_versions \
	"CMake, cmake --install and find_package: static" cmake_installs_static \
	"CMake, cmake --install and find_package: shared" cmake_installs_shared \
	"CMake, add_subdirectory, with -Werror of the consumer" cmake_subdirectory \
	"CMake, FetchContent: shared, installed with the consumer" cmake_fetch_content
checks_with meson \
	"Meson, a subproject, with werror of the consumer" meson_subproject \
	"Meson, a subproject: shared" meson_subproject_shared \
	"Meson, pkg-config: shared" meson_finds_shared \
	"Meson, pkg-config: static" meson_finds_static \
	"Meson, meson install and pkg-config" meson_installs
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static; do
	command -v $tool >/dev/null || missing=$tool
done
if [ -n "${missing-}" ]; then
	skip "CMake, for aarch64" "no $missing command"
	skip "Meson, for aarch64" "no $missing command"
else
	checks_with cmake "CMake, for aarch64" cmake_cross
	checks_with meson "Meson, for aarch64" meson_cross
fi
checks_with "$zig" \
	"Zig, a dependency" zig_dependency \
	"Zig, all of the libraries, and for riscv64" zig_installs
check "the sources are left as they were" leaves_the_tree_alone
finish
