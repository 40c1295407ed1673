/* SPDX-License-Identifier: MIT */
/* How a child begins, for each owner, memory, closing of descriptors, stream, group and user. */
#include "tree.h"

enum { MARK = 50 }; /* a descriptor that the program inherits unless an action closes it */
enum { RUNS = 16, HAS_MARK = 1, IS_CALLERS = 2 };

ROLE(tells_how_it_began)
{
	int host = 0;

	for (const char *at = argc == 2 ? argv[1] : ""; *at; at++)
		host = host * 10 + (*at - '0');
	return RUNS | (psys_fcntl(MARK, PSYS_F_GETFD, 0) >= 0 ? HAS_MARK : 0) |
	       (psys_getppid() == host ? IS_CALLERS : 0);
}

struct way {
	uint64_t flags;
	int owner, memory;
	const struct aspawn_action *descriptors, *user, *group; /* NULL: none */
	bool piped;
};

static int shared_mode, image_mode;

/* The clone joins a control group from Linux 5.7 on. */
static int expected_mode(const struct way *way)
{
	const bool joins = way->group && !way->user && shared_mode == ASPAWN_MODE_CLONE3;

	if (way->memory == ASPAWN_MEMORY_COPIED)
		return ASPAWN_MODE_FORK;
	if (joins || (way->memory && !way->user && !way->group))
		return ASPAWN_MODE_VFORK;
	if (way->user || way->group)
		return way->memory ? ASPAWN_MODE_FORK : image_mode;
	return shared_mode;
}

static struct aspawn_command command_of(const struct way *way, struct self *self,
					struct aspawn_action actions[3])
{
	const struct aspawn_action *const all[] = { way->group, way->user, way->descriptors };
	static char host[PSYS_DECIMAL_SIZE];
	struct aspawn_command command;

	psys_i64_to_decimal(host, psys_getpid());
	command = command_in_role(self, "tells_how_it_began", host);
	command.flags = way->flags;
	command.owner = way->owner;
	command.memory = way->memory;
	command.std_out = way->piped ? ASPAWN_STREAM_PIPE : ASPAWN_STREAM_DEFAULT;
	command.actions = actions;
	for (int i = 0; i < 3; i++)
		if (all[i])
			actions[command.action_count++] = *all[i];
	if (!command.action_count)
		command.actions = NULL;
	return command;
}

static void check_way(const struct way *way, struct aspawn_pool *pool)
{
	struct aspawn_action actions[3];
	struct aspawn_child child;
	struct self self;
	struct aspawn_command command = command_of(way, &self, actions);
	char byte;

	command.pool = pool;
	const int r = aspawn_start(&child, &command);
	const bool is_private = way->owner || way->flags;

	if (is_private && way->memory == ASPAWN_MEMORY_SUSPENDED) {
		CHECK_EQUAL(r, -PSYS_EINVAL);
		return;
	}
	CHECK_EQUAL(r, 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), expected_mode(way));
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER),
		    is_private && !way->owner ? ASPAWN_OWNER_PRIVATE : way->owner);
	if (way->piped) {
		CHECK_EQUAL(psys_read(child.out_fd, &byte, 1), 0);
		CHECK_EQUAL(psys_close(child.out_fd), 0);
	}
	check_ends(&child,
		   (RUNS | (way->descriptors ? 0 : HAS_MARK) | (is_private ? 0 : IS_CALLERS)) << 8);
}

static void check_ways(const struct aspawn_action *group)
{
	static const struct aspawn_action closing[] = { ASPAWN_CLOSEFROM(3), ASPAWN_ONLY_BELOW(3),
							ASPAWN_CLOEXEC_FROM(3) };
	static const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	static struct aspawn_pool pool;
	const int stride = scaled(50) < 50 ? 5 : 1; /* the wishes have 2, 3 or 4 values each */

	need_lists();
	if (psys_fcntl(MARK, PSYS_F_GETFD, 0) < 0)
		CHECK_EQUAL(psys_dup2(2, MARK), MARK);
	shared_mode = observe(NULL, 0, "").mode;
	image_mode = observe(&user, 1, "").mode;
	const int descriptors = count_descriptors();
	for (int i = 0; i < 6 * 3 * 4 * 2 * 2; i += stride) {
		const struct way way = {
			.flags = i % 2 ? ASPAWN_COMMAND_DIES_WITH_CALLER : 0,
			.owner = i / 2 % 3, /* enum aspawn_owner */
			.memory = i / 6 % 3,
			.descriptors = i / 18 % 4 ? &closing[i / 18 % 4 - 1] : NULL,
			.piped = i / 72 % 2,
			.user = i / 144 % 2 ? &user : NULL,
			.group = group,
		};
		/* Half of the ways have a pool, whatever their other wishes. */
		check_way(&way, i * 5 / 7 % 2 ? &pool : NULL);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

TEST(each_command_begins_as_its_wishes_say)
{
	check_ways(NULL);
}

TEST(each_command_of_a_host_with_many_descriptors_begins_as_its_wishes_say)
{
	const struct psys_rlimit64 limit = { 4096, 4096 };

	if (psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL) < 0)
		skip("no so many descriptors");
	for (int fd = 100; fd < 1200; fd++)
		CHECK_EQUAL(psys_dup3(2, fd, PSYS_O_CLOEXEC), fd);
	check_ways(NULL);
}

TEST(each_command_that_joins_a_group_begins_as_its_wishes_say)
{
	struct cgroup group;

	make_cgroup(&group);
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	check_ways(&join);
	remove_cgroup(&group);
}

static void check_writes(const char *const *paths, int mode)
{
	for (; *paths; paths++) {
		const struct aspawn_action writes = ASPAWN_WRITE(*paths, "");
		const int seen = observe(&writes, 1, "").mode;

		if (seen != mode)
			note(*paths, seen);
		CHECK_EQUAL(seen, mode);
	}
}

/* The writes may fail or succeed. */
TEST(each_write_begins_as_its_path_says)
{
	static const char *const shared[] = {
		"/dev/null",
		"/dev/no such file",
		"/sys/kernel/no such file",
		"/no such directory/../file",
		"/proc/self/comm",
		"/proc/thread-self/timerslack_ns",
		"/proc//self/./uid_map",
		"/proc/self/attr/no such file",
		"/proc/sys/kernel/no such file",
		"/proc/1000000000/gid_map",
		NULL,
	};
	static const char *const in_the_image[] = {
		"no such file",
		"no/such/file",
		"oom_score_adj",
		"/proc/self/oom_score_adj",
		"/proc/self/clear_refs",
		"/proc/thread-self/coredump_filter",
		"/no such directory/cgroup.procs",
		NULL,
	};
	static const char *const copied[] = {
		"/proc/self/fd/0",
		"/dev/stdin",
		"/dev/pts/../fd/0",
		"/proc/1000000000/oom_score_adj",
		"/proc/sys/../self/comm",
		"/proc/self/attr/../oom_score_adj",
		"/proc/self/task/0/oom_score_adj",
		"/no such directory/proc/self/oom_score_adj",
		NULL,
	};

	check_writes(shared, observe(NULL, 0, "").mode);
	check_writes(in_the_image,
		     observe(&(struct aspawn_action)ASPAWN_RESUID(-1U, -1U, -1U), 1, "").mode);
	check_writes(copied, ASPAWN_MODE_FORK);
}
