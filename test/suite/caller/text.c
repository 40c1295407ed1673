/* SPDX-License-Identifier: MIT */
/* Tests of the texts of failures, statuses and outcomes, and of the version */
#include "observe.h"

enum { SIZE = 400 };

/* A source has the arguments of one of the three functions. */
struct source {
	const struct aspawn_failure *failure;
	const struct aspawn_io *io;
	int number; /* a status, or the result of a run */
};

static size_t text_of(const struct source *source, char *to, size_t size)
{
	return source->failure ? aspawn_failure_text(to, size, source->failure) :
	       source->io      ? aspawn_io_text(to, size, source->number, source->io) :
				 aspawn_status_text(to, size, source->number);
}

/* Checks the whole text, and its truncation at each size, as by snprintf(3). */
static void check_source(const struct source *source, const char *expected)
{
	const size_t length = psys_strlen(expected);
	char text[SIZE];

	for (size_t size = 0; size <= length + 3; size++) {
		psys_memset(text, '#', sizeof text);
		CHECK_EQUAL(text_of(source, text, size), length);
		const size_t shown = size == 0 ? 0 : size <= length ? size - 1 : length;
		if (psys_memcmp(text, expected, shown)) {
			text[sizeof text - 1] = '\0';
			note(text, (int64_t)size);
			check_failed(__FILE__, __LINE__, expected);
		}
		if (size)
			CHECK_EQUAL(text[shown], 0);
		for (size_t i = size ? shown + 1 : 0; i < sizeof text; i++)
			CHECK_EQUAL(text[i], '#');
	}
	CHECK_EQUAL(text_of(source, NULL, 0), length);
}

static void check_status(int status, const char *expected)
{
	const struct source source = { .number = status };

	check_source(&source, expected);
}

TEST(statuses_as_texts)
{
	check_status(0, "exit 0");
	check_status(3 << 8, "exit 3");
	check_status(127 << 8, "exit 127");
	check_status(255 << 8, "exit 255");
	check_status(-1, "no status");
	check_status(PSYS_SIGSEGV, "killed by SIGSEGV");
	check_status(PSYS_SIGKILL, "killed by SIGKILL");
	check_status(PSYS_SIGTERM, "killed by SIGTERM");
	check_status(PSYS_SIGXCPU, "killed by SIGXCPU");
	check_status(PSYS_SIGPWR, "killed by SIGPWR");
#ifdef PSYS_SIGSTKFLT
	check_status(PSYS_SIGSTKFLT, "killed by SIGSTKFLT");
#endif
	check_status(PSYS_SIGVTALRM, "killed by SIGVTALRM");
	check_status(PSYS_SIGABRT | 0x80, "killed by SIGABRT (core dumped)");
	check_status(40, "killed by signal 40");
	check_status(64, "killed by signal 64");
}

/* The kernel makes the statuses. */
TEST(statuses_of_children_as_texts)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	char text[64];
	int status;

	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGUSR1), 0);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
	aspawn_status_text(text, sizeof text, status);
	CHECK_EQUAL(psys_strcmp(text, "killed by SIGUSR1"), 0);
}

static struct aspawn_failure failure_of(int step, int error, uint32_t kind, const char *subject)
{
	struct aspawn_failure failure = { .step = step, .error = error, .kind = kind };

	psys_strlcpy(failure.subject, subject, sizeof failure.subject);
	return failure;
}

static void check_failure(int step, int error, uint32_t kind, const char *subject,
			  const char *expected)
{
	const struct aspawn_failure failure = failure_of(step, error, kind, subject);
	const struct source source = { .failure = &failure };

	check_source(&source, expected);
}

