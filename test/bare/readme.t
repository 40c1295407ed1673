#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands that README.md begins with, as they stand there, by a stranger: on a bare
# Debian 12, as root, in a clean copy of HEAD. Their output is in $BUILD_DIR/bare/readme.log.
. "$(dirname "$0")/../checks/tap.sh"
here=$(dirname "$0")
bare=${BUILD_DIR:-build}/bare
log=$bare/readme.log

skip_all()
{
	echo "1..0 # SKIP $*"
	exit
}

[ "$(id -u)" = 0 ] || skip_all "must be run as root"
[ -e "$bare/bookworm.tar" ] || command -v debootstrap >/dev/null ||
	skip_all "debootstrap is missing"
unshare --mount --pid --fork true 2>/dev/null || skip_all "namespaces are refused"

# Without git, the tree as it is.
copy()
{
	git -c safe.directory='*' archive HEAD 2>/dev/null || tar -c --exclude=./build .
}

makes_a_system()
{
	"$here/bootstrap" "$system" && mkdir "$system/aspawn" && copy | tar -x -C "$system/aspawn" &&
		test -e "$system/aspawn/README.md"
}

# runs COMMAND: what went wrong is shown if it fails
runs()
{
	"$here/run" "$system" sh -ec "cd /aspawn
$1" >>"$log" 2>&1 </dev/null || {
		grep -E '^(not ok|Failed|.*[Ee]rror)|\*\*\*' "$log" | head -15
		tail -15 "$log"
		return 1
	}
}

mkdir -p "$bare"
# Not below BUILD_DIR: make reads what is called *.d there.
work=$(mktemp -d)
system=$work/system
trap 'rm -rf "$work"' EXIT
: >"$log"
check "a bare system, with a copy of HEAD" makes_a_system
count=0
while command=$("$here/commands" $((count + 1))) && [ -n "$command" ]; do
	check "$command" runs "$command"
	count=$((count + 1))
done
check "README has commands" test $count -gt 1
sed -n 's/^ *\([0-9]* skipped:\|tests:\)/# \1/p' "$log"
finish
