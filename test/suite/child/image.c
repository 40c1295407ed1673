/* SPDX-License-Identifier: MIT */
/* The tests are about commands that need their own memory: the library's image, or a copy of the
 * memory where there is no image. */
#include "held.h"
#include "observe.h"
#include "sanitizer.h"

static bool is_root(void)
{
	return psys_geteuid() == 0;
}

/* Skips a test where children are never in the image: in an emulator, in a build without it. */
static void needs_image(void)
{
	static const struct aspawn_action action = ASPAWN_RESUID(-1U, -1U, -1U);

	if (observe(&action, 1, "").mode != ASPAWN_MODE_IMAGE)
		skip("no image here");
}

/* Needs the image under filters too, which may kill the caller before Linux 5.16. */
static void needs_image_under_filters(void)
{
	needs_image();
	filter_refuse(PSYS_NR_sync, PSYS_EPERM);
	needs_image();
}

static void check_in_image(struct aspawn_child *child)
{
	pid_of(child);
	CHECK_EQUAL(aspawn_describe(child, ASPAWN_FACT_MODE), ASPAWN_MODE_IMAGE);
}

/* --- what the program sees ------------------------------------------------------ */

static char text[16384];
static size_t length;

static void add(const char *name, uint64_t value)
{
	length += psys_strlcpy(text + length, name, sizeof text - length);
	psys_i64_to_decimal(text + length, (int64_t)value);
	length += psys_strlen(text + length);
	text[length++] = '\n';
}

static void add_string(const char *name, const char *string)
{
	length += psys_strlcpy(text + length, name, sizeof text - length);
	length += psys_strlcpy(text + length, string, sizeof text - length);
	text[length++] = '\n';
}

static void add_ids(void)
{
	unsigned ids[32] = { 0 };

	psys_getresuid(&ids[0], &ids[1], &ids[2]);
	psys_getresgid(&ids[4], &ids[5], &ids[6]);
	ids[3] = psys_setfsuid(-1U);
	ids[7] = psys_setfsgid(-1U);
	ids[8] = (unsigned)psys_getgroups(16, ids + 9);
	for (int i = 0; i < 25; i++)
		add("id ", ids[i]);
}

static void add_capabilities(void)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data sets[2] = { 0 };

	psys_capget(&header, sets);
	for (int i = 0; i < 2; i++) {
		add("effective ", sets[i].effective);
		add("permitted ", sets[i].permitted);
		add("inheritable ", sets[i].inheritable);
	}
	for (unsigned long i = 0; i < 41; i++)
		add("bounding, ambient ",
		    (uint64_t)(psys_prctl(PSYS_PR_CAPBSET_READ, i, 0, 0, 0) * 1000 +
			       psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_IS_SET, i, 0, 0)));
}

static void add_signals(void)
{
	struct psys_sigset mask = get_mask(), pending;

	psys_memset(&pending, 0, sizeof pending);
	psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE);
	for (int signal = 1; signal <= PSYS_NSIG; signal++)
		add("signal ", (uint64_t)(psys_sigismember(&mask, signal) * 100 +
					  psys_sigismember(&pending, signal) * 10 +
					  (get_disposition(signal) == PSYS_SIG_IGN)));
}

/* prctl(2) */
enum {
	PR_GET_KEEPCAPS = 7,
	PR_SET_TIMERSLACK = 29,
	PR_GET_TIMERSLACK = 30,
	PR_MCE_KILL = 33,
	PR_MCE_KILL_GET = 34,
	PR_GET_CHILD_SUBREAPER = 37,
	PR_GET_THP_DISABLE = 42,
	PR_GET_IO_FLUSHER = 58,
	PR_GET_MDWE = 66,
	PR_GET_MEMORY_MERGE = 68,
};

static void add_flags(void)
{
	static const int options[] = { PSYS_PR_GET_DUMPABLE,     PSYS_PR_GET_SECUREBITS,
				       PSYS_PR_GET_NO_NEW_PRIVS, PSYS_PR_GET_SECCOMP,
				       PR_GET_KEEPCAPS,          PR_GET_TIMERSLACK,
				       PR_MCE_KILL_GET,          PR_GET_THP_DISABLE,
				       PR_GET_IO_FLUSHER,        PR_GET_MDWE,
				       PR_GET_MEMORY_MERGE };
	int signal = -1, subreaper = -1;
	char name[16] = "";

	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		add("prctl ", (uint64_t)psys_prctl(options[i], 0, 0, 0, 0));
	for (int resource = 0; resource < 2; resource++) /* PR_GET_SPECULATION_CTRL */
		add("speculation ", (uint64_t)psys_prctl(52, (unsigned long)resource, 0, 0, 0));
	psys_prctl(PR_GET_CHILD_SUBREAPER, (uintptr_t)&subreaper, 0, 0, 0);
	add("subreaper ", (uint64_t)subreaper);
	psys_prctl(PSYS_PR_GET_PDEATHSIG, (uintptr_t)&signal, 0, 0, 0);
	add("pdeathsig ", (uint64_t)signal);
	psys_prctl(PSYS_PR_GET_NAME, (uintptr_t)name, 0, 0, 0);
	add_string("name ", name);
	add("personality ", (uint64_t)psys_personality(0xffffffff));
	add("umask ", (uint64_t)psys_umask(0));
}

static void add_file(const char *path)
{
	char content[1024] = "";
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	psys_read(fd, content, sizeof content - 1);
	psys_close(fd);
	add_string(path, content);
}

static void add_limits(void)
{
	struct psys_rlimit64 limit;
	unsigned long mask[128] = { 0 };

	for (int i = 0; i < 16; i++) {
		psys_prlimit64(0, i, NULL, &limit);
		add("soft ", limit.rlim_cur);
		add("hard ", limit.rlim_max);
	}
	add("nice ", (uint64_t)psys_getpriority(PSYS_PRIO_PROCESS, 0));
	add("policy ", (uint64_t)psys_sched_getscheduler(0));
	add("ioprio ", (uint64_t)psys_ioprio_get(PSYS_IOPRIO_WHO_PROCESS, 0));
	psys_sched_getaffinity(0, sizeof mask, mask);
	for (int i = 0; i < 4; i++)
		add("affinity ", mask[i]);
	add_file("/proc/self/oom_score_adj");
	add_file("/proc/self/coredump_filter");
	add_file("/proc/self/loginuid");
	add_file("/proc/self/uid_map");
	add_file("/proc/self/gid_map");
}

