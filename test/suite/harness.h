/*
 * The harness of the test suite. The suite is one program of the library and
 * nothing else, so that it runs linked with a libc, without one, under an
 * emulator, and as the init of a bare kernel.
 *
 * Each TEST runs in a process of its own, with a time limit; it passes unless a
 * CHECK fails, it dies, or the limit passes. A ROLE is what the program does
 * when a test executes it: what a spawned command would be.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/clone.h>
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

struct test {
	const char *name, *file;
	void (*run)(void);
	int seconds;
};

struct role {
	const char *name;
	int (*run)(int argc, char **argv);
};

/* TEST(name) { ... }, TEST_SECONDS for one that needs more than the usual 20. */
#define TEST(name) TEST_SECONDS(name, 20)
#define TEST_SECONDS(name, seconds)                                                     \
	static void name(void);                                                         \
	__attribute__((used, section("suite_tests"))) static struct test *test_##name = \
		&(struct test){ #name, __FILE__, name, seconds };                       \
	static void name(void)

#define ROLE(name)                                                                       \
	static int role_##name(int argc, char **argv);                                   \
	__attribute__((used, section("suite_roles"))) static struct role *entry_##name = \
		&(struct role){ #name, role_##name };                                    \
	static int role_##name(int argc, char **argv)

/* Ends the test, and says where and why. */
#define CHECK(condition)                                              \
	do {                                                          \
		if (!(condition))                                     \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)
#define CHECK_EQUAL(actual, expected)                                                \
	check_equal(__FILE__, __LINE__, #actual " == " #expected, (int64_t)(actual), \
		    (int64_t)(expected))
_Noreturn void check_failed(const char *file, int line, const char *what);
void check_equal(const char *file, int line, const char *what, int64_t actual, int64_t expected);
_Noreturn void skip(const char *reason);

/* A line of diagnostics: "# text number". */
void note(const char *text, int64_t number);

/* Executes this program in a role, never returning unless that fails. */
ASPAWN_CHILD int exec_role(const char *role, const char *argument);

/*
 * How that is done: argv for this program in a role, and the file to execute.
 * Under a user-mode emulator (its path is in SUITE_EMULATOR) that is the
 * emulator.
 */
struct self {
	const char *file;
	const char *argv[6];
	char name[64];
};
ASPAWN_CHILD void self_in_role(struct self *self, const char *role, const char *argument);

extern char **environment;

/* An address as a number that the compiler knows nothing about. */
static inline ASPAWN_CHILD uintptr_t address_of(const volatile void *object)
{
	uintptr_t address = (uintptr_t)object;

	__asm__ volatile("" : "+r"(address));
	return address;
}

/* count, a fiftieth of it on a bare kernel, or a twentieth with SUITE_QUICK set: emulated
 * machines take their time. */
int scaled(int count);

/* --- what tests share --------------------------------------------------- */

/* The exit status of a child, or 128 + the signal that ended it. Reaps it. */
int reap(int pid);

/* Ends a child in the role "lingers", which must be running still. */
void kill_lingering(int pid);

/* fork(2) */
int fork_child(void);

/*
 * A thread, without a libc's knowledge: fn runs on a stack of its own and
 * shares everything but has no thread pointer of its own. join waits for it.
 */
struct thread {
	int tid; /* a futex: cleared by the kernel when the thread ends */
	void *stack;
};
void thread_start(struct thread *thread, int (*fn)(void *), void *arg);
void thread_join(struct thread *thread);

/* A new control group "aspawn-test-...", or the test is skipped. */
struct cgroup {
	char root[64], path[128];
	int fd; /* of its directory */
};
void make_cgroup(struct cgroup *group);
void remove_cgroup(struct cgroup *group);

/* A page of memory that forked children share. */
void *shared_page(void);

ASPAWN_CHILD void sleep_ms(int milliseconds);
int64_t monotonic_ns(void);

/* How many descriptors this process has open, and mappings; -1 without /proc. */
int count_descriptors(void);
int count_mappings(void);
bool have_children(void);

/* The value of a line of /proc/<pid>/status, in base 16; pid 0: self. */
uint64_t status_hex(int pid, const char *key);
bool have_proc(void);

/* Whether aspawn() shares memory with its children here (not in an emulator). */
bool memory_is_shared(void);

/* A signal handler; with no libc the kernel needs the restorer of the arch. */
void set_handler(int signal, void (*handler)(int));
void set_disposition(int signal, uintptr_t disposition);
ASPAWN_CHILD uintptr_t get_disposition(int signal);
ASPAWN_CHILD struct psys_sigset get_mask(void);
bool same_mask(struct psys_sigset a, struct psys_sigset b);

/* Spawns with all defaults, failing the test if that fails. */
int spawn(struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid);
int spawn_without_pipe(struct Stack_t *stack, aspawn_fn fn, void *arg);

/* Callbacks that many tests need. */
ASPAWN_CHILD int child_returns(void *status, int fd, void *mask, void *data, size_t length);
ASPAWN_CHILD int child_execs_role(void *role, int fd, void *mask, void *data, size_t length);
ASPAWN_CHILD int child_waits(void *gate, int fd, void *mask, void *data, size_t length);

/* A gate between processes that share memory, or threads. */
ASPAWN_CHILD void gate_wait(int *gate);
void gate_open(int *gate);

#endif
