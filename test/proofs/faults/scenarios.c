/* SPDX-License-Identifier: MIT */
/*
 * One scenario for each way to use the library. A scenario checks the truth of the results reported
 * by the library, and the promises documented for failures.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <popen_noshell.h>

#include <aspawn/command.h>
#include <aspawn/queue.h>
#include <syscall/clone.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "../../suite/way.h"
#include "harness.h"

extern char **environ;

/* wait(2) stores these statuses. The supervisor kills a KILLED child before the exec. */
enum { RIGHT = 42 << 8, WRONG = 43 << 8, CANNOT = 127 << 8, KILLED = SIGKILL, UNTOUCHED = -7 };
/* Scenarios use these descriptors. */
enum { ROOT = 20, RULES, NAMESPACE, CGROUP, TERMINAL };

static struct Stack_t stack;

/* Records from the status that the program ran. A status of -1 has no information. */
static void count(int status)
{
	if (status == RIGHT || status == WRONG)
		it_ran();
	if (status == -1 || status == KILLED)
		it_may_have_run();
}

static void free_stack(void)
{
	int r;

	WITH_FAULTS(r = aspawn_stack_release(&stack));
	if (r == -EBUSY) /* the child of a killed helper, until its exec */
		aspawn_stack_wait(&stack, -1);
	if (r < 0)
		r = aspawn_stack_release(&stack);
	promise(r == 0 && !stack.addr, "aspawn_stack_release: %d", r);
}

static void place(int from, int to)
{
	if (from < 0 || dup2(from, to) < 0)
		not_here("descriptors");
	if (from != to)
		close(from);
	fcntl(to, F_SETFD, FD_CLOEXEC);
}

static void with_root(void)
{
	place(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), ROOT);
}

static void with_rules(void)
{
	const struct psys_landlock_ruleset_attr attr = { .handled_access_fs =
								 1 << 12 /* make_sym */ };

	place(psys_landlock_create_ruleset(&attr, sizeof attr.handled_access_fs, 0), RULES);
}

static void with_namespace(void)
{
	place(open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC), NAMESPACE);
}

/* An exec as root gives all capabilities again. The supervisor's filter needs a capability. */
static void with_few_capabilities(void)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	const unsigned it = 1U << PSYS_CAP_SYS_ADMIN;
	const struct psys_cap_user_data few[2] = { { it, it, 0 } };

	if (psys_capset(&header, few) < 0)
		not_here("root");
}

static void limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void with_low_limit(void)
{
	limit_descriptors(1024);
}

/* With the limit the library counts the descriptors. */
static void with_high_limit(void)
{
	limit_descriptors(4096);
}

/* With many descriptors the child fetches the ends of pipes. */
static void with_many(void)
{
	for (int fd = 3; fd < 160; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			place(open("/dev/null", O_RDONLY | O_CLOEXEC), fd);
}

/* The child may not fetch descriptors, and copies all. */
static void with_many_undumpable(void)
{
	with_many();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ||
	    setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		not_here("another user");
}

/* Mounts in a namespace of the process. The mounts end with the process. */
static void with_cgroups(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL))
		not_here("cgroups");
}

static void make_cgroup(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		not_here("cgroups");
	place(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), CGROUP);
}

static void with_cgroup(void)
{
	with_cgroups();
	make_cgroup("/sys/fs/cgroup/aspawn-faults");
}

/* From Linux 6.14 on the kernel kills a child cloned into a killed cgroup. */
static void with_killed_cgroup(void)
{
	with_cgroups();
	make_cgroup("/sys/fs/cgroup/aspawn-faults-killed");
	if (aspawn_kill_cgroup(CGROUP))
		not_here("cgroup.kill");
}

/* --- aspawn ------------------------------------------------------------------------- */

static ASPAWN_CHILD int executes(void *arg, int fd, void *mask, void *data, size_t size)
{
	char *argv[] = { data, NULL };
	int error = psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);

	(void)size;
	if (!error)
		error = psys_execvpe(data, argv, environ, arg, PSYS_EXEC_SHELL);
	psys_write(fd, &error, sizeof error);
	return 127;
}

static bool spawn_file(unsigned flags, int *pidfd, const char *file, const char *path)
{
	int r, error = 0;
	pid_t pid = UNTOUCHED;

	WITH_FAULTS(r = aspawn_with(flags, pidfd, &pid, &stack, 65536, executes,
				    (void *)(uintptr_t)path, (void *)(uintptr_t)file,
				    strlen(file) + 1));
	if (r < 0) {
		promise(pid == UNTOUCHED, "aspawn: %d, and a pid %d", r, pid);
		free_stack();
		return false;
	}
	if (r > 0) {
		if (read(r, &error, sizeof error) < 0)
			promise(false, "aspawn: a pipe that cannot be read");
		close(r);
	}
	WITH_FAULTS(r = aspawn_stack_wait(&stack, -1));
	promise(r == 0, "aspawn_stack_wait: %d", r);
	const int status = status_of(pid);
	promise(status == (error ? CANNOT : RIGHT) ||
			((status == CANNOT || status == KILLED) && !error),
		"aspawn: error %d, status %#x", error, status);
	count(status);
	free_stack();
	return status == RIGHT;
}

SCENARIO(aspawn)
{
	return spawn_file(0, NULL, program, NULL);
}

SCENARIO(aspawn_no_pipe)
{
	return spawn_file(ASPAWN_WITH_NO_PIPE, NULL, program, NULL);
}

SCENARIO(aspawn_with_suspension)
{
	return spawn_file(ASPAWN_WITH_SUSPENSION, NULL, program, NULL);
}

SCENARIO(aspawn_pidfd)
{
	int fd = UNTOUCHED;
	bool right = spawn_file(0, &fd, program, NULL);

	promise(!right || fd >= -1, "pidfd %d", fd);
	if (fd >= 0)
		close(fd);
	return right;
}

SCENARIO(aspawn_closed_streams)
{
	int saved[3];

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	bool right = spawn_file(0, NULL, program, NULL);
	for (int i = 0; i < 3; i++) {
		promise(fcntl(i, F_GETFD) < 0, "left: descriptor %d", i);
		dup2(saved[i], i);
		close(saved[i]);
	}
	return right;
}

SCENARIO(aspawn_growing_stack)
{
	pid_t pid = UNTOUCHED;
	int r;

	WITH_FAULTS(r = aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &stack, 1, executes, NULL,
				    program, strlen(program) + 1));
	if (r == 0) {
		count(status_of(pid));
		promise(aspawn_stack_wait(&stack, -1) == 0, "aspawn_stack_wait");
	}
	return spawn_file(0, NULL, program, NULL) && r == 0;
}

SCENARIO(aspawn_execvpe)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof path, "/nowhere:%s", directory);
	return spawn_file(0, NULL, "program", path);
}

SCENARIO(aspawn_execvpe_script)
{
	return spawn_file(0, NULL, script, NULL);
}

static ASPAWN_CHILD int returns_late(void *arg, int fd, void *mask, void *data, size_t size)
{
	const struct psys_timespec nap = { 0, 20000000 };

	(void)arg, (void)fd, (void)mask, (void)data, (void)size;
	psys_nanosleep(&nap, NULL);
	return 42;
}

SCENARIO(aspawn_stack_wait)
{
	pid_t pid = UNTOUCHED;
	int r, status;

	WITH_FAULTS(r = aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &stack, 1, returns_late, NULL,
				    NULL, 0));
	if (r < 0) {
		promise(pid == UNTOUCHED, "a pid %d", pid);
		return free_stack(), false;
	}
	WITH_FAULTS(r = aspawn_stack_wait(&stack, 1));
	promise(r == 0 || r == -ETIMEDOUT, "aspawn_stack_wait: %d", r);
	WITH_FAULTS(r = aspawn_stack_wait(&stack, 1000000));
	promise(r == 0, "aspawn_stack_wait: %d", r);
	status = status_of(pid);
	promise(status == RIGHT || status == KILLED, "status %#x", status);
	free_stack();
	return r == 0 && status == RIGHT;
}

/* --- commands ------------------------------------------------------------------------ */

static struct aspawn_pool pool;
static int pipe_end;

/* Uses the pool, unless the caller sets another memory. */
static struct aspawn_command program_as(const char *role)
{
	static char *argv[3];

	argv[0] = program;
	argv[1] = (char *)(uintptr_t)role;
	return (struct aspawn_command){ .size = sizeof(struct aspawn_command),
					.flags = ASPAWN_COMMAND_INHERIT_SIGNALS,
					.argv = argv,
					.pool = &pool };
}

/* Most programs check the inherited state. If way has the flag, the program checks what the library
 * resets. */
static void set_inheriting_way(struct aspawn_command *command, uint64_t way)
{
	set_way(command, way ^ ASPAWN_COMMAND_INHERIT_SIGNALS);
}

static void free_memory(void)
{
	int r;

	WITH_FAULTS(r = aspawn_pool_release(&pool));
	if (r < 0)
		r = aspawn_pool_release(&pool);
	promise(r == 0, "aspawn_pool_release: %d", r);
}

static bool has_no_descriptor(const struct aspawn_child *child)
{
	return child->ended_fd == -1 && child->started_fd == -1;
}

static bool has_no_pipe(const struct aspawn_child *child)
{
	return child->in_fd == -1 && child->out_fd == -1 && child->err_fd == -1 &&
	       child->pty_fd == -1;
}