TEST(failures_as_texts)
{
	check_failure(2, -PSYS_ENOENT, ASPAWN_ACTION_CHDIR, "/srv/checks",
		      "action 2, chdir \"/srv/checks\": ENOENT");
	check_failure(0, -PSYS_EBADF, ASPAWN_ACTION_DUP2, "33", "action 0, dup2 33: EBADF");
	check_failure(0, -PSYS_EINVAL, ASPAWN_ACTION_SETPGID, "-5", "action 0, setpgid -5: EINVAL");
	check_failure(1, -PSYS_EPERM, ASPAWN_ACTION_SETSID, "", "action 1, setsid: EPERM");
	check_failure(9999999, -PSYS_EDOM, ASPAWN_ACTION_CALL, "", "action 9999999, call: EDOM");
	check_failure(1, -PSYS_EPERM, 0, "", "action 1: EPERM");
	check_failure(1, -PSYS_EPERM, 9999, "", "action 1: EPERM");
	check_failure(0, -PSYS_ECHILD, ASPAWN_ACTION_CALL, "",
		      "action 0, call: killed by a signal before the exec");
	check_failure(ASPAWN_STEP_DESCRIPTORS, -PSYS_ENOMEM, 0, "", "descriptors: ENOMEM");
	check_failure(ASPAWN_STEP_STREAMS, -PSYS_EBADF, 0, "333", "streams 333: EBADF");
	check_failure(ASPAWN_STEP_SEARCH, -PSYS_ENOENT, 0, "unmae", "search \"unmae\": ENOENT");
	check_failure(ASPAWN_STEP_EXEC, -PSYS_EACCES, 0, "/dev/null", "exec \"/dev/null\": EACCES");
	check_failure(ASPAWN_STEP_INTERPRETER, -PSYS_ENOENT, 0, "script",
		      "interpreter \"script\": ENOENT");
	check_failure(ASPAWN_STEP_CLONE, -PSYS_EAGAIN, 0, "", "clone: EAGAIN");
	check_failure(ASPAWN_STEP_SEARCH, -PSYS_ENOENT, 0, "7", "search \"7\": ENOENT");
	check_failure(0, -PSYS_ENOENT, ASPAWN_ACTION_CHDIR, "2026",
		      "action 0, chdir \"2026\": ENOENT");
	check_failure(0, -PSYS_EXDEV, ASPAWN_ACTION_WRITE, "/tmp/link",
		      "action 0, write \"/tmp/link\": EXDEV, a file of /proc: name it, "
		      "so that the image writes it");
	check_failure(ASPAWN_STEP_INTERPRETER, -PSYS_ENOENT, 0, "/bin/sh\r",
		      "interpreter \"/bin/sh\\r\": ENOENT");
	check_failure(0, -PSYS_ENOENT, ASPAWN_ACTION_CHDIR, "\t\n\x1b[2J\x7f\x01 \xc3\xa9",
		      "action 0, chdir \"\\t\\n\\x1b[2J\\x7f\\x01 \xc3\xa9\": ENOENT");
	check_failure(ASPAWN_STEP_NONE, -PSYS_ECHILD, 0, "", "killed by a signal before the exec");
	check_failure(-9, -PSYS_EPERM, 0, "", "unknown: EPERM");
	check_failure(INT32_MIN, -PSYS_EPERM, 0, "", "unknown: EPERM");
	check_failure(3, -9999, 0, "", "action 3: 9999");
	check_failure(3, 9999, 0, "", "action 3: 9999");
	check_failure(3, 0, ASPAWN_ACTION_CHDIR, "/srv", ""); /* none */
}

static void check_name(int step, uint32_t kind, const char *expected)
{
	struct aspawn_failure failure = failure_of(step, -PSYS_EPERM, kind, "subject");

	CHECK_EQUAL(psys_strcmp(aspawn_failure_name(&failure), expected), 0);
	failure.error = 0;
	CHECK_EQUAL(psys_strcmp(aspawn_failure_name(&failure), ""), 0);
}

/* For programs: a name never changes. */
TEST(a_failure_has_a_name)
{
	check_name(2, ASPAWN_ACTION_CHDIR, "chdir");
	check_name(0, ASPAWN_ACTION_RLIMIT, "rlimit");
	check_name(0, LAST_ACTION + 1, "");
	check_name(0, 0, "");
	check_name(ASPAWN_STEP_NONE, 0, "");
	check_name(ASPAWN_STEP_DESCRIPTORS, 0, "descriptors");
	check_name(ASPAWN_STEP_STREAMS, 0, "streams");
	check_name(ASPAWN_STEP_SEARCH, 0, "search");
	check_name(ASPAWN_STEP_EXEC, 0, "exec");
	check_name(ASPAWN_STEP_INTERPRETER, 0, "interpreter");
	check_name(ASPAWN_STEP_ARGUMENT, 0, "argument");
	check_name(ASPAWN_STEP_CLONE, 0, "clone");
	check_name(ASPAWN_STEP_CLONE - 1, 0, "");
	check_name(INT32_MIN, 0, "");
	CHECK_EQUAL(psys_strcmp(aspawn_failure_name(NULL), ""), 0);
}

