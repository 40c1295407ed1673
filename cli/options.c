/* SPDX-License-Identifier: MIT */
/* The options of the command line, as a table. Runs in the tool, before there is anything else. */
#include "cli.h"

enum kind { FLAG, DURATION, SIGNAL, SIZE, COUNT, TEXT, NUMBER, RLIMIT, HELP, VERSION };

struct option {
	const char *name;
	char letter;
	unsigned char kind;
	unsigned short member; /* its place in struct options */
};

/* clang-format off */
#define ROW(name, letter, kind, member) { name, letter, kind, offsetof(struct options, member) }
/* clang-format on */
static const struct option table[] = {
	ROW("timeout", 't', DURATION, timeout),
	ROW("idle", 0, DURATION, idle),
	ROW("kill-after", 'k', DURATION, kill_after),
	ROW("cpu-time", 0, DURATION, cpu_time),
	ROW("signal", 's', SIGNAL, signal),
	ROW("output-limit", 0, SIZE, output_limit),
	ROW("memory", 0, SIZE, memory),
	ROW("pids-limit", 0, COUNT, pids),
	ROW("rlimit", 0, RLIMIT, rlimits),
	ROW("cgroup", 0, TEXT, cgroup),
	ROW("stdin", 0, TEXT, stdin_file),
	ROW("json", 0, TEXT, json_file),
	ROW("json-fd", 0, NUMBER, json_fd),
	ROW("user", 0, TEXT, user),
	ROW("chdir", 'C', TEXT, directory),
	ROW("leave", 0, FLAG, leave),
	ROW("die-with-parent", 0, FLAG, dies_with_parent),
	ROW("no-new-privs", 0, FLAG, no_new_privs),
	ROW("foreground", 'f', FLAG, foreground),
	ROW("setsid", 0, FLAG, setsid),
	ROW("pty", 0, FLAG, pty),
	ROW("preserve-status", 'p', FLAG, preserves),
	ROW("quiet", 'q', FLAG, is_quiet),
	ROW("verbose", 'v', FLAG, is_verbose),
	ROW("help", 'h', HELP, is_answered),
	ROW("version", 'V', VERSION, is_answered),
};

