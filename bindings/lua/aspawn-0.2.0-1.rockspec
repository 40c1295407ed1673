-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "aspawn"
version = "0.2.0-1"
source = {
	url = "file://aspawn-0.2.0.tar.gz", -- which the source rock contains
}
description = {
	summary = "Start programs without a shell, without fork, and with their results",
	detailed = "run, popen, spawn, a queue, and replacements of io.popen and os.execute. Linux.",
	license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.1, < 5.5" }
build = {
	type = "builtin",
	modules = {
		aspawn = {
			sources = {
				"src/actions.c",
				"src/arguments.c",
				"src/child.c",
				"src/files.c",
				"src/module.c",
				"src/queue.c",
				"src/results.c",
				"src/run.c",
				"vendor/aspawn.c",
				"vendor/aspawn-clone.S",
				"vendor/pool.c",
				"vendor/popen.c",
				"vendor/shell.c",
				"vendor/spawn.c",
				"vendor/system.c",
			},
			incdirs = { "vendor" },
			defines = { "_FILE_OFFSET_BITS=64" },
			libraries = { "pthread", "m", "dl" },
		},
	},
}
