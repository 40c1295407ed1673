/* SPDX-License-Identifier: MIT */
/* The library alone: a command and its output. */
#include <stdio.h>
#include <string.h>

#include <aspawn/command.h>

int main(void)
{
	char text[64];
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };
	int error = aspawn_run(ASPAWN_COMMAND("printf", "%s-%s", "a", "b"), &io);

	printf("aspawn_run: %d, %d, %s\n", error, io.status, text);
	return error || io.status || strcmp(text, "a-b") != 0;
}
