/* SPDX-License-Identifier: MIT */
/* Tests of the freestanding helpers: strings, numbers, error names, the search of PATH */
#include <aspawn/command.h>

#include "harness.h"

TEST(string_functions)
{
	char to[8];

	CHECK_EQUAL(psys_strlen(""), 0);
	CHECK_EQUAL(psys_strlen("four"), 4);
	CHECK(psys_strcmp("a", "b") < 0 && psys_strcmp("b", "a") > 0);
	CHECK(psys_strcmp("a", "ab") < 0 && psys_strcmp("same", "same") == 0);
	CHECK(psys_strcmp("\xff", "a") > 0); /* as unsigned characters */
	CHECK_EQUAL(psys_strncmp("abc", "abd", 2), 0);
	CHECK(psys_strncmp("abc", "abd", 3) < 0);
	CHECK_EQUAL(psys_memcmp("a\0b", "a\0b", 3), 0);
	CHECK(psys_memcmp("a\0b", "a\0c", 3) < 0);
	CHECK_EQUAL(*psys_strchrnul("a:b", ':'), ':');
	CHECK_EQUAL(*psys_strchrnul("ab", ':'), '\0');
	CHECK_EQUAL(psys_strlcpy(to, "fits", sizeof to), 4);
	CHECK_EQUAL(psys_strcmp(to, "fits"), 0);
	CHECK_EQUAL(psys_strlcpy(to, "is too long", sizeof to), 11);
	CHECK_EQUAL(psys_strcmp(to, "is too "), 0);
	CHECK_EQUAL(psys_strlcpy(to, "nothing", 0), 7);
	CHECK_EQUAL(to[0], 'i');
}

TEST(memory_functions)
{
	char from[64], to[64];

	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (char)i;
	for (size_t offset = 0; offset < 9; offset++)
		for (size_t length = 0; length < 32; length++) {
			psys_memset(to, '#', sizeof to);
			CHECK(psys_memcpy(to + offset, from + 3, length) == to + offset);
			CHECK_EQUAL(psys_memcmp(to + offset, from + 3, length), 0);
			CHECK_EQUAL(to[offset + length], '#');
			CHECK(!offset || to[offset - 1] == '#');
		}
}

TEST(numbers_to_decimal)
{
	static const struct {
		int64_t number;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 10, "10" },
		{ -1, "-1" },
		{ 1000000007, "1000000007" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	char text[PSYS_DECIMAL_SIZE];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CHECK_EQUAL(psys_i64_to_decimal(text, cases[i].number), psys_strlen(cases[i].text));
		CHECK_EQUAL(psys_strcmp(text, cases[i].text), 0);
	}
	CHECK_EQUAL(psys_u64_to_decimal(text, UINT64_MAX), 20);
	CHECK_EQUAL(psys_strcmp(text, "18446744073709551615"), 0);
}

TEST(error_names_and_messages)
{
	CHECK_EQUAL(psys_strcmp(psys_errname(PSYS_ENOENT), "ENOENT"), 0);
	CHECK_EQUAL(psys_strcmp(psys_errname(-PSYS_ENOENT), "ENOENT"), 0);
	CHECK_EQUAL(psys_strcmp(psys_errname(PSYS_EHWPOISON), "EHWPOISON"), 0);
	CHECK_EQUAL(psys_strcmp(psys_strerror(-PSYS_EPERM), "operation not permitted"), 0);
	CHECK_EQUAL(psys_strcmp(psys_strerror(0), "unknown error"), 0);

	/* No two numbers have the same name. */
	for (int error = 1; error < 1200; error++) {
		const char *name = psys_errname(error);
		for (int other = 1; *name == 'E' && other < error; other++)
			CHECK(psys_strcmp(name, psys_errname(other)));
	}
}

TEST(errname_of_an_unknown_number_is_not_null)
{
	static const int numbers[] = { 0, 4095, -4095, 512, 100000, INT32_MAX, INT32_MIN };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		CHECK(psys_errname(numbers[i]) != NULL);
		CHECK_EQUAL(psys_strcmp(psys_errname(numbers[i]), "unknown error"), 0);
	}
}

TEST(a_failure_with_an_unknown_error_has_its_number)
{
	struct aspawn_failure failure = { ASPAWN_STEP_EXEC, -4000, 0, 0, "" };
	char text[32];

	aspawn_failure_text(text, sizeof text, &failure);
	CHECK_EQUAL(psys_strcmp(text, "exec: 4000"), 0);
	failure.error = -PSYS_EACCES;
	aspawn_failure_text(text, sizeof text, &failure);
	CHECK_EQUAL(psys_strcmp(text, "exec: EACCES"), 0);
}