/* What execve(2) says of memory, timers and keyrings. */
static void add_rest(void)
{
	struct psys_itimerval timer;
	char status[4096] = "";
	int fd = psys_open("/proc/self/status", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	psys_read(fd, status, sizeof status - 1);
	psys_close(fd);
	for (const char *at = status; *at; at++)
		if (!psys_strncmp(at, "VmLck:", 6) || !psys_strncmp(at, "TracerPid:", 10) ||
		    !psys_strncmp(at, "Seccomp_filters:", 16)) {
			char line[64];
			psys_strlcpy(line, at, sizeof line);
			line[psys_strchrnul(line, '\n') - line] = '\0';
			add_string("", line);
		}
	for (int which = 0; which < 3; which++) {
		timer.it_value.tv_sec = -1;
		psys_getitimer(which, &timer);
		add("timer ", (uint64_t)timer.it_value.tv_sec);
	}
	for (int keyring = 1; keyring <= 3; keyring++) /* KEYCTL_GET_KEYRING_ID */
		add("keyring ", (uint64_t)psys_keyctl(0, (unsigned long)-keyring, 0, 0, 0));
}

static void add_files(void)
{
	char path[PSYS_PATH_MAX] = "";

	psys_getcwd(path, sizeof path);
	add_string("directory ", path);
	for (int fd = 0; fd < 1000; fd++) {
		long flags = psys_fcntl(fd, PSYS_F_GETFD, 0);
		if (flags >= 0)
			add("descriptor ", (uint64_t)(fd * 1000 + flags));
	}
	add("session ", (uint64_t)(psys_getsid(0) == psys_getpid()));
	add("group ", (uint64_t)(psys_getpgid(0) == psys_getpid()));
}

/* Adds AT_SECURE to the auxiliary vector, which follows the environment: getauxval(3). */
static void add_secure(void)
{
	char **end = environment;

	while (*end)
		add_string("environment ", *end++);
	for (unsigned long *at = (unsigned long *)(void *)(end + 1); *at; at += 2)
		if (*at == 23)
			add("secure ", at[1]);
}

ROLE(shows_all)
{
	for (int i = 0; i < argc; i++)
		add_string("argument ", argv[i]);
	add_ids();
	add_capabilities();
	add_signals();
	add_flags();
	add_limits();
	add_files();
	add_secure();
	add_rest();
	return psys_write(1, text, length) != (long)length;
}

/* --- the same by the image and in a copy ------------------------------------------ */

struct seen {
	int result, mode;
	struct aspawn_failure failure;
	char text[16384];
};

static const char *program; /* NULL: this one */

static struct seen *run(const struct aspawn_action *actions, size_t count, uint64_t flags)
{
	struct seen *seen = psys_mmap(NULL, sizeof *seen, PSYS_PROT_READ | PSYS_PROT_WRITE,
				      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_all", "argument");
	struct aspawn_io io = { .size = sizeof io, .out = seen->text, .out_size = sizeof seen->text };

	CHECK(!PSYS_IS_ERROR(seen));
	command.file = program ? program : command.file;
	command.pool = &pool;
	set_way(&command, flags | ASPAWN_COMMAND_INHERIT_SIGNALS);
	command.actions = actions;
	command.action_count = count;
	command.std_in = ASPAWN_STREAM_NULL;
	command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(&pool, &command);
	seen->result = aspawn_communicate(&child, &io);
	seen->mode = aspawn_describe(&child, ASPAWN_FACT_MODE);
	seen->failure = io.failure;
	release_pool(&pool);
	CHECK(!have_children());
	return seen;
}

static void note_difference(const char *a, const char *b)
{
	char line[80];
	const char *start = a;

	for (; *a && *a == *b; a++, b++)
		if (*a == '\n')
			start = a + 1;
	psys_strlcpy(line, start, sizeof line);
	note(line, 0);
	psys_strlcpy(line, b - (a - start), sizeof line);
	note(line, 1);
}

/* The same on the command's own memory: a helper waits for the image. */
static struct seen *run_helped(const struct aspawn_action *actions, size_t count)
{
	struct seen *seen = psys_mmap(NULL, sizeof *seen, PSYS_PROT_READ | PSYS_PROT_WRITE,
				      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_all", "argument");
	struct aspawn_io io = { .size = sizeof io, .out = seen->text, .out_size = sizeof seen->text };

	CHECK(!PSYS_IS_ERROR(seen));
	command.file = program ? program : command.file;
	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	command.actions = actions;
	command.action_count = count;
	command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(NULL, &command);
	aspawn_wait_started(&child, &seen->failure, -1);
	seen->mode = aspawn_describe(&child, ASPAWN_FACT_MODE);
	seen->result = aspawn_communicate(&child, &io);
	CHECK(!have_children());
	return seen;
}

/* The command does the same with the image, if mode is that, as in a copy of the memory. */
static void compare(int line, int mode, const struct seen *image, const struct seen *copy)
{
	if (psys_strcmp(image->text, copy->text))
		note_difference(image->text, copy->text);
	check_equal(__FILE__, line, "mode", image->mode, mode);
	check_equal(__FILE__, line, "mode of the copy", copy->mode, ASPAWN_MODE_FORK);
	check_equal(__FILE__, line, "result", image->result, copy->result);
	check_equal(__FILE__, line, "step", image->failure.step, copy->failure.step);
	check_equal(__FILE__, line, "error", image->failure.error, copy->failure.error);
	check_equal(__FILE__, line, "subject",
		    psys_strcmp(image->failure.subject, copy->failure.subject), 0);
	check_equal(__FILE__, line, "text", psys_strcmp(image->text, copy->text), 0);
}

static void check_same(int line, int mode, const struct aspawn_action *actions, size_t count)
{
	const struct seen *copy = run(actions, count, WAY_COPIED);

	compare(line, mode, run(actions, count, 0), copy);
	compare(line, mode, run_helped(actions, count), copy);
}

#define CHECK_SAME_IN(mode, ...)                                                          \
	do {                                                                              \
		const struct aspawn_action actions_[] = { __VA_ARGS__ };                  \
		check_same(__LINE__, mode, actions_, sizeof actions_ / sizeof *actions_); \
	} while (0)
#define CHECK_SAME(...) CHECK_SAME_IN(ASPAWN_MODE_IMAGE, __VA_ARGS__)
#define NOTHING ASPAWN_RESUID(-1U, -1U, -1U)

TEST(the_image_does_what_a_copy_does)
{
	static const unsigned groups[] = { 5, 6, 7 };
	struct psys_sigset set;

	needs_image();
	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGUSR1);
	psys_sigaddset(&set, PSYS_SIGCHLD);
	CHECK_SAME(NOTHING);
	CHECK_SAME(ASPAWN_OOM_SCORE_ADJ(321));
	CHECK_SAME(NOTHING, ASPAWN_CHDIR("/dev"), ASPAWN_UMASK(0123));
	CHECK_SAME(ASPAWN_CHDIR("/dev"), ASPAWN_UMASK(0123), NOTHING);
	CHECK_SAME(ASPAWN_SETSID(), NOTHING);
	CHECK_SAME(ASPAWN_SETPGID(0), NOTHING);
	CHECK_SAME(ASPAWN_SIGMASK(&set), NOTHING);
	CHECK_SAME(ASPAWN_SIGNALS_IGNORE(&set), NOTHING, ASPAWN_SIGNAL_DEFAULT(PSYS_SIGCHLD));
	CHECK_SAME(ASPAWN_PDEATHSIG(PSYS_SIGTERM), NOTHING);
	CHECK_SAME(ASPAWN_PDEATHSIG(0), NOTHING);
	CHECK_SAME(ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 100, 200), NOTHING);
	CHECK_SAME(ASPAWN_RLIMIT(PSYS_RLIMIT_FSIZE, 0, 0), NOTHING);
	CHECK_SAME(ASPAWN_RLIMIT(PSYS_RLIMIT_NICE, 20, 20), ASPAWN_NICE(5), NOTHING);
	CHECK_SAME(ASPAWN_SCHEDULER(PSYS_SCHED_BATCH, 0), NOTHING);
	CHECK_SAME(ASPAWN_PERSONALITY(0x40000), NOTHING);
	CHECK_SAME(ASPAWN_SETENV("A", "B"), NOTHING, ASPAWN_UNSETENV("HOME"));
	CHECK_SAME(ASPAWN_CLEARENV(), NOTHING);
	CHECK_SAME(ASPAWN_NO_NEW_PRIVS(), NOTHING);
	CHECK_SAME(ASPAWN_OPEN(7, "/dev/null", PSYS_O_RDONLY, 0), NOTHING, ASPAWN_DUP2(7, 9));
	CHECK_SAME(ASPAWN_CLOSEFROM(3), NOTHING);
	CHECK_SAME(NOTHING, ASPAWN_CLOSEFROM(3));
	CHECK_SAME(NOTHING, ASPAWN_ONLY_BELOW(3));
	CHECK_SAME(ASPAWN_CLOEXEC_FROM(3), NOTHING);
	CHECK_SAME(NOTHING, ASPAWN_CHDIR("/no such directory"));
	CHECK_SAME(ASPAWN_CLOSE(700), NOTHING, ASPAWN_DUP2(700, 1));
	if (!is_root())
		skip("not root");
	CHECK_SAME(ASPAWN_GROUPS(groups, 3), NOTHING);
	CHECK_SAME(ASPAWN_RESGID(77, 78, 79), ASPAWN_GROUPS(groups, 2));
	CHECK_SAME(ASPAWN_RESUID(77, 0, 0));
	CHECK_SAME(ASPAWN_RESUID(0, 0, 77));
	CHECK_SAME(ASPAWN_USER(65534, 65533, groups, 3));
	CHECK_SAME(ASPAWN_USER(65534, 65533, NULL, 0), ASPAWN_PDEATHSIG(PSYS_SIGTERM));
	CHECK_SAME(ASPAWN_PDEATHSIG(PSYS_SIGTERM), ASPAWN_USER(65534, 65533, NULL, 0));
	CHECK_SAME(ASPAWN_USER(65534, 65533, NULL, 0), ASPAWN_RESUID(0, 0, 0));
	CHECK_SAME(ASPAWN_USER(65534, 65533, NULL, 0), ASPAWN_NICE(-20));
	CHECK_SAME(ASPAWN_CHROOT("/dev"), NOTHING);
}

TEST(the_image_has_the_capabilities_of_a_copy)
{
	needs_image();
	if (!is_root())
		skip("not root");
	CHECK_SAME(ASPAWN_CAP_DROP(PSYS_CAP_SETUID), ASPAWN_RESUID(65534, 65534, 0));
	CHECK_SAME(ASPAWN_CAP_DROP(PSYS_CAP_CHOWN), NOTHING);
	CHECK_SAME(ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT), NOTHING);
	CHECK_SAME(ASPAWN_SECUREBITS(1 << 4), ASPAWN_RESUID(65534, 65534, 65534),
		   ASPAWN_CAP_AMBIENT(PSYS_CAP_NET_BIND_SERVICE)); /* SECBIT_KEEP_CAPS */
	CHECK_SAME(ASPAWN_SECUREBITS(5), NOTHING, ASPAWN_CAP_AMBIENT(PSYS_CAP_SETUID),
		   ASPAWN_USER(65534, 65534, NULL, 0));
}

