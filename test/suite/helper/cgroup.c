/* SPDX-License-Identifier: MIT */
/* Tests of control groups that the library makes for a command, and removes with the tree */
#include "../filter.h"
#include "../queues.h"
#include "../tree.h"

/* Stores the name of a group that was made below, or "" if there is no group. */
static void find_made(const struct cgroup *parent, char name[64])
{
	char records[1024] __attribute__((aligned(8)));
	const int fd = psys_open(parent->path, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	long length;

	*name = '\0';
	while ((length = psys_getdents64(fd, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			if (!psys_strncmp(entry->d_name, "aspawn-", 7))
				psys_strlcpy(name, entry->d_name, 64);
			at += entry->d_reclen;
		}
	CHECK_EQUAL(length, 0);
	psys_close(fd);
}

static void check_none_is_left(const struct cgroup *parent)
{
	char name[64];

	find_made(parent, name);
	CHECK_EQUAL(psys_strcmp(name, ""), 0);
	check_nothing_is_left();
}

static bool read_file(int directory, const char *name, const char *file, char *text, size_t size)
{
	char path[128];

	psys_strlcpy(path, name, sizeof path);
	psys_strlcpy(path + psys_strlen(path), file, sizeof path - psys_strlen(path));
	const int fd = psys_openat(directory, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, text, size - 1);

	psys_close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Makes a group whose children have the controller. */
static void make_parent(struct cgroup *parent, const char *controller)
{
	need_lists();
	make_cgroup(parent);
	const int root = psys_open(parent->root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	int r = controller ? write_to_cgroup(root, "cgroup.subtree_control", controller) : 0;

	psys_close(root);
	if (r == 0 && controller)
		r = write_to_cgroup(parent->fd, "cgroup.subtree_control", controller);
	if (r < 0) {
		note(controller, r);
		remove_cgroup(parent);
		skip("no such controller of version 2");
	}
}

/* --- where the program is --------------------------------------------------------------- */

ROLE(shows_cgroup)
{
	char text[1024];

	(void)argc, (void)argv;
	CHECK(read_file(PSYS_AT_FDCWD, "/proc/self/", "cgroup", text, sizeof text));
	for (const char *at = text; *at; at = psys_strchrnul(at, '\n') + 1)
		if (!psys_strncmp(at, "0::", 3))
			return psys_write(1, at, psys_strlen(at)) < 0;
	return 1;
}

/* The program is in a group of its parent, the helper. */
static void check_shown(int fd)
{
	char text[256], *name = text;
	const long length = psys_read(fd, text, sizeof text - 1);

	CHECK(length > 0);
	text[length] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '/')
			name = at;
	CHECK_EQUAL(psys_strncmp(name, "/aspawn-", 8), 0);
	CHECK(name[8] >= '1' && name[8] <= '9'); /* none of the tests' */
	CHECK_EQUAL(psys_strcmp(text + length - 3, "-0\n"), 0);
}

static void check_begins_in_group(const struct cgroup *parent, int memory, bool other_user, int mode)
{
	const struct aspawn_action actions[] = { ASPAWN_NEW_CGROUP(parent->fd, UINT64_MAX, 0, 0),
						 ASPAWN_RESUID(-1U, -1U, -1U) };
	struct self self;
	struct aspawn_command command = tree_command(&self, "shows_cgroup", NULL);

	command.memory = memory;
	command.actions = actions;
	command.action_count = other_user ? 2 : 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_shown(child.out_fd);
	psys_close(child.out_fd);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), mode);
	check_ends(&child, 0);
	check_none_is_left(parent);
}

static void check_all_begin_in_group(bool clones)
{
	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	const int image_mode = observe(&user, 1, "").mode;
	const int descriptors = count_descriptors();
	struct cgroup parent;

	make_parent(&parent, NULL);
	check_begins_in_group(&parent, ASPAWN_MEMORY_SHARED, false,
			      clones ? ASPAWN_MODE_VFORK : image_mode);
	check_begins_in_group(&parent, ASPAWN_MEMORY_SHARED, true, image_mode);
	check_begins_in_group(&parent, ASPAWN_MEMORY_COPIED, false, ASPAWN_MODE_FORK);
	remove_cgroup(&parent);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(new_cgroup_is_the_programs_and_is_removed)
{
	need_lists();
	check_all_begin_in_group(observe(NULL, 0, "").mode == ASPAWN_MODE_CLONE3);
}

TEST(new_cgroup_without_clone3_is_joined_by_a_write)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_all_begin_in_group(false);
}

/* The helper's descriptor of the group has the lowest number that the caller has free. */
TEST(no_action_finds_the_descriptor_of_a_new_cgroup)
{
	struct aspawn_failure failure;
	struct cgroup parent;
	struct self self;

	make_parent(&parent, NULL);
	const int lowest = psys_dup3(parent.fd, 40, PSYS_O_CLOEXEC);
	CHECK_EQUAL(lowest, 40);
	for (int fd = 3; fd < 40; fd++) {
		const struct aspawn_action actions[] = { ASPAWN_NEW_CGROUP(40, 0, 0, 0),
							 ASPAWN_FCHDIR(fd) };
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0)
			continue;
		command.owner = ASPAWN_OWNER_TREE;
		command.actions = actions;
		command.action_count = 2;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, 1);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		check_ends(&child, 127 << 8);
	}
	psys_close(40);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

TEST(new_cgroup_of_a_job)
{
	struct cgroup parent;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows_cgroup", NULL);

	make_parent(&parent, NULL);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 2 });
	for (int number = 40; number < 50; number++) { /* the server has it under another number */
		int ends[2];
		CHECK_EQUAL(psys_dup2(parent.fd, number), number);
		CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
		const struct aspawn_action actions[] = { ASPAWN_FCHDIR(number),
							 ASPAWN_NEW_CGROUP(number, 0, 0, 0),
							 ASPAWN_DUP2(ends[1], 1) };
		const int first =
			number % 2; /* the first use of the descriptor may be another one */
		command.owner = ASPAWN_OWNER_TREE;
		command.actions = actions + first;
		command.action_count = 3 - (size_t)first;
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->status, 0);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		give_back(queue, result);
		check_shown(ends[0]);
		psys_close(ends[0]);
		psys_close(ends[1]);
		psys_close(number);
	}
	close_queue(queue);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

