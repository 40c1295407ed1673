/* SPDX-License-Identifier: MIT */
/* Filters trap a call (SECCOMP_RET_TRAP), and the caller's handler lets the call fail with
 * ENOSYS. */
#include "filter.h"
#include "private.h"
#include "queues.h"
#include "sanitizer.h"

/* --- the ways --------------------------------------------------------------------------- */

enum { PLAIN, CLOSES, ONLY_BELOW, SUSPENDED, COPIED, COPIES, OWNED, TREES, JOBS, LOCAL_JOBS, WAYS };
static const char *const names[WAYS] = { "plain",  "closefrom",  "only_below", "suspended",
					 "copied", "copy",       "private",    "tree",
					 "queue",  "local queue" };

/* The exit status of a process shows how the start ended. */
enum { RUNS = 70, FAILS, DIES_OF_SIGSYS, IS_WRONG };

static struct aspawn_command command_of(int way, struct self *self, struct aspawn_action *action)
{
	struct aspawn_command command = command_in_role(self, "blocks_no_signal", NULL);

	command.actions = action;
	command.action_count = way == CLOSES || way == ONLY_BELOW || way == COPIES;
	command.memory = way == SUSPENDED ? ASPAWN_MEMORY_SUSPENDED :
			 way == COPIED    ? ASPAWN_MEMORY_COPIED :
					    ASPAWN_MEMORY_SHARED;
	command.owner = way == OWNED ? ASPAWN_OWNER_PRIVATE :
			way == TREES ? ASPAWN_OWNER_TREE :
				       ASPAWN_OWNER_CALLER;
	if (way == CLOSES)
		aspawn_action_closefrom(action, 3);
	else if (way == ONLY_BELOW)
		aspawn_action_only_below(action, 3);
	else if (way == COPIES)
		*action = (struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U);
	return command;
}

/* Returns 7 unless the program began with another mask than the caller's. */
ROLE(blocks_no_signal)
{
	const struct psys_sigset mask = get_mask();

	(void)argc, (void)argv;
	for (int signal = 1; signal <= PSYS_NSIG; signal++)
		if (psys_sigismember(&mask, signal))
			return 1;
	return 7;
}

static bool is_named(int error)
{
	return psys_strcmp(psys_errname(error), "unknown error") != 0;
}

static int end_as(int result, int status, int error)
{
	if (result == 0 && status == 7 << 8)
		return RUNS;
	/* The runtime of a sanitizer may make the call in the program. */
	if ((error == -PSYS_ECHILD || HAS_ASAN) && status == PSYS_SIGSYS)
		return DIES_OF_SIGSYS;
	return result < 0 && is_named(result) ? FAILS : IS_WRONG;
}

static int run(int way)
{
	struct aspawn_action action;
	struct self self;
	const struct aspawn_command command = command_of(way, &self, &action);
	struct aspawn_io io = { .size = sizeof io };
	char text[300];
	const int r = aspawn_run(&command, &io);
	const int end = end_as(r, io.status, io.failure.error);

	if (end == IS_WRONG) {
		aspawn_io_text(text, sizeof text, r, &io);
		note(text, r);
	}
	return end;
}

static int run_job(int way)
{
	const struct aspawn_queue_options options = {
		.size = sizeof options, .flags = way == LOCAL_JOBS ? ASPAWN_QUEUE_LOCAL : 0
	};
	struct aspawn_job job = { .size = sizeof job };
	struct aspawn_queue *queue;
	int r = aspawn_queue_create(&queue, &options);

	if (r < 0)
		return is_named(r) ? FAILS : IS_WRONG;
	const int64_t ticket = submit(queue, job, "blocks_no_signal", NULL);
	CHECK(ticket > 0 || is_named((int)ticket));
	if (ticket <= 0)
		return FAILS;
	const struct aspawn_result *result = next_result(queue);
	r = result->outcome == ASPAWN_OUTCOME_RAN ? 0 : -PSYS_ECANCELED;
	const int status = result->status, error = result->failure.error;
	give_back(queue, result);
	close_queue(queue);
	return end_as(r, status, error);
}

/* As reap(), but also reaps children whose helper was killed: not every init does. */
static int reap_with_orphans(int pid)
{
	int status = -1, r = 0;

	while (r != pid && (r >= 0 || r == -PSYS_EINTR))
		r = psys_wait4(-1, &status, 0, NULL);
	CHECK_EQUAL(r, pid);
	return PSYS_WIFSIGNALED(status) ? 128 + PSYS_WTERMSIG(status) : PSYS_WEXITSTATUS(status);
}

/* Starts by this way in a process that traps the call. Without clone3, the child inherits the
 * caller's handlers too. */
static int try(int way, long nr, bool without_clone3)
{
	const struct psys_sigset before = get_mask();
	const int pid = fork_child();

	if (pid == 0) {
		if (without_clone3)
			filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
		const int *foreign = filter_trap_to_enosys(nr);
		const int end = way >= JOBS ? run_job(way) : run(way);
		CHECK_EQUAL(*foreign, 0); /* on the memory of the caller */
		CHECK(same_mask(get_mask(), before) || nr == PSYS_NR_rt_sigprocmask);
		psys_exit_group(end);
	}
	return reap_with_orphans(pid);
}

