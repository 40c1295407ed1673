/* SPDX-License-Identifier: MIT */
/* Reads the command line by a table of options. Runs in the tool, before the other preparations. */
#include "cli.h"

enum kind { FLAG, DURATION, SIGNAL, SIZE, COUNT, TEXT, NUMBER, RLIMIT, HELP, VERSION };

/* The line of --help begins with the option's names. */
struct option {
	const char *help;
	unsigned char kind;
	unsigned short member; /* its place in struct options */
};

/* clang-format off */
#define ROW(kind, member, help) { help, kind, offsetof(struct options, member) }
static const struct option table[] = {
	ROW(DURATION, timeout, "-t, --timeout DURATION     end the command after this time"),
	ROW(DURATION, idle, "--idle DURATION        ... after so long without output"),
	ROW(SIGNAL, signal, "-s, --signal SIGNAL        the signal of a limit (TERM)"),
	ROW(DURATION, kill_after, "-k, --kill-after DURATION  from the signal to SIGKILL (10 s; process 1: 8 s)"),
	ROW(FLAG, foreground, "-f, --foreground           send the signal to the program alone"),
	ROW(DURATION, cpu_time, "--cpu-time DURATION    processor time of each process, in whole seconds"),
	ROW(SIZE, output_limit, "--output-limit SIZE    drop what is beyond, of each stream"),
	ROW(RLIMIT, rlimits, "--rlimit NAME=SOFT:HARD  such as nofile=64:64, core=0, as=unlimited"),
	ROW(SIZE, memory, "--memory SIZE          memory of everything together, in a cgroup"),
	ROW(COUNT, pids, "--pids-limit N         processes and threads, in a cgroup"),
	ROW(TEXT, cgroup, "--cgroup DIR           the parent of the command's cgroup"),
	ROW(FLAG, leave, "--leave                let what the program has left live on"),
	ROW(FLAG, dies_with_parent, "--die-with-parent      end when the parent process of aspawn ends"),
	ROW(FLAG, no_new_privs, "--no-new-privs         set-user-ID programs give no privileges"),
	ROW(FLAG, setsid, "--setsid               a session without a terminal"),
	ROW(FLAG, pty, "--pty                  a terminal of the command's own"),
	ROW(TEXT, stdin_file, "--stdin FILE           standard input"),
	ROW(TEXT, user, "--user NAME[:GROUP]    IDs, groups, HOME, USER and LOGNAME of this user"),
	ROW(TEXT, directory, "-C, --chdir DIR            the directory"),
	ROW(FLAG, preserves, "-p, --preserve-status      the program's exit code also after a limit"),
	ROW(FLAG, is_quiet, "-q, --quiet                no line about the end"),
	ROW(FLAG, is_verbose, "-v, --verbose              a line for each signal sent"),
	ROW(TEXT, json_file, "--json FILE            write the result as JSON"),
	ROW(NUMBER, json_fd, "--json-fd N            ... to an open descriptor"),
	ROW(HELP, is_answered, "-h, --help                 this text"),
	ROW(VERSION, is_answered, "-V, --version              the version"),
};

static const char help_begin[] =
	"aspawn [OPTIONS] [--] COMMAND [ARG ...]\n"
	"Runs a command, ends everything that it has started, and says why.\n"
	"\n";
static const char help_end[] =
	"\n"
	"DURATION is in seconds, or with ms, s, m, h or d: 10, 1.5, 500ms; 0 is none.\n"
	"SIZE is in bytes, or with K, M, G or T.\n"
	"\n"
	"Exit code: the command's; 124 a limit was reached; 125 aspawn itself failed, or\n"
	"processes survive; 126 not executable; 127 not found; 128 + n ended by signal n\n"
	"(137 also: out of memory).\n";

#define RESOURCE(name, NAME) { #name "=", PSYS_RLIMIT_##NAME }
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

/* Returns the milliseconds of a unit, or 0 for an invalid unit. */
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

/* 30 000 years in milliseconds are enough: no process lives longer. */
#define LONGEST 1000000000000000

/* A fraction below a millisecond is rounded up, since 0 is no limit. */
static bool read_duration(const char *value, void *member)
{
	const char *digit = value, *suffix = value;
	int64_t ms = 0;
	bool is_more = false;

	while ((*suffix >= '0' && *suffix <= '9') || *suffix == '.')
		suffix++;
	const uint32_t unit = unit_of(suffix);
	for (; digit < suffix && *digit != '.'; digit++)
		if (ms < LONGEST)
			ms = ms * 10 + (int64_t)unit * (*digit - '0');
	const bool has_point = digit < suffix;
	digit += has_point;
	for (uint32_t part = unit; digit < suffix && *digit != '.'; digit++) {
		part /= 10;
		ms += (int64_t)part * (*digit - '0');
		is_more |= *digit != '0';
	}
	*(int64_t *)member = ms + (ms == 0 && is_more);
	return unit && digit == suffix && suffix - value > has_point;
}

