/* SPDX-License-Identifier: MIT */
/* aspawn_start() waits for no other process, and maps no memory once its pool has some. All kinds
 * of commands take turns, from one pool. */
#include "../../../aspawn/spawn/stack.h"
#include "filter.h"
#include "private.h"
#include "queues.h"

static struct aspawn_pool pool;
static int armed;
static long waited; /* the number of a call that may have waited */

/* --- the kinds ------------------------------------------------------------------------ */

enum { PLAIN, CLOSES, OWNED, TREES, COPIES, OTHER_USER, JOINS, KINDS };
static const char *const names[KINDS] = { "plain", "closefrom", "private",    "tree",
					  "copy",  "user",      "join_cgroup" };
static int cgroup = -1;

/* Skips what this process may not do. */
static bool can_start(int kind)
{
	return (kind != OTHER_USER || psys_getuid() == 0) && (kind != JOINS || cgroup >= 0);
}

static struct aspawn_command command_of(int kind, struct self *self, struct aspawn_action *action)
{
	struct aspawn_command command = command_in_role(self, "lingers", NULL);

	command.pool = &pool;
	command.actions = action;
	command.action_count = kind == CLOSES || kind >= COPIES;
	if (kind == CLOSES) {
		aspawn_action_closefrom(action, 3);
		command.std_in = command.std_out = command.std_err = ASPAWN_STREAM_PIPE;
	} else if (kind == OWNED || kind == TREES) {
		command.owner = kind == TREES ? ASPAWN_OWNER_TREE : ASPAWN_OWNER_PRIVATE;
		command.flags = kind == TREES ? ASPAWN_COMMAND_TREE_OR_GROUP : 0;
	} else if (kind == COPIES) {
		*action = (struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U);
	} else if (kind == OTHER_USER) {
		aspawn_action_user(action, 65534, 65534, NULL, 0);
	} else if (kind == JOINS) {
		aspawn_action_join_cgroup(action, cgroup);
	}
	return command;
}

static struct aspawn_child start_kind(int kind)
{
	struct aspawn_action action;
	struct self self;
	const struct aspawn_command command = command_of(kind, &self, &action);
	struct aspawn_child child;

	waited = 0;
	__atomic_store_n(&armed, true, __ATOMIC_RELEASE);
	const int r = aspawn_start(&child, &command);
	__atomic_store_n(&armed, false, __ATOMIC_RELEASE);
	if (waited)
		note(names[kind], waited);
	CHECK_EQUAL(waited, 0);
	CHECK_EQUAL(r, 0);
	psys_close(child.in_fd);
	psys_close(child.out_fd);
	psys_close(child.err_fd);
	CHECK_EQUAL(why_not_started(&child), 0);
	return child;
}

static void end_child(struct aspawn_child *child)
{
	CHECK_EQUAL(aspawn_kill(child, PSYS_SIGKILL), 0);
	check_ends(child, PSYS_SIGKILL);
}

/* --- a helper that is ending ------------------------------------------------------------- */

/* Makes a process that traces the helper, and returns the tracer. The parent of an ended helper
 * cannot reap the helper before the tracer has ended. */
static int trace(int helper)
{
	enum { PTRACE_SEIZE = 0x4206 };
	int *traces = shared_page();
	const int tracer = fork_child();

	if (tracer == 0) {
		const int r = psys_ptrace(PTRACE_SEIZE, helper, NULL, NULL);
		*traces = r < 0 ? r : 1;
		gate_open(traces + 1);
		sleep_ms(600000);
		psys_exit_group(0);
	}
	gate_wait(traces + 1);
	const int r = *traces;
	psys_munmap(traces, 65536);
	need_call(r, "no ptrace");
	return tracer;
}

/* Leaves the pool a stack that a helper has left before its end. Returns the helper's tracer. */
static int leave_ending_helper(int kind)
{
	struct aspawn_child child = start_kind(kind);
	if (aspawn_describe(&child, ASPAWN_FACT_HELPER) ==
	    ASPAWN_HELPER_NONE) { /* there is no image */
		end_child(&child);
		return 0;
	}
	const struct stack_state *state = stack_state(stack_of(&child));
	const bool is_callers = aspawn_describe(&child, ASPAWN_FACT_OWNER) == ASPAWN_OWNER_CALLER;
	const int helper = state->helper_pid, pid = aspawn_pid(&child);

	if (!helper || state->begun.helped == AUTOREAPED) {
		end_child(&child);
		return 0;
	}
	const int tracer = trace(helper);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
	if (is_callers)
		CHECK_EQUAL(reap(pid), 128 + PSYS_SIGKILL);
	while (__atomic_load_n(&state->helper, __ATOMIC_ACQUIRE) != NO_HELPER)
		sleep_ms(1);
	return tracer;
}

static void submit_one(struct aspawn_queue *queue)
{
	const struct aspawn_job job = { .out_size = 0 };

	waited = 0;
	__atomic_store_n(&armed, true, __ATOMIC_RELEASE);
	const int64_t ticket = submit(queue, job, "exit_7", NULL);
	__atomic_store_n(&armed, false, __ATOMIC_RELEASE);
	CHECK_EQUAL(waited, 0);
	CHECK(ticket > 0);
	give_back(queue, next_result(queue));
}

