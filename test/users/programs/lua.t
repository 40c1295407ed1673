#!/bin/sh
# SPDX-License-Identifier: MIT
# Lua: Debian's source lacks the interpreter's suite, so lua.lua has tests of our own, after the
# reference manual's io.popen and os.execute.
. "$(dirname "$0")/compare.sh"
needs lua5.4
script=$(realpath "$(dirname "$0")/lua.lua")

results()
{
	preloaded lua5.4 "$script"
}

binds "pclose popen system" lua5.4 -v
same "Lua $(lua5.4 -v | sed 's/^Lua \([0-9.]*\).*/\1/')" 20
finish