static void close_pipe(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct aspawn_child *child)
{
	close_pipe(&child->in_fd);
	close_pipe(&child->out_fd);
	close_pipe(&child->err_fd);
	close_pipe(&child->pty_fd);
	close_pipe(&pipe_end);
}

static bool start(struct aspawn_child *child, const struct aspawn_command *command)
{
	int r;

	memset(child, 0x5a, sizeof *child);
	pipe_end = UNTOUCHED;
	WITH_FAULTS(r = aspawn_start(child, command));
	promise(r <= 0, "aspawn_start: %d", r);
	if (r == 0) {
		int pid;

		do /* on a busy machine a helper may need longer than aspawn_pid() waits */
			pid = aspawn_pid(child);
		while (pid == -EAGAIN);
		promise((pid > 0 || pid == -ECANCELED) &&
				(child->in_fd >= 0) == (command->std_in == ASPAWN_STREAM_PIPE) &&
				(child->out_fd >= 0) == (command->std_out == ASPAWN_STREAM_PIPE) &&
				(child->err_fd >= 0) == (command->std_err == ASPAWN_STREAM_PIPE) &&
				(child->pty_fd >= 0) == (command->std_in == ASPAWN_STREAM_PTY),
			"aspawn_start: pid %d, pipes %d, %d, %d", pid, child->in_fd, child->out_fd,
			child->err_fd);
		return true;
	}
	promise(aspawn_pid(child) == -EINVAL && has_no_descriptor(child) && has_no_pipe(child) &&
			pipe_end == UNTOUCHED && aspawn_release(child) == 0,
		"aspawn_start: %d, and a child", r);
	free_memory();
	return false;
}

/* Waits again without faults, if the wait has failed with faults. */
static int wait_again(struct aspawn_child *child, int r, int *status)
{
	if (r < 0 && r != -ECANCELED && aspawn_pid(child) != -EINVAL)
		r = aspawn_wait(child, status, NULL, -1);
	promise(r == 0 || r == -ECANCELED, "aspawn_wait: %d, and the child is not reaped", r);
	promise(aspawn_pid(child) == -EINVAL && has_no_descriptor(child),
		"aspawn_wait releases the child");
	return r;
}

/* Waits for the end of a child, and checks all reports of the library on the child. */
static bool end_of(struct aspawn_child *child, int expected, int64_t timeout_ms)
{
	struct aspawn_failure failure, later;
	int started, r, status = -1;

	WITH_FAULTS(started = aspawn_wait_started(child, &failure, -1));
	promise(started <= 0 && (started == -ECANCELED ? failure.error < 0 : !failure.error),
		"aspawn_wait_started: %d, error %d", started, failure.error);
	promise(failure.error || failure.step == ASPAWN_STEP_NONE,
		"aspawn_wait_started: %d, step %d", started, failure.step);
	WITH_FAULTS(r = aspawn_wait(child, &status, NULL, timeout_ms));
	r = wait_again(child, r, &status);
	promise(started || r == 0, "said to run, and then not");
	promise(started != -ECANCELED || r == -ECANCELED, "aspawn_wait: %d of one that failed", r);
	promise(r != -ECANCELED || status == CANNOT || status == KILLED,
		"said to have failed, status %#x", status);
	promise(r == -ECANCELED || status == expected, "said to run, status %#x", status);
	WITH_FAULTS(r = aspawn_wait_started(child, &later, -1));
	promise(started == -ECANCELED ?
			r == started && later.error == failure.error && later.step == failure.step :
			started || r == 0,
		"aspawn_wait_started: %d, and then %d", started, r);
	count(status);
	return started == 0 && status == expected;
}

/* Runs the command, and frees the command's memory. */
static bool lives(const struct aspawn_command *command)
{
	struct aspawn_child child;

	if (!start(&child, command))
		return false;
	bool right = end_of(&child, RIGHT, -1);
	close_pipes(&child);
	return right;
}

static bool lives_alone(const struct aspawn_command *command)
{
	bool right = lives(command);

	free_memory();
	return right;
}

static bool command(uint64_t way, const struct aspawn_action *actions, size_t count,
		    const char *role)
{
	struct aspawn_command it = program_as(role);

	set_inheriting_way(&it, way);
	it.actions = actions;
	it.action_count = count;
	return lives_alone(&it);
}

#define COMMAND(name, prepare, way, role, ...)                                        \
	SCENARIO_WITH(prepare, name)                                                  \
	{                                                                             \
		const struct aspawn_action actions[] = { __VA_ARGS__ };               \
		return command(way, actions, sizeof actions / sizeof *actions, role); \
	}

static const unsigned nobodys[] = { 65534 };
static const struct psys_sigset usr1 = { { 1UL << (PSYS_SIGUSR1 - 1) } };
static const struct psys_sigset interrupt = { { 1UL << (PSYS_SIGINT - 1) } };
static const struct psys_sigset usr2 = { { 1UL << (PSYS_SIGUSR2 - 1) } };
static const unsigned long processor = 1;
static const struct psys_sock_filter allow[] = { { PSYS_BPF_RET | PSYS_BPF_K, 0, 0,
						   PSYS_SECCOMP_RET_ALLOW } };
static const struct psys_sock_filter no_write[] = {
	{ PSYS_BPF_LD | PSYS_BPF_W | PSYS_BPF_ABS, 0, 0, 0 },
	{ PSYS_BPF_JMP | PSYS_BPF_JEQ | PSYS_BPF_K, 0, 1, SYS_write },
	{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_ERRNO | EPERM },
	{ PSYS_BPF_RET | PSYS_BPF_K, 0, 0, PSYS_SECCOMP_RET_ALLOW },
};

static ASPAWN_CHILD int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Delays the child's exec. */
static ASPAWN_CHILD int sleeps(void *arg)
{
	const struct psys_timespec nap = { 0, 20000000 };

	(void)arg;
	psys_nanosleep(&nap, NULL);
	return 0;
}

#define PLAIN ASPAWN_CLOSE(19)
COMMAND(command, NULL, 0, NULL, PLAIN)
COMMAND(command_started_fd, NULL, ASPAWN_COMMAND_STARTED_FD, NULL, PLAIN)
COMMAND(command_relative_to_caller, NULL, ASPAWN_COMMAND_RELATIVE_TO_CALLER, NULL, ASPAWN_CHDIR("/"))
COMMAND(command_vfork, NULL, WAY_SUSPENDED, NULL, PLAIN)
COMMAND(command_no_pidfd, NULL, ASPAWN_COMMAND_NO_PIDFD, NULL, PLAIN)
COMMAND(command_fork, NULL, WAY_COPIED, NULL, PLAIN)
COMMAND(command_fork_started_fd, NULL, WAY_COPIED | ASPAWN_COMMAND_STARTED_FD, NULL, PLAIN)
COMMAND(redirections, with_root, 0, NULL, ASPAWN_DEV_NULL(0), ASPAWN_OUTPUT_PIPE(1, &pipe_end),
	ASPAWN_DUP2(1, 2), ASPAWN_OPENAT2(3, ROOT, "dev/null", O_RDWR, 0, 0), ASPAWN_DUP2(0, 0),
	ASPAWN_CLOSE(3))
COMMAND(input_pipe, NULL, 0, NULL, ASPAWN_INPUT_PIPE(0, &pipe_end))
COMMAND(closefrom, with_low_limit, 0, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_counts, with_high_limit, 0, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_pipe, with_low_limit, 0, "closed", ASPAWN_OUTPUT_PIPE(1, &pipe_end),
	ASPAWN_CLOSEFROM(3))
COMMAND(only_below, NULL, 0, "closed", ASPAWN_ONLY_BELOW(3))
COMMAND(only_below_pipe, NULL, 0, "closed", ASPAWN_OUTPUT_PIPE(1, &pipe_end), ASPAWN_ONLY_BELOW(3))
COMMAND(only_below_started_fd, NULL, ASPAWN_COMMAND_STARTED_FD, "closed", ASPAWN_ONLY_BELOW(3))
COMMAND(only_below_vfork, NULL, WAY_SUSPENDED, "closed", ASPAWN_ONLY_BELOW(3))
COMMAND(cloexec_from, NULL, 0, "closed", ASPAWN_CLOEXEC_FROM(3))
COMMAND(environment, NULL, 0, "environment", ASPAWN_SETENV("GONE", "1"), ASPAWN_CLEARENV(),
	ASPAWN_SETENV("SET", "1"), ASPAWN_SETENV("TOO", "1"), ASPAWN_UNSETENV("TOO"))
COMMAND(directories, with_root, 0, "root", ASPAWN_CHDIR("/usr"), ASPAWN_FCHDIR(ROOT),
	ASPAWN_CHROOT("/"), ASPAWN_UMASK(027))
COMMAND(session, NULL, 0, "leads", ASPAWN_SETSID())
COMMAND(group, NULL, 0, "leads", ASPAWN_SETPGID(0))
COMMAND(signals, NULL, 0, NULL, ASPAWN_SIGMASK(&usr1), ASPAWN_SIGNALS_DEFAULT(&interrupt),
	ASPAWN_SIGNALS_IGNORE(&usr2), ASPAWN_SIGNAL_DEFAULT(SIGINT), ASPAWN_SIGNAL_IGNORE(SIGUSR1))
