/*
 * All that the library offers, one scenario for each way to use it. A scenario holds the
 * library to its word: what it says has happened, and what it promises of a failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <popen_noshell.h>

#include <aspawn/command.h>
#include <syscall/clone.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "harness.h"

extern char **environ;

/* Statuses, as of wait(2). KILLED: before it could execute anything, by the supervisor. */
enum { RIGHT = 42 << 8, WRONG = 43 << 8, CANNOT = 127 << 8, KILLED = SIGKILL, UNTOUCHED = -7 };
/* Descriptors that scenarios name. */
enum { ROOT = 20, RULES, NAMESPACE, CGROUP, TERMINAL };

static struct Stack_t stack;

/* The program ran, if it is its status; -1 tells nothing. */
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

	WITH_FAULTS(r = aspawn_stack_free(&stack));
	if (r < 0)
		r = aspawn_stack_free(&stack);
	promise(r == 0 && !stack.addr, "aspawn_stack_free: %d", r);
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

/* Nobody else sees the mount, which goes with the process. */
static void with_cgroup(void)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "/sys/fs/cgroup/aspawn-faults");
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) ||
	    (mkdir(path, 0755) && errno != EEXIST))
		not_here("cgroups");
	place(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), CGROUP);
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

static bool spawn_file(const struct aspawn_options *options, const char *file, const char *path)
{
	int r, error = 0;
	pid_t pid = UNTOUCHED;

	WITH_FAULTS(r = aspawn_with(options, &pid, &stack, 65536, executes, (void *)(uintptr_t)path,
				    (void *)(uintptr_t)file, strlen(file) + 1));
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
	WITH_FAULTS(r = aspawn_stack_wait(&stack, NULL));
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
	return spawn_file(NULL, program, NULL);
}

SCENARIO(aspawn_no_pipe)
{
	const struct aspawn_options options = { .size = sizeof options, .flags = ASPAWN_NO_PIPE };

	return spawn_file(&options, program, NULL);
}

SCENARIO(aspawn_vfork)
{
	const struct aspawn_options options = { .size = sizeof options, .flags = ASPAWN_VFORK };

	return spawn_file(&options, program, NULL);
}

SCENARIO(aspawn_pidfd)
{
	int fd = UNTOUCHED;
	const struct aspawn_options options = { .size = sizeof options,
						.flags = ASPAWN_PIDFD,
						.pidfd = &fd };
	bool right = spawn_file(&options, program, NULL);

	promise(!right || fd >= -1, "pidfd %d", fd);
	if (fd >= 0)
		close(fd);
	return right;
}

SCENARIO_WITH(with_cgroup, aspawn_cgroup)
{
	const struct aspawn_options options = { .size = sizeof options,
						.flags = ASPAWN_CGROUP,
						.cgroup_fd = CGROUP };

	return spawn_file(&options, program, NULL);
}

SCENARIO(aspawn_closed_streams)
{
	int saved[3];

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	bool right = spawn_file(NULL, program, NULL);
	for (int i = 0; i < 3; i++) {
		promise(fcntl(i, F_GETFD) < 0, "left: descriptor %d", i);
		dup2(saved[i], i);
		close(saved[i]);
	}
	return right;
}

SCENARIO(aspawn_growing_stack)
{
	struct aspawn_options options = { .size = sizeof options, .flags = ASPAWN_NO_PIPE };
	pid_t pid = UNTOUCHED;
	int r;

	WITH_FAULTS(r = aspawn_with(&options, &pid, &stack, 1, executes, NULL, program,
				    strlen(program) + 1));
	if (r == 0) {
		count(status_of(pid));
		promise(aspawn_stack_wait(&stack, NULL) == 0, "aspawn_stack_wait");
	}
	return spawn_file(NULL, program, NULL) && r == 0;
}

SCENARIO(aspawn_execvpe)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof path, "/nowhere:%s", directory);
	return spawn_file(NULL, "program", path);
}

