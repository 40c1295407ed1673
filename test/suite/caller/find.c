/* SPDX-License-Identifier: MIT */
/* aspawn_find(): the child must find the same file. */
#include "observe.h"

static const char directory[] = "/tmp/aspawn-find-";

struct file {
	const char *name, *text;
	unsigned mode;
};

static const struct file files[] = {
	{ "here/data", "data\n", 0644 },
	{ "here/lost", "#!/no/such\n", 0755 },
	{ "here/locked", "#! here/data\n", 0755 },
	{ "here/loop", "#!here/loop\n", 0755 },
	{ "here/script", "#!here/program\targument\n", 0755 },
};

/* Changes to a new directory, where here/program is this program, and here/here a directory. */
static void make_files(const char *self, char *path)
{
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	psys_strlcpy(path, directory, 64);
	append_own_name(path);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, path, 0755), 0);
	CHECK_EQUAL(psys_chdir(path), 0);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "here", 0755), 0);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "here/here", 0755), 0);
	CHECK_EQUAL(psys_symlinkat(self, PSYS_AT_FDCWD, "here/program"), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = psys_open(files[i].name, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_CLOEXEC,
				   files[i].mode);
		CHECK_EQUAL(psys_write(fd, files[i].text, psys_strlen(files[i].text)),
			    psys_strlen(files[i].text));
		psys_close(fd);
	}
}

static void unmake_files(const char *path)
{
	CHECK_EQUAL(psys_chdir(path), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, files[i].name, 0), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, "here/program", 0), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, "here/here", PSYS_AT_REMOVEDIR), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, "here", PSYS_AT_REMOVEDIR), 0);
	CHECK_EQUAL(psys_chdir("/"), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, PSYS_AT_REMOVEDIR), 0);
}

/* Compares the answer with what is expected and, where it is certain, with what the child finds. */
static void check_found(const struct aspawn_command *command, int result, const char *path,
			int action)
{
	struct aspawn_io io = { .size = sizeof io };
	char found[PSYS_PATH_MAX] = "untouched";
	int uncertain = 12345;

	CHECK_EQUAL(aspawn_find(found, sizeof found, command, &uncertain), result);
	CHECK_EQUAL(aspawn_find(found, sizeof found, command, NULL), result);
	if (psys_strcmp(found, path))
		check_failed(__FILE__, __LINE__, found);
	CHECK_EQUAL(uncertain, action);
	if (action != ASPAWN_STEP_NONE)
		return;
	CHECK_EQUAL(aspawn_run(command, &io), result ? -PSYS_ECANCELED : 0);
	CHECK_EQUAL(result ? io.failure.error : io.status, result ? result : 7 << 8);
}

#define WITH(...)                                                                       \
	(command.actions = (const struct aspawn_action[]){ __VA_ARGS__ },               \
	 command.action_count = sizeof((const struct aspawn_action[]){ __VA_ARGS__ }) / \
				sizeof(struct aspawn_action))

TEST(a_file_is_found_as_the_child_finds_it)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char path[] = "PATH=/no-such-directory:here", *with_path[] = { path, NULL }, place[64];
	char longest[PSYS_NAME_MAX + 2], absolute[200];

	if (is_emulated())
		skip("the emulator is the file");
	make_files(self.file, place);
	psys_strlcpy(absolute, place, sizeof absolute);
	psys_strlcpy(absolute + psys_strlen(place), "/here/program", 50);
	command.file = "program";
	command.envp = with_path;
	check_found(&command, 0, "here/program", ASPAWN_STEP_NONE);
	command.search_path = "/dev:here/../here";
	check_found(&command, 0, "here/../here/program", ASPAWN_STEP_NONE);
	command.search_path = "/dev";
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	command.search_path = NULL;

	/* The program's environment has the PATH. */
	WITH(ASPAWN_SETENV("PATH", "no"), ASPAWN_SETENV("PATH", "/dev:./here"),
	     ASPAWN_UNSETENV("P"), ASPAWN_UMASK(0));
	check_found(&command, 0, "./here/program", ASPAWN_STEP_NONE);
	WITH(ASPAWN_UNSETENV("PATH"));
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	WITH(ASPAWN_SETENV("PATH", "here"), ASPAWN_CLEARENV());
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);

	/* Names are relative to the program's directory. */
	command.search_path = "/no:";
	WITH(ASPAWN_CHDIR("here"));
	check_found(&command, 0, "here/program", ASPAWN_STEP_NONE);
	WITH(ASPAWN_CHDIR("here"), ASPAWN_CHDIR("here"), ASPAWN_CHDIR(".."));
	check_found(&command, 0, "here/here/../program", ASPAWN_STEP_NONE);
	WITH(ASPAWN_CHDIR("/"), ASPAWN_CHDIR(place), ASPAWN_CHDIR("here"));
	check_found(&command, 0, absolute, ASPAWN_STEP_NONE);
	command.file = "./program";
	psys_strlcpy(absolute + psys_strlen(place), "/here/./program", 50);
	check_found(&command, 0, absolute, ASPAWN_STEP_NONE);
	command.file = self.file;
	check_found(&command, 0, self.file, ASPAWN_STEP_NONE);
	WITH(ASPAWN_CHDIR("here"));
	check_found(&command, 0, self.file, ASPAWN_STEP_NONE);
	command.file = "here/program";
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	command.flags = ASPAWN_COMMAND_RELATIVE_TO_CALLER;
	check_found(&command, 0, "here/program", ASPAWN_STEP_NONE);
	command.flags = 0;
	command.action_count = 0;

	/* What cannot be executed, without a search or with one. */
	command.file = "here/lost";
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	command.file = "here/locked";
	check_found(&command, -PSYS_EACCES, "", ASPAWN_STEP_NONE);
	command.file = "here/loop";
	check_found(&command, -PSYS_ELOOP, "", ASPAWN_STEP_NONE);
	command.file = "here/data";
	check_found(&command, -PSYS_EACCES, "", ASPAWN_STEP_NONE);
	command.file = "here/here";
	check_found(&command, -PSYS_EACCES, "", ASPAWN_STEP_NONE);
	command.file = "here/data/program";
	check_found(&command, -PSYS_ENOTDIR, "", ASPAWN_STEP_NONE);
	command.search_path = "here:/no";
	command.file = "lost";
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	command.file = "data";
	check_found(&command, -PSYS_EACCES, "", ASPAWN_STEP_NONE);
	psys_memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	command.file = longest;
	check_found(&command, -PSYS_ENAMETOOLONG, "", ASPAWN_STEP_NONE);
	command.file = "";
	check_found(&command, -PSYS_ENOENT, "", ASPAWN_STEP_NONE);
	unmake_files(place);
}

