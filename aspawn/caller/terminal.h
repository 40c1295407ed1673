/* SPDX-License-Identifier: MIT */
#ifndef CALLER_TERMINAL_H
#define CALLER_TERMINAL_H

#include <stdbool.h>

#include <aspawn/command.h>

/* Returns a bit for each stream that the caller has by the terminal, or 0. The program's output
 * there is standard error only if standard output goes elsewhere. */
PSYS_INLINE unsigned streams_on_pty(const struct aspawn_command *command)
{
	const bool out = command->std_out == ASPAWN_STREAM_PTY;

	return (command->std_in == ASPAWN_STREAM_PTY) | (unsigned)out << 1 |
	       (unsigned)(command->std_err == ASPAWN_STREAM_PTY && !out) << 2;
}

/* Makes the command's terminal: the caller's end and the program's, both CLOEXEC and above 2.
 * Returns 0 or a negative error number. After an error ends[0] is still open, unless negative. */
int aspw_make_terminal(int ends[2], const struct aspawn_command *command);

#endif
