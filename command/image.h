/* SPDX-License-Identifier: MIT */
/*
 * The image: a program of a few KiB in the library, which a child executes to have memory of its
 * own. Users, groups and oom scores belong to a process that shares no memory; a copy of the
 * memory is one too, but costs what fork(2) costs.
 *
 * parent  sees by the actions that the command needs memory of its own, and that nothing in the
 *         command needs the parent's memory (aspawn_requirements()). Compares what execve(2)
 *         changes with what it has: only if an exec would change no credential, limit or flag that
 *         an action can see, it starts a child that shares the memory. Is suspended until the child
 *         has executed the image or has ended, unless that has worked before with a page of the
 *         pool (image_cache.h).
 * child   writes a file without a name: the image, the prepared command as it lies on the stack,
 *         and, if there is none of a pool, a page that the image and the parent share, by which the
 *         parent sees the last exec or why there was none.
 *         Lets the descriptors that actions use survive one exec, and executes the file.
 * image   maps the command at a fixed address and the page, corrects the pointers in the command
 *         by the difference of the addresses, sets FD_CLOEXEC again, and then is what a child in a
 *         copy of the memory would be: it performs the actions, reports in the shared page, and
 *         executes the program.
 * parent  if the child could not execute the image: reaps it, which nobody else can see, and
 *         starts a child in a copy of the memory.
 *
 * A library that is built with ASPAWN_IMAGE_FILE, the path of an installed image, executes that one.
 * Only the command and the shared page are then in a file without a name, which is not executable,
 * and whose number is the image's argument.
 *
 * No action runs before the image does: what one changes is never lost to an exec, and a process
 * that shares the parent's memory never has other credentials than the parent.
 */
#ifndef COMMAND_IMAGE_H
#define COMMAND_IMAGE_H

#include <aspawn/version.h>

#include "image_cache.h"

enum {
	IMAGE_PAGE = 65536,                       /* the largest page size of any architecture */
	IMAGE_WATCH = IMAGE_PAGE,                 /* offset in the file of what is for watch.h */
	IMAGE_COMMAND = IMAGE_WATCH + WATCH_SIZE, /* offset of the prepared command */
	/* The addresses are close to each other, so that few page tables are needed. */
	IMAGE_AT = 0x400000, /* of the text: image.ld */
	IMAGE_POOL_WATCH_AT = IMAGE_AT + IMAGE_PAGE,
	IMAGE_WATCH_AT = IMAGE_POOL_WATCH_AT + IMAGE_PAGE,
	IMAGE_COMMAND_AT = IMAGE_WATCH_AT + WATCH_SIZE,
	IMAGE_COMMAND_MOST = 0x4000000, /* bytes */
};

/* Of another version, or another build, an installed image must not take a command. */
enum {
	IMAGE_LAYOUT = ASPAWN_VERSION << 14 |
		       (int)(sizeof(struct prepared) + 3 * sizeof(struct aspawn_action) +
			     5 * sizeof(struct control))
};

/* True if this build of the library has an image, and size bytes of a command fit in it. */
bool aspawn_image_fits(size_t size);

/* True if an exec would change nothing that an action can see. Stores what the image restores. */
bool aspawn_exec_keeps_all(struct prepared *prepared);

/* As aspawn_perform(), but executes the image if control->executes_first, or returns. */
int aspawn_perform_in_image(void *arg, int write_end, void *mask, void *user_data, size_t length);

#endif
