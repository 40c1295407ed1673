#!/bin/sh
# SPDX-License-Identifier: MIT
# The list of symbols of the Debian package is what the shared libraries export.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
nm=${NM:-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# listed LIBRARY ARCH: those of an architecture, as Debian calls it: (arch=arm64 s390x)name@VERSION,
# (arch=!arm64)name
listed()
{
	awk -v library="$1.so." -v arch="$2" '/^lib/ { wanted = index($1, library) == 1 }
	wanted && /^ / {
		name = substr($0, 2)
		here = 1
		if (match(name, /^\(arch=[^)]*\)/)) {
			here = (" " substr(name, 7, RLENGTH - 7) " ") ~ ("[ !]" arch " ")
			if (name ~ /^\(arch=!/)
				here = !here
			name = substr(name, RLENGTH + 1)
		}
		sub(/@.*/, "", name)
		if (here && name !~ /^LIB/)
			print name
	}' debian/libaspawn*.symbols | sort
}

# "> name": add " name@LIBASPAWN_1 1.0" there. "< name": it is no longer exported.
list_is_exports()
{
	listed "$1" amd64 >"$work/listed" &&
		$nm -D --defined-only "$build/$1.so" | awk '$3 !~ /^LIB/ { sub(/@.*/, "", $3); print $3 }' |
		sort >"$work/exported" && test -s "$work/exported" && diff "$work/listed" "$work/exported"
}

for library in libaspawn libpsys; do
	if [ "$(uname -m)" = x86_64 ]; then
		check "debian/libaspawn*.symbols lists the exported symbols of $library" list_is_exports $library
	else
		skip "debian/libaspawn*.symbols lists the exported symbols of $library" "the list is compared on x86_64"
	fi
done
finish
