/* SPDX-License-Identifier: MIT */
/* attempts.h lists by which calls the caller and its helper try to begin a child, for each wish of
 * decide.c, and where a filter refuses some calls. */
#include "filter.h"
#include "pattern.h"
#include "tree.h"

/*
 * The letters of a call say the maker, c or h for the caller or its helper; 3, 2 or x for clone3,
 * clone and the execveat of the image; and the requests: M shared memory, V suspension, F the
 * descriptor table, P the caller as parent, G a cgroup, R no zombie, + a SIGCHLD at the end. A
 * refused call ends with "!". The last word says how the child was cloned, or why there is no
 * child.
 */
static const struct {
	uint64_t flag;
	char letter;
} letters[] = {
	{ PSYS_CLONE_VM, 'M' },     { PSYS_CLONE_VFORK, 'V' },       { PSYS_CLONE_FILES, 'F' },
	{ PSYS_CLONE_PARENT, 'P' }, { PSYS_CLONE_INTO_CGROUP, 'G' }, { PSYS_CLONE_AUTOREAP, 'R' },
};

enum who { BY_ANY, BY_CALLER, BY_HELPER };
enum { MOST_RULES = 2, ALL = 0 };

struct rule {
	long nr; /* ALL means either clone */
	enum who who;
	uint64_t set, clear; /* flags that the call has, and has not */
	int error;
};