COMMAND(reset_signals, NULL, 0, "reset", ASPAWN_RESET_SIGNALS())
COMMAND(usual_signals, NULL, ASPAWN_COMMAND_INHERIT_SIGNALS, "usual", PLAIN)
COMMAND(limits, NULL, 0, NULL, ASPAWN_RLIMIT(PSYS_RLIMIT_CORE, 0, 0), ASPAWN_NICE(5),
	ASPAWN_SCHEDULER(PSYS_SCHED_BATCH, 0), ASPAWN_AFFINITY(&processor, sizeof processor),
	ASPAWN_IOPRIO(2 << PSYS_IOPRIO_CLASS_SHIFT | 7), ASPAWN_PERSONALITY(0))
COMMAND(user, NULL, 0, "user", ASPAWN_USER(65534, 65534, nobodys, 1))
COMMAND(private_gaining_dies_with_caller, with_few_capabilities, ASPAWN_COMMAND_DIES_WITH_CALLER,
	NULL, ASPAWN_OOM_SCORE_ADJ(10))
COMMAND(ids, NULL, 0, "user", ASPAWN_GROUPS(nobodys, 1), ASPAWN_RESGID(65534, 65534, 65534),
	ASPAWN_RESUID(65534, 65534, 65534))
COMMAND(capabilities, NULL, 0, NULL, ASPAWN_CAP_DROP(1), ASPAWN_CAP_AMBIENT(2), ASPAWN_SECUREBITS(0))
COMMAND(sandbox, with_rules, 0, NULL, ASPAWN_NO_NEW_PRIVS(), ASPAWN_SECCOMP(allow, 1),
	ASPAWN_LANDLOCK(RULES, 0))
COMMAND(sandbox_forbids_write, NULL, 0, NULL, ASPAWN_NO_NEW_PRIVS(),
	ASPAWN_SECCOMP(no_write, sizeof no_write / sizeof *no_write))
COMMAND(sandbox_forbids_write_fork, NULL, WAY_COPIED, NULL, ASPAWN_NO_NEW_PRIVS(),
	ASPAWN_SECCOMP(no_write, sizeof no_write / sizeof *no_write))
