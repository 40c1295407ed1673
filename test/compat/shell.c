/* SPDX-License-Identifier: MIT */
/*
 * Tests which commands go to a shell. The drop-in's result of a command line must equal dash's
 * result, and if no shell was used also bash's result.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../compat/shell.h"
#include "../suite/harness.h"
#include "../suite/sanitizer.h"

enum way { OURS, DASH, BASH };

struct outcome {
	int status;
	char text[4096];
};

static bool is_direct(const char *command)
{
	struct section section;
	struct direct direct;

	CHECK_EQUAL(aspawn_compat_enter(&section), 0);
	bool answer = aspawn_compat_is_direct(command, &section, &direct);
	aspawn_compat_leave(&section);
	return answer;
}

static struct outcome outcome_of(const char *command, enum way way)
{
	struct outcome outcome = { 0 };
	int ends[2];
	size_t length = 0;
	ssize_t r;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		alarm(10);
		dup2(null, 0);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (way == OURS) {
			int status = system(command);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		}
		execl(way == DASH ? "/bin/dash" : "/bin/bash", "sh", "-c", "--", command, NULL);
		_exit(255);
	}
	close(ends[1]);
	while ((r = read(ends[0], outcome.text + length, sizeof outcome.text - 1 - length)) > 0)
		length += (size_t)r;
	close(ends[0]);
	CHECK(waitpid(pid, &outcome.status, 0) == pid);
	return outcome;
}

static void compare(const char *command, enum way way)
{
	struct outcome ours = outcome_of(command, OURS), shells = outcome_of(command, way);

	if (ours.status == shells.status && !strcmp(ours.text, shells.text))
		return;
	printf("# [%s] ours: %x %.300s# %s: %x %.300s\n", command, (unsigned)ours.status, ours.text,
	       way == DASH ? "dash" : "bash", (unsigned)shells.status, shells.text);
	fflush(stdout);
	CHECK(!"the same");
}

static void compare_all(const char *command)
{
	compare(command, DASH);
	if (is_direct(command) && access("/bin/bash", X_OK) == 0)
		compare(command, BASH);
}

/* The working directory has some programs, and PATH names nothing else. */
static char directory[] = "/tmp/aspawn-shell-XXXXXX";

static void make_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, mode);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	      fchmod(fd, mode) == 0);
	close(fd);
}

static void make_directory(void)
{
	static const char show[] = "#!/bin/sh\nprintf '%s:' \"$0\" \"$@\"; echo; exit $#\n";
	char path[64];

	if (readlink("/bin/sh", path, sizeof path) <= 0 || access("/bin/dash", X_OK) ||
	    strncmp(path, "dash", 4))
		skip("sh is not dash here");
	CHECK(mkdtemp(directory) && chdir(directory) == 0 && mkdir("bin", 0755) == 0 &&
	      mkdir("bin/subdirectory", 0755) == 0);
	snprintf(path, sizeof path, "%s/bin", directory);
	make_file("bin/show", show, 0755);
	make_file("bin/a-b.c+d_9", show, 0755);
	make_file("bin/-dash", show, 0755);
	make_file("bin/a%b", show, 0755);
	make_file("bin/set", show, 0755);
	make_file("bin/time", show, 0755);
	make_file("bin/denied", show, 0644);
	make_file("bin/script", "echo no interpreter $0 $#; exit 4\n", 0755);
	make_file("bin/broken", "#!/no/such/interpreter\n", 0755);
	make_file("bin/fails", "#!/bin/sh\necho to standard error >&2; exit 9\n", 0755);
	CHECK(clearenv() == 0 && setenv("PATH", path, 1) == 0 && setenv("PWD", directory, 1) == 0);
}

