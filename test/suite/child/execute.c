/* SPDX-License-Identifier: MIT */
/* Tests of the search for a program, and of the step that a failure names */
#include "observe.h"

static void check_failure_text(const struct aspawn_failure *failure, const char *text)
{
	char told[256];

	CHECK_EQUAL(aspawn_failure_text(told, sizeof told, failure), psys_strlen(text));
	CHECK_EQUAL(psys_strcmp(told, text), 0);
}

/* golang/go#58964: a failure names its step. */
static void check_stage(const char *file, const char *path, int step, int error, const char *text)
{
	static char *const envp[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_failure failure;
	struct aspawn_command command = {
		.size = sizeof command, .file = file, .search_path = path, .envp = envp
	};

	for (int poll = 0; poll < 2; poll++) {
		command.flags = poll ? ASPAWN_COMMAND_STARTED_FD : 0;
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -error);
		CHECK_EQUAL(failure.step, step);
		CHECK_EQUAL(failure.kind, 0);
		check_ends(&child, 127 << 8);
		check_failure_text(&failure, text);
		check_failure_text(NULL, "");
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* Changes to a new directory of the test. */
static void enter_directory(void)
{
	char path[64] = "/tmp/aspawn-suite-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
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

TEST(a_failure_names_its_step)
{
	char longest[PSYS_NAME_MAX + 2], too_long[200] = "search \"";

	psys_memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	psys_memset(too_long + 8, 'x', 111);
	psys_strlcpy(too_long + 119, "\": ENAMETOOLONG", 20);
	check_stage("no-such-program", NULL, ASPAWN_STEP_SEARCH, PSYS_ENOENT,
		    "search \"no-such-program\": ENOENT");
	check_stage("no-such-program", "", ASPAWN_STEP_SEARCH, PSYS_ENOENT,
		    "search \"no-such-program\": ENOENT");
	check_stage("", NULL, ASPAWN_STEP_SEARCH, PSYS_ENOENT, "search: ENOENT");
	check_stage(longest, NULL, ASPAWN_STEP_SEARCH, PSYS_ENAMETOOLONG, too_long);
	check_stage("/no-such-program", NULL, ASPAWN_STEP_EXEC, PSYS_ENOENT,
		    "exec \"/no-such-program\": ENOENT");
	check_stage("/dev/null", NULL, ASPAWN_STEP_EXEC, PSYS_EACCES, "exec \"/dev/null\": EACCES");
	check_stage("null", "/no-such-directory:/dev", ASPAWN_STEP_EXEC, PSYS_EACCES,
		    "exec \"null\": EACCES");
	enter_directory();
	CHECK_EQUAL(psys_symlinkat("loop", PSYS_AT_FDCWD, "loop"), 0);
	check_stage("loop", "", ASPAWN_STEP_EXEC, PSYS_ELOOP,
		    "exec \"loop\": ELOOP"); /* no search */
	check_stage("loop", ":/dev", ASPAWN_STEP_SEARCH, PSYS_ENOENT, "search \"loop\": ENOENT");
	psys_unlinkat(PSYS_AT_FDCWD, "loop", 0);
	make_file("text", "no program\n", 0755);
	if (!is_emulated())
		check_stage("text", ".", ASPAWN_STEP_EXEC, PSYS_ENOEXEC, "exec \"./text\": ENOEXEC");
	psys_unlinkat(PSYS_AT_FDCWD, "text", 0);
	leave_directory();
}

TEST(a_failure_names_the_missing_interpreter)
{
	static const char *const files[] = { "script", "args", "outer", "dos", "hidden" };

	enter_directory();
	make_file("script", "#!/no/such\n", 0755);
	make_file("args", "#! \t./no-such -x\n", 0755);
	make_file("outer", "#!./script", 0755);
	make_file("dos", "#!/bin/sh\r\n", 0755);
	make_file("hidden", "#!/no/such\n", 0111);
	check_stage("./script", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
		    "interpreter \"/no/such\": ENOENT");
	check_stage("script", ":/dev", ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
		    "interpreter \"/no/such\": ENOENT");
	check_stage("./args", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
		    "interpreter \"./no-such\": ENOENT");
	check_stage("./outer", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
		    "interpreter \"/no/such\": ENOENT");
	check_stage("./dos", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
		    "interpreter \"/bin/sh\\r\": ENOENT");
	if (psys_faccessat(PSYS_AT_FDCWD, "hidden", PSYS_R_OK) < 0) /* not root */
		check_stage("./hidden", NULL, ASPAWN_STEP_INTERPRETER, PSYS_ENOENT,
			    "interpreter \"./hidden\": ENOENT");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		psys_unlinkat(PSYS_AT_FDCWD, files[i], 0);
	leave_directory();
}

static void check_runs(const struct aspawn_command *command, int expected)
{
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_child child = start_command(&pool, command);

	check_ends(&child, expected << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_program_is_found_in_its_search_path)
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
	command.search_path = "/dev:here";
	check_runs(&command, 7);
	command.search_path = NULL;
	check_runs(&command, 127);
	command.envp = with_path;
	check_runs(&command, 7);

	/* Names are relative to the child's directory, as with execvp, or by a flag to the
	 * caller's. */
	command.actions = deeper;
	command.action_count = 1;
	check_runs(&command, 127);
	command.search_path = "";
	check_runs(&command, 7);
	command.search_path = NULL;
	command.flags = ASPAWN_COMMAND_RELATIVE_TO_CALLER;
	check_runs(&command, 7);
	command.file = "here/program";
	check_runs(&command, 7);
	command.file = "./program";
	check_runs(&command, 127);
	command.file = self.file; /* absolute: the directory does not matter */
	check_runs(&command, 7);
	command.file = "./program";
	command.flags = 0;
	check_runs(&command, 7);
	psys_unlinkat(PSYS_AT_FDCWD, "here/program", 0);
	psys_unlinkat(PSYS_AT_FDCWD, "here", PSYS_AT_REMOVEDIR);
	leave_directory();
}

/* The exec fails without the old directory: no file of the new directory is meant. */
TEST(nothing_is_relative_to_a_directory_that_is_gone)
{
	static const struct aspawn_action elsewhere[] = { ASPAWN_CHDIR("../here") };
	struct aspawn_command command = { .size = sizeof command,
					  .file = "./program",
					  .actions = elsewhere,
					  .action_count = 1,
					  .flags = ASPAWN_COMMAND_RELATIVE_TO_CALLER };
	struct aspawn_failure failure;

	enter_directory();
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "here", 0755), 0);
	make_file("here/program", "#!/bin/sh\n", 0755);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "gone", 0755), 0);
	CHECK_EQUAL(psys_chdir("gone"), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, "../gone", PSYS_AT_REMOVEDIR), 0);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_EXEC);
	CHECK_EQUAL(failure.error, -PSYS_ENOENT);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(psys_chdir(".."), 0);
	psys_unlinkat(PSYS_AT_FDCWD, "here/program", 0);
	psys_unlinkat(PSYS_AT_FDCWD, "here", PSYS_AT_REMOVEDIR);
	leave_directory();
}

