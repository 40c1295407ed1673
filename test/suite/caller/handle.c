/* SPDX-License-Identifier: MIT */
/* Tests of handles: moving, releasing, asking; signals to a child and its descendants */
#include "filter.h"
#include "private.h"
#include "queues.h"

/* --- a handle that moves ------------------------------------------------------------ */

/* Moves the handle, and overwrites the old handle. */
static struct aspawn_child *moved(struct aspawn_child *child)
{
	static struct aspawn_child places[2];
	struct aspawn_child *to = child == &places[0] ? &places[1] : &places[0];

	psys_memcpy(to, child, sizeof *to);
	psys_memset(child, 0x55, sizeof *child);
	return to;
}

static void check_moving(const struct aspawn_command *command)
{
	int descriptors = count_descriptors(), mappings = count_mappings();
	struct aspawn_failure failure;
	struct aspawn_child first, *child = &first;
	int status = -1;

	first = start_command(NULL, command);
	child = moved(child);
	int r = aspawn_wait_started(child, &failure, 0);
	CHECK(r == 0 || r == -PSYS_ETIMEDOUT);
	child = moved(child);
	CHECK_EQUAL(aspawn_wait_started(child, &failure, -1), 0);
	child = moved(child);
	CHECK_EQUAL(aspawn_ended(child), 0);
	child = moved(child);
	CHECK_EQUAL(aspawn_wait(child, &status, NULL, 0), -PSYS_ETIMEDOUT);
	child = moved(child);
	CHECK_EQUAL(aspawn_kill_group(child, 0), 0);
	child = moved(child);
	CHECK_EQUAL(aspawn_kill(child, PSYS_SIGKILL), 0);
	child = moved(child);
	CHECK_EQUAL(aspawn_wait(child, &status, NULL, -1), 0);
	CHECK_EQUAL(status, PSYS_SIGKILL);
	child = moved(child);
	CHECK_EQUAL(aspawn_wait_started(child, &failure, -1), 0);
	child = moved(child);
	CHECK_EQUAL(aspawn_release(child), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

TEST(a_handle_may_move_between_all_calls)
{
	static const uint64_t flags[] = { 0,
					  ASPAWN_COMMAND_STARTED_FD,
					  WAY_COPIED,
					  WAY_COPIED | ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_NO_PIDFD,
					  WAY_SUSPENDED };
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		for (int memory = 0; memory < 2; memory++) {
			set_way(&command, flags[i]);
			command.pool = memory ? &pool : NULL;
			if (memory && i == 0) { /* map the kept memory first */
				struct aspawn_child child = start_command(NULL, &command);
				CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
				check_ends(&child, PSYS_SIGKILL);
			}
			check_moving(&command);
		}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_handle_may_move_before_communicate)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	int descriptors = count_descriptors();

	command.std_in = command.std_out = ASPAWN_STREAM_PIPE;
	for (int memory = 0; memory < 2; memory++) {
		char text[8] = "";
		struct aspawn_io io = { .size = sizeof io,
					.input = "text",
					.input_size = 4,
					.out = text,
					.out_size = sizeof text };

		command.pool = memory ? &pool : NULL;
		struct aspawn_child first = start_command(NULL, &command), *child = moved(&first);
		CHECK_EQUAL(aspawn_communicate(child, &io), 0);
		CHECK_EQUAL(psys_strcmp(text, "text"), 0);
		child = moved(child);
		CHECK_EQUAL(aspawn_pid(child), -PSYS_EINVAL);
		CHECK(child->in_fd == -1 && child->out_fd == -1 && child->err_fd == -1);
		CHECK_EQUAL(aspawn_wait_started(child, NULL, -1), 0);
		CHECK_EQUAL(aspawn_release(child), 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_handle_of_a_failing_command_may_move)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action action = ASPAWN_CHDIR("/no such directory");
	struct aspawn_failure failure;

	command.pool = &pool;
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 4; i++) {
		struct aspawn_child first = start_command(NULL, &command), *child = moved(&first);
		int status = -1;

		if (i & 1) {
			CHECK_EQUAL(why_not_started(child), -PSYS_ENOENT);
			child = moved(child);
		}
		if (i & 2) {
			CHECK_EQUAL(aspawn_wait(child, &status, NULL, -1), -PSYS_ECANCELED);
			CHECK_EQUAL(status, 127 << 8);
			child = moved(child);
		}
		CHECK_EQUAL(aspawn_wait_started(child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_ENOENT);
		CHECK_EQUAL(failure.step, 0);
		CHECK_EQUAL(failure.kind, ASPAWN_ACTION_CHDIR);
		CHECK_EQUAL(psys_strcmp(failure.subject, "/no such directory"), 0);
		if (!(i & 2)) {
			child = moved(child);
			check_ends(child, 127 << 8);
		}
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_long_subject_keeps_its_end_in_the_handle)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_failure first, later;
	char path[400];

	for (size_t i = 0; i < sizeof path - 1; i++)
		path[i] = i % 10 ? (char)('a' + i % 26) : '/';
	path[sizeof path - 1] = '\0';
	command.file = path;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &first, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strcmp(first.subject, path + sizeof path - sizeof first.subject), 0);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(aspawn_wait_started(&child, &later, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strlen(later.subject), 39);
	CHECK_EQUAL(psys_strcmp(later.subject, path + sizeof path - 40), 0);
}

/* --- the end of a child --------------------------------------------------------------- */

static void await_end(struct aspawn_child *child)
{
	while (aspawn_ended(child) == 0)
		sleep_ms(1);
}

TEST(ended_does_not_reap)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	for (int i = 0; i < 4; i++) {
		command.flags = i & 1 ? ASPAWN_COMMAND_NO_PIDFD : 0;
		struct aspawn_child child = start_command(NULL, &command);

		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		if (i & 2)
			CHECK_EQUAL(aspawn_release(&child),
				    0); /* the calls below then use the pid */
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGTERM), 0);
		await_end(&child);
		CHECK_EQUAL(aspawn_ended(&child), 1);
		CHECK_EQUAL(aspawn_ended(&child), 1);
		CHECK_EQUAL(aspawn_kill(&child, 0), 0); /* a zombie accepts signals */
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
		check_ends(&child, PSYS_SIGTERM);
		CHECK_EQUAL(aspawn_ended(&child), -PSYS_EINVAL);
	}
	CHECK(!have_children());
}