static void remove_directory(void)
{
	CHECK_EQUAL(chdir("/"), 0);
	pid_t pid = fork();
	if (pid == 0)
		execl("/bin/rm", "rm", "-r", directory, NULL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

TEST_SECONDS(commands_equal_the_shells_results, 60)
{
	static const struct {
		const char *command;
		bool direct;
	} rows[] = {
		{ "show", true },
		{ "show a b c", true },
		{ "  show\ta   b\t", true },
		{ "show -x --long=value key=value a,b a:b @ %1 + /a/b ../c .", true },
		{ "bin/show x", true },
		{ "./bin/show x", true },
		{ "a-b.c+d_9 x", true },
		{ "fails", true },
		{ "/bin/true", true },
		{ "/bin/false x", true },
		{ "/bin/echo words", true },
		/* not found, or not executable: the shell reports it */
		{ "nowhere", false },
		{ "./nowhere x", false },
		{ "denied", false },
		{ "bin/denied", false },
		{ "subdirectory", false },
		{ "bin/subdirectory", false },
		{ "bin", false },
		{ "script a b", true }, /* ENOEXEC: the shell interprets the script */
		{ "./bin/script a", true },
		{ "broken", true },
		/* empty commands */
		{ "", false },
		{ " \t ", false },
		/* expansions */
		{ "show $HOME", false },
		{ "show ${X-y}", false },
		{ "show `echo x`", false },
		{ "show $(echo x)", false },
		{ "show $((1+2))", false },
		{ "show *", false },
		{ "show b?n", false },
		{ "show [b]in", false },
		{ "show ~", false },
		{ "show ~/x", false },
		{ "show x=~", false },
		{ "show {a,b}", false },
		{ "show !", false },
		{ "show ^x", false },
		/* quotes */
		{ "show 'a b'", false },
		{ "show \"a b\"", false },
		{ "show a\\ b", false },
		{ "sh\\ow", false },
		{ "'show' x", false },
		{ "show 'unclosed", false },
		/* lists, pipes, redirections, groups */
		{ "show a; show b", false },
		{ "show a;", false },
		{ "show a && show b", false },
		{ "show a || show b", false },
		{ "show a | show b", false },
		{ "show a &", false },
		{ "show a\nshow b", false },
		{ "show a\n", false },
		{ "show >file", false },
		{ "show 2>&1", false },
		{ "show </dev/null", false },
		{ "(show a)", false },
		{ "{ show a; }", false },
		{ "show a)", false },
		{ "show # comment", false },
		{ "# comment", false },
		{ "show a#b", false },
		/* assignments */
		{ "A=b", false },
		{ "A=b show", false },
		{ "A=b show $A", false },
		{ "a+=b", false },
		{ "show =x", false },
		/* reserved words and builtins */
		{ "if true", false },
		{ "if true; then show a; fi", false },
		{ "for i in a b; do show $i; done", false },
		{ "while false; do show; done", false },
		{ "case x in x) show;; esac", false },
		{ "! show", false },
		{ "time", false },
		{ "echo words", false },
		{ "echo -n -e words", false },
		{ "printf %s words", false },
		{ "test a", false },
		{ "true", false },
		{ "false", false },
		{ ":", false },
		{ ". ./nowhere", false },
		{ "exit 5", false },
		{ "exec show a", false },
		{ "eval show a", false },
		{ "cd /", false },
		{ "pwd", false },
		{ "set -- a", false },
		{ "set -x", false },
		{ "command show a", false },
		{ "type show", false },
		{ "kill -0 1", false },
		{ "umask", false },
		{ "ulimit -n", false },
		{ "wait", false },
		{ "trap", false },
		{ "read x", false },
		{ "return 3", false },
		{ "export X", false },
		{ "unset X", false },
		{ "function x", false },
		{ "show() { :; }", false },
		{ "[", false },
		{ "[ a ]", false },
		{ "[[ a ]]", false },
		{ "..", false },
		{ ".", false },
		{ "-dash", false },
		{ "+x", false },
		{ "a%b", false },
		{ "%1", false },
		/* other bytes */
		{ "show \x01", false },
		{ "show a\rb", false },
		{ "show a\vb", false },
		{ "show \xc3\xa4", false },
		{ "show\xc2\xa0x", false },
	};

	make_directory();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (is_direct(rows[i].command) != rows[i].direct) {
			printf("# [%s]\n", rows[i].command);
			fflush(stdout);
			CHECK(!"direct as expected");
		}
		/* bash checks the name of a missing interpreter; dash and the kernel do not. */
		if (strcmp(rows[i].command, "broken") != 0 && !strstr(rows[i].command, "script"))
			compare_all(rows[i].command);
		else
			compare(rows[i].command, DASH);
	}
	note("commands:", (int64_t)(sizeof rows / sizeof *rows));
	remove_directory();
}

/* All builtins in the list of the installed bash, even if a file has the builtin's name. */
TEST(builtins_of_bash_go_to_the_shell)
{
	static const char show[] = "#!/bin/sh\necho a file\n";
	char word[64], path[80];
	int count = 0;

	if (access("/bin/bash", X_OK))
		skip("no bash");
	FILE *list = popen("/bin/bash -c 'compgen -b -k'", "r");
	CHECK(list);
	make_directory();
	while (fgets(word, sizeof word, list)) {
		word[strcspn(word, "\n")] = '\0';
		snprintf(path, sizeof path, "bin/%s", word);
		if (strcmp(word, ".") != 0)
			make_file(path, show, 0755);
		if (is_direct(word)) {
			printf("# [%s]\n", word);
			fflush(stdout);
			CHECK(!"a word of bash's own");
		}
		count++;
	}
	CHECK(pclose(list) == 0 && count > 60);
	remove_directory();
}

TEST(environments_equal_the_shells_results)
{
	static const struct {
		const char *name, *value;
		bool direct;
	} rows[] = {
		{ "HARMLESS", "x", true },
		{ "PWD", NULL, true },
		{ "PWD", "/usr", true },
		{ "PWD", "relative", true },
		{ "PWD", "/./", true },
		{ "IFS", "x", false },
		{ "OPTIND", "5", false },
		{ "PPID", "5", false },
		{ "PS4", "x", false },
		{ "ENV", "x", false },
		{ "BASH_ENV", "x", false },
		{ "BASH_FUNC_show%%", "() { echo function; }", false },
		{ "a.b", "x", false },
		{ "SHELLOPTS", "xtrace", false },
		{ "OLDPWD", "/usr", true },
		{ "OLDPWD", "/usr/../bin", true },
		{ "OLDPWD", "/nowhere", false },
		{ "OLDPWD", "/etc/passwd", false },
		{ "OLDPWD", "bin", false },
		{ "OLDPWD", "", false },
	};
	char before[64];

	make_directory();
	snprintf(before, sizeof before, "%s", getenv("PWD"));
	setenv("LC_ALL", "C", 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].value)
			setenv(rows[i].name, rows[i].value, 1);
		else
			unsetenv(rows[i].name);
		CHECK_EQUAL(is_direct("/usr/bin/env"), rows[i].direct);
		/* The order does not matter. */
		make_file(
			"sorted",
			"#!/bin/sh\n/usr/bin/env | /usr/bin/grep -v '^_=\\|^SHLVL=' | /usr/bin/sort\n",
			0755);
		if (strcmp(rows[i].name, "PPID") != 0) /* differs in each run */
			compare_all("./sorted");
		unsetenv(rows[i].name);
		setenv("PWD", before, 1);
	}
	const char *paths[] = { "bin:/bin", ":/bin", "/bin:~/bin", "/bin%builtin:/bin", "relative" };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		setenv("PATH", paths[i], 1);
		CHECK(!is_direct("show a"));
		compare("show a", DASH);
	}
	unsetenv("PATH");
	CHECK(!is_direct("ls"));
	remove_directory();
}

