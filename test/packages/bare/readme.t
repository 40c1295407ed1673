#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands that README.md begins with, as they stand there, by a stranger: on a bare Debian 12
# and 13; as root, as root in a container, and as an ordinary user; where the root is a mount, and
# in a plain chroot. Each in a clean copy of HEAD. Of these CI tries each once, MATRIX=all has all
# combinations. Each release and each kind of user meets each condition of test/packages/bare/run
# (utf8, closed, pipes, load) that it can notice. The output is in $BUILD_DIR/bare/readme.log.
. "$(dirname "$0")/../../checks/tap.sh"
directory=$(dirname "$0")
bare=${BUILD_DIR:-build}/bare
log=$bare/readme.log

skip_all()
{
	echo "1..0 # SKIP $*"
	exit
}

[ "$(id -u)" = 0 ] || skip_all "must be run as root"
command -v debootstrap >/dev/null || skip_all "debootstrap is missing"
unshare --mount --pid --fork true 2>/dev/null || skip_all "namespaces are refused"

# The release, and the words for run. CI has the first two. The load doubles the time.
combinations()
{
	head -n "$([ "${MATRIX-}" = all ] && echo 12 || echo 2)" <<-'L'
		bookworm contained pipes
		trixie chroot user utf8 closed pipes
		bookworm utf8
		bookworm user closed load
		bookworm chroot load
		bookworm chroot contained utf8
		bookworm chroot user utf8 pipes
		trixie
		trixie contained utf8 pipes load
		trixie user closed
		trixie chroot utf8
		trixie chroot contained pipes
	L
}

# Without git, the tree as it is.
copy()
{
	git -c safe.directory='*' archive HEAD 2>/dev/null || tar -c --exclude=./build .
}

makes_a_system()
{
	BARE_SUITE=$suite "$directory/bootstrap" "$system" &&
		{ "$directory/run" "$system" id user 2>/dev/null || "$directory/run" "$system" useradd --uid 1000 --create-home user; } &&
		rm -rf "$system/aspawn" && mkdir "$system/aspawn" && copy | tar -x -C "$system/aspawn" &&
		test -e "$system/aspawn/README.md" || return 1
	case $words in *user*) chown -R 1000:1000 "$system/aspawn" ;; esac
}

# shellcheck disable=SC2086 # a word each
# runs "WORDS" COMMAND: what went wrong is shown if it fails
runs()
{
	"$directory/run" $1 "$system" sh -ec "cd /aspawn
$quick$2" >"$work/output" 2>&1 </dev/null && { cat "$work/output" >>"$log"; return; }
	cat "$work/output" >>"$log"
	grep -E '^(not ok|#   |Failed|.*[Ee]rror)|\*\*\*' "$work/output" | head -15
	tail -15 "$work/output"
	return 1
}

# Only rights and the kernel decide: what README.md installs is enough for what make test tries.
lacks_no_tool()
{
	! grep ' skipped: ' "$work/output" | grep '\.t[,)]' | grep -v 'needs root\|this user may'
}

# here NAME COMMAND...
here()
{
	name=$1
	shift
	check "$suite${words:+ $words}: $name" "$@"
}

# What is left of the first command is the user's, for whom root installs the packages.
try_commands()
{
	number_of=1
	while command=$("$directory/commands" $number_of) && [ -n "$command" ]; do
		case "$number_of $words" in
		"1 "*user*)
			here "${command%% && make*}" runs "${words%%user*}" "${command%% && make*}"
			command=${command##* && }
			;;
		esac
		case $command in
		"make test") here "$command" runs "$words" "$command" ;;
		*) here "$command" runs "${words%load}" "$command" ;; # make demo measures
		esac
		number_of=$((number_of + 1))
	done
	here "README has commands" test $number_of -gt 2
	here "no tool was missing" lacks_no_tool
}

mkdir -p "$bare"
# Not below BUILD_DIR: make reads what is called *.d there.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$log"
combinations >"$work/combinations"
quick=
while read -r suite words; do
	system=$work/$suite
	here "a bare system, with a copy of HEAD" makes_a_system
	try_commands
	sed -n 's/^ *\([0-9]* skipped:\|tests:\)/# \1/p' "$work/output"
	quick='export SUITE_QUICK=1
' # the others
done <"$work/combinations"
finish
