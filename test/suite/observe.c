/* SPDX-License-Identifier: MIT */
#include "observe.h"

#include "../../aspawn/caller/handle.h"

bool is_emulated(void)
{
	return psys_getenv(environment, "SUITE_EMULATOR");
}

bool may_mount(void)
{
	int pid = fork_child();

	if (pid == 0)
		psys_exit_group(psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
				psys_mount(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) <
					0);
	return reap(pid) == 0;
}

struct aspawn_command command_in_role(struct self *self, const char *role, const char *argument)
{
	self_in_role(self, role, argument);
	return (struct aspawn_command){ .size = sizeof(struct aspawn_command),
					.file = self->file,
					.argv = (char *const *)(uintptr_t)self->argv,
					.envp = environment };
}

struct aspawn_child start_command(struct aspawn_pool *pool, const struct aspawn_command *command)
{
	struct aspawn_command in_pool = *command;
	struct aspawn_child child;

	if (pool)
		in_pool.pool = pool;
	CHECK_EQUAL(aspawn_start(&child, &in_pool), 0);
	return child;
}

int pid_of(struct aspawn_child *child)
{
	int pid;

	while ((pid = aspawn_pid(child)) == -PSYS_EAGAIN)
		continue;
	CHECK(pid > 0);
	return pid;
}

void release_pool(struct aspawn_pool *pool)
{
	int r;

	while ((r = aspawn_pool_release(pool)) == -PSYS_EBUSY)
		sleep_ms(1);
	CHECK_EQUAL(r, 0);
}

const struct Stack_t *stack_of(struct aspawn_child *child)
{
	return &child_state(child)->stack;
}

int why_not_started(struct aspawn_child *child)
{
	struct aspawn_failure failure;
	int r = aspawn_wait_started(child, &failure, -1);

	CHECK_EQUAL(r, failure.error ? -PSYS_ECANCELED : 0);
	return failure.error;
}

void check_ends(struct aspawn_child *child, int expected)
{
	struct aspawn_failure failure;
	int status = -1;
	int r = aspawn_wait(child, &status, NULL, -1);

	CHECK(r == 0 || r == -PSYS_ECANCELED);
	CHECK_EQUAL(status, expected);
	CHECK_EQUAL(aspawn_pid(child), -PSYS_EINVAL);
	if (r == 0)
		return;
	CHECK_EQUAL(aspawn_wait_started(child, &failure, 0), -PSYS_ECANCELED);
	if (failure.error == -PSYS_ECHILD)
		CHECK(PSYS_WIFSIGNALED(status));
	else
		CHECK_EQUAL(status, 127 << 8);
}

struct observation observe(const struct aspawn_action *actions, size_t count, const char *what)
{
	struct observation seen = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", what);
	struct aspawn_io io = { .size = sizeof io, .out = seen.text, .out_size = sizeof seen.text };
	struct aspawn_child child;

	command.std_in = ASPAWN_STREAM_NULL;
	command.std_out = ASPAWN_STREAM_PIPE;
	command.actions = count ? actions : NULL;
	command.action_count = count;
	seen.result = aspawn_start(&child, &command);
	if (seen.result < 0)
		return seen;
	seen.result = aspawn_communicate(&child, &io);
	seen.status = io.status;
	seen.outcome = io.outcome;
	seen.mode = aspawn_describe(&child, ASPAWN_FACT_MODE);
	seen.failure = io.failure;
	return seen;
}

/* Prints the observation before a check fails. */
static void report(const struct observation *seen, const char *what)
{
	note(what, seen->result);
	note("end:", seen->outcome);
	note("step:", seen->failure.step);
	note(psys_errname(seen->failure.error), seen->failure.error);
	note("status:", seen->status);
	note(seen->text, (int)psys_strlen(seen->text));
}

void check_shows(const char *file, int line, const char *text, const char *what,
		 const struct aspawn_action *actions, size_t count)
{
	struct observation seen = observe(actions, count, what);

	if (seen.result == 0 && seen.status == 0 && seen.outcome == ASPAWN_OUTCOME_RAN &&
	    seen.failure.error == 0 && !psys_strcmp(seen.text, text))
		return;
	report(&seen, what);
	check_failed(file, line, text);
}