TEST(ended_tells_of_a_child_that_another_wait_reaped_if_the_kernel_does)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int descriptors = count_descriptors();

	for (int i = 0; i < 2; i++) {
		command.flags = i ? ASPAWN_COMMAND_NO_PIDFD : 0;
		struct aspawn_child child = start_command(NULL, &command);
		const bool known = child.ended_fd >= 0 && keeps_status();
		CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
		CHECK_EQUAL(aspawn_ended(&child), known ? 1 : -PSYS_ECHILD);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECHILD);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
}

static const struct aspawn_action copies_memory = ASPAWN_OOM_SCORE_ADJ(1000);

/* Only clone3 gives the helper a pidfd that is surely the child's. Containers refuse clone3. */
static bool has_clone3(void)
{
	return psys_clone3(NULL, 0) == -PSYS_EINVAL;
}

/* A thread in wait(-1) may do this before the caller knows the child's number. */
TEST(a_helped_child_that_another_wait_reaped_has_its_status_if_the_kernel_does)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int descriptors = count_descriptors(), status;

	command.actions = &copies_memory;
	command.action_count = 1;
	for (int i = 0; i < 20; i++) {
		struct aspawn_child child = start_command(NULL, &command);
		const bool known = child.ended_fd >= 0 && keeps_status() && has_clone3();
		while (psys_wait4(-1, &status, 0, NULL) < 0) /* it is not cloned yet */
			psys_sched_yield();
		const int r = aspawn_wait(&child, &status, NULL, i & 1 ? -1 : LONG);
		if (known) /* otherwise it depends on whether the helper was faster */
			CHECK_EQUAL(r, 0);
		else if (r != 0)
			CHECK_EQUAL(r, -PSYS_ECHILD);
		CHECK_EQUAL(status, 7 << 8);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
}