static void check_text(int step, int error, const char *expected)
{
	const struct aspawn_failure failure = { .step = step, .error = -error };

	check_failure_text(&failure, expected);
}

/* The text was once "none: 0". */
TEST(no_failure_is_an_empty_text)
{
	check_text(ASPAWN_STEP_NONE, 0, "");
	check_text(3, 0, "");
	check_text(ASPAWN_STEP_NONE, PSYS_ETIMEDOUT, "ETIMEDOUT");
	check_text(ASPAWN_STEP_NONE, PSYS_ECHILD, "killed by a signal before the exec");
	check_text(ASPAWN_STEP_STREAMS, PSYS_EBADF, "streams: EBADF");
	check_text(3, PSYS_EPERM, "action 3: EPERM");
}

/* The calls that the manual tells a filter to allow: any other kills the child. */
static const struct psys_sock_filter only_named[] = {
	{ PSYS_BPF_LD | PSYS_BPF_W | PSYS_BPF_ABS, 0, 0, offsetof(struct psys_seccomp_data, nr) },
	{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 4, 0, PSYS_NR_execve },
	{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 3, 0, PSYS_NR_write },
	{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 2, 0, PSYS_NR_rt_sigprocmask },
	{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 1, 0, PSYS_NR_exit_group },
	{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_KILL_PROCESS },
	{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_ALLOW },
};

static void check_filtered(const char *file, int step, int error)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_COPIED, WAY_SUSPENDED,
					  WAY_PRIVATE };
	static const struct aspawn_action actions[] = {
		ASPAWN_NO_NEW_PRIVS(),
		ASPAWN_SECCOMP(only_named, sizeof only_named / sizeof *only_named),
	};
	/* A directory of PATH that may not be searched would give EACCES. */
	struct aspawn_command command = {
		.size = sizeof command, .file = file, .search_path = "/", .actions = actions
	};

	command.action_count = 2;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		struct aspawn_io io = { .size = sizeof io };

		set_way(&command, flags[i]);
		int r = aspawn_run(&command, &io);
		if (r == -PSYS_ECANCELED && io.failure.step >= 0)
			skip("no seccomp filters here");
		CHECK_EQUAL(r, -PSYS_ECANCELED);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(io.failure.step, step);
		CHECK_EQUAL(io.failure.error, -error);
		CHECK(PSYS_WIFSIGNALED(io.status) || PSYS_WEXITSTATUS(io.status) == 127);
	}
}

/* To find out why an exec has failed takes calls that the filter may not know. */
TEST(a_filter_that_kills_after_a_failed_exec_does_not_hide_the_failure)
{
	struct psys_rlimit64 none = { 0, 0 };

	if (is_emulated())
		skip("no seccomp in an emulator");
	/* Before Linux 5.16 a core dump kills every process sharing the memory. */
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL), 0);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	check_filtered("no-such-program", ASPAWN_STEP_SEARCH, PSYS_ENOENT);
	check_filtered("/no-such-program", ASPAWN_STEP_EXEC, PSYS_ENOENT);
	check_filtered("/dev/null", ASPAWN_STEP_EXEC, PSYS_EACCES);
	enter_directory();
	make_file("busy", "#!/no such interpreter\n", 0755);
	check_filtered("./busy", ASPAWN_STEP_EXEC, PSYS_ENOENT);
	int fd = psys_open("busy", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	struct aspawn_io io = { .size = sizeof io };
	CHECK_EQUAL(aspawn_run(ASPAWN_COMMAND("./busy"), &io), -PSYS_ECANCELED);
	/* ETXTBSY, but not in 6.11 */
	check_filtered("./busy", ASPAWN_STEP_EXEC, -io.failure.error);
	psys_close(fd);
	psys_unlinkat(PSYS_AT_FDCWD, "busy", 0);
	leave_directory();
}