static const struct refusal {
	const char *name;
	struct rule rules[MOST_RULES];
	bool of_groups; /* with an action for a cgroup only */
} refusals[] = {
	{ .name = "nothing" },
	{ .name = "clone3", .rules = { { PSYS_NR_clone3, .error = PSYS_ENOSYS } } },
	{ .name = "pidfds",
	  .rules = { { PSYS_NR_clone3, .error = PSYS_EPERM },
		     { PSYS_NR_clone, .set = PSYS_CLONE_PIDFD, .error = PSYS_EINVAL } } },
	{ .name = "shared memory",
	  .rules = { { ALL, .set = PSYS_CLONE_VM, .error = PSYS_EINVAL } } },
	{ .name = "suspension", .rules = { { ALL, .set = PSYS_CLONE_VFORK, .error = PSYS_EPERM } } },
	{ .name = "another's child",
	  .rules = { { ALL, .set = PSYS_CLONE_PARENT, .error = PSYS_EINVAL } } },
	{ .name = "helpers",
	  .rules = { { ALL, BY_CALLER, PSYS_CLONE_VM, PSYS_CLONE_CLEAR_SIGHAND | PSYS_CLONE_VFORK,
		       PSYS_EPERM } } },
	{ .name = "helpers for now",
	  .rules = { { ALL, BY_CALLER, PSYS_CLONE_VM, PSYS_CLONE_CLEAR_SIGHAND | PSYS_CLONE_VFORK,
		       PSYS_EAGAIN } } },
	{ .name = "their clones", .rules = { { ALL, BY_HELPER, .error = PSYS_EPERM } } },
	{ .name = "their clones for now", .rules = { { ALL, BY_HELPER, .error = PSYS_EAGAIN } } },
	{ .name = "the image", .rules = { { PSYS_NR_execveat, .error = PSYS_EACCES } } },
	{ .name = "all clones", .rules = { { ALL, .error = PSYS_EPERM } } },
#define GROUP(of, failure)                                                                         \
	{                                                                                          \
		.name = of, .of_groups = true, .rules = {                                          \
			{ PSYS_NR_clone3, .set = PSYS_CLONE_INTO_CGROUP, .error = PSYS_##failure } \
		}                                                                                  \
	}
	GROUP("a refused group", EBUSY),
	GROUP("a refused group", EACCES),
	GROUP("a refused group", EOPNOTSUPP),
	GROUP("a refused group", ENODEV),
	GROUP("EAGAIN of a group", EAGAIN),
	GROUP("ENOMEM of a group", ENOMEM),
};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

/* The first fitting row says the expected result. */
static const struct row {
	const char *refusal, *command, *attempts;
} rows[] = {
#include "attempts.h"
};

static const struct refusal *refusal; /* read by the supervisor */
static char seen[256];
static size_t length;

static void add(const char *text)
{
	length += psys_strlcpy(seen + length, text, sizeof seen - length);
	CHECK(length < sizeof seen);
}

static bool breaks(const struct seen_call *call, const struct rule *rule)
{
	return rule->error && (rule->nr ? call->nr == rule->nr : call->nr != PSYS_NR_execveat) &&
	       (!rule->who || call->by_caller == (rule->who == BY_CALLER)) &&
	       (call->flags & rule->set) == rule->set && !(call->flags & rule->clear);
}

/* No kernel that has CLONE_AUTOREAP shall differ from the others. */
static int see(const struct seen_call *call)
{
	const bool is_clone = call->nr != PSYS_NR_execveat;
	int error = is_clone && call->flags & PSYS_CLONE_AUTOREAP ? PSYS_EINVAL : 0;
	char text[16] = { call->by_caller ? 'c' : 'h', !is_clone                  ? 'x' :
						       call->nr == PSYS_NR_clone3 ? '3' :
										    '2' };
	size_t at = 2;

	for (size_t i = 0; is_clone && i < sizeof letters / sizeof *letters; i++)
		if (call->flags & letters[i].flag)
			text[at++] = letters[i].letter;
	if (is_clone && call->exit_signal)
		text[at++] = '+';
	for (int i = 0; i < MOST_RULES && !error; i++)
		if (breaks(call, &refusal->rules[i]))
			error = refusal->rules[i].error;
	text[at++] = error ? '!' : ' ';
	text[at] = error ? ' ' : '\0';
	add(text);
	return error;
}

/* The letters of a command say the owner, the memory, the closed descriptors, the reason for own
 * memory, the cgroup, and how many descriptors the caller has. */
enum { OWNER, MEMORY, CLOSES, ACTS, GROUP_OF, DESCRIPTORS, WISHES };
static const char *const wishes[] = { "cptd", "sfc", "-fb", "-uc", "-jn", "fm" };

static int call(void *arg)
{
	(void)arg;
	return 0;
}

static struct aspawn_command command_of(const int *wish, int group, struct aspawn_action *actions)
{
	static const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U),
					  function = ASPAWN_CALL(call, NULL);
	static char *const argv[] = { "no such program", NULL };
	struct aspawn_command command = { .size = sizeof command, .argv = argv, .actions = actions };
	size_t count = 0;

	command.owner = wish[OWNER] < 3 ? wish[OWNER] : ASPAWN_OWNER_CALLER;
	command.flags = wish[OWNER] == 3 ? ASPAWN_COMMAND_DIES_WITH_CALLER : 0;
	command.memory = wish[MEMORY];
	if (wish[GROUP_OF])
		actions[count++] = wish[GROUP_OF] == 1 ?
					   (struct aspawn_action)ASPAWN_JOIN_CGROUP(group) :
					   (struct aspawn_action)ASPAWN_NEW_CGROUP(group, 0, 0, 0);
	if (wish[ACTS])
		actions[count++] = user;
	if (wish[ACTS] == 2)
		actions[count++] = function;
	if (wish[CLOSES])
		actions[count++] = wish[CLOSES] == 1 ? (struct aspawn_action)ASPAWN_CLOSEFROM(3) :
						       (struct aspawn_action)ASPAWN_ONLY_BELOW(3);
	command.action_count = count;
	return command;
}

/* The command fails, at the latest since the program does not exist. */
static void try_command(const struct aspawn_command *command)
{
	static const char *const modes[] = { "none", "clone3", "clone", "vfork", "fork", "image" };
	struct aspawn_failure failure;
	struct aspawn_child child;

	length = 0;
	const int r = aspawn_start(&child, command);
	if (r < 0) {
		add(psys_errname(r));
		return;
	}
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
	add(failure.step == ASPAWN_STEP_CLONE ? psys_errname(failure.error) :
						modes[aspawn_describe(&child, ASPAWN_FACT_MODE)]);
}

