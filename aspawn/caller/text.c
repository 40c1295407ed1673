/* SPDX-License-Identifier: MIT */
/* Formats failures, statuses and outcomes as text. */
#include <syscall/string.h>

#include "../../syscall/kernel_file.h"
#include "../action/action_info.h"

struct text {
	char *to;
	size_t size, length;
};

static struct text text_at(char *to, size_t size)
{
	const struct text text = { to, to ? size : 0, 0 };

	if (text.size)
		*to = '\0';
	return text;
}

static void add_string(struct text *text, const char *more)
{
	size_t at = text->length < text->size ? text->length : text->size;

	text->length += psys_strlcpy(at ? text->to + at : text->to, more, text->size - at);
}

static void add_number(struct text *text, int64_t number)
{
	char digits[PSYS_DECIMAL_SIZE];

	psys_i64_to_decimal(digits, number);
	add_string(text, digits);
}

/* --- failures --------------------------------------------------------------- */

static void add_error(struct text *text, int error)
{
	const char *name = psys_errname(error);

	if (*name == 'E') /* otherwise "unknown error" */
		add_string(text, name);
	else
		add_number(text, error < 0 ? -(int64_t)error : error);
}

static const char kinds[][21] = {
#define ACTION(KIND, name, ...) [ASPAWN_ACTION_##KIND] = name,
#include "../action/action_table.h"
#undef ACTION
};

static const struct {
	int number;
	char name[14];
} calls[] = {
	{ PSYS_NR_prctl, "prctl" },
	{ PSYS_NR_ioctl, "ioctl" },
	{ PSYS_NR_fcntl, "fcntl" },
	{ PSYS_NR_keyctl, "keyctl" },
	{ PSYS_NR_sched_setattr, "sched_setattr" },
	{ PSYS_NR_set_mempolicy, "set_mempolicy" },
};

/* Returns the name of a system call with an action of its own, or NULL. */
static const char *name_of_syscall(const struct aspawn_failure *failure)
{
	const char *digits = failure->subject;
	const uint64_t number = aspw_read_number(&digits);

	if (failure->step < 0 || failure->kind != ASPAWN_ACTION_SYSCALL)
		return NULL;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (number == (uint64_t)calls[i].number)
			return calls[i].name;
	return NULL;
}

const char *aspawn_failure_name(const struct aspawn_failure *failure)
{
	static const char stages[][12] = { "",       "",     "descriptors", "streams",
					   "search", "exec", "interpreter", "argument",
					   "clone" };

	if (!failure || !failure->error || failure->step < ASPAWN_STEP_CLONE)
		return "";
	if (failure->step < 0)
		return stages[-failure->step];
	const char *call = name_of_syscall(failure);
	if (call)
		return call;
	return aspw_action_info(failure->kind) ? kinds[failure->kind] : "";
}

static void add_step(struct text *text, const struct aspawn_failure *failure)
{
	const char *name = aspawn_failure_name(failure);

	if (failure->step >= 0) {
		add_string(text, "action ");
		add_number(text, failure->step);
		add_string(text, *name ? ", " : "");
	}
	add_string(text, failure->step < ASPAWN_STEP_CLONE ? "unknown" : name);
}

/* True if the subject is a name, maybe of digits alone. A stream's name is a path in /dev. */
static bool subject_is_name(const struct aspawn_failure *failure)
{
	const struct action_info *info = aspw_action_info(failure->kind);

	if (info)
		return !info->subject;
	return failure->step != ASPAWN_STEP_STREAMS || *failure->subject == '/';
}

/* Stores the byte, or the escape sequence of C for a control character. Returns the length. */
static size_t escape_byte(char to[5], char byte)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned code = (unsigned char)byte;

	if (code >= ' ' && code != 0x7f)
		return psys_strlcpy(to, (char[]){ byte, '\0' }, 5);
	if (code >= '\t' && code <= '\r')
		return psys_strlcpy(to, (char[]){ '\\', "tnvfr"[code - '\t'], '\0' }, 5);
	return psys_strlcpy(to, (char[]){ '\\', 'x', digits[code >> 4], digits[code & 15], '\0' },
			    5);
}

static void add_subject(struct text *text, const struct aspawn_failure *failure)
{
	const char *quote = subject_is_name(failure) ? "\"" : "";
	enum { MOST = sizeof failure->subject - 1 };
	char subject[MOST + 1], escaped[4 * MOST + 5];
	size_t length = 0;

	if (!*failure->subject || name_of_syscall(failure))
		return;
	psys_strlcpy(subject, failure->subject, sizeof subject);
	for (const char *at = subject; *at; at++)
		length += escape_byte(escaped + length, *at);
	add_string(text, text->length ? " " : "");
	add_string(text, quote);
	add_string(text, escaped + (length > MOST ? length - MOST :
						    0)); /* keep the end, as of a longer subject */
	add_string(text, quote);
}

/* --- statuses --------------------------------------------------------------- */