TEST(an_action_that_hides_files_makes_the_answer_uncertain)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char place[64], longest[PSYS_PATH_MAX + 1];

	if (is_emulated())
		skip("the emulator is the file");
	make_files(self.file, place);
	command.file = "program";
	command.search_path = "here";
	WITH(ASPAWN_UMASK(0), ASPAWN_DUP2(1, 2), ASPAWN_CHROOT("/"), ASPAWN_USER(1, 1, NULL, 0));
	check_found(&command, 0, "here/program", 2);
	WITH(ASPAWN_UMASK(0), ASPAWN_USER(1, 1, NULL, 0));
	check_found(&command, 0, "here/program", 1);
	WITH(ASPAWN_UNSHARE(PSYS_CLONE_NEWNS));
	check_found(&command, 0, "here/program", 0);
	command.file = "here/script";
	check_found(&command, 0, "here/script", 0);
	command.file = "no-such-program";
	check_found(&command, -PSYS_ENOENT, "", 0);

	/* The directory is unknown, or the child cannot enter it. */
	command.file = self.file;
	WITH(ASPAWN_FCHDIR(0), ASPAWN_CHROOT("/"));
	check_found(&command, 0, self.file, 0);
	WITH(ASPAWN_CHDIR("here"), ASPAWN_CHDIR("no"), ASPAWN_CHDIR("/"));
	check_found(&command, 0, self.file, 1);
	WITH(ASPAWN_CHDIR("here/data"));
	check_found(&command, 0, self.file, 0);
	psys_memset(longest, '/', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	WITH(ASPAWN_CHDIR(longest));
	check_found(&command, 0, self.file, 0);
	command.file = "program";
	WITH(ASPAWN_CHDIR(place), ASPAWN_CHDIR(""));
	check_found(&command, 0, "here/program", 1);
	WITH(ASPAWN_CHDIR("here"), ASPAWN_CHROOT("/"));
	command.flags = ASPAWN_COMMAND_RELATIVE_TO_CALLER;
	check_found(&command, 0, "here/program", 1);
	unmake_files(place);
}

TEST(a_search_without_a_buffer_or_a_command_is_refused)
{
	struct aspawn_command command = { .size = sizeof command, .file = "/dev/null" };
	char to[PSYS_PATH_MAX] = "untouched";
	int action = 5;

	CHECK_EQUAL(aspawn_find(NULL, sizeof to, &command, &action), -PSYS_ERANGE);
	CHECK_EQUAL(aspawn_find(to, sizeof to - 1, &command, &action), -PSYS_ERANGE);
	CHECK_EQUAL(aspawn_find(to, sizeof to, NULL, &action), -PSYS_EINVAL);
	command.file = NULL;
	CHECK_EQUAL(aspawn_find(to, sizeof to, &command, &action), -PSYS_EINVAL);
	command.size = 8;
	CHECK_EQUAL(aspawn_find(to, sizeof to, &command, &action), -PSYS_EINVAL);
	CHECK_EQUAL(psys_strcmp(to, "untouched"), 0);
	CHECK_EQUAL(action, 5);
}