COMMAND(parent_death, NULL, 0, NULL, ASPAWN_PDEATHSIG(SIGTERM))
COMMAND(namespaces, with_namespace, 0, NULL, ASPAWN_SETNS(NAMESPACE, PSYS_CLONE_NEWUTS),
	ASPAWN_UNSHARE(PSYS_CLONE_NEWNS | PSYS_CLONE_NEWUTS),
	ASPAWN_MOUNT("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
	ASPAWN_HOSTNAME("elsewhere"))
COMMAND(pivot_root, NULL, 0, NULL, ASPAWN_UNSHARE(PSYS_CLONE_NEWNS),
	ASPAWN_MOUNT("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
	ASPAWN_MOUNT("/", "/tmp", NULL, PSYS_MS_REC | PSYS_MS_BIND, NULL), ASPAWN_CHDIR("/tmp"),
	ASPAWN_PIVOT_ROOT(".", "."))
COMMAND(join_cgroup, with_cgroup, 0, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(private_join_cgroup, with_cgroup, WAY_PRIVATE, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(join_cgroup_vfork, with_cgroup, WAY_SUSPENDED, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(join_cgroup_copied, with_cgroup, WAY_COPIED, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(join_cgroup_user, with_cgroup, 0, "user", ASPAWN_JOIN_CGROUP(CGROUP),
	ASPAWN_USER(65534, 65534, nobodys, 1))
COMMAND(join_killed_cgroup, with_killed_cgroup, 0, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(oom_score_adj, NULL, 0, NULL, ASPAWN_OOM_SCORE_ADJ(300))
COMMAND(write, NULL, 0, NULL, ASPAWN_WRITE("/proc/self/comm", "scenario"))
COMMAND(write_elsewhere, NULL, 0, NULL, ASPAWN_WRITE("/dev/null", "scenario"))
COMMAND(call, NULL, 0, NULL, ASPAWN_CALL(nothing, NULL))
COMMAND(shared_calls, with_root, 0, "root", ASPAWN_PRCTL(PR_SET_TIMERSLACK, 70000, 0, 0, 0),
	ASPAWN_FCNTL(ROOT, F_SETFD, 0),
	ASPAWN_SYSCALL(SYS_umask, 027, 0, 0, 0, 0, 0, 0U, ASPAWN_EXPECTED_SUCCESS),
	ASPAWN_SYSCALL(SYS_chdir, "/", 0, 0, 0, 0, 0, ASPAWN_ARG_STRING(0), 0))
COMMAND(calls_in_the_image, with_root, 0, "root", ASPAWN_PRCTL(PR_SET_THP_DISABLE, 1, 0, 0, 0),
	ASPAWN_FCNTL(ROOT, F_SETFD, 0),
	ASPAWN_SYSCALL(SYS_umask, 027, 0, 0, 0, 0, 0, 0U, ASPAWN_EXPECTED_SUCCESS),
	ASPAWN_SYSCALL(SYS_chdir, "/", 0, 0, 0, 0, 0, ASPAWN_ARG_STRING(0), 0))

SCENARIO(terminal)
{
	const struct aspawn_action actions[] = { ASPAWN_SETSID(),
						 ASPAWN_CONTROLLING_TERMINAL(TERMINAL),
						 ASPAWN_FOREGROUND(TERMINAL) };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || grantpt(master) || unlockpt(master))
		not_here("terminals");
	place(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC), TERMINAL);
	bool right = command(0, actions, 3, "leads");
	close(TERMINAL);
	close(master);
	return right;
}

static bool on_terminal(uint64_t way, const struct aspawn_action *action)
{
	struct aspawn_command it = program_as("terminal");

	set_inheriting_way(&it, way);
	it.std_in = it.std_out = it.std_err = ASPAWN_STREAM_PTY;
	it.actions = action;
	it.action_count = !!action;
	return lives_alone(&it);
}

SCENARIO(command_pty)
{
	return on_terminal(ASPAWN_COMMAND_NONBLOCK, NULL);
}

SCENARIO(private_command_pty)
{
	return on_terminal(WAY_PRIVATE, NULL);
}

SCENARIO(command_pty_image)
{
	const struct aspawn_action user = ASPAWN_USER(65534, 65534, nobodys, 1);

	return on_terminal(0, &user);
}

SCENARIO_WITH(with_many, command_pty_fetched)
{
	const struct aspawn_action only_below = ASPAWN_ONLY_BELOW(3);

	return on_terminal(0, &only_below);
}

SCENARIO(command_search)
{
	char path[PATH_MAX + 16];
	struct aspawn_command it = program_as(NULL);

	snprintf(path, sizeof path, "/nowhere:%s", directory);
	it.file = "program";
	it.search_path = path;
	return lives_alone(&it);
}

SCENARIO(find)
{
	char found[PATH_MAX] = "", path[PATH_MAX + 16];
	struct aspawn_command it = program_as(NULL);
	int r, action;

	snprintf(path, sizeof path, "/nowhere:%s", directory);
	it.file = "program";
	it.search_path = path;
	WITH_FAULTS(r = aspawn_find(found, sizeof found, &it, &action));
	promise(action == ASPAWN_STEP_NONE, "aspawn_find: action %d", action);
	promise(r < 0 ? !*found : !strcmp(found, program), "aspawn_find: %d, %s", r, found);
	return r == 0;
}

SCENARIO(command_shell_on_enoexec)
{
	struct aspawn_command it = program_as(NULL);

	it.flags |= ASPAWN_COMMAND_SHELL_ON_ENOEXEC;
	it.file = script;
	return lives_alone(&it);
}

static bool missing_with(uint64_t way, struct aspawn_pool *memory)
{
	struct aspawn_command it = program_as(NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;

	set_inheriting_way(&it, way);
	it.pool = memory;
	it.file = "/nowhere/program";
	if (!start(&child, &it))
		return false;
	end_of(&child, RIGHT, -1);
	bool right = aspawn_wait_started(&child, &failure, 0) == -ECANCELED &&
		     failure.error == -ENOENT && failure.step == ASPAWN_STEP_EXEC;
	free_memory();
	return right;
}

SCENARIO(command_missing)
{
	return missing_with(0, &pool);
}

SCENARIO(command_missing_own_memory)
{
	return missing_with(0, NULL);
}

SCENARIO(command_missing_started_fd)
{
	return missing_with(ASPAWN_COMMAND_STARTED_FD, &pool);
}

SCENARIO(command_missing_fork)
{
	return missing_with(WAY_COPIED, &pool);
}

/* --- memory of a pool, and without a pool ------------------------------------------------- */

static bool command_in(struct aspawn_pool *memory, uint64_t way, bool closes)
{
	const struct aspawn_action closefrom[] = { ASPAWN_CLOSEFROM(3) };
	struct aspawn_command it = program_as(closes ? "closed" : NULL);

	it.pool = memory;
	set_inheriting_way(&it, way);
	it.actions = closes ? closefrom : NULL;
	it.action_count = closes;
	bool first = lives(&it);
	return lives_alone(&it) && first;
}

SCENARIO(pool)
{
	return command_in(&pool, 0, false);
}

SCENARIO(pool_closefrom)
{
	return command_in(&pool, 0, true);
}

SCENARIO(pool_fork)
{
	return command_in(&pool, WAY_COPIED, false);
}

SCENARIO(pool_vfork)
{
	return command_in(&pool, WAY_SUSPENDED, false);
}

/* Runs two commands, each with a helper. */
SCENARIO(pool_user)
{
	const struct aspawn_action user[] = { ASPAWN_USER(65534, 65534, nobodys, 1) };
	struct aspawn_command it = program_as("user");

	it.actions = user;
	it.action_count = 1;
	bool first = lives(&it);
	return lives_alone(&it) && first;
}

SCENARIO(own_memory)
{
	return command_in(NULL, 0, false);
}

SCENARIO(own_memory_closefrom)
{
	return command_in(NULL, 0, true);
}

SCENARIO(own_memory_fork)
{
	return command_in(NULL, WAY_COPIED, false);
}

SCENARIO(own_memory_vfork)
{
	return command_in(NULL, WAY_SUSPENDED, false);
}

SCENARIO(pool_of_two)
{
	const struct aspawn_action slow[] = { ASPAWN_CALL(sleeps, NULL) };
	struct aspawn_command it = program_as(NULL);
	struct aspawn_child one, other;
	int r;

	it.actions = slow;
	it.action_count = 1;
	if (!start(&one, &it))
		return false;
	WITH_FAULTS(r = aspawn_pool_release(&pool));
	promise(r == -EBUSY, "aspawn_pool_release beside a child: %d", r);
	r = aspawn_start(&other, &it);
	bool right = end_of(&one, RIGHT, -1) && r == 0;
	if (r == 0)
		right = end_of(&other, RIGHT, -1) && right;
	free_memory();
	return right;
}

/* The pool gets the first child's stack while the first child is on the stack. */
static bool two_in_pool(void)
{
	const struct aspawn_action slow[] = { ASPAWN_CALL(sleeps, NULL) };
	char *const argv[] = { program, NULL };
	const struct aspawn_command it = {
		.size = sizeof it,
		.flags = ASPAWN_COMMAND_INHERIT_SIGNALS,
		.argv = argv,
		.pool = &pool,
		.actions = slow,
		.action_count = 1,
	};
	struct aspawn_child first, second;
	int status = -1, r;

	WITH_FAULTS(r = aspawn_start(&first, &it));
	if (r < 0)
		return false;
	WITH_FAULTS(aspawn_release(&first));
	WITH_FAULTS(r = aspawn_start(&second, &it));
	bool right = r == 0 && end_of(&second, RIGHT, -1);
	WITH_FAULTS(r = aspawn_wait(&first, &status, NULL, -1));
	wait_again(&first, r, &status);
	promise(status == RIGHT || status == CANNOT || status == KILLED, "status %#x", status);
	count(status);
	return right && status == RIGHT;
}

struct second {
	bool right;
	pid_t tid;
};

static void *in_second_thread(void *arg)
{
	struct second *second = arg;
	struct timespec begin, now;

	/* The thread is late by itself: test-instants decides which thread waits for which. */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 3000000);
	second->tid = (pid_t)syscall(SYS_gettid);
	second->right = two_in_pool();
	return NULL;
}

SCENARIO(pool_threads)
{
	struct second second;
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_second_thread, &second))
		not_here("threads");
	bool right = two_in_pool();
	pthread_join(thread, NULL);
	while (syscall(SYS_tgkill, getpid(), second.tid, 0) == 0)
		sched_yield();
	free_memory();
	return right && second.right;
}

/* --- streams -------------------------------------------------------------------------------- */

/* Standard input is a file: a program would copy an inherited file. */
static void with_input(void)
{
	const int input = open(script, O_RDONLY);

	if (input < 0 || dup2(input, 0) < 0)
		not_here("input");
	close(input);
}

/* True if the run succeeds with the expected output. */
static bool collects(const struct aspawn_command *command, const char *expected)
{
	struct aspawn_child child;
	char text[64] = "";

	if (!start(&child, command))
		return false;
	close_pipe(&child.in_fd);
	const int from = child.out_fd >= 0 ? child.out_fd : child.err_fd;
	for (size_t length = 0; length < sizeof text - 1;) {
		const ssize_t r = read(from, text + length, sizeof text - 1 - length);
		if (r <= 0)
			break;
		length += (size_t)r;
	}
	bool right = end_of(&child, RIGHT, -1);
	promise(!right || !strcmp(text, expected), "its output is %s", text);
	close_pipes(&child);
	free_memory();
	return right;
}

SCENARIO(stream_pipes)
{
	struct aspawn_command it = program_as("complains");

	it.std_in = it.std_out = it.std_err = ASPAWN_STREAM_PIPE;
	return lives_alone(&it);
}

SCENARIO(stream_pipe)
{
	struct aspawn_command it = program_as("writes");

	it.std_out = ASPAWN_STREAM_PIPE;
	return collects(&it, "written\n");
}

SCENARIO(stream_to_stdout)
{
	struct aspawn_command it = program_as("complains");

	it.std_out = ASPAWN_STREAM_PIPE;
	it.std_err = ASPAWN_STREAM_STDOUT;
	return collects(&it, "written\n");
}

SCENARIO_WITH(with_input, stream_null)
{
	struct aspawn_command it = program_as("copies");

	it.std_in = it.std_err = ASPAWN_STREAM_NULL;
	it.std_out = ASPAWN_STREAM_PIPE;
	return collects(&it, "");
}

SCENARIO(stream_descriptor)
{
	struct aspawn_command it = program_as("copies");
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || write(ends[1], "given\n", 6) != 6)
		not_here("pipes");
	close(ends[1]);
	it.std_in = ends[0];
	it.std_out = ASPAWN_STREAM_PIPE;
	bool right = collects(&it, "given\n");
	close(ends[0]);
	return right;
}

SCENARIO(stream_only_below)
{
	const struct aspawn_action only_below[] = { ASPAWN_ONLY_BELOW(3) };
	struct aspawn_command it = program_as("closed");

	it.std_in = it.std_out = it.std_err = ASPAWN_STREAM_PIPE;
	it.actions = only_below;
	it.action_count = 1;
	return lives_alone(&it);
}

static bool has_streams_of_many(uint64_t way)
{
	const struct aspawn_action only_below[] = { ASPAWN_ONLY_BELOW(3) };
	struct aspawn_command it = program_as("closed");

	set_inheriting_way(&it, way);
	it.std_in = it.std_out = it.std_err = ASPAWN_STREAM_PIPE;
	it.actions = only_below;
	it.action_count = 1;
	return lives_alone(&it);
}

SCENARIO_WITH(with_many, many_streams)
{
	return has_streams_of_many(0);
}

SCENARIO_WITH(with_many, many_streams_started_fd)
{
	return has_streams_of_many(ASPAWN_COMMAND_STARTED_FD | ASPAWN_COMMAND_NO_PIDFD);
}

SCENARIO_WITH(with_many, many_streams_private)
{
	return has_streams_of_many(WAY_PRIVATE);
}

SCENARIO_WITH(with_many_undumpable, many_streams_undumpable)
{
	return has_streams_of_many(0);
}

SCENARIO_WITH(with_many_undumpable, many_streams_undumpable_private)
{
	return has_streams_of_many(WAY_PRIVATE | ASPAWN_COMMAND_STARTED_FD);
}

COMMAND(many_far, with_many, 0, "closed", ASPAWN_DUP2(159, 1), ASPAWN_ONLY_BELOW(3))
COMMAND(many_far_private, with_many, WAY_PRIVATE, "closed", ASPAWN_DUP2(159, 1),
	ASPAWN_ONLY_BELOW(3))
COMMAND(many_far_and_pipe_undumpable, with_many_undumpable, 0, "closed",
	ASPAWN_OUTPUT_PIPE(2, &pipe_end), ASPAWN_DUP2(159, 1), ASPAWN_ONLY_BELOW(3))

static bool is_nonblocking(int fd)
{
	return fcntl(fd, F_GETFL) & O_NONBLOCK;
}

SCENARIO(stream_nonblock)
{
	const struct psys_timespec nap = { 0, 2000000 };
	struct aspawn_command it = program_as("copies");
	struct aspawn_child child;

	it.flags |= ASPAWN_COMMAND_NONBLOCK;
	it.std_in = it.std_out = ASPAWN_STREAM_PIPE;
	if (!start(&child, &it))
		return false;
	promise(is_nonblocking(child.in_fd) && is_nonblocking(child.out_fd),
		"the caller's ends would block");
	if (aspawn_wait_started(&child, NULL, -1) == 0)
		psys_nanosleep(&nap, NULL); /* it may see an end that is not its end */
	close_pipe(&child.in_fd);
	bool right = end_of(&child, RIGHT, -1);
	close_pipes(&child);
	free_memory();
	return right;
}

/* --- a child and its handle ----------------------------------------------------------------- */

/* Releases the handle, and waits by pid. */
static bool release(const struct aspawn_command *command, bool after_exec)
{
	struct aspawn_child child;
	int r, status = -1;

	if (!start(&child, command))
		return false;
	if (after_exec) {
		r = aspawn_wait_started(&child, NULL, -1);
		promise(r == 0 || r == -ECANCELED, "aspawn_wait_started: %d", r);
	}
	WITH_FAULTS(r = aspawn_release(&child));
	promise(r == 0 && aspawn_pid(&child) > 0 && has_no_descriptor(&child), "aspawn_release: %d",
		r);
	WITH_FAULTS(r = aspawn_release(&child));
	promise(r == 0, "aspawn_release, again: %d", r);
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, -1));
	wait_again(&child, r, &status);
	promise(status == RIGHT || status == CANNOT || status == KILLED, "released, status %#x",
		status);
	count(status);
	close_pipes(&child);
	free_memory();
	return status == RIGHT;
}