static const struct {
	unsigned char number;
	char name[10];
} signals[] = {
	{ PSYS_SIGHUP, "SIGHUP" },       { PSYS_SIGINT, "SIGINT" },
	{ PSYS_SIGQUIT, "SIGQUIT" },     { PSYS_SIGILL, "SIGILL" },
	{ PSYS_SIGTRAP, "SIGTRAP" },     { PSYS_SIGABRT, "SIGABRT" },
	{ PSYS_SIGBUS, "SIGBUS" },       { PSYS_SIGFPE, "SIGFPE" },
	{ PSYS_SIGKILL, "SIGKILL" },     { PSYS_SIGUSR1, "SIGUSR1" },
	{ PSYS_SIGSEGV, "SIGSEGV" },     { PSYS_SIGUSR2, "SIGUSR2" },
	{ PSYS_SIGPIPE, "SIGPIPE" },     { PSYS_SIGALRM, "SIGALRM" },
	{ PSYS_SIGTERM, "SIGTERM" },     { PSYS_SIGXCPU, "SIGXCPU" },
	{ PSYS_SIGXFSZ, "SIGXFSZ" },     { PSYS_SIGVTALRM, "SIGVTALRM" },
	{ PSYS_SIGPROF, "SIGPROF" },     { PSYS_SIGIO, "SIGIO" },
	{ PSYS_SIGSYS, "SIGSYS" },       { PSYS_SIGPWR, "SIGPWR" },
#ifdef PSYS_SIGSTKFLT
	{ PSYS_SIGSTKFLT, "SIGSTKFLT" },
#endif
};

static void add_signal(struct text *text, int signal)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].number == signal) {
			add_string(text, signals[i].name);
			return;
		}
	add_string(text, "signal ");
	add_number(text, signal);
}

static void add_status(struct text *text, int status)
{
	if (status == -1) {
		add_string(text, "no status");
	} else if (PSYS_WIFEXITED(status)) {
		add_string(text, "exit ");
		add_number(text, PSYS_WEXITSTATUS(status));
	} else {
		add_string(text, "killed by ");
		add_signal(text, PSYS_WTERMSIG(status));
		add_string(text, status & 0x80 ? " (core dumped)" : "");
	}
}

size_t aspawn_status_text(char *to, size_t size, int status)
{
	struct text text = text_at(to, size);

	add_status(&text, status);
	return text.length;
}

/* --- outcomes ----------------------------------------------------------------- */

const char *aspawn_outcome_name(int outcome)
{
	static const char names[][14] = { "none", "ran",       "not_started", "timed_out",
					  "full", "cancelled", "lost",        "out_of_memory" };

	return (unsigned)outcome < sizeof names / sizeof *names ? names[outcome] : "";
}

/* status is the child's, or -1 if it is unknown. */
static void add_failure(struct text *text, const struct aspawn_failure *failure, int status)
{
	const size_t before = text->length;

	if (!failure || !failure->error)
		return;
	add_step(text, failure);
	add_subject(text, failure);
	if (text->length > before)
		add_string(text, ": ");
	if (failure->error != -PSYS_ECHILD || (status != -1 && !PSYS_WIFSIGNALED(status))) {
		add_error(text, failure->error);
		if (failure->step >= 0 && failure->kind == ASPAWN_ACTION_WRITE &&
		    failure->error == -PSYS_EXDEV) /* perform.c */
			add_string(text, ", a file of /proc: name it, so that the image writes it");
		return;
	}
	if (status == -1)
		add_string(text, "killed by a signal");
	else
		add_status(text, status);
	add_string(text, " before the exec");
}

size_t aspawn_failure_text(char *to, size_t size, const struct aspawn_failure *failure)
{
	struct text text = text_at(to, size);

	add_failure(&text, failure, -1);
	return text.length;
}

size_t aspawn_io_text(char *to, size_t size, int result, const struct aspawn_io *io)
{
	static const char ends[][20] = { [ASPAWN_OUTCOME_NOT_STARTED] = "not started: ",
					 [ASPAWN_OUTCOME_TIMED_OUT] = "timed out, ",
					 [ASPAWN_OUTCOME_FULL] = "too much output, ",
					 [ASPAWN_OUTCOME_CANCELLED] = "cancelled, ",
					 [ASPAWN_OUTCOME_OUT_OF_MEMORY] = "out of memory, " };
	struct text text = text_at(to, size);

	if (!io)
		return 0;
	if (result == -PSYS_EINVAL && io->size < sizeof *io) { /* nothing was stored */
		add_string(&text, "argument \"io.size\": EINVAL");
		return text.length;
	}
	const bool is_known =
		io->outcome != ASPAWN_OUTCOME_NONE && io->outcome != ASPAWN_OUTCOME_LOST;
	if (io->outcome >= 0 && io->outcome < (int)(sizeof ends / sizeof *ends))
		add_string(&text, ends[io->outcome]);
	if (io->outcome == ASPAWN_OUTCOME_NOT_STARTED)
		add_failure(&text, &io->failure, io->status);
	else if (is_known)
		add_status(&text, io->status);
	else if (result && io->failure.error == result)
		add_failure(&text, &io->failure, -1);
	else
		add_error(&text, result);
	if (is_known && result == -PSYS_ENOTEMPTY)
		add_string(&text, ", and some of it survives");
	return text.length;
}
