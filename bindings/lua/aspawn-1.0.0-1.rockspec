-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "aspawn"
version = "1.0.0-1"
source = { url = "file://aspawn-1.0.0.tar.gz" } -- which the source rock contains
description = {
	summary = "Start programs without a shell, without fork, and with their results",
	detailed = "run, popen, spawn, a queue, and replacements of io.popen and os.execute. Linux.",
	license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.1, < 5.5" }
build = {
	type = "make",
	build_variables = { CC = "$(CC)", CFLAGS = "$(CFLAGS)", LIBFLAG = "$(LIBFLAG)", LUA_INCDIR = "$(LUA_INCDIR)" },
	install_variables = { INST_LIBDIR = "$(LIBDIR)" },
}
