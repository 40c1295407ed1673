/* SPDX-License-Identifier: MIT */
/* The commands execute this program. The program writes its own state, arguments and environment to
 * the file named by the first argument. The last argument may be the name of an attack, or LINGERS:
 * then the program does not end. */
#define PSYS_DEFINE_MEMORY_FUNCTIONS
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "attacks.h"
#include "state.h"

int main(int argc, char **argv, char **environment);

static void add_strings(struct text *text, const char *name, char **strings)
{
	for (; *strings; strings++) {
		text_add(text, name);
		text_add(text, *strings);
		text_add(text, "\n");
	}
}

int main(int argc, char **argv, char **environment)
{
	static struct text text;

	if (argc < 2)
		return 99;
	text_add_state(&text);
	add_strings(&text, "argument ", argv);
	add_strings(&text, "variable ", environment);
	const int file = psys_open(argv[1], PSYS_O_WRONLY | PSYS_O_TRUNC, 0);
	if (psys_write(file, text.bytes, text.length) != (long)text.length)
		return 98;
	attack(argv[argc - 1], argv[1]);
	if (!psys_strncmp(argv[argc - 1], LINGERS, sizeof LINGERS - 1))
		linger(1000);
	return 7;
}
