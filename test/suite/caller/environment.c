/* SPDX-License-Identifier: MIT */
/* Tests of a program's environment, and of the actions that change it */
#include "observe.h"

/* Writes all variables in their order, each with a space. */
ROLE(shows_environment)
{
	(void)argc, (void)argv;
	for (char **variable = environment; *variable; variable++) {
		psys_write(1, *variable, psys_strlen(*variable));
		psys_write(1, " ", 1);
	}
	return 0;
}

static void check_shown(const struct aspawn_command *command, const char *text)
{
	char shown[16384];
	struct aspawn_io io = { .size = sizeof io, .out = shown, .out_size = sizeof shown };

	CHECK_EQUAL(aspawn_run(command, &io), 0);
	CHECK_EQUAL(io.status, 0);
	if (!psys_strcmp(shown, text))
		return;
	note(shown, (int64_t)io.out_length);
	check_failed(__FILE__, __LINE__, text);
}

static char *const three[] = { (char *)"A=1", (char *)"B=2", (char *)"AB=3", NULL };
static char *const nothing[] = { NULL };

/* Checks each way to pass the environment to the child. */
static void check_environment(char *const *envp, const char *text,
			      const struct aspawn_action *actions, size_t count)
{
	static const uint64_t flags[] = { 0, WAY_SUSPENDED, WAY_COPIED,
					  WAY_SUSPENDED | ASPAWN_COMMAND_SHELL_ON_ENOEXEC };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_environment", NULL);

	command.envp = envp;
	command.actions = count ? actions : NULL;
	command.action_count = count;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		set_way(&command, flags[i]);
		check_shown(&command, text);
	}
}

#define CHECK_ENVIRONMENT(envp, text, ...)                                                   \
	do {                                                                                 \
		const struct aspawn_action actions_[] = { __VA_ARGS__ };                     \
		check_environment(envp, text, actions_, sizeof actions_ / sizeof *actions_); \
	} while (0)

/* QEMU's emulators add variables of their own to an empty environment, or sort it. */
static void need_own_environment(void)
{
	if (is_emulated())
		skip("the emulator has an environment too");
}

TEST(the_environment_is_envp_without_actions)
{
	need_own_environment();
	check_environment(three, "A=1 B=2 AB=3 ", NULL, 0);
	check_environment(nothing, "", NULL, 0);
	CHECK_ENVIRONMENT(three, "A=1 B=2 AB=3 ", ASPAWN_UMASK(0));
}

TEST(setenv_adds_and_replaces)
{
	need_own_environment();
	CHECK_ENVIRONMENT(nothing, "A=1 ", ASPAWN_SETENV("A", "1"));
	CHECK_ENVIRONMENT(nothing, "A= ", ASPAWN_SETENV("A", ""));
	CHECK_ENVIRONMENT(nothing, "A=b=c ", ASPAWN_SETENV("A", "b=c"));
	CHECK_ENVIRONMENT(three, "A=1 B=2 AB=3 C=4 ", ASPAWN_SETENV("C", "4"));
	CHECK_ENVIRONMENT(three, "B=2 AB=3 A=9 ", ASPAWN_SETENV("A", "9"));
	CHECK_ENVIRONMENT(three, "A=1 B=2 AB=9 ", ASPAWN_SETENV("AB", "9"));
	CHECK_ENVIRONMENT(three, "A=1 B=2 AB=3 ABC=9 ", ASPAWN_SETENV("ABC", "9"));
	/* The last value wins, and no variable is doubled. */
	CHECK_ENVIRONMENT(three, "B=2 AB=3 A=8 ", ASPAWN_SETENV("A", "9"), ASPAWN_SETENV("A", "8"));
	CHECK_ENVIRONMENT(nothing, "B=2 A=3 ", ASPAWN_SETENV("A", "1"), ASPAWN_SETENV("B", "2"),
			  ASPAWN_SETENV("A", "3"));
}

