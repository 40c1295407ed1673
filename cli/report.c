/* SPDX-License-Identifier: MIT */
/* What the tool says of the end: a line, an object of JSON, an exit code. Runs in the tool. */
#include "cli.h"

static const char *const outcomes[] = { "exited", "signal", "timeout", "idle",        "cpu-time",
					"output", "memory", "stopped", "not-started", "lost" };

void say(const char *what)
{
	char buffer[TEXT_SIZE + 64];
	struct text text = TEXT_IN(buffer);

	text_add(&text, "aspawn: ");
	text_add(&text, what);
	text_add(&text, "\n");
	text_write(&text, 2);
}

/* --- the exit code ------------------------------------------------------------------- */

static int code_of_failure(const struct shared *shared)
{
	const struct aspawn_failure *failure = &shared->failure;

	if (failure->step == ASPAWN_STEP_INTERPRETER)
		return CODE_NOT_EXECUTABLE;
	if (failure->step != ASPAWN_STEP_EXEC && failure->step != ASPAWN_STEP_SEARCH)
		return CODE_TOOL;
	return failure->error == -PSYS_ENOENT || failure->error == -PSYS_ENOTDIR ?
		       CODE_NOT_FOUND :
		       CODE_NOT_EXECUTABLE;
}

static bool is_limit(enum outcome outcome)
{
	return outcome == TIMEOUT || outcome == IDLE || outcome == CPU_TIME;
}

static int exit_code(const struct options *options, const struct result *result)
{
	if (*options->error || result->outcome == LOST)
		return CODE_TOOL;
	if (result->outcome == NOT_STARTED)
		return code_of_failure(result->shared);
	if (is_limit(result->outcome) && !options->preserves)
		return CODE_LIMIT;
	const int code = PSYS_WIFEXITED(result->status) ? PSYS_WEXITSTATUS(result->status) :
							  128 + PSYS_WTERMSIG(result->status);
	return code == 0 && result->survivors ? CODE_TOOL : code;
}

/* --- the line --------------------------------------------------------------------------- */

static void add_reason(struct text *text, const struct options *options, const struct result *result)
{
	const struct {
		const char *text;
		int64_t ms;
	} limits[] = {
		[TIMEOUT] = { "timed out after ", options->timeout },
		[IDLE] = { "no output for ", options->idle },
		[CPU_TIME] = { "used more processor time than ", options->cpu_time },
	};

	if (is_limit(result->outcome)) {
		text_add(text, limits[result->outcome].text);
		text_add_seconds(text, limits[result->outcome].ms);
		text_add(text, " s");
	} else if (result->outcome == OUTPUT) {
		text_add(text, "wrote more than the limit");
	} else if (result->outcome == MEMORY) {
		text_add(text, "out of memory");
	} else if (result->outcome == STOPPED && result->stop_signal) {
		text_add(text, "stopped by ");
		text_add_signal(text, result->stop_signal);
	} else if (result->outcome == STOPPED) {
		text_add(text, "stopped at the end of the parent process");
	} else if (result->outcome == LOST) {
		text_add(text, "ended in an unknown way: somebody has killed its parent");
	}
}

static void add_ended(struct text *text, const struct shared *shared)
{
	text_add(text, "had to end what it left:");
	for (int i = 0; i < shared->name_count; i++) {
		text_add(text, i ? ", " : " ");
		text_add(text, shared->names[i].name);
	}
}

static void add_count(struct text *text, uint64_t count, const char *what)
{
	if (!count)
		return;
	text_add(text, "; ");
	text_add_number(text, count);
	text_add(text, what);
}

/* All parts begin with "; ". */
static void add_end(struct text *text, const struct options *options, const struct result *result)
{
	char status[64];

	if (result->outcome > SIGNALED) {
		text_add(text, "; ");
		add_reason(text, options, result);
	}
	if (result->status >= 0 && result->outcome != EXITED) {
		aspawn_status_text(status, sizeof status, result->status);
		text_add(text, result->outcome > SIGNALED ? ", " : "; ");
		text_add(text, status);
	}
	if (result->outcome == IDLE && !options->pty)
		text_add(text, " (programs hold back what they write to a pipe: --pty cures this)");
	if (result->had_to_end) {
		text_add(text, "; ");
		add_ended(text, result->shared);
	}
	add_count(text, result->dropped[1], " bytes of standard output dropped");
	add_count(text, result->dropped[2], " bytes of standard error dropped");
	add_count(text, result->survivors > 0 ? (unsigned)result->survivors : 0,
		  " processes could not be ended");
	if (result->survivors < 0)
		text_add(text, "; processes may be left");
	if (result->is_group)
		text_add(text, "; only its process group was ended, as there is no /proc");
}

static void add_failure(struct text *text, const struct shared *shared)
{
	char buffer[256];

	if (!shared->failure.error) {
		text_add_error(text, shared->error);
		return;
	}
	aspawn_failure_text(buffer, sizeof buffer, &shared->failure);
	/* The number of the action says nothing to the user: "action 2, chdir ..." */
	const char *comma = psys_strchrnul(buffer, ',');
	text_add(text, shared->failure.step >= 0 && *comma ? comma + 2 : buffer);
}

