/* SPDX-License-Identifier: MIT */
/*
 * Gives random file actions and attributes to posix_spawn() of the library and of the libc. Either
 * the error, or what the program observes, must be the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/harness.h"
#include "newer.h"

/* --- both libraries ---------------------------------------------------------- */

#define FUNCTIONS(of)                              \
	of(posix_spawn);                           \
	of(posix_spawnp);                          \
	of(posix_spawn_file_actions_init);         \
	of(posix_spawn_file_actions_destroy);      \
	of(posix_spawn_file_actions_adddup2);      \
	of(posix_spawn_file_actions_addclose);     \
	of(posix_spawn_file_actions_addopen);      \
	of(posix_spawn_file_actions_addchdir_np);  \
	of(posix_spawn_file_actions_addfchdir_np); \
	of(posix_spawn_file_actions_addclosefrom_np)

#define DECLARE(function) __typeof__(function) *function
struct library {
	FUNCTIONS(DECLARE);
};

static struct library ours(void)
{
	struct library library;

#define TAKE(function) library.function = function
	FUNCTIONS(TAKE);
	return library;
}

static struct library libcs(void)
{
	struct library library;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (!libc)
		skip("the libc is not glibc, or is in the program");
#define FIND(function)                                           \
	do {                                                     \
		void *found = dlsym(libc, #function);            \
		if (!found)                                      \
			skip("the libc has no " #function);      \
		memcpy(&library.function, &found, sizeof found); \
	} while (0)
	FUNCTIONS(FIND);
	return library;
}

/* --- files and descriptors -------------------------------------------------------- */

static char workdir[] = "/tmp/aspawn-lists-XXXXXX";
static char report[64];

/* Opens the file with the number: the harness does not use the number. */
static void hold(int number, const char *path, int flags)
{
	int fd = open(path, flags);

	CHECK(fd >= 0);
	CHECK_EQUAL(dup3(fd, number, flags & O_CLOEXEC), number);
	close(fd);
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_CREAT | O_WRONLY, mode);

	CHECK(fd >= 0 && write(fd, "text\n", 5) == 5 && fchmod(fd, mode) == 0);
	close(fd);
}

static void make_directory(const char *program)
{
	CHECK(mkdtemp(workdir) && chdir(workdir) == 0 && mkdir("sub", 0755) == 0);
	snprintf(report, sizeof report, "%s/report", workdir);
	make_file("one", 0644);
	make_file("two", 0644);
	make_file("no-program", 0755);
	make_file("sub/one", 0600);
	CHECK_EQUAL(symlink(program, "sub/tool"), 0);
	hold(20, "one", O_RDONLY);
	hold(21, "two", O_WRONLY | O_APPEND);
	hold(22, "sub", O_RDONLY | O_DIRECTORY);
	hold(23, "one", O_RDWR | O_CLOEXEC);
	hold(24, "/dev/null", O_RDWR);
	hold(25, "sub/one", O_RDONLY | O_CLOEXEC);
}

/* Removes files made by actions, and the program. */
static void remove_made(void)
{
	static const char *const names[] = { "new",     "missing", "sub/new", "sub/missing",
					     "sub/two", "sub/sub", "report" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(names[i]);
}

static void remove_directory(void)
{
	static const char *const names[] = { "one", "two", "no-program", "sub/one", "sub/tool" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(names[i]);
	rmdir("sub");
	CHECK(chdir("/") == 0 && rmdir(workdir) == 0);
}

/* --- what the program observes ---------------------------------------------------- */

static void find_descriptors(int to)
{
	for (int fd = 0; fd < 64; fd++) {
		char path[32], target[128];
		struct stat status;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, target, sizeof target);
		if (fd == to || length < 0 || fstat(fd, &status))
			continue;
		dprintf(to, "%d %.*s %x %o\n", fd, (int)length, target,
			(unsigned)fcntl(fd, F_GETFL), (unsigned)status.st_mode);
	}
}

static void find_signals(int to)
{
	for (int signal = 1; signal < NSIG; signal++) {
		struct sigaction action;
		sigset_t mask;
		sigprocmask(SIG_SETMASK, NULL, &mask);
		if (sigismember(&mask, signal) == 1)
			dprintf(to, "blocked %d\n", signal);
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			dprintf(to, "ignored %d\n", signal);
	}
}

ROLE(finds)
{
	char directory[256] = "?";
	int to = open(argv[argc - 1], O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (to < 0 || !getcwd(directory, sizeof directory))
		return 1;
	dprintf(to, "in %s\nsession %d\ngroup %d\nscheduler %d\n", directory, getsid(0) == getpid(),
		getpgrp() == getpid(), sched_getscheduler(0));
	find_descriptors(to);
	find_signals(to);
	return 7;
}

/* --- requests -------------------------------------------------------------------- */

static char request[1024]; /* the request in words, for the report of a difference */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t length = strlen(request);
	va_list args;

	va_start(args, format);
	vsnprintf(request + length, sizeof request - length, format, args);
	va_end(args);
}

static int any(int count)
{
	return (int)(random() % count);
}

#define ANY(array) (array)[any((int)(sizeof(array) / sizeof *(array)))]

static const int numbers[] = { 0, 1, 2, 3, 20, 21, 22, 23, 24, 25, 26, 40, 40, -1, 1 << 24 };

static int add_any(const struct library *library, posix_spawn_file_actions_t *actions)
{
	static const char *const files[] = { "one",     "two",       "sub/one", "sub",
					     "missing", "/dev/null", "new",     "new" };
	static const char *const directories[] = { "sub", "sub", ".", "missing", "one", workdir };
	static const int flags[] = {
		O_RDONLY,
		O_WRONLY,
		O_RDWR,
		O_RDWR | O_CREAT,
		O_WRONLY | O_CREAT | O_EXCL,
		O_WRONLY | O_CREAT | O_APPEND,
		O_DIRECTORY | O_RDONLY,
		O_RDONLY | O_NONBLOCK,
	};
	const int a = ANY(numbers), b = ANY(numbers), flag = ANY(flags);
	const char *file = ANY(files), *to = ANY(directories);

	switch (any(10)) {
	case 0:
	case 1:
	case 2:
		say("dup2 %d %d; ", a, b);
		return library->posix_spawn_file_actions_adddup2(actions, a, b);
	case 3:
	case 4:
		say("close %d; ", a);
		return library->posix_spawn_file_actions_addclose(actions, a);
	case 5:
	case 6:
	case 7:
		say("open %d %s %o; ", a, file, (unsigned)flag);
		return library->posix_spawn_file_actions_addopen(actions, a, file, flag, 0640);
	case 8:
		if (a < 10) {
			say("closefrom %d; ", b);
			return library->posix_spawn_file_actions_addclosefrom_np(actions, b);
		}
		say("fchdir %d; ", a);
		return library->posix_spawn_file_actions_addfchdir_np(actions, a);
	default:
		say("chdir %s; ", to);
		return library->posix_spawn_file_actions_addchdir_np(actions, to);
	}
}

static void set_any(posix_spawnattr_t *attributes)
{
	static const short flags[] = {
		POSIX_SPAWN_SETPGROUP,     POSIX_SPAWN_SETSIGDEF, POSIX_SPAWN_SETSIGMASK,
		POSIX_SPAWN_SETSID,        POSIX_SPAWN_RESETIDS,  POSIX_SPAWN_SETSCHEDULER,
		POSIX_SPAWN_SETSCHEDPARAM,
	};
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_BATCH, SCHED_IDLE, 99 };
	static const int groups[] = { 0, 0, 0, 1 << 28, -1 };
	const struct sched_param param = { any(8) ? 0 : 200 };
	sigset_t mask, defaults;
	short set = 0;

	sigemptyset(&mask);
	sigemptyset(&defaults);
	for (int i = any(4); i > 0; i--) {
		sigaddset(&mask, 1 + any(NSIG - 1));
		sigaddset(&defaults, any(2) ? SIGPIPE : 1 + any(NSIG - 1));
	}
	if (!any(8))
		sigfillset(&defaults);
	for (int i = any(3); i > 0; i--)
		set |= ANY(flags);
	const int policy = ANY(policies), group = ANY(groups);
	posix_spawnattr_setflags(attributes, set);
	posix_spawnattr_setsigmask(attributes, &mask);
	posix_spawnattr_setsigdefault(attributes, &defaults);
	posix_spawnattr_setpgroup(attributes, group);
	posix_spawnattr_setschedpolicy(attributes, policy);
	posix_spawnattr_setschedparam(attributes, &param);
	say("flags %x group %d policy %d priority %d; ", (unsigned)set, group, policy,
	    param.sched_priority);
}

/* Holds the errors of the functions in their order, and the result of the spawn. */
struct outcome {
	int errors[16];
	int error, status;
	char text[8192];
};

static void run(struct outcome *outcome, const struct library *library, const struct self *self,
		unsigned seed)
{
	static const char *const wrong[] = {
		"/missing", "sub", "no-program", "./no-program", "one/x", "tool", ""
	};
	char *const *argv = (char *const *)(uintptr_t)self->argv;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = -5;

	memset(outcome, 0, sizeof *outcome);
	*request = '\0';
	remove_made();
	srandom(seed);
	CHECK_EQUAL(library->posix_spawn_file_actions_init(&actions), 0);
	CHECK_EQUAL(posix_spawnattr_init(&attributes), 0);
	for (int i = 0, count = any(7); i < count; i++)
		outcome->errors[i] = add_any(library, &actions);
	set_any(&attributes);
	const char *file = any(4) ? self->file : ANY(wrong);
	const bool searches = any(2);
	say("%s %s", searches ? "search" : "execute", file);
	outcome->error = (searches ? library->posix_spawnp : library->posix_spawn)(
		&pid, file, &actions, &attributes, argv, environ);
	if (outcome->error) {
		CHECK_EQUAL(pid, -5);
		CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	} else {
		CHECK_EQUAL(waitpid(pid, &outcome->status, 0), pid);
		int fd = open(report, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			CHECK(read(fd, outcome->text, sizeof outcome->text - 1) >= 0);
		close(fd);
	}
	library->posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
}

static void handler(int signal)
{
	(void)signal;
}

/* FUZZ_LINES sets another number of lists. */
TEST_SECONDS(random_lists_equal_the_libcs_results, 3600)
{
	static struct outcome first, second;
	const struct library here = ours(), there = libcs();
	const char *wanted = getenv("FUZZ_LINES");
	const int count = wanted ? atoi(wanted) : scaled(1000);
	unsigned seed = wanted ? (unsigned)getpid() << 12 : 0;
	int ran = 0, failed = 0;
	struct rlimit limit;
	struct self self;

	if (!memory_is_shared())
		skip("where memory is a copy the libc's posix_spawn cannot tell errors");
	/* One of the numbers is above the limit. */
	CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	self_in_role(&self, "finds", report);
	make_directory(self.file);
	setenv("PATH", "sub:/no-such-directory", 1);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, handler);
	for (int i = 0; i < count; i++, seed++) {
		run(&second, &there, &self, seed);
		run(&first, &here, &self, seed);
		ran += first.status == 7 << 8;
		failed += first.error != 0;
		if (!memcmp(&first, &second, sizeof first))
			continue;
		printf("# seed %u: %s\n# ours %d %x\n%s# libc's %d %x\n%s", seed, request,
		       first.error, (unsigned)first.status, first.text, second.error,
		       (unsigned)second.status, second.text);
		fflush(stdout);
		for (size_t j = 0; j < 16; j++)
			CHECK_EQUAL(first.errors[j], second.errors[j]);
		CHECK(!"the same");
	}
	note("ran:", ran);
	note("failed:", failed);
	remove_made();
	remove_directory();
	CHECK(ran > count / 10 && failed > count / 10);
}