SCENARIO(aspawn_execvpe_script)
{
	return spawn_file(NULL, script, NULL);
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
	const struct aspawn_options options = { .size = sizeof options, .flags = ASPAWN_NO_PIPE };
	const struct psys_timespec soon = { 0, 1000000 }, late = { 1000, 0 };
	pid_t pid = UNTOUCHED;
	int r, status;

	WITH_FAULTS(r = aspawn_with(&options, &pid, &stack, 1, returns_late, NULL, NULL, 0));
	if (r < 0) {
		promise(pid == UNTOUCHED, "a pid %d", pid);
		return free_stack(), false;
	}
	WITH_FAULTS(r = aspawn_stack_wait(&stack, &soon));
	promise(r == 0 || r == -ETIMEDOUT, "aspawn_stack_wait: %d", r);
	WITH_FAULTS(r = aspawn_stack_wait(&stack, &late));
	promise(r == 0, "aspawn_stack_wait: %d", r);
	status = status_of(pid);
	promise(status == RIGHT || status == KILLED, "status %#x", status);
	free_stack();
	return r == 0 && status == RIGHT;
}

/* --- commands ------------------------------------------------------------------------ */

static int pipe_end;

/* The end of a child: what is known of it must be true. */
static bool end_of(struct aspawn_child *child, int expected, const struct psys_timespec *timeout)
{
	struct aspawn_failure failure = { 0, 0 };
	int started, r, status = -1;
	const int pid = child->pid;

	WITH_FAULTS(started = aspawn_started(child, &failure, NULL));
	promise(started <= 0 && failure.error == -started, "aspawn_started: %d, error %d", started,
		failure.error);
	promise(started < 0 || failure.step == ASPAWN_STEP_NONE, "aspawn_started: 0, step %d",
		failure.step);
	WITH_FAULTS(r = aspawn_wait(child, &status, NULL, timeout));
	if (r < 0 && child->pid == pid) /* still ours */
		r = aspawn_wait(child, &status, NULL, NULL);
	promise(r == 0, "aspawn_wait: %d, and the child is not reaped", r);
	if (r < 0)
		return false;
	promise(child->pid == 0 && child->pidfd == -1 && child->fd == -1,
		"aspawn_wait releases the child");
	promise(started || status == expected, "said to run, status %#x", status);
	promise(failure.step == ASPAWN_STEP_NONE || status == CANNOT || status == KILLED,
		"said to have failed (step %d, error %d), status %#x", failure.step, failure.error,
		status);
	promise(status == expected || status == CANNOT || status == KILLED, "status %#x", status);
	count(status);
	return started == 0 && status == expected;
}

static bool start(struct aspawn_child *child, const struct aspawn_command *command)
{
	struct aspawn_child untouched;
	int r;

	memset(&untouched, 0x5a, sizeof untouched);
	*child = untouched;
	pipe_end = UNTOUCHED;
	WITH_FAULTS(r = aspawn_command(child, &stack, command));
	promise(r == 0 || !memcmp(child, &untouched, sizeof untouched),
		"aspawn_command: %d, and a child", r);
	promise(r == 0 || pipe_end == UNTOUCHED, "aspawn_command: %d, and a pipe", r);
	if (r < 0)
		free_stack();
	return r == 0;
}

static bool command(uint64_t flags, const struct aspawn_action *actions, size_t count,
		    const char *role)
{
	char *const argv[] = { program, (char *)(uintptr_t)role, NULL };
	const struct aspawn_command it = { .size = sizeof it,
					   .flags = flags,
					   .file = program,
					   .argv = argv,
					   .envp = environ,
					   .actions = actions,
					   .action_count = count };
	struct aspawn_child child;

	if (!start(&child, &it))
		return false;
	bool right = end_of(&child, RIGHT, NULL);
	if (pipe_end >= 0)
		close(pipe_end);
	free_stack();
	return right;
}

#define COMMAND(name, prepare, flags, role, ...)                                        \
	SCENARIO_WITH(prepare, name)                                                    \
	{                                                                               \
		const struct aspawn_action actions[] = { __VA_ARGS__ };                 \
		return command(flags, actions, sizeof actions / sizeof *actions, role); \
	}

static const unsigned nobodys[] = { 65534 };
static const struct psys_sigset usr1 = { { 1UL << (PSYS_SIGUSR1 - 1) } };
static const struct psys_sigset interrupt = { { 1UL << (PSYS_SIGINT - 1) } };
static const struct psys_sigset usr2 = { { 1UL << (PSYS_SIGUSR2 - 1) } };
static const unsigned long processor = 1;
static const struct psys_sock_filter allow[] = { { PSYS_BPF_RET | PSYS_BPF_K, 0, 0,
						   PSYS_SECCOMP_RET_ALLOW } };

static ASPAWN_CHILD int nothing(void *arg)
{
	(void)arg;
	return 0;
}

