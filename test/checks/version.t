#!/bin/sh
# SPDX-License-Identifier: MIT
# What has the version of the library in it: include/aspawn/version.h is right.
. "$(dirname "$0")/tap.sh"

version_of()
{
	sed -n "s/^#define ASPAWN_VERSION_$1 //p" include/aspawn/version.h
}
soname=$(version_of MAJOR).$(version_of MINOR)
version=$soname.$(version_of PATCH)

changelog_of_debian()
{
	head -n 1 debian/changelog | grep "^aspawn ($version) "
}

# Until 1.0: the package is named after the soname, which has the minor version.
package_of_debian()
{
	grep -x "Package: libaspawn$soname" debian/control &&
		grep "^libaspawn\.so\.$soname libaspawn$soname " "debian/libaspawn$soname.symbols"
}

abi_baseline()
{
	grep "soname='libaspawn\.so\.$soname'" "test/abi/libaspawn-$soname.abi"
}

check "debian/changelog begins with it" changelog_of_debian
check "Debian's package has the name of the soname" package_of_debian
check "there is an ABI baseline of the soname" abi_baseline
finish
