/* SPDX-License-Identifier: MIT */
/* The child executes the image: image.h. */
#include "image.h"
#include "packed.h"

#include <syscall/string.h>

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

bool aspawn_image_fits(size_t size)
{
	return HAS_IMAGE && size <= IMAGE_COMMAND_MOST;
}

bool aspawn_image_is_installed(void)
{
	return *image_file;
}

/* --- the file ------------------------------------------------------------------ */

/* If the exec would close the descriptor, keeps it open. */
static PSYS_UNINSTRUMENTED bool keep_descriptor(struct image_data *image, int fd)
{
	if (fd < 0 || psys_fcntl(fd, PSYS_F_GETFD, 0) <= 0)
		return true;
	image->kept[image->kept_count++] = fd;
	return psys_fcntl(fd, PSYS_F_SETFD, 0) >= 0;
}

/* The library's, and those of the caller's that actions use. */
static PSYS_UNINSTRUMENTED bool keep_descriptors(struct prepared *prepared, int report)
{
	prepared->image.kept_count = 0;
	bool ok = keep_descriptor(&prepared->image, report);

	for (size_t i = 0; i < prepared->pipe_count && ok; i++)
		ok = keep_descriptor(&prepared->image, prepared->pipes[i].childs_end);
	for (size_t i = 0; i < prepared->count && ok; i++) {
		const struct aspawn_action *action = &prepared->actions[i];
		const size_t uses = aspawn_action_infos[action->kind].uses;

		ok = !uses || keep_descriptor(&prepared->image, member_int(action, uses));
	}
	return ok;
}

static PSYS_UNINSTRUMENTED int make_file(unsigned flags, bool is_program)
{
	const int fd = psys_memfd_create(
		"aspawn", flags | (is_program ? PSYS_MFD_EXEC : PSYS_MFD_NOEXEC_SEAL));

	/* Linux before 6.3 does not know the flag. */
	return fd == -PSYS_EINVAL ? psys_memfd_create("aspawn", flags) : fd;
}

PSYS_UNINSTRUMENTED int aspawn_image_make_file(unsigned flags)
{
	const size_t length = (uintptr_t)aspawn_image_end - (uintptr_t)aspawn_image;
	const int fd = make_file(flags, !*image_file);

	if (fd < 0 || *image_file || psys_write(fd, aspawn_image, length) == (long)length)
		return fd;
	psys_close(fd);
	return -PSYS_EIO;
}

int aspawn_image_is_in_file(int fd)
{
	char part[256];
	long length = 0;

	for (const char *at = aspawn_image; at < aspawn_image_end; at += length) {
		length = psys_pread64(fd, part, sizeof part, at - aspawn_image);
		if (length <= 0 || length > aspawn_image_end - at ||
		    psys_memcmp(part, at, (size_t)length))
			return length < 0 ? (int)length : 0;
	}
	return 1;
}

/* The parent has the watch too, as the memory is shared. Nobody else has the file, which is in the
 * child's own table. */
static PSYS_UNINSTRUMENTED int add_watch(struct control *control, struct prepared *prepared, int fd)
{
	prepared->image.watch_fd = fd;
	prepared->image.watch_offset = IMAGE_WATCH;
	if (fd < 0)
		return fd;
	return psys_ftruncate(fd, IMAGE_FILE_SIZE) >= 0 &&
			       aspawn_watch_in_file(fd, IMAGE_WATCH, control->watch) ?
		       fd :
		       -PSYS_EIO;
}

/* In the child's table no thread of the host can replace the pool's descriptor. A fork of the host's
 * inherits no slot. */
static PSYS_UNINSTRUMENTED int kept_image_file(struct control *control, struct prepared *prepared)
{
	if (!aspawn_image_cache_is_intact(prepared->image.cache))
		return -PSYS_EBADF;
	const int r = add_watch(control, prepared, make_file(0, false));
	if (r < 0)
		return r;
	psys_madvise(control->watch, WATCH_SIZE, PSYS_MADV_DONTFORK);
	return *image_file ? 0 : aspawn_image_cache_program(prepared->image.cache);
}

/* fd: of the image, unless it is installed. Returns why it cannot be executed, a negative error
 * number. */
static PSYS_UNINSTRUMENTED int execute_image(int fd, const struct prepared *prepared)
{
	/* No program has a longer name, and the caller has reserved no room for one. */
	const bool is_name = psys_strlen(prepared->file) < PSYS_PATH_MAX;
	char *const argv[] = { (char *)(uintptr_t)(is_name ? prepared->file : "aspawn"), NULL };
	const size_t size = prepared->image.size;
	_Alignas(packed_word) char room[packed_room(size)];
	char **strings = pack(room, prepared, size);

	/* Without random addresses an exec takes a fourth less. Those of the image are fixed. */
	if (!prepared->image.filtered)
		psys_personality((unsigned)prepared->image.personality | ADDR_NO_RANDOMIZE);

	return *image_file ? psys_execve(image_file, argv, strings) :
			     psys_execveat(fd, "", argv, strings, PSYS_AT_EMPTY_PATH);
}

static PSYS_UNINSTRUMENTED int enter(struct control *control, struct prepared *prepared)
{
	if (!keep_descriptors(prepared, control->report.childs_end))
		return -PSYS_EPERM;
	if (!control->surely && !aspawn_watch_is_supported())
		return -PSYS_ENOSYS;
	prepared->image.build = ASPAWN_IMAGE_BUILD;
	const int fd = prepared->image.cache ?
			       kept_image_file(control, prepared) :
			       add_watch(control, prepared, aspawn_image_make_file(0));
	return fd < 0 ? fd : execute_image(fd, prepared);
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
	prepared->report_fd = write_end;
	prepared->report.step = ASPAWN_STEP_EXEC;
	aspawn_fail(prepared, error, *image_file ? image_file : "memfd:aspawn");
}