static bool release_from(struct aspawn_pool *memory, uint64_t way)
{
	const struct aspawn_action slow[] = { ASPAWN_CALL(sleeps, NULL) };
	struct aspawn_command it = program_as(NULL);

	set_inheriting_way(&it, way);
	it.pool = memory;
	it.actions = slow;
	it.action_count = 1;
	return release(&it, false);
}

SCENARIO(release)
{
	return release_from(&pool, 0);
}

SCENARIO(release_started_fd)
{
	return release_from(&pool, ASPAWN_COMMAND_STARTED_FD);
}

SCENARIO(release_fork)
{
	return release_from(&pool, WAY_COPIED);
}

SCENARIO(release_own_memory)
{
	return release_from(NULL, 0);
}

SCENARIO(release_own_memory_fork)
{
	return release_from(NULL, WAY_COPIED);
}

static bool release_after_exec(struct aspawn_pool *memory)
{
	struct aspawn_command it = program_as(NULL);

	it.pool = memory;
	it.std_out = ASPAWN_STREAM_PIPE;
	return release(&it, true);
}

SCENARIO(release_after_exec)
{
	return release_after_exec(&pool);
}

SCENARIO(release_after_exec_own_memory)
{
	return release_after_exec(NULL);
}

static bool wait_with_timeout(uint64_t way)
{
	struct aspawn_command it = program_as(NULL);
	struct aspawn_child child;

	set_inheriting_way(&it, way);
	bool right = start(&child, &it) && end_of(&child, RIGHT, 1000000);
	free_memory();
	return right;
}

SCENARIO(wait_timeout)
{
	return wait_with_timeout(0);
}

SCENARIO(wait_no_pidfd)
{
	return wait_with_timeout(ASPAWN_COMMAND_NO_PIDFD);
}

SCENARIO(wait_started_timeout)
{
	const struct aspawn_action slow[] = { ASPAWN_CALL(sleeps, NULL) };
	struct aspawn_command it = program_as(NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;
	int soon, late;

	it.actions = slow;
	it.action_count = 1;
	if (!start(&child, &it))
		return false;
	WITH_FAULTS(soon = aspawn_wait_started(&child, &failure, 1));
	promise(soon <= 0 && (failure.error < 0) == (soon == -ECANCELED),
		"aspawn_wait_started: %d, error %d", soon, failure.error);
	WITH_FAULTS(late = aspawn_wait_started(&child, &failure, 1000000));
	promise(late <= 0 && (failure.error < 0) == (late == -ECANCELED),
		"aspawn_wait_started: %d, error %d", late, failure.error);
	bool right = end_of(&child, RIGHT, -1);
	free_memory();
	return right && late == 0;
}

/* Ends a program that would run for ever. */
static bool end_lingering(uint64_t way, const struct aspawn_action *actions, size_t count,
			  int wait_ms, int (*ends)(struct aspawn_child *, int))
{
	struct aspawn_command it = program_as("lingers");
	struct aspawn_child child;
	int r, status = -1;

	set_inheriting_way(&it, way);
	it.actions = actions;
	it.action_count = count;
	if (!start(&child, &it))
		return false;
	const int pid = aspawn_pid(&child);
	if (wait_ms >= 0) {
		WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, wait_ms));
		promise(r, "said to run, status %#x", status);
		promise(r != -ECANCELED || status == CANNOT || status == KILLED,
			"said to have failed, status %#x", status);
		promise((aspawn_pid(&child) == pid) == (r && r != -ECANCELED && r != -ECHILD),
			"aspawn_wait: %d, pid %d", r, aspawn_pid(&child));
	}
	if (aspawn_pid(&child) == -EINVAL)
		return free_memory(), false;
	WITH_FAULTS(r = ends(&child, SIGTERM));
	if (r < 0)
		r = ends(&child, SIGTERM);
	promise(r == 0, "it cannot be ended: %d", r);
	it_may_have_run();
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, -1));
	wait_again(&child, r, &status);
	promise(status == SIGTERM || status == CANNOT || status == KILLED, "status %#x", status);
	free_memory();
	return status == SIGTERM;
}

SCENARIO(wait_expires)
{
	return end_lingering(0, NULL, 0, 2, aspawn_kill);
}

SCENARIO(wait_expires_at_once)
{
	return end_lingering(0, NULL, 0, 0, aspawn_kill);
}

SCENARIO(wait_expires_no_pidfd)
{
	return end_lingering(ASPAWN_COMMAND_NO_PIDFD, NULL, 0, 2, aspawn_kill);
}

SCENARIO(kill)
{
	return end_lingering(0, NULL, 0, -1, aspawn_kill);
}

SCENARIO(kill_no_pidfd)
{
	return end_lingering(ASPAWN_COMMAND_NO_PIDFD, NULL, 0, -1, aspawn_kill);
}

SCENARIO(kill_group)
{
	const struct aspawn_action leads[] = { ASPAWN_SETPGID(0) };

	return end_lingering(0, leads, 1, -1, aspawn_kill_group);
}

SCENARIO(kill_group_no_pidfd)
{
	const struct aspawn_action leads[] = { ASPAWN_SETSID() };

	return end_lingering(ASPAWN_COMMAND_NO_PIDFD, leads, 1, 2, aspawn_kill_group);
}

SCENARIO(kill_group_of_none)
{
	return end_lingering(0, NULL, 0, -1, aspawn_kill_group);
}

SCENARIO(oom_kills)
{
	char path[] = "/tmp/aspawn-faults-XXXXXX", file[64];
	int r = -1;

	if (!mkdtemp(path))
		return false;
	snprintf(file, sizeof file, "%s/memory.events", path);
	FILE *events = fopen(file, "w");
	fputs("oom 5\noom_kill 3\noom_group_kill 1\n", events);
	fclose(events);
	const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	WITH_FAULTS(r = aspawn_oom_kills(fd));
	promise(r == 3 || (r < 0 && r != -EINTR), "aspawn_oom_kills: %d", r);
	close(fd);
	unlink(file);
	rmdir(path);
	return r == 3;
}

/* The program is executed, or has ended, before the cgroup is killed. Each run makes a new cgroup,
 * and the same calls: "join_killed_cgroup" has another cgroup. */
SCENARIO_WITH(with_cgroups, kill_cgroup)
{
	static const char path[] = "/sys/fs/cgroup/aspawn-faults-to-kill";
	const struct aspawn_action joins[] = { ASPAWN_JOIN_CGROUP(CGROUP) };
	struct aspawn_command it = program_as("lingers");
	struct aspawn_child child;
	int r, status = -1;

	it.actions = joins;
	it.action_count = 1;
	rmdir(path);
	make_cgroup(path);
	if (!start(&child, &it))
		return close(CGROUP), rmdir(path), false;
	const int started = aspawn_wait_started(&child, NULL, -1);
	WITH_FAULTS(r = aspawn_kill_cgroup(CGROUP));
	if (r < 0)
		r = aspawn_kill_cgroup(CGROUP);
	promise(r == 0, "aspawn_kill_cgroup: %d", r);
	it_may_have_run();
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, -1));
	wait_again(&child, r, &status);
	promise(status == SIGKILL || (started && status == CANNOT), "status %#x", status);
	close(CGROUP);
	rmdir(path);
	free_memory();
	return started == 0 && status == SIGKILL;
}

static bool has_ended(uint64_t way)
{
	struct aspawn_command it = program_as("lingers");
	struct aspawn_child child;
	int before, after, status = -1;
	siginfo_t info;

	set_inheriting_way(&it, way);
	if (!start(&child, &it))
		return false;
	const bool runs = aspawn_wait_started(&child, NULL, -1) == 0;
	WITH_FAULTS(before = aspawn_ended(&child));
	kill(aspawn_pid(&child), SIGTERM);
	waitid(P_PID, (id_t)aspawn_pid(&child), &info, WEXITED | WNOWAIT);
	WITH_FAULTS(after = aspawn_ended(&child));
	promise(after < 0 || after == 1, "aspawn_ended: %d", after);
	it_may_have_run();
	wait_again(&child, -1, &status);
	promise(before < 1 || !runs, "said to run, status %#x", status);
	promise(status == (runs ? SIGTERM : CANNOT) || status == KILLED, "status %#x", status);
	free_memory();
	return before == 0 && after == 1;
}

SCENARIO(ended)
{
	return has_ended(0);
}

SCENARIO(ended_no_pidfd)
{
	return has_ended(ASPAWN_COMMAND_NO_PIDFD);
}

/* --- a whole life --------------------------------------------------------------------- */

static void check_output(const char *buffer, size_t size, size_t length, uint64_t total)
{
	promise(length <= total && length <= (size ? size - 1 : 0), "%zu of %llu bytes in %zu",
		length, (unsigned long long)total, size);
	promise(!size || !buffer[length], "no NUL after %zu bytes", length);
}