TEST(unsetenv_removes)
{
	static char *const twice[] = { (char *)"A=1", (char *)"B=2", (char *)"A=3", NULL };

	need_own_environment();
	CHECK_ENVIRONMENT(three, "B=2 AB=3 ", ASPAWN_UNSETENV("A"));
	CHECK_ENVIRONMENT(three, "A=1 B=2 ", ASPAWN_UNSETENV("AB"));
	CHECK_ENVIRONMENT(three, "A=1 B=2 AB=3 ", ASPAWN_UNSETENV("ABC"));
	CHECK_ENVIRONMENT(three, "", ASPAWN_UNSETENV("A"), ASPAWN_UNSETENV("B"),
			  ASPAWN_UNSETENV("AB"));
	CHECK_ENVIRONMENT(nothing, "", ASPAWN_UNSETENV("A"));
	CHECK_ENVIRONMENT(twice, "B=2 ", ASPAWN_UNSETENV("A"));
	CHECK_ENVIRONMENT(twice, "B=2 A=5 ", ASPAWN_SETENV("A", "5"));
}

TEST(clearenv_removes_all)
{
	need_own_environment();
	CHECK_ENVIRONMENT(three, "", ASPAWN_CLEARENV());
	CHECK_ENVIRONMENT(nothing, "", ASPAWN_CLEARENV());
	CHECK_ENVIRONMENT(NULL, "A=1 ", ASPAWN_CLEARENV(), ASPAWN_SETENV("A", "1"));
}

TEST(environment_actions_are_done_in_their_order)
{
	need_own_environment();
	CHECK_ENVIRONMENT(three, "B=2 AB=3 ", ASPAWN_SETENV("A", "9"), ASPAWN_UNSETENV("A"));
	CHECK_ENVIRONMENT(three, "B=2 AB=3 A=9 ", ASPAWN_UNSETENV("A"), ASPAWN_SETENV("A", "9"));
	CHECK_ENVIRONMENT(three, "", ASPAWN_SETENV("C", "9"), ASPAWN_CLEARENV());
	CHECK_ENVIRONMENT(three, "C=9 ", ASPAWN_CLEARENV(), ASPAWN_SETENV("C", "9"));
	CHECK_ENVIRONMENT(three, "D=5 ", ASPAWN_SETENV("C", "9"), ASPAWN_CLEARENV(),
			  ASPAWN_SETENV("D", "5"), ASPAWN_UNSETENV("C"));
	/* Other actions in between change nothing. */
	CHECK_ENVIRONMENT(three, "A=1 B=2 C=9 ", ASPAWN_UMASK(0), ASPAWN_SETENV("C", "9"),
			  ASPAWN_CHDIR("/"), ASPAWN_UNSETENV("AB"), ASPAWN_CLOSEFROM(3));
}

/* A string without '=' is passed on; no name matches it. */
TEST(environment_strings_without_an_equals_sign_are_kept)
{
	static char *const odd[] = { (char *)"A", (char *)"", (char *)"=B", (char *)"AB=1", NULL };

	need_own_environment();
	CHECK_ENVIRONMENT(odd, "A  =B AB=1 ", ASPAWN_UMASK(0));
	CHECK_ENVIRONMENT(odd, "A  =B C=1 ", ASPAWN_SETENV("C", "1"), ASPAWN_UNSETENV("AB"));
	CHECK_ENVIRONMENT(odd, "", ASPAWN_CLEARENV());
}

extern char **environ __attribute__((weak));

