/*
 * A scenario calls functions of the library and says what became of it. It is run three
 * times in one process: as a rehearsal, while calls of the system fail, and again, when
 * all has to work as before.
 */
#ifndef FAULTS_HARNESS_H
#define FAULTS_HARNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct scenario {
	const char *name;
	bool (*run)(void); /* true: it did all that it was asked for */
	void (*prepare)(void);
};

/* SCENARIO(name) { ... return true; } */
#define SCENARIO(name) SCENARIO_WITH(NULL, name)
#define SCENARIO_WITH(prepare, name)                                                             \
	static bool scenario_##name(void);                                                       \
	__attribute__((used, section("scenarios"))) static const struct scenario *entry_##name = \
		&(const struct scenario){ #name, scenario_##name, prepare };                     \
	static bool scenario_##name(void)

/* The program that is started, the directory that it is in, and a script of it. */
extern char program[], directory[], script[];

/* The library's calls, alone, are made to fail: those of the parent only in here. In the
 * child they are from its beginning until it executes a program. */
#define WITH_FAULTS(...)       \
	do {                   \
		faults(true);  \
		__VA_ARGS__;   \
		faults(false); \
	} while (0)
void faults(bool on);

/* Prints what was promised, unless it was kept. */
void promise(bool kept, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* As the library has it, this program has been executed. */
void it_ran(void);
/* It has not said whether. */
void it_may_have_run(void);

/* Ends the process: this machine cannot do it. */
_Noreturn void not_here(const char *why);

/* Waits for the end of a child that is the scenario's to wait for: as of waitpid(2). */
int status_of(pid_t pid);

#endif