/* All variables known to bash, and some more. */
TEST_SECONDS(variables_equal_the_shells_results, 60)
{
	static const char *const values[] = { "/nowhere", "", "1" };
	/* clang-format off */
	static char names[400][32] = {
		"POSIXLY_CORRECT", "POSIX_PEDANTIC", "OLDPWD", "TMOUT", "MAIL", "MAILPATH", "MAILCHECK", "CDPATH",
		"GLOBIGNORE", "IGNOREEOF", "INPUTRC", "HISTCONTROL", "HISTFILE", "HISTIGNORE", "HISTSIZE",
		"HISTTIMEFORMAT", "FIGNORE", "EXECIGNORE", "CHILD_MAX", "COLUMNS", "LINES", "EMACS", "INSIDE_EMACS",
		"HOSTFILE", "HOME", "LANG", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "TERM",
		"TIMEFORMAT", "TMPDIR", "PROMPT_COMMAND", "PROMPT_DIRTRIM", "PS0", "FCEDIT", "EDITOR", "VISUAL",
		"SHELL", "USER", "LOGNAME", "TEXTDOMAIN", "TEXTDOMAINDIR", "auto_resume", "histchars", "FPATH",
	};
	/* clang-format on */
	char command[64];
	int count = 0, direct = 0;

	if (access("/bin/bash", X_OK))
		skip("no bash");
	while (*names[count])
		count++;
	FILE *list = popen("/usr/bin/env -i /bin/bash -c 'compgen -v' sh", "r");
	CHECK(list);
	while (count < 400 && fgets(names[count], sizeof *names, list)) {
		names[count][strcspn(names[count], "\n")] = '\0';
		count++;
	}
	CHECK_EQUAL(pclose(list), 0);
	make_directory();
	for (int i = 0; i < count; i++) {
		/* These variables are documented as different, or compared elsewhere. */
		if (!strcmp(names[i], "_") || !strcmp(names[i], "SHLVL") ||
		    !strcmp(names[i], "PATH") || !strcmp(names[i], "PWD"))
			continue;
		snprintf(command, sizeof command, "/usr/bin/printenv %.31s", names[i]);
		for (int j = 0; j < (scaled(20) == 20 ? 3 : 1); j++) {
			setenv(names[i], values[j], 1);
			if (is_direct(command)) {
				direct++;
				compare_all(command);
			}
			unsetenv(names[i]);
		}
	}
	note("passed on directly:", direct);
	CHECK(direct > count / 2);
	remove_directory();
}

