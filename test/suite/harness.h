/* SPDX-License-Identifier: MIT */
/*
 * The suite is one program that uses only the library, so the suite runs with a libc, without a
 * libc, under an emulator, and as the init of a bare kernel.
 *
 * Each TEST runs in a process of its own. A test fails if a CHECK fails, the process dies, or the
 * time limit passes. A ROLE is the program's work when a test executes the program as a command.
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

/* TEST(name) { ... } has a time limit of 200 seconds, and TEST_SECONDS another. */
#define TEST(name) TEST_SECONDS(name, 200)
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

/* Ends the test and prints the failed condition, unless it is true. */
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

/* Skips the test if the call is refused: the kernel lacks the call, or a container's filter forbids
 * it. */
void need_call(long result, const char *reason);

/* Prints the line of diagnostics "# text number". */
void note(const char *text, int64_t number);

/* Executes this program in a role. Returns only on failure. */
ASPAWN_CHILD int exec_role(const char *role, const char *argument);

/*
 * The file and argv execute the suite in a role. Under a user-mode emulator (whose path is in
 * SUITE_EMULATOR) the file is the emulator.
 */
struct self {
	const char *file;
	const char *argv[6];
	char name[64];
};
ASPAWN_CHILD void self_in_role(struct self *self, const char *role, const char *argument);

extern char **environment;

/* Returns an address as a number, opaque to the compiler. */
static inline ASPAWN_CHILD uintptr_t address_of(const volatile void *object)
{
	uintptr_t address = (uintptr_t)object;

	__asm__ volatile("" : "+r"(address));
	return address;
}

/*
 * Appends to the path a name that no other test has, also in another pid namespace. What a test
 * makes in /tmp begins with "aspawn-", and the harness removes what is left.
 */
void append_own_name(char *path);

/* in milliseconds, for what happens soon on an idle machine */
enum { LONG = 100000 };

/* Returns count, or a fiftieth of it on a bare kernel and with SUITE_QUICK: emulated
 * machines are slow. */
int scaled(int count);

/* --- helpers of tests ----------------------------------------------------- */

/* Reaps a child. Returns the exit status, or 128 + the signal that killed the child. */
int reap(int pid);

/* Kills a child in the role "lingers", which must still be running. */
void kill_lingering(int pid);

/* fork(2) */
int fork_child(void);

/* Skips the test if only this program's user can reach the program: another user cannot execute it
 * in a role. */
void need_others_to_reach_program(void);

/* Returns a user whose processes are only this test's: the kernel limits their number by user. */
unsigned own_user(void);

/*
 * The thread is unknown to a libc: fn runs on its own stack, without a separate thread pointer.
 * join waits for the thread's end.
 */
struct thread {
	int tid; /* a futex, which the kernel clears when the thread ends */
	void *stack;
};
void thread_start(struct thread *thread, int (*fn)(void *), void *arg);
void thread_join(struct thread *thread);

/* Ends the main thread alone, while another thread runs fn, which does not return. fn calls the
 * second function first. */
_Noreturn void end_main_thread(int (*fn)(void *));
void await_end_of_main_thread(void);

/* Makes a directory in /tmp and changes to it. */
void enter_own_directory(void);

/* Removes the files of the directory whose names have the given begin and end, and their
 * contents. */
void remove_files(const char *directory, const char *begin, const char *end);

/* Makes a control group "aspawn-test-...", or skips the test. With a controller the group is of
 * version 1. */
struct cgroup {
	char root[64], path[128];
	int fd; /* of its directory */
};
void make_cgroup(struct cgroup *group);
void make_cgroup_of(struct cgroup *group, const char *controller);
void remove_cgroup(struct cgroup *group);
/* Removes the control groups that the test of the process has left, and kills the members. */
void remove_lost_cgroups(int pid, const char *run_name);
/* Writes to a file of the directory. Returns 0, or a negative error number. */
int write_to_cgroup(int directory, const char *file, const char *text);

/* Returns a page of memory that forked children share. */
void *shared_page(void);

ASPAWN_CHILD void sleep_ms(int milliseconds);
int64_t monotonic_ns(void);

/* Return the number of open descriptors, and of mappings; -1 without /proc. */
int count_descriptors(void);
int count_mappings(void);
bool have_children(void);

/* Returns the hexadecimal value of a line of /proc/<pid>/status; pid 0: self. */
uint64_t status_hex(int pid, const char *key);
bool have_proc(void);

/* True if aspawn() shares memory with its children; false in an emulator. */
bool memory_is_shared(void);

/* Sets a signal handler, with the architecture's restorer. */
void set_handler(int signal, void (*handler)(int));
void set_disposition(int signal, uintptr_t disposition);
ASPAWN_CHILD uintptr_t get_disposition(int signal);
ASPAWN_CHILD struct psys_sigset get_mask(void);
bool same_mask(struct psys_sigset a, struct psys_sigset b);

/* Spawns with defaults, or fails the test */
int spawn(struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid);
int spawn_without_pipe(struct Stack_t *stack, aspawn_fn fn, void *arg);

/* Common callbacks. */
ASPAWN_CHILD int child_returns(void *status, int fd, void *mask, void *data, size_t length);
ASPAWN_CHILD int child_execs_role(void *role, int fd, void *mask, void *data, size_t length);
ASPAWN_CHILD int child_waits(void *gate, int fd, void *mask, void *data, size_t length);

/* A gate for processes that share memory, or for threads */
ASPAWN_CHILD void gate_wait(int *gate);
void gate_open(int *gate);

#endif
