/* SPDX-License-Identifier: MIT */
/* What the tool says of the end: a line, an object of JSON, an exit code. Runs in the tool. */
#include "cli.h"

static const char *const outcomes[] = { "exited", "signal", "timeout", "idle",        "cpu-time",
					"output", "memory", "stopped", "not-started", "lost" };

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

static int exit_code(const struct options *options, const struct result *result)
{
	const int status = result->status;
	const bool is_limit = result->outcome >= TIMEOUT && result->outcome <= CPU_TIME;

	if (*options->error || result->outcome == LOST)
		return CODE_TOOL;
	if (result->outcome == NOT_STARTED)
		return code_of_failure(&result->shared->failure);
	if (is_limit && !options->preserves)
		return CODE_LIMIT;
	if (status < 0 || (status == 0 && result->survivors))
		return CODE_TOOL;
	return PSYS_WIFEXITED(status) ? PSYS_WEXITSTATUS(status) : 128 + PSYS_WTERMSIG(status);
}

/* --- the line --------------------------------------------------------------------------- */

static void add_reason(struct text *text, const struct options *options, const struct result *result)
{
	if (result->outcome == TIMEOUT && !options->timeout)
		text_add(text, "; timed out");
	else if (result->outcome == TIMEOUT)
		text_format(text, "; timed out after %t s", options->timeout);
	else if (result->outcome == IDLE)
		text_format(text, "; no output for %t s", options->idle);
	else if (result->outcome == CPU_TIME)
		text_format(text, "; used more processor time than %t s", options->cpu_time);
	else if (result->outcome == OUTPUT)
		text_add(text, "; wrote more than the limit");
	else if (result->outcome == MEMORY)
		text_add(text, "; out of memory");
	else if (result->outcome == STOPPED && result->stop_signal)
		text_format(text, "; stopped by %g", result->stop_signal);
	else if (result->outcome == STOPPED)
		text_add(text, "; stopped at the end of the parent process");
	else if (result->outcome == LOST)
		text_add(text,
			 "; somebody has killed a process of aspawn's, so that everything was ended");
}

/* Of an action the user knows the option with its value: rlimit 7 is --rlimit "nofile=64:64".
 * Returns NULL if it has none. */
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

static void add_failure(struct text *text, const struct options *options,
			const struct shared *shared)
{
	const struct aspawn_failure *failure = &shared->failure;
	const char *value, *option = option_of(options, failure, &value);
	char buffer[256];

	aspawn_failure_text(buffer, sizeof buffer, failure);
	const char *comma = psys_strchrnul(buffer, ','); /* "action 2, setsid: EPERM" */
	if (!failure->error)
		text_format(text, "; %e", shared->error);
	else if (option)
		text_format(text, "; %s \"%n\": %e", option, value, failure->error);
	else if (failure->step >= 0 && *comma)
		text_format(text, "; --%s", comma + 2);
	else
		text_format(text, "; %s", buffer);
}

/* All parts begin with "; ". */
static void add_end(struct text *text, const struct options *options, const struct result *result)
{
	const struct shared *shared = result->shared;
	char status[64];

	add_reason(text, options, result);
	aspawn_status_text(status, sizeof status, result->status);
	if (result->status >= 0 && result->outcome != EXITED)
		text_format(text, "%s%s", text->length ? ", " : "; ", status);
	if (result->outcome == IDLE && !options->pty)
		text_add(text, " (programs hold back what they write to a pipe: --pty cures this)");
	for (int i = 0; result->had_to_end && i < shared->name_count; i++)
		text_format(text, "%s %s",
			    i ? "," : "; had to end what it left:", shared->names[i].name);
	if (result->dropped[1])
		text_format(text, "; %d bytes of standard output dropped", result->dropped[1]);
	if (result->dropped[2])
		text_format(text, "; %d bytes of standard error dropped", result->dropped[2]);
	if (result->survivors > 0)
		text_format(text, "; %d process%s could not be ended", (uint64_t)result->survivors,
			    result->survivors > 1 ? "es" : "");
	if (result->survivors < 0)
		text_add(text, "; processes may be left");
	if (result->is_group)
		text_add(text, "; only its process group was ended, as there is no /proc");
}

static void write_line(const struct options *options, const struct result *result)
{
	struct text text;

	text.length = 0;
	if (*options->error)
		say("%s", options->error);
	else if (result->outcome == NOT_STARTED)
		add_failure(&text, options, result->shared);
	else if (!options->is_quiet)
		add_end(&text, options, result);
	if (text.length)
		say("%n: %s", **options->argv ? *options->argv : "\"\"", text.at + 2);
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

static void add_status(struct text *text, const struct result *result)
{
	struct text signal;
	const int status = result->status;
	const bool is_known = status >= 0, is_signal = is_known && PSYS_WIFSIGNALED(status);

	text_set(&signal, "%g", PSYS_WTERMSIG(status));
	text_format(text, "\"status\":%d,\"signal\":%j,\"core\":%s",
		    known(is_known && !is_signal, PSYS_WEXITSTATUS(status)),
		    is_signal ? signal.at : NULL,
		    !is_known                  ? "null" :
		    is_signal && status & 0x80 ? "true" :
						 "false");
}

static void add_error(struct text *text, const struct options *options, const struct result *result)
{
	struct text error;
	const char *step = aspawn_failure_name(&result->shared->failure);

	error.length = 0;
	if (result->outcome == NOT_STARTED && !*options->error)
		add_failure(&error, options, result->shared);
	text_format(text, ",\"step\":%j,\"error\":%j,\"ended\":[",
		    *options->error                ? "options" :
		    result->outcome != NOT_STARTED ? NULL :
		    *step                          ? step :
						     "start",
		    *options->error ? options->error :
		    error.length    ? error.at + 2 :
				      NULL);
	for (int i = 0; i < result->shared->name_count; i++)
		text_format(text, "%s%j", i ? "," : "", result->shared->names[i].name);
}

static void write_object(const struct options *options, const struct result *result)
{
	struct text text;
	const struct shared *shared = result->shared;
	const bool counts = result->counts, has_errors = counts && !options->pty;

	text_set(&text, "{\"version\":%d,\"outcome\":%j,\"exit_code\":%d,", (uint64_t)1,
		 outcomes[result->outcome], (uint64_t)exit_code(options, result));
	add_status(&text, result);
	add_error(&text, options, result);
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
	const int r = text_write(&text, options->json_fd);
	if (r < 0)
		say("%n: the result cannot be written: %e",
		    options->json_file ? options->json_file : "--json-fd", r);
}

int report(const struct options *options, const struct result *result)
{
	write_line(options, result);
	if (options->json_fd >= 0)
		write_object(options, result);
	return exit_code(options, result);
}