#define PLAIN ASPAWN_CLOSE(19)
COMMAND(command, NULL, 0, NULL, PLAIN)
COMMAND(command_poll, NULL, ASPAWN_COMMAND_POLL, NULL, PLAIN)
COMMAND(command_parent_directory, NULL, ASPAWN_COMMAND_PARENT_DIRECTORY, NULL, ASPAWN_CHDIR("/"))
COMMAND(command_vfork, NULL, ASPAWN_COMMAND_VFORK, NULL, PLAIN)
COMMAND(command_no_pidfd, NULL, ASPAWN_COMMAND_NO_PIDFD, NULL, PLAIN)
COMMAND(command_fork, NULL, ASPAWN_COMMAND_FORK, NULL, PLAIN)
COMMAND(command_fork_poll, NULL, ASPAWN_COMMAND_FORK | ASPAWN_COMMAND_POLL, NULL, PLAIN)
COMMAND(redirections, with_root, 0, NULL, ASPAWN_DEV_NULL(0), ASPAWN_PIPE_FROM(1, &pipe_end),
	ASPAWN_DUP2(1, 2), ASPAWN_OPENAT2(3, ROOT, "dev/null", O_RDWR, 0, 0), ASPAWN_DUP2(0, 0),
	ASPAWN_CLOSE(3))
COMMAND(closefrom, NULL, 0, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_pipe, NULL, 0, "closed", ASPAWN_PIPE_FROM(1, &pipe_end), ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_poll, NULL, ASPAWN_COMMAND_POLL, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_still, NULL, ASPAWN_COMMAND_STILL, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(closefrom_vfork, NULL, ASPAWN_COMMAND_VFORK, "closed", ASPAWN_CLOSEFROM(3))
COMMAND(cloexec_from, NULL, 0, "closed", ASPAWN_CLOEXEC_FROM(3))
COMMAND(directories, with_root, 0, "root", ASPAWN_CHDIR("/usr"), ASPAWN_FCHDIR(ROOT),
	ASPAWN_CHROOT("/"), ASPAWN_UMASK(027))
COMMAND(session, NULL, 0, "leads", ASPAWN_SETSID())
COMMAND(group, NULL, 0, "leads", ASPAWN_SETPGID(0))
COMMAND(signals, NULL, 0, NULL, ASPAWN_SIGMASK(&usr1), ASPAWN_SIGNALS_DEFAULT(&interrupt),
	ASPAWN_SIGNALS_IGNORE(&usr2))
COMMAND(limits, NULL, 0, NULL, ASPAWN_RLIMIT(PSYS_RLIMIT_CORE, 0, 0), ASPAWN_NICE(5),
	ASPAWN_SCHEDULER(PSYS_SCHED_BATCH, 0), ASPAWN_AFFINITY(&processor, sizeof processor),
	ASPAWN_IOPRIO(2 << PSYS_IOPRIO_CLASS_SHIFT | 7), ASPAWN_PERSONALITY(0))
COMMAND(user, NULL, 0, "user", ASPAWN_USER(65534, 65534, nobodys, 1))
COMMAND(ids, NULL, 0, "user", ASPAWN_GROUPS(nobodys, 1), ASPAWN_RESGID(65534, 65534, 65534),
	ASPAWN_RESUID(65534, 65534, 65534))
COMMAND(capabilities, NULL, 0, NULL, ASPAWN_CAP_DROP(1), ASPAWN_CAP_AMBIENT(2),
	ASPAWN_SECUREBITS(0))
COMMAND(sandbox, with_rules, 0, NULL, ASPAWN_NO_NEW_PRIVS(), ASPAWN_SECCOMP(allow, 1),
	ASPAWN_LANDLOCK(RULES))
COMMAND(parent_death, NULL, 0, NULL, ASPAWN_PDEATHSIG(SIGTERM))
COMMAND(namespaces, with_namespace, 0, NULL, ASPAWN_SETNS(NAMESPACE, PSYS_CLONE_NEWUTS),
	ASPAWN_UNSHARE(PSYS_CLONE_NEWNS | PSYS_CLONE_NEWUTS),
	ASPAWN_MOUNT("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
	ASPAWN_HOSTNAME("elsewhere"))
COMMAND(join_cgroup, with_cgroup, 0, NULL, ASPAWN_JOIN_CGROUP(CGROUP))
COMMAND(oom_score_adj, NULL, 0, NULL, ASPAWN_OOM_SCORE_ADJ(300))
COMMAND(write, NULL, 0, NULL, ASPAWN_WRITE("/proc/self/comm", "scenario"))
COMMAND(call, NULL, 0, NULL, ASPAWN_CALL(nothing, NULL))

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

/* The rest of its life belongs to who waits by the pid. */
static bool release(uint64_t flags)
{
	const struct aspawn_command it = {
		.size = sizeof it, .flags = flags, .file = program, .envp = environ
	};
	struct aspawn_child child;
	int r, status = -1;

	if (!start(&child, &it))
		return false;
	WITH_FAULTS(r = aspawn_release(&child));
	promise(r == 0, "aspawn_release: %d", r);
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, NULL));
	if (r < 0)
		r = aspawn_wait(&child, &status, NULL, NULL);
	promise(r == 0 && (status == RIGHT || status == CANNOT || status == KILLED),
		"aspawn_wait: %d, status %#x", r, status);
	count(status);
	free_stack();
	return status == RIGHT;
}

