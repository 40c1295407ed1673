/* SPDX-License-Identifier: MIT */
/*
 * A scenario calls functions of the library and checks the results. The scenario runs three times
 * in a process: as a rehearsal, with failing system calls, and again without faults, when
 * everything must work as before.
 */
#ifndef FAULTS_HARNESS_H
#define FAULTS_HARNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct scenario {
	const char *name;
	bool (*run)(void); /* returns true if everything succeeded */
	void (*prepare)(void);
};

/* SCENARIO(name) { ... return true; } */
#define SCENARIO(name) SCENARIO_WITH(NULL, name)
#define SCENARIO_WITH(prepare, name)                                                             \
	static bool scenario_##name(void);                                                       \
	__attribute__((used, section("scenarios"))) static const struct scenario *entry_##name = \
		&(const struct scenario){ #name, scenario_##name, prepare };                     \
	static bool scenario_##name(void)

/* The started program, the program's directory, and a script to execute the program. */
extern char program[], directory[], script[];

/* In the parent, system calls fail only within these parentheses; in the child, from the start
 * until the exec. */
#define WITH_FAULTS(...)       \
	do {                   \
		faults(true);  \
		__VA_ARGS__;   \
		faults(false); \
	} while (0)
void faults(bool on);

/* Prints the promise if it was broken. */
void promise(bool kept, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* The library has reported that the program was executed. */
void it_ran(void);
/* The library has not reported if the program was executed. */
void it_may_have_run(void);

/* Skips the scenario: the machine does not support the scenario. */
_Noreturn void not_here(const char *why);

/* Waits for a child that the scenario itself must reap. Returns the status, as stored by
 * waitpid(2). */
int status_of(pid_t pid);

#endif