/* --- what cannot be made ------------------------------------------------------------------ */

static void check_is_not_made(int fd, uint64_t memory_max, int error, const char *subject)
{
	const struct aspawn_action actions[] = { ASPAWN_UMASK(022),
						 ASPAWN_NEW_CGROUP(fd, memory_max, 0, 0) };
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.owner = ASPAWN_OWNER_TREE;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, 1);
	CHECK_EQUAL(failure.error, -error);
	CHECK_EQUAL(failure.kind, ASPAWN_ACTION_NEW_CGROUP);
	CHECK_EQUAL(psys_strcmp(failure.subject, subject), 0);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OUTCOME), ASPAWN_OUTCOME_NOT_STARTED);
}

static const char no_group[] = "parent_fd is not a cgroup of version 2";

TEST(new_cgroup_is_not_made_below_a_group_of_version_1)
{
	struct cgroup parent;

	need_lists();
	make_cgroup_of(&parent, "memory");
	check_is_not_made(parent.fd, 0, PSYS_ENOENT, no_group);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

TEST(new_cgroup_reports_what_it_could_not_make)
{
	struct cgroup parent, other;

	make_parent(&parent, NULL); /* without controllers */
	enter_own_directory();
	const int directory = psys_open(".", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	const int file = psys_open("/proc/self/stat", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	check_is_not_made(parent.fd, 1 << 20, PSYS_ENOENT, "memory.max");
	check_is_not_made(file, 0, PSYS_ENOTDIR, "mkdir");
	check_is_not_made(333, 0, PSYS_EBADF, "mkdir");
	check_is_not_made(directory, 0, PSYS_ENOENT, no_group);
	check_is_not_made(directory, 1 << 20, PSYS_ENOENT, no_group);
	filter_refuse_flags(PSYS_NR_openat, 2, PSYS_O_PATH | PSYS_O_DIRECTORY, PSYS_EMFILE);
	check_is_not_made(parent.fd, 0, PSYS_EMFILE, "open");
	psys_strlcpy(other.path, ".", 2);
	check_none_is_left(&other);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

/* --- limits --------------------------------------------------------------------------------- */

static struct aspawn_child start_limited(struct self *self, struct aspawn_action action)
{
	struct aspawn_command command = command_in_role(self, "lingers", NULL);

	command.owner = ASPAWN_OWNER_TREE;
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	return child;
}

static void check_limit(const char *controller, struct aspawn_action action, const char *file,
			const char *expected)
{
	char name[64], text[64];
	struct cgroup parent;
	struct self self;

	make_parent(&parent, controller);
	action.u.new_cgroup.parent_fd = parent.fd;
	struct aspawn_child child = start_limited(&self, action);
	find_made(&parent, name);
	CHECK(read_file(parent.fd, name, file, text, sizeof text));
	CHECK_EQUAL(psys_strcmp(text, expected), 0);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

TEST(new_cgroup_limits_memory)
{
	check_limit("+memory", (struct aspawn_action)ASPAWN_NEW_CGROUP(0, 64 << 20, 0, 0),
		    "/memory.max", "67108864\n");
}

TEST(new_cgroup_limits_processes)
{
	check_limit("+pids", (struct aspawn_action)ASPAWN_NEW_CGROUP(0, 0, 77, 0), "/pids.max",
		    "77\n");
}

TEST(new_cgroup_limits_processors)
{
	check_limit("+cpu", (struct aspawn_action)ASPAWN_NEW_CGROUP(0, 0, 0, 50000), "/cpu.max",
		    "50000 100000\n");
}

TEST(out_of_memory_of_a_new_cgroup_is_the_outcome)
{
	static const struct {
		const char *role, *argument;
		int status, outcome;
	} runs[] = {
		{ "exit_7", NULL, 7 << 8, ASPAWN_OUTCOME_RAN },
		{ "takes_memory", NULL, PSYS_SIGKILL, ASPAWN_OUTCOME_OUT_OF_MEMORY },
		{ "kills_itself", NULL, PSYS_SIGKILL, ASPAWN_OUTCOME_RAN },
		{ "takes_memory", "forks", 7 << 8, ASPAWN_OUTCOME_RAN },
	};
	struct cgroup parent;
	struct self self;

	make_parent(&parent, "+memory");
	const struct aspawn_action action = ASPAWN_NEW_CGROUP(parent.fd, 8 << 20, 0, 0);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct aspawn_command command =
			command_in_role(&self, runs[i].role, runs[i].argument);
		struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };
		command.owner = ASPAWN_OWNER_TREE;
		command.actions = &action;
		command.action_count = 1;
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.status, runs[i].status);
		CHECK_EQUAL(io.outcome, runs[i].outcome);
		CHECK(io.memory_peak <= 8 << 20);
		note("most bytes of memory:", (long)io.memory_peak);
		struct aspawn_child child = start_command(NULL, &command);
		check_ends(&child, runs[i].status);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OUTCOME), runs[i].outcome);
		check_none_is_left(&parent);
	}
	remove_cgroup(&parent);
}