void check_fails(const char *file, int line, int step, int error,
		 const struct aspawn_action *actions, size_t count)
{
	struct observation seen = observe(actions, count, "");

	if (seen.result == -PSYS_ECANCELED && seen.outcome == ASPAWN_OUTCOME_NOT_STARTED &&
	    seen.failure.step == step && seen.failure.error == -error &&
	    seen.failure.kind == (step >= 0 ? actions[step].kind : 0) && seen.status == 127 << 8)
		return;
	report(&seen, "failed otherwise:");
	check_failed(file, line, psys_errname(error));
}

static void say(const char *text)
{
	psys_write(1, text, psys_strlen(text));
}

static void say_number(int64_t number)
{
	char text[PSYS_DECIMAL_SIZE];

	psys_i64_to_decimal(text, number);
	say(text);
}

/* Returns the number after the colon: "limit:7". */
static int argument_of(const char *what)
{
	int number = 0;

	what = psys_strchrnul(what, ':');
	for (what += *what == ':'; *what >= '0' && *what <= '9'; what++)
		number = number * 10 + (*what - '0');
	return number;
}

static bool is(const char *what, const char *name)
{
	return !psys_strncmp(what, name, psys_strlen(name));
}

static void show_file(int fd)
{
	char text[256];
	long length = psys_read(fd, text, sizeof text - 1);

	text[length > 0 ? length : 0] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = '\0';
	say(text);
}

static void show_directory(void)
{
	char path[PSYS_PATH_MAX];

	say(psys_getcwd(path, sizeof path) < 0 ? "none" : path);
}

/* Writes the open descriptors below 64. */
static void show_descriptors(void)
{
	bool first = true;

	for (int fd = 0; fd < 64; fd++) {
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) < 0)
			continue;
		if (!first)
			say(" ");
		first = false;
		say_number(fd);
	}
}

static void show_capabilities(void)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data data[2];

	if (psys_capget(&header, data) < 0)
		say("unknown");
	else
		say(data[0].permitted | data[1].permitted ? "some" : "none");
}

static void show_groups(void)
{
	unsigned groups[8];
	int count = psys_getgroups(8, groups);

	say_number(psys_getuid());
	say(" ");
	say_number(psys_getgid());
	for (int i = 0; i < count; i++) {
		say(" ");
		say_number(groups[i]);
	}
}

/* Returns 100 if SIGHUP is ignored, 20 if a signal is blocked, and 1 for each other ignored
 * signal. */
static int count_inherited(void)
{
	struct psys_sigset mask = get_mask(), none;
	int count = get_disposition(PSYS_SIGHUP) == PSYS_SIG_IGN ? 100 : 0;

	psys_sigemptyset(&none);
	for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; i++)
		count += get_disposition(of_servers[i]) == PSYS_SIG_IGN;
	return count + (same_mask(mask, none) ? 0 : 20);
}

static void show_limit(int resource)
{
	struct psys_rlimit64 limit = { 0, 0 };

	psys_prlimit64(0, resource, NULL, &limit);
	say_number((int64_t)limit.rlim_cur);
	say(" ");
	say_number((int64_t)limit.rlim_max);
}

static void show_path(const char *path, int flags)
{
	int fd = psys_open(path, flags | PSYS_O_CLOEXEC, 0);

	if (fd < 0)
		say(psys_errname(fd));
	else
		show_file(fd);
}

static void show_terminal(void)
{
	int fd = psys_open("/dev/tty", PSYS_O_RDWR | PSYS_O_CLOEXEC, 0), group = 0;

	if (fd >= 0)
		psys_ioctl(fd, PSYS_TIOCGPGRP, (uintptr_t)&group);
	say(fd < 0 ? "none" : group == psys_getpgid(0) ? "foreground" : "background");
}