TEST(getenv_finds_whole_names)
{
	char *envp[] = { "PATHOLOGY=1", "PATH=/a:/b", "EMPTY=", NULL };

	CHECK_EQUAL(psys_strcmp(psys_getenv(envp, "PATH"), "/a:/b"), 0);
	CHECK_EQUAL(psys_strcmp(psys_getenv(envp, "EMPTY"), ""), 0);
	CHECK(!psys_getenv(envp, "PAT") && !psys_getenv(envp, "NONE"));
}

/* ------------------------------------------------------- the search of PATH */

static const char *candidates(const char *path, const char *file)
{
	static char all[512];
	char one[64];
	size_t at = 0;
	int found;

	all[0] = '\0';
	while ((found = psys_find_exe(file, psys_strlen(file), one, &path, sizeof one - 1)) != 0) {
		at += psys_strlcpy(all + at, found < 0 ? "(too long)" : one, sizeof all - at);
		at += psys_strlcpy(all + at, " ", sizeof all - at);
	}
	return all;
}

TEST(an_empty_path_component_is_the_current_directory)
{
	CHECK_EQUAL(psys_strcmp(candidates("/bin:/usr/bin", "ls"), "/bin/ls /usr/bin/ls "), 0);
	CHECK_EQUAL(psys_strcmp(candidates("", "ls"), "ls "), 0);
	CHECK_EQUAL(psys_strcmp(candidates(":/bin", "ls"), "ls /bin/ls "), 0);
	CHECK_EQUAL(psys_strcmp(candidates("/bin:", "ls"), "/bin/ls ls "), 0);
	CHECK_EQUAL(psys_strcmp(candidates("/a::/b", "ls"), "/a/ls ls /b/ls "), 0);
	CHECK_EQUAL(psys_strcmp(candidates("relative", "ls"), "relative/ls "), 0);
}

/* The page behind the buffer faults. */
TEST(a_path_of_maximum_length_does_not_overflow)
{
	enum { page = 65536, most = 99 };
	char *memory = psys_mmap(NULL, 2 * page, PSYS_PROT_READ | PSYS_PROT_WRITE,
				 PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	char *to = memory + page - (most + 1);
	char directory[2 * most];

	CHECK(!PSYS_IS_ERROR(memory));
	CHECK_EQUAL(psys_mprotect(memory + page, page, PSYS_PROT_NONE), 0);
	for (size_t length = 0; length < sizeof directory - 1; length++) {
		const char *path = directory;

		psys_memset(directory, 'd', length);
		directory[length] = '\0';
		int found = psys_find_exe("file", 4, to, &path, most);
		CHECK_EQUAL(found, length + (length != 0) + 4 <= most ? 1 : -1);
		CHECK(!path);
		if (found == 1)
			CHECK_EQUAL(psys_strlen(to), length + (length != 0) + 4);
	}
	const char *path = "";
	CHECK_EQUAL(psys_find_exe("file", most + 1, to, &path, most), -1);
	path = NULL;
	CHECK_EQUAL(psys_find_exe("file", 4, to, &path, most), 0);
}

TEST(handle_execve_err_decides_if_the_search_goes_on)
{
	int denied = 0;

	CHECK_EQUAL(psys_handle_execve_err(-PSYS_ENOENT, &denied), 0);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_ENOTDIR, &denied), 0);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_ENAMETOOLONG, &denied), 0);
	CHECK_EQUAL(denied, 0);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_EACCES, &denied), 0);
	CHECK_EQUAL(denied, 1);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_ENOEXEC, &denied), -PSYS_ENOEXEC);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_E2BIG, &denied), -PSYS_E2BIG);
	CHECK_EQUAL(psys_handle_execve_err(-PSYS_ETXTBSY, &denied), -PSYS_ETXTBSY);
}

/* Makes a file in the test's own directory. */
static void make_file(const char *path, const char *content, unsigned mode)
{
	int fd = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_TRUNC | PSYS_O_CLOEXEC, mode);

	CHECK(fd >= 0);
	CHECK_EQUAL(psys_write(fd, content, psys_strlen(content)), psys_strlen(content));
	psys_close(fd);
}

static const char *make_directory(void)
{
	static char directory[64] = "/tmp/aspawn-suite-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(directory);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, directory, 0755), 0);
	CHECK_EQUAL(psys_chdir(directory), 0);
	return directory;
}

static void remove_directory(const char *directory)
{
	static const char *const names[] = { "script", "denied", "a/self", "a" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (psys_unlinkat(PSYS_AT_FDCWD, names[i], 0) < 0)
			psys_unlinkat(PSYS_AT_FDCWD, names[i], PSYS_AT_REMOVEDIR);
	psys_chdir("/");
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, directory, PSYS_AT_REMOVEDIR), 0);
}

static int try_exec(const char *file, const char *path, int flags)
{
	struct self self;
	int pid = fork_child();

	self_in_role(&self, "exit_7", NULL);
	if (!pid)
		psys_exit_group(
			-psys_execvpe(file, (char *const *)self.argv, environment, path, flags));
	return reap(pid);
}