/* If the pidfd is opened by the number afterwards, another wait may have reaped the child, and the
 * number may be another process's. */
TEST(a_copied_child_has_its_pidfd_from_the_clone)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.memory = ASPAWN_MEMORY_COPIED;
	struct aspawn_child before = start_command(NULL, &command);
	const bool has_pidfds = before.ended_fd >= 0;
	check_ends(&before, 7 << 8);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(child.ended_fd >= 0, has_pidfds);
	check_ends(&child, 7 << 8);
}

/* --- signals to the caller -------------------------------------------------------------- */

static volatile int handled;

static void count_it(int signal)
{
	(void)signal;
	handled++;
}

static ASPAWN_CHILD int waits_at_gate(void *gate)
{
	gate_wait(gate);
	return 0;
}

TEST(no_call_returns_eintr)
{
	const struct psys_itimerval storm = { { 0, 2000 }, { 0, 2000 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	int *gate = shared_page();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, gate);
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD, WAY_COPIED,
					  WAY_COPIED | ASPAWN_COMMAND_STARTED_FD };

	command.actions = &action;
	command.action_count = 1;
	set_handler(PSYS_SIGALRM, count_it);
	CHECK_EQUAL(psys_setitimer(PSYS_ITIMER_REAL, &storm, NULL), 0);
	for (int i = 0; i < 4; i++) {
		struct aspawn_io io = { .size = sizeof io, .time_limit_ms = 40 };

		set_way(&command, flags[i]);
		*gate = 0;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, 40), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 40), -PSYS_ETIMEDOUT);
		gate_open(gate);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 40), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		if (i % 2) {
			CHECK_EQUAL(aspawn_communicate(&child, &io), -PSYS_ETIMEDOUT);
			CHECK_EQUAL(io.status, PSYS_SIGTERM);
		} else {
			CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGTERM), 0);
			check_ends(&child, PSYS_SIGTERM);
		}
	}
	CHECK(handled > 0);
}

/* The caller forges a report by opening started_fd for writing. */
static void forge_report(const struct aspawn_child *child)
{
	struct aspawn_failure report = { 0, -PSYS_ENOENT, ASPAWN_ACTION_CALL, 0, "" };
	char path[40] = "/proc/self/fd/";

	psys_memset(report.subject, 'x', sizeof report.subject);
	psys_i64_to_decimal(path + psys_strlen(path), child->started_fd);
	const int fd = psys_open(path, PSYS_O_WRONLY, 0);
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_write(fd, &report, sizeof report), sizeof report);
	psys_close(fd);
}

TEST(a_report_that_another_process_forges_has_an_end)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int *gate = shared_page();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, gate);
	struct aspawn_failure first, later;

	command.file = "/no such program";
	command.actions = &action;
	command.action_count = 1;
	set_way(&command, WAY_COPIED | ASPAWN_COMMAND_STARTED_FD);
	struct aspawn_child child = start_command(NULL, &command);
	forge_report(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, &first, 0), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strlen(first.subject), sizeof first.subject - 1);
	CHECK_EQUAL(aspawn_wait_started(&child, &later, 0), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strlen(later.subject), 39);
	gate_open(gate);
	check_ends(&child, 127 << 8);
}

/* --- groups --------------------------------------------------------------------------- */

/* Starts a lingering process, with "session" in another session, and writes the pid. Then lingers
 * too, or with "ends" ends. */
ROLE(starts_another)
{
	const char *how = argc > 1 ? argv[1] : "";
	int pid = fork_child();

	if (pid == 0) {
		if (!psys_strcmp(how, "session"))
			psys_setsid();
		pid = psys_getpid();
		psys_write(1, &pid, sizeof pid);
		sleep_ms(600000);
		return 0;
	}
	if (psys_strcmp(how, "ends"))
		sleep_ms(600000);
	return 0;
}

/* Orphans become children of this process. */
static void become_reaper(void)
{
	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("orphans go to another process here");
}

