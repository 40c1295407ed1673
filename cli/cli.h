/* SPDX-License-Identifier: MIT */
/*
 * The command aspawn: what its files share. Four processes take part in a tree:
 *
 * tool     the process that the user has started: reads the options, supervises, reports
 * helper   the library's: ends everything by SIGKILL when the tool orders it, or has ended
 * reaper   the child of the helper, a copy of the tool: the parent of the program and of all
 *          orphans. It sends gentle signals, and knows when nothing is left (reaper.c, program.c)
 * program  the user's command
 *
 * With --leave, and as process 1, there are only the tool and the program: then the tool itself
 * does the reaper's work.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include <aspawn/command.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

enum { MOST_RLIMITS = 16, MOST_NAMES = 16, MOST_GROUPS = 256, MOST_SIGNAL = 64 };
enum { NAME_SIZE = 16, TEXT_SIZE = 800 };
enum { CODE_LIMIT = 124, CODE_TOOL = 125, CODE_NOT_EXECUTABLE = 126, CODE_NOT_FOUND = 127 };
enum { PUMPS = 3 }; /* the input of --pty, output, errors */

#define NO_TIME INT64_MAX

struct options {
	char **argv, **envp;                         /* the command's */
	int64_t timeout, idle, kill_after, cpu_time; /* milliseconds; 0: none */
	uint64_t output_limit, memory, pids;         /* UINT64_MAX: none */
	bool leave, dies_with_parent, no_new_privs, foreground, setsid, pty, preserves, is_quiet,
		is_verbose;
	int signal, json_fd;
	const char *stdin_file, *json_file, *cgroup, *user, *directory, *cpu_time_value;
	struct rlimit_option {
		int resource;
		uint64_t soft, hard;
		const char *value; /* NULL: the end */
	} rlimits[MOST_RLIMITS + 1];
	bool is_answered;      /* --help or --version: there is nothing to start */
	char error[TEXT_SIZE]; /* the first wrong value; empty: none */
};

enum outcome {
	EXITED,
	SIGNALED,
	TIMEOUT,
	IDLE,
	CPU_TIME,
	OUTPUT,
	MEMORY,
	STOPPED,
	NOT_STARTED,
	LOST
};

struct result {
	enum outcome outcome;
	int status;                   /* of the program; -1: not known */
	int stop_signal;              /* the tool's that has stopped the command; 0: none */
	int oom_kills;                /* in the cgroup */
	int survivors;                /* -1: not known */
	bool had_to_kill, had_to_end; /* the command; what the program has left */
	bool counts;                  /* the bytes are those that went through the tool */
	int64_t duration;             /* milliseconds */
	int64_t bytes[PUMPS], dropped[PUMPS], memory_peak; /* of the streams 1 and 2 */
};

/* What the tool has found and opened before the start, and what became of the command. */
struct setting {
	struct options options;
	struct psys_sigset mask; /* the tool's, at its beginning */
	bool ignores_sigchld;    /* ... */
	bool is_closed[3];       /* the tool has no such stream */
	bool has_proc;           /* /proc tells the children of processes */
	bool is_init;            /* the tool is process 1 */
	bool reaps;              /* the tool itself does the reaper's work */
	struct shared *shared;
	int tool;              /* its number */
	int streams[3];        /* of the program, above 2; ASPAWN_STREAM_DEFAULT: the tool's */
	int cgroup, parent_fd; /* the command's own; of --die-with-parent; -1: none */
	unsigned uid, gid, groups[MOST_GROUPS];
	size_t group_count;
	bool changes_uid, changes_gid, changes_groups;
	char home[256], name[64];
	struct result result;
};

/* As /proc knows a process. */
struct process {
	int pid, parent; /* -1: it has ended */
	char state, name[NAME_SIZE];
};

/* The page that the tool and the reaper share. */
struct shared {
	int pid;     /* of the program; 0: none yet */
	int error;   /* of aspawn_start(); 0: none */
	int started; /* 1: executed; -1: not; 0: not yet */
	struct aspawn_failure failure;
	int has_status, status;
	struct psys_rusage usage;
	int is_empty; /* nothing is left */
	int name_count;
	struct process names[MOST_NAMES]; /* those that got signals for everything */
	/* The tool's orders: 1 for a signal to be sent. */
	int to_program[MOST_SIGNAL + 1], to_all[MOST_SIGNAL + 1];
};

/* text.c: a text that is cut at the end of its buffer. */
struct text {
	size_t length;
	char at[4096];
};
void text_add(struct text *text, const char *more);
/* Adds a format. %s, %n, %j: a string, as it is, cut if it is long, as JSON; %d: a uint64_t;
 * %t: int64_t milliseconds as seconds; %e: an error;
 * %g: a signal's name. */
void text_format(struct text *text, const char *format, ...);
#define text_set(text, ...) ((text)->length = 0, text_format(text, __VA_ARGS__))
int text_write(const struct text *text, int fd);
/* Writes a line of printable characters to standard error. */
void say(const char *format, ...);
/* Reads decimal digits, and moves *from behind them. False if there are none, or too many. */
bool read_number(const char **from, uint64_t *number);
/* Reads the beginning of a file as a string. Returns its length, or a negative error number. */
long file_read(int directory, const char *path, char *to, size_t size);
int64_t now_ms(void);

/* options.c. Refusing keeps the first error: name "value": what. */
void options_read(struct options *options, int argc, char **argv);
void options_refuse(struct options *options, const char *name, const char *value, const char *what);

/* program.c: starts the program and waits until it is executed, or has failed. */
void program_start(const struct setting *setting);

/* reaper.c: the life of the reaper process, a function for ASPAWN_CALL; and one turn of it, which
 * obeys the orders, and reaps what has ended. */
int reaper_main(void *setting);
void reaper_turn(const struct setting *setting);
bool program_has_stopped(const struct shared *shared);

/* users.c, cgroup.c: look for the user; make the group, and remove it when all has ended. */
void user_find(struct setting *setting);
void cgroup_make(struct setting *setting);
uint64_t cgroup_cpu_us(const struct setting *setting);
void cgroup_end(struct setting *setting);

/* streams.c: what goes through the tool. */
void streams_prepare(struct setting *setting);
/* Closes the program's ends, which it has by now. */
void streams_give(const struct setting *setting);
void streams_poll(struct psys_pollfd polled[PUMPS]);
/* Moves what can be moved at once. */
void streams_turn(void);
int64_t streams_last_output(void);
/* True if all is written. are_held: wait for others who may write to the pipes. */
bool streams_are_done(bool are_held);
bool streams_input_ended(void);
bool stream_is_ready(int fd, short events);
void pump_set(int index, int from, int to);

/* terminal.c: the terminal of --pty, and the user's, which is raw if the tool is in its
 * foreground. */
void terminal_make(struct setting *setting);
void terminal_guard(void);
void terminal_enter(void);
void terminal_leave(void);
void terminal_resize(void);
void terminal_tend(void);
void terminal_end(void);

/* supervise.c, report.c */
void supervise(struct setting *setting);
int report(struct setting *setting);

#endif