/* The environment is the caller's current environ, and empty without a libc. */
TEST(without_envp_the_environment_is_environ)
{
	char one[] = "ONE=1", *changed[] = { one, NULL };

	need_own_environment();
	if (!&environ) {
		check_environment(NULL, "", NULL, 0);
		CHECK_ENVIRONMENT(NULL, "A=1 ", ASPAWN_SETENV("A", "1"));
		CHECK_ENVIRONMENT(NULL, "", ASPAWN_UNSETENV("A"));
		return;
	}
	environ = changed;
	check_environment(NULL, "ONE=1 ", NULL, 0);
	CHECK_ENVIRONMENT(NULL, "ONE=1 A=1 ", ASPAWN_SETENV("A", "1"));
	CHECK_ENVIRONMENT(NULL, "", ASPAWN_UNSETENV("ONE"));
	CHECK_ENVIRONMENT(NULL, "", ASPAWN_CLEARENV());
	CHECK(environ == changed && changed[0] == one && !psys_strcmp(one, "ONE=1"));
	environ = NULL; /* as clearenv(3) leaves it */
	check_environment(NULL, "", NULL, 0);
	CHECK_ENVIRONMENT(NULL, "A=1 ", ASPAWN_SETENV("A", "1"));
}

TEST(start_copies_a_changed_environment)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_environment", NULL);
	char name[] = "NAME", value[] = "value", variable[] = "A=1", *envp[] = { variable, NULL },
	     shown[64];
	struct aspawn_action actions[2];
	struct aspawn_io io = { .size = sizeof io, .out = shown, .out_size = sizeof shown };

	need_own_environment();
	/* The child waits until this process opens the other end of the FIFO. */
	char path[64] = "/tmp/aspawn-environment-";
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	CHECK_EQUAL(psys_mknodat(PSYS_AT_FDCWD, path, PSYS_S_IFIFO | 0600, 0), 0);
	aspawn_action_open(&actions[0], 9, path, PSYS_O_RDONLY, 0);
	aspawn_action_setenv(&actions[1], name, value);
	command.envp = envp;
	command.actions = actions;
	command.action_count = 2;
	command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(&pool, &command);
	psys_memset(name, 'x', 4);
	psys_memset(value, 'x', 5);
	psys_memset(variable, 'x', 3);
	envp[0] = NULL;
	psys_memset(actions, 0xff, sizeof actions);
	psys_memset(&command, 0xff, sizeof command);
	int writer = psys_open(path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	CHECK(writer >= 0);
	CHECK_EQUAL(aspawn_communicate(&child, &io), 0);
	CHECK_EQUAL(psys_strcmp(shown, "A=1 NAME=value "), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, 0), 0);
}

static void check_name(int expected, struct aspawn_action action)
{
	struct aspawn_child child;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.actions = &action;
	command.action_count = 1;
	int r = aspawn_start(&child, &command);
	CHECK_EQUAL(r, expected);
	if (r == 0)
		check_ends(&child, 7 << 8);
	else
		CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
}

TEST(environment_actions_reject_an_invalid_name)
{
	static const char *const invalid[] = { NULL, "", "=", "A=", "=A", "A=B" };

	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
		check_name(-PSYS_EINVAL, (struct aspawn_action)ASPAWN_SETENV(invalid[i], "value"));
		check_name(-PSYS_EINVAL, (struct aspawn_action)ASPAWN_UNSETENV(invalid[i]));
	}
	check_name(-PSYS_EINVAL, (struct aspawn_action)ASPAWN_SETENV("A", NULL));
	check_name(0, (struct aspawn_action)ASPAWN_SETENV("A", ""));
	check_name(0, (struct aspawn_action)ASPAWN_SETENV(" ", "any byte but = is a name's"));
	check_name(0, (struct aspawn_action)ASPAWN_UNSETENV("A"));
}

