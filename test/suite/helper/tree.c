/* SPDX-License-Identifier: MIT */
/* Tests of trees: a command ends with all its descendants */
#include "tree.h"

/* --- hostile trees ---------------------------------------------------------------------- */

struct hostile {
	unsigned seed;
	int *left; /* processes that may be made, of all */
};

static unsigned any_below(struct hostile *hostile, unsigned limit)
{
	hostile->seed ^= hostile->seed << 13;
	hostile->seed ^= hostile->seed >> 17;
	hostile->seed ^= hostile->seed << 5;
	return (hostile->seed >> 3) % limit;
}

static void misbehave(struct hostile *hostile, int generation);

static int sprout(struct hostile *hostile, int generation, unsigned long flags)
{
	if (generation > 8 || __atomic_sub_fetch(hostile->left, 1, __ATOMIC_RELAXED) < 0)
		return -1;
	const int pid = psys_clone(flags | PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid)
		return pid;
	hostile->seed = hostile->seed * 2654435761U + (unsigned)generation + 1;
	misbehave(hostile, generation + 1);
	if (any_below(hostile, 3))
		sleep_ms(600000);
	psys_exit_group(0);
}

static void double_fork(struct hostile *hostile, int generation)
{
	if (fork_child())
		return;
	sprout(hostile, generation, 0);
	psys_exit_group(0);
}

static void misbehave(struct hostile *hostile, int generation)
{
	for (int steps = 1 + (int)any_below(hostile, 5); steps > 0; steps--)
		switch (any_below(hostile, 14)) {
		case 0:
			psys_setsid();
			break;
		case 1:
			psys_setpgid(0, 0);
			break;
		case 2:
			double_fork(hostile, generation);
			break;
		case 3:
			set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
			break;
		case 4:
			set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
			break;
		case 5:
			psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
			break;
		case 6:
			sprout(hostile, generation, PSYS_CLONE_PARENT);
			break;
		case 7:
			sprout(hostile, generation, PSYS_CLONE_VFORK);
			break;
		case 8: /* held by its parent, or by whoever gets it */
			psys_ptrace(0 /* PTRACE_TRACEME */, 0, NULL, NULL);
			break;
		case 9:
			psys_kill(psys_getpid(), PSYS_SIGSTOP);
			break;
		case 10:
			psys_exit_group(0);
		default:
			sprout(hostile, generation, 0);
			break;
		}
}

/* The argument is a seed. Odd: the program exits; even: the program stays. */
ROLE(hostile)
{
	struct hostile hostile = { 0, shared_page() };

	for (const char *at = argc > 1 ? argv[1] : ""; *at; at++)
		hostile.seed = hostile.seed * 10 + (unsigned)(*at - '0');
	const bool exits = hostile.seed & 1;
	*hostile.left = 24;
	/* The kernel sends SIGHUP if a group with a stopped member is orphaned. */
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	hostile.seed = (hostile.seed + 1) * 2654435761U;
	for (int i = 0; i < 4; i++) {
		sprout(&hostile, 0, 0);
		if (any_below(&hostile, 3) == 0)
			double_fork(&hostile, 0);
	}
	psys_write(1, "x", 1);
	if (!exits)
		sleep_ms(600000);
	return 7;
}

static void end_with_caller(const char *seed)
{
	int fds[2], *gate = shared_page();

	CHECK_EQUAL(psys_pipe2(fds, PSYS_O_CLOEXEC), 0);
	const int host = fork_child();
	if (host == 0) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "hostile", seed);
		command.std_out = fds[1];
		command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_TREE);
		gate_open(gate);
		sleep_ms(600000);
	}
	psys_close(fds[1]);
	gate_wait(gate);
	psys_kill(host, PSYS_SIGKILL);
	CHECK_EQUAL(reap(host), 128 + PSYS_SIGKILL);
	check_all_have_ended(fds[0], LONG);
}

static void end_by_run(const char *seed)
{
	char text[64];
	struct self self;
	struct aspawn_command command = tree_command(&self, "hostile", seed);
	struct aspawn_io io = { .size = sizeof io,
				.out = text,
				.out_size = sizeof text,
				.time_limit_ms = 3,
				.grace_ms = 5 };

	const int r = aspawn_run(&command, &io);
	CHECK(r == -PSYS_ETIMEDOUT || r == -PSYS_ECANCELED || (r == 0 && io.status == 7 << 8));
}

static void end_by_itself_or_order(const char *seed, int way)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "hostile", seed);
	struct aspawn_child child = start_command(NULL, &command);
	int status;

	const bool exits = (seed[psys_strlen(seed) - 1] - '0') & 1;
	if (way == 1 || !exits) {
		sleep_ms(way);
		const int r = aspawn_kill_tree(&child, way == 2 ? 10 : ASPAWN_GRACE_NONE);
		CHECK(r == 0 || (exits && r == -PSYS_ESRCH));
	}
	const int r = aspawn_wait(&child, &status, NULL, LONG);
	CHECK(r == 0 || r == -PSYS_ECANCELED);
	CHECK(status == 7 << 8 || status == PSYS_SIGKILL || status == PSYS_SIGTERM);
	check_all_have_ended(child.out_fd, 0);
}

/* SUITE_TREES is the number of trees. The seeds are numbers from SUITE_SEED on. */
static int setting(const char *name, int usual)
{
	const char *text = psys_getenv(environment, name);
	int number = 0;

	for (; text && *text; text++)
		number = number * 10 + (*text - '0');
	return number ? number : usual;
}

TEST_SECONDS(hostile_trees_end_as_a_whole, 1000)
{
	const int usual = scaled(200) < 100 ? 100 : scaled(200);
	const int first = setting("SUITE_SEED", 1), count = setting("SUITE_TREES", usual);

	need_lists();
	/* Members may be in this process's group. */
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	for (int i = first; i < first + count; i++) {
		char seed[PSYS_DECIMAL_SIZE];
		seed[psys_i64_to_decimal(seed, i)] = '\0';
		if (i % 5 == 3)
			end_with_caller(seed);
		else if (i % 5 == 4)
			end_by_run(seed);
		else
			end_by_itself_or_order(seed, i % 5);
	}
	check_nothing_is_left();
}
