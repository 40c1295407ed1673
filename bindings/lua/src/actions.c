/* SPDX-License-Identifier: MIT */
/* What the child does before it executes the program. */
#include "binding.h"

#include <string.h>

static const struct {
	const char *name;
	int number;
} resources[] = {
	{ "cpu", PSYS_RLIMIT_CPU },
	{ "fsize", PSYS_RLIMIT_FSIZE },
	{ "data", PSYS_RLIMIT_DATA },
	{ "stack", PSYS_RLIMIT_STACK },
	{ "core", PSYS_RLIMIT_CORE },
	{ "nproc", PSYS_RLIMIT_NPROC },
	{ "nofile", PSYS_RLIMIT_NOFILE },
	{ "memlock", PSYS_RLIMIT_MEMLOCK },
	{ "as", PSYS_RLIMIT_AS },
	{ "sigpending", PSYS_RLIMIT_SIGPENDING },
	{ "msgqueue", PSYS_RLIMIT_MSGQUEUE },
	{ "nice", PSYS_RLIMIT_NICE },
	{ "rtprio", PSYS_RLIMIT_RTPRIO },
	{ "rttime", PSYS_RLIMIT_RTTIME },
};

/* Each with the letters of its arguments: a string, an integer, a descriptor or file, a resource. */
static const struct kind {
	const char *name, *arguments;
	union {
		void (*none)(struct aspawn_action *);
		void (*i)(struct aspawn_action *, int);
		void (*ii)(struct aspawn_action *, int, int);
		void (*u)(struct aspawn_action *, unsigned);
		void (*uuu)(struct aspawn_action *, unsigned, unsigned, unsigned);
		void (*q)(struct aspawn_action *, uint64_t);
		void (*s)(struct aspawn_action *, const char *);
		void (*ss)(struct aspawn_action *, const char *, const char *);
		void (*isiu)(struct aspawn_action *, int, const char *, int, unsigned);
		void (*rqq)(struct aspawn_action *, int, uint64_t, uint64_t);
	} make;
} kinds[] = {
	{ "dup2", "di", { .ii = aspawn_action_dup2 } },
	{ "open", "isiu", { .isiu = aspawn_action_open } },
	{ "close", "i", { .i = aspawn_action_close } },
	{ "closefrom", "i", { .i = aspawn_action_closefrom } },
	{ "only_below", "i", { .i = aspawn_action_only_below } },
	{ "setenv", "ss", { .ss = aspawn_action_setenv } },
	{ "unsetenv", "s", { .s = aspawn_action_unsetenv } },
	{ "clearenv", "", { .none = aspawn_action_clearenv } },
	{ "chdir", "s", { .s = aspawn_action_chdir } },
	{ "umask", "u", { .u = aspawn_action_umask } },
	{ "setsid", "", { .none = aspawn_action_setsid } },
	{ "setpgid", "i", { .i = aspawn_action_setpgid } },
	{ "reset_signals", "", { .none = aspawn_action_reset_signals } },
	{ "signal_default", "i", { .i = aspawn_action_signal_default } },
	{ "signal_ignore", "i", { .i = aspawn_action_signal_ignore } },
	{ "pdeathsig", "i", { .i = aspawn_action_pdeathsig } },
	{ "rlimit", "rqq", { .rqq = aspawn_action_rlimit } },
	{ "nice", "i", { .i = aspawn_action_nice } },
	{ "scheduler", "ii", { .ii = aspawn_action_scheduler } },
	{ "ioprio", "i", { .i = aspawn_action_ioprio } },
	{ "oom_score_adj", "i", { .i = aspawn_action_oom_score_adj } },
	{ "join_cgroup", "d", { .i = aspawn_action_join_cgroup } },
	{ "resuid", "uuu", { .uuu = aspawn_action_resuid } },
	{ "resgid", "uuu", { .uuu = aspawn_action_resgid } },
	{ "cap_drop", "i", { .i = aspawn_action_cap_drop } },
	{ "no_new_privs", "", { .none = aspawn_action_no_new_privs } },
	{ "chroot", "s", { .s = aspawn_action_chroot } },
	{ "unshare", "q", { .q = aspawn_action_unshare } },
	{ "hostname", "s", { .s = aspawn_action_hostname } },
	{ "write", "ss", { .ss = aspawn_action_write } },
};

static int resource(lua_State *L, const char *name)
{
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		if (strcmp(name, resources[i].name) == 0)
			return resources[i].number;
	return luaL_error(L, "rlimit: no resource \"%s\"", name);
}