static void on_nothing(int signal)
{
	(void)signal;
}

/* execve(2), fork(2) and prctl(2) say what a child inherits, and what an exec changes. */
TEST(the_image_has_the_attributes_that_a_copy_inherits)
{
	static const struct psys_rlimit64 limit = { 1234, 5678 };
	static const struct psys_itimerval timer = { { 0, 0 }, { 1000, 0 } };
	static const struct psys_sched_param param = { 0 };
	const struct psys_sigaction ignored[2] = { { .handler = PSYS_SIG_IGN } };
	struct psys_sigset set;

	needs_image();
	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGUSR2);
	psys_sigaddset(&set, PSYS_SIGPIPE);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &set, NULL, PSYS_SIGSET_SIZE);
	psys_rt_sigaction(PSYS_SIGHUP, ignored, NULL, PSYS_SIGSET_SIZE);
	set_handler(PSYS_SIGTERM, on_nothing);
	psys_kill(psys_getpid(), PSYS_SIGUSR2);
	psys_umask(0135);
	CHECK_SAME(NOTHING);
	psys_prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0);
	psys_prctl(PR_MCE_KILL, 1, 1, 0, 0);
	psys_prctl(PSYS_PR_SET_THP_DISABLE, 1, 0, 0, 0);
	psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGURG, 0, 0, 0);
	psys_prctl(PR_GET_MDWE - 1, 1, 0, 0, 0);
	psys_prctl(PR_GET_MEMORY_MERGE - 1, 1, 0, 0, 0);
	CHECK_SAME(NOTHING);
	psys_setpriority(PSYS_PRIO_PROCESS, 0, 3);
	psys_sched_setscheduler(0, PSYS_SCHED_BATCH, &param);
	psys_sched_setaffinity(0, sizeof(long), (const unsigned long[]){ 1 });
	psys_ioprio_set(PSYS_IOPRIO_WHO_PROCESS, 0, 2 << 13 | 6);
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &limit, NULL);
	psys_setitimer(PSYS_ITIMER_REAL, &timer, NULL);
	CHECK_SAME(NOTHING, ASPAWN_UMASK(0));
	if (!HAS_ASAN)
		psys_mlockall(3);                   /* MCL_CURRENT | MCL_FUTURE */
	psys_keyctl(1, 0, 0, 0, 0);                 /* KEYCTL_JOIN_SESSION_KEYRING */
	psys_keyctl(0, (unsigned long)-1, 1, 0, 0); /* makes keyrings of thread and process */
	psys_keyctl(0, (unsigned long)-2, 1, 0, 0);
	int fd = psys_open("/proc/self/coredump_filter", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	psys_write(fd, "0x11", 4);
	psys_close(fd);
	CHECK_SAME(NOTHING);
	CHECK(psys_personality(0x40008) >= 0); /* PER_LINUX32, ADDR_NO_RANDOMIZE */
	CHECK_SAME(NOTHING);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_SAME(NOTHING);
}

TEST(the_image_restricts_itself_as_a_copy_does)
{
	static const struct psys_sock_filter filter[] = { { PSYS_BPF_RET | PSYS_BPF_K, 0, 0,
							    PSYS_SECCOMP_RET_ALLOW } };
	const unsigned user = own_user();

	needs_image();
	CHECK_SAME(NOTHING, ASPAWN_NO_NEW_PRIVS(), ASPAWN_SECCOMP(filter, 1));
	CHECK_SAME(NOTHING, ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, 9, 9));
	CHECK_SAME(NOTHING, ASPAWN_RLIMIT(PSYS_RLIMIT_STACK, 0x100000, 0x100000));
	psys_keyctl(1, 0, 0, 0, 0); /* otherwise each user namespace has its own */
	CHECK_SAME(NOTHING, ASPAWN_UNSHARE(PSYS_CLONE_NEWUSER),
		   ASPAWN_WRITE("/proc/self/setgroups", "deny"),
		   ASPAWN_WRITE("/proc/self/uid_map", is_root() ? "7 0 1" : "0 0 0"));
	if (!is_root())
		skip("not root");
	CHECK_SAME(NOTHING, ASPAWN_UNSHARE(PSYS_CLONE_NEWUSER),
		   ASPAWN_WRITE("/proc/self/uid_map", "0 0 1"),
		   ASPAWN_WRITE("/proc/self/gid_map", "0 0 1"), ASPAWN_USER(0, 0, NULL, 0));
	CHECK_SAME(ASPAWN_UNSHARE(PSYS_CLONE_NEWUTS | PSYS_CLONE_NEWNS), ASPAWN_HOSTNAME("image"),
		   ASPAWN_USER(65534, 65534, NULL, 0));
	/* An exec fails if the user has too many processes. */
	CHECK_SAME(ASPAWN_RLIMIT(PSYS_RLIMIT_NPROC, 0, 0), ASPAWN_USER(user, user, NULL, 0));
	CHECK_SAME(ASPAWN_USER(65534, 65534, NULL, 0), ASPAWN_OPEN(5, "/no such file", 0, 0));
}

