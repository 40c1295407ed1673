#!/bin/sh
# SPDX-License-Identifier: MIT
# The archive that `make dist` makes: what it holds, that it is made again to the byte, and that
# it is built, tested and packed where there is no git.
. "$(dirname "$0")/../checks/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of the caller's make nothing is inherited.
plain_make()
{
	env -u MAKEFLAGS -u MAKELEVEL -u BUILD_DIR -u CC -u SOURCE_DATE_EPOCH make -s -j2 "$@"
}

is_made()
{
	plain_make dist BUILD_DIR="$work/first" && tar -xf "$work"/first/aspawn-*.tar.gz -C "$work/unpacked"
}

# By another user's umask, at another time.
is_made_again()
{
	(umask 077 && plain_make dist BUILD_DIR="$work/second") &&
		cmp "$archive" "$work"/second/aspawn-*.tar.gz
}

holds_what_git_knows()
{
	printf 'amalgamation/%s\n' aspawn-image.S aspawn-image.c aspawn-image.ld aspawn-image.sh aspawn.S aspawn.c aspawn.h psys.h >"$work/amalgamation"
	{ git ls-files && cat "$work/amalgamation" && echo MANIFEST; } | sort >"$work/expected"
	(cd "$tree" && find . ! -type d | sed 's|^\./||' | sort) | diff "$work/expected" -
}

# In the tree, where a call of git fails and is noted.
without_git()
{
	(cd "$tree" && PATH=$work/bin:$PATH plain_make "$@") && [ ! -e "$work/called" ]
}

amalgamation_is_its_own()
{
	without_git amalgamation && diff -r "$tree/amalgamation" "$tree/build/amalgamation"
}

packs_itself()
{
	without_git dist && cmp "$archive" "$tree"/build/aspawn-*.tar.gz
}

mkdir "$work/bin" "$work/unpacked"
printf '#!/bin/sh\necho "git $*" >&2\necho "git $*" >>"%s"\nexit 127\n' "$work/called" >"$work/bin/git"
chmod +x "$work/bin/git"

check "it is made" is_made
tree=$(echo "$work"/unpacked/aspawn-*)
archive=$(echo "$work"/first/aspawn-*.tar.gz)
check "it is made again, the same to the byte" is_made_again
if [ -e .git ]; then
	check "it holds what git knows, and the amalgamation" holds_what_git_knows
else
	skip "it holds what git knows, and the amalgamation" "no git here"
fi
check "without git: make" without_git
check "without git: make test-suite" without_git test-suite SUITE_QUICK=1
check "without git: make amalgamation, the same" amalgamation_is_its_own
check "without git: make dist, the same to the byte" packs_itself
finish
