/* SPDX-License-Identifier: MIT */
/* Reads the IDs of --user from /etc/passwd and /etc/group: without libc the tool cannot ask a
 * directory service. Runs in the tool. */
#include "cli.h"

/* Returns the text of a file, which the caller may change. */
static char *read_file(const char *path)
{
	static char empty[1];
	char *text = empty;
	struct psys_statx status;
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	if (psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_SIZE, &status) >= 0) {
		const size_t size = (size_t)status.stx_size;
		char *memory = psys_mmap(NULL, size + 1, PSYS_PROT_READ | PSYS_PROT_WRITE,
					 PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
		if ((uintptr_t)memory < -4096UL && psys_read(fd, memory, size) > 0)
			text = memory;
	}
	psys_close(fd); /* close(-1) is harmless */
	return text;
}

/* Returns the part before the separator, and moves *text behind the separator. */
static char *take(char **text, char separator)
{
	char *part = *text, *end = part + (psys_strchrnul(part, separator) - part);

	*text = end + (*end != '\0');
	*end = '\0';
	return part;
}

static bool number_of(const char *digits, unsigned *number)
{
	uint64_t wide = 0;
	const bool is_number = read_number(&digits, &wide) && !*digits && wide < UINT32_MAX;

	*number = (unsigned)wide;
	return is_number;
}

/* Finds the line NAME:x:NUMBER:... with this name or number, and returns the rest of the line. */
static bool find_line(const char *path, const char *name, char **found, unsigned *number,
		      char **rest)
{
	unsigned wanted = 0;
	const bool is_number = number_of(name, &wanted);

	for (char *file = read_file(path); *file;) {
		*rest = take(&file, '\n');
		*found = take(rest, ':');
		take(rest, ':');
		if (number_of(take(rest, ':'), number) &&
		    (psys_strcmp(*found, name) == 0 || (is_number && *number == wanted)))
			return true;
	}
	*number = wanted;
	return false;
}

static void add_group(struct setting *setting, unsigned group)
{
	for (size_t i = 0; i < setting->group_count; i++)
		if (setting->groups[i] == group)
			return;
	if (setting->group_count < MOST_GROUPS)
		setting->groups[setting->group_count++] = group;
}

/* NAME:x:NUMBER:member,member */
static void find_groups(struct setting *setting)
{
	unsigned group;

	for (char *file = read_file("/etc/group"); *file;) {
		char *line = take(&file, '\n');
		take(&line, ':');
		take(&line, ':');
		const bool is_valid = number_of(take(&line, ':'), &group);
		while (is_valid && *line)
			if (psys_strcmp(take(&line, ','), setting->name) == 0)
				add_group(setting, group);
	}
}

/* The kernel is not asked for IDs that the tool already has. */
static void compare(struct setting *setting)
{
	unsigned uids[3], gids[3], groups[MOST_GROUPS];
	const int count = psys_getgroups(MOST_GROUPS, groups);
	size_t found = 1;

	psys_getresuid(&uids[0], &uids[1], &uids[2]);
	psys_getresgid(&gids[0], &gids[1], &gids[2]);
	for (int i = 0; i < 3; i++) {
		setting->changes_uid |= uids[i] != setting->uid;
		setting->changes_gid |= gids[i] != setting->gid;
	}
	/* The group itself need not be in the list. */
	add_group(setting, setting->gid);
	const size_t wanted = setting->group_count;
	for (int i = 0; i < count; i++) {
		add_group(setting, groups[i]);
		found += groups[i] != setting->gid;
	}
	setting->changes_groups = count < 0 || setting->group_count != wanted || found != wanted;
	setting->group_count = *setting->name ? wanted : 0;
}

void user_find(struct setting *setting)
{
	const char *value = setting->options.user, *wrong = NULL;
	struct text text;
	char *group = text.at, *found, *rest;
	unsigned ignored;

	if (!value)
		return;
	text_set(&text, "%s", value);
	const char *user = take(&group, ':');
	if (!*group && *psys_strchrnul(value, ':')) {
		wrong = "has an empty group";
	} else if (find_line("/etc/passwd", user, &found, &setting->uid, &rest)) {
		psys_strlcpy(setting->name, found, sizeof setting->name);
		number_of(take(&rest, ':'), &setting->gid);
		take(&rest, ':');
		psys_strlcpy(setting->home, take(&rest, ':'), sizeof setting->home);
	} else if (!number_of(user, &ignored)) {
		wrong = "no such user in /etc/passwd";
	} else if (!*group) {
		wrong = "needs a group, as it is no user of /etc/passwd";
	}
	if (!wrong && *group && !find_line("/etc/group", group, &found, &setting->gid, &rest) &&
	    !number_of(group, &ignored))
		wrong = "no such group in /etc/group";
	if (wrong)
		options_refuse(&setting->options, "--user", value, wrong);
	if (*setting->name)
		find_groups(setting);
	compare(setting);
}