/* clang-format off */
#define RESOURCE(name, NAME) { #name, PSYS_RLIMIT_##NAME }
static const struct {
	const char *name;
	int resource;
} resources[] = {
	RESOURCE(as, AS), RESOURCE(core, CORE), RESOURCE(cpu, CPU), RESOURCE(data, DATA),
	RESOURCE(fsize, FSIZE), RESOURCE(locks, LOCKS), RESOURCE(memlock, MEMLOCK),
	RESOURCE(msgqueue, MSGQUEUE), RESOURCE(nice, NICE), RESOURCE(nofile, NOFILE),
	RESOURCE(nproc, NPROC), RESOURCE(rss, RSS), RESOURCE(rtprio, RTPRIO),
	RESOURCE(rttime, RTTIME), RESOURCE(sigpending, SIGPENDING), RESOURCE(stack, STACK),
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

void options_refuse(struct options *options, const char *name, const char *value, const char *what)
{
	struct text text;

	text_set(&text, value ? "%s \"%n\": %s" : "%s%n: %s", name, value ? value : "", what);
	if (!*options->error)
		psys_strlcpy(options->error, text.at, sizeof options->error);
}

/* --- values ----------------------------------------------------------------------- */

/* Returns the milliseconds of a unit; 0: there is no such unit. */
static uint32_t unit_of(const char *unit)
{
	static const struct {
		char name[3];
		uint32_t ms;
	} units[] = { { "", 1000 },   { "ms", 1 },      { "s", 1000 },
		      { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (psys_strcmp(units[i].name, unit) == 0)
			return units[i].ms;
	return 0;
}

/* In milliseconds 30 000 years: nothing lives until a limit that is longer. */
#define LONGEST 1000000000000000

/* A fraction below a millisecond is rounded up, since 0 is no limit. */
static bool read_duration(const char *value, int64_t *ms)
{
	const char *digit = value, *suffix = value;
	bool is_more = false;

	while ((*suffix >= '0' && *suffix <= '9') || *suffix == '.')
		suffix++;
	const uint32_t unit = unit_of(suffix);
	for (*ms = 0; digit < suffix && *digit != '.'; digit++)
		if (*ms < LONGEST)
			*ms = *ms * 10 + (int64_t)unit * (*digit - '0');
	const bool has_point = digit < suffix;
	digit += has_point;
	for (uint32_t part = unit; digit < suffix && *digit != '.'; digit++) {
		part /= 10;
		*ms += (int64_t)part * (*digit - '0');
		is_more |= *digit != '0';
	}
	*ms += *ms == 0 && is_more;
	return unit && digit == suffix && suffix - value > has_point;
}

static bool read_size(const char *value, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	int shift = 0;

	if (!read_number(&value, bytes))
		return false;
	const char *unit = psys_strchrnul(units, *value);
	if (*value && *unit) {
		shift = 10 * (int)(unit - units + 1);
		value++;
	}
	if (*bytes > UINT64_MAX >> shift >> 1)
		return false;
	*bytes <<= shift;
	return !*value;
}

/* With or without SIG; a number; 0 and EXIT send nothing. */
static bool read_signal(const char *value, int *signal)
{
	const char *digits = value;
	struct text name;
	uint64_t number;

	if (read_number(&digits, &number)) {
		*signal = (int)number;
		return !*digits && number <= MOST_SIGNAL;
	}
	for (int i = 1; i <= MOST_SIGNAL; i++) {
		text_set(&name, "%g", i);
		*signal = i;
		if (psys_strncmp(name.at, "SIG", 3) == 0 &&
		    (psys_strcmp(name.at, value) == 0 || psys_strcmp(name.at + 3, value) == 0))
			return true;
	}
	*signal = 0;
	return psys_strcmp(value, "EXIT") == 0;
}

static bool read_limit(const char **from, uint64_t *limit)
{
	static const char unlimited[] = "unlimited";

	if (psys_strncmp(*from, unlimited, sizeof unlimited - 1) != 0)
		return read_number(from, limit);
	*from += sizeof unlimited - 1;
	*limit = PSYS_RLIM64_INFINITY;
	return true;
}

/* NAME=SOFT:HARD, or NAME=BOTH. */
static bool read_rlimit(const char *value, struct options *options)
{
	struct rlimit_option *limit = &options->rlimits[options->rlimit_count];
	const char *at = psys_strchrnul(value, '=');

	if (!*at || options->rlimit_count == MOST_RLIMITS)
		return false;
	const size_t length = (size_t)(at++ - value);
	size_t i = 0;
	while (i < COUNT_OF(resources) && (psys_strlen(resources[i].name) != length ||
					   psys_strncmp(resources[i].name, value, length) != 0))
		i++;
	if (i == COUNT_OF(resources) || !read_limit(&at, &limit->soft))
		return false;
	limit->value = value;
	limit->resource = resources[i].resource;
	limit->hard = limit->soft;
	if (*at == ':' && (at++, !read_limit(&at, &limit->hard)))
		return false;
	options->rlimit_count++;
	return !*at && limit->soft <= limit->hard;
}

static bool read_fd(const char *value, int *fd)
{
	uint64_t number;

	if (!read_number(&value, &number) || *value || number > INT32_MAX)
		return false;
	const long flags = psys_fcntl((int)number, PSYS_F_GETFL, 0);
	if (flags < 0 || !(flags & (PSYS_O_WRONLY | PSYS_O_RDWR)))
		return false;
	*fd = (int)number;
	return true;
}

static const char *const expected[] = {
	[DURATION] = "is no duration (a number of seconds, or with ms, s, m, h or d)",
	[SIGNAL] = "is no signal (TERM, SIGTERM, 15)",
	[SIZE] = "is no size (bytes, or with K, M, G or T)",
	[COUNT] = "is no number above 0",
	[TEXT] = "is empty",
	[NUMBER] = "is no descriptor that is open for writing",
	[RLIMIT] = "is no limit (NAME=SOFT:HARD, such as nofile=64:64)",
};

static void set_option(struct options *options, const struct option *option, const char *value,
		       const char *shown)
{
	void *member = (char *)options + option->member;
	const char *at = value;
	bool is_valid = true;

	if (option->kind == FLAG || option->kind >= HELP)
		*(bool *)member = true;
	else if (option->kind == DURATION)
		is_valid = read_duration(value, member);
	else if (option->kind == SIGNAL)
		is_valid = read_signal(value, member);
	else if (option->kind == SIZE)
		is_valid = read_size(value, member);
	else if (option->kind == COUNT)
		is_valid = read_number(&at, member) && !*at && *(uint64_t *)member > 0;
	else if (option->kind == TEXT)
		is_valid = *(*(const char **)member = value);
	else if (option->kind == NUMBER)
		is_valid = read_fd(value, member);
	else
		is_valid = read_rlimit(value, options);
	if (member == &options->cpu_time)
		options->cpu_time_value = value;
	if (!is_valid)
		options_refuse(options, shown, value, expected[option->kind]);
}

/* --- the command line --------------------------------------------------------------- */

/* Writes what --help or --version asks for. */
static void answer(const struct option *option)
{
	struct text text;

	if (option->kind == HELP)
		help_write();
	if (option->kind != VERSION)
		return;
	text_set(&text, "aspawn %d.%d.%d\n", (uint64_t)ASPAWN_VERSION_MAJOR,
		 (uint64_t)ASPAWN_VERSION_MINOR, (uint64_t)ASPAWN_VERSION_PATCH);
	text_write(&text, 1);
}

static const struct option *find_option(const char *name, size_t length, char letter)
{
	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (name ? psys_strlen(table[i].name) == length &&
				    psys_strncmp(table[i].name, name, length) == 0 :
			   table[i].letter == letter)
			return &table[i];
	return NULL;
}

/* The value is behind the name, or the next argument. Returns how many arguments were read; 0: an
 * option without a value. */
static int read_option(struct options *options, const struct option *option, const char *shown,
		       const char *behind, const char *next)
{
	const bool takes_value = option && option->kind != FLAG && option->kind < HELP;

	if (!option)
		options_refuse(options, shown, NULL, "is no option (see aspawn --help)");
	else if (takes_value && !behind && !next)
		options_refuse(options, shown, NULL, "has no value");
	else
		set_option(options, option, behind ? behind : next, shown);
	if (option && !takes_value)
		answer(option);
	return !takes_value ? !option : behind || !next ? 1 : 2;
}

static int read_long(struct options *options, char **argv)
{
	const char *name = *argv + 2, *end = psys_strchrnul(name, '=');
	const struct option *option = find_option(name, (size_t)(end - name), 0);
	char shown[64];

	psys_strlcpy(shown, *argv, sizeof shown);
	if ((size_t)(end - *argv) < sizeof shown)
		shown[end - *argv] = '\0';
	const int read = read_option(options, option, shown, *end ? end + 1 : NULL, argv[1]);
	if (!read && *end)
		options_refuse(options, shown, end + 1, "takes no value");
	return read ? read : 1;
}

/* Several letters, of which the last may have a value. */
static int read_letters(struct options *options, char **argv)
{
	int read = 0;

	for (const char *letter = *argv + 1; !read && *letter && !options->is_answered; letter++) {
		const char shown[] = { '-', *letter, '\0' };
		read = read_option(options, find_option(NULL, 0, *letter), shown,
				   letter[1] ? letter + 1 : NULL, argv[1]);
	}
	return read ? read : 1;
}

/* After a wrong value it reads on: --json may follow. */
void options_read(struct options *options, int argc, char **argv)
{
	psys_memset(options, 0, sizeof *options);
	options->kill_after = -1;
	options->signal = PSYS_SIGTERM;
	options->json_fd = -1;
	options->output_limit = options->memory = options->pids = UINT64_MAX;
	for (argv += argc > 0; *argv && **argv == '-' && (*argv)[1] && !options->is_answered;) {
		if (psys_strcmp(*argv, "--") == 0) {
			argv++;
			break;
		}
		argv += (*argv)[1] == '-' ? read_long(options, argv) : read_letters(options, argv);
	}
	options->argv = argv;
	if (!*argv && !options->is_answered)
		options_refuse(options, "COMMAND", NULL, "is missing (see aspawn --help)");
}