ROLE(forks_for_ever)
{
	(void)argc, (void)argv;
	for (;;)
		if (fork_child() < 0) {
			psys_write(1, "x", 1); /* the limit is reached */
			sleep_ms(1);
		}
	return 0; /* gcc wants one */
}

TEST(a_fork_bomb_within_a_limit_of_processes_ends)
{
	struct cgroup parent;
	struct self self;

	make_parent(&parent, "+pids");
	const struct aspawn_action action = ASPAWN_NEW_CGROUP(parent.fd, 0, 30, 0);
	struct aspawn_command command = tree_command(&self, "forks_for_ever", NULL);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 1);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_all_have_ended(child.out_fd, 0);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

/* --- killed before the exec ------------------------------------------------------------------- */

/* Another process makes a directory look like a group whose OOM killer was there. */
static void pretend_oom_kill(void)
{
	static const struct {
		const char *name, *text;
	} files[] = { { "/cgroup.procs", "" },
		      { "/memory.events", "oom_kill 1\n" },
		      { "/memory.peak", "123456789012\n" } };
	struct cgroup here = { .path = "." };
	char path[64];

	psys_close(psys_open("begin", PSYS_O_WRONLY, 0));
	find_made(&here, path);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const size_t length = psys_strlen(path);
		psys_strlcpy(path + length, files[i].name, sizeof path - length);
		const int fd = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT, 0600);
		psys_write(fd, files[i].text, psys_strlen(files[i].text));
		psys_close(fd);
		path[length] = '\0';
	}
	psys_close(psys_open("go", PSYS_O_WRONLY, 0));
	psys_exit_group(0);
}