static bool read_size(const char *value, void *member)
{
	static const char units[] = "KMGT";
	uint64_t *bytes = member;
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

static bool read_count(const char *value, void *member)
{
	return read_number(&value, member) && !*value && *(uint64_t *)member > 0;
}

static bool read_text(const char *value, void *member)
{
	return *(*(const char **)member = value);
}

/* Reads a name with or without SIG, or a number. 0 and EXIT send nothing. */
static bool read_signal(const char *value, void *member)
{
	const char *digits = value;
	int *signal = member;
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

/* Reads NAME=SOFT:HARD, or NAME=BOTH. */
static bool read_rlimit(const char *value, void *member)
{
	struct rlimit_option *limit = member, *end = limit + MOST_RLIMITS;
	size_t i = 0, length = 0;

	while (limit < end && limit->value)
		limit++;
	for (; i < COUNT_OF(resources); i++) {
		length = psys_strlen(resources[i].name);
		if (psys_strncmp(resources[i].name, value, length) == 0)
			break;
	}
	const char *at = value + length;
	if (limit == end || i == COUNT_OF(resources) || !read_limit(&at, &limit->soft))
		return false;
	limit->value = value;
	limit->resource = resources[i].resource;
	limit->hard = limit->soft;
	if (*at == ':' && (at++, !read_limit(&at, &limit->hard)))
		return false;
	return !*at && limit->soft <= limit->hard;
}

static bool read_fd(const char *value, void *member)
{
	uint64_t number;

	if (!read_number(&value, &number) || *value || number > INT32_MAX)
		return false;
	const long flags = psys_fcntl((int)number, PSYS_F_GETFL, 0);
	if (flags < 0 || !(flags & (PSYS_O_WRONLY | PSYS_O_RDWR)))
		return false;
	*(int *)member = (int)number;
	return true;
}

/* Options of a kind without a function take no value. */
static const struct {
	bool (*read)(const char *value, void *member);
	const char *expected;
} kinds[] = {
	[DURATION] = { read_duration,
		       "is no duration (a number of seconds, or with ms, s, m, h or d)" },
	[SIGNAL] = { read_signal, "is no signal (TERM, SIGTERM, 15)" },
	[SIZE] = { read_size, "is no size (bytes, or with K, M, G or T)" },
	[COUNT] = { read_count, "is no number above 0" },
	[TEXT] = { read_text, "is empty" },
	[NUMBER] = { read_fd, "is no descriptor that is open for writing" },
	[RLIMIT] = { read_rlimit, "is no limit (NAME=SOFT:HARD, such as nofile=64:64)" },
	[VERSION] = { NULL, NULL },
};

/* --- the command line --------------------------------------------------------------- */

static void write_help(void)
{
	struct text text;

	text_set(&text, help_begin);
	for (size_t i = 0; i < COUNT_OF(table); i++)
		text_format(&text, "%s%s\n", table[i].help[1] == '-' ? "      " : "  ",
			    table[i].help);
	text_add(&text, help_end);
	text_write(&text, 1);
}

static void write_version(void)
{
	struct text text;

	text_set(&text, "aspawn %d.%d.%d\n", (uint64_t)ASPAWN_VERSION_MAJOR,
		 (uint64_t)ASPAWN_VERSION_MINOR, (uint64_t)ASPAWN_VERSION_PATCH);
	text_write(&text, 1);
}

/* The names end with a comma or a space. */
static const struct option *find_option(const char *name)
{
	const size_t length = psys_strlen(name);

	for (size_t i = 0; i < COUNT_OF(table); i++)
		for (const char *at = table[i].help; *at == '-'; at = psys_strchrnul(at, ' ') + 1)
			if (psys_strncmp(at, name, length) == 0 &&
			    (at[length] == ',' || at[length] == ' '))
				return &table[i];
	return NULL;
}

/* The value is behind the name, or the next argument. Returns how many arguments were read, or 0
 * for an option without a value. */
static int read_option(struct options *options, const char *name, const char *behind,
		       const char *next)
{
	const struct option *option = find_option(name);
	const char *value = behind ? behind : next;

	if (!option) {
		options_refuse(options, name, NULL, "is no option (see aspawn --help)");
		return 1;
	}
	void *member = (char *)options + option->member;
	if (!kinds[option->kind].read) {
		*(bool *)member = true;
		if (option->kind == HELP)
			write_help();
		else if (option->kind == VERSION)
			write_version();
		return 0;
	}
	if (!value)
		options_refuse(options, name, NULL, "has no value");
	else if (!kinds[option->kind].read(value, member))
		options_refuse(options, name, value, kinds[option->kind].expected);
	if (member == &options->cpu_time)
		options->cpu_time_value = value;
	return behind || !next ? 1 : 2;
}

static int read_long(struct options *options, char **argv)
{
	const char *end = psys_strchrnul(*argv, '=');
	const size_t size = (size_t)(end - *argv) + 1;
	char name[64];

	psys_strlcpy(name, *argv, size < sizeof name ? size : sizeof name);
	const int read = read_option(options, name, *end ? end + 1 : NULL, argv[1]);
	if (!read && *end)
		options_refuse(options, name, end + 1, "takes no value");
	return read ? read : 1;
}

/* Reads several letters in an argument. The last letter may have a value. */
static int read_letters(struct options *options, char **argv)
{
	int read = 0;

	for (const char *letter = *argv + 1; !read && *letter && !options->is_answered; letter++) {
		const char name[] = { '-', *letter, '\0' };
		read = read_option(options, name, letter[1] ? letter + 1 : NULL, argv[1]);
	}
	return read ? read : 1;
}

/* Reads on after a wrong value, as --json may follow. */
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
