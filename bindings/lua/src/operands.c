/* SPDX-License-Identifier: MIT */
/* Actions. How an operand is read depends on its role in the library's interface, from which
 * generate makes interface.h: constants, words, and a function for each action,
 * which calls those of this file. */
#include "binding.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct constant *find_constant(const char *prefix, const char *name, size_t length)
{
	if (strncasecmp(name, prefix, strlen(prefix)) == 0)
		prefix = "";
	const size_t begin = strlen(prefix);
	for (const struct constant *constant = constants; constant->name; constant++)
		if (strncmp(constant->name, prefix, begin) == 0 &&
		    strncasecmp(constant->name + begin, name, length) == 0 &&
		    !constant->name[begin + length])
			return constant;
	return NULL;
}

double pop_number(lua_State *L, const char *what, const char *prefix, double least, double most)
{
	double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : NAN;

	if (prefix && lua_isstring(L, -1) && !lua_isnumber(L, -1)) {
		size_t length;
		const char *name = lua_tolstring(L, -1, &length);
		const struct constant *constant = find_constant(prefix, name, length);
		value = constant ? (double)constant->value : NAN;
	}
	if (!(value >= least && value <= most && value == floor(value)))
		expected(L, what, prefix ? "a valid number or name" : "a valid number");
	lua_pop(L, 1);
	return value;
}

/* Pushes the operand that is at this place of the action's table, or has this name there. Returns
 * what an error calls it. */
static const char *push(struct build *build, int position, const char *name)
{
	lua_State *L = build->L;

	lua_pushfstring(L, "actions[%d], %s: %s", build->index, build->action, name);
	const char *what = text(build, name);
	lua_rawgeti(L, build->table, position + 1);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushstring(L, name);
		lua_rawget(L, build->table);
	}
	build->unread -= !lua_isnil(L, -1);
	return what;
}

static double operand_number(struct build *build, int position, const char *name,
			     const char *prefix, double least, double most)
{
	const char *what = push(build, position, name);

	return pop_number(build->L, what, prefix, least, most);
}

