#!/bin/sh
# SPDX-License-Identifier: MIT
# What has the version of the library in it, or what else RELEASE says: RELEASE is right.
. "$(dirname "$0")/tap.sh"

version=$(sed -n 's/^TAG=v//p' RELEASE)
numbers=${version%%-*}
# A version before a release (1.0.0-rc.1) has an ABI of its own.
case $version in
*-*) soname=$version ;;
*) soname=${version%%.*} ;;
esac

version_of()
{
	sed -n "s/^#define ASPAWN_VERSION_$1 //p" include/aspawn/version.h
}

header()
{
	test "$(version_of MAJOR).$(version_of MINOR).$(version_of PATCH)" = "$numbers" &&
		test "$(version_of SUFFIX)" = "\"${version#"$numbers"}\""
}

# Before the release itself, as Debian compares.
changelog_of_debian()
{
	head -n 1 debian/changelog | grep "^aspawn ($(echo "$version" | sed 's/-/~/')) "
}

package_of_debian()
{
	grep -x "Package: libaspawn$soname" debian/control &&
		for library in libaspawn libpsys; do
			grep "^$library\.so\.$soname libaspawn$soname " "debian/libaspawn$soname.symbols" || return 1
		done
}

# Lua and Debian write a suffix in their own way.
packages_and_documents()
{
	lua=$(echo "$version" | sed 's/-rc\./rc/')
	while read -r file text; do
		grep -qF "$text" "$file" || { echo "$file has no $text" && return 1; }
	done <<-E
		bindings/java/README.md aspawn-$version.jar
		bindings/lua/README.md aspawn-$lua-1.src.rock
		bindings/lua/aspawn-$lua-1.rockspec version = "$lua-1"
		bindings/lua/aspawn-$lua-1.rockspec file://aspawn-$lua.tar.gz"
		bindings/node/README.md aspawn-$version.tgz
		bindings/node/package.json "version": "$version"
		bindings/rust/Cargo.lock version = "$version"
		bindings/rust/aspawn-sys/Cargo.toml version = "$version"
		bindings/rust/aspawn/Cargo.toml version = "$version"
		bindings/rust/aspawn/Cargo.toml aspawn-sys = { version = "$version"
		build.zig.zon version = "$version"
		debian/.gitignore /libaspawn$soname/
		doc/bindings.md libaspawn.so.$soname"
		doc/embedding.md aspawn-$version.tar.gz
		doc/embedding.md \`libaspawn$soname\`
		doc/interface.json "version": "$version"
	E
}

# Before a release any day will do. Without its hour, which is on another day elsewhere.
day_of_debian()
{
	day=$(sed -n 's/^DATE=//p' RELEASE)
	test "$day" = unreleased ||
		sed -n '/^ -- .*>  [A-Za-z]*, */{s///;s/ [0-9:]* [-+0-9]*$//p;q;}' debian/changelog | date -f - +%F | grep -x "$day"
}

contact_of_debian()
{
	contact=$(sed -n 's/^CONTACT=//p' RELEASE)
	grep "^Maintainer: .*<$contact>$" debian/control && sed -n '/^ -- /{p;q;}' debian/changelog | grep -F "<$contact>"
}

abi_baseline()
{
	for library in libaspawn libpsys; do
		grep "soname='$library\.so\.$soname'" "test/packages/abi/$library-$soname.abi" || return 1
	done
}

check "include/aspawn/version.h has it" header
check "debian/changelog begins with it" changelog_of_debian
check "Debian's package has the name of the soname" package_of_debian
check "debian/changelog has the day" day_of_debian
check "Debian's package has the contact" contact_of_debian
check "packages for languages and documents have it" packages_and_documents
check "there is an ABI baseline of each soname" abi_baseline
finish
