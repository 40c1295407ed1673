/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "tree.h"

struct aspawn_command tree_command(struct self *self, const char *role, const char *argument)
{
	struct aspawn_command command = private_command(self, role, argument);

	command.owner = ASPAWN_OWNER_TREE;
	command.std_out = ASPAWN_STREAM_PIPE;
	return command;
}

void need_lists(void)
{
	need_shared_memory();
	if (psys_faccessat(PSYS_AT_FDCWD, "/proc/thread-self/children", PSYS_R_OK) < 0)
		skip("no list of children");
}

void check_all_have_ended(int fd, int timeout_ms)
{
	char text[64];

	do {
		struct psys_timespec limit = { timeout_ms / 1000, 0 };
		struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };
		CHECK_EQUAL(psys_ppoll(&poll, 1, &limit, NULL, 0), 1);
	} while (psys_read(fd, text, sizeof text) > 0);
	psys_close(fd);
}

void await_bytes(int fd, int count)
{
	char byte;

	for (; count > 0; count--)
		CHECK_EQUAL(psys_read(fd, &byte, 1), 1);
}