SCENARIO(release)
{
	return release(0);
}

SCENARIO(release_poll)
{
	return release(ASPAWN_COMMAND_POLL);
}

SCENARIO(release_fork)
{
	return release(ASPAWN_COMMAND_FORK);
}

SCENARIO(command_search)
{
	char path[PATH_MAX + 16];
	const struct aspawn_command it = {
		.size = sizeof it, .file = "program", .path = path, .envp = environ
	};
	struct aspawn_child child;

	snprintf(path, sizeof path, "/nowhere:%s", directory);
	bool right = start(&child, &it) && end_of(&child, RIGHT, NULL);
	free_stack();
	return right;
}

SCENARIO(command_shell)
{
	const struct aspawn_command it = {
		.size = sizeof it, .flags = ASPAWN_COMMAND_SHELL, .file = script, .envp = environ
	};
	struct aspawn_child child;

	bool right = start(&child, &it) && end_of(&child, RIGHT, NULL);
	free_stack();
	return right;
}

static bool missing_with(uint64_t flags)
{
	const struct aspawn_command it = {
		.size = sizeof it, .flags = flags, .file = "/nowhere/program", .envp = environ
	};
	struct aspawn_child child;

	if (!start(&child, &it))
		return false;
	end_of(&child, CANNOT, NULL);
	bool right = child.failure.error == ENOENT;
	free_stack();
	return right;
}

SCENARIO(command_missing)
{
	return missing_with(0);
}

SCENARIO(command_missing_poll)
{
	return missing_with(ASPAWN_COMMAND_POLL);
}

static bool wait_with_timeout(uint64_t flags)
{
	const struct psys_timespec late = { 1000, 0 };
	const struct aspawn_command it = {
		.size = sizeof it, .flags = flags, .file = program, .envp = environ
	};
	struct aspawn_child child;

	bool right = start(&child, &it) && end_of(&child, RIGHT, &late);
	free_stack();
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

/* One that would stay for ever. */
static bool end_lingering(uint64_t flags, bool waits)
{
	char *const argv[] = { program, (char *)(uintptr_t) "lingers", NULL };
	const struct aspawn_command it = {
		.size = sizeof it, .flags = flags, .file = program, .argv = argv, .envp = environ
	};
	const struct psys_timespec soon = { 0, 2000000 };
	struct aspawn_child child;
	int r = -ETIMEDOUT, status = -1;

	if (!start(&child, &it))
		return false;
	const int pid = child.pid;
	if (waits) {
		WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, &soon));
		promise(r <= 0 && (r || status == CANNOT || status == KILLED),
			"aspawn_wait: %d, status %#x", r, status);
	}
	promise(child.pid == pid || r == 0, "aspawn_wait: %d, and the child is not reaped", r);
	if (child.pid != pid)
		return kill(pid, SIGKILL), free_stack(), false;
	WITH_FAULTS(r = aspawn_kill(&child, SIGTERM));
	if (r < 0)
		r = aspawn_kill(&child, SIGTERM);
	promise(r == 0 || r == -ESRCH, "aspawn_kill: %d", r);
	it_may_have_run();
	WITH_FAULTS(r = aspawn_wait(&child, &status, NULL, NULL));
	if (r < 0 && child.pid == pid)
		r = aspawn_wait(&child, &status, NULL, NULL);
	promise(r == 0, "aspawn_wait: %d, and the child is not reaped", r);
	promise(status == SIGTERM || status == CANNOT || status == KILLED, "status %#x", status);
	free_stack();
	return status == SIGTERM;
}