static int get_prctl(int option, int argument)
{
	int value = 0;

	if (option != PSYS_PR_GET_PDEATHSIG)
		return psys_prctl(option, (unsigned long)argument, 0, 0, 0);
	psys_prctl(option, (uintptr_t)&value, 0, 0, 0);
	return value;
}

ROLE(shows)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *rest = psys_strchrnul(what, ':');
	int number = argument_of(what);
	struct psys_sigset mask = get_mask();
	struct psys_utsname name;
	unsigned long cpus[16] = { 0 };

	rest += *rest == ':';
	if (is(what, "directory"))
		show_directory();
	else if (is(what, "descriptors"))
		show_descriptors();
	else if (is(what, "descriptor:"))
		say(psys_fcntl(number, PSYS_F_GETFD, 0) < 0 ? "closed" : "open");
	else if (is(what, "reads:"))
		show_file(number);
	else if (is(what, "path:"))
		show_path(rest, PSYS_O_RDONLY);
	else if (is(what, "writes:"))
		show_path(rest, PSYS_O_WRONLY);
	else if (is(what, "umask"))
		say_number(psys_umask(0));
	else if (is(what, "session"))
		say(psys_getsid(0) == psys_getpid() ? "leader" : "member");
	else if (is(what, "group"))
		say(psys_getpgid(0) == psys_getpid() ? "leader" : "member");
	else if (is(what, "limit:"))
		show_limit(number);
	else if (is(what, "nice"))
		say_number(20 - psys_getpriority(PSYS_PRIO_PROCESS, 0));
	else if (is(what, "scheduler"))
		say_number(psys_sched_getscheduler(0));
	else if (is(what, "affinity"))
		say(psys_sched_getaffinity(0, sizeof cpus, cpus) < 0 ? "none" :
		    cpus[0] == 1                                     ? "first" :
								       "others");
	else if (is(what, "ioprio"))
		say_number(psys_ioprio_get(PSYS_IOPRIO_WHO_PROCESS, 0));
	else if (is(what, "blocked:"))
		say(psys_sigismember(&mask, number) ? "blocked" : "open");
	else if (is(what, "ignored:"))
		say(get_disposition(number) == PSYS_SIG_IGN ? "ignored" : "default");
	else if (is(what, "inherited signals"))
		say_number(count_inherited());
	else if (is(what, "ids"))
		show_groups();
	else if (is(what, "hostname"))
		say(psys_uname(&name) < 0 ? "none" : name.nodename);
	else if (is(what, "personality"))
		say_number(psys_personality(0xffffffff) & 0x40000);
	else if (is(what, "prctl:"))
		say_number(get_prctl(number, 0));
	else if (is(what, "session keyring"))
		say_number(psys_keyctl(PSYS_KEYCTL_GET_KEYRING_ID,
				       (unsigned long)PSYS_KEY_SPEC_SESSION_KEYRING, 0, 0, 0));
	else if (is(what, "memory policy"))
		say_number(psys_get_mempolicy(&number, NULL, 0, NULL, 0) < 0 ? -1 : number);
	else if (is(what, "traced"))
		say_number(psys_ptrace(0 /* PTRACE_TRACEME */, 0, NULL, NULL));
	else if (is(what, "no_new_privs"))
		say_number(get_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0));
	else if (is(what, "securebits"))
		say_number(get_prctl(PSYS_PR_GET_SECUREBITS, 0));
	else if (is(what, "capabilities"))
		show_capabilities();
	else if (is(what, "bounding:"))
		say_number(get_prctl(PSYS_PR_CAPBSET_READ, number));
	else if (is(what, "ambient:"))
		say_number(psys_prctl(PSYS_PR_CAP_AMBIENT, 1 /* IS_SET */, (unsigned long)number, 0,
				      0));
	else if (is(what, "pdeathsig"))
		say_number(get_prctl(PSYS_PR_GET_PDEATHSIG, 0));
	else if (is(what, "terminal"))
		show_terminal();
	else if (is(what, "getppid"))
		say(psys_getppid() < 0 ? psys_errname(psys_getppid()) : "allowed");
	return 0;
}