static uint64_t number(lua_State *L, const char *what)
{
	if (!lua_isnumber(L, -1))
		luaL_error(L, "%s: a number is expected, not a %s", what, luaL_typename(L, -1));
	const double value = lua_tonumber(L, -1);
	lua_pop(L, 1);
	/* math.huge is no limit. */
	return value >= 18446744073709551615.0 ? UINT64_MAX :
	       value >= 0                      ? (uint64_t)value :
	       value > -9e18                   ? (uint64_t)(int64_t)value :
						 (uint64_t)INT64_MIN; /* or no number */
}

/* The descriptor of the file on the stack. */
static int file_number(lua_State *L, const char *name)
{
	const int fd = descriptor_of(L, lua_gettop(L), name);

	lua_pop(L, 1);
	return fd;
}

/* user is a table of uid, gid and groups. */
static void add_user(struct build *build, int table)
{
	lua_State *L = build->L;
	unsigned ids[2];

	for (int i = 0; i < 2; i++) {
		lua_rawgeti(L, table, i + 2);
		ids[i] = (unsigned)number(L, "user");
	}
	lua_rawgeti(L, table, 4);
	size_t count = 0;
	unsigned *groups = NULL;
	if (lua_istable(L, -1)) {
		count = (size_t)length_of(L, -1);
		groups = anchored(build, (count + 1) * sizeof *groups);
		for (size_t i = 0; i < count; i++) {
			lua_rawgeti(L, -1, (int)i + 1);
			groups[i] = (unsigned)number(L, "user");
		}
	}
	lua_pop(L, 1);
	aspawn_action_user(next_action(build), ids[0], ids[1], groups, count);
}

void add_action(struct build *build, int index)
{
	lua_State *L = build->L;
	const int table = lua_gettop(L);
	const struct kind *kind = kinds;
	const char *strings[2] = { NULL, NULL };
	uint64_t numbers[4] = { 0, 0, 0, 0 };
	int string_count = 0, number_count = 0;

	if (!lua_istable(L, table))
		luaL_error(L, "action %d: a table is expected", index);
	lua_rawgeti(L, table, 1);
	const char *name = text(build, "action");
	if (strcmp(name, "user") == 0) {
		add_user(build, table);
		lua_pop(L, 1);
		return;
	}
	while (strcmp(kind->name, name) != 0)
		if (++kind == kinds + sizeof kinds / sizeof *kinds)
			luaL_error(L, "action %d: no action \"%s\"", index, name);
	for (int i = 0; kind->arguments[i]; i++) {
		lua_rawgeti(L, table, i + 2);
		if (kind->arguments[i] == 's')
			strings[string_count++] = text(build, name);
		else if (kind->arguments[i] == 'r' && !lua_isnumber(L, -1))
			numbers[number_count++] = (uint64_t)resource(L, text(build, name));
		else if (kind->arguments[i] == 'd' && lua_isuserdata(L, -1))
			numbers[number_count++] = (uint64_t)file_number(L, name);
		else
			numbers[number_count++] = number(L, name);
	}
	lua_pop(L, 1);

	struct aspawn_action *action = next_action(build);
	const int first = (int)numbers[0];
	if (strcmp(kind->arguments, "") == 0)
		kind->make.none(action);
	else if (strcmp(kind->arguments, "i") == 0 || strcmp(kind->arguments, "d") == 0)
		kind->make.i(action, first);
	else if (strcmp(kind->arguments, "ii") == 0 || strcmp(kind->arguments, "di") == 0)
		kind->make.ii(action, first, (int)numbers[1]);
	else if (strcmp(kind->arguments, "u") == 0)
		kind->make.u(action, (unsigned)first);
	else if (strcmp(kind->arguments, "uuu") == 0)
		kind->make.uuu(action, (unsigned)first, (unsigned)numbers[1], (unsigned)numbers[2]);
	else if (strcmp(kind->arguments, "q") == 0)
		kind->make.q(action, numbers[0]);
	else if (strcmp(kind->arguments, "s") == 0)
		kind->make.s(action, strings[0]);
	else if (strcmp(kind->arguments, "ss") == 0)
		kind->make.ss(action, strings[0], strings[1]);
	else if (strcmp(kind->arguments, "isiu") == 0)
		kind->make.isiu(action, first, strings[0], (int)numbers[1], (unsigned)numbers[2]);
	else
		kind->make.rqq(action, first, numbers[1], numbers[2]);
}
