/* SPDX-License-Identifier: MIT */
/* The names and messages of error numbers contain no pointers, which would need relocations. */
#include <stdbool.h>

#include <syscall/errno.h>
#include <syscall/string.h>

/* One object has each name before its message. */
static const struct strings {
#define ERROR(name, message)     \
	char name[sizeof #name]; \
	char name##_message[sizeof message];
#include "errno_table.h"
#undef ERROR
} strings = {
#define ERROR(name, message) #name, message,
#include "errno_table.h"
#undef ERROR
};

static const uint16_t numbers[] = {
#define ERROR(name, message) PSYS_##name,
#include "errno_table.h"
#undef ERROR
};

static PSYS_UNINSTRUMENTED const char *find_error(int error, bool wants_message)
{
	const unsigned number = error < 0 ? 0U - (unsigned)error : (unsigned)error;
	const char *name = (const char *)&strings, *message;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		message = name + psys_strlen(name) + 1;
		if (numbers[i] == number)
			return wants_message ? message : name;
		name = message + psys_strlen(message) + 1;
	}
	return "unknown error";
}

PSYS_UNINSTRUMENTED const char *psys_errname(int error)
{
	return find_error(error, false);
}

PSYS_UNINSTRUMENTED const char *psys_strerror(int error)
{
	return find_error(error, true);
}