static void set_capabilities(uint32_t permitted, uint32_t inheritable)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data sets[2] = { { permitted, permitted, inheritable }, { 0 } };

	CHECK_EQUAL(psys_capset(&header, sets), 0);
}

/* An exec would lose the capability. Container engines leave root few capabilities. */
static void lose_from_bounding_set(int capability)
{
	if (psys_prctl(PSYS_PR_CAPBSET_READ, (unsigned long)capability, 0, 0, 0) != 1)
		skip("root without this capability");
	CHECK_EQUAL(psys_prctl(PSYS_PR_CAPBSET_DROP, (unsigned long)capability, 0, 0, 0), 0);
}

ROLE(ends_with_pdeathsig)
{
	int signal = 0;

	(void)argc, (void)argv;
	psys_prctl(PSYS_PR_GET_PDEATHSIG, (uintptr_t)&signal, 0, 0, 0);
	return signal;
}

/* As root the image gains more at its exec than the process had, and the kernel clears the
 * signal. */
TEST(the_image_dies_with_its_parent_whatever_it_gains)
{
	static const struct aspawn_action actions[] = { ASPAWN_OOM_SCORE_ADJ(10),
							ASPAWN_NO_NEW_PRIVS() };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "ends_with_pdeathsig", NULL);

	needs_image();
	if (!is_root())
		skip("not root");
	set_capabilities(1U << PSYS_CAP_SETUID, 0);
	command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_IMAGE);
	check_ends(&child, PSYS_SIGKILL << 8);
}

/* As root the image gains more at its exec than the process had. */
TEST(the_image_gains_no_capability)
{
	needs_image();
	if (!is_root())
		skip("not root");
	set_capabilities(1U << PSYS_CAP_SETUID | 1U << PSYS_CAP_SETPCAP, 1U << PSYS_CAP_SETUID);
	CHECK_SAME(NOTHING);
	CHECK_SAME(NOTHING, ASPAWN_CHROOT("/"));
	CHECK_SAME(NOTHING, ASPAWN_RESUID(65534, 65534, 65534));
	set_capabilities(0, 0);
	CHECK_SAME(NOTHING, ASPAWN_RESUID(65534, 65534, 65534));
}

TEST(root_keeps_an_inheritable_capability_in_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	set_capabilities(1U << PSYS_CAP_SETUID | 1U << PSYS_CAP_SETPCAP, 1U << PSYS_CAP_SETUID);
	CHECK_EQUAL(psys_prctl(PSYS_PR_CAPBSET_DROP, PSYS_CAP_SETUID, 0, 0, 0), 0);
	CHECK_SAME(ASPAWN_RESUID(65534, 65534, 65534));
}

TEST(an_exec_that_loses_a_capability_is_none_of_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	CHECK_EQUAL(psys_prctl(PSYS_PR_CAPBSET_DROP, PSYS_CAP_SETUID, 0, 0, 0), 0);
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_RESUID(65534, 65534, 65534));
}

/* After the program's exec root lacks the capability, as in a copy. */
TEST(an_exec_may_lose_a_capability_that_no_action_needs)
{
	needs_image();
	if (!is_root())
		skip("not root");
	lose_from_bounding_set(PSYS_CAP_AUDIT_WRITE);
	CHECK_SAME(NOTHING, ASPAWN_NICE(1), ASPAWN_OOM_SCORE_ADJ(1));
	CHECK_SAME(NOTHING, ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY, 0));
	CHECK_SAME(ASPAWN_USER(65534, 65534, NULL, 0));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_OPEN(0, "/dev/zero", PSYS_O_RDONLY, 0));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING,
		      ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY | PSYS_O_NOATIME, 0));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_CHROOT("/"));
}

/* CAP_DAC_OVERRIDE, ... */
TEST(each_capability_that_a_plain_action_may_need_makes_a_copy)
{
	static const int capabilities[] = { 1, 2, 6, 7, 19, 21, 23, 24, 32 };

	needs_image();
	if (!is_root())
		skip("not root");
	for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
		if (psys_prctl(PSYS_PR_CAPBSET_READ, capabilities[i], 0, 0, 0) != 1)
			continue;
		int pid = fork_child();
		if (!pid) {
			CHECK_EQUAL(psys_prctl(PSYS_PR_CAPBSET_DROP, capabilities[i], 0, 0, 0), 0);
			CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING);
			psys_exit_group(0);
		}
		CHECK_EQUAL(reap(pid), 0);
	}
}

/* Only processes with CAP_SYS_PTRACE can follow the link. */
TEST(a_link_into_another_process_leads_where_it_does_in_a_copy)
{
	char link[64] = "/tmp/aspawn-link-", target[64] = "/proc/";

	needs_image();
	if (!is_root() || !have_proc())
		skip("not root, or no /proc");
	lose_from_bounding_set(PSYS_CAP_SYS_PTRACE);
	int other = fork_child();
	if (!other) {
		CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
		sleep_ms(600000);
		psys_exit_group(0);
	}
	psys_i64_to_decimal(link + psys_strlen(link), other);
	psys_i64_to_decimal(target + psys_strlen(target), other);
	psys_strlcpy(target + psys_strlen(target), "/cwd", 8);
	CHECK_EQUAL(psys_symlinkat(target, PSYS_AT_FDCWD, link), 0);
	const struct aspawn_action actions[] = { NOTHING, ASPAWN_CHDIR(link) };
	const struct observation seen = observe(actions, 2, "");
	psys_unlinkat(PSYS_AT_FDCWD, link, 0);
	CHECK_EQUAL(psys_kill(other, PSYS_SIGKILL), 0);
	reap(other);
	CHECK_EQUAL(seen.result, 0);
}

/* The exec loses a capability and at once gives others, which the image must drop. */
TEST(an_image_that_has_lost_a_capability_gains_no_other)
{
	static const unsigned group = 5;

	needs_image();
	if (!is_root())
		skip("not root");
	lose_from_bounding_set(PSYS_CAP_AUDIT_WRITE);
	set_capabilities(1U << PSYS_CAP_AUDIT_WRITE | 1U << PSYS_CAP_SETUID, 0);
	CHECK_SAME(NOTHING, ASPAWN_RESUID(65534, 65534, 65534));
	CHECK_SAME(NOTHING, ASPAWN_GROUPS(&group, 1)); /* it fails */
}

/* Returns false if files have no capabilities here. */
static bool copy_program_with_capability(const char *path, uint32_t capability)
{
	/* as capabilities(7) has VFS_CAP_REVISION_2, effective; little-endian everywhere */
	unsigned char value[20] = { [0] = 1, [3] = 2 };
	struct self self;
	long size;

	value[4 + capability / 8] = (unsigned char)(1 << capability % 8);
	self_in_role(&self, "", NULL);
	int from = psys_open(self.file, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	/* No other user may execute the program, and no file of another user is overwritten. */
	int to = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_EXCL | PSYS_O_CLOEXEC, 0500);
	CHECK_EQUAL(psys_fchown(to, 65534, 65534), 0);
	while ((size = psys_read(from, text, sizeof text)) > 0)
		CHECK_EQUAL(psys_write(to, text, (size_t)size), size);
	CHECK_EQUAL(size, 0);
	int r = psys_fsetxattr(to, "security.capability", value, sizeof value, 0);
	psys_close(from);
	psys_close(to);
	return r == 0;
}