static uint64_t operand_limit(struct build *build, int position, const char *name)
{
	const double value = operand_number(build, position, name, NULL, -1, HUGE_VAL);

	return value < 0 || value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

static int operand_descriptor(struct build *build, int position, const char *name, bool cwd)
{
	const char *what = push(build, position, name);
	lua_State *L = build->L;

	if (!lua_isuserdata(L, -1) && !(cwd && lua_isnil(L, -1)))
		return (int)pop_number(L, what, NULL, cwd ? PSYS_AT_FDCWD : 0, INT_MAX);
	const int fd = lua_isnil(L, -1) ? PSYS_AT_FDCWD : descriptor_of(L, lua_gettop(L), what);
	lua_pop(L, 1);
	return fd;
}

static const char *operand_string(struct build *build, int position, const char *name, bool optional)
{
	const char *what = push(build, position, name);

	if (!optional || !lua_isnil(build->L, -1))
		return text(build, what);
	lua_pop(build->L, 1);
	return NULL;
}

static unsigned operand_mode(struct build *build, int position, const char *name)
{
	const char *what = push(build, position, name);
	lua_State *L = build->L;

	if (lua_isnil(L, -1) && strcmp(name, "mode") == 0) {
		lua_pop(L, 1);
		return 0666;
	}
	if (lua_type(L, -1) == LUA_TSTRING) {
		char *end;
		const char *digits = lua_tostring(L, -1);
		const unsigned long mode = strtoul(digits, &end, 8);
		if (*digits < '0' || *end)
			expected(L, what, "an octal number");
		lua_pop(L, 1);
		lua_pushnumber(L, (lua_Number)mode);
	}
	return (unsigned)pop_number(L, what, NULL, 0, 07777);
}

/* A number, or names of constants: "O_WRONLY|O_CREAT". 0 if the operand is left out,
 * unless it is the first. */
static uint64_t operand_flags(struct build *build, int position, const char *name, double most)
{
	static const char between[] = "|+, ";
	const char *what = push(build, position, name);
	lua_State *L = build->L;
	uint64_t flags = 0;

	if (lua_isnil(L, -1) && position > 1) {
		lua_pop(L, 1);
		return 0;
	}
	if (lua_isnumber(L, -1) || !lua_isstring(L, -1))
		return (uint64_t)pop_number(L, what, NULL, 0, most);
	for (const char *at = text(build, what); *at; at += strspn(at, between)) {
		const size_t length = strcspn(at, between);
		lua_pushlstring(L, at, length);
		flags |= (uint64_t)pop_number(L, what, "", 0, most);
		at += length;
	}
	return flags;
}

/* Pops a list of numbers, or of names of constants. */
static const unsigned *pop_list(struct build *build, const char *what, const char *prefix,
				double least, double most, size_t *count)
{
	lua_State *L = build->L;

	if (!lua_istable(L, -1))
		expected(L, what, "a list");
	*count = lua_rawlen(L, -1);
	check_end(L, lua_gettop(L), (int)*count, what, "number");
	unsigned *list = anchored(build, (*count + 1) * sizeof *list);
	for (size_t i = 0; i < *count; i++) {
		lua_rawgeti(L, -1, (int)i + 1);
		list[i] = (unsigned)pop_number(L, what, prefix, least, most);
	}
	lua_pop(L, 1);
	return list;
}

static const void *operand_signals(struct build *build, int position, const char *name)
{
	size_t count;
	const char *what = push(build, position, name);
	const unsigned *list = pop_list(build, what, "SIG", 1, PSYS_NSIG, &count);
	struct psys_sigset *set = anchored(build, sizeof *set);

	psys_sigemptyset(set);
	while (count)
		psys_sigaddset(set, (int)list[--count]);
	return set;
}

static const unsigned *operand_unsigned(struct build *build, int position, const char *name,
					size_t *count)
{
	const char *what = push(build, position, name);

	if (!lua_isnil(build->L, -1))
		return pop_list(build, what, NULL, 0, UINT_MAX, count);
	lua_pop(build->L, 1);
	*count = 0;
	return NULL;
}

/* A list of numbers: the set of these bits, of whole words. */
static const void *operand_byte(struct build *build, int position, const char *name, size_t *size)
{
	enum { MOST = 8192, BITS = CHAR_BIT * sizeof(unsigned long) };
	size_t count, words = 0;
	const char *what = push(build, position, name);
	const unsigned *list = pop_list(build, what, NULL, 0, MOST - 1, &count);
	unsigned long *set = anchored(build, MOST / CHAR_BIT);

	memset(set, 0, MOST / CHAR_BIT);
	for (size_t i = 0; i < count; i++) {
		set[list[i] / BITS] |= 1UL << list[i] % BITS;
		words = words > list[i] / BITS ? words : list[i] / BITS + 1;
	}
	*size = words * sizeof *set;
	return set;
}

/* Bytes, as string.pack() makes them. */
static const void *operand_data(struct build *build, int position, const char *name, size_t *size)
{
	const char *what = push(build, position, name);
	lua_State *L = build->L;

	if (lua_type(L, -1) != LUA_TSTRING)
		expected(L, what, "a string");
	const char *bytes = lua_tolstring(L, -1, size);
	void *data = memcpy(anchored(build, *size + 1), bytes, *size);
	lua_pop(L, 1);
	return data;
}

/* The bytes of instructions, or a list of them: { code, jt, jf, k }. */
static const void *operand_sock_filter(struct build *build, int position, const char *name,
				       size_t *count)
{
	struct psys_sock_filter *filter;
	const char *what = push(build, position, name);
	lua_State *L = build->L;

	if (lua_type(L, -1) == LUA_TSTRING) {
		const char *bytes = lua_tolstring(L, -1, count);
		if (*count % sizeof *filter)
			expected(L, what, "8 bytes for each instruction");
		filter = memcpy(anchored(build, *count + 1), bytes, *count);
		*count /= sizeof *filter;
		lua_pop(L, 1);
		return filter;
	}
	if (!lua_istable(L, -1))
		expected(L, what, "a list");
	*count = lua_rawlen(L, -1);
	check_end(L, lua_gettop(L), (int)*count, what, "list");
	filter = anchored(build, (*count + 1) * sizeof *filter);
	for (size_t i = 0; i < *count; i++) {
		size_t parts;
		lua_rawgeti(L, -1, (int)i + 1);
		const unsigned *part = pop_list(build, what, NULL, 0, UINT_MAX, &parts);
		if (parts != 4 || part[0] > UINT16_MAX || part[1] > UINT8_MAX || part[2] > UINT8_MAX)
			expected(L, what, "{ code, jt, jf, k }");
		filter[i] = (struct psys_sock_filter){ (uint16_t)part[0], (uint8_t)part[1],
						       (uint8_t)part[2], part[3] };
	}
	lua_pop(L, 1);
	return filter;
}

/* An action, the names of its operands, and what adds it. */
struct action {
	const char *name, *operands;
	void (*add)(struct build *build);
};

#include "interface.h"

void add_action(struct build *build, int index)
{
	lua_State *L = build->L;
	const struct action *action = actions;

	if (!lua_istable(L, -1))
		luaL_error(L, "actions[%d]: a table is expected", index);
	build->table = lua_gettop(L);
	build->index = index;
	build->unread = -1;
	for (lua_pushnil(L); lua_next(L, build->table); lua_pop(L, 1))
		build->unread++;
	lua_rawgeti(L, build->table, 1);
	build->action = text(build, "actions");
	while (action->name && strcmp(action->name, build->action) != 0)
		action++;
	if (!action->name)
		luaL_error(L, "actions[%d]: no action \"%s\"", index, build->action);
	action->add(build);
	if (build->unread)
		luaL_error(L, "actions[%d]: the operands of %s are: %s", index, action->name,
			   action->operands);
	lua_pop(L, 1);
}

void set_interface(lua_State *L)
{
	SET(L, "_VERSION", literal, VERSION);
	for (const struct constant *constant = constants; constant->name; constant++) {
		push_integer(L, constant->value);
		lua_setfield(L, -2, constant->name);
	}
	lua_newtable(L);
	for (const struct action *action = actions; action->name; action++)
		SET(L, action->name, string, action->operands);
	lua_setfield(L, -2, "actions");
}