/* Makes a link to this program. */
static void link_self(const char *path)
{
	struct self self;

	self_in_role(&self, "", NULL);
	CHECK_EQUAL(psys_symlinkat(self.file, PSYS_AT_FDCWD, path), 0);
}

TEST(execvpe_searches_as_execvp)
{
	const char *directory = make_directory();
	char name[300];

	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "a", 0755), 0);
	link_self("a/self");
	make_file("script", "exit 3\n", 0755);
	make_file("denied", "", 0644);

	CHECK_EQUAL(try_exec("self", "a", 0), 7);
	CHECK_EQUAL(try_exec("a/self", "", 0), 7);
	CHECK_EQUAL(try_exec("self", "/nowhere:script:a", 0), 7); /* ENOENT, ENOTDIR */
	CHECK_EQUAL(try_exec("self", "/nowhere:script", 0), PSYS_ENOENT);
	CHECK_EQUAL(try_exec("denied", "", 0), PSYS_EACCES);
	CHECK_EQUAL(try_exec("denied", ":/nowhere", 0), PSYS_EACCES); /* not ENOENT */
	CHECK_EQUAL(try_exec("", "a", 0), PSYS_ENOENT);
	CHECK_EQUAL(try_exec("script", "", 0), PSYS_ENOEXEC);
	CHECK_EQUAL(try_exec("self", "a", 1 << 20), PSYS_EINVAL);
	psys_memset(name, 'n', sizeof name - 1);
	name[256] = '\0';
	CHECK_EQUAL(try_exec(name, "a", 0), PSYS_ENAMETOOLONG);
	int shell = try_exec("script", "", PSYS_EXEC_SHELL);
	CHECK(shell == 3 || shell == PSYS_ENOENT); /* a bare kernel has no shell */
	remove_directory(directory);
}

static int try_shell(char *const argv[], int flags)
{
	int pid = fork_child();

	if (!pid)
		psys_exit_group(-psys_execve_or_shell("script", argv, environment, flags));
	return reap(pid);
}

TEST(a_shell_gets_the_arguments_of_the_script)
{
	static char *many[131074]; /* one more than a shell gets */
	char *const argv[] = { (char *)"name", (char *)"a", (char *)"b c", NULL };
	const char *directory = make_directory();

	make_file("script", "test \"$#$1$2\" = '2ab c' && exit 3\n", 0755);
	CHECK_EQUAL(try_shell(argv, 0), PSYS_ENOEXEC);
	CHECK_EQUAL(try_shell(argv, 2 * PSYS_EXEC_SHELL), PSYS_EINVAL);
	const int shell = try_shell(argv, PSYS_EXEC_SHELL);
	CHECK(shell == 3 || shell == PSYS_ENOENT); /* a bare kernel has no shell */
	for (size_t i = 0; i + 1 < sizeof many / sizeof *many; i++)
		many[i] = (char *)"";
	CHECK_EQUAL(try_shell(many, PSYS_EXEC_SHELL), PSYS_E2BIG);
	remove_directory(directory);
}

/* A directory in PATH is longer than any path. */
TEST(execvpe_skips_a_directory_that_is_too_long)
{
	static char path[3 * PSYS_PATH_MAX];
	const char *directory = make_directory();

	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, "a", 0755), 0);
	link_self("a/self");
	for (size_t length = PSYS_PATH_MAX - 10; length < PSYS_PATH_MAX + 10; length++) {
		psys_memset(path, 'd', length + 1);
		path[length + 1] = '\0';
		CHECK_EQUAL(try_exec("self", path, 0), PSYS_ENOENT);
		psys_strlcpy(path + length, ":a", 3);
		CHECK_EQUAL(try_exec("self", path, 0), 7);
	}
	remove_directory(directory);
}

/* The test uses the inline functions of unprefixed.h. */
TEST(unprefixed_names_work)
{
	const char *path = "/bin:/usr/bin";
	char to[16];
	int denied = 0;

	CHECK_EQUAL(find_exe("ls", 2, to, &path, sizeof to - 1), 1);
	CHECK_EQUAL(psys_strcmp(to, "/bin/ls"), 0);
	CHECK_EQUAL(psys_strcmp(path, "/usr/bin"), 0);
	CHECK_EQUAL(handle_execve_err(-PSYS_EACCES, &denied), 0);
	CHECK_EQUAL(denied, 1);
	CHECK_EQUAL(pure_syscall(PSYS_NR_getpid, 0, 0, 0, 0, 0, 0), psys_getpid());
}

/* ------------------------------------------- the same search, for other callers */