/* With no_new_privs a file gives no capability that the process does not have. */
TEST(a_capability_that_a_file_would_give_again_is_not_lost)
{
	char path[64] = "/tmp/aspawn-capability-";

	needs_image();
	if (!is_root())
		skip("not root");
	append_own_name(path);
	if (!copy_program_with_capability(path, PSYS_CAP_NET_BIND_SERVICE)) {
		psys_unlinkat(PSYS_AT_FDCWD, path, 0);
		skip("no capabilities of files");
	}
	int pid = fork_child();
	if (!pid) {
		set_capabilities(1U << PSYS_CAP_SETUID | 1U << PSYS_CAP_NET_BIND_SERVICE, 0);
		CHECK_EQUAL(psys_prctl(8 /* PR_SET_KEEPCAPS */, 1, 0, 0, 0), 0);
		CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
		set_capabilities(1U << PSYS_CAP_NET_BIND_SERVICE, 0);
		CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
		CHECK_EQUAL(psys_prctl(8, 0, 0, 0, 0), 0);
		program = path;
		CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_NO_NEW_PRIVS());
		psys_exit_group(0);
	}
	const int status = reap(pid);
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	CHECK_EQUAL(status, 0);
}

TEST(ambient_capabilities_last_in_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	set_capabilities(1U << PSYS_CAP_SETUID, 1U << PSYS_CAP_SETUID);
	CHECK_EQUAL(
		psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_RAISE, PSYS_CAP_SETUID, 0, 0),
		0);
	CHECK_EQUAL(psys_prctl(8 /* PR_SET_KEEPCAPS */, 1, 0, 0, 0), 0);
	CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
	set_capabilities(1U << PSYS_CAP_SETUID, 1U << PSYS_CAP_SETUID);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	CHECK_EQUAL(psys_prctl(8, 0, 0, 0, 0), 0);
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_RESUID(1, 1, 1)); /* not ambient any more */
	CHECK_EQUAL(
		psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_RAISE, PSYS_CAP_SETUID, 0, 0),
		0);
	CHECK_SAME(ASPAWN_RESUID(1, 1, 1));
}

/* --- where the image is not used ----------------------------------------------------- */

TEST(the_caller_of_a_function_is_in_a_copy)
{
	static const struct aspawn_action nothing = NOTHING;

	needs_image();
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_OPEN(0, "/dev/stdin", PSYS_O_RDONLY, 0));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_OPEN(0, "/proc/self/exe", PSYS_O_RDONLY, 0));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_OPEN(0, "/proc/version", PSYS_O_RDONLY, 0));
	CHECK_SAME(NOTHING, ASPAWN_WRITE("/proc/self/oom_score_adj", "5"));
	CHECK_SAME(NOTHING, ASPAWN_OPEN(0, "/dev/zero", PSYS_O_RDONLY, 0));
	CHECK_EQUAL(run(&nothing, 1, WAY_COPIED)->mode, ASPAWN_MODE_FORK);
	CHECK_EQUAL(run(&nothing, 1, WAY_SUSPENDED)->mode, ASPAWN_MODE_FORK);
	CHECK_EQUAL(run(&nothing, 1, WAY_PRIVATE)->mode, ASPAWN_MODE_IMAGE);
	CHECK_EQUAL(run(&nothing, 1, ASPAWN_COMMAND_DIES_WITH_CALLER)->mode, ASPAWN_MODE_IMAGE);
}

static void check_mode_of_search(int mode, const char *file, const char *search_path)
{
	static const struct aspawn_action nothing = NOTHING;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int status;

	needs_image();
	if (file)
		command.file = file;
	command.search_path = search_path;
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, LONG), 0);
	CHECK_EQUAL(status, 7 << 8);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), mode);
}

TEST(a_program_of_the_process_is_found_in_a_copy)
{
	check_mode_of_search(ASPAWN_MODE_FORK, "exe", "/none/such:/proc/self");
}

TEST(directories_of_similar_names_need_no_copy)
{
	check_mode_of_search(ASPAWN_MODE_IMAGE, NULL, "/home/dev/bin:/srv/processing:/devices");
}

/* The command of another user begins in a copy, and works. */
static void check_copied(void)
{
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_CHDIR("/dev"));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_CHDIR("/no such directory"));
}

TEST(another_saved_user_is_no_case_for_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	CHECK_EQUAL(psys_setresuid(0, 0, 77), 0);
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_RESUID(77, 77, 77));
}

TEST(another_saved_group_is_no_case_for_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	CHECK_EQUAL(psys_setresgid(0, 0, 77), 0);
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_RESGID(77, 77, 77));
}

TEST(another_user_for_files_is_no_case_for_the_image)
{
	needs_image();
	if (!is_root())
		skip("not root");
	psys_setfsgid(77);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	check_copied();
	psys_setfsgid(0);
	psys_setfsuid(77);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	check_copied();
}

TEST(a_process_that_is_not_dumpable_makes_a_copy)
{
	needs_image();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
	check_copied();
}

TEST(a_personality_makes_a_copy)
{
	/* UNAME26, ADDR_COMPAT_LAYOUT, READ_IMPLIES_EXEC */
	static const unsigned flags[] = { 0x20000, 0x200000, 0x400000 };

	needs_image();
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		CHECK(psys_personality(flags[i]) >= 0);
		check_copied();
	}
}

TEST(securebits_make_a_copy)
{
	needs_image();
	if (!is_root())
		skip("not root");
	CHECK_EQUAL(psys_prctl(8 /* PR_SET_KEEPCAPS */, 1, 0, 0, 0), 0);
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_RESUID(65534, 65534, 65534));
}

/* A core dump of the child would kill the caller. */
TEST(a_filter_that_kills_is_not_tried_before_linux_5_16)
{
	static const struct aspawn_action nothing = NOTHING;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	needs_image();
	CHECK(psys_personality(0x20000) >= 0); /* UNAME26: the kernel calls itself 2.6 */
	filter_trap(PSYS_NR_personality);
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_FORK);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_REASON), ASPAWN_REASON_CALLER);
	check_ends(&child, 7 << 8);
}

/* --- what the handle says of it ----------------------------------------------------------- */

static ASPAWN_CHILD int does_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Why the child of the action began in a copy. */
static int reason_for(const struct aspawn_action action, uint64_t way)
{
	const struct aspawn_action actions[] = { NOTHING, action };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.actions = actions;
	command.action_count = 2;
	set_way(&command, way);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_PID), aspawn_pid(&child));
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_PID), 0);
	const int reason = aspawn_describe(&child, ASPAWN_FACT_REASON);
	CHECK(!reason || aspawn_describe(&child, ASPAWN_FACT_MODE) == ASPAWN_MODE_FORK);
	return reason;
}

