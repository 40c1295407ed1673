/* SPDX-License-Identifier: MIT */
/* Reports the end by a line, an object of JSON and an exit code. Runs in the tool. */
#include "cli.h"

/* The reason is for the line. A %t in the reason is the limit. */
static const struct {
	const char *name, *reason;
} outcomes[] = {
	[EXITED] = { "exited", "" },
	[SIGNALED] = { "signal", "" },
	[TIMEOUT] = { "timeout", "; timed out after %t s" },
	[IDLE] = { "idle", "; no output for %t s" },
	[CPU_TIME] = { "cpu-time", "; used more processor time than %t s" },
	[OUTPUT] = { "output", "; wrote more than the limit" },
	[MEMORY] = { "memory", "; out of memory" },
	[STOPPED] = { "stopped", "; stopped at the end of the parent process" },
	[NOT_STARTED] = { "not-started", "" },
	[LOST] = { "lost",
		   "; somebody has killed a process of aspawn's, so that everything was ended" },
};

/* --- the outcome --------------------------------------------------------------------- */

/* RLIMIT_CPU sends SIGXCPU, and a second later SIGKILL. */
static bool is_cpu_limit(const struct setting *s)
{
	const struct psys_rusage *usage = &s->shared->usage;
	const int status = s->result.status, signal = PSYS_WTERMSIG(status);
	const int64_t seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec + 1;

	return s->options.cpu_time && PSYS_WIFSIGNALED(status) &&
	       (signal == PSYS_SIGXCPU ||
		(signal == PSYS_SIGKILL && 1000 * seconds > s->options.cpu_time));
}

static enum outcome find_outcome(const struct setting *s)
{
	const struct result *result = &s->result;

	if (*s->options.error || s->shared->started < 0)
		return NOT_STARTED;
	if (result->oom_kills > 0 && result->status == PSYS_SIGKILL &&
	    (result->outcome == EXITED || result->outcome == STOPPED))
		return MEMORY; /* systemd stops a scope after the OOM killer */
	if (result->outcome != EXITED)
		return result->outcome;
	if (result->status < 0)
		return LOST;
	if (is_cpu_limit(s))
		return CPU_TIME;
	if (result->dropped[1] || result->dropped[2])
		return OUTPUT;
	return PSYS_WIFSIGNALED(result->status) ? SIGNALED : EXITED;
}

static int find_status(const struct setting *s)
{
	if (s->shared->started <= 0)
		return -1;
	return s->shared->has_status ? s->shared->status :
	       s->result.had_to_kill ? PSYS_SIGKILL :
				       -1;
}

/* --- the exit code ------------------------------------------------------------------- */

static int code_of_failure(const struct aspawn_failure *failure)
{
	const int step = failure->step, error = failure->error;

	if (!error || step > ASPAWN_STEP_SEARCH || step < ASPAWN_STEP_INTERPRETER)
		return CODE_TOOL;
	if (step != ASPAWN_STEP_INTERPRETER && (error == -PSYS_ENOENT || error == -PSYS_ENOTDIR))
		return CODE_NOT_FOUND;
	return CODE_NOT_EXECUTABLE;
}

static int exit_code(const struct setting *s)
{
	const enum outcome outcome = s->result.outcome;
	const int status = s->result.status;

	if (outcome == NOT_STARTED)
		return code_of_failure(&s->shared->failure);
	if (outcome >= TIMEOUT && outcome <= CPU_TIME && !s->options.preserves)
		return CODE_LIMIT;
	if (outcome == LOST || status < 0 || (status == 0 && s->result.survivors))
		return CODE_TOOL;
	return PSYS_WIFEXITED(status) ? PSYS_WEXITSTATUS(status) : 128 + PSYS_WTERMSIG(status);
}

/* --- the line --------------------------------------------------------------------------- */

static void add_reason(struct text *text, const struct setting *s)
{
	const enum outcome outcome = s->result.outcome;
	const int64_t limits[] = {
		[TIMEOUT] = s->options.timeout, [IDLE] = s->options.idle, [CPU_TIME] = s->options.cpu_time
	};

	if (outcome == TIMEOUT && !s->options.timeout)
		text_add(text, "; timed out");
	else if (outcome == STOPPED && s->result.stop_signal)
		text_format(text, "; stopped by %g", s->result.stop_signal);
	else
		text_format(text, outcomes[outcome].reason,
			    outcome <= CPU_TIME ? limits[outcome] : 0);
}

/* Returns the option of an action, with the user's value: rlimit 7 is --rlimit "nofile=64:64".
 * Returns NULL if the action has no option. */
static const char *option_of(const struct options *options, const struct aspawn_failure *failure,
			     const char **value)
{
	const char *number = failure->subject;
	uint64_t resource;

	*value = options->directory;
	if (failure->kind == ASPAWN_ACTION_CHDIR)
		return "--chdir";
	*value = options->user;
	if (failure->kind >= ASPAWN_ACTION_RESUID && failure->kind <= ASPAWN_ACTION_GROUPS)
		return "--user";
	if (failure->kind != ASPAWN_ACTION_RLIMIT || !read_number(&number, &resource))
		return NULL;
	for (const struct rlimit_option *limit = options->rlimits; limit->value; limit++) {
		*value = limit->value;
		if ((uint64_t)limit->resource == resource)
			return "--rlimit";
	}
	*value = options->cpu_time_value;
	return "--cpu-time";
}

