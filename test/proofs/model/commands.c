/* SPDX-License-Identifier: MIT */
/* Makes random commands. The operands are few and near each other. Actions therefore meet: most
 * commands can be executed, and many actions undo or replace the effects of earlier actions. */
#define _GNU_SOURCE
#include "model.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <syscall/file.h>
#include <syscall/syscall.h>

#include "attacks.h"

void random_begin(struct random *random, uint64_t number)
{
	random->state = number * 0x9E3779B97F4A7C15ULL + 0x1234567;
	for (int i = 0; i < 8; i++)
		random_below(random, 2);
}

unsigned random_below(struct random *random, unsigned end)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return (unsigned)(random->state >> 11) % end;
}

ASPAWN_CHILD int call_umask(void *mask)
{
	return psys_umask((unsigned)(uintptr_t)mask) < 0;
}

ASPAWN_CHILD int call_failing(void *error)
{
	return -(int)(uintptr_t)error;
}

/* --- operands ------------------------------------------------------------- */

static const struct psys_sigset no_signals,
	all_signals = { { ~0UL } },
	two_signals = { { 1UL << (SIGTERM - 1) | 1UL << (SIGUSR1 - 1) } },
	odd_signals = { { 1UL << (SIGKILL - 1) | 1UL << (SIGCHLD - 1) | 1UL << 39 } };
static const unsigned long masks[][16] = { { 1 }, { 3 }, { 0 }, { ~0UL } };
static const unsigned groups[] = { 7, 8, 9 };
static const struct psys_rlimit64 limit = { 100, 200 };
static const struct psys_sock_filter allow[] = { { 6, 0, 0, 0x7fff0000 } };

static const struct psys_sigset *random_set(struct random *random, const char **name)
{
	static const struct psys_sigset *const sets[] = { &no_signals, &all_signals, &two_signals,
							  &odd_signals };
	static const char *const names[] = { "&no_signals", "&all_signals", "&two_signals",
					     "&odd_signals" };
	const unsigned index = random_below(random, 4);

	*name = names[index];
	return sets[index];
}

/* Rare operands make a command fail: most commands are to execute their program. */
static bool is_rare(struct random *random)
{
	return random_below(random, 12) == 0;
}

static int random_fd(struct random *random)
{
	if (is_rare(random))
		return ONE_OF(random, 3, 4, CLOSED_FD);
	return ONE_OF(random, 0, 1, 2, FILE_FD, NULL_FD, DIRECTORY_FD, CLOEXEC_FD, NAMESPACE_FD,
		      OTHER_FILE_FD, HIGH_FD);
}

static int random_target(struct random *random)
{
	return ONE_OF(random, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 130, 140);
}