TEST(the_handle_says_why_memory_was_copied)
{
	const struct aspawn_action call = ASPAWN_CALL(does_nothing, NULL), usual = NOTHING;
	struct psys_rlimit64 old, low;

	needs_image_under_filters();
	CHECK_EQUAL(reason_for(usual, 0), ASPAWN_REASON_NONE);
	CHECK_EQUAL(reason_for(usual, WAY_COPIED), ASPAWN_REASON_NONE);
	CHECK_EQUAL(reason_for(call, 0), ASPAWN_REASON_COMMAND);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, NULL, &old), 0);
	low = (struct psys_rlimit64){ 200000, old.rlim_max };
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &low, NULL), 0);
	CHECK_EQUAL(reason_for(usual, 0), ASPAWN_REASON_CALLER);
	CHECK_EQUAL(reason_for(usual, WAY_PRIVATE), ASPAWN_REASON_CALLER);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &old, NULL), 0);
	filter_refuse(PSYS_NR_memfd_create, PSYS_ENOSYS);
	CHECK_EQUAL(reason_for(usual, 0), ASPAWN_REASON_SYSTEM);
	CHECK_EQUAL(reason_for(call, 0), ASPAWN_REASON_COMMAND);
}

TEST(describes_no_child_that_was_never_started)
{
	struct aspawn_child child = { 0 };
	struct aspawn_command command = { .size = sizeof command };

	CHECK_EQUAL(aspawn_describe(NULL, ASPAWN_FACT_MODE), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_PID), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), -PSYS_EINVAL);
	struct self self;
	command = command_in_role(&self, "exit_7", NULL);
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_describe(&child, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OUTCOME + 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_CALLER);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_HELPER), ASPAWN_HELPER_NONE);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_CALLER);
}

/* --- where the image cannot be executed -------------------------------------------------- */

TEST(a_limit_of_the_file_size_makes_a_copy)
{
	const struct psys_rlimit64 limit = { 50000, 50000 };

	needs_image();
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_FSIZE, &limit, NULL), 0);
	check_copied();
}

TEST(a_small_stack_makes_a_copy)
{
	const struct psys_rlimit64 limit = { 200000, 200000 };

	needs_image();
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &limit, NULL), 0);
	check_copied();
}

TEST(a_filter_of_memfd_create_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_memfd_create, PSYS_ENOSYS);
	check_copied();
}

TEST(a_filter_of_execveat_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_execveat, PSYS_EPERM);
	check_copied();
}

TEST(a_filter_of_pwrite_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_pwrite64, PSYS_EPERM);
	check_copied();
}

TEST(a_filter_that_kills_makes_a_copy)
{
	needs_image();
	filter_trap(PSYS_NR_memfd_create);
	check_copied();
}

/* Without clone3 the clone makes no pidfd, by which the helper sees the end. */
TEST(a_filter_that_kills_makes_a_copy_without_clone3)
{
	needs_image();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	needs_image();
	filter_trap(PSYS_NR_memfd_create);
	check_copied();
}

/* Before Linux 6.3. */
TEST(the_image_needs_no_mfd_exec)
{
	needs_image_under_filters();
	filter_refuse_flags(PSYS_NR_memfd_create, 1, PSYS_MFD_EXEC, PSYS_EINVAL);
	CHECK_SAME(NOTHING);
}

/* vm.memfd_noexec belongs to the pid namespace. */
TEST(a_kernel_without_executable_memfds_makes_a_copy)
{
	needs_image();
	if (!is_root() || psys_unshare(PSYS_CLONE_NEWPID | PSYS_CLONE_NEWNS) < 0)
		skip("no pid namespace");
	int pid = fork_child();
	if (pid == 0) {
		/* Not "/", which is no mount after a chroot. */
		CHECK_EQUAL(psys_mount(NULL, "/proc", NULL, PSYS_MS_PRIVATE, NULL), 0);
		CHECK_EQUAL(psys_mount("proc", "/proc", "proc", 0, NULL), 0);
		int fd = psys_open("/proc/sys/vm/memfd_noexec", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
		if (fd < 0 || psys_write(fd, "1", 1) != 1)
			psys_exit_group(3);
		CHECK_SAME(NOTHING); /* MFD_EXEC is still allowed */
		if (psys_pwrite64(fd, "2", 1, 0) != 1)
			psys_exit_group(3);
		psys_close(fd);
		check_copied();
		psys_exit_group(0);
	}
	int status = reap(pid);
	if (status == 3)
		skip("no vm.memfd_noexec");
	CHECK_EQUAL(status, 0);
}

TEST(the_image_works_without_clone3)
{
	needs_image_under_filters();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	CHECK_SAME(NOTHING, ASPAWN_CHDIR("/dev"));
	filter_refuse(PSYS_NR_execveat, PSYS_EPERM);
	check_copied();
}

static int signals;
static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

/* Of the child that could not execute the image nobody sees an end. */
TEST(a_failed_image_raises_no_sigchld)
{
	static const struct aspawn_action nothing = NOTHING;

	needs_image();
	filter_refuse(PSYS_NR_execveat, PSYS_EPERM);
	set_handler(PSYS_SIGCHLD, count_signal);
	for (int i = 1; i <= 20; i++) {
		CHECK_EQUAL(run(&nothing, 1, 0)->result, 0);
		CHECK_EQUAL(signals, i);
	}
}

/* --- descriptors ---------------------------------------------------------------------------- */

TEST(the_image_keeps_cloexec_descriptors_for_actions)
{
	int directory = psys_open("/dev", PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	int file = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	needs_image();
	CHECK(directory >= 0 && file >= 0);
	CHECK_SAME(NOTHING, ASPAWN_FCHDIR(directory));
	CHECK_SAME(NOTHING, ASPAWN_DUP2(file, 20), ASPAWN_DUP2(file, 21), ASPAWN_DUP2(file, file));
	CHECK_SAME(NOTHING, ASPAWN_OPENAT(0, directory, "null", PSYS_O_RDONLY, 0));
	CHECK_SAME(NOTHING, ASPAWN_CLOSEFROM(3),
		   ASPAWN_OPENAT(0, directory, "null", PSYS_O_RDONLY, 0));
	CHECK_SAME(NOTHING, ASPAWN_DUP2(file, 20), ASPAWN_CLOSEFROM(21));
}

TEST(the_image_starts_without_standard_streams)
{
	static const struct aspawn_action actions[] = { NOTHING, ASPAWN_DUP2(700, 1),
							ASPAWN_CLOSEFROM(3) };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "descriptors");
	struct aspawn_child child;
	char seen[64] = "";
	int ends[2], saved = psys_fcntl(1, PSYS_F_DUPFD_CLOEXEC, 800);

	needs_image();
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	CHECK_EQUAL(psys_dup3(ends[1], 700, PSYS_O_CLOEXEC), 700);
	command.actions = actions;
	command.action_count = 3;
	command.pool = &pool;
	command.flags = ASPAWN_COMMAND_NO_PIDFD; /* it could be one of these numbers */
	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	int r = aspawn_start(&child, &command);
	psys_dup2(saved, 1);
	psys_dup2(saved, 2);
	CHECK_EQUAL(r, 0);
	check_in_image(&child);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), 0);
	CHECK(psys_read(ends[0], seen, sizeof seen - 1) > 0);
	CHECK_EQUAL(psys_strcmp(seen, "1"), 0);
}

/* --- the process ------------------------------------------------------------------------------ */

static bool file_begins(const char *path, const char *expected)
{
	char seen[64] = "";
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK(psys_read(fd, seen, sizeof seen - 1) >= 0);
	psys_close(fd);
	return !psys_strncmp(seen, expected, psys_strlen(expected));
}

