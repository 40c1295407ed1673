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

/* Returns the value of the constant with this name, in upper or lower case, with the prefix or
 * without. Returns NAN if there is no such constant. */
static double value_of(const char *name, const char *prefix)
{
	const size_t length = strlen(prefix),
		     omitted = strncasecmp(name, prefix, length) ? length : 0;

	for (const struct constant *constant = constants; constant->name; constant++)
		if (strncmp(constant->name, prefix, length) == 0 &&
		    strcasecmp(constant->name + omitted, name) == 0)
			return (double)constant->value;
	return NAN;
}

double pop_number(lua_State *L, const char *what, const char *prefix, double least, double most)
{
	double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : NAN;
	const char *name = isnan(value) && prefix ? lua_tostring(L, -1) : NULL;

	if (name && strlen(name) == lua_rawlen(L, -1))
		value = value_of(name, prefix);
	if (!(value >= least && value <= most && value == floor(value)))
		expected(L, what, prefix ? "a valid number or name" : "a valid number");
	lua_pop(L, 1);
	return value;
}

/* Pushes the operand that is at this place of the action's table, or has this name there. Returns
 * false, and pushes nothing, if an optional operand is left out. */
static bool push(struct build *build, int position, const char *name, bool is_optional)
{
	lua_State *L = build->L;

	lua_pushfstring(L, "actions[%d], %s: %s", build->index, build->action, name);
	build->what = text(build, name);
	lua_rawgeti(L, build->table, position + 1);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushstring(L, name);
		lua_rawget(L, build->table);
	}
	const bool is_left_out = is_optional && lua_isnil(L, -1);
	build->unread -= !lua_isnil(L, -1);
	lua_pop(L, is_left_out);
	return !is_left_out;
}

/* What follows pops the operand of a role, or an array's element, that push() has pushed. */

#define operand_number(build) operand_integer(build, 0, INT_MAX)
#define operand_integer(build, least, most) pop_number(build->L, build->what, NULL, least, most)
#define operand_id(build) (int64_t) operand_integer(build, -1, UINT_MAX)
#define operand_signal(build) pop_number(build->L, build->what, "SIG", INT_MIN, INT_MAX)
#define operand_resource(build) pop_number(build->L, build->what, "RLIMIT_", INT_MIN, INT_MAX)
#define operand_capability(build) pop_number(build->L, build->what, "CAP_", INT_MIN, INT_MAX)
#define operand_unsigned(build, count) operand_list(build, NULL, 0, UINT_MAX, count)
#define operand_path operand_string

static const char *operand_string(struct build *build)
{
	return text(build, build->what);
}

static uint64_t operand_limit(struct build *build)
{
	const double value = pop_number(build->L, build->what, NULL, -1, HUGE_VAL);

	return value < 0 || value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

static int operand_descriptor(struct build *build, bool cwd)
{
	if (lua_isuserdata(build->L, -1))
		return pop_descriptor(build->L, build->what);
	return (int)pop_number(build->L, build->what, NULL, cwd ? PSYS_AT_FDCWD : 0, INT_MAX);
}

static unsigned operand_mode(struct build *build)
{
	lua_State *L = build->L;

	if (lua_type(L, -1) == LUA_TSTRING) {
		char *end;
		const char *digits = lua_tostring(L, -1);
		const unsigned long mode = strtoul(digits, &end, 8);
		if (*digits < '0' || *end)
			expected(L, build->what, "an octal number");
		lua_pop(L, 1);
		lua_pushnumber(L, (lua_Number)mode);
	}
	return (unsigned)pop_number(L, build->what, NULL, 0, 07777);
}

/* A number, or names of constants: "O_WRONLY|O_CREAT". */
static uint64_t operand_flags(struct build *build, double most)
{
	static const char between[] = "|+, ";
	lua_State *L = build->L;
	uint64_t flags = 0;

	if (lua_isnumber(L, -1) || !lua_isstring(L, -1))
		return (uint64_t)pop_number(L, build->what, NULL, 0, most);
	for (const char *at = text(build, build->what); *at; at += strspn(at, between)) {
		const size_t length = strcspn(at, between);
		lua_pushlstring(L, at, length);
		flags |= (uint64_t)pop_number(L, build->what, "", 0, most);
		at += length;
	}
	return flags;
}

/* A list of numbers, or of names of constants. */
static const unsigned *operand_list(struct build *build, const char *prefix, double least,
				    double most, size_t *count)
{
	lua_State *L = build->L;

	*count = check_list(L, lua_gettop(L), build->what, "number");
	unsigned *list = anchored(build, (*count + 1) * sizeof *list);
	for (size_t i = 0; i < *count; i++) {
		lua_rawgeti(L, -1, (int)i + 1);
		list[i] = (unsigned)pop_number(L, build->what, prefix, least, most);
	}
	lua_pop(L, 1);
	return list;
}

static const void *operand_signals(struct build *build)
{
	size_t count;
	const unsigned *list = operand_list(build, "SIG", 1, PSYS_NSIG, &count);
	struct psys_sigset *set = anchored(build, sizeof *set);

	psys_sigemptyset(set);
	while (count)
		psys_sigaddset(set, (int)list[--count]);
	return set;
}

/* A list of numbers: the set of these bits, of whole words. */
static const void *operand_byte(struct build *build, size_t *size)
{
	enum { MOST = 8192, BITS = CHAR_BIT * sizeof(unsigned long) };
	size_t count, words = 0;
	const unsigned *list = operand_list(build, NULL, 0, MOST - 1, &count);
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
static const void *operand_data(struct build *build, size_t *size)
{
	lua_State *L = build->L;

	if (lua_type(L, -1) != LUA_TSTRING)
		expected(L, build->what, "a string");
	const void *data = lua_tolstring(L, -1, size);
	luaL_ref(L, build->anchor);
	return data;
}

/* The bytes of instructions, or a list of them: { code, jt, jf, k }. */
static const void *operand_sock_filter(struct build *build, size_t *count)
{
	struct psys_sock_filter *filter;
	lua_State *L = build->L;

	if (lua_type(L, -1) == LUA_TSTRING) {
		if (lua_rawlen(L, -1) % sizeof *filter)
			expected(L, build->what, "8 bytes for each instruction");
		const void *instructions = operand_data(build, count);
		*count /= sizeof *filter;
		return instructions;
	}
	*count = check_list(L, lua_gettop(L), build->what, "list");
	filter = anchored(build, (*count + 1) * sizeof *filter);
	for (size_t i = 0; i < *count; i++) {
		size_t parts;
		lua_rawgeti(L, -1, (int)i + 1);
		const unsigned *part = operand_list(build, NULL, 0, UINT_MAX, &parts);
		if (parts != 4 || part[0] > UINT16_MAX || part[1] > UINT8_MAX || part[2] > UINT8_MAX)
			expected(L, build->what, "{ code, jt, jf, k }");
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
		luaL_error(L, "actions[%d]: a table is expected, not %s", index,
			   luaL_typename(L, -1));
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
	for (const struct constant *constant = constants; constant->name; constant++)
		SET(L, constant->name, int64, constant->value);
	lua_newtable(L);
	for (const struct action *action = actions; action->name; action++)
		SET(L, action->name, string, action->operands);
	lua_setfield(L, -2, "actions");
}