/* PATH of the program's environment is searched, not the caller's. */
TEST(path_of_the_changed_environment_is_searched)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	static char *const elsewhere[] = { (char *)"PATH=/no such directory", NULL };
	char directory[64] = "/tmp/aspawn-path-", program[80];
	struct aspawn_child child;

	if (is_emulated())
		skip("the emulator is the file");
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(directory);
	psys_strlcpy(program, directory, sizeof program);
	psys_strlcpy(program + psys_strlen(program), "/program", 16);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, directory, 0755), 0);
	CHECK_EQUAL(psys_symlinkat(self.file, PSYS_AT_FDCWD, program), 0);
	const struct aspawn_action set[] = { ASPAWN_SETENV("PATH", directory) },
				   unset[] = { ASPAWN_SETENV("PATH", directory),
					       ASPAWN_UNSETENV("PATH") },
				   clear[] = { ASPAWN_SETENV("PATH", directory), ASPAWN_CLEARENV() };
	const struct {
		const struct aspawn_action *actions;
		size_t count;
		int status;
	} cases[] = { { set, 1, 7 << 8 },
		      { unset, 2, 127 << 8 },
		      { clear, 2, 127 << 8 },
		      { NULL, 0, 127 << 8 } };
	command.file = "program";
	command.envp = elsewhere;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int vfork = 0; vfork < 2; vfork++) {
			command.memory = vfork ? ASPAWN_MEMORY_SUSPENDED : ASPAWN_MEMORY_SHARED;
			command.actions = cases[i].actions;
			command.action_count = cases[i].count;
			child = start_command(NULL, &command);
			check_ends(&child, cases[i].status);
		}
	/* command.search_path takes precedence. */
	command.search_path = "/no such directory";
	command.actions = set;
	command.action_count = 1;
	child = start_command(NULL, &command);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, program, 0), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, directory, PSYS_AT_REMOVEDIR), 0);
}

/* The environment is larger than a page, and than one read. */
TEST(large_environments_can_be_changed)
{
	enum { variables = 2000 };
	static char text[variables][16];
	static char *envp[variables + 1];
	static char shown[65536];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_environment", NULL);
	const struct aspawn_action actions[] = { ASPAWN_UNSETENV("V7"), ASPAWN_SETENV("V8", "9"),
						 ASPAWN_SETENV("V9", "8") };
	struct aspawn_io io = { .size = sizeof io, .out = shown, .out_size = sizeof shown };
	size_t length = 0;

	need_own_environment();
	for (int i = 0; i < variables; i++) {
		size_t at = 0;
		text[i][at++] = 'V';
		at += (size_t)psys_i64_to_decimal(text[i] + at, i);
		psys_strlcpy(text[i] + at, "=x", 3);
		envp[i] = text[i];
		length += psys_strlen(text[i]) + 1;
	}
	command.envp = envp;
	command.actions = actions;
	command.action_count = 3;
	for (int vfork = 0; vfork < 2; vfork++) {
		command.memory = vfork ? ASPAWN_MEMORY_SUSPENDED : ASPAWN_MEMORY_SHARED;
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.out_length, length - 5);
		CHECK_EQUAL(psys_strcmp(shown + io.out_length - 10, "V8=9 V9=8 "), 0);
	}
}

/* A pass over the others for each would take longer than the test may. */
TEST(a_start_with_many_changes_of_the_environment_makes_one_pass)
{
	const int count = scaled(300000);
	const size_t size = ((size_t)count + 2) * sizeof(struct aspawn_action);
	char(*names)[8] = psys_mmap(NULL, (size_t)count * sizeof *names + size,
				    PSYS_PROT_READ | PSYS_PROT_WRITE,
				    PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_environment", NULL);

	CHECK(!PSYS_IS_ERROR(names));
	struct aspawn_action *actions = (struct aspawn_action *)(void *)(names + count);
	for (int i = 0; i < count; i++) {
		psys_i64_to_decimal(names[i], i);
		aspawn_action_setenv(&actions[i], names[i], "");
	}
	aspawn_action_clearenv(&actions[count]);
	aspawn_action_setenv(&actions[count + 1], "A", "1");
	need_own_environment();
	command.actions = actions;
	command.action_count = (size_t)count + 2;
	check_shown(&command, "A=1 ");
}