static void check_starts(void)
{
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .size = sizeof(struct aspawn_queue_options) });
	int held = 0;

	if (psys_getuid() == 0)
		need_others_to_reach_program();
	filter_refuse_waits(&armed, &waited);
	submit_one(queue); /* the first on its stack */
	const int before = count_mappings();
	for (int earlier = OWNED; earlier < KINDS; earlier++) {
		const int tracer = can_start(earlier) ? leave_ending_helper(earlier) : 0;
		if (!tracer)
			continue;
		held++;
		for (int later = 0; later < KINDS; later++) {
			if (!can_start(later))
				continue;
			struct aspawn_child child = start_kind(later);
			end_child(&child);
		}
		submit_one(queue);
		kill_lingering(tracer);
		release_pool(&pool); /* reaps the helper */
		CHECK_EQUAL(count_mappings(), before);
	}
	note("helpers that were ending:", held);
	close_queue(queue);
	check_nothing_is_left();
}

TEST(no_start_waits_for_a_helper_that_is_ending)
{
	need_shared_memory();
	check_starts();
}

TEST(no_start_waits_for_a_helper_of_a_cgroup_that_is_ending)
{
	struct cgroup group;

	need_shared_memory();
	make_cgroup(&group);
	cgroup = group.fd;
	check_starts();
	remove_cgroup(&group);
}

/* --- the calls of a warm start --------------------------------------------------------------- */

static int calls;
static long unwanted; /* the number of a call that may have waited, or has changed the mappings */

/* A helper of each stack may have ended; on some architectures the vDSO has no clock. */
static bool is_usual(long nr)
{
#ifdef PSYS_NR_clock_gettime
	if (nr == PSYS_NR_clock_gettime)
		return true;
#endif
#ifdef PSYS_NR_clock_gettime64
	if (nr == PSYS_NR_clock_gettime64)
		return true;
#endif
	return nr == PSYS_NR_waitid;
}

static void count_call(const struct psys_seccomp_data *call, bool may_wait)
{
	static const long mapping[] = {
#ifdef PSYS_NR_mmap
		PSYS_NR_mmap,
#endif
#ifdef PSYS_NR_mmap2
		PSYS_NR_mmap2,
#endif
		PSYS_NR_munmap, PSYS_NR_mprotect, PSYS_NR_madvise, PSYS_NR_brk, PSYS_NR_mremap,
	};

	calls += may_wait || !is_usual(call->nr);
	for (size_t i = 0; i < sizeof mapping / sizeof *mapping; i++)
		may_wait = may_wait || call->nr == mapping[i];
	if (may_wait)
		unwanted = call->nr;
}

/* What the caller of each kind calls with clone3(2): the masks, the pipes, the clone,
 * what helper and image need. */
static const int most_calls[KINDS] = { 3, 9, 5, 5, 9, 9, 9 };

/* Returns how the child was cloned. Copies are not judged: to copy the memory is no warm start. */
static int check_start(int kind, bool is_judged)
{
	calls = 0;
	unwanted = 0;
	struct aspawn_child child = start_kind(kind);
	const int counted = calls, mode = aspawn_describe(&child, ASPAWN_FACT_MODE);

	end_child(&child);
	if (is_judged && mode != ASPAWN_MODE_FORK) {
		if (unwanted || counted > most_calls[kind])
			note(names[kind], counted);
		CHECK_EQUAL(unwanted, 0);
		CHECK(counted <= most_calls[kind]);
	}
	return mode;
}

/* Gives the pool a stack for each kind. A helper that is about to end may still use one or two. */
static void warm_pool(void)
{
	struct aspawn_child children[KINDS];

	for (int kind = 0; kind < KINDS; kind++)
		if (can_start(kind))
			children[kind] = start_kind(kind);
	for (int kind = 0; kind < KINDS; kind++)
		if (can_start(kind))
			end_child(&children[kind]);
}

static void check_submission(struct aspawn_queue *queue)
{
	calls = 0;
	unwanted = 0;
	submit_one(queue);
	CHECK_EQUAL(unwanted, 0);
	CHECK(calls <= 1); /* to wake the server */
}

static void check_calls(void)
{
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .size = sizeof(struct aspawn_queue_options) });

	if (psys_getuid() == 0)
		need_others_to_reach_program();
	filter_show_calls(&armed, count_call);
	if (check_start(PLAIN, false) != ASPAWN_MODE_CLONE3)
		skip("no clone3");
	warm_pool();
	submit_one(queue);
	for (int earlier = 0; earlier < KINDS; earlier++)
		for (int later = 0; can_start(earlier) && later < KINDS; later++) {
			if (!can_start(later))
				continue;
			check_start(earlier, true);
			check_start(later, true);
			check_submission(queue);
		}
	close_queue(queue);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_warm_start_neither_waits_nor_maps)
{
	need_shared_memory();
	check_calls();
}

TEST(a_warm_start_in_a_cgroup_neither_waits_nor_maps)
{
	struct cgroup group;

	need_shared_memory();
	make_cgroup(&group);
	cgroup = group.fd;
	check_calls();
	remove_cgroup(&group);
}
