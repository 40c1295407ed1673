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

static PSYS_UNINSTRUMENTED int make_image_file(void)
{
	int fd = psys_memfd_create("aspawn", *image_file ? PSYS_MFD_NOEXEC_SEAL : PSYS_MFD_EXEC);

	return fd == -PSYS_EINVAL ? psys_memfd_create("aspawn", 0) : fd; /* before Linux 6.3 */
}

static PSYS_UNINSTRUMENTED bool write_file(int fd, const struct prepared *prepared)
{
	const size_t length = (uintptr_t)aspawn_image_end - (uintptr_t)aspawn_image;
	const size_t size = prepared->image.size;

	return (*image_file || psys_write(fd, aspawn_image, length) == (long)length) &&
	       psys_pwrite64(fd, prepared, size, IMAGE_COMMAND) == (long)size;
}

/* The parent has the watch too, as the memory is shared. The child's table is its own: no thread of
 * the host can replace the pool's descriptor there. */
static PSYS_UNINSTRUMENTED bool share_watch(struct control *control, const struct prepared *prepared)
{
	const struct image_data *image = &prepared->image;

	return image->cache ? aspawn_image_cache_is_intact(image->cache) &&
				      psys_fcntl(image->pool_fd, PSYS_F_SETFD, 0) >= 0 :
			      aspawn_watch_in_file(image->fd, IMAGE_WATCH, control->watch,
						   WATCH_SIZE) != NULL;
}

/* Returns why the image cannot be executed, a negative error number. */
static PSYS_UNINSTRUMENTED int execute_image(const struct prepared *prepared)
{
	const int fd = prepared->image.fd;
	char *const none[] = { NULL };
	char number[PSYS_DECIMAL_SIZE];
	char *const argv[] = { (char *)(uintptr_t)prepared->file, number, NULL };

	psys_i64_to_decimal(number, fd);
	return *image_file ? psys_execve(image_file, argv, none) :
			     psys_execveat(fd, "", argv, none, PSYS_AT_EMPTY_PATH);
}

static PSYS_UNINSTRUMENTED int enter(struct control *control, struct prepared *prepared)
{
	if (!keep_descriptors(prepared, control->report.childs_end))
		return -PSYS_EPERM;
	if (!control->surely && !aspawn_watch_is_supported())
		return -PSYS_ENOSYS;
	prepared->image.layout = IMAGE_LAYOUT;
	prepared->image.fd = make_image_file();
	if (prepared->image.fd < 0)
		return prepared->image.fd;
	if (!write_file(prepared->image.fd, prepared))
		return -PSYS_EIO;
	return share_watch(control, prepared) ? execute_image(prepared) : -PSYS_EBADF;
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
