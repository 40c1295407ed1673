/* SPDX-License-Identifier: MIT */
#ifndef CALLER_TERMINAL_H
#define CALLER_TERMINAL_H

#include <stdbool.h>

#include <aspawn/command.h>

/* Returns the streams that the caller has by the terminal, a bit each; 0: there is no terminal. What
 * the program writes to it is standard error only if standard output goes elsewhere. */
PSYS_INLINE unsigned streams_on_pty(const struct aspawn_command *command)
{
	const bool out = command->std_out == ASPAWN_STREAM_PTY;

	return (command->std_in == ASPAWN_STREAM_PTY) | (unsigned)out << 1 |
	       (unsigned)(command->std_err == ASPAWN_STREAM_PTY && !out) << 2;
}

/* Makes the terminal that the command asks for: the caller's end and the program's, both CLOEXEC and
 * above 2. Returns 0, or a negative error number: then ends[0] is still open, unless it is negative. */
int aspw_make_terminal(int ends[2], const struct aspawn_command *command);

#endif
