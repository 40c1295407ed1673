/* SPDX-License-Identifier: MIT */
/* What tests share: children, threads, counting what a process holds. */
#include "harness.h"

int reap(int pid)
{
	int status, r;

	while ((r = psys_wait4(pid, &status, 0, NULL)) == -PSYS_EINTR)
		continue;
	CHECK_EQUAL(r, pid);
	return PSYS_WIFEXITED(status) ? PSYS_WEXITSTATUS(status) : 128 + PSYS_WTERMSIG(status);
}

int fork_child(void)
{
#if __STDC_HOSTED__ /* the libc's, which prepares itself */
	extern int fork(void);
	return fork();
#else
	return psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

void need_others_to_reach_program(void)
{
	struct self self;
	int pid = fork_child();

	if (pid == 0) {
		self_in_role(&self, "", NULL);
		psys_setresgid(65534, 65534, 65534);
		psys_setresuid(65534, 65534, 65534);
		psys_exit_group(psys_faccessat(PSYS_AT_FDCWD, self.file, PSYS_X_OK) < 0);
	}
	if (reap(pid) != 0)
		skip("another user cannot reach the program");
}

/* A user namespace often has 65536 users, so the number is below. */
unsigned own_user(void)
{
	return 10000 + (unsigned)psys_getpid() % 50000;
}

enum { THREAD_STACK = 256 * 1024 };

void thread_start(struct thread *thread, int (*fn)(void *), void *arg)
{
	thread->stack = psys_mmap(NULL, THREAD_STACK, PSYS_PROT_READ | PSYS_PROT_WRITE,
				  PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	CHECK(!PSYS_IS_ERROR(thread->stack));
	thread->tid = 1;
	long tid = psys_clone_thunk(
		PSYS_CLONE_VM | PSYS_CLONE_FS | PSYS_CLONE_FILES | PSYS_CLONE_SIGHAND |
			PSYS_CLONE_THREAD | PSYS_CLONE_SYSVSEM | PSYS_CLONE_CHILD_CLEARTID,
		(char *)thread->stack + THREAD_STACK, NULL, &thread->tid, NULL, fn, arg);
	if (tid == -PSYS_EINVAL)
		skip("this emulator has no threads without a libc");
	CHECK(tid > 0);
}

void thread_join(struct thread *thread)
{
	while (__atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE))
		psys_futex(&thread->tid, PSYS_FUTEX_WAIT, 1, NULL, NULL, 0);
	psys_munmap(thread->stack, THREAD_STACK);
}

void end_main_thread(int (*fn)(void *))
{
	static struct thread thread;

	thread_start(&thread, fn, NULL);
	psys_exit(0);
}

void await_end_of_main_thread(void)
{
	enum { KCMP_VM = 1 };

	/* A process whose main thread is a zombie has no memory to compare. */
	while (psys_kcmp(psys_getpid(), psys_gettid(), KCMP_VM, 0, 0) == 0)
		sleep_ms(1);
}

void *shared_page(void)
{
	void *page = psys_mmap(NULL, 65536, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_SHARED | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(page));
	return page;
}

ASPAWN_CHILD void sleep_ms(int milliseconds)
{
	struct psys_timespec time = { milliseconds / 1000, milliseconds % 1000 * INT64_C(1000000) };

	while (psys_clock_nanosleep(PSYS_CLOCK_MONOTONIC, 0, &time, &time) == -PSYS_EINTR)
		continue;
}

int64_t monotonic_ns(void)
{
	struct psys_timespec time;

	psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --------------------------------------------------------------- counting */

static int count_entries(const char *directory)
{
	static char records[32768] __attribute__((aligned(8)));
	int fd = psys_open(directory, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	int count = 0;
	long length;

	if (fd < 0)
		return -1;
	while ((length = psys_getdents64(fd, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			struct psys_dirent64 *entry = (void *)(records + at);
			count += entry->d_name[0] != '.';
			at += entry->d_reclen;
		}
	psys_close(fd);
	return count;
}

static void remove_tree(int directory, const char *name)
{
	char records[2048] __attribute__((aligned(8)));
	long length;

	if (psys_unlinkat(directory, name, 0) == 0)
		return;
	int fd = psys_openat(directory, name,
			     PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_NOFOLLOW | PSYS_O_CLOEXEC, 0);
	while (fd >= 0 && (length = psys_getdents64(fd, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			struct psys_dirent64 *entry = (void *)(records + at);
			if (psys_strcmp(entry->d_name, ".") && psys_strcmp(entry->d_name, ".."))
				remove_tree(fd, entry->d_name);
			at += entry->d_reclen;
		}
	psys_close(fd);
	psys_unlinkat(directory, name, PSYS_AT_REMOVEDIR);
}

void remove_files(const char *directory, const char *begin, const char *end)
{
	const size_t first = psys_strlen(begin), last = psys_strlen(end);
	static char records[32768] __attribute__((aligned(8)));
	int fd = psys_open(directory, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	long length;

	while (fd >= 0 && (length = psys_getdents64(fd, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			struct psys_dirent64 *entry = (void *)(records + at);
			const size_t size = psys_strlen(entry->d_name);
			if (size >= first + last && !psys_strncmp(entry->d_name, begin, first) &&
			    !psys_strcmp(entry->d_name + size - last, end))
				remove_tree(fd, entry->d_name);
			at += entry->d_reclen;
		}
	psys_close(fd);
}

void enter_own_directory(void)
{
	char path[64] = "/tmp/aspawn-directory-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, path, 0755), 0);
	CHECK_EQUAL(psys_chdir(path), 0);
}

/* Reads the whole of a small file, and adds a NUL. Returns the length without the NUL, or -1. */
static long read_file(const char *path, char *text, size_t size)
{
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	size_t length = 0;
	long got;

	if (fd < 0)
		return -1;
	while (length < size - 1 && (got = psys_read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	psys_close(fd);
	text[length] = '\0';
	return (long)length;
}

int count_descriptors(void)
{
	int count = count_entries("/proc/thread-self/fd");

	return count < 0 ? count : count - 1; /* the one that counted */
}

int count_mappings(void)
{
	static char text[1 << 18];
	int count = 0;

	if (read_file("/proc/self/maps", text, sizeof text) < 0)
		return -1;
	for (const char *p = text; *p; p++)
		count += *p == '\n';
	return count;
}

bool have_children(void)
{
	return psys_waitid(PSYS_P_ALL, 0, NULL, PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT, NULL) !=
	       -PSYS_ECHILD;
}

uint64_t status_hex(int pid, const char *key)
{
	static char text[8192];
	char path[64] = "/proc/self/status";
	size_t length = psys_strlen(key);
	uint64_t value = 0;

	if (pid) {
		size_t end = 6 + psys_i64_to_decimal(path + 6, pid);
		psys_strlcpy(path + end, "/status", sizeof path - end);
	}
	CHECK(read_file(path, text, sizeof text) > 0);
	for (const char *p = text; *p;
	     p = *psys_strchrnul(p, '\n') ? psys_strchrnul(p, '\n') + 1 : "") {
		if (psys_strncmp(p, key, length) || p[length] != ':')
			continue;
		for (p += length + 1; *p == ' ' || *p == '\t'; p++)
			continue;
		for (;; p++) {
			unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') :
					 *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10 :
								  16;
			if (digit == 16)
				return value;
			value = value << 4 | digit;
		}
	}
	check_failed(__FILE__, __LINE__, key);
}

bool have_proc(void)
{
	return count_descriptors() >= 0;
}

static ASPAWN_CHILD int child_stores(void *to, int fd, void *mask, void *data, size_t length)
{
	(void)fd, (void)mask, (void)data, (void)length;
	__atomic_store_n((int *)to, 1, __ATOMIC_RELEASE);
	return 0;
}

bool memory_is_shared(void)
{
	struct Stack_t stack = { 0 };
	int shared = 0; /* not bool: armv5 has no atomic store of a byte */

	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_stores, &shared)), 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

/* ---------------------------------------------------------------- signals */

/* QEMU 7.2 on riscv and loongarch takes the structure to be longer: set_handler() passes an array
 * of two. */

void set_handler(int signal, void (*handler)(int))
{
	struct psys_sigaction action[2] = { { .handler = (uintptr_t)handler } };

#ifdef PSYS_NEEDS_RESTORER
	action->restorer = (uintptr_t)psys_restorer;
#ifdef PSYS_SA_RESTORER
	action->flags = PSYS_SA_RESTORER;
#endif
#endif
	CHECK_EQUAL(psys_rt_sigaction(signal, action, NULL, PSYS_SIGSET_SIZE), 0);
}

void set_disposition(int signal, uintptr_t disposition)
{
	struct psys_sigaction action[2] = { { .handler = disposition } };

	CHECK_EQUAL(psys_rt_sigaction(signal, action, NULL, PSYS_SIGSET_SIZE), 0);
}

ASPAWN_CHILD uintptr_t get_disposition(int signal)
{
	struct psys_sigaction action[2];

	return psys_rt_sigaction(signal, NULL, action, PSYS_SIGSET_SIZE) < 0 ? (uintptr_t)-1 :
									       action->handler;
}

ASPAWN_CHILD struct psys_sigset get_mask(void)
{
	struct psys_sigset mask;

	psys_rt_sigprocmask(PSYS_SIG_BLOCK, NULL, &mask, PSYS_SIGSET_SIZE);
	return mask;
}

bool same_mask(struct psys_sigset a, struct psys_sigset b)
{
	return !psys_memcmp(&a, &b, sizeof a);
}

/* ---------------------------------------------------------------- spawning */

int spawn(struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid)
{
	int fd = aspawn(pid, stack, 16384, fn, arg, NULL, 0);

	CHECK(fd >= 0);
	return fd;
}

int spawn_without_pipe(struct Stack_t *stack, aspawn_fn fn, void *arg)
{
	int pid = -1;

	CHECK_EQUAL(aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, stack, 16384, fn, arg, NULL, 0), 0);
	return pid;
}

ASPAWN_CHILD int child_returns(void *status, int fd, void *mask, void *data, size_t length)
{
	(void)fd, (void)mask, (void)data, (void)length;
	return (int)(intptr_t)status;
}

ASPAWN_CHILD int child_execs_role(void *role, int fd, void *mask, void *data, size_t length)
{
	(void)data, (void)length;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);
	int error = exec_role(role, NULL);
	if (fd >= 0)
		psys_write(fd, &error, sizeof error);
	return 127;
}

ASPAWN_CHILD int child_waits(void *gate, int fd, void *mask, void *data, size_t length)
{
	(void)fd, (void)mask, (void)data, (void)length;
	gate_wait(gate);
	return 0;
}

ASPAWN_CHILD void gate_wait(int *gate)
{
	while (!__atomic_load_n(gate, __ATOMIC_ACQUIRE))
		psys_futex(gate, PSYS_FUTEX_WAIT, 0, NULL, NULL, 0);
}

void gate_open(int *gate)
{
	__atomic_store_n(gate, 1, __ATOMIC_RELEASE);
	psys_futex(gate, PSYS_FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

/* What a spawned command would be. */
ROLE(exit_7)
{
	(void)argc, (void)argv;
	return 7;
}

ROLE(lingers)
{
	(void)argc, (void)argv;
	sleep_ms(600000);
	return 0;
}

void kill_lingering(int pid)
{
	CHECK_EQUAL(psys_wait4(pid, NULL, PSYS_WNOHANG, NULL), 0);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
	CHECK_EQUAL(reap(pid), 128 + PSYS_SIGKILL);
}

int write_to_cgroup(int directory, const char *file, const char *text)
{
	int fd = psys_openat(directory, file, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	long r = psys_write(fd, text, psys_strlen(text));

	psys_close(fd);
	return r < 0 ? (int)r : 0;
}

void make_cgroup_of(struct cgroup *group, const char *controller)
{
	char *root = group->root, *path = group->path;

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	psys_strlcpy(root, "/tmp/aspawn-cgroup-", sizeof group->root);
	append_own_name(root);
	psys_strlcpy(path, root, sizeof group->path);
	psys_strlcpy(path + psys_strlen(path), "/aspawn-test-", 16);
	append_own_name(path);
	psys_mkdirat(PSYS_AT_FDCWD, root, 0700);
	if (psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) < 0 ||
	    psys_mount("cgroup", root, controller ? "cgroup" : "cgroup2", 0, controller) < 0) {
		psys_unlinkat(PSYS_AT_FDCWD, root, PSYS_AT_REMOVEDIR);
		skip("may not mount a cgroup file system");
	}
	psys_mkdirat(PSYS_AT_FDCWD, path, 0755);
	group->fd = psys_open(path, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	if (group->fd < 0) {
		psys_umount2(root, PSYS_MNT_DETACH);
		psys_unlinkat(PSYS_AT_FDCWD, root, PSYS_AT_REMOVEDIR);
		skip("may not make a cgroup");
	}
}

void make_cgroup(struct cgroup *group)
{
	make_cgroup_of(group, NULL);
}

void remove_cgroup(struct cgroup *group)
{
	psys_close(group->fd);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, group->path, PSYS_AT_REMOVEDIR), 0);
	CHECK_EQUAL(psys_umount2(group->root, PSYS_MNT_DETACH), 0);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, group->root, PSYS_AT_REMOVEDIR), 0);
}

static void remove_lost(int pid, const char *run_name, const char *controller)
{
	struct cgroup group;
	char name[64] = "aspawn-test-";

	make_cgroup_of(&group, controller); /* removed with the other */
	psys_i64_to_decimal(name + psys_strlen(name), pid);
	psys_strlcpy(name + psys_strlen(name), run_name, sizeof name - psys_strlen(name));
	CHECK_EQUAL(psys_chdir(group.root), 0);
	const int lost = psys_open(name, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	write_to_cgroup(lost, "freezer.state", "THAWED");
	write_to_cgroup(lost, "cgroup.kill", "1");
	for (int i = 0; i < 100 && psys_faccessat(PSYS_AT_FDCWD, name, PSYS_F_OK) == 0; i++) {
		remove_files(".", "aspawn-test-", run_name);
		sleep_ms(10);
	}
	remove_files(".", "aspawn-test-", run_name);
}

void remove_lost_cgroups(int pid, const char *run_name)
{
	static const char *const controllers[] = { NULL, "memory", "freezer" };

	for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
		const int child = fork_child(); /* has the mount alone */
		if (child == 0) {
			remove_lost(pid, run_name, controllers[i]);
			psys_exit_group(0);
		}
		psys_wait4(child, NULL, 0, NULL);
	}
}