/* Makes a named pipe. An action that opens the pipe waits for the other end. */
static void make_named_pipe(char path[64])
{
	psys_strlcpy(path, "/tmp/aspawn-image-", 64);
	append_own_name(path);
	if (psys_mknodat(PSYS_AT_FDCWD, path, PSYS_S_IFIFO | 0600, 0) < 0)
		skip("no named pipes in /tmp");
	CHECK_EQUAL(psys_fchmodat(PSYS_AT_FDCWD, path, 0666), 0);
}

TEST(the_image_has_the_name_and_memory_of_its_own)
{
	char path[64], file[64];
	struct self self;
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	bool is_mapped;

	needs_image();
	if (!have_proc())
		skip("no /proc");
	make_named_pipe(path);
	const struct aspawn_action actions[] = { NOTHING, ASPAWN_OPEN(0, path, PSYS_O_RDONLY, 0) };
	command.actions = actions;
	command.action_count = 2;
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_NAME, (uintptr_t) "a-host", 0, 0, 0), 0);
	struct aspawn_child child = start_command(&pool, &command);
	check_in_image(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), -PSYS_ETIMEDOUT);
	psys_strlcpy(file, "/proc/", sizeof file);
	psys_i64_to_decimal(file + 6, aspawn_pid(&child));
	size_t end = psys_strlen(file);
	psys_strlcpy(file + end, "/maps", sizeof file - end);
	char maps[4096] = "";
	bool is_at_its_place;
	do { /* until its exec has mapped the image, and the image the page of the report */
		int fd = psys_open(file, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
		long size = psys_read(fd, maps, sizeof maps - 12);
		psys_close(fd);
		is_mapped = false;
		is_at_its_place =
			!psys_strncmp(maps, "00400000-", 9) || !psys_strncmp(maps, "400000-", 7);
		for (long i = 0; is_at_its_place && i < size; i++) {
			is_mapped = is_mapped || !psys_strncmp(maps + i, "memfd:aspawn", 12);
			CHECK(psys_strncmp(maps + i, "rwx", 3) != 0);
		}
	} while (!is_mapped);
	psys_strlcpy(file + end, "/comm", sizeof file - end);
	while (!file_begins(file, "a-host\n")) /* the image gives itself the name */
		sleep_ms(1);
	psys_close(psys_open(path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0));
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* The caller's memory changes before the image looks at its copy. */
TEST(the_image_has_copies_of_all_arguments)
{
	enum { COUNT = 2000 };
	static const char *argv[COUNT + 8];
	static const struct aspawn_action nothing = NOTHING;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int i = 0;

	needs_image();
	for (; self.argv[i]; i++)
		argv[i] = self.argv[i];
	for (int j = 0; j < COUNT; j++)
		argv[i + j] = "0123456789012345678901234567890123456789";
	command.argv = (char *const *)(uintptr_t)argv;
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_child child = start_command(&pool, &command);
	psys_memset(argv, 0, sizeof argv);
	check_in_image(&child);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* --- another user ----------------------------------------------------------------------------- */

enum { MARK = 0x6d61726b };

struct attack {
	int mark, pid, stop, tries, successes, signals;
};

/* Tries to trace, read and signal the child, as its user. */
static int attack(struct attack *shared, int host)
{
	int seen;
	struct psys_iovec local = { &seen, sizeof seen }, remote = { shared, sizeof seen };

	psys_setgroups(0, NULL);
	if (psys_setresgid(65534, 65534, 65534) < 0 || psys_setresuid(65534, 65534, 65534) < 0)
		return 1;
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		int pid = __atomic_load_n(&shared->pid, __ATOMIC_ACQUIRE);
		if (!pid)
			pid = host + 2 + shared->tries % 8; /* it may be one of the next */
		shared->tries++;
		/* Others may read a child that executes the program: the child has other memory
		 * then, by chance at the same address. */
		seen = 0;
		psys_process_vm_readv(pid, &local, 1, &remote, 1, 0);
		shared->successes += seen == MARK;
		if (psys_kill(pid, PSYS_SIGURG) == 0) /* ignored by default */
			shared->signals++;
	}
	return 0;
}

TEST(no_other_user_reaches_memory_that_is_shared)
{
	static const struct aspawn_action actions[] = { ASPAWN_USER(65534, 65534, NULL, 0),
							ASPAWN_NICE(1), ASPAWN_UMASK(0) };
	struct attack *shared = shared_page();
	struct aspawn_pool pool = { { 0 } };

	needs_image();
	if (!is_root())
		skip("not root");
	shared->mark = MARK;
	int attacker = fork_child(), host = psys_getpid();
	if (attacker == 0)
		psys_exit_group(attack(shared, host));
	for (int i = 0; i < scaled(700); i++) {
		struct self self;
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
		struct aspawn_child child;
		command.actions = actions;
		command.action_count = sizeof actions / sizeof *actions;
		command.pool = &pool;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		__atomic_store_n(&shared->pid, aspawn_pid(&child), __ATOMIC_RELEASE);
		check_in_image(&child);
		CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
		aspawn_wait(&child, NULL, NULL, -1);
	}
	shared->stop = 1;
	CHECK_EQUAL(reap(attacker), 0);
	note("tries:", shared->tries);
	note("signals that the kernel allowed, to the image or the program:", shared->signals);
	CHECK_EQUAL(shared->successes, 0);
}

/* Opens what leads to the memory of the process, as another user; returns how often it could. */
static int intrude(int pid)
{
	static const char *const names[] = { "/mem", "/maps", "/exe", "/environ", "/fd" };
	char path[64] = "/proc/";
	int count = 0;

	psys_setgroups(0, NULL);
	if (psys_setresgid(65534, 65534, 65534) < 0 || psys_setresuid(65534, 65534, 65534) < 0)
		return 100;
	psys_i64_to_decimal(path + 6, pid);
	const size_t end = psys_strlen(path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		psys_strlcpy(path + end, names[i], sizeof path - end);
		int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC | PSYS_O_NONBLOCK, 0);
		count += fd >= 0;
		psys_close(fd);
	}
	return count;
}

