/* SPDX-License-Identifier: MIT */
/* The child executes the image: image.h. */
#include "image.h"

#include <syscall/string.h>

enum {
	STACK_LEAST = 256 * 1024, /* bytes; the kernel gives a program 128 KiB at once */
	/* personality(2): of debuggers, of 32-bit systems, of programs of arm */
	HARMLESS = 0x40000 | 8 | 0x800000,
};

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

/* --- what an exec changes ---------------------------------------------------- */

/* Before Linux 5.16 the core dump of a child that a filter kills also kills the parent. */
static PSYS_UNINSTRUMENTED bool survives_filters(void)
{
	struct psys_utsname name;
	int version[2] = { 0, 0 };
	const char *at = name.release;

	if (psys_prctl(PSYS_PR_GET_SECCOMP, 0, 0, 0, 0) == 0)
		return true;
	if (psys_uname(&name) < 0)
		return false;
	for (int i = 0; i < 2; i++, at += *at == '.')
		for (; *at >= '0' && *at <= '9'; at++)
			version[i] = version[i] * 10 + (*at - '0');
	return version[0] > 5 || (version[0] == 5 && version[1] >= 16);
}

/* The image has the stack that the kernel gives it, not the one of a copy. */
static PSYS_UNINSTRUMENTED bool has_stack_limit(void)
{
	struct psys_rlimit64 limit;

	return psys_prlimit64(0, PSYS_RLIMIT_STACK, NULL, &limit) >= 0 &&
	       limit.rlim_cur >= STACK_LEAST;
}

/* The saved IDs, and those for files, become the effective ones. If the real ones are others, the
 * exec is that of a set-user-ID program. */
static PSYS_UNINSTRUMENTED bool keeps_ids(unsigned *user)
{
	unsigned real, effective, saved;

	if (psys_getresgid(&real, &effective, &saved) < 0 || real != effective ||
	    saved != effective || psys_setfsgid((unsigned)-1) != effective)
		return false;
	if (psys_getresuid(&real, &effective, &saved) < 0 || real != effective ||
	    saved != effective || psys_setfsuid((unsigned)-1) != effective)
		return false;
	*user = effective;
	return true;
}

/* Securebits change what an exec does, and one of them is cleared; the image is dumpable; and a
 * personality may give it other addresses. */
static PSYS_UNINSTRUMENTED bool keeps_flags(void)
{
	const int personality = psys_personality(0xffffffff);

	return psys_prctl(PSYS_PR_GET_SECUREBITS, 0, 0, 0, 0) == 0 &&
	       psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 && personality >= 0 &&
	       !(personality & ~HARMLESS);
}

/*
 * capabilities(7), "Transformation of capabilities during execve()". Root keeps what is in the
 * bounding set or inheritable; others keep what is ambient. So the permitted ones of root become
 * inheritable, which the kernel allows only of those in the bounding set. The image restores all
 * sets.
 */
static PSYS_UNINSTRUMENTED bool keeps_capabilities(struct prepared *prepared, unsigned user)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	const struct psys_cap_user_data *held = prepared->image.capabilities;

	if (psys_capget(&header, prepared->image.capabilities) < 0)
		return false;
	if (!user) {
		struct psys_cap_user_data kept[2] = { held[0], held[1] };
		kept[0].inheritable |= held[0].permitted;
		kept[1].inheritable |= held[1].permitted;
		return psys_capset(&header, kept) >= 0;
	}
	for (unsigned long i = 0; i < 64; i++)
		if (held[i / 32].permitted & 1U << i % 32 &&
		    psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_IS_SET, i, 0, 0) != 1)
			return false;
	return true;
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

static PSYS_UNINSTRUMENTED int make_file(void)
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

static PSYS_UNINSTRUMENTED void execute_image(int fd, const struct prepared *prepared)
{
	char *const none[] = { NULL };
	char number[PSYS_DECIMAL_SIZE];
	char *const argv[] = { (char *)(uintptr_t)prepared->file, number, NULL };

	psys_i64_to_decimal(number, fd);
	if (*image_file)
		psys_execve(image_file, argv, none);
	else
		psys_execveat(fd, "", argv, none, PSYS_AT_EMPTY_PATH);
}

/* Returns if the image cannot be used. */
static PSYS_UNINSTRUMENTED void enter(struct control *control, struct prepared *prepared)
{
	unsigned user;

	if (!survives_filters() || !has_stack_limit() || !keeps_ids(&user) || !keeps_flags() ||
	    !keeps_capabilities(prepared, user) || !aspawn_watch_is_supported())
		return;
	psys_prctl(PSYS_PR_GET_NAME, (uintptr_t)prepared->image.name, 0, 0, 0);
	const int fd = make_file();
	prepared->image.fd = fd;
	prepared->image.layout = IMAGE_LAYOUT;
	if (fd < 0 || !keep_descriptors(prepared, control->report.childs_end) ||
	    !write_file(fd, prepared))
		return;
	/* The parent has the page too, as the memory is shared. */
	if (aspawn_watch_in_file(fd, IMAGE_WATCH, control->watch, WATCH_SIZE))
		execute_image(fd, prepared);
}

PSYS_UNINSTRUMENTED int aspawn_perform_in_image(void *arg, int write_end, void *mask,
						void *user_data, size_t length)
{
	struct control *control = arg;

	if (!control->executes_first)
		return aspawn_perform(arg, write_end, mask, user_data, length);
	enter(control, user_data);
	return 127;
}