SCENARIO(wait_expires)
{
	return end_lingering(0, true);
}

SCENARIO(wait_expires_no_pidfd)
{
	return end_lingering(ASPAWN_COMMAND_NO_PIDFD, true);
}

SCENARIO(kill)
{
	return end_lingering(0, false);
}

SCENARIO(kill_no_pidfd)
{
	return end_lingering(ASPAWN_COMMAND_NO_PIDFD, false);
}

/* --- a whole life --------------------------------------------------------------------- */

static bool run(struct aspawn_run *run, const char *role, int expected, int status)
{
	char *const argv[] = { program, (char *)(uintptr_t)role, NULL };
	const struct aspawn_command it = {
		.size = sizeof it, .file = program, .argv = argv, .envp = environ
	};
	int r;

	run->size = sizeof *run;
	WITH_FAULTS(r = aspawn_run(run, &stack, &it));
	if (r == 0) {
		promise(run->failure.step == ASPAWN_STEP_NONE && !run->failure.error,
			"aspawn_run: 0, step %d, error %d", run->failure.step, run->failure.error);
		promise(run->status == status, "aspawn_run: 0, status %#x", run->status);
		count(run->status);
	} else {
		promise(r < 0, "aspawn_run: %d", r);
		if (run->failure.step == ASPAWN_STEP_NONE)
			it_may_have_run();
	}
	free_stack();
	/* A slow machine may get the second signal before the first has done its work. */
	return r == expected && (run->status == status || (r == -ETIMEDOUT && run->status < 128));
}

SCENARIO(run)
{
	struct aspawn_run it = { 0 };

	return run(&it, NULL, 0, RIGHT);
}

SCENARIO(run_output)
{
	char output[16], error[16];
	struct aspawn_run it = { .output = output,
				 .output_size = sizeof output,
				 .error = error,
				 .error_size = sizeof error };
	bool right = run(&it, "writes", 0, RIGHT);

	promise(it.output_length == 0 || (it.output_length == 8 && !memcmp(output, "written\n", 8)),
		"output of %zu bytes", it.output_length);
	return right && it.output_length == 8;
}

SCENARIO(run_input)
{
	static char input[200000], output[200000];
	struct aspawn_run it = { .input = input,
				 .input_size = sizeof input,
				 .output = output,
				 .output_size = sizeof output };
	memset(input, 'x', sizeof input);
	memset(output, 0, sizeof output);
	bool right = run(&it, "copies", 0, RIGHT);

	promise(!memcmp(input, output, it.output_length), "another output");
	return right && it.output_length == sizeof output;
}

SCENARIO(run_too_much)
{
	char output[2];
	struct aspawn_run it = { .output = output, .output_size = sizeof output };

	run(&it, "writes", -ENOBUFS, RIGHT);
	return it.output_length == sizeof output;
}

static bool run_timeout_with(uint64_t flags, const char *role, int status)
{
	const struct psys_timespec soon = { 0, 20000000 }, grace = { 0, 10000000 };
	char output[16];
	struct aspawn_run it = { .flags = flags,
				 .timeout = &soon,
				 .grace = &grace,
				 .output = output,
				 .output_size = sizeof output };

	return run(&it, role, -ETIMEDOUT, status);
}

SCENARIO(run_timeout)
{
	return run_timeout_with(0, "lingers", SIGTERM);
}

SCENARIO(run_timeout_ignored)
{
	return run_timeout_with(0, "stays", SIGKILL);
}

SCENARIO(run_timeout_group)
{
	return run_timeout_with(ASPAWN_RUN_GROUP, "stays", SIGKILL);
}

SCENARIO(run_ends_in_time)
{
	const struct psys_timespec late = { 1000, 0 };
	struct aspawn_run it = { .timeout = &late, .flags = ASPAWN_RUN_GROUP };

	return run(&it, NULL, 0, RIGHT);
}

SCENARIO(run_missing)
{
	const struct aspawn_command it = { .size = sizeof it,
					   .file = "/nowhere/program",
					   .envp = environ };
	struct aspawn_run run = { .size = sizeof run };
	int r;

	WITH_FAULTS(r = aspawn_run(&run, &stack, &it));
	promise(r < 0, "aspawn_run: %d", r);
	free_stack();
	return r == -ENOENT && run.failure.step == ASPAWN_STEP_EXEC;
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

/* With any signal blocked they leave all to a shell. */
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
