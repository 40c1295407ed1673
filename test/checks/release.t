#!/bin/sh
# SPDX-License-Identifier: MIT
# Where, under which tag and when the library is published stands in RELEASE alone: no document and
# no package names another address or contact, and what is packed or installed has that address.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value()
{
	sed -n "s/^$1=//p" RELEASE
}
address=$(value ADDRESS)

says_what_a_release_is()
{
	echo "$address" | grep -x 'https://[a-z0-9./-]*[a-z0-9]' && value TAG | grep -x 'v[0-9.]*\(-rc\.[0-9]*\)*' &&
		value DATE | grep -x 'unreleased\|20[0-9][0-9]-[01][0-9]-[0-3][0-9]' && value CONTACT | grep -x '[^ @]*@[a-z0-9.-]*' &&
		value KEY | grep -x 'unpublished\|[0-9A-F]\{40\}'
}

# Documents, and what packages are made from.
texts()
{
	find . \( -name .git -o -name build -o -name target -o -name node_modules -o -name vendor -o -name test \) -prune -o -type f \
		\( -name '*.md' -o -name '*.[137]' -o -name '*.toml' -o -name '*.rockspec' -o -name package.json -o -name '*.pc.in' \
			-o -name '*.zon' -o -path './debian/*' -o -path '*/src/lib.rs' \) -print
}

# Of a format, or of a site that another address would lead to; and of people.
names_no_other_address()
{
	texts >"$work/texts" && test "$(wc -l <"$work/texts")" -gt 30 && grep -qx ./README.md "$work/texts" || return 1
	tr '\n' '\0' <"$work/texts" |
		xargs -0 grep -noE '(https?|git|ssh)://[A-Za-z0-9./_-]+|[A-Za-z0-9._-]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}\b' |
		grep -v -F -e ":$address" -e ":$(value CONTACT)" -e https://www.debian.org/doc/packaging-manuals/ >"$work/found"
	! grep . "$work/found"
}

is_linked_to()
{
	for text in README.md SECURITY.md CHANGELOG.md doc/embedding.md; do
		grep -q '(\(\.\./\)*RELEASE)' $text || { echo "$text does not say where"; return 1; }
	done
}

is_installed()
{
	make -s install-compat DESTDIR="$work/stage" PREFIX=/usr LDCONFIG=false >/dev/null &&
		for name in aspawn aspawn-compat; do
			grep -Fx "URL: $address" "$work/stage/usr/lib/pkgconfig/$name.pc" || return 1
		done
}

# For what a language's packages are made from.
is_packed()
{
	for language in go java node lua python rust; do
		grep -q 'ADDRESS=.*RELEASE' bindings/$language/pack || { echo "bindings/$language/pack does not say where"; return 1; }
	done
}

check "RELEASE has an address, a tag, a contact, and a day and a key or that there is none" says_what_a_release_is
check "no document and no package names another address" names_no_other_address
check "documents link to it" is_linked_to
check "pkg-config tells the address" is_installed
check "packages for other languages have the address" is_packed
finish
