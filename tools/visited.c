/* SPDX-License-Identifier: MIT */
/* What tools/visited.py looks at. */
#include <aspawn/command.h>

int main(void)
{
	static struct aspawn_pool pool;
	struct aspawn_command command = *ASPAWN_COMMAND("true");
	struct aspawn_child child;

	command.pool = &pool;
	command.std_out = ASPAWN_STREAM_PIPE;
	return aspawn_start(&child, &command) < 0 || aspawn_wait(&child, NULL, NULL, -1) < 0;
}