/* Returns 1 if the attempts are not as listed, and prints them. */
static int check_command(const int *wish, int group)
{
	static struct aspawn_pool pool;
	static int starts;
	struct aspawn_action actions[4];
	struct aspawn_command command = command_of(wish, group, actions);
	const struct row *row = rows, *const end = rows + sizeof rows / sizeof *rows;
	char name[WISHES + 1] = "";

	for (int i = 0; i < WISHES; i++)
		name[i] = wishes[i][wish[i]];
	command.pool = starts++ % 2 ? &pool : NULL;
	try_command(&command);
	while (row < end &&
	       (psys_strcmp(row->refusal, refusal->name) || !fits_pattern(row->command, name)))
		row++;
	if (row < end && !psys_strcmp(row->attempts, seen))
		return 0;
	note(refusal->name, refusal - refusals);
	note(name, 0);
	note(seen, 0);
	return 1;
}

static bool next(int *wish)
{
	for (int i = 0; i < GROUP_OF; i++) {
		if (wishes[i][++wish[i]])
			return true;
		wish[i] = 0;
	}
	return false;
}

/* Checks in another process, as filters stay. kind is the action for the group, or 0. */
static void check_commands(int kind, int group, bool many)
{
	/* A slow machine tries others of the commands beside each refusal, but not all. */
	const int stride = scaled(50) < 50 ? 13 : 1;
	int wrong = 0, until_turn = 0; /* no remainder: 32-bit ARM has no division of its own */

	need_lists();
	if (observe(NULL, 0, "").mode != ASPAWN_MODE_CLONE3 ||
	    observe(&(struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U), 1, "").mode !=
		    ASPAWN_MODE_IMAGE)
		skip("the kernel refuses some itself");
	refusal = refusals;
	filter_show_clones(see);
	if (observe(&(struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U), 1, "").mode !=
	    ASPAWN_MODE_IMAGE)
		skip("the image is not executed under a supervisor here"); /* on Linux 5.10 */
	for (; refusal < refusals + REFUSALS; refusal++) {
		int wish[WISHES] = { [GROUP_OF] = kind, [DESCRIPTORS] = many };
		if (refusal->of_groups && !kind)
			continue;
		do {
			if ((wish[OWNER] && wish[MEMORY] == ASPAWN_MEMORY_SUSPENDED) ||
			    (kind >= 2 && wish[OWNER] != ASPAWN_OWNER_TREE) || until_turn-- > 0)
				continue;
			until_turn = stride - 1;
			wrong += check_command(wish, group);
		} while (next(wish));
	}
	CHECK_EQUAL(wrong, 0);
}

TEST(each_command_is_tried_in_the_listed_ways)
{
	check_commands(0, -1, false);
}

TEST(each_command_of_a_host_with_many_descriptors_is_tried_in_the_listed_ways)
{
	const struct psys_rlimit64 limit = { 4096, 4096 };

	if (psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL) < 0)
		skip("no so many descriptors");
	for (int fd = 100; fd < 1200; fd++)
		CHECK_EQUAL(psys_dup3(2, fd, PSYS_O_CLOEXEC), fd);
	check_commands(0, -1, true);
}

TEST(each_command_that_joins_a_group_is_tried_in_the_listed_ways)
{
	struct cgroup group;

	make_cgroup(&group);
	check_commands(1, group.fd, false);
	remove_cgroup(&group);
}

TEST(each_command_that_makes_a_group_is_tried_in_the_listed_ways)
{
	struct cgroup group;

	make_cgroup(&group);
	check_commands(2, group.fd, false);
	remove_cgroup(&group);
}
