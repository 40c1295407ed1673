#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes for RPM, Conan and Meson, as `make recipes` fills them in for an archive on this
# machine: what they build is used by programs.
. "$(dirname "$0")/../checks/tap.sh"
conan_home=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/conan
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recipes=$work/build/recipes
version=$(sed -n 's/^TAG=v//p' RELEASE)
archive=$work/build/aspawn-$version.tar.gz
unset CFLAGS CXXFLAGS LDFLAGS CPPFLAGS DESTDIR MAKEFLAGS MAKELEVEL
export CC=gcc CXX=g++

# logged COMMAND...: the end of its output, if it fails
logged()
{
	"$@" >"$work/log" 2>&1 || {
		tail -n 25 "$work/log"
		return 1
	}
}

are_filled_in()
{
	logged make -s recipes BUILD_DIR="$work/build" DOWNLOAD="file://$work/build" && ! grep -rE '@[A-Z0-9]+@' "$recipes"
}

# What an archive contains that was altered on its way.
alter()
{
	mkdir -p "$1" && cp "$archive" "$1" && echo >>"$1/${archive##*/}"
}

# --nodeps here and below: the database of RPM is empty where dpkg has installed the packages, and
# has no name of theirs. That those of BuildRequires are enough only a system of RPM can tell.
rpm_builds()
{
	mkdir -p "$work/rpm/SOURCES" && cp "$archive" "$work/rpm/SOURCES" &&
		SUITE_QUICK=1 logged rpmbuild -ba --nodeps --define "_topdir $work/rpm" "$recipes/rpm/aspawn.spec" &&
		grep -x 'Result: PASS' "$work/log" && ls "$work"/rpm/SRPMS/*.src.rpm
}

# packages NAME...: their files
packages()
{
	for package; do
		ls "$work"/rpm/RPMS/*/"$package-${version%%-*}"*.rpm || return
	done
}

rpm_has_the_soname()
{
	# A version before a release has an ABI of its own.
	case $version in *-*) soname=$version ;; *) soname=${version%%.*} ;; esac
	# shellcheck disable=SC2046 # a file each
	rpm -qp --provides $(packages aspawn) >"$work/log" && cat "$work/log" &&
		grep -qF "libaspawn.so.$soname()" "$work/log" && grep -qF "libpsys.so.$soname()" "$work/log"
}

in_system()
{
	rpm --root "$work/system" --dbpath /rpmdb "$@"
}

# A file for pkg-config names /usr.
rpm_consumer_runs()
{
	# shellcheck disable=SC2046 # a file each
	logged in_system --install --nodeps $(packages aspawn aspawn-cli aspawn-devel aspawn-static aspawn-preload) && in_system --verify --nodeps -a || return
	library=$(in_system -ql aspawn-devel | sed -n 's|/libaspawn\.so$||p')
	export PKG_CONFIG_SYSROOT_DIR="$work/system" PKG_CONFIG_LIBDIR="$work/system$library/pkgconfig"
	mkdir "$work/consumer" && cp test/packages/consumers/*.c test/packages/consumers/*.cc test/packages/consumers/make/Makefile "$work/consumer" &&
		logged make -s -C "$work/consumer" CC=gcc CXX=g++ || return
	for program in run run-cc both drop-in; do
		LD_LIBRARY_PATH=$work/system$library "$work/consumer/$program" || return
	done
	# Each program that loads it has its functions.
	LD_PRELOAD=$work/system$library/aspawn/libaspawn-preload.so grep -q libaspawn-preload /proc/self/maps
}

rpm_command_runs()
{
	"$work/system/usr/bin/aspawn" -t 10 true && test -e "$work/system/usr/share/bash-completion/completions/aspawn"
}

rpm_erased_packages_leave_nothing()
{
	in_system --erase --nodeps aspawn aspawn-cli aspawn-devel aspawn-static aspawn-preload &&
		! find "$work/system" -path "$work/system/rpmdb" -prune -o ! -type d -print | grep .
}

in_conan()
{
	PYTHONPATH=$conan_home CONAN_HOME=$work/conan "$conan_home/bin/conan" "$@"
}

conan_creates()
{
	{ [ -e "$work/conan/profiles/default" ] || logged in_conan profile detect; } &&
		logged in_conan create "$recipes/conan" --no-remote --build=missing "$@" && cat "$work/log" &&
		test "$(grep -c '^aspawn_run: 0, 0, a-b' "$work/log")" -ge 1
}

# The target of the package's name.
conan_links_no_drop_ins()
{
	found=$(find "$recipes/conan/test_package" -path '*/run.dir/link.txt') && [ "$found" ] &&
		! echo "$found" | xargs grep aspawn-compat
}

conan_creates_shared()
{
	conan_creates -o 'aspawn/*:shared=True' && find "$work/conan" -name 'libaspawn.so*' | grep .
}

conan_refuses_an_altered_archive()
{
	alter "$work/altered" && cp -R "$recipes/conan" "$work/altered" &&
		sed -i "s|file://$work/build|file://$work/altered|" "$work/altered/conan/conanfile.py" &&
		! in_conan create "$work/altered/conan" --no-remote >"$work/log" 2>&1 && grep -i 'sha256 hash failed' "$work/log"
}

# From another address, as the archive of the one before is kept.
meson_builds()
{
	mkdir -p "$work/$1/subprojects" && cp test/packages/consumers/*.c test/packages/consumers/*.cc test/packages/consumers/meson-subproject/meson.build "$work/$1" &&
		sed "s|file://$work/build|file://$2|" "$recipes/meson/aspawn.wrap" >"$work/$1/subprojects/aspawn.wrap" &&
		cd "$work/$1" && logged meson setup build
}

meson_consumer_runs()
(
	meson_builds meson "$work/build" && logged meson compile -C build -j 2 || return
	for program in run both drop-in; do "build/$program" || return; done
	test -d "subprojects/aspawn-$version"
)

meson_refuses_an_altered_archive()
(
	alter "$work/altered for meson" &&
		! meson_builds altered-meson "$work/altered for meson" && grep -i 'incorrect hash' "$work/log"
)

# checks_with COMMAND [NAME FUNCTION]...: skipped if there is no such command
checks_with()
{
	command=$1
	shift
	while [ $# -gt 0 ]; do
		if ! command -v "$command" >/dev/null; then
			skip "$1" "no ${command##*/} command"
		else
			check "$1" "$2"
		fi
		shift 2
	done
}

check "the recipes are filled in" are_filled_in
checks_with rpmbuild \
	"RPM: rpmbuild -ba, and the suite" rpm_builds \
	"RPM: the package has the sonames" rpm_has_the_soname
if [ "$(id -u)" = 0 ]; then
	checks_with rpmbuild \
		"RPM: programs use the installed packages" rpm_consumer_runs \
		"RPM: the command runs" rpm_command_runs \
		"RPM: erased packages leave nothing" rpm_erased_packages_leave_nothing
else
	skip "RPM: programs use the installed packages" "not root"
	skip "RPM: the command runs" "not root"
	skip "RPM: erased packages leave nothing" "not root"
fi
checks_with "$conan_home/bin/conan" \
	"Conan: conan create, and its programs" conan_creates \
	"Conan: aspawn::aspawn is without the drop-ins" conan_links_no_drop_ins \
	"Conan: shared" conan_creates_shared \
	"Conan: an altered archive is refused" conan_refuses_an_altered_archive
checks_with meson \
	"Meson: programs use the wrap" meson_consumer_runs \
	"Meson: an altered archive is refused" meson_refuses_an_altered_archive
finish
