/* SPDX-License-Identifier: MIT */
/*
 * A program without a libc that spawns a real command. In a checkout, after make:
 *
 *     cc -O2 -static -nostdlib -ffreestanding -fno-stack-protector -Iinclude \
 *         examples/freestanding.c syscall/arch/x86_64/start.S build/libaspawn.a
 *
 * start.S is the entry point; each architecture has its own, and it is not installed.
 */
#define PSYS_DEFINE_MEMORY_FUNCTIONS /* a compiler calls memset() for an initializer */

#include <aspawn/command.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

int main(int argc, char **argv, char **envp)
{
	struct aspawn_io io = { .size = sizeof io };
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = ASPAWN_ARGV("echo", "spoken by a real command"),
		.envp = envp, /* there is no environ */
	};
	char text[320];

	(void)argc, (void)argv;
	int r = aspawn_run(&command, &io);
	if (r == 0 && io.status == 0)
		return 0;
	size_t length = aspawn_io_text(text, sizeof text - 1, r, &io);
	text[length++] = '\n';
	psys_write(2, text, length);
	return 1;
}