/* Returns the candidates of a search in which each fails with -ENOENT. */
static const char *searched(const char *file, const char *path, char *buffer, size_t size,
			    size_t prefix, int *error)
{
	static char all[1024];
	struct psys_search search;
	const char *candidate;
	size_t at = 0;

	all[0] = '\0';
	psys_search_begin(&search, file, path, buffer, size, prefix);
	while ((candidate = psys_search_next(&search))) {
		at += psys_strlcpy(all + at, candidate, sizeof all - at);
		at += psys_strlcpy(all + at, " ", sizeof all - at);
		if (!psys_search_continue(&search, -PSYS_ENOENT))
			break;
	}
	CHECK(!psys_search_next(&search));
	*error = search.error;
	return all;
}

TEST(a_search_has_the_candidates_of_execvp)
{
	static const struct {
		const char *file, *path, *candidates;
		int error;
	} cases[] = {
		{ "ls", "/bin:/usr/bin", "/bin/ls /usr/bin/ls ", PSYS_ENOENT },
		{ "ls", NULL, "/bin/ls /usr/bin/ls ", PSYS_ENOENT },
		{ "ls", ":a", "ls a/ls ", PSYS_ENOENT },
		{ "ls", "", "ls ", PSYS_ENOENT },
		{ "./ls", "/bin", "./ls ", PSYS_ENOENT },
		{ "/bin/ls", "/usr", "/bin/ls ", PSYS_ENOENT },
		{ "", "/bin", "", PSYS_ENOENT },
		{ "ls", "/a directory that is too long for this buffer:/bin", "/bin/ls ",
		  PSYS_ENOENT },
	};
	char buffer[32], name[300];
	int error;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *got =
			searched(cases[i].file, cases[i].path, buffer, sizeof buffer, 0, &error);
		CHECK_EQUAL(psys_strcmp(got, cases[i].candidates), 0);
		CHECK_EQUAL(error, -cases[i].error);
	}
	psys_memset(name, 'n', sizeof name);
	name[256] = '\0';
	CHECK_EQUAL(*searched(name, "/bin", buffer, sizeof buffer, 0, &error), '\0');
	CHECK_EQUAL(error, -PSYS_ENAMETOOLONG);
}

/* A command whose actions change the directory has the prefix. */
TEST(a_search_puts_a_directory_before_relative_candidates)
{
	char buffer[32] = "/was/here/";
	const size_t prefix = psys_strlen(buffer);
	int error;

	CHECK_EQUAL(psys_strcmp(searched("ls", ":/bin:a", buffer, sizeof buffer, prefix, &error),
				"/was/here/ls /bin/ls /was/here/a/ls "),
		    0);
	CHECK_EQUAL(psys_strcmp(searched("./ls", "", buffer, sizeof buffer, prefix, &error),
				"/was/here/./ls "),
		    0);
	CHECK_EQUAL(psys_strcmp(searched("/bin/ls", "", buffer, sizeof buffer, prefix, &error),
				"/bin/ls "),
		    0);
	CHECK_EQUAL(psys_strcmp(searched("./a-file-of-many-letters", "", buffer, sizeof buffer,
					 prefix, &error),
				""),
		    0);
	CHECK_EQUAL(error, -PSYS_ENAMETOOLONG);
	CHECK_EQUAL(psys_memcmp(buffer, "/was/here/", prefix), 0);
}

static int search_ends_with(const char *file, const char *path, const int *results)
{
	struct psys_search search;
	char buffer[64];

	psys_search_begin(&search, file, path, buffer, sizeof buffer, 0);
	while (psys_search_next(&search))
		if (!psys_search_continue(&search, *results++))
			break;
	return search.error;
}

TEST(a_search_reports_the_most_relevant_error)
{
#define ENDS_WITH(file, path, ...) search_ends_with(file, path, (const int[]){ __VA_ARGS__ })
	CHECK_EQUAL(ENDS_WITH("x", "a:b", -PSYS_ENOENT, -PSYS_ENOTDIR), -PSYS_ENOENT);
	CHECK_EQUAL(ENDS_WITH("x", "a:b", -PSYS_EACCES, -PSYS_ENOENT), -PSYS_EACCES);
	CHECK_EQUAL(ENDS_WITH("x", "a:b", -PSYS_ENOENT, -PSYS_ENOEXEC), -PSYS_ENOEXEC);
	CHECK_EQUAL(ENDS_WITH("x", "a:b", -PSYS_EACCES, -PSYS_ENOMEM), -PSYS_ENOMEM);
	CHECK_EQUAL(ENDS_WITH("x", "a:b:c", -PSYS_E2BIG), -PSYS_E2BIG);
	CHECK_EQUAL(ENDS_WITH("./x", "a:b", -PSYS_ENOTDIR), -PSYS_ENOTDIR);
	CHECK_EQUAL(ENDS_WITH("x", "", -PSYS_ELOOP), -PSYS_ELOOP);
}
