/* SPDX-License-Identifier: MIT */
/* The child executes the image, as image.h describes. */
#include "image.h"

#include <syscall/string.h>

#include "../marks.h"
#include "../action/action_info.h"
#include "image_check.h"
#include "perform.h"

enum { ADDR_NO_RANDOMIZE = 0x40000 }; /* personality(2) */

#if defined(ASPAWN_IMAGE_FILE) /* path of an installed image/program.c */
static const char image_file[] = ASPAWN_IMAGE_FILE;
static const char aspawn_image[1], aspawn_image_end[1];
enum { HAS_IMAGE = 1 };
#elif defined(ASPAWN_IMAGE) /* path of the linked image/program.c */
static const char image_file[] = "";
__asm__(".pushsection .rodata.aspawn_image, \"a\"\n\t"
	".balign 16\n\t"
	".globl aspawn_image\n\t"
	".hidden aspawn_image\n"
	"aspawn_image:\n\t"
	".incbin \"" ASPAWN_IMAGE "\"\n"
	".globl aspawn_image_end\n\t"
	".hidden aspawn_image_end\n"
	"aspawn_image_end:\n\t"
	".popsection");
extern const char aspawn_image[], aspawn_image_end[];
enum { HAS_IMAGE = 1 };
#else
static const char image_file[] = "";
static const char aspawn_image[1], aspawn_image_end[1];
enum { HAS_IMAGE = 0 };
#endif

IN_SERVER bool aspw_has_image(void)
{
	return HAS_IMAGE;
}

/* --- the file ------------------------------------------------------------------ */

/* Keeps the descriptor open if the exec would close it. */
static IN_CHILD bool keep_descriptor(struct image_data *image, int fd)
{
	if (fd < 0 || psys_fcntl(fd, PSYS_F_GETFD, 0) <= 0)
		return true;
	image->kept[image->kept_count++] = fd;
	return psys_fcntl(fd, PSYS_F_SETFD, 0) >= 0;
}

/* Keeps the library's descriptors open, and the caller's descriptors that actions use. */
static IN_CHILD bool keep_descriptors(struct prepared *prepared, int report)
{
	prepared->image.kept_count = 0;
	bool ok = keep_descriptor(&prepared->image, report);

	for (size_t i = 0; i < prepared->fd_count && ok; i++)
		ok = keep_descriptor(&prepared->image, prepared->fds[i].here);
	for (size_t i = 0; i < prepared->count && ok; i++) {
		const struct aspawn_action *action = &prepared->actions[i];
		const size_t uses = aspw_used_by(action);

		ok = !uses || keep_descriptor(&prepared->image, member_int(action, uses));
	}
	return ok;
}

/* Makes a file without a name. The file begins with the image, unless the image is installed. */
static IN_CHILD int make_file(void)
{
	const size_t length = (uintptr_t)aspawn_image_end - (uintptr_t)aspawn_image;
	int fd = psys_memfd_create("aspawn", *image_file ? PSYS_MFD_NOEXEC_SEAL : PSYS_MFD_EXEC);

	if (fd == -PSYS_EINVAL) /* Linux before 6.3 does not know the flag */
		fd = psys_memfd_create("aspawn", 0);
	if (fd < 0 || *image_file || psys_write(fd, aspawn_image, length) == (long)length)
		return fd;
	psys_close(fd);
	return -PSYS_EIO;
}

/* The parent has the watch too, as the memory is shared. The file is in the child's table alone. */
static IN_CHILD bool fill_file(int fd, struct control *control, const struct prepared *prepared)
{
	const size_t size = prepared->image.size;

	if (psys_pwrite64(fd, prepared, size, IMAGE_COMMAND) != (long)size ||
	    !aspw_watch_map(control->watch, WATCH_FILE, fd, IMAGE_WATCH))
		return false;
	if (stack_state(&control->stack)
		    /* A forked process then knows that the watch is missing. */
		    ->is_wiped_by_fork)
		psys_madvise(control->watch, WATCH_SIZE, PSYS_MADV_DONTFORK);
	return true;
}

/* Returns if the exec fails. The environment is the file's number and the command's size. */
static IN_CHILD void execute_image(int fd, struct control *control, const struct prepared *prepared)
{
	/* No program has a longer name, and an exec takes no longer string. */
	const bool is_name = psys_strlen(prepared->file) < PSYS_PATH_MAX;
	char *const argv[] = { (char *)(uintptr_t)(is_name ? prepared->file : "aspawn"), NULL };
	char number[PSYS_DECIMAL_SIZE], size[PSYS_DECIMAL_SIZE];
	char *const envp[] = { number, size, NULL };

	psys_i64_to_decimal(number, fd);
	psys_i64_to_decimal(size, (int64_t)prepared->image.size);
	/* Without random addresses an exec takes 25 % less. The image's addresses are fixed. */
	if (!prepared->image.filtered)
		psys_personality((unsigned)prepared->image.personality | ADDR_NO_RANDOMIZE);
	__atomic_store_n(&control->progress, EXECUTES, __ATOMIC_RELEASE);
	if (*image_file)
		psys_execve(image_file, argv, envp);
	else
		psys_execveat(fd, "", argv, envp, PSYS_AT_EMPTY_PATH);
	__atomic_store_n(&control->progress, RUNS, __ATOMIC_RELEASE);
}

IN_CHILD int aspw_perform_in_image(void *arg, int write_end, void *mask, void *user_data,
				   size_t length)
{
	struct control *control = arg;
	struct prepared *prepared = user_data;

	if (control->memory != MEMORY_EXECUTED)
		return aspw_perform_actions(arg, write_end, mask, user_data, length);
	if (!aspw_image_check(prepared)) {
		prepared->reason = ASPAWN_REASON_CALLER;
		return 127;
	}
	if (!aspw_watch_may_work() || !keep_descriptors(prepared, control->report.here))
		return 127;
	prepared->image.build = ASPAWN_IMAGE_BUILD;
	const int fd = make_file();
	if (fd >= 0 && fill_file(fd, control, prepared))
		execute_image(fd, control, prepared);
	return 127;
}
