/* SPDX-License-Identifier: MIT */
/* The harness runs the tests one by one and writes TAP. */
#include "harness.h"

enum { STATUS_FAILED = 1, STATUS_SKIPPED = 77 };

char **environment;
static char own_path[PSYS_PATH_MAX];
static bool is_init;
static char run_name[2 * PSYS_DECIMAL_SIZE + 2]; /* "-" and two numbers */

/* A test's process and the harness share this memory. */
static struct report {
	char skipped[120];
} * report;

/* ------------------------------------------------------------------ output */

static struct line {
	char text[512];
	size_t length;
} line;

static void put(const char *text)
{
	size_t room = sizeof line.text - 1 - line.length;
	size_t length = psys_strlcpy(line.text + line.length, text, room);

	line.length += length < room ? length : room - 1;
}

static void put_number(int64_t number)
{
	char digits[PSYS_DECIMAL_SIZE];

	psys_i64_to_decimal(digits, number);
	put(digits);
}

/* Writes a whole line at once: a console has other writers. */
static void put_end(void)
{
	line.text[line.length++] = '\n';
	psys_write(1, line.text, line.length);
	line.length = 0;
}

void note(const char *text, int64_t number)
{
	put("# ");
	put(text);
	put(" ");
	put_number(number);
	put_end();
}

static void put_place(const char *file, int number, const char *what)
{
	put("#   ");
	put(file);
	put(":");
	put_number(number);
	put(": ");
	put(what);
}

void check_failed(const char *file, int number, const char *what)
{
	put_place(file, number, what);
	put_end();
	psys_exit_group(STATUS_FAILED);
}

void check_equal(const char *file, int number, const char *what, int64_t actual, int64_t expected)
{
	if (actual == expected)
		return;
	put_place(file, number, what);
	put(" -- is ");
	put_number(actual);
	put(", not ");
	put_number(expected);
	put_end();
	psys_exit_group(STATUS_FAILED);
}

void skip(const char *reason)
{
	psys_strlcpy(report->skipped, reason, sizeof report->skipped);
	psys_exit_group(STATUS_SKIPPED);
}

void need_call(long result, const char *reason)
{
	if (result == -PSYS_ENOSYS || result == -PSYS_EPERM)
		skip(reason);
}

/* ----------------------------------------------------------------- running */

/* Returns the status of the test's process, or -1 after a timeout. */
static int wait_for_test(int pid, int seconds)
{
	struct psys_timespec second = { 1, 0 };
	struct psys_sigset chld;
	int status;

	psys_sigemptyset(&chld);
	psys_sigaddset(&chld, PSYS_SIGCHLD);
	for (int64_t end = monotonic_ns() + seconds * INT64_C(1000000000);;) {
		if (psys_wait4(pid, &status, PSYS_WNOHANG, NULL) == pid)
			return status;
		if (monotonic_ns() > end)
			return -1;
		psys_rt_sigtimedwait(&chld, NULL, &second, PSYS_SIGSET_SIZE);
	}
}

static int run(const struct test *test)
{
	struct psys_sigset none;
	int pid = fork_child();

	if (pid == 0) {
		psys_sigemptyset(&none);
		psys_rt_sigprocmask(PSYS_SIG_SETMASK, &none, NULL, PSYS_SIGSET_SIZE);
		psys_setpgid(0, 0);
		test->run();
		psys_exit_group(0);
	}
	if (pid < 0)
		return -1;
	psys_setpgid(pid, pid);
	int status = wait_for_test(pid, test->seconds);
	psys_kill(-pid, PSYS_SIGKILL); /* and processes that the test left */
	if (status < 0)
		psys_wait4(pid, NULL, 0, NULL);
	if (status != 0 && status != STATUS_SKIPPED << 8)
		remove_lost_cgroups(pid, run_name);
	while (psys_wait4(-1, NULL, PSYS_WNOHANG, NULL) > 0)
		continue; /* orphans, as init */
	remove_files("/tmp", "aspawn-", run_name);
	return status;
}

/* Returns true if the test passed or was skipped. */
static bool run_and_report(const struct test *test, int number)
{
	report->skipped[0] = '\0';
	int status = run(test);
	if (status < 0 && psys_getenv(environment, "SUITE_EMULATOR")) {
		/* An emulator forks while its own threads run, and may deadlock. */
		note("once more, time was up after seconds:", test->seconds);
		status = run(test);
	}
	bool skipped =
		status >= 0 && PSYS_WIFEXITED(status) && PSYS_WEXITSTATUS(status) == STATUS_SKIPPED;
	bool passed = status == 0 || skipped;

	if (status < 0)
		note("time is up after seconds:", test->seconds);
	else if (PSYS_WIFSIGNALED(status))
		note("died of signal", PSYS_WTERMSIG(status));
	put(passed ? "ok " : "not ok ");
	put_number(number);
	put(" - ");
	put(test->name);
	if (skipped) {
		put(" # SKIP ");
		put(report->skipped);
	}
	put_end();
	return passed;
}

static int order(const struct test *a, const struct test *b)
{
	int files = psys_strcmp(a->file, b->file);

	return files ? files : psys_strcmp(a->name, b->name);
}

extern struct test *__start_suite_tests[], *__stop_suite_tests[];
extern struct role *__start_suite_roles[], *__stop_suite_roles[];

/* Sorts by file, then name, since the order of linkers differs. */
static void sort_tests(void)
{
	for (struct test **a = __start_suite_tests; a < __stop_suite_tests; a++)
		for (struct test **b = a; b > __start_suite_tests && order(b[-1], b[0]) > 0; b--) {
			struct test *swapped = b[0];
			b[0] = b[-1];
			b[-1] = swapped;
		}
}

