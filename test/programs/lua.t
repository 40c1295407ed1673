#!/bin/sh
# Lua: the interpreter's suite is not in Debian's source, so that these tests, in
# lua.lua, are our own: what the reference manual says of io.popen and os.execute.
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