TEST(texts_of_no_failure_and_null_are_empty)
{
	char text[8];

	for (size_t size = 0; size < 3; size++) {
		psys_memset(text, '#', sizeof text);
		CHECK_EQUAL(aspawn_failure_text(text, size, NULL), 0);
		CHECK_EQUAL(text[0], size ? 0 : '#');
		CHECK_EQUAL(text[1], '#');
		psys_memset(text, '#', sizeof text);
		CHECK_EQUAL(aspawn_io_text(text, size, -PSYS_EINVAL, NULL), 0);
		CHECK_EQUAL(text[0], size ? 0 : '#');
		CHECK_EQUAL(text[1], '#');
	}
}

TEST(each_kind_of_action_has_a_name)
{
	const char *names[LAST_ACTION + 1];

	for (uint32_t kind = 1; kind <= LAST_ACTION; kind++) {
		const struct aspawn_failure failure = failure_of(0, -PSYS_EPERM, kind, "");
		names[kind] = aspawn_failure_name(&failure);
		CHECK(*names[kind]);
		for (uint32_t other = 1; other < kind; other++)
			CHECK(psys_strcmp(names[kind], names[other]));
	}
}

/* Callers rely on the documented maximum of a buffer's size. */
TEST(the_longest_texts_have_the_documented_length)
{
	char subject[112], text[SIZE];

	for (uint32_t kind = 0; kind <= 2 * LAST_ACTION + 1; kind++) {
		psys_memset(subject, kind <= LAST_ACTION ? 'x' : '\x1b', sizeof subject);
		subject[111] = '\0';
		struct aspawn_io io = { .size = sizeof io, .outcome = ASPAWN_OUTCOME_NOT_STARTED };
		io.failure = failure_of(INT32_MAX, INT32_MIN, kind % (LAST_ACTION + 1), subject);
		CHECK(aspawn_failure_text(text, sizeof text, &io.failure) <= 255);
		CHECK_EQUAL(text[psys_strlen(text) - 1], '8'); /* of 2147483648 */
		CHECK(aspawn_io_text(text, sizeof text, -PSYS_ECANCELED, &io) <= 319);
	}
}

static void check_outcome(int result, int end, int status, const char *expected)
{
	struct aspawn_io io = { .size = sizeof io, .outcome = end, .status = status };
	const struct source source = { .io = &io, .number = result };

	io.failure = failure_of(ASPAWN_STEP_SEARCH, -PSYS_ENOENT, 0, "unmae");
	check_source(&source, expected);
}

TEST(outcomes_have_names)
{
	static const struct {
		int outcome;
		const char *name;
	} all[] = { { ASPAWN_OUTCOME_NONE, "none" },
		    { ASPAWN_OUTCOME_RAN, "ran" },
		    { ASPAWN_OUTCOME_NOT_STARTED, "not_started" },
		    { ASPAWN_OUTCOME_TIMED_OUT, "timed_out" },
		    { ASPAWN_OUTCOME_FULL, "full" },
		    { ASPAWN_OUTCOME_CANCELLED, "cancelled" },
		    { ASPAWN_OUTCOME_LOST, "lost" },
		    { ASPAWN_OUTCOME_OUT_OF_MEMORY, "out_of_memory" },
		    { ASPAWN_OUTCOME_OUT_OF_MEMORY + 1, "" },
		    { -1, "" } };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		CHECK_EQUAL(psys_strcmp(aspawn_outcome_name(all[i].outcome), all[i].name), 0);
}

