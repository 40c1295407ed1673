/* SPDX-License-Identifier: MIT */
/* image.h describes this program. The library's sources are in the same unit, and implement each
 * action once. */
#include "../perform.c"
#include "../execute.c"
#include "../../action/action_info.c"
#include "../close_range.c"
#include "../../spawn/exec_watch.c"
#include "../../../syscall/exec.c"
#include "../../../syscall/kernel_file.c"
#include "../../../syscall/string.c"
#include "../image.h"

/* Compilers call these functions unasked. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
	return psys_memcpy(to, from, length);
}

void *memset(void *to, int byte, size_t length)
{
	return psys_memset(to, byte, length);
}

int memcmp(const void *a, const void *b, size_t length)
{
	return psys_memcmp(a, b, length);
}

/* --- pointers ---------------------------------------------------------------- */

static void *moved_pointer(const void *pointer, ptrdiff_t distance)
{
	return pointer ? (char *)(uintptr_t)pointer + distance : NULL;
}

static char *const *move_strings(char *const *strings, ptrdiff_t distance)
{
	char **at = moved_pointer(strings, distance);

	for (char **string = at; *string; string++)
		*string += distance;
	return at;
}

/* Corrects the pointers that aspw_prepare_command() has stored. */
static void move_pointers(struct prepared *prepared)
{
	const ptrdiff_t distance = (char *)prepared - (char *)prepared->image.origin;

	prepared->file = moved_pointer(prepared->file, distance);
	prepared->path = moved_pointer(prepared->path, distance);
	prepared->argv = move_strings(prepared->argv, distance);
	prepared->envp = move_strings(prepared->envp, distance);
	prepared->fds = moved_pointer(prepared->fds, distance);
	prepared->actions = moved_pointer(prepared->actions, distance);
	prepared->joined = moved_pointer(prepared->joined, distance);
	prepared->image.kept = moved_pointer(prepared->image.kept, distance);
	for (size_t i = 0; i < prepared->count; i++) {
		struct aspawn_action *action = &prepared->actions[i];
		size_t at, size;

		for (int j = 0; (at = aspw_pointer_of(action, j, &size)); j++)
			set_member_pointer(action, at,
					   moved_pointer(member_pointer(action, at), distance));
	}
}

/* --- what the exec has changed -------------------------------------------------- */

static void set_cloexec(const struct image_data *image)
{
	for (size_t i = 0; i < image->kept_count; i++)
		psys_fcntl(image->kept[i], PSYS_F_SETFD, PSYS_FD_CLOEXEC);
}

/* The exec of root has given all capabilities of the bounding set, and may have taken capabilities
 * that no action needs. */
static void restore_capabilities(const struct prepared *prepared)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	const struct psys_cap_user_data *held = prepared->image.capabilities;
	struct psys_cap_user_data now[2];

	if (psys_capget(&header, now) < 0 || !psys_memcmp(now, held, sizeof now))
		return;
	for (int i = 0; i < 2; i++) {
		now[i].permitted &= held[i].permitted;
		now[i].effective = held[i].effective & now[i].permitted;
	}
	psys_capset(&header, now);
}

/* --- the file ------------------------------------------------------------------- */

/* Returns -1 unless the text is a number. */
static int64_t number_of(const char *text)
{
	const int64_t number = text ? (int64_t)aspw_read_number(&text) : -1;

	return !text || *text ? -1 : number;
}

/* Returns NULL if the file has no command of this library. */
static struct prepared *map_command(int fd, int64_t size)
{
	if (size <= (int64_t)(sizeof(struct prepared) + sizeof(struct control)))
		return NULL;
	struct prepared *prepared = psys_mmap(NULL, (size_t)size, PSYS_PROT_READ | PSYS_PROT_WRITE,
					      PSYS_MAP_PRIVATE, fd, IMAGE_COMMAND);
	return !PSYS_IS_ERROR(prepared) && prepared->image.build == ASPAWN_IMAGE_BUILD &&
			       prepared->image.size == (size_t)size ?
		       prepared :
		       NULL;
}

int main(int argc, char **argv);
int main(int argc, char **argv)
{
	char *const *envp = argv + argc + 1;
	const int fd = (int)number_of(envp[0]);
	struct prepared *prepared = map_command(fd, envp[0] ? number_of(envp[1]) : -1);
	struct exec_watch *watch =
		prepared ? aspw_watch_map((void *)IMAGE_WATCH_AT, WATCH_FILE, fd, IMAGE_WATCH) :
			   NULL;
	if (!watch)
		return 127; /* the parent sees that nothing was executed */
	psys_close(fd);
	struct control *control =
		(struct control *)(void *)((char *)prepared + prepared->image.size) - 1;
	control->watch = watch;
	if (!prepared->image.filtered)
		psys_personality((unsigned)prepared->image.personality);
	move_pointers(prepared);
	set_cloexec(&prepared->image);
	restore_capabilities(prepared);
	psys_prctl(PSYS_PR_SET_NAME, (uintptr_t)prepared->image.name, 0, 0, 0);
	aspw_watch_begin(watch);
	return aspw_perform_actions(control, control->report.here, &control->old_mask, prepared, 0);
}
