#!/bin/sh
# SPDX-License-Identifier: MIT
# The list of symbols of the Debian package is what the shared library exports.
. "$(dirname "$0")/tap.sh"
build=${BUILD_DIR:-build}
nm=${NM:-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Those of an architecture, as Debian calls it: (arch=arm64 s390x)name@VERSION, (arch=!arm64)name
listed()
{
	awk -v arch="$1" '/^ / {
		name = substr($0, 2)
		here = 1
		if (match(name, /^\(arch=[^)]*\)/)) {
			here = (" " substr(name, 7, RLENGTH - 7) " ") ~ ("[ !]" arch " ")
			if (name ~ /^\(arch=!/)
				here = !here
			name = substr(name, RLENGTH + 1)
		}
		sub(/@.*/, "", name)
		if (here && name !~ /^LIBASPAWN/)
			print name
	}' debian/libaspawn*.symbols | sort
}

# "> name": add " name@LIBASPAWN_0 0.2" there. "< name": it is no longer exported.
list_is_exports()
{
	listed amd64 >"$work/listed" &&
		$nm -D --defined-only "$build/libaspawn.so" | awk '$3 !~ /^LIBASPAWN/ { sub(/@.*/, "", $3); print $3 }' |
		sort >"$work/exported" && test -s "$work/exported" && diff "$work/listed" "$work/exported"
}

if [ "$(uname -m)" = x86_64 ]; then
	check "debian/libaspawn*.symbols lists the exported symbols" list_is_exports
else
	skip "debian/libaspawn*.symbols lists the exported symbols" "the list is compared on x86_64"
fi
finish