ASPAWN_CHILD static int is_killed(void *unused)
{
	(void)unused;
	return psys_kill(psys_getpid(), PSYS_SIGKILL);
}

TEST(a_program_that_the_oom_killer_keeps_from_its_exec_was_not_started)
{
	struct aspawn_io io = { .size = sizeof io };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	need_lists();
	enter_own_directory();
	const int parent = psys_open(".", PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_mknodat(parent, "begin", PSYS_S_IFIFO | 0600, 0), 0);
	CHECK_EQUAL(psys_mknodat(parent, "go", PSYS_S_IFIFO | 0600, 0), 0);
	CHECK_EQUAL(psys_mknodat(parent, "cgroup.controllers", PSYS_S_IFREG | 0600, 0), 0);
	const struct aspawn_action actions[] = { ASPAWN_OPEN(0, "begin", PSYS_O_RDONLY, 0),
						 ASPAWN_OPEN(0, "go", PSYS_O_RDONLY, 0),
						 ASPAWN_NEW_CGROUP(parent, 0, 0, 0),
						 ASPAWN_CALL(is_killed, NULL) };
	command.owner = ASPAWN_OWNER_TREE;
	command.actions = actions;
	command.action_count = 4;
	for (int of_queue = 0; of_queue < 2; of_queue++) {
		const int pid = fork_child();
		if (pid == 0)
			pretend_oom_kill();
		if (of_queue) {
			struct aspawn_queue *queue =
				open_queue(&(struct aspawn_queue_options){ .running = 1 });
			CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
			const struct aspawn_result *result = next_result(queue);
			io.outcome = result->outcome;
			io.status = result->status;
			io.failure = result->failure;
			io.memory_peak = result->memory_peak;
			give_back(queue, result);
			close_queue(queue);
		} else {
			CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ECANCELED);
		}
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(io.status, PSYS_SIGKILL);
		CHECK_EQUAL(io.failure.error, -PSYS_ECHILD);
		CHECK_EQUAL(io.memory_peak, 123456789012);
		CHECK_EQUAL(reap(pid), 0);
		remove_files(".", "aspawn-", "");
	}
}

/* --- what stays ------------------------------------------------------------------------------- */

/* What the helper could not remove. */
static void check_stays(const struct cgroup *parent)
{
	char name[64];

	find_made(parent, name);
	CHECK(*name);
	CHECK_EQUAL(psys_unlinkat(parent->fd, name, PSYS_AT_REMOVEDIR), 0);
}

TEST(new_cgroup_stays_if_its_helper_is_killed)
{
	struct cgroup parent;
	struct self self;

	make_parent(&parent, NULL);
	const struct aspawn_action action = ASPAWN_NEW_CGROUP(parent.fd, 0, 0, 0);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	struct aspawn_child child = start_limited(&self, action);
	const int pid = aspawn_pid(&child);
	CHECK_EQUAL(psys_pidfd_send_signal(child.ended_fd, PSYS_SIGKILL, NULL, 0), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_EOWNERDEAD);
	kill_lingering(pid);
	check_stays(&parent);
	remove_cgroup(&parent);
}