/* This process must reap other, when other is an orphan. */
static struct aspawn_child start_another(struct self *self, const char *how,
					 const struct aspawn_action *action, int *other)
{
	struct aspawn_command command = command_in_role(self, "starts_another", how);

	become_reaper();
	command.std_out = ASPAWN_STREAM_PIPE;
	command.actions = action;
	command.action_count = action != NULL;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(psys_read(child.out_fd, other, sizeof *other), sizeof *other);
	psys_close(child.out_fd);
	child.out_fd = -1;
	return child;
}

TEST(kill_group_reaches_a_grandchild)
{
	const struct aspawn_action leads[] = { ASPAWN_SETPGID(0), ASPAWN_SETSID() };
	struct self self;
	int other;

	for (int i = 0; i < 2; i++) {
		struct aspawn_child child = start_another(&self, "stays", &leads[i], &other);

		CHECK_EQUAL(aspawn_kill_group(&child, 0), 0);
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
		check_ends(&child, PSYS_SIGKILL);
		CHECK_EQUAL(reap(other), 128 + PSYS_SIGKILL);
	}
	CHECK(!have_children());
}

/* As long as the leader is not reaped, no other group can get the leader's number. */
TEST(kill_group_works_after_the_leader_has_ended)
{
	const struct aspawn_action leads = ASPAWN_SETPGID(0);
	struct self self;
	int other;

	for (int i = 0; i < 2; i++) {
		struct aspawn_child child = start_another(&self, "ends", &leads, &other);

		if (i)
			CHECK_EQUAL(aspawn_release(&child), 0);
		await_end(&child);
		CHECK_EQUAL(psys_kill(other, 0), 0);
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
		CHECK_EQUAL(reap(other), 128 + PSYS_SIGKILL);
		CHECK_EQUAL(aspawn_ended(&child), 1);
		check_ends(&child, 0);
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), -PSYS_EINVAL);
	}
}

/* The child is in the caller's process group: the group must not get the signal. */
TEST(kill_group_without_a_group_kills_the_child_alone)
{
	struct self self;
	int other;
	struct aspawn_child child = start_another(&self, "stays", NULL, &other);

	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	kill_lingering(other);
}

TEST(kill_group_before_setpgid_reaches_the_child)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int *gate = shared_page();
	const struct aspawn_action actions[] = { ASPAWN_CALL(waits_at_gate, gate),
						 ASPAWN_SETPGID(0) };
	static const int signals[] = { PSYS_SIGKILL, PSYS_SIGTERM };

	command.actions = actions;
	command.action_count = 2;
	for (int i = 0; i < 4; i++) {
		command.flags = i & 1 ? ASPAWN_COMMAND_NO_PIDFD : 0;
		*gate = 0;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_kill_group(&child, signals[i / 2]), 0);
		if (i / 2)
			gate_open(gate); /* SIGTERM is blocked until the exec */
		check_ends(&child, signals[i / 2]);
	}
}

TEST(kill_group_does_not_reach_another_session)
{
	const struct aspawn_action leads = ASPAWN_SETPGID(0);
	struct self self;
	int other;
	struct aspawn_child child = start_another(&self, "session", &leads, &other);

	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	kill_lingering(other);
}

/* --- control groups --------------------------------------------------------------------- */