TEST(outcomes_as_texts)
{
	check_outcome(0, ASPAWN_OUTCOME_RAN, 3 << 8, "exit 3");
	check_outcome(0, ASPAWN_OUTCOME_RAN, PSYS_SIGSEGV, "killed by SIGSEGV");
	check_outcome(-PSYS_ECANCELED, ASPAWN_OUTCOME_NOT_STARTED, 127 << 8,
		      "not started: search \"unmae\": ENOENT");
	check_outcome(-PSYS_ETIMEDOUT, ASPAWN_OUTCOME_TIMED_OUT, PSYS_SIGTERM,
		      "timed out, killed by SIGTERM");
	check_outcome(-PSYS_ETIMEDOUT, ASPAWN_OUTCOME_TIMED_OUT, 0, "timed out, exit 0");
	check_outcome(-PSYS_ETIMEDOUT, ASPAWN_OUTCOME_TIMED_OUT, -1, "timed out, no status");
	check_outcome(-PSYS_ENOBUFS, ASPAWN_OUTCOME_FULL, PSYS_SIGTERM,
		      "too much output, killed by SIGTERM");
	check_outcome(-77, ASPAWN_OUTCOME_CANCELLED, PSYS_SIGKILL, "cancelled, killed by SIGKILL");
	check_outcome(0, ASPAWN_OUTCOME_OUT_OF_MEMORY, PSYS_SIGKILL,
		      "out of memory, killed by SIGKILL");
	check_outcome(-PSYS_EMFILE, ASPAWN_OUTCOME_NONE, -1, "EMFILE");
	check_outcome(-PSYS_ECHILD, ASPAWN_OUTCOME_LOST, -1, "ECHILD");
	check_outcome(-9999, ASPAWN_OUTCOME_NONE, -1, "9999");
	check_outcome(0, ASPAWN_OUTCOME_OUT_OF_MEMORY + 1, 0, "exit 0");
	check_outcome(0, -1, 0, "exit 0");
}

/* --- subjects ------------------------------------------------------------------ */

static struct aspawn_failure failed(const struct aspawn_command *command, bool also_later)
{
	struct aspawn_failure first, later;
	struct aspawn_child child = start_command(NULL, command);

	CHECK_EQUAL(aspawn_wait_started(&child, &first, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_wait_started(&child, &later, -1), -PSYS_ECANCELED);
	if (also_later) {
		CHECK(later.step == first.step && later.error == first.error &&
		      later.kind == first.kind);
		const size_t length = psys_strlen(first.subject), kept = psys_strlen(later.subject);
		CHECK_EQUAL(kept, length < 39 ? length : 39);
		CHECK_EQUAL(psys_strcmp(later.subject, first.subject + length - kept), 0);
	}
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(aspawn_wait_started(&child, &later, 0), -PSYS_ECANCELED);
	CHECK(later.step == first.step && later.error == first.error && later.kind == first.kind);
	return first;
}

/* The end of a path says more than its beginning. */
TEST(subjects_too_long_keep_their_end)
{
	enum { most = sizeof((struct aspawn_failure *)0)->subject - 1 };
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_COPIED };
	struct self self;
	char path[300];

	for (size_t length = most - 2; length < most + 3; length++)
		for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
			struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
			struct aspawn_action action;

			for (size_t j = 0; j < length; j++)
				path[j] = (char)('a' + j % 26);
			path[0] = '/';
			path[length] = '\0';
			const char *kept = length > most ? path + length - most : path;
			set_way(&command, flags[i]);
			aspawn_action_chdir(&action, path);
			command.actions = &action;
			command.action_count = 1;
			struct aspawn_failure failure = failed(&command, true);
			CHECK_EQUAL(failure.step, 0);
			CHECK_EQUAL(failure.kind, ASPAWN_ACTION_CHDIR);
			CHECK_EQUAL(failure.reserved, 0);
			CHECK_EQUAL(psys_strcmp(failure.subject, kept), 0);
			command.actions = NULL;
			command.action_count = 0;
			command.file = path;
			failure = failed(&command, true);
			CHECK_EQUAL(failure.step, ASPAWN_STEP_EXEC);
			CHECK_EQUAL(failure.kind, 0);
			CHECK_EQUAL(psys_strcmp(failure.subject, kept), 0);
		}
}

static ASPAWN_CHILD int fails(void *arg)
{
	(void)arg;
	return -PSYS_EDOM;
}

static void check_subject(struct aspawn_action action, const char *text)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char told[256];

	command.actions = &action;
	command.action_count = 1;
	const struct aspawn_failure failure = failed(&command, true);
	aspawn_failure_text(told, sizeof told, &failure);
	if (!psys_strcmp(told, text))
		return;
	note(told, failure.step);
	check_failed(__FILE__, __LINE__, text);
}