/* The parent and the image have a page of the image's file in common. */
TEST(another_user_opens_no_memory_of_an_image)
{
	char path[64], dumpable[2] = "";
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	needs_image();
	if (!is_root() || !have_proc())
		skip("not root, or no /proc");
	int fd = psys_open("/proc/sys/fs/suid_dumpable", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	if (psys_read(fd, dumpable, 1) != 1 || *dumpable == '1')
		skip("processes that change their user may be read here");
	psys_close(fd);
	need_others_to_reach_program();
	make_named_pipe(path);
	const struct aspawn_action actions[] = { ASPAWN_USER(65534, 65534, NULL, 0),
						 ASPAWN_OPEN(0, path, PSYS_O_RDONLY, 0) };
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(&pool, &command);
	check_in_image(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 50), -PSYS_ETIMEDOUT);
	int intruder = fork_child();
	if (intruder == 0)
		psys_exit_group(intrude(aspawn_pid(&child)));
	CHECK_EQUAL(reap(intruder), 0);
	psys_close(psys_open(path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0));
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(commands_with_memory_of_their_own_say_how)
{
	static const struct aspawn_action nothing = NOTHING;
	int mode = run(&nothing, 1, 0)->mode;

	note("kernel executes the image:", mode == ASPAWN_MODE_IMAGE);
	CHECK(mode == ASPAWN_MODE_IMAGE || mode == ASPAWN_MODE_FORK);
}

/* --- what the parent sees --------------------------------------------------------------------- */

static int *sibling;
static void fork_a_sibling(int tid)
{
	(void)tid;
	if (*sibling)
		return;
	int pid = fork_child();
	if (pid == 0) {
		sleep_ms(600000);
		psys_exit_group(0);
	}
	*sibling = pid;
}

TEST(a_sibling_with_the_pipe_does_not_delay_the_image)
{
	static const struct aspawn_action nothing = NOTHING;
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	needs_image_under_filters();
	sibling = shared_page();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_precede_clone(fork_a_sibling);
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_child child = start_command(&pool, &command);
	check_in_image(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, LONG), 0);
	CHECK(*sibling > 0);
	CHECK_EQUAL(psys_kill(*sibling, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
}

/* The library's report cannot be written. */
TEST(a_filter_of_write_does_not_hide_the_exec)
{
	static const struct psys_sock_filter filter[] = {
		{ PSYS_BPF_LD | PSYS_BPF_W | PSYS_BPF_ABS, 0, 0,
		  offsetof(struct psys_seccomp_data, nr) },
		{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 0, 1, PSYS_NR_write },
		{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_ERRNO | PSYS_EPERM },
		{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_ALLOW },
	};
	static const struct aspawn_action actions[] = {
		NOTHING,
		ASPAWN_NO_NEW_PRIVS(),
		ASPAWN_SECCOMP(filter, 4),
	};
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	needs_image_under_filters();
	command.actions = actions;
	command.action_count = 3;
	struct aspawn_child child = start_command(&pool, &command);
	check_in_image(&child);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
}

/* The report goes through a page that the image shares. */
TEST(the_image_reports_without_a_pipe)
{
	needs_image_under_filters();
	filter_refuse(PSYS_NR_pipe2, PSYS_EMFILE);
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_failure failure;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action fails[] = { NOTHING, ASPAWN_CHDIR("/no such directory") };

	command.actions = fails;
	command.action_count = 1;
	struct aspawn_child child = start_command(&pool, &command);
	check_in_image(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
	check_ends(&child, 7 << 8);
	command.action_count = 2;
	child = start_command(&pool, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, 1);
	CHECK_EQUAL(failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(psys_strcmp(failure.subject, "/no such directory"), 0);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_filter_of_robust_futexes_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_set_robust_list, PSYS_ENOSYS);
	check_copied();
}

static const uint64_t ways[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_PRIVATE,
				 WAY_PRIVATE | ASPAWN_COMMAND_STARTED_FD, ASPAWN_COMMAND_NO_PIDFD };

static void check_end_of(int fd)
{
	struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };
	struct psys_timespec long_enough = { LONG / 1000, 0 };

	CHECK_EQUAL(psys_ppoll(&poll, 1, &long_enough, NULL, 0), 1);
}

/* The handle of a child in the image is like any other. */
TEST(a_child_in_the_image_is_polled_killed_and_waited_for)
{
	static const struct aspawn_action actions[] = { ASPAWN_SETPGID(0), NOTHING };

	needs_image();
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct aspawn_pool pool = { { 0 } };
		struct self self;
		struct aspawn_command command = command_in_role(&self, "lingers", NULL);
		const int descriptors = count_descriptors();

		command.actions = actions;
		command.action_count = 2;
		set_way(&command, ways[i]);
		struct aspawn_child child = start_command(&pool, &command);
		check_in_image(&child);
		CHECK_EQUAL(child.started_fd >= 0, (ways[i] & ASPAWN_COMMAND_STARTED_FD) != 0);
		if (child.started_fd >= 0) {
			char report[256];
			do /* at its end after the exec of the program, not before */
				check_end_of(child.started_fd);
			while (psys_read(child.started_fd, report, sizeof report) > 0);
			CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), 0);
		}
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_kill(&child, 0), 0);
		CHECK_EQUAL(psys_getpgid(aspawn_pid(&child)), aspawn_pid(&child));
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
		if (child.ended_fd >= 0)
			check_end_of(child.ended_fd);
		check_ends(&child, PSYS_SIGKILL);
		CHECK_EQUAL(aspawn_pool_release(&pool), 0);
		CHECK(!have_children());
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
}

TEST(the_image_searches_for_the_program_and_says_what_failed)
{
	static const char *const files[] = { "no-such-program", "./no such file", "/", "/dev/null",
					     "sub/dir" };

	needs_image();
	for (size_t i = 0; i < 2 * sizeof files / sizeof *files; i++) {
		static const struct aspawn_action nothing = NOTHING;
		struct aspawn_failure failures[2];
		char texts[2][256];

		for (int copied = 0; copied < 2; copied++) {
			char *const argv[] = { (char *)(uintptr_t)files[i / 2], NULL };
			const struct aspawn_command command = {
				.size = sizeof command,
				.argv = argv,
				.search_path = i % 2 ? "/sbin:/no such directory" : NULL,
				.actions = &nothing,
				.action_count = 1,
				.memory = copied ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
			};
			struct aspawn_child child = start_command(NULL, &command);

			pid_of(&child);
			CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE),
				    copied ? ASPAWN_MODE_FORK : ASPAWN_MODE_IMAGE);
			CHECK_EQUAL(aspawn_wait_started(&child, &failures[copied], -1),
				    -PSYS_ECANCELED);
			aspawn_failure_text(texts[copied], sizeof *texts, &failures[copied]);
			check_ends(&child, 127 << 8);
		}
		CHECK_EQUAL(psys_strcmp(texts[0], texts[1]), 0);
		CHECK_EQUAL(failures[0].step, failures[1].step);
		CHECK(failures[0].error < 0);
	}
}

/* Between the two execs the image is killed: nothing was executed. */
TEST(a_killed_image_has_executed_nothing)
{
	char path[64];
	struct self self;
	struct aspawn_failure failure;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	needs_image();
	make_named_pipe(path);
	const struct aspawn_action actions[] = { NOTHING, ASPAWN_OPEN(0, path, PSYS_O_RDONLY, 0) };
	command.actions = actions;
	command.action_count = 2;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		set_way(&command, ways[i]);
		struct aspawn_child child = start_command(NULL, &command);
		check_in_image(&child);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, 20), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, LONG), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_ECHILD);
		check_ends(&child, PSYS_SIGKILL);
	}
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
}

TEST(a_subreaper_gets_the_child_of_a_helper_killed_before_the_image)
{
	static const struct aspawn_action nothing = NOTHING;
	struct thread thread;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child;
	int killed = 0;

	needs_image_under_filters();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int descriptors = count_descriptors();
	command.actions = &nothing;
	command.action_count = 1;
	command.owner = ASPAWN_OWNER_PRIVATE;
	/* The helper is suspended until the child has executed the image. */
	hold_until_child_is_killed(PSYS_NR_memfd_create, &thread, &killed);
	child = start_command(NULL, &command);
	thread_join(&thread);
	if (!killed) {
		kill_lingering(aspawn_pid(&child));
		skip("no list of children in /proc");
	}
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), -PSYS_ECHILD);
	CHECK(count_descriptors() <= descriptors + 1); /* of the filter */
}

/* --- attempts that end before the image ------------------------------------------------------- */

static ASPAWN_CHILD int fails_with(void *error)
{
	return -(int)(intptr_t)error;
}

TEST(a_function_of_the_caller_runs_in_a_copy)
{
	needs_image();
	CHECK_SAME_IN(ASPAWN_MODE_FORK, NOTHING, ASPAWN_CALL(fails_with, NULL));
	CHECK_SAME_IN(ASPAWN_MODE_FORK, ASPAWN_CALL(fails_with, (void *)PSYS_EDOM), NOTHING);
}