/* Returns true if an argument is part of the test's name or of its file's, or without arguments. */
static bool is_wanted(const struct test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length = psys_strlen(argv[i]);

		for (const char *p = test->name; *p; p++)
			if (!psys_strncmp(p, argv[i], length))
				return true;
		for (const char *p = test->file; *p; p++)
			if (!psys_strncmp(p, argv[i], length))
				return true;
	}
	return argc < 2;
}

/* Returns the smallest alignment that mprotect accepts. */
static size_t page_size(void)
{
	char *map = psys_mmap(NULL, 131072, PSYS_PROT_NONE, PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS,
			      -1, 0);
	size_t size = 4096;

	while (psys_mprotect(map + size, 1, PSYS_PROT_NONE) == -PSYS_EINVAL)
		size *= 2;
	psys_munmap(map, 131072);
	return size;
}

/* The caller of the suite may have ignored signals and closed streams. */
static void begin_as_usual(void)
{
	const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
	struct psys_sigaction old[2]; /* QEMU 7.2 writes beyond one on riscv and loongarch */
	int fd;

	for (int signal = 1; signal <= PSYS_NSIG; signal++)
		if (psys_rt_sigaction(signal, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
		    old->handler == PSYS_SIG_IGN)
			psys_rt_sigaction(signal, &usual, NULL, PSYS_SIGSET_SIZE);
	do
		fd = psys_open("/dev/null", PSYS_O_RDWR, 0);
	while (fd >= 0 && fd <= 2);
	psys_close(fd);
}

static void name_run(void)
{
	size_t length = 1;

	run_name[0] = '-';
	length += psys_i64_to_decimal(run_name + length, psys_getpid());
	run_name[length++] = '-';
	psys_i64_to_decimal(run_name + length, (uint32_t)monotonic_ns() % 1000000);
}

void append_own_name(char *path)
{
	path += psys_strlen(path);
	path += psys_i64_to_decimal(path, psys_getpid());
	psys_strlcpy(path, run_name, sizeof run_name);
}

static int run_suite(int argc, char **argv)
{
	struct psys_sigset chld;
	struct psys_utsname name;
	int number = 0, failed = 0;

	begin_as_usual();
	name_run();
	report = shared_page();
	psys_sigemptyset(&chld);
	psys_sigaddset(&chld, PSYS_SIGCHLD);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &chld, NULL, PSYS_SIGSET_SIZE);

	put("TAP version 13");
	put_end();
	psys_uname(&name);
	put("# Linux ");
	put(name.release);
	put(" ");
	put(name.machine);
	put(" ");
	put_number((int64_t)page_size());
	put_end();
	sort_tests();
	for (struct test **test = __start_suite_tests; test < __stop_suite_tests; test++)
		if (is_wanted(*test, argc, argv))
			failed += !run_and_report(*test, ++number);
	put("1..");
	put_number(number);
	put_end();
	return failed != 0;
}

static int run_role(int argc, char **argv)
{
	for (struct role **role = __start_suite_roles; role < __stop_suite_roles; role++)
		if (!psys_strcmp((*role)->name, argv[0] + 1))
			return (*role)->run(argc, argv);
	return 125;
}

/* Runs as the init of a bare kernel, whose command line may name tests after "--". */
static _Noreturn void run_as_init(int argc, char **argv)
{
	psys_mount("proc", "/proc", "proc", 0, NULL);
	psys_mount("sys", "/sys", "sysfs", 0, NULL);
	psys_mount("dev", "/dev", "devtmpfs", 0, NULL);
	psys_mount("tmp", "/tmp", "tmpfs", 0, NULL);
	psys_mkdirat(PSYS_AT_FDCWD, "/dev/pts", 0755);
	psys_mount("pts", "/dev/pts", "devpts", 0, NULL);
	psys_symlinkat("/proc/self/fd", PSYS_AT_FDCWD, "/dev/fd");
	psys_strlcpy(own_path, "/init", sizeof own_path);
	is_init = true;
	run_suite(argc, argv);
	sleep_ms(200);                                             /* for the console */
	psys_reboot((int)0xfee1dead, 672274793, 0x4321fedc, NULL); /* POWER_OFF */
	psys_reboot((int)0xfee1dead, 672274793, 0x01234567, NULL); /* RESTART */
	psys_exit_group(1);
}

int main(int argc, char **argv, char **envp)
{
	environment = envp;
	if (psys_getpid() == 1 && !psys_strcmp(argv[0], "/init")) /* not the first of a container */
		run_as_init(argc, argv);
	if (psys_readlinkat(PSYS_AT_FDCWD, "/proc/self/exe", own_path, sizeof own_path - 1) <= 0)
		psys_strlcpy(own_path, argv[0], sizeof own_path);
	if (argc > 0 && argv[0][0] == '@')
		return run_role(argc, argv);
	return run_suite(argc, argv);
}

int scaled(int count)
{
	return is_init || psys_getenv(environment, "SUITE_QUICK") ? count / 50 : count;
}

ASPAWN_CHILD void self_in_role(struct self *self, const char *role, const char *argument)
{
	const char *emulator = psys_getenv(environment, "SUITE_EMULATOR");
	int n = 0;

	self->name[0] = '@';
	psys_strlcpy(self->name + 1, role, sizeof self->name - 1);
	self->file = emulator ? emulator : own_path;
	if (emulator) {
		self->argv[n++] = emulator;
		self->argv[n++] = "-0"; /* the program's argv[0] */
	}
	self->argv[n++] = self->name;
	if (emulator)
		self->argv[n++] = own_path;
	self->argv[n++] = argument;
	self->argv[n] = NULL;
}

ASPAWN_CHILD int exec_role(const char *role, const char *argument)
{
	struct self self;

	self_in_role(&self, role, argument);
	return psys_execve(self.file, (char *const *)self.argv, environment);
}