TEST(kill_cgroup_rejects_other_directories)
{
	int directory = psys_open("/dev", PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	int descriptors = count_descriptors();

	CHECK_EQUAL(aspawn_kill_cgroup(-1), -PSYS_EBADF);
	CHECK_EQUAL(aspawn_kill_cgroup(900), -PSYS_EBADF);
	CHECK_EQUAL(aspawn_kill_cgroup(PSYS_AT_FDCWD), -PSYS_EBADF); /* not the current directory */
	CHECK_EQUAL(aspawn_oom_kills(PSYS_AT_FDCWD), -PSYS_EBADF);
	CHECK(directory >= 0);
	CHECK_EQUAL(aspawn_kill_cgroup(directory), -PSYS_ENOENT);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(kill_cgroup_reaches_another_session)
{
	struct cgroup group;
	struct self self;
	int other, outsider;

	become_reaper();
	make_cgroup(&group);
	int known = psys_faccessat(group.fd, "cgroup.kill", PSYS_F_OK);
	if (known < 0) {
		remove_cgroup(&group);
		skip("this kernel has no cgroup.kill");
	}
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	struct aspawn_child child = start_another(&self, "session", &join, &other);
	struct aspawn_child outside = start_another(&self, "ends", NULL, &outsider);
	int descriptors = count_descriptors();

	CHECK_EQUAL(aspawn_kill_cgroup(group.fd), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(reap(other), 128 + PSYS_SIGKILL);
	check_ends(&outside, 0);
	kill_lingering(outsider);
	CHECK_EQUAL(aspawn_kill_cgroup(group.fd), 0); /* an empty group */
	remove_cgroup(&group);
}

/* From Linux 6.14 on, a child whose clone joins a group that was once killed is killed too. */
static void check_restart(const struct cgroup *group, uint64_t flags)
{
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group->fd),
				   user = ASPAWN_RESUID(-1U, -1U, -1U);
	const int image_mode = observe(&user, 1, "").mode;
	struct self self;

	for (int killed = 0; killed < 3; killed++) {
		struct aspawn_command command = command_in_role(&self, "lingers", NULL);
		int descriptors = count_descriptors();

		set_way(&command, flags);
		command.std_out = ASPAWN_STREAM_PIPE;
		command.actions = &join;
		command.action_count = 1;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		CHECK_EQUAL(aspawn_kill_cgroup(group->fd), 0);
		psys_close(child.out_fd);
		check_ends(&child, PSYS_SIGKILL);

		command = command_in_role(&self, "reports_cgroup", NULL);
		set_way(&command, flags);
		command.actions = &join;
		command.action_count = 1;
		child = start_command(NULL, &command);
		CHECK_EQUAL(child.ended_fd < 0, flags & ASPAWN_COMMAND_NO_PIDFD ? 1 : 0);
		CHECK_EQUAL(why_not_started(&child), 0);
		if (!(flags & WAY_SUSPENDED) && image_mode != ASPAWN_MODE_FORK)
			CHECK(aspawn_describe(&child, ASPAWN_FACT_MODE) != ASPAWN_MODE_FORK);
		check_ends(&child, 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
		CHECK(!have_children());
	}
}

static void make_killable(struct cgroup *group)
{
	make_cgroup(group);
	if (psys_faccessat(group->fd, "cgroup.kill", PSYS_F_OK) == 0)
		return;
	remove_cgroup(group);
	skip("this kernel has no cgroup.kill");
}

TEST(a_killed_cgroup_takes_the_next_command)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, ASPAWN_COMMAND_NO_PIDFD,
					  WAY_SUSPENDED };
	struct cgroup group;

	make_killable(&group);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		check_restart(&group, flags[i]);
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN); /* the kernel reaps the first child */
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "reports_cgroup", NULL);
	command.actions = &join;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	aspawn_wait(&child, NULL, NULL, -1);
	remove_cgroup(&group);
}

TEST(a_killed_cgroup_takes_the_next_private_command)
{
	struct cgroup group;

	need_shared_memory();
	make_killable(&group);
	check_restart(&group, WAY_PRIVATE);
	check_restart(&group, ASPAWN_COMMAND_DIES_WITH_CALLER);
	remove_cgroup(&group);
}

static void check_jobs_of_killed_cgroup(uint64_t flags)
{
	struct cgroup group;
	struct self self;

	make_cgroup(&group);
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .running = 1, .flags = flags });
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	struct aspawn_command command = command_in_role(&self, "reports_cgroup", NULL);

	command.actions = &join;
	command.action_count = 1;
	for (int killed = 0; killed < 2; killed++) {
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 0);
		give_back(queue, result);
		aspawn_kill_cgroup(group.fd); /* before Linux 5.14 there is no such file */
	}
	close_queue(queue);
	remove_cgroup(&group);
}

TEST(a_killed_cgroup_takes_the_next_job)
{
	check_jobs_of_killed_cgroup(0);
}

TEST(a_killed_cgroup_takes_the_next_job_of_a_local_queue)
{
	check_jobs_of_killed_cgroup(ASPAWN_QUEUE_LOCAL);
}
