/* SPDX-License-Identifier: MIT */
/* The names (comm) of helpers, servers, children and jobs, by which ps(1), top(1), pgrep(1) and
 * killall(1) tell processes apart. */
#include "../../../aspawn/spawn/stack.h"
#include "queues.h"
#include "tree.h"

enum { NAME = 16 };

static ASPAWN_CHILD int notes_its_name(void *name)
{
	return psys_prctl(PSYS_PR_GET_NAME, (uintptr_t)name, 0, 0, 0);
}

static void set_name(const char *name)
{
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_NAME, (uintptr_t)name, 0, 0, 0), 0);
}

static void check_name(const char *name, const char *expected)
{
	if (psys_strcmp(name, expected))
		note(name, 0);
	CHECK_EQUAL(psys_strcmp(name, expected), 0);
}

/* Reads a file of the process in /proc. Returns the length of the text. */
static long read_file(int pid, const char *file, char *text, size_t size)
{
	char path[64] = "/proc/";
	size_t at = 6 + psys_i64_to_decimal(path + 6, pid);

	psys_strlcpy(path + at, file, sizeof path - at);
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, text, size - 1);
	psys_close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* Waits until the process has the name. */
static void await_name(int pid, const char *expected)
{
	char seen[NAME + 1];
	long length;

	do {
		sleep_ms(1);
		length = read_file(pid, "/comm", seen, sizeof seen);
		CHECK(length > 0);
		seen[length - 1] = '\0'; /* a newline */
	} while (psys_strcmp(seen, expected));
}

static void check_own_name(const char *expected)
{
	char name[NAME];

	CHECK_EQUAL(notes_its_name(name), 0);
	check_name(name, expected);
}

/* --- helpers ------------------------------------------------------------------------------- */

/* Starts a lingering program. The child has the expected name at the first action, or before an
 * exec of the image. */
static void check_helper(int owner, bool in_image, const char *helper, const char *expected)
{
	char name[NAME] = "", lines[2][256];
	const struct aspawn_action actions[] = { ASPAWN_CALL(notes_its_name, name),
						 ASPAWN_RESUID(-1U, -1U, -1U) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	command.owner = owner;
	command.actions = &actions[in_image];
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_name(name, in_image ? "" : expected);
	/* Without an image the child is a copy, which may have no helper and no stack. */
	const int pid = stack_of(&child)->addr ? stack_state(stack_of(&child))->helper_pid : 0;
	if (pid) {
		await_name(pid, helper);
		const long length = read_file(pid, "/cmdline", lines[0], sizeof *lines);
		CHECK_EQUAL(read_file(psys_getpid(), "/cmdline", lines[1], sizeof *lines), length);
		CHECK_EQUAL(psys_strcmp(lines[0], lines[1]), 0);
	}
	CHECK(pid || in_image);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_own_name(expected);
}

static void check_helpers(const char *expected)
{
	check_helper(ASPAWN_OWNER_PRIVATE, false, "aspawn-helper", expected);
	check_helper(ASPAWN_OWNER_TREE, false, "aspawn-tree", expected);
	check_helper(ASPAWN_OWNER_CALLER, true, "aspawn-helper", expected);
	check_helper(ASPAWN_OWNER_PRIVATE, true, "aspawn-helper", expected);
}

static int starts_under_its_own_name(void *arg)
{
	(void)arg;
	set_name("a thread");
	check_helpers("a thread");
	return 0;
}

TEST(a_helper_has_its_own_name_and_its_child_the_callers)
{
	struct thread thread;

	need_lists();
	set_name("a caller");
	check_helpers("a caller");
	thread_start(&thread, starts_under_its_own_name, NULL);
	thread_join(&thread);
	check_own_name("a caller");
}

/* --- jobs ------------------------------------------------------------------------------------ */

static struct aspawn_queue *queue;

static int creates_a_queue(void *flags)
{
	set_name("a creator");
	queue = open_queue(
		&(struct aspawn_queue_options){ .running = 2, .flags = (uintptr_t)flags });
	return 0;
}

static void check_job(int owner, const char *expected)
{
	char name[NAME] = "";
	const struct aspawn_action action = ASPAWN_CALL(notes_its_name, name);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.owner = owner;
	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	give_back(queue, next_result(queue));
	check_name(name, expected);
}

/* Returns the only child of the process, or 0. */
static int child_of(int pid)
{
	char file[32] = "/task/", list[64];
	const char *at = list;
	int child = 0;

	const size_t end = 6 + psys_i64_to_decimal(file + 6, pid);
	psys_strlcpy(file + end, "/children", sizeof file - end);
	read_file(pid, file, list, sizeof list);
	while (*at >= '0' && *at <= '9')
		child = child * 10 + *at++ - '0';
	return child;
}

/* A job in the image waits in the first action for the other end of a named pipe. */
static void check_job_in_image(int server, const char *expected)
{
	char path[64] = "/tmp/aspawn-name-";
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	append_own_name(path);
	if (psys_mknodat(PSYS_AT_FDCWD, path, PSYS_S_IFIFO | 0600, 0) < 0)
		skip("no named pipes in /tmp");
	const struct aspawn_action actions[] = { ASPAWN_RESUID(-1U, -1U, -1U),
						 ASPAWN_OPEN(0, path, PSYS_O_RDONLY, 0) };
	command.actions = actions;
	command.action_count = 2;
	while (child_of(server)) /* wait until the previous job's helper has ended */
		sleep_ms(1);
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	await_running(queue, 1);
	const int job = child_of(server);
	CHECK(job > 0);
	await_name(job, expected);
	psys_close(psys_open(path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0));
	give_back(queue, next_result(queue));
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
}

static void check_jobs(void)
{
	const int server = server_of(queue);

	await_name(server, "aspawn-queue");
	check_job(ASPAWN_OWNER_CALLER, "a creator");
	check_job(ASPAWN_OWNER_TREE, "a creator");
	check_job_in_image(server, "a creator");
}

static void create_in_thread(uint64_t flags)
{
	struct thread thread;

	need_lists();
	set_name("a caller");
	thread_start(&thread, creates_a_queue, (void *)(uintptr_t)flags);
	thread_join(&thread);
}

/* Jobs of a later server, which another thread has made after a kill, have the name too. */
TEST(jobs_have_the_name_of_the_thread_that_created_the_queue)
{
	create_in_thread(0);
	check_jobs();
	const int server = server_of(queue);
	CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
	CHECK(ends_soon(server));
	check_jobs();
	close_queue(queue);
	check_own_name("a caller");
}

TEST(jobs_of_a_local_queue_have_the_name_of_the_thread_that_serves)
{
	create_in_thread(ASPAWN_QUEUE_LOCAL);
	check_job(ASPAWN_OWNER_CALLER, "a caller");
	check_job(ASPAWN_OWNER_TREE, "a caller");
	close_queue(queue);
	check_own_name("a caller");
}
