/* SPDX-License-Identifier: MIT */
/* The child executes the image: image.h. */
#include "image.h"

#include <syscall/string.h>

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

bool aspawn_image_fits(size_t size)
{
	return HAS_IMAGE && size <= IMAGE_COMMAND_MOST;
}

/* --- the file ------------------------------------------------------------------ */

/* Actions may use descriptors that an exec closes. The image sets FD_CLOEXEC again. */
static PSYS_UNINSTRUMENTED bool keep_descriptors(const struct prepared *prepared, int report)
{
	if (report >= 0 && psys_fcntl(report, PSYS_F_SETFD, 0) < 0)
		return false;
	for (size_t i = 0; i < prepared->pipe_count; i++)
		if (psys_fcntl(prepared->pipes[i].childs_end, PSYS_F_SETFD, 0) < 0)
			return false;
	for (size_t i = 0; i < prepared->count; i++) {
		struct aspawn_action *action = &prepared->actions[i];
		const size_t uses = aspawn_action_infos[action->kind].uses;

		if (!uses || psys_fcntl(member_int(action, uses), PSYS_F_GETFD, 0) <= 0)
			continue;
		action->flags = 1;
		if (psys_fcntl(member_int(action, uses), PSYS_F_SETFD, 0) < 0)
			return false;
	}
	return true;
}

PSYS_UNINSTRUMENTED int aspawn_image_make_file(unsigned flags)
{
	const unsigned mode = *image_file ? PSYS_MFD_NOEXEC_SEAL : PSYS_MFD_EXEC;
	int fd = psys_memfd_create("aspawn", flags | mode);

	return fd == -PSYS_EINVAL ? psys_memfd_create("aspawn", flags) : fd; /* before Linux 6.3 */
}

PSYS_UNINSTRUMENTED bool aspawn_image_write(int fd)
{
	const size_t length = (uintptr_t)aspawn_image_end - (uintptr_t)aspawn_image;

	return *image_file || psys_write(fd, aspawn_image, length) == (long)length;
}

/* The child writes a file of its own. The parent has the watch too, as the memory is shared. */
static PSYS_UNINSTRUMENTED bool make_own(struct control *control, struct prepared *prepared)
{
	const size_t size = prepared->image.size;
	const int fd = aspawn_image_make_file(0);

	prepared->image.fd = fd;
	prepared->image.offset = IMAGE_PAGE;
	return fd >= 0 && aspawn_image_write(fd) &&
	       psys_pwrite64(fd, prepared, size, IMAGE_PAGE + WATCH_SIZE) == (long)size &&
	       aspawn_watch_in_file(fd, IMAGE_PAGE, control->watch, WATCH_SIZE);
}

static PSYS_UNINSTRUMENTED bool has_content(int fd, const char *content, size_t size, long offset)
{
	char part[512];

	for (size_t at = 0, length; at < size; at += length) {
		length = size - at < sizeof part ? size - at : sizeof part;
		if (psys_pread64(fd, part, length, offset + (long)at) != (long)length ||
		    psys_memcmp(part, content + at, length))
			return false;
	}
	return true;
}

/* While the caller made the file, a thread of the host may have put another in its place, of which
 * the caller then knows the inode. */
static PSYS_UNINSTRUMENTED bool is_the_image(const struct image_data *image, const char *command)
{
	const size_t length = (uintptr_t)aspawn_image_end - (uintptr_t)aspawn_image;

	return (*image_file || has_content(image->fd, aspawn_image, length, 0)) &&
	       has_content(image->fd, command, image->size, image->offset + WATCH_SIZE);
}

/* The child's table is its own: from now on no thread of the host can replace the descriptor. */
static PSYS_UNINSTRUMENTED bool use_kept(struct control *control, const struct prepared *prepared)
{
	const struct image_data *image = &prepared->image;
	char *command = (char *)control->watch + WATCH_SIZE;

	psys_memcpy(command, prepared, image->size);
	if (!aspawn_image_cache_is_intact(image->cache))
		return false;
	if (!control->surely && !is_the_image(image, command)) {
		aspawn_image_cache_forget_file(image->cache);
		return false;
	}
	return psys_fcntl(image->fd, PSYS_F_SETFD, 0) >= 0;
}

/* Returns why the image cannot be executed, a negative error number. */
static PSYS_UNINSTRUMENTED int execute_image(const struct prepared *prepared)
{
	const struct image_data *image = &prepared->image;
	char *const none[] = { NULL };
	char numbers[3][PSYS_DECIMAL_SIZE];
	char *const argv[] = { (char *)(uintptr_t)prepared->file, numbers[0], numbers[1],
			       numbers[2], NULL };

	psys_i64_to_decimal(numbers[0], image->fd);
	psys_i64_to_decimal(numbers[1], image->offset);
	psys_i64_to_decimal(numbers[2], (int64_t)image->size);
	return *image_file ? psys_execve(image_file, argv, none) :
			     psys_execveat(image->fd, "", argv, none, PSYS_AT_EMPTY_PATH);
}

static PSYS_UNINSTRUMENTED int enter(struct control *control, struct prepared *prepared)
{
	const bool kept = prepared->image.cache;

	prepared->image.layout = IMAGE_LAYOUT;
	if (!keep_descriptors(prepared, control->report.childs_end))
		return -PSYS_EPERM;
	if (!kept && !aspawn_watch_is_supported())
		return -PSYS_ENOSYS;
	if (!(kept ? use_kept(control, prepared) : make_own(control, prepared)))
		return -PSYS_EBADF;
	return execute_image(prepared);
}

PSYS_UNINSTRUMENTED int aspawn_perform_in_image(void *arg, int write_end, void *mask,
						void *user_data, size_t length)
{
	struct control *control = arg;
	struct prepared *prepared = user_data;

	if (!control->executes_first)
		return aspawn_perform(arg, write_end, mask, user_data, length);
	int error = enter(control, prepared);
	if (!control->surely)
		return 127;
	/* What has worked before does not work any more, and the parent has not waited for it. */
	aspawn_image_cache_set_proven(prepared->image.cache, false);
	prepared->watch = control->watch;
	prepared->report.step = ASPAWN_STEP_EXEC;
	aspawn_fail(prepared, error, "memfd:aspawn");
}