/* Checks the results of a run whose program should end with the status. */
static void check_io(int r, const struct aspawn_io *io, int status)
{
	const bool not_started = io->outcome == ASPAWN_OUTCOME_NOT_STARTED;
	const bool no_terminal =
		r < 0 && io->failure.step == ASPAWN_STEP_STREAMS && io->failure.error == r;

	promise(r <= 0 && (r == 0) == (io->outcome == ASPAWN_OUTCOME_RAN) &&
			(r == -ECANCELED) == not_started &&
			(r == -ETIMEDOUT) == (io->outcome == ASPAWN_OUTCOME_TIMED_OUT) &&
			(r == -ENOBUFS) == (io->outcome == ASPAWN_OUTCOME_FULL),
		"run: %d, end %d", r, io->outcome);
	promise(not_started || no_terminal ?
			io->failure.error < 0 :
			!io->failure.error && io->failure.step == ASPAWN_STEP_NONE,
		"run: %d, step %d, error %d", r, io->failure.step, io->failure.error);
	promise(r || io->status == status, "said to run, status %#x", io->status);
	promise(!not_started || io->status == CANNOT || io->status == KILLED || io->status == -1,
		"run: not started, status %#x", io->status);
	check_output(io->out, io->out_size, io->out_length, io->out_total);
	check_output(io->err, io->err_size, io->err_length, io->err_total);
	if (r == 0)
		count(io->status);
	else if (!not_started)
		it_may_have_run();
}

/* After a failed wait a killed child may still use its memory. */
static void free_memory_after(const struct aspawn_io *io)
{
	while (io->status == -1 && aspawn_pool_release(&pool) == -EBUSY)
		usleep(10000);
	free_memory();
}

/* On a slow machine SIGKILL may come before SIGTERM has ended the program. */
static bool is_right(int r, const struct aspawn_io *io, int expected, int status)
{
	return r == expected &&
	       (io->status == status || (r == -ETIMEDOUT && io->status >= 0 && io->status < 128));
}

static bool run_command(const struct aspawn_command *it, struct aspawn_io *io, int expected,
			int status)
{
	int r;

	io->size = sizeof *io;
	WITH_FAULTS(r = aspawn_run(it, io));
	check_io(r, io, status);
	free_memory_after(io);
	return is_right(r, io, expected, status);
}

static bool run(struct aspawn_io *io, const char *role, int expected, int status)
{
	const struct aspawn_command it = program_as(role);

	return run_command(&it, io, expected, status);
}

SCENARIO(private_command)
{
	return command(WAY_PRIVATE, NULL, 0, NULL);
}

SCENARIO(private_command_no_pidfd)
{
	return command(WAY_PRIVATE | ASPAWN_COMMAND_NO_PIDFD, NULL, 0, NULL);
}

SCENARIO(private_command_fork)
{
	return command(WAY_PRIVATE | WAY_COPIED, NULL, 0, NULL);
}

SCENARIO(private_command_only_below)
{
	const struct aspawn_action only_below = ASPAWN_ONLY_BELOW(3);

	return command(WAY_PRIVATE | ASPAWN_COMMAND_STARTED_FD, &only_below, 1, NULL);
}

SCENARIO(private_command_dies_with_caller)
{
	return command(ASPAWN_COMMAND_DIES_WITH_CALLER, NULL, 0, NULL);
}

/* True if nobody has the pipe's other end. */
static bool is_hung_up(int fd)
{
	char text[64];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read(fd, text, sizeof text) > 0)
		continue;
	return read(fd, text, 1) == 0;
}

/* True if the program has written. If the helper was killed, a process that the program has left
 * may hold the pipe for ever. */
static bool has_written(const struct aspawn_child *child)
{
	struct pollfd polled[] = { { child->out_fd, POLLIN, 0 }, { child->ended_fd, POLLIN, 0 } };
	char byte;

	poll(polled, 2, -1);
	return polled[0].revents && read(child->out_fd, &byte, 1) == 1;
}

/* The program leaves a process with the pipe. With a grace the process stays until killed. */
static bool ends_as_tree(uint64_t flags, const struct aspawn_action *actions, size_t count,
			 int64_t grace_ms)
{
	struct aspawn_command it = program_as(grace_ms ? "scatters and stays" : "scatters");
	struct aspawn_child child;
	int r, status = -1;

	set_inheriting_way(&it, flags);
	it.owner = ASPAWN_OWNER_TREE;
	it.std_out = ASPAWN_STREAM_PIPE;
	it.actions = actions;
	it.action_count = count;
	it_may_have_run();
	if (!start(&child, &it))
		return false;
	if (grace_ms && has_written(&child)) {
		WITH_FAULTS(r = aspawn_kill_tree(&child, grace_ms));
		promise(r == 0 || r == -EOWNERDEAD, "aspawn_kill_tree: %d", r);
	}
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, -1));
	if (aspawn_pid(&child) != -EINVAL) /* the wait has failed */
		r = aspawn_wait(&child, &status, NULL, -1);
	const int survivors = aspawn_describe(&child, ASPAWN_FACT_SURVIVORS);
	const bool is_left = !is_hung_up(child.out_fd);
	promise(aspawn_pid(&child) == -EINVAL && has_no_descriptor(&child),
		"aspawn_wait releases the child");
	promise(r == 0 || r == -ECANCELED || r == -ENOTEMPTY || r == -EOWNERDEAD, "aspawn_wait: %d",
		r);
	promise(!is_left || r == -ENOTEMPTY || r == -EOWNERDEAD,
		"aspawn_wait: %d, and some is left", r);
	promise((r == -ENOTEMPTY) == (survivors > 0), "aspawn_wait: %d, and %d survive", r,
		survivors);
	promise(r || status == (grace_ms ? SIGTERM : RIGHT) || status == KILLED, "status %#x",
		status);
	close_pipes(&child);
	/* The child of a killed helper uses the pool until the exec. */
	for (int naps = 0; r == -EOWNERDEAD && naps < 600 && aspawn_pool_release(&pool) < 0; naps++)
		usleep(10000);
	free_memory();
	return r == 0;
}

SCENARIO(private_tree)
{
	return ends_as_tree(0, NULL, 0, 0);
}

SCENARIO(private_tree_no_pidfd)
{
	return ends_as_tree(ASPAWN_COMMAND_NO_PIDFD, NULL, 0, 0);
}

SCENARIO(private_tree_only_below)
{
	const struct aspawn_action only_below = ASPAWN_ONLY_BELOW(3);

	return ends_as_tree(0, &only_below, 1, 0);
}

SCENARIO(private_tree_or_group)
{
	return ends_as_tree(ASPAWN_COMMAND_TREE_OR_GROUP, NULL, 0, 0);
}

SCENARIO(private_tree_dies_with_caller)
{
	return ends_as_tree(ASPAWN_COMMAND_DIES_WITH_CALLER, NULL, 0, 10000);
}

static const char *parent_group; /* of the scenario: two run at a time */

/* Removes the cgroups below. Returns true if there was any. */
static bool remove_groups(void)
{
	DIR *groups = opendir(parent_group);
	struct dirent *entry;
	bool r = false;

	while (groups && (entry = readdir(groups)))
		if (!strncmp(entry->d_name, "aspawn-", 7))
			r = unlinkat(dirfd(groups), entry->d_name, AT_REMOVEDIR) == 0 || r;
	if (groups)
		closedir(groups);
	return r;
}

static void use_parent_group(const char *path)
{
	parent_group = path;
	with_cgroups();
	make_cgroup(path);
	remove_groups(); /* of a run that was killed */
}

static void with_parent_group(void)
{
	use_parent_group("/sys/fs/cgroup/aspawn-faults-parent");
}

static void with_another_parent_group(void)
{
	use_parent_group("/sys/fs/cgroup/aspawn-faults-parent-copied");
}

static bool ends_with_group(uint64_t memory)
{
	const struct aspawn_action makes = ASPAWN_NEW_CGROUP(CGROUP, 0, 0, 0);
	const bool r = ends_as_tree(memory, &makes, 1, 0);

	promise(!remove_groups(), "a group is left");
	return r;
}

SCENARIO_WITH(with_parent_group, private_tree_new_cgroup)
{
	return ends_with_group(0);
}

SCENARIO_WITH(with_another_parent_group, private_tree_new_cgroup_copied)
{
	return ends_with_group(WAY_COPIED);
}

SCENARIO(private_tree_killed)
{
	return ends_as_tree(0, NULL, 0, 10000);
}

SCENARIO(run)
{
	struct aspawn_io io = { 0 };

	return run(&io, NULL, 0, RIGHT);
}

SCENARIO(run_own_memory)
{
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_command it = program_as(NULL);
	int r;

	it.pool = NULL;
	WITH_FAULTS(r = aspawn_run(&it, &io));
	check_io(r, &io, RIGHT);
	return is_right(r, &io, 0, RIGHT);
}

SCENARIO(run_pool)
{
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_command it = program_as(NULL);
	int r;

	WITH_FAULTS(r = aspawn_run(&it, &io));
	check_io(r, &io, RIGHT);
	free_memory_after(&io);
	return is_right(r, &io, 0, RIGHT);
}

SCENARIO_WITH(with_input, run_inherits_input)
{
	struct aspawn_command it = program_as(NULL);
	struct aspawn_io io = { .size = sizeof io };
	int r;

	it.std_in = ASPAWN_STREAM_INHERIT;
	WITH_FAULTS(r = aspawn_run(&it, &io));
	check_io(r, &io, RIGHT);
	free_memory_after(&io);
	return is_right(r, &io, 0, RIGHT);
}

