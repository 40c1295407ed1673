# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# TAP for shell scripts: check NAME COMMAND..., skip NAME REASON, lacks NAME TOOL, finish.
number=0
trap 'exit 1' HUP INT TERM # which otherwise leave out the trap of EXIT

check()
{
	name=$1
	shift
	number=$((number + 1))
	if output=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		echo "$output" | head -30 | sed 's/^/# /'
	fi
}

skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# A compiler or tool that README.md does not install is missing. make test runs what it can, so it
# is a skip of make test-toolchains alone.
lacks()
{
	[ -z "${TOOLCHAINS-}" ] || skip "$1" "no $2"
}

finish()
{
	echo "1..$number"
}