static void write_line(const struct options *options, const struct result *result)
{
	char buffer[TEXT_SIZE], end[TEXT_SIZE] = "";
	struct text text = TEXT_IN(buffer), more = TEXT_IN(end);

	if (*options->error) {
		say(options->error);
		return;
	}
	if (result->outcome == NOT_STARTED) {
		text_add(&more, "; ");
		add_failure(&more, result->shared);
	} else {
		add_end(&more, options, result);
	}
	if (!more.length || (options->is_quiet && result->outcome != NOT_STARTED))
		return;
	text_add(&text, *options->argv);
	text_add(&text, ": ");
	text_add(&text, end + 2);
	say(buffer);
}

/* --- the object ------------------------------------------------------------------------- */

static void add_name(struct text *text, const char *name)
{
	text_add(text, text->length > 1 ? ",\"" : "\"");
	text_add(text, name);
	text_add(text, "\":");
}

static void add_number(struct text *text, const char *name, bool is_known, uint64_t number)
{
	add_name(text, name);
	if (is_known)
		text_add_number(text, number);
	else
		text_add(text, "null");
}

static void add_seconds(struct text *text, const char *name, bool is_known, int64_t ms)
{
	add_name(text, name);
	if (is_known)
		text_add_seconds(text, ms);
	else
		text_add(text, "null");
}

static void add_string(struct text *text, const char *name, const char *string)
{
	add_name(text, name);
	if (string)
		text_add_json(text, string);
	else
		text_add(text, "null");
}

static int64_t ms_of(struct psys_timeval time)
{
	return (int64_t)time.tv_sec * 1000 + (uint32_t)time.tv_usec / 1000;
}

static void add_status(struct text *text, const struct result *result)
{
	char name[64];
	struct text signal = TEXT_IN(name);
	const bool is_known = result->status >= 0;
	const bool is_signal = is_known && PSYS_WIFSIGNALED(result->status);

	if (is_signal)
		text_add_signal(&signal, PSYS_WTERMSIG(result->status));
	add_number(text, "status", is_known && !is_signal,
		   (unsigned)PSYS_WEXITSTATUS(result->status));
	add_string(text, "signal", is_signal ? name : NULL);
	add_name(text, "core");
	text_add(text, !is_known ? "null" : is_signal && result->status & 0x80 ? "true" : "false");
}

static void add_error(struct text *text, const struct options *options, const struct result *result)
{
	char buffer[TEXT_SIZE];
	struct text error = TEXT_IN(buffer);
	const char *step = aspawn_failure_name(&result->shared->failure);

	if (result->outcome != NOT_STARTED) {
		add_string(text, "step", NULL);
		add_string(text, "error", NULL);
		return;
	}
	if (*options->error)
		text_add(&error, options->error);
	else
		add_failure(&error, result->shared);
	add_string(text, "step", *options->error ? "options" : *step ? step : "start");
	add_string(text, "error", buffer);
}

static void add_names(struct text *text, const struct shared *shared)
{
	add_name(text, "ended");
	text_add(text, "[");
	for (int i = 0; i < shared->name_count; i++) {
		text_add(text, i ? "," : "");
		text_add_json(text, shared->names[i].name);
	}
	text_add(text, "]");
}

static void write_object(const struct options *options, const struct result *result)
{
	char buffer[4096];
	struct text text = TEXT_IN(buffer);
	const struct shared *shared = result->shared;
	const bool has_usage = shared->has_status, counts = result->counts;

	text_add(&text, "{");
	add_number(&text, "version", true, 1);
	add_string(&text, "outcome", outcomes[result->outcome]);
	add_number(&text, "exit_code", true, (unsigned)exit_code(options, result));
	add_status(&text, result);
	add_error(&text, options, result);
	add_names(&text, shared);
	add_number(&text, "survivors", result->survivors >= 0, (unsigned)result->survivors);
	add_seconds(&text, "seconds", true, result->duration);
	add_seconds(&text, "user_seconds", has_usage, ms_of(shared->usage.ru_utime));
	add_seconds(&text, "system_seconds", has_usage, ms_of(shared->usage.ru_stime));
	add_number(&text, "max_rss_bytes", has_usage, (uint64_t)shared->usage.ru_maxrss << 10);
	add_number(&text, "memory_peak_bytes", result->memory_peak, result->memory_peak);
	add_number(&text, "stdout_bytes", counts, result->bytes[1]);
	add_number(&text, "stderr_bytes", counts && !options->pty, result->bytes[2]);
	add_number(&text, "stdout_dropped", counts, result->dropped[1]);
	add_number(&text, "stderr_dropped", counts && !options->pty, result->dropped[2]);
	text_add(&text, "}\n");
	text_write(&text, options->json_fd);
}

int report(const struct options *options, const struct result *result)
{
	write_line(options, result);
	if (options->json_fd >= 0)
		write_object(options, result);
	return exit_code(options, result);
}
