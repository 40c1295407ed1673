/* SPDX-License-Identifier: MIT */
/*
 * The files of the command aspawn share these declarations. Four processes take part in a tree:
 *
 * tool     The user has started this process. It reads the options, supervises and reports.
 * helper   The library's process ends everything by SIGKILL if the tool orders it, or has ended.
 * reaper   The helper's child, a copy of the tool, is the parent of the program and of all orphans.
 *          It sends gentle signals, and knows when no process is left (reaper.c, program.c).
 * program  The reaper starts the user's command.
 *
 * With --leave, and as process 1, the only processes are the tool and the program: then the tool
 * itself does the reaper's work.
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
	char error[TEXT_SIZE]; /* for the first wrong value, or empty */
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
	int status;                   /* the program's, or -1 if not known */
	int stop_signal;              /* the signal that told the tool to end, or 0 */
	int oom_kills;                /* in the cgroup */
	int survivors;                /* -1: not known */
	bool had_to_kill, had_to_end; /* the tool sent SIGKILL; the program left processes */
	bool counts;                  /* the tool moves the output, and counts its bytes */
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
	int tool;       /* its number */
	int streams[3]; /* the program's (above 2), or ASPAWN_STREAM_DEFAULT for the tool's */
	int cgroup, parent_fd; /* -1 without a cgroup, or without --die-with-parent */
	unsigned uid, gid, groups[MOST_GROUPS];
	size_t group_count;
	bool changes_uid, changes_gid, changes_groups;
	char home[256], name[64];
	struct result result;
};

/* Describes a process as /proc/PID/stat shows it. */
struct process {
	int pid, parent; /* -1: it has ended */
	char state, name[NAME_SIZE];
};

/* The tool and the reaper share this page. */
struct shared {
	int pid;     /* the program's, or 0 before its start */
	int error;   /* the error of aspawn_start(), or 0 */
	int started; /* 1 after the exec, -1 after a failure, 0 before */
	struct aspawn_failure failure;
	int has_status, status;
	struct psys_rusage usage;
	int is_empty; /* nothing is left */
	int name_count;
	struct process names[MOST_NAMES]; /* processes that got a signal for all */
	/* The tool orders a signal by a 1 at the signal's number. */
	int to_program[MOST_SIGNAL + 1], to_all[MOST_SIGNAL + 1];
};

/* text.c. A text is cut at the end of its buffer. */
struct text {
	size_t length;
	char at[4096];
};
void text_add(struct text *text, const char *more);
/* Adds a text with values. %s adds a string, %n cuts a long string, and %j quotes a string as JSON.
 * %d takes a uint64_t, %t shows int64_t milliseconds as seconds, %e names an error, and %g names a
 * signal. */
void text_format(struct text *text, const char *format, ...);
#define text_set(text, ...) ((text)->length = 0, text_format(text, __VA_ARGS__))
int text_write(const struct text *text, int fd);
/* Writes a line of printable characters to standard error. */
void say(const char *format, ...);
/* Reads decimal digits, and moves *from behind the digits. Returns false without digits, or if the
 * number is too large. */
bool read_number(const char **from, uint64_t *number);
/* Reads the beginning of a file as a string. Returns its length, or a negative error number. */
long file_read(int directory, const char *path, char *to, size_t size);
int64_t now_ms(void);

/* options.c. options_refuse() keeps the first error, in the form: name "value": what. */
void options_read(struct options *options, int argc, char **argv);
void options_refuse(struct options *options, const char *name, const char *value, const char *what);

/* program.c starts the program, and waits for its exec or its failure. */
void program_start(const struct setting *setting);

/* reaper.c. ASPAWN_CALL runs reaper_main() in the reaper. reaper_turn() obeys the tool's orders,
 * and reaps the processes that have ended. */
int reaper_main(void *setting);
void reaper_turn(const struct setting *setting);
bool program_has_stopped(const struct shared *shared);

/* users.c looks for the user. cgroup.c makes the cgroup, and removes it at the end. */
void user_find(struct setting *setting);
void cgroup_make(struct setting *setting);
uint64_t cgroup_cpu_us(const struct setting *setting);
void cgroup_end(struct setting *setting);

/* streams.c moves the bytes that go through the tool. */
void streams_prepare(struct setting *setting);
/* Closes the tool's copies of the program's streams, after the start. */
void streams_give(const struct setting *setting);
void streams_poll(struct psys_pollfd polled[PUMPS]);
/* Moves the bytes that are ready. */
void streams_turn(void);
int64_t streams_last_output(void);
/* True if all output is written. With are_held, false while a process may write to the pipes. */
bool streams_are_done(bool are_held);
bool streams_input_ended(void);
bool stream_is_ready(int fd, short events);
void pump_set(int index, int from, int to);

/* terminal.c makes the terminal of --pty. The user's terminal is raw while the tool is in its
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
