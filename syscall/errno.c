/* SPDX-License-Identifier: MIT */
/* Names and messages of error numbers, without pointers, which would need relocations. */
#include <syscall/errno.h>

/* All strings in one object, addressed by offsets. */
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

static const struct entry {
	uint16_t number, name, message;
} entries[] = {
#define ERROR(name, message) \
	{ PSYS_##name, offsetof(struct strings, name), offsetof(struct strings, name##_message) },
#include "errno_table.h"
#undef ERROR
};

static const char unknown[] = "unknown error";

static PSYS_UNINSTRUMENTED const struct entry *find(int error)
{
	unsigned number = error < 0 ? 0U - (unsigned)error : (unsigned)error;

	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (entries[i].number == number)
			return &entries[i];
	return NULL;
}

PSYS_UNINSTRUMENTED const char *psys_errname(int error)
{
	const struct entry *entry = find(error);

	return entry ? (const char *)&strings + entry->name : unknown;
}

PSYS_UNINSTRUMENTED const char *psys_strerror(int error)
{
	const struct entry *entry = find(error);

	return entry ? (const char *)&strings + entry->message : unknown;
}
