/* SPDX-License-Identifier: MIT */
/* Tells where a child may make a system call: by number, and for some calls by an argument. */
#include "syscall_class.h"

#include "../marks.h"

enum { CALL_BY_ARGUMENT = CALL_REFUSED + 1 };

/* Numbers count from the base of the ABI. The search is linear, as few commands need it. */
static const struct {
	uint16_t number : 14;
	uint16_t class : 2;
} classes[] = {
#define NUMBERED(name, class) { PSYS_NR_##name - PSYS_NUMBER_BASE, class },
#define SHARED(name) NUMBERED(name, CALL_SHARED)
#define BY_ARGUMENT(name) NUMBERED(name, CALL_BY_ARGUMENT)
#define IMAGE(name)
#define REFUSED(name) NUMBERED(name, CALL_REFUSED)
#define ARGUMENT(...)
#include "syscall_classes.h"
#undef SHARED
#undef BY_ARGUMENT
#undef REFUSED
#undef ARGUMENT
};

static const struct {
	uint32_t value;
	uint16_t number;
	unsigned char place, class;
} arguments[] = {
#define SHARED(name)
#define BY_ARGUMENT(name)
#define REFUSED(name)
#define ARGUMENT(class, name, place, value) \
	{ (uint32_t)(value), PSYS_NR_##name - PSYS_NUMBER_BASE, place, CALL_##class },
#include "syscall_classes.h"
};

static IN_ANY unsigned class_of_number(unsigned number)
{
	if (number >> 30) /* a number of another ABI */
		return CALL_REFUSED;
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (classes[i].number == number)
			return classes[i].class;
	return CALL_IMAGE;
}

/* The kernel reads 32 bits of these arguments. A ptrace(2) request with other high bits fails. */
IN_ANY enum syscall_class aspw_syscall_class(const struct aspawn_action *action)
{
	const unsigned number = (unsigned)action->u.syscall.number - PSYS_NUMBER_BASE;
	const unsigned class = class_of_number(number);

	if (class != CALL_BY_ARGUMENT)
		return (enum syscall_class) class;
	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		if (arguments[i].number == number &&
		    arguments[i].value == (uint32_t)action->u.syscall.words[arguments[i].place])
			return (enum syscall_class)arguments[i].class;
	return CALL_IMAGE;
}
