/* Where a program is found, and which stage it is that fails. */
#include "observe.h"

/* golang/go#58964: which of the stages failed. */
static void check_stage(const char *file, const char *path, int step, int error, const char *text)
{
	static char *const envp[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	struct Stack_t stack = { 0 };
	struct aspawn_child child;
	struct aspawn_failure failure;
	char told[64];
	struct aspawn_command command = { .size = sizeof command, .file = file, .path = path, .envp = envp };

	for (int poll = 0; poll < 2; poll++) {
		command.flags = poll ? ASPAWN_COMMAND_POLL : 0;
		child = start_command(&stack, &command);
		CHECK_EQUAL(aspawn_started(&child, &failure, NULL), -error);
		CHECK_EQUAL(failure.error, error);
		CHECK_EQUAL(failure.step, step);
		check_ends(&child, 127 << 8);
		CHECK_EQUAL(aspawn_failure_text(told, sizeof told, &failure, &command),
			    psys_strlen(text));
		CHECK_EQUAL(psys_strcmp(told, text), 0);
		CHECK_EQUAL(aspawn_failure_text(told, sizeof told, NULL, &command), 0);
		CHECK_EQUAL(*told, '\0');
	}
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* In a directory of its own, that the test goes to. */
static void enter_directory(void)
{
	char path[64] = "/tmp/aspawn-suite-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	psys_i64_to_decimal(path + psys_strlen(path), psys_getpid());
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, path, 0755), 0);
	CHECK_EQUAL(psys_chdir(path), 0);
}

static void leave_directory(void)
{
	char path[PSYS_PATH_MAX];

	CHECK(psys_getcwd(path, sizeof path) > 0);
	CHECK_EQUAL(psys_chdir("/"), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, PSYS_AT_REMOVEDIR), 0);
}

static void make_file(const char *path, const char *text, unsigned mode)
{
	int fd = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_EXCL | PSYS_O_CLOEXEC, mode);

	CHECK(fd >= 0);
	CHECK_EQUAL(psys_write(fd, text, psys_strlen(text)), psys_strlen(text));
	psys_close(fd);
}

TEST(each_stage_has_its_name)
{
	char longest[PSYS_NAME_MAX + 2];

	psys_memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	check_stage("no-such-program", NULL, ASPAWN_STEP_SEARCH, PSYS_ENOENT,
		    "path search: ENOENT");
	check_stage("no-such-program", "", ASPAWN_STEP_SEARCH, PSYS_ENOENT, "path search: ENOENT");
	check_stage("", NULL, ASPAWN_STEP_SEARCH, PSYS_ENOENT, "path search: ENOENT");
	check_stage(longest, NULL, ASPAWN_STEP_SEARCH, PSYS_ENAMETOOLONG,
		    "path search: ENAMETOOLONG");
	check_stage("/no-such-program", NULL, ASPAWN_STEP_EXEC, PSYS_ENOENT, "exec: ENOENT");
	check_stage("/dev/null", NULL, ASPAWN_STEP_EXEC, PSYS_EACCES, "exec: EACCES");
	check_stage("null", "/no-such-directory:/dev", ASPAWN_STEP_EXEC, PSYS_EACCES,
		    "exec: EACCES");
	enter_directory();
	CHECK_EQUAL(psys_symlinkat("loop", PSYS_AT_FDCWD, "loop"), 0);
	check_stage("loop", "", ASPAWN_STEP_EXEC, PSYS_ELOOP, "exec: ELOOP"); /* no search */
	check_stage("loop", ":/dev", ASPAWN_STEP_SEARCH, PSYS_ENOENT, "path search: ENOENT");
	psys_unlinkat(PSYS_AT_FDCWD, "loop", 0);
	make_file("script", "#!/no such interpreter\n", 0755);
	make_file("text", "no program\n", 0755);
	check_stage("./script", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT, "interpreter: ENOENT");
	check_stage("script", ":/dev", ASPAWN_STEP_INTERPRETER, PSYS_ENOENT, "interpreter: ENOENT");
	if (!is_emulated())
		check_stage("text", ".", ASPAWN_STEP_EXEC, PSYS_ENOEXEC, "exec: ENOEXEC");
	psys_unlinkat(PSYS_AT_FDCWD, "script", 0);
	psys_unlinkat(PSYS_AT_FDCWD, "text", 0);
	leave_directory();
}

static void check_runs(const struct aspawn_command *command, int expected)
{
	struct Stack_t stack = { 0 };
	struct aspawn_child child = start_command(&stack, command);

	check_ends(&child, expected << 8);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(a_program_is_searched_for)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char path[] = "PATH=/no-such-directory:here", *with_path[] = { path, NULL };
	static const struct aspawn_action deeper[] = { ASPAWN_CHDIR("here") };

	if (is_emulated())
		skip("the emulator is the file");
	enter_directory();
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "here", 0755), 0);
	CHECK_EQUAL(psys_symlinkat(self.file, PSYS_AT_FDCWD, "here/program"), 0);
	command.file = "program";
	command.path = "/dev:here";
	check_runs(&command, 7);
	command.path = NULL;
	check_runs(&command, 127);
	command.envp = with_path;
	check_runs(&command, 7);

	/* Relative to where the child went, as execvp has it; or to where the parent is. */
	command.actions = deeper;
	command.action_count = 1;
	check_runs(&command, 127);
	command.path = "";
	check_runs(&command, 7);
	command.path = NULL;
	command.flags = ASPAWN_COMMAND_PARENT_DIRECTORY;
	check_runs(&command, 7);
	command.file = "here/program";
	check_runs(&command, 7);
	command.file = "./program";
	check_runs(&command, 127);
	command.file = self.file; /* absolute: whatever has become of the directory */
	check_runs(&command, 7);
	command.file = "./program";
	command.flags = 0;
	check_runs(&command, 7);
	psys_unlinkat(PSYS_AT_FDCWD, "here/program", 0);
	psys_unlinkat(PSYS_AT_FDCWD, "here", PSYS_AT_REMOVEDIR);
	leave_directory();
}

static void check_text(int step, int error, const char *expected)
{
	const struct aspawn_failure failure = { step, error };
	char text[64] = "unchanged";

	CHECK_EQUAL(aspawn_failure_text(text, sizeof text, &failure, NULL), psys_strlen(expected));
	CHECK_EQUAL(psys_strcmp(text, expected), 0);
}

/* It said "none: 0". */
TEST(where_nothing_failed_there_is_no_text)
{
	check_text(ASPAWN_STEP_NONE, 0, "");
	check_text(ASPAWN_STEP_NONE, PSYS_ETIMEDOUT, "ETIMEDOUT");
	check_text(ASPAWN_STEP_NONE, PSYS_ECHILD, "ECHILD");
	check_text(ASPAWN_STEP_CLONE, PSYS_EAGAIN, "clone: EAGAIN");
	check_text(3, PSYS_EPERM, "action 3: EPERM");
}