/* A shell passes only the last duplicate on, and uses the last PATH to search. */
TEST(duplicate_variables_go_to_the_shell)
{
	static char path[64], path_again[64], pwd[64];
	static char numbered[513][16], *many[514];
	static char *const rows[][6] = {
		{ path, pwd, "A=1", "AB=1", "B=1" }, /* no duplicate */
		{ path, pwd, "Aa=1", "BB=1" },       /* no duplicate, but equal hashes */
		{ path, pwd, "A=1", "A=2" },         { path, pwd, "A=1", "B=1", "A=1" },
		{ "PATH=/nowhere", path, pwd },      { path, path_again, "PATH=/nowhere", pwd },
		{ path, pwd, "PWD=/usr" },
	};
	char **before;

	make_directory();
	before = environ;
	snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin", directory);
	strcpy(path_again, path);
	snprintf(pwd, sizeof pwd, "PWD=%s", directory);
	make_file(
		"bin/sorted",
		"#!/bin/sh\n/usr/bin/printenv A; /usr/bin/env | /usr/bin/grep -v '^_=\\|^SHLVL=' | /usr/bin/sort\n",
		0755);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		environ = (char **)(uintptr_t)rows[i];
		CHECK_EQUAL(is_direct("sorted"), i < 2);
		compare_all("sorted");
		compare_all("printenv A");
	}

	/* There are more variables than the limit. */
	for (int i = 0; i < 513; i++) {
		snprintf(numbered[i], sizeof numbered[i], "NAME%d=%d", i, i);
		many[i] = numbered[i];
	}
	environ = many;
	CHECK(!is_direct("/usr/bin/env"));
	many[512] = NULL;
	CHECK(is_direct("/usr/bin/env"));
	many[511] = numbered[0];
	CHECK(!is_direct("/usr/bin/env"));
	environ = before;
	remove_directory();
}

