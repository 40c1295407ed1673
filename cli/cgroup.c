/* SPDX-License-Identifier: MIT */
/*
 * Makes a cgroup of version 2 for the command (--memory, --pids-limit, --cgroup). Runs in the tool.
 *
 * Without --cgroup the parent is the tool's own cgroup. If the parent has the controllers enabled
 * for its children, the tool makes the command's cgroup below. Otherwise the tool must be alone in
 * the parent, and moves itself to a leaf: a cgroup with controllers for its children can have no
 * processes. At the end the tool undoes all changes, unless a process lives on in the command's
 * cgroup.
 */
#include "cli.h"

enum { NAPS = 100, NAPS_TO_LEAVE = 10, LEVELS = 16 };

static struct {
	int parent;
	struct text name, leaf;  /* names of directories, or empty */
	struct text controllers; /* " +memory +pids" */
} cgroup;

static int write_text(int directory, const char *file, const char *text)
{
	const int fd = psys_openat(directory, file, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	const long r = fd < 0 ? fd : psys_write(fd, text, psys_strlen(text));

	psys_close(fd);
	return r < 0 ? (int)r : 0;
}

static int write_number(int directory, const char *file, uint64_t number)
{
	char digits[PSYS_DECIMAL_SIZE];

	psys_u64_to_decimal(digits, number);
	return number == UINT64_MAX ? 0 : write_text(directory, file, digits);
}

/* Returns the text behind the name at the beginning of a line, or NULL if no line has the name. */
static char *find_line(char *text, const char *name)
{
	const size_t length = psys_strlen(name);

	while (*text && psys_strncmp(text, name, length) != 0) {
		text += psys_strchrnul(text, '\n') - text;
		text += *text == '\n';
	}
	return *text ? text + length : NULL;
}

/* Returns the number behind the name, or 0 if the file has no number. */
static uint64_t number_in(int directory, const char *file, const char *name)
{
	char text[2048];
	uint64_t number;

	file_read(directory, file, text, sizeof text);
	const char *at = find_line(text, name);
	return at && read_number(&at, &number) ? number : 0;
}

static void replace(char *in, char what, char by)
{
	for (; *in; in++)
		if (*in == what)
			*in = by;
}

static void refuse(struct setting *setting, const char *what, const char *subject, int error)
{
	struct text text;
	const char *parent = setting->options.cgroup;

	text_set(&text, "%s%s: %e", what, subject, error);
	if (!parent && error != -PSYS_ENOENT)
		text_add(&text,
			 " (aspawn must be alone in a group that is its own: systemd-run --user "
			 "--scope -p Delegate=yes aspawn ..., with a user manager and a bus; as "
			 "root without --user)");
	options_refuse(&setting->options,
		       parent                                ? "--cgroup" :
		       setting->options.memory == UINT64_MAX ? "--pids-limit" :
							       "--memory",
		       parent, text.at);
}

/* --- the parent ------------------------------------------------------------------------- */

/* Opens the cgroup of the line "0::/path" of /proc/self/cgroup. On a hybrid system version 2 is
 * mounted at /sys/fs/cgroup/unified. */
static int open_own(void)
{
	char text[4096];
	struct text path;

	file_read(PSYS_AT_FDCWD, "/proc/self/cgroup", text, sizeof text);
	char *own = find_line(text, "0::");
	if (!own)
		return -PSYS_ENOENT;
	own[psys_strchrnul(own, '\n') - own] = '\0';
	const bool is_hybrid =
		psys_faccessat(PSYS_AT_FDCWD, "/sys/fs/cgroup/cgroup.procs", PSYS_F_OK) < 0;
	text_set(&path, "/sys/fs/cgroup%s%s", is_hybrid ? "/unified" : "", own);
	return psys_open(path.at, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
}

static bool are_enabled(const struct options *options)
{
	char text[256];

	file_read(cgroup.parent, "cgroup.subtree_control", text, sizeof text);
	replace(text, ' ', '\n');
	return (options->memory == UINT64_MAX || find_line(text, "memory\n")) &&
	       (options->pids == UINT64_MAX || find_line(text, "pids\n"));
}

static void enter_leaf(void)
{
	struct text path;

	text_set(&cgroup.leaf, "aspawn-%d-tool", (uint64_t)psys_getpid());
	text_set(&path, "%s/cgroup.procs", cgroup.leaf.at);
	if (psys_mkdirat(cgroup.parent, cgroup.leaf.at, 0755) < 0)
		cgroup.leaf.length = 0;
	else
		write_text(cgroup.parent, path.at, "0");
}

static void leave_leaf(void)
{
	if (!cgroup.leaf.length)
		return;
	replace(cgroup.controllers.at, '+', '-');
	write_text(cgroup.parent, "cgroup.subtree_control", cgroup.controllers.at);
	write_text(cgroup.parent, "cgroup.procs", "0");
	psys_unlinkat(cgroup.parent, cgroup.leaf.at, PSYS_AT_REMOVEDIR);
}

static bool enable(struct setting *setting)
{
	char numbers[256];

	if (are_enabled(&setting->options))
		return true;
	text_set(&cgroup.controllers, "%s%s",
		 setting->options.memory == UINT64_MAX ? "" : " +memory",
		 setting->options.pids == UINT64_MAX ? "" : " +pids");
	if (!setting->options.cgroup)
		enter_leaf();
	const int r = write_text(cgroup.parent, "cgroup.subtree_control", cgroup.controllers.at);
	if (r == -PSYS_EBUSY) { /* others are in the group */
		long length = file_read(cgroup.parent, "cgroup.procs", numbers, sizeof numbers);
		while (length > 0 && numbers[--length] != '\n')
			continue; /* a number that is cut */
		numbers[length > 0 ? length : 0] = '\0';
		replace(numbers, '\n', ' ');
		refuse(setting, "other processes are in the group: ", numbers, r);
	} else if (r < 0) {
		refuse(setting,
		       r == -PSYS_ENOENT ? "version 2 has no such controller here:" :
					   "cannot enable",
		       cgroup.controllers.at, r);
	}
	return r == 0;
}

/* --- the command's group ---------------------------------------------------------------------- */

static int set_limits(const struct options *options, int group)
{
	int r = write_number(group, "memory.max", options->memory);

	if (options->memory != UINT64_MAX) {
		write_text(group, "memory.swap.max", "0");
		write_text(group, "memory.oom.group", "1"); /* if one is killed, all end */
	}
	return r < 0 ? r : write_number(group, "pids.max", options->pids);
}

static void make_group(struct setting *setting)
{
	text_set(&cgroup.name, "aspawn-%d", (uint64_t)psys_getpid());
	int r = psys_mkdirat(cgroup.parent, cgroup.name.at, 0755);
	if (r < 0) {
		cgroup.name.length = 0;
		refuse(setting, "mkdir", "", r);
		return;
	}
	setting->cgroup = psys_openat(cgroup.parent, cgroup.name.at,
				      PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	r = setting->cgroup < 0 ? setting->cgroup : set_limits(&setting->options, setting->cgroup);
	if (r < 0)
		refuse(setting, "cannot set limits", "", r);
}

void cgroup_make(struct setting *setting)
{
	const struct options *options = &setting->options;

	if (!options->cgroup && options->memory == UINT64_MAX && options->pids == UINT64_MAX)
		return;
	cgroup.parent = options->cgroup ?
				psys_open(options->cgroup,
					  PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0) :
				open_own();
	const int r = cgroup.parent < 0 ? cgroup.parent :
					  psys_faccessat(cgroup.parent, "cgroup.procs", PSYS_F_OK);
	if (r < 0)
		refuse(setting, "is no cgroup of version 2", "", r);
	else if (enable(setting))
		make_group(setting);
}

uint64_t cgroup_cpu_us(const struct setting *setting)
{
	return setting->cgroup < 0 ? 0 : number_in(setting->cgroup, "cpu.stat", "usage_usec ");
}

/* Removes a cgroup, with the cgroups that the command has made below. Fails with -EBUSY if the
 * cgroup has a process, or more than the given levels of cgroups. */
static int remove_group(int parent, const char *name, int levels)
{
	char records[1024] __attribute__((aligned(8)));
	long length;
	const int r = psys_unlinkat(parent, name, PSYS_AT_REMOVEDIR);

	if (r != -PSYS_EBUSY || levels == 0)
		return r;
	const int group =
		psys_openat(parent, name, PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	while (group >= 0 && (length = psys_getdents64(group, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			if (entry->d_type == PSYS_DT_DIR && psys_strcmp(entry->d_name, ".") != 0 &&
			    psys_strcmp(entry->d_name, "..") != 0)
				remove_group(group, entry->d_name, levels - 1);
			at += entry->d_reclen;
		}
	psys_close(group);
	return psys_unlinkat(parent, name, PSYS_AT_REMOVEDIR);
}

/* Waits a moment, as an ended process may still be in the cgroup. If processes live on, their
 * limits stay, and the leaf stays: the kernel lets the tool return only to a cgroup without
 * controllers. */
void cgroup_end(struct setting *setting)
{
	const struct psys_timespec nap = { 0, 10000000 };
	const bool leave = setting->options.leave;
	int r = 0;

	if (setting->cgroup >= 0) {
		if (!leave)
			aspawn_kill_cgroup(setting->cgroup);
		setting->result.oom_kills = aspawn_oom_kills(setting->cgroup);
		setting->result.memory_peak = (int64_t)number_in(setting->cgroup, "memory.peak", "");
	}
	for (int i = 0; cgroup.name.length && i < (leave ? NAPS_TO_LEAVE : NAPS); i++) {
		r = remove_group(cgroup.parent, cgroup.name.at, leave ? 0 : LEVELS);
		if (r != -PSYS_EBUSY)
			break;
		psys_nanosleep(&nap, NULL);
	}
	if (r != -PSYS_EBUSY)
		leave_leaf();
}
