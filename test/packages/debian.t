#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages: built from a clean export of HEAD by a user without privileges, in
# a bare Debian with what Build-Depends names and nothing else; then used in another one.
. "$(dirname "$0")/../checks/tap.sh"
bare=$(dirname "$0")/bare
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
builder=$work/builder
system=$work/system

# What keeps the packages from being built here.
obstacle()
{
	if [ "$(id -u)" != 0 ]; then
		echo "not root"
	elif ! command -v debootstrap >/dev/null; then
		echo "no debootstrap"
	elif ! unshare --mount --pid --fork true 2>/dev/null; then
		echo "namespaces are refused"
	fi
}

# logged COMMAND...: the end of its output, if it fails
logged()
{
	"$@" >"$work/log" 2>&1 || {
		tail -25 "$work/log"
		return 1
	}
}

in_builder()
{
	logged "$bare/run" "$builder" "$@"
}

in_system()
{
	logged "$bare/run" "$system" "$@"
}

# What the other step needs too is installed once.
makes_systems()
{
	logged "$bare/bootstrap" "$system" &&
		echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/test" &&
		logged "$bare/bootstrap" "$system" gcc libc6-dev make &&
		cp -a "$system" "$builder"
}

builds()
{
	makes_systems &&
		mkdir -p "$builder/build/aspawn" &&
		git archive HEAD | tar -x -C "$builder/build/aspawn" &&
		in_builder sh -exc 'apt-get build-dep -y -qq --no-install-recommends /build/aspawn
			chown -R nobody /build
			cd /build/aspawn && setpriv --reuid=nobody --regid=nogroup --clear-groups \
				dpkg-buildpackage -us -uc -b' &&
		cp "$work/log" "$work/build.log"
}

runs_the_suite()
{
	grep -x 'Result: PASS' "$work/build.log"
}

lintian_is_silent()
{
	lintian --allow-root -i --fail-on error,warning "$builder"/build/*.changes
}

# All files but apt's and dpkg's own, and what they are.
files()
{
	(cd "$system" && find . -path ./var -prune -o -path ./proc -prune -o -path ./dev -prune -o -path ./sys -prune -o \
		-name ld.so.cache -o -printf '%p %y %l\n' | sort)
}

installs()
{
	# shellcheck disable=SC2046 # a word each
	logged "$bare/bootstrap" "$system" $(sed -n 's/^Depends: //p' debian/tests/control |
		tr -s ', ' '\n' | grep -vx 'aspawn\|libaspawn.*') &&
		files >"$work/before" &&
		mkdir "$system/var/packages" &&
		find "$builder/build" -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$system/var/packages" ';' &&
		cp debian/tests/command debian/tests/link debian/tests/preload "$system/var/packages" &&
		in_system sh -c 'apt-get install -y -qq --no-install-recommends /var/packages/*.deb' &&
		test -n "$(files | comm -13 "$work/before" -)"
}

link_test()
{
	in_system /var/packages/link
}

command_test()
{
	in_system /var/packages/command
}

preload_test()
{
	in_system /var/packages/preload
}

# It was not loaded before, or the test of it shows nothing.
preload_test_fails_without_the_package()
{
	in_system sh -c 'dpkg -r libaspawn-preload && ! /var/packages/preload'
}

purged_packages_leave_nothing()
{
	in_system sh -c 'apt-get purge -y -qq aspawn "libaspawn*"' &&
		files >"$work/after" && diff "$work/before" "$work/after"
}

# step TEST NAME
reason=$(obstacle)
step()
{
	if [ -n "$reason" ]; then
		skip "$2" "$reason"
	else
		check "$2" "$1"
	fi
}

step builds "the packages are built by a user, with what Build-Depends names"
[ -e "$work/build.log" ] || reason=${reason:-"there are no packages"}
step runs_the_suite "the suite runs in the build"
if command -v lintian >/dev/null; then
	step lintian_is_silent "lintian has no error and no warning"
else
	skip "lintian has no error and no warning" "no lintian"
fi
step installs "the packages are installed in a bare system"
step command_test "the command ends what a program has started"
step link_test "programs are linked as pkg-config says, and run"
step preload_test "make spawns by the preload"
step preload_test_fails_without_the_package "make does not without the package"
step purged_packages_leave_nothing "purged packages leave nothing"
finish