static void add_failure(struct text *text, const struct setting *s)
{
	const struct aspawn_failure *failure = &s->shared->failure;
	const char *value, *option = option_of(&s->options, failure, &value);
	char buffer[256];

	aspawn_failure_text(buffer, sizeof buffer, failure);
	const char *comma = psys_strchrnul(buffer, ','); /* "action 2, setsid: EPERM" */
	if (!failure->error)
		text_format(text, "; %e", s->shared->error);
	else if (option)
		text_format(text, "; %s \"%n\": %e", option, value, failure->error);
	else if (failure->step >= 0 && *comma)
		text_format(text, "; --%s", comma + 2);
	else
		text_format(text, "; %s", buffer);
}

/* All parts begin with "; ". */
static void add_end(struct text *text, const struct setting *s)
{
	const struct result *result = &s->result;
	char status[64];

	add_reason(text, s);
	aspawn_status_text(status, sizeof status, result->status);
	if (result->status >= 0 && result->outcome != EXITED)
		text_format(text, "%s%s", text->length ? ", " : "; ", status);
	if (result->outcome == IDLE && !s->options.pty)
		text_add(text, " (programs hold back what they write to a pipe: --pty cures this)");
	for (int i = 0; result->had_to_end && i < s->shared->name_count; i++)
		text_format(text, "%s %s",
			    i ? "," : "; had to end what it left:", s->shared->names[i].name);
	if (result->dropped[1])
		text_format(text, "; %d bytes of standard output dropped", result->dropped[1]);
	if (result->dropped[2])
		text_format(text, "; %d bytes of standard error dropped", result->dropped[2]);
	if (result->survivors > 0)
		text_format(text, "; %d process%s could not be ended", (uint64_t)result->survivors,
			    result->survivors > 1 ? "es" : "");
	if (result->survivors < 0)
		text_add(text, "; processes may be left");
	if (!s->has_proc && !s->reaps)
		text_add(text, "; only its process group was ended, as there is no /proc");
}

static void write_line(const struct setting *s)
{
	const char *program = *s->options.argv;
	struct text text;

	text.length = 0;
	if (*s->options.error)
		say("%s", s->options.error);
	else if (s->result.outcome == NOT_STARTED)
		add_failure(&text, s);
	else if (!s->options.is_quiet)
		add_end(&text, s);
	if (text.length)
		say("%n: %s", *program ? program : "\"\"", text.at + 2);
}

/* --- the object ------------------------------------------------------------------------- */

static uint64_t known(bool is_known, int64_t number)
{
	return is_known ? (uint64_t)number : UINT64_MAX;
}

static uint64_t ms_of(const struct shared *shared, struct psys_timeval time)
{
	return known(shared->has_status,
		     (int64_t)time.tv_sec * 1000 + (uint32_t)time.tv_usec / 1000);
}

static void add_status(struct text *text, int status)
{
	struct text signal;
	const bool is_known = status >= 0, is_signal = is_known && PSYS_WIFSIGNALED(status);

	text_set(&signal, "%g", PSYS_WTERMSIG(status));
	text_format(text, "\"status\":%d,\"signal\":%j,\"core\":%s",
		    known(is_known && !is_signal, PSYS_WEXITSTATUS(status)),
		    is_signal ? signal.at : NULL,
		    !is_known                  ? "null" :
		    is_signal && status & 0x80 ? "true" :
						 "false");
}

static void add_error(struct text *text, const struct setting *s)
{
	const char *step = aspawn_failure_name(&s->shared->failure), *wrong = s->options.error;
	const bool is_started = s->result.outcome != NOT_STARTED;
	struct text error;

	text_set(&error, *wrong ? "; %s" : "", wrong);
	if (!is_started && !*wrong)
		add_failure(&error, s);
	text_format(text, ",\"step\":%j,\"error\":%j,\"ended\":[",
		    is_started ? NULL :
		    *wrong     ? "options" :
		    *step      ? step :
				 "start",
		    is_started ? NULL : error.at + 2);
	for (int i = 0; i < s->shared->name_count; i++)
		text_format(text, "%s%j", i ? "," : "", s->shared->names[i].name);
}

static void write_object(const struct setting *s)
{
	const struct shared *shared = s->shared;
	const struct result *result = &s->result;
	const bool counts = result->counts, has_errors = counts && !s->options.pty;
	struct text text;

	text_set(&text, "{\"version\":%d,\"outcome\":%j,\"exit_code\":%d,", (uint64_t)1,
		 outcomes[result->outcome].name, (uint64_t)exit_code(s));
	add_status(&text, result->status);
	add_error(&text, s);
	text_format(&text,
		    "],\"survivors\":%d,\"seconds\":%t,\"user_seconds\":%t,\"system_seconds\":%t,",
		    known(result->survivors >= 0, result->survivors), result->duration,
		    ms_of(shared, shared->usage.ru_utime), ms_of(shared, shared->usage.ru_stime));
	text_format(&text, "\"max_rss_bytes\":%d,\"memory_peak_bytes\":%d,",
		    known(shared->has_status, (int64_t)shared->usage.ru_maxrss << 10),
		    known(result->memory_peak > 0, result->memory_peak));
	text_format(
		&text,
		"\"stdout_bytes\":%d,\"stderr_bytes\":%d,\"stdout_dropped\":%d,\"stderr_dropped\":%d}\n",
		known(counts, result->bytes[1]), known(has_errors, result->bytes[2]),
		known(counts, result->dropped[1]), known(has_errors, result->dropped[2]));
	const int r = text_write(&text, s->options.json_fd);
	if (r < 0)
		say("%n: the result cannot be written: %e",
		    s->options.json_file ? s->options.json_file : "--json-fd", r);
}

int report(struct setting *setting)
{
	setting->result.status = find_status(setting);
	setting->result.outcome = find_outcome(setting);
	write_line(setting);
	if (setting->options.json_fd >= 0)
		write_object(setting);
	return exit_code(setting);
}