SCENARIO(run_output)
{
	char output[16], error[16];
	struct aspawn_io io = {
		.out = output, .out_size = sizeof output, .err = error, .err_size = sizeof error
	};
	bool right = run(&io, "writes", 0, RIGHT);

	promise(io.out_length == 0 || !strcmp(output, "written\n"), "its output is %s", output);
	promise(!right || io.out_length == 8, "output of %zu bytes", io.out_length);
	return right;
}

SCENARIO(run_input)
{
	static char input[200000], output[sizeof input + 1];
	struct aspawn_io io = {
		.input = input, .input_size = sizeof input, .out = output, .out_size = sizeof output
	};
	memset(input, 'x', sizeof input);
	memset(output, 0, sizeof output);
	bool right = run(&io, "copies", 0, RIGHT);

	promise(!memcmp(input, output, io.out_length), "another output");
	promise(!right || io.out_length == sizeof input, "output of %zu bytes", io.out_length);
	return right;
}

/* After an EIO, the end of the terminal, some output may be missing. */
SCENARIO(run_pty)
{
	static const char twice[] = "written\r\nwritten\r\n";
	char output[64];
	struct aspawn_io io = {
		.input = "written\n", .input_size = 8, .out = output, .out_size = sizeof output
	};
	struct aspawn_command it = program_as("copies");

	it.std_in = it.std_out = ASPAWN_STREAM_PTY;
	bool right = run_command(&it, &io, 0, RIGHT);
	promise(!strncmp(output, twice, io.out_length), "its output is %s", output);
	return right && io.out_length == sizeof twice - 1;
}

SCENARIO(run_too_much)
{
	char output[3];
	struct aspawn_io io = { .out = output, .out_size = sizeof output };

	run(&io, "writes", -ENOBUFS, RIGHT);
	return io.outcome == ASPAWN_OUTCOME_FULL && !strcmp(output, "wr");
}

SCENARIO(run_drops_excess)
{
	char output[3];
	struct aspawn_io io = { .flags = ASPAWN_IO_DROP_EXCESS,
				.out = output,
				.out_size = sizeof output };

	return run(&io, "writes", 0, RIGHT) && io.out_total == 8 && !strcmp(output, "wr");
}

static size_t sunk;

static int sink(void *arg, int stream, const void *bytes, size_t count)
{
	promise(stream == 1 || stream == 2, "stream %d", stream);
	promise(count && count <= 8 && !memcmp(bytes, "written\n", count), "%zu bytes", count);
	sunk += count;
	return *(const int *)arg;
}

static bool run_sink(int answer, int expected)
{
	struct aspawn_io io = { .sink = sink, .arg = &answer };

	sunk = 0;
	bool right = run(&io, "writes", expected, RIGHT);
	promise(io.out_total == sunk, "%zu of %llu bytes", sunk, (unsigned long long)io.out_total);
	promise((io.outcome == ASPAWN_OUTCOME_CANCELLED) <= (sunk && answer < 0), "end %d",
		io.outcome);
	return answer ? io.outcome == ASPAWN_OUTCOME_CANCELLED : right && sunk == 8;
}

SCENARIO(run_sink)
{
	return run_sink(0, 0);
}

SCENARIO(run_sink_fails)
{
	return run_sink(-EDOM, -EDOM);
}

static bool run_timeout_with(uint64_t flags, int64_t grace_ms, const char *role, int status)
{
	char output[16];
	struct aspawn_io io = { .flags = flags,
				.time_limit_ms = 20,
				.grace_ms = grace_ms,
				.out = output,
				.out_size = sizeof output };

	return run(&io, role, -ETIMEDOUT, status);
}

SCENARIO(run_timeout)
{
	return run_timeout_with(0, 10, "lingers", SIGTERM);
}

SCENARIO(run_timeout_ignored)
{
	return run_timeout_with(0, 10, "stays", SIGKILL);
}

SCENARIO(run_timeout_no_grace)
{
	return run_timeout_with(0, -1, "lingers", SIGKILL);
}

SCENARIO(run_timeout_group)
{
	return run_timeout_with(ASPAWN_IO_KILL_GROUP, 10, "stays", SIGKILL);
}

SCENARIO(run_ends_in_time)
{
	struct aspawn_io io = { .time_limit_ms = 1000000, .flags = ASPAWN_IO_KILL_GROUP };

	return run(&io, NULL, 0, RIGHT);
}

SCENARIO(run_missing)
{
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_command it = program_as(NULL);
	int r;

	it.file = "/nowhere/program";
	WITH_FAULTS(r = aspawn_run(&it, &io));
	check_io(r, &io, RIGHT);
	free_memory_after(&io);
	return r == -ECANCELED && io.failure.error == -ENOENT && io.failure.step == ASPAWN_STEP_EXEC;
}

/* Reaps a child that the call could not reap. */
static bool communicate(const struct aspawn_command *command, struct aspawn_io *io, int expected,
			int status)
{
	struct aspawn_child child;
	int r, left;

	if (!start(&child, command))
		return false;
	io->size = sizeof *io;
	WITH_FAULTS(r = aspawn_communicate(&child, io));
	check_io(r, io, status);
	promise((r == -EPERM || has_no_descriptor(&child)) && has_no_pipe(&child),
		"aspawn_communicate: %d, descriptors %d, %d, %d, %d, %d", r, child.ended_fd,
		child.started_fd, child.in_fd, child.out_fd, child.err_fd);
	promise(aspawn_pid(&child) == -EINVAL || (r < 0 && io->status == -1),
		"aspawn_communicate: %d, and a child", r);
	if (aspawn_pid(&child) > 0) {
		kill(aspawn_pid(&child), SIGKILL);
		wait_again(&child, -1, &left);
	}
	free_memory();
	return is_right(r, io, expected, status);
}

SCENARIO(communicate)
{
	static char input[100000], output[sizeof input + 1];
	struct aspawn_io io = {
		.input = input, .input_size = sizeof input, .out = output, .out_size = sizeof output
	};
	struct aspawn_command it = program_as("copies");

	memset(input, 'x', sizeof input);
	memset(output, 0, sizeof output);
	it.std_in = it.std_out = it.std_err = ASPAWN_STREAM_PIPE;
	bool right = communicate(&it, &io, 0, RIGHT);
	promise(!memcmp(input, output, io.out_length), "another output");
	promise(!right || io.out_length == sizeof input, "output of %zu bytes", io.out_length);
	return right;
}

SCENARIO(communicate_own_memory_sink)
{
	const int answer = 0;
	struct aspawn_io io = { .sink = sink, .arg = (void *)(uintptr_t)&answer };
	struct aspawn_command it = program_as("complains");

	sunk = 0;
	it.pool = NULL;
	it.flags |= ASPAWN_COMMAND_NO_PIDFD | ASPAWN_COMMAND_STARTED_FD;
	it.std_err = ASPAWN_STREAM_PIPE;
	return communicate(&it, &io, 0, RIGHT) && sunk == 8;
}

SCENARIO(communicate_timeout)
{
	const struct aspawn_action leads[] = { ASPAWN_SETPGID(0) };
	struct aspawn_io io = { .flags = ASPAWN_IO_KILL_GROUP, .time_limit_ms = 20, .grace_ms = 10 };
	struct aspawn_command it = program_as("stays");

	it.actions = leads;
	it.action_count = 1;
	it.std_out = ASPAWN_STREAM_PIPE;
	return communicate(&it, &io, -ETIMEDOUT, SIGKILL);
}

/* --- the drop-ins ---------------------------------------------------------------------- */

static bool check_spawned(int error, pid_t pid)
{
	if (error) {
		promise(error > 0 && pid == UNTOUCHED, "error %d, pid %d", error, pid);
		return false;
	}
	const int status = status_of(pid);
	promise(status == RIGHT || status == KILLED, "said to run, status %#x", status);
	count(status);
	return status == RIGHT;
}

SCENARIO(posix_spawn)
{
	char *const argv[] = { program, NULL };
	pid_t pid = UNTOUCHED;
	int error;

	WITH_FAULTS(error = posix_spawn(&pid, program, NULL, NULL, argv, environ));
	return check_spawned(error, pid);
}

SCENARIO(posix_spawn_missing)
{
	char *const argv[] = { program, NULL };
	pid_t pid = UNTOUCHED;
	int error;

	WITH_FAULTS(error = posix_spawn(&pid, "/nowhere/program", NULL, NULL, argv, environ));
	promise(error ? error > 0 && pid == UNTOUCHED : status_of(pid) == KILLED,
		"error %d, pid %d", error, pid);
	return error == ENOENT;
}

SCENARIO(posix_spawnp)
{
	char *const argv[] = { program, NULL };
	pid_t pid = UNTOUCHED;
	int error;

	WITH_FAULTS(error = posix_spawnp(&pid, "program", NULL, NULL, argv, environ));
	return check_spawned(error, pid);
}

SCENARIO(posix_spawn_actions)
{
	char *const argv[] = { program, (char *)(uintptr_t) "closed", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = UNTOUCHED;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 9);
	posix_spawn_file_actions_addclose(&actions, 9);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	WITH_FAULTS(error = posix_spawn(&pid, program, &actions, NULL, argv, environ));
	posix_spawn_file_actions_destroy(&actions);
	return check_spawned(error, pid);
}