ROLE(makes_a_group_below)
{
	char name[64];
	struct cgroup parent;

	(void)argc;
	psys_strlcpy(parent.path, argv[1], sizeof parent.path);
	find_made(&parent, name);
	const int fd = psys_open(parent.path, PSYS_O_PATH | PSYS_O_DIRECTORY, 0);
	psys_strlcpy(name + psys_strlen(name), "/below", 8);
	return psys_mkdirat(fd, name, 0755) < 0;
}

TEST(new_cgroup_stays_with_what_the_program_has_made_below)
{
	char name[64], below[80];
	struct cgroup parent;
	struct self self;

	make_parent(&parent, NULL);
#ifdef PSYS_NR_nanosleep /* the helper does not wait in vain */
	filter_trap(PSYS_NR_nanosleep);
#endif
	const struct aspawn_action action = ASPAWN_NEW_CGROUP(parent.fd, 0, 0, 0);
	struct aspawn_command command = command_in_role(&self, "makes_a_group_below", parent.path);
	command.owner = ASPAWN_OWNER_TREE;
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 0);
	find_made(&parent, name);
	psys_strlcpy(below, name, sizeof below);
	psys_strlcpy(below + psys_strlen(below), "/below", 8);
	CHECK_EQUAL(psys_unlinkat(parent.fd, below, PSYS_AT_REMOVEDIR), 0);
	check_stays(&parent);
	remove_cgroup(&parent);
}

/* --- without processor time ------------------------------------------------------------------- */

ASPAWN_CHILD static int runs_until(void *gate)
{
	while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE))
		continue;
	return 0;
}

static bool has_throttled(const char *text)
{
	for (; *text; text = psys_strchrnul(text, '\n') + (*psys_strchrnul(text, '\n') != 0))
		if (!psys_strncmp(text, "nr_throttled ", 13))
			return text[13] != '0';
	return false;
}

/* The child uses up the millisecond of each 100, and the kernel stops the child before its exec. */
TEST(a_group_without_processor_time_stops_no_caller)
{
	struct aspawn_failure failure;
	struct cgroup parent;
	struct self self;
	char name[64], text[1024];
	int gate = 0;

	make_parent(&parent, "+cpu");
	const struct aspawn_action actions[] = { ASPAWN_NEW_CGROUP(parent.fd, 0, 0, 1000),
						 ASPAWN_CALL(runs_until, &gate) };
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	command.owner = ASPAWN_OWNER_TREE;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), -PSYS_ETIMEDOUT);
	do { /* until the kernel has stopped it */
		sleep_ms(10);
		find_made(&parent, name);
	} while (!*name || !read_file(parent.fd, name, "/cpu.stat", text, sizeof text) ||
		 !has_throttled(text));
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), -PSYS_ETIMEDOUT);
	CHECK(aspawn_pid(&child) > 0);
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	check_ends(&child, 7 << 8);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}

/* test/machines/kernels/boot puts the command aspawn there: few other machines have the
 * controller. */
TEST(the_command_says_that_memory_was_out)
{
	static const char expected[] = "aspawn: sh: out of memory, killed by SIGKILL";
	char text[256];
	struct cgroup parent;
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };

	if (psys_faccessat(PSYS_AT_FDCWD, "/example/aspawn", PSYS_X_OK) < 0)
		skip("no /example/aspawn");
	make_parent(&parent, "+memory");
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = ASPAWN_ARGV("/example/aspawn", "--cgroup", parent.path, "--memory", "16M",
				    "sh", "-c", "x=x; while :; do x=$x$x; done"),
		.envp = ASPAWN_ARGV("PATH=/example"),
		.std_err = ASPAWN_STREAM_STDOUT,
	};
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 137 << 8);
	CHECK_EQUAL(psys_strncmp(text, expected, sizeof expected - 1), 0);
	check_none_is_left(&parent);
	remove_cgroup(&parent);
}