/* --- an action ------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void
set_step(struct step *step, struct aspawn_action action, const char *format, ...)
{
	va_list arguments;

	step->action = action;
	va_start(arguments, format);
	vsnprintf(step->text, sizeof step->text, format, arguments);
	va_end(arguments);
}

/* The operands are evaluated twice. */
#define SET(MACRO, format, ...)                                           \
	set_step(step, (struct aspawn_action)ASPAWN_##MACRO(__VA_ARGS__), \
		 "ASPAWN_" #MACRO "(" format ")", __VA_ARGS__)
#define SET_PLAIN(MACRO) \
	set_step(step, (struct aspawn_action)ASPAWN_##MACRO(), "ASPAWN_" #MACRO "()")

static void open_something(struct step *step, struct random *random)
{
	const int fd = random_target(random),
		  flags = ONE_OF(random, O_RDONLY, O_RDONLY, O_RDONLY | O_CLOEXEC,
				 O_RDONLY | O_NONBLOCK);
	const char *path = ONE_STRING_OF(random, "/dev/null", "/etc/passwd", "plain", "/none",
					 "/proc/self/fd/5", "/dev/fd/130", "/proc/self/fd/6");
	const int directory = ONE_OF(random, DIRECTORY_FD, DIRECTORY_FD, CLOSED_FD, FILE_FD),
		  resolve = ONE_OF(random, 0, PSYS_RESOLVE_BENEATH),
		  writing = ONE_OF(random, O_WRONLY, O_RDWR, O_WRONLY | O_CLOEXEC);

	switch (random_below(random, 5)) {
	case 0:
		SET(OPENAT, "%d, %d, \"%s\", %#o, %d", fd, directory, "plain", flags, 0);
		break;
	case 1:
		SET(OPENAT2, "%d, %d, \"%s\", %#o, %d, %d", fd, directory, "plain", flags, 0,
		    resolve);
		break;
	case 2:
		SET(OPEN, "%d, \"%s\", %#o, %d", fd, "/dev/null", writing, 0);
		break;
	default:
		SET(OPEN, "%d, \"%s\", %#o, %d", fd, path, flags, 0);
	}
}

static void change_descriptors(struct step *step, struct random *random)
{
	const int fd = random_fd(random), to = random_target(random),
		  first = ONE_OF(random, 3, 3, 3, 6, 8, 100, 131),
		  librarys = ONE_OF(random, 3, 4, 10, 11); /* which it may have there */

	switch (random_below(random, 11)) {
	case 0:
		SET(CLOSE, "%d", fd);
		break;
	case 1:
		SET(CLOSEFROM, "%d", to < 4 ? to : first);
		break;
	case 2:
		SET(ONLY_BELOW, "%d", first);
		break;
	case 3:
		SET(CLOEXEC_FROM, "%d", first);
		break;
	case 4:
		SET(DUP2, "%d, %d", librarys, to);
		break;
	case 5:
	case 6:
	case 7:
		open_something(step, random);
		break;
	default:
		SET(DUP2, "%d, %d", fd, to);
	}
}

static void change_environment(struct step *step, struct random *random)
{
	const char *name = ONE_STRING_OF(random, "A", "B", "PATH", "C"),
		   *value = ONE_STRING_OF(random, "1", "", "/bin", world.paths, "sub",
					  world.directory);

	switch (random_below(random, 5)) {
	case 0:
		SET(UNSETENV, "\"%s\"", name);
		break;
	case 1:
		if (random_below(random, 3) == 0) {
			SET_PLAIN(CLEARENV);
			break;
		}
		/* fall through */
	default:
		SET(SETENV, "\"%s\", \"%s\"", name, value);
	}
}

static void change_directory(struct step *step, struct random *random)
{
	const int fd = ONE_OF(random, DIRECTORY_FD, DIRECTORY_FD, FILE_FD, CLOSED_FD);
	const unsigned mask = (unsigned)ONE_OF(random, 0, 077, 027);
	const char *root = ONE_STRING_OF(random, "/", "/proc/self/root", "/", "/", "/", "plain"),
		   *path = ONE_STRING_OF(random, "/", "sub", "..", "/etc", "/proc", "/",
					 "/etc/passwd", "/dev/fd/7");

	switch (random_below(random, 4)) {
	case 0:
		SET(FCHDIR, "%d", fd);
		break;
	case 1:
		SET(UMASK, "%#o", mask);
		break;
	case 2:
		SET(CHROOT, "\"%s\"", root);
		break;
	default:
		SET(CHDIR, "\"%s\"", path);
	}
}

static void change_session(struct step *step, struct random *random)
{
	const int fd = ONE_OF(random, FILE_FD, NULL_FD, CLOSED_FD);

	if (is_rare(random))
		SET(CONTROLLING_TERMINAL, "%d", fd);
	else if (is_rare(random))
		SET(FOREGROUND, "%d", fd);
	else if (random_below(random, 2))
		SET(SETPGID, "%d", 0);
	else
		SET_PLAIN(SETSID);
}

static void change_signals(struct step *step, struct random *random)
{
	const char *name;
	const struct psys_sigset *set = random_set(random, &name);
	const int signal = ONE_OF(random, SIGHUP, SIGINT, SIGKILL, SIGCHLD, 34, 64),
		  of_parent = ONE_OF(random, 0, SIGHUP, SIGTERM);

/* Prints the set's name. */
#define SET_OF_SIGNALS(MACRO) \
	set_step(step, (struct aspawn_action)ASPAWN_##MACRO(set), "ASPAWN_" #MACRO "(%s)", name)
	switch (random_below(random, 7)) {
	case 0:
		SET_PLAIN(RESET_SIGNALS);
		break;
	case 1:
		SET_OF_SIGNALS(SIGMASK);
		break;
	case 2:
		SET_OF_SIGNALS(SIGNALS_DEFAULT);
		break;
	case 3:
		SET_OF_SIGNALS(SIGNALS_IGNORE);
		break;
	case 4:
		SET(SIGNAL_DEFAULT, "%d", signal);
		break;
	case 5:
		SET(SIGNAL_IGNORE, "%d", signal);
		break;
	default:
		SET(PDEATHSIG, "%d", of_parent);
	}
#undef SET_OF_SIGNALS
}

static void change_limits(struct step *step, struct random *random)
{
	static const struct {
		int resource;
		uint64_t soft, hard;
	} limits[] = { { 0, 100, 200 },
		       { 1, 1 << 30, 1 << 30 },
		       { 2, 1 << 30, 1 << 30 },
		       { 4, 100, 200 },
		       { 4, 200, 100 },
		       { 6, 1 << 20, 1 << 20 },
		       { 7, 300, 400 },
		       { 8, 100, 1 << 30 },
		       { 9, 1 << 30, 1 << 30 },
		       { 10, 100, 1 << 20 },
		       { 11, 100, 200 },
		       { 12, 100, 200 },
		       { 13, 1, 2 },
		       { 14, 1, 2 },
		       { 99, 1, 2 } };
	const unsigned index = random_below(random, sizeof limits / sizeof *limits);
	const int mask = ONE_OF(random, 0, 1, 2, 3), nice = ONE_OF(random, 0, 5, 19, -3),
		  policy = ONE_OF(random, 0, 3, 5, 99),
		  class = ONE_OF(random, 2 << 13 | 3, 3 << 13, 2 << 13 | 9),
		  score = ONE_OF(random, 0, 100, 1000, 1001, -5);
	const unsigned persona = (unsigned)ONE_OF(random, 0, 0x40000, 8, 0x0200000);

	switch (random_below(random, 7)) {
	case 0:
		SET(NICE, "%d", nice);
		break;
	case 1:
		SET(SCHEDULER, "%d, %d", policy, 0);
		break;
	case 2:
		set_step(step, (struct aspawn_action)ASPAWN_AFFINITY(masks[mask], 8),
			 "ASPAWN_AFFINITY(masks[%d], 8)", mask);
		break;
	case 3:
		SET(IOPRIO, "%#x", class);
		break;
	case 4:
		SET(OOM_SCORE_ADJ, "%d", score);
		break;
	case 5:
		SET(PERSONALITY, "%#x", persona);
		break;
	default:
		SET(RLIMIT, "%d, %llu, %llu", limits[index].resource,
		    (unsigned long long)limits[index].soft, (unsigned long long)limits[index].hard);
	}
}

static void change_user(struct step *step, struct random *random)
{
	const unsigned user = (unsigned)ONE_OF(random, 0, 1000, 65534),
		       count = (unsigned)ONE_OF(random, 0, 2, 3);
	const unsigned id[] = { (unsigned)ONE_OF(random, -1, 0, 1000),
				(unsigned)ONE_OF(random, -1, 0, 1000),
				(unsigned)ONE_OF(random, -1, 0, 1000) };

	switch (random_below(random, 4)) {
	case 0:
		set_step(step, (struct aspawn_action)ASPAWN_GROUPS(groups, count),
			 "ASPAWN_GROUPS(groups, %u)", count);
		break;
	case 1:
		SET(RESUID, "%d, %d, %d", (int)id[0], (int)id[1], (int)id[2]);
		break;
	case 2:
		SET(RESGID, "%d, %d, %d", (int)id[0], (int)id[1], (int)id[2]);
		break;
	default:
		set_step(step, (struct aspawn_action)ASPAWN_USER(user, user, groups, count),
			 "ASPAWN_USER(%u, %u, groups, %u)", user, user, count);
	}
}

static void change_rights(struct step *step, struct random *random)
{
	const int filter = ONE_OF(random, 1, 1, 0), fd = ONE_OF(random, FILE_FD, CLOSED_FD),
		  ambient = ONE_OF(random, 0, 7, 21, 63, 64, -1),
		  dropped = ONE_OF(random, -1, 0, 7, 21, 40, 63);
	const unsigned bits = (unsigned)ONE_OF(random, 0, 1 << 4, 3, 0x15, 1 << 6);

	switch (random_below(random, 6)) {
	case 0:
		SET(CAP_AMBIENT, "%d", ambient);
		break;
	case 1:
		SET(SECUREBITS, "%#x", bits);
		break;
	case 2:
		SET_PLAIN(NO_NEW_PRIVS);
		break;
	case 3:
		set_step(step, (struct aspawn_action)ASPAWN_SECCOMP(allow, (size_t)filter),
			 "ASPAWN_SECCOMP(allow, %d)", filter);
		break;
	case 4:
		if (is_rare(random)) {
			SET(LANDLOCK, "%d, %u", fd, 0U);
			break;
		}
		/* fall through */
	default:
		SET(CAP_DROP, "%d", dropped);
	}
}

static void change_namespaces(struct step *step, struct random *random)
{
	const int fd = ONE_OF(random, NAMESPACE_FD, NAMESPACE_FD, NAMESPACE_FD, FILE_FD),
		  type = ONE_OF(random, 0, CLONE_NEWUTS, CLONE_NEWUTS, CLONE_NEWNET);
	const unsigned kinds = (unsigned)ONE_OF(
		random, CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
		CLONE_NEWCGROUP, CLONE_FS, 0x80 /* NEWTIME */, CLONE_NEWUTS | CLONE_NEWIPC);

	if (is_rare(random))
		SET(MOUNT, "\"%s\", \"%s\", \"%s\", %d, \"%s\"", "none", "/none", "tmpfs", 0, "");
	else if (is_rare(random))
		SET(PIVOT_ROOT, "\"%s\", \"%s\"", "/none", "/none");
	else if (random_below(random, 3) == 0)
		SET(SETNS, "%d, %#x", fd, type);
	else
		SET(UNSHARE, "%#x", kinds);
}

static void write_or_call(struct step *step, struct random *random)
{
	const uintptr_t mask = (uintptr_t)ONE_OF(random, 022, 0, 0777);
	const char *path = ONE_STRING_OF(random, "/proc/self/oom_score_adj", "/proc/self/comm",
					 "/proc/thread-self/timerslack_ns", "/proc/self/clear_refs",
					 "/proc/self/coredump_filter", "/none", world.link,
					 world.link, "plain", "/proc/self/setgroups",
					 "/proc/self/oom_adj"),
		   *text = ONE_STRING_OF(random, "8", "5", "100", "deny");

	switch (random_below(random, 5)) {
	case 0:
		set_step(step, (struct aspawn_action)ASPAWN_CALL(call_umask, (void *)mask),
			 "ASPAWN_CALL(call_umask, %#o)", (unsigned)mask);
		break;
	case 1:
		if (is_rare(random)) {
			set_step(step, (struct aspawn_action)ASPAWN_CALL(call_failing, (void *)5L),
				 "ASPAWN_CALL(call_failing, 5)");
			break;
		}
		/* fall through */
	default:
		SET(WRITE, "\"%s\", \"%s\"", path, text);
	}
}

static void change_cgroup(struct step *step, struct random *random)
{
	const int fd = ONE_OF(random, DIRECTORY_FD, FILE_FD, CLOSED_FD);

	if (random_below(random, 2))
		SET(JOIN_CGROUP, "%d", fd);
	else
		SET(NEW_CGROUP, "%d, %d, %d, %d", DIRECTORY_FD, 0, 0, 0);
}

#define SET_CALL(name, a, b, c, marks, expected)                                           \
	set_step(step,                                                                     \
		 (struct aspawn_action)ASPAWN_SYSCALL(SYS_##name, a, b, c, 0, 0, 0, marks, \
						      expected),                           \
		 "ASPAWN_SYSCALL(SYS_" #name ", %lld, %lld, %lld, 0, 0, 0, %#x, %d)",      \
		 (long long)(a), (long long)(b), (long long)(c), marks, expected)

static void make_syscall(struct step *step, struct random *random)
{
	static const struct {
		int option;
		int64_t argument;
		const char *text;
	} attributes[] = { { PR_SET_TIMERSLACK, 12345, "PR_SET_TIMERSLACK, 12345" },
			   { PR_SET_DUMPABLE, 0, "PR_SET_DUMPABLE, 0" },
			   { PR_SET_THP_DISABLE, 1, "PR_SET_THP_DISABLE, 1" },
			   { PR_SET_KEEPCAPS, 1, "PR_SET_KEEPCAPS, 1" },
			   { PR_SET_CHILD_SUBREAPER, 1, "PR_SET_CHILD_SUBREAPER, 1" } };
	const unsigned index = random_below(random, sizeof attributes / sizeof *attributes);
	const int fd = ONE_OF(random, FILE_FD, CLOEXEC_FD, CLOSED_FD, HIGH_FD),
		  id = ONE_OF(random, 0, 1000),
		  expected = ONE_OF(random, ASPAWN_EXPECTED_ANY, ASPAWN_EXPECTED_SUCCESS, -2);
	const char *path = ONE_STRING_OF(random, "/etc", "/none");
	const int value = ONE_OF(random, 0, 1);

	switch (random_below(random, 12)) {
	case 0:
		SET_CALL(umask, 033, 0, 0, 0U, ASPAWN_EXPECTED_SUCCESS);
		break;
	case 1:
		SET_CALL(setrlimit, 4, (uintptr_t)&limit, 0, ASPAWN_ARG_BYTES(1, 16),
			 ASPAWN_EXPECTED_SUCCESS);
		break;
	case 2:
		SET_CALL(setuid, id, 0, 0, 0U, ASPAWN_EXPECTED_ANY);
		break;
	case 3:
		SET_CALL(chdir, (uintptr_t)path, 0, 0, ASPAWN_ARG_STRING(0), expected);
		break;
	case 4:
		SET_CALL(setpriority, 0, 0, 7, 0U, 0);
		break;
	case 5:
		SET_CALL(mlockall, 3, 0, 0, 0U, ASPAWN_EXPECTED_ANY);
		break;
	case 6:
		SET_CALL(setgroups, 0, 0, 0, 0U, ASPAWN_EXPECTED_SUCCESS);
		break;
	case 7:
	case 8:
	case 9:
		SET(FCNTL, "%d, %d, %d", fd, F_SETFD, value);
		break;
	case 10:
		SET(KEYCTL, "%d, %d, %d, %d, %d", 1, 0, 0, 0, 0);
		break;
	default:
		set_step(step,
			 (struct aspawn_action)ASPAWN_PRCTL(attributes[index].option,
							    attributes[index].argument, 0, 0, 0),
			 "ASPAWN_PRCTL(%s, 0, 0, 0)", attributes[index].text);
	}
}

/* These functions make steps, by subject. */
static void (*const makers[])(struct step *, struct random *) = {
	change_descriptors, change_descriptors, change_descriptors, change_descriptors,
	change_environment, change_directory,   change_session,     change_signals,
	change_signals,     change_limits,      change_user,        change_rights,
	change_namespaces,  write_or_call,      make_syscall
};

static unsigned random_subject(struct random *random)
{
	return random_below(random, sizeof makers / sizeof *makers);
}

/* Two thirds of the steps have one of two subjects: actions of the same subjects are to meet. */
static void steps_make(struct trial *trial, struct random *random)
{
	const unsigned subjects[] = { random_subject(random), random_subject(random) };

	for (struct step *step = trial->steps; step < trial->steps + trial->count; step++) {
		const unsigned any = random_subject(random), choice = random_below(random, 3);
		if (random_below(random, 50) == 0)
			change_cgroup(step, random);
		else
			makers[choice < 2 ? subjects[choice] : any](step, random);
	}
}

/* --- a command ------------------------------------------------------------ */

/* The cgroup of a tree comes first, and alone. */
static void order_cgroups(struct trial *trial)
{
	int kept = 0;

	for (int i = 0; i < trial->count; i++) {
		const uint32_t kind = trial->steps[i].action.kind;
		if ((kind == ASPAWN_ACTION_NEW_CGROUP &&
		     (i > 0 || trial->owner != ASPAWN_OWNER_TREE)) ||
		    (kind == ASPAWN_ACTION_JOIN_CGROUP &&
		     trial->steps[0].action.kind == ASPAWN_ACTION_NEW_CGROUP))
			continue;
		trial->steps[kept++] = trial->steps[i];
	}
	trial->count = kept;
}

/* Repeats nothing with a quota, for example a keyring. Half of the commands use a high descriptor
 * again and again. The child has to fetch the descriptor, as only low descriptors are copied. */
static void repeat_first(struct trial *trial, struct random *random)
{
	struct step *step = trial->steps;

	if (random_below(random, 2)) {
		SET(DUP2, "%d, %d", HIGH_FD, 10);
		step++;
		SET(ONLY_BELOW, "%d", 20);
		trial->count = 2;
	}
	if (trial->count && trial->steps[0].action.kind <= ASPAWN_ACTION_CLEARENV)
		trial->repeats = MOST_REPEATS;
}

static const char *random_file(struct random *random)
{
	if (is_rare(random))
		return ONE_STRING_OF(random, "plain", "./plain", "/none", "nothing",
				     "./model-orphan", "model-orphan");
	return ONE_STRING_OF(random, world.reporter, world.reporter, world.reporter,
			     "model-reporter", "model-reporter", "./model-reporter", "model-script",
			     "./model-script", "model-text", "./model-text");
}

/* An ATTACK_STOP takes a second. */
static const char *random_argument(const struct trial *trial, struct random *random)
{
	if (trial->owner == ASPAWN_OWNER_CALLER || !is_rare(random))
		return ONE_STRING_OF(random, "", "x y", "*");
	if (random_below(random, 24) == 0)
		return ATTACK_STOP;
	return ONE_STRING_OF(random, ATTACK_TRACE, ATTACK_TRACED_END, ATTACK_LEAVE, ATTACK_LIMIT);
}

static uint64_t random_flags(const struct trial *trial, struct random *random)
{
	static const uint64_t any[] = {
		ASPAWN_COMMAND_STARTED_FD,         ASPAWN_COMMAND_SHELL_ON_ENOEXEC,
		ASPAWN_COMMAND_RELATIVE_TO_CALLER, ASPAWN_COMMAND_NO_PIDFD,
		ASPAWN_COMMAND_NONBLOCK,           ASPAWN_COMMAND_INHERIT_SIGNALS
	};
	uint64_t flags = 0;

	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		if (random_below(random, 5) == 0)
			flags |= any[i];
	if (trial->owner != ASPAWN_OWNER_CALLER && random_below(random, 4) == 0)
		flags |= ASPAWN_COMMAND_DIES_WITH_CALLER;
	if (trial->owner == ASPAWN_OWNER_TREE && random_below(random, 4) == 0)
		flags |= ASPAWN_COMMAND_TREE_OR_GROUP;
	return flags;
}

static void run_make(struct trial *trial, struct random *random)
{
	trial->is_run = true;
	trial->has_output = trial->streams[1] == ASPAWN_STREAM_DEFAULT && random_below(random, 2);
	trial->has_errors =
		trial->streams[2] == ASPAWN_STREAM_DEFAULT && random_below(random, 4) == 0;
	trial->has_input = trial->streams[0] == ASPAWN_STREAM_DEFAULT && random_below(random, 2);
	trial->has_limit = random_below(random, 3) == 0;
	if (random_below(random, 4) == 0)
		trial->io_flags |= ASPAWN_IO_KILL_GROUP;
}

void trial_make(struct trial *trial, uint64_t number)
{
	struct random r, *const random = &r;

	random_begin(random, number);
	memset(trial, 0, sizeof *trial);
	trial->number = number;
	trial->owner = ONE_OF(random, 0, 0, 1, 2);
	trial->memory = ONE_OF(random, 0, 0, 0, 0, 1, 2);
	if (trial->owner != ASPAWN_OWNER_CALLER && trial->memory == ASPAWN_MEMORY_SUSPENDED)
		trial->memory = ASPAWN_MEMORY_SHARED;
	trial->count = (int)random_below(random, random_below(random, 3) ? 5 : MOST_STEPS + 1);
	steps_make(trial, random);
	order_cgroups(trial);
	if (random_below(random, 40) == 0)
		repeat_first(trial, random);
	trial->file = random_file(random);
	trial->argument = random_argument(trial, random);
	trial->search_path = ONE_STRING_OF(random, NULL, NULL, NULL, world.paths, "", "/none::sub",
					   "plain:/bin");
	trial->streams[0] = ONE_OF(random, 0, 0, 0, -1, -2, -4, FILE_FD, OTHER_FILE_FD, NULL_FD);
	trial->streams[1] = ONE_OF(random, 0, 0, 0, -1, -2, -4, NULL_FD, OTHER_FILE_FD, 1);
	trial->streams[2] = ONE_OF(random, 0, 0, 0, -1, -2, -3, -4, NULL_FD, 2);
	if (is_rare(random))
		trial->streams[random_below(random, 3)] = CLOSED_FD;
	trial->stop_signal = ONE_OF(random, 0, 0, 0, SIGINT, SIGHUP, SIGUSR2, 40);
	trial->has_pool = random_below(random, 2);
	trial->flags = random_flags(trial, random);
	trial->order = random_below(random, ORDERS);
	if (random_below(random, 2))
		run_make(trial, random);
}

size_t trial_actions(const struct trial *trial, struct aspawn_action *actions)
{
	size_t count = 0;

	for (int i = 0; i < trial->count; i++) {
		const int times = i == 0 ? 1 + trial->repeats : 1;
		for (int n = 0; n < times; n++)
			actions[count++] = trial->steps[i].action;
	}
	return count;
}

bool trial_has(const struct trial *trial, uint32_t kind)
{
	for (int i = 0; i < trial->count; i++)
		if (trial->steps[i].action.kind == kind)
			return true;
	return false;
}

/* --- a simpler command ---------------------------------------------------- */

static bool simplify_number(int *number)
{
	const bool is_simple = *number == 0;

	*number = 0;
	return !is_simple;
}

static bool simplify_flag(uint64_t *flags, uint64_t flag)
{
	const bool is_set = *flags & flag;

	*flags &= ~flag;
	return is_set;
}

static bool simplify_boolean(bool *value)
{
	const bool is_set = *value;

	*value = false;
	return is_set;
}

/* Without input and buffers a run is a start. */
static bool simplify_run(struct trial *trial)
{
	return !trial->has_input && !trial->has_output && !trial->has_errors && !trial->io_flags &&
	       simplify_boolean(&trial->is_run);
}

static bool remove_step(struct trial *trial, int index)
{
	if (index >= trial->count)
		return false;
	trial->count--;
	memmove(&trial->steps[index], &trial->steps[index + 1],
		sizeof *trial->steps * (size_t)(trial->count - index));
	return true;
}

static bool simplify_file(struct trial *trial)
{
	const bool is_simple = trial->file == world.reporter;

	trial->file = world.reporter;
	return !is_simple;
}

static bool simplify_argument(struct trial *trial)
{
	const bool is_simple = !*trial->argument;

	trial->argument = "";
	return !is_simple;
}

static bool simplify_search_path(struct trial *trial)
{
	const bool is_simple = !trial->search_path;

	trial->search_path = NULL;
	return !is_simple;
}

static bool simplify_order(struct trial *trial)
{
	const bool is_simple = trial->order == STARTED_FIRST;

	trial->order = STARTED_FIRST;
	return !is_simple;
}

bool trial_simplify(struct trial *trial, int way, bool *is_last)
{
	enum { FLAGS = 8 };

	*is_last = false;
	if (way < MOST_STEPS)
		return remove_step(trial, MOST_STEPS - 1 - way);
	way -= MOST_STEPS;
	if (way < FLAGS)
		return simplify_flag(&trial->flags, 1U << way);
	switch (way - FLAGS) {
	case 0:
		return simplify_number(&trial->repeats);
	case 1:
	case 2:
	case 3:
		return simplify_number(&trial->streams[way - FLAGS - 1]);
	case 4:
		return simplify_number(&trial->stop_signal);
	case 5:
		return simplify_number(&trial->memory);
	case 6:
		return simplify_boolean(&trial->has_pool);
	case 7:
		return simplify_boolean(&trial->has_limit);
	case 8:
		return simplify_boolean(&trial->has_input);
	case 9:
		return simplify_boolean(&trial->has_output);
	case 10:
		return simplify_boolean(&trial->has_errors);
	case 11:
		return simplify_flag(&trial->io_flags, ASPAWN_IO_KILL_GROUP);
	case 12:
		return simplify_run(trial);
	case 13:
		return simplify_file(trial);
	case 14:
		return simplify_search_path(trial);
	case 15:
		return simplify_order(trial);
	case 16:
		return simplify_argument(trial);
	case 17:
		return !(trial->flags &
			 (ASPAWN_COMMAND_DIES_WITH_CALLER | ASPAWN_COMMAND_TREE_OR_GROUP)) &&
		       !trial_has(trial, ASPAWN_ACTION_NEW_CGROUP) &&
		       simplify_number(&trial->owner);
	default:
		*is_last = true;
		return false;
	}
}

static void print_flags(uint64_t flags)
{
	static const char *const names[] = { "STARTED_FD",         "SHELL_ON_ENOEXEC",
					     "RELATIVE_TO_CALLER", "NO_PIDFD",
					     "NONBLOCK",           "DIES_WITH_CALLER",
					     "TREE_OR_GROUP",      "INHERIT_SIGNALS" };

	for (int i = 0; i < 8; i++)
		if (flags >> i & 1)
			printf("# flag ASPAWN_COMMAND_%s\n", names[i]);
}

void trial_print(const struct trial *trial)
{
	static const char *const owners[] = { "CALLER", "PRIVATE", "TREE" },
				 *const memories[] = { "SHARED", "SUSPENDED", "COPIED" },
				 *const orders[] = {
					 "aspawn_wait_started() first", "aspawn_pid() first",
					 "aspawn_pidfd() first",        "aspawn_ended() first",
					 "aspawn_wait_started() last",  "and killed"
				 };

	for (int i = 0; i < trial->count; i++)
		printf("# action %d: %s\n", i, trial->steps[i].text);
	if (trial->repeats)
		printf("# the first action %d times more\n", trial->repeats);
	print_flags(trial->flags);
	printf("# file \"%s\", argument \"%s\", search_path \"%s\", owner %s, memory %s, "
	       "streams %d %d %d, stop_signal %d, pool %d\n",
	       trial->file, trial->argument, trial->search_path ? trial->search_path : "(null)",
	       owners[trial->owner], memories[trial->memory], trial->streams[0], trial->streams[1],
	       trial->streams[2], trial->stop_signal, trial->has_pool);
	if (trial->is_run)
		printf("# by aspawn_run(): input %d, out %d, err %d, limit %d, flags %#llx\n",
		       trial->has_input, trial->has_output, trial->has_errors, trial->has_limit,
		       (unsigned long long)trial->io_flags);
	else
		printf("# by aspawn_start(), %s\n", orders[trial->order]);
}
