/* SPDX-License-Identifier: MIT */
/* --user, from /etc/passwd and /etc/group: there is no libc that would ask a directory service.
 * Runs in the tool. */
#include "cli.h"

/* A part of a file: not ended by a NUL. */
struct part {
	const char *at;
	size_t length;
};

static struct part read_file(const char *path)
{
	struct part part = { "", 0 };
	struct psys_statx status;
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	status.stx_size = 0;
	psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_SIZE, &status);
	if (fd >= 0 && status.stx_size) {
		const char *memory = psys_mmap(NULL, (size_t)status.stx_size, PSYS_PROT_READ,
					       PSYS_MAP_PRIVATE, fd, 0);
		if ((uintptr_t)memory < -4096UL)
			part = (struct part){ memory, (size_t)status.stx_size };
	}
	psys_close(fd); /* close(-1) is harmless */
	return part;
}

/* Takes what is before the separator away from the text. */
static struct part take(struct part *text, char separator)
{
	struct part part = { text->at, 0 };

	while (part.length < text->length && part.at[part.length] != separator)
		part.length++;
	const size_t taken = part.length + (part.length < text->length);
	text->at += taken;
	text->length -= taken;
	return part;
}

static bool is(struct part part, const char *string)
{
	return psys_strlen(string) == part.length && psys_memcmp(part.at, string, part.length) == 0;
}

static bool number_of(struct part part, unsigned *number)
{
	char digits[16];
	const char *at = digits;
	uint64_t wide = 0;

	if (part.length >= sizeof digits)
		return false;
	psys_memcpy(digits, part.at, part.length);
	digits[part.length] = '\0';
	const bool is_number = read_number(&at, &wide) && !*at && wide < UINT32_MAX;
	*number = (unsigned)wide;
	return is_number;
}

/* NAME:x:NUMBER:...: finds the line with this name or number, and leaves the rest of it. */
static bool find_line(const char *path, const char *name, struct part *found, unsigned *number,
		      struct part *rest)
{
	struct part file = read_file(path);
	unsigned wanted = 0;
	const bool is_number = number_of((struct part){ name, psys_strlen(name) }, &wanted);

	while (file.length) {
		*rest = take(&file, '\n');
		*found = take(rest, ':');
		take(rest, ':');
		if (number_of(take(rest, ':'), number) &&
		    (is(*found, name) || (is_number && *number == wanted)))
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
	struct part file = read_file("/etc/group");
	unsigned group;

	while (file.length) {
		struct part line = take(&file, '\n');
		take(&line, ':');
		take(&line, ':');
		const bool is_valid = number_of(take(&line, ':'), &group);
		while (is_valid && line.length)
			if (is(take(&line, ','), setting->name))
				add_group(setting, group);
	}
}

static void keep(char *to, size_t size, struct part part)
{
	const size_t length = part.length < size ? part.length : size - 1;

	psys_memcpy(to, part.at, length);
	to[length] = '\0';
}

/* What is so already is not asked of the kernel. */
static void compare(struct setting *setting)
{
	unsigned uids[3], gids[3], groups[MOST_GROUPS];
	const int count = psys_getgroups(MOST_GROUPS, groups);

	psys_getresuid(&uids[0], &uids[1], &uids[2]);
	psys_getresgid(&gids[0], &gids[1], &gids[2]);
	for (int i = 0; i < 3; i++) {
		setting->changes_uid |= uids[i] != setting->uid;
		setting->changes_gid |= gids[i] != setting->gid;
	}
	/* The group itself need not be in the list. */
	setting->changes_groups = count < 0;
	add_group(setting, setting->gid);
	const size_t wanted = setting->group_count;
	size_t others = 0;
	for (int i = 0; i < count; i++) {
		add_group(setting, groups[i]);
		others += groups[i] != setting->gid;
	}
	setting->changes_groups |= setting->group_count != wanted || others != wanted - 1;
	setting->group_count = *setting->name ? wanted : 0;
}

void user_find(struct setting *setting)
{
	struct options *options = &setting->options;
	struct part rest = { options->user, psys_strlen(options->user) }, found;
	char user[sizeof setting->name], group[sizeof setting->name];
	unsigned ignored;

	keep(user, sizeof user, take(&rest, ':'));
	keep(group, sizeof group, rest);
	const char *colon = psys_strchrnul(options->user, ':');
	if (*colon && !colon[1])
		options_refuse(options, "--user", options->user, "has an empty group");
	if (find_line("/etc/passwd", user, &found, &setting->uid, &rest)) {
		keep(setting->name, sizeof setting->name, found);
		number_of(take(&rest, ':'), &setting->gid);
		take(&rest, ':');
		keep(setting->home, sizeof setting->home, take(&rest, ':'));
	} else if (!number_of((struct part){ user, psys_strlen(user) }, &ignored)) {
		options_refuse(options, "--user", options->user, "no such user in /etc/passwd");
	} else if (!*group) {
		options_refuse(options, "--user", options->user,
			       "needs a group, as it is no user of /etc/passwd");
	}
	if (*group && !find_line("/etc/group", group, &found, &setting->gid, &rest) &&
	    !number_of((struct part){ group, psys_strlen(group) }, &ignored))
		options_refuse(options, "--user", options->user, "no such group in /etc/group");
	if (*setting->name)
		find_groups(setting);
	compare(setting);
}