static void need_traps(void)
{
	need_shared_memory();
	psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	filter_trap_to_enosys(PSYS_NR_getpriority);
	CHECK_EQUAL(psys_getpriority(PSYS_PRIO_PROCESS, 0), -PSYS_ENOSYS);
}

TEST(a_trapped_clone3_falls_back_to_clone)
{
	need_traps();
	for (int way = 0; way < WAYS; way++) {
		const int end = try(way, PSYS_NR_clone3, false);
		if (end != RUNS)
			note(names[way], end);
		CHECK_EQUAL(end, RUNS);
	}
}

/* The caller, helper, child or server makes each of these calls. */
TEST(a_trapped_call_does_not_kill_the_caller)
{
	static const long calls[] = {
		PSYS_NR_clone,        PSYS_NR_close_range,    PSYS_NR_pidfd_open,
		PSYS_NR_rt_sigaction, PSYS_NR_rt_sigprocmask, PSYS_NR_waitid,
		PSYS_NR_getppid,      PSYS_NR_prctl,          PSYS_NR_statx,
		PSYS_NR_mprotect,     PSYS_NR_madvise,        PSYS_NR_pipe2,
	};

	need_traps();
	for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls; i++)
		for (int way = 0; way < WAYS; way++) {
			const int end = try(way, calls[i / 2], i % 2);
			if (end != RUNS && end != FAILS && end != DIES_OF_SIGSYS) {
				note(names[way], calls[i / 2]);
				CHECK_EQUAL(end, RUNS);
			}
		}
}

/* --- what ends is named -------------------------------------------------------------------- */

static bool contains(const char *text, const char *part)
{
	const size_t length = psys_strlen(part);

	while (*text && psys_strncmp(text, part, length))
		text++;
	return *text;
}

static void check_text(int way, long nr, const char *expected)
{
	const int pid = fork_child();

	if (pid == 0) {
		struct aspawn_action action;
		struct self self;
		const struct aspawn_command command = command_of(way, &self, &action);
		struct aspawn_io io = { .size = sizeof io };
		char text[300] = "";

		filter_trap_to_enosys(nr);
		const int r = aspawn_run(&command, &io);
		CHECK_EQUAL(r, -PSYS_ECANCELED);
		aspawn_io_text(text, sizeof text, r, &io);
		if (!contains(text, expected))
			note(text, r);
		psys_exit_group(contains(text, expected) ? 0 : 1);
	}
	CHECK_EQUAL(reap(pid), 0);
}

TEST(a_trapped_call_of_the_child_is_named_sigsys)
{
	need_traps();
	check_text(ONLY_BELOW, PSYS_NR_close_range, "killed by SIGSYS before the exec");
	check_text(CLOSES, PSYS_NR_close_range, "killed by SIGSYS before the exec");
}

TEST(a_trapped_call_of_the_helper_is_named_sigsys)
{
	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	const bool has_image = observe(&user, 1, "").mode == ASPAWN_MODE_IMAGE;

	need_traps();
	check_text(OWNED, PSYS_NR_getppid, "clone: killed by SIGSYS before the exec");
	check_text(TREES, PSYS_NR_getppid, "clone: killed by SIGSYS before the exec");
	if (has_image)
		check_text(COPIES, PSYS_NR_getppid, "clone: killed by SIGSYS before the exec");
}

/* With ASPAWN_IO_KILL_GROUP the start waits until the helper has cloned the child. */
TEST(a_start_fails_with_enosys_whose_helper_makes_a_trapped_call)
{
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };
	struct aspawn_action action;
	struct self self;
	const struct aspawn_command command = command_of(OWNED, &self, &action);

	need_traps();
	filter_trap_to_enosys(PSYS_NR_getppid);
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOSYS);
}

TEST(a_queue_fails_with_enosys_whose_server_makes_a_trapped_call)
{
	struct aspawn_queue *queue;

	need_traps();
	filter_trap_to_enosys(PSYS_NR_close_range);
	CHECK_EQUAL(aspawn_queue_create(&queue, NULL), -PSYS_ENOSYS);
}

/* --- other signals of that number ---------------------------------------------------------- */

static int handled;

static void on_sigsys(int signal)
{
	(void)signal;
	handled++;
}

ROLE(blocks_sigsys)
{
	const struct psys_sigset mask = get_mask();

	(void)argc, (void)argv;
	return psys_sigismember(&mask, PSYS_SIGSYS) ? 7 : 1;
}

TEST(a_sigsys_that_the_caller_blocks_stays_blocked)
{
	struct psys_sigset mask = get_mask(), pending;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "blocks_sigsys", NULL);

	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	set_handler(PSYS_SIGSYS, on_sigsys);
	psys_sigaddset(&mask, PSYS_SIGSYS);
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE), 0);
	CHECK_EQUAL(psys_kill(psys_getpid(), PSYS_SIGSYS), 0);
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	CHECK(same_mask(get_mask(), mask));
	CHECK_EQUAL(psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE), 0);
	CHECK(psys_sigismember(&pending, PSYS_SIGSYS) && handled == 0);
}