SCENARIO(posix_spawn_attributes)
{
	char *const argv[] = { program, (char *)(uintptr_t) "leads", NULL };
	posix_spawnattr_t attributes;
	pid_t pid = UNTOUCHED;
	sigset_t set;
	int error;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSCHEDULER |
						      POSIX_SPAWN_RESETIDS);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setsigdefault(&attributes, &set);
	WITH_FAULTS(error = posix_spawn(&pid, program, NULL, &attributes, argv, environ));
	posix_spawnattr_destroy(&attributes);
	return check_spawned(error, pid);
}

int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

SCENARIO(pidfd_spawn)
{
	char *const argv[] = { program, NULL };
	int error, fd = UNTOUCHED;

	WITH_FAULTS(error = pidfd_spawn(&fd, program, NULL, NULL, argv, environ));
	if (error) {
		promise(error > 0 && fd == UNTOUCHED, "error %d, pidfd %d", error, fd);
		return false;
	}
	siginfo_t info = { 0 };
	waitid((idtype_t)PSYS_P_PIDFD, (id_t)fd, &info, WEXITED);
	close(fd);
	promise(info.si_status == 42 || info.si_status == KILLED, "said to run, status %d",
		info.si_status);
	count(info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status);
	return info.si_status == 42;
}

/* With a blocked signal the drop-ins would always use a shell. */
static void without_mask(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool stream(const char *line, const char *mode)
{
	char text[16] = "";
	FILE *file;
	int status;

	errno = 0;
	WITH_FAULTS(file = popen(line, mode));
	if (!file) {
		promise(errno, "popen: no stream, and no errno");
		return false;
	}
	if (*mode == 'r' && fgets(text, sizeof text, file))
		promise(!strcmp(text, "written\n"), "%s", text);
	WITH_FAULTS(status = pclose(file));
	promise(status == RIGHT || status == KILLED || status == -1, "pclose: status %#x", status);
	count(status);
	return status == RIGHT && (*mode == 'w' || !strcmp(text, "written\n"));
}

SCENARIO_WITH(without_mask, popen_read)
{
	return stream("program unblocked writes", "r");
}

SCENARIO_WITH(without_mask, popen_write)
{
	return stream("program unblocked copies >/dev/null", "w");
}

SCENARIO_WITH(without_mask, popen_beside_another)
{
	FILE *other = popen("program unblocked copies", "w");
	bool right = other && stream("program unblocked writes", "re");

	if (!other || pclose(other) != RIGHT)
		return false;
	it_ran();
	return right;
}

static bool system_line(const char *line)
{
	int status;

	errno = 0;
	WITH_FAULTS(status = system(line));
	promise(status == RIGHT || status == CANNOT || status == KILLED || (status == -1 && errno),
		"system: %#x", status);
	count(status);
	return status == RIGHT;
}

SCENARIO_WITH(without_mask, system)
{
	return system_line("program unblocked");
}

SCENARIO_WITH(without_mask, system_shell)
{
	return system_line("exec program unblocked;");
}

static bool noshell(int mode)
{
	const char *const argv[] = { "program", "writes", NULL };
	struct popen_noshell_pass_to_pclose handle;
	char text[16] = "";
	FILE *file;
	int status;

	errno = 0;
	popen_noshell_set_fork_mode(mode);
	WITH_FAULTS(file = popen_noshell("program", argv, "r", &handle, 1));
	if (!file) {
		promise(errno, "popen_noshell: no stream, and no errno");
		return false;
	}
	if (fgets(text, sizeof text, file))
		promise(!strcmp(text, "written\n"), "%s", text);
	WITH_FAULTS(status = pclose_noshell(&handle));
	promise(status == RIGHT || status == CANNOT || status == KILLED || status == -1,
		"pclose_noshell: status %#x", status);
	count(status);
	return status == RIGHT && !strcmp(text, "written\n");
}

SCENARIO(popen_noshell)
{
	return noshell(POPEN_NOSHELL_MODE_CLONE);
}

SCENARIO(popen_noshell_fork)
{
	return noshell(POPEN_NOSHELL_MODE_FORK);
}

SCENARIO(popen_noshell_posix_spawn)
{
	return noshell(POPEN_NOSHELL_MODE_POSIX_SPAWN);
}

SCENARIO(popen_noshell_compat)
{
	struct popen_noshell_pass_to_pclose handle;
	FILE *file;
	int status;

	popen_noshell_set_fork_mode(POPEN_NOSHELL_MODE_CLONE);
	WITH_FAULTS(file = popen_noshell_compat("program copies", "w", &handle));
	if (!file)
		return false;
	WITH_FAULTS(status = pclose_noshell(&handle));
	promise(status == RIGHT || status == CANNOT || status == KILLED || status == -1,
		"pclose_noshell: status %#x", status);
	count(status);
	return status == RIGHT;
}

static int executes_after_vfork(void *arg)
{
	char *const argv[] = { program, NULL };

	(void)arg;
	execve(program, argv, environ);
	return 127;
}

SCENARIO(popen_noshell_vmfork)
{
	void *memory;
	pid_t pid;

	errno = 0;
	WITH_FAULTS(pid = popen_noshell_vmfork(executes_after_vfork, NULL, &memory));
	if (pid < 0) {
		promise(errno, "popen_noshell_vmfork: no child, and no errno");
		return false;
	}
	const int status = status_of(pid);
	free(memory);
	promise(status == RIGHT || status == CANNOT || status == KILLED, "status %#x", status);
	count(status);
	return status == RIGHT;
}

/* --- queues --------------------------------------------------------------------------- */

static bool check_of_queue(struct aspawn_queue *queue, int64_t ticket)
{
	const struct aspawn_result *result = NULL;
	int r;

	WITH_FAULTS(r = aspawn_queue_wait(queue, &result, 1, -1));
	promise(r == 1, "aspawn_queue_wait: %d", r);
	if (r != 1)
		return false;
	promise(result->ticket == ticket, "the result of another job");
	count(result->status);
	const bool right = result->outcome == ASPAWN_OUTCOME_RAN && result->status == RIGHT;
	if (result->outcome == ASPAWN_OUTCOME_RAN)
		promise(right || result->status == KILLED, "ran, status %#x",
			(unsigned)result->status);
	else if (result->outcome == ASPAWN_OUTCOME_NOT_STARTED)
		promise(result->failure.error < 0, "not started, error %d", result->failure.error);
	else
		promise(result->outcome == ASPAWN_OUTCOME_LOST, "end %d", result->outcome);
	if (right)
		promise(result->out_length == 0 || !memcmp(result->out, "text", 4),
			"output of %zu bytes", result->out_length);
	WITH_FAULTS(r = aspawn_queue_release(queue, &result, 1));
	promise(r == 0, "aspawn_queue_release: %d", r);
	return right;
}

static bool queue_of(uint64_t flags, const struct aspawn_action *action, int owner)
{
	const struct aspawn_queue_options options = { .size = sizeof options,
						      .running = 1,
						      .flags = flags };
	char *const argv[] = { program, NULL };
	const struct aspawn_command command = { .size = sizeof command,
						.flags = ASPAWN_COMMAND_INHERIT_SIGNALS,
						.argv = argv,
						.actions = action,
						.action_count = action != NULL,
						.owner = owner };
	const struct aspawn_job job = { .size = sizeof job, .out_size = 5, .command = &command };
	struct aspawn_queue *queue = NULL;
	bool right = true;
	int64_t ticket;
	int r;

	WITH_FAULTS(r = aspawn_queue_create(&queue, &options));
	promise(r == 0 ? queue != NULL : r < 0 && !queue, "aspawn_queue_create: %d", r);
	if (r < 0)
		return false;
	WITH_FAULTS(ticket = aspawn_queue_submit(queue, &job, NULL));
	promise(ticket, "aspawn_queue_submit: 0");
	right = ticket > 0 && check_of_queue(queue, ticket);
	WITH_FAULTS(r = aspawn_queue_close(queue));
	promise(r == 0, "aspawn_queue_close: %d", r);
	return right;
}

SCENARIO(queue)
{
	return queue_of(0, NULL, ASPAWN_OWNER_CALLER);
}

/* The job uses a descriptor of the caller's. */
SCENARIO(queue_descriptor)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct aspawn_action action = ASPAWN_DUP2(fd, 0);
	const bool right = queue_of(0, &action, ASPAWN_OWNER_CALLER);

	close(fd);
	return right;
}

SCENARIO(queue_local)
{
	return queue_of(ASPAWN_QUEUE_LOCAL, NULL, ASPAWN_OWNER_CALLER);
}

SCENARIO(queue_tree)
{
	return queue_of(0, NULL, ASPAWN_OWNER_TREE);
}

SCENARIO(queue_local_tree)
{
	return queue_of(ASPAWN_QUEUE_LOCAL, NULL, ASPAWN_OWNER_TREE);
}

/* The job needs memory of its own. */
static const struct aspawn_action for_image = ASPAWN_RESUID(-1U, -1U, -1U);

SCENARIO(queue_image)
{
	return queue_of(0, &for_image, ASPAWN_OWNER_CALLER);
}

SCENARIO(queue_local_image)
{
	return queue_of(ASPAWN_QUEUE_LOCAL, &for_image, ASPAWN_OWNER_CALLER);
}