TEST(failures_name_what_failed)
{
	check_subject((struct aspawn_action)ASPAWN_CHDIR("/no such directory"),
		      "action 0, chdir \"/no such directory\": ENOENT");
	check_subject((struct aspawn_action)ASPAWN_OPEN(5, "/no such file", PSYS_O_RDONLY, 0),
		      "action 0, open \"/no such file\": ENOENT");
	check_subject((struct aspawn_action)ASPAWN_OPENAT(5, 333, "file", PSYS_O_RDONLY, 0),
		      "action 0, open \"file\": EBADF");
	check_subject((struct aspawn_action)ASPAWN_DUP2(333, 4), "action 0, dup2 333: EBADF");
	check_subject((struct aspawn_action)ASPAWN_FCHDIR(333), "action 0, fchdir 333: EBADF");
	check_subject((struct aspawn_action)ASPAWN_SETPGID(-1), "action 0, setpgid -1: EINVAL");
	check_subject((struct aspawn_action)ASPAWN_WRITE("/no such file", "text"),
		      "action 0, write \"/no such file\": ENOENT");
	check_subject((struct aspawn_action)ASPAWN_CALL(fails, NULL), "action 0, call: EDOM");
	check_subject((struct aspawn_action)ASPAWN_RLIMIT(999, 1, 1),
		      "action 0, rlimit 999: EINVAL");
	check_subject((struct aspawn_action)ASPAWN_CHDIR(""), "action 0, chdir: ENOENT");
}

TEST(outcomes_of_runs_as_texts)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io };
	char text[320];
	int r = aspawn_run(&command, &io);

	aspawn_io_text(text, sizeof text, r, &io);
	CHECK_EQUAL(psys_strcmp(text, "exit 7"), 0);
	command.file = "/no such program";
	r = aspawn_run(&command, &io);
	aspawn_io_text(text, sizeof text, r, &io);
	CHECK_EQUAL(psys_strcmp(text, "not started: exec \"/no such program\": ENOENT"), 0);
	command = command_in_role(&self, "lingers", NULL);
	io.time_limit_ms = 1;
	io.grace_ms = LONG;
	r = aspawn_run(&command, &io);
	aspawn_io_text(text, sizeof text, r, &io);
	CHECK_EQUAL(psys_strcmp(text, "timed out, killed by SIGTERM"), 0);
}

static ASPAWN_CHILD int kills_itself(void *signal)
{
	return psys_kill(psys_getpid(), (int)(intptr_t)signal);
}

static ASPAWN_CHILD int says_echild(void *unused)
{
	(void)unused;
	return -PSYS_ECHILD;
}

static void check_run(uint64_t flags, struct aspawn_action action, const char *expected)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io };
	char text[320];

	set_way(&command, flags);
	command.actions = &action;
	command.action_count = 1;
	int r = aspawn_run(&command, &io);
	CHECK_EQUAL(r, -PSYS_ECANCELED);
	aspawn_io_text(text, sizeof text, r, &io);
	if (!psys_strcmp(text, expected))
		return;
	note(text, io.status);
	check_failed(__FILE__, __LINE__, expected);
}

/* "not started: ECHILD" */
TEST(an_outcome_names_the_signal_that_killed_the_child_before_its_exec)
{
	static const struct aspawn_action dies = ASPAWN_CALL(kills_itself, (void *)PSYS_SIGKILL);

	/* Only with shared memory can the caller see which action died. */
	check_run(0, dies,
		  memory_is_shared() ?
			  "not started: action 0, call: killed by SIGKILL before the exec" :
			  "not started: killed by SIGKILL before the exec");
	check_run(WAY_COPIED, dies, "not started: killed by SIGKILL before the exec");
	check_run(0, (struct aspawn_action)ASPAWN_CALL(says_echild, NULL),
		  "not started: action 0, call: ECHILD");
}

TEST(the_version_equals_the_headers)
{
	CHECK_EQUAL(aspawn_version(), ASPAWN_VERSION);
	CHECK_EQUAL(ASPAWN_VERSION, ASPAWN_VERSION_MAJOR * 10000 + ASPAWN_VERSION_MINOR * 100 +
					    ASPAWN_VERSION_PATCH);
}