/* A shell keeps a PWD naming the directory through a symbolic link. */
TEST(directories_equal_the_shells_results)
{
	static const struct {
		const char *below;
		bool direct;
	} rows[] = {
		{ "", true },
		{ "/.local/link", true },
		{ "/.local/..link", true },
		{ "/.local/...", true },
		{ "/.local//link/", true },
		{ "/.local/../.local/link", false },
		{ "/./.local/link", false },
		{ "/.local/link/.", false },
		{ "/.local/link/../bin", false },
		/* in another directory */
		{ "/.local", true },
		{ "/.local/..", true },
		{ "/nowhere/..", true },
	};
	char name[128];

	make_directory();
	CHECK(mkdir(".local", 0755) == 0 && symlink("../bin", ".local/link") == 0);
	CHECK(symlink("../bin", ".local/..link") == 0 && symlink("../bin", ".local/...") == 0 &&
	      chdir("bin") == 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(name, sizeof name, "%s%s", directory, rows[i].below);
		setenv("PWD", name, 1);
		if (is_direct("/usr/bin/printenv PWD") != rows[i].direct) {
			printf("# [%s]\n", name);
			fflush(stdout);
			CHECK(!"direct as expected");
		}
		compare_all("/usr/bin/printenv PWD");
	}
	remove_directory();
}

TEST(set_id_programs_use_the_shell)
{
	if (geteuid())
		skip("not root");
	CHECK(clearenv() == 0 && setenv("PATH", "/usr/bin:/bin", 1) == 0);
	CHECK(is_direct("/bin/true"));
	CHECK_EQUAL(seteuid(1000), 0);
	CHECK(!is_direct("/bin/true"));
}

static int stop_calling;

static void *call_for_ever(void *arg)
{
	while (!__atomic_load_n(&stop_calling, __ATOMIC_RELAXED)) {
		FILE *file = popen("/bin/true", "r");
		if (file)
			pclose(file);
		system("/bin/true");
	}
	return arg;
}

TEST_SECONDS(forked_children_may_call_popen_and_system, 60)
{
	pthread_t threads[3];
	int status;

	if (HAS_ASAN)
		skip("ASan calls the libc's popen, which waits for a lock that nobody holds any more");
	for (int i = 0; i < 3; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, call_for_ever, NULL), 0);
	for (int i = 0; i < scaled(300); i++) {
		pid_t child = fork();
		if (child == 0) {
			FILE *file = popen("/bin/true", "r");
			_exit(file && pclose(file) == 0 && system("/bin/true") == 0 ? 0 : 1);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK_EQUAL(status, 0);
	}
	__atomic_store_n(&stop_calling, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

/* Makes random lines of words, blanks and special characters. Lines whose commands run at the same
 * time are left out, as their result differs in each run. FUZZ_LINES sets the number of lines. */
TEST_SECONDS(random_commands_equal_the_shells_results, 3600)
{
	static const char *const parts[] = {
		"show", "show",    "show",  "fails", "bin/show", "a",    "b",    "x=y", "-x",
		"--",   "nowhere", "shift", "time",  "echo",     "true", "exit", "7",   ".",
		"..",   "/",       ":",     ",",     "@",        "%",    "+",    "=",   "_",
		"^",    "!",       "#",     "~",     "$x",       "$?",   "*",    "?",   "[a]",
		"{",    "}",       "{a,b}", "(",     ")",        "'",    "\"",   "\\",  "`",
		"&&",   "||",      ";",     "<",     "in",       "if",   "then", "fi",  "do",
		"\n",   "\t",      "\xff",  "\x01",
	};
	const char *wanted = getenv("FUZZ_LINES");
	unsigned seed = wanted ? (unsigned)getpid() : 0;
	int direct = 0, count = wanted ? atoi(wanted) : scaled(400);

	make_directory();
	for (int i = 0; i < count; i++) {
		char line[256] = "";
		srandom(seed++);
		if (random() % 2)
			strcat(line, "show ");
		for (long n = random() % 7; n >= 0; n--) {
			strcat(line, parts[(unsigned long)random() %
					   (random() % 3 ? 26 : sizeof parts / sizeof *parts)]);
			strcat(line, random() % 3 ? " " : "");
		}
		if (strstr(line, "\\&") || strstr(line, "\\|") || strstr(line, "&&&") ||
		    strstr(line, "|||"))
			continue;
		direct += is_direct(line);
		compare_all(line);
	}
	note("executed directly:", direct);
	note("of:", count);
	CHECK(direct > count / 20);
	remove_directory();
}
