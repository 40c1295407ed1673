/* SPDX-License-Identifier: MIT */
/*
 * The image: a program of a few KiB in the library, which a child executes to have memory of its
 * own. Users, groups and oom scores belong to a process that shares no memory; a copy of the
 * memory is one too, but costs what fork(2) costs.
 *
 * parent  sees by the actions that the command needs memory of its own, and that nothing in the
 *         command needs the parent's memory (decide.c). It has a helper start a child that shares
 *         the memory.
 * helper  is suspended until the child has executed the image or has ended. The child is the
 *         caller's (CLONE_PARENT) unless it is private.
 * child   compares what execve(2) changes with what it has (image_check.c). It goes on only if an
 *         exec would change no credential, limit or flag that an action can see.
 * child   makes a file without a name, of the image, a page that the image and the parent share, by
 *         which the parent sees the last exec or why there was none, and the prepared command. Lets
 *         the descriptors that actions use survive one exec, and executes the image.
 * image   maps page and command, closes the file, corrects the pointers in the command by the
 *         difference of the addresses, sets FD_CLOEXEC again, and then is what a child in a copy of
 *         the memory would be: it performs the actions, reports in the shared page, and executes the
 *         program.
 * helper  if the child has not executed the image: starts a child in a copy of the memory. The
 *         first one is reaped, which nobody else can see, by who is its parent.
 *
 * A library that is built with ASPAWN_IMAGE_FILE, the path of an installed image, executes that one.
 * The file without a name then begins with nothing, and is not executable.
 *
 * No action runs before the image does: what one changes is never lost to an exec, and no process
 * that shares the parent's memory changes its credentials. Only the parent itself may, later.
 */
#ifndef CHILD_IMAGE_H
#define CHILD_IMAGE_H

#include <aspawn/version.h>

#include "../action/prepared.h"
#include "../spawn/exec_watch.h"

enum {
	IMAGE_PAGE = 65536,             /* the largest page size of any architecture */
	IMAGE_WATCH = IMAGE_PAGE,       /* offset in the file of what is for exec_watch.h */
	IMAGE_COMMAND = 2 * IMAGE_PAGE, /* ... and of the prepared command, to the file's end */
	/* The address of the watch is close to that of the text: few page tables are needed. */
	IMAGE_WATCH_AT = 0x400000 /* image.ld */ + IMAGE_PAGE,
};

/* An installed image takes a command of the library that it was built with, and of no other: the
 * build defines this as a checksum of the image's source, preprocessed. So all that it reads and does
 * counts, and no list of members has to be kept. An embedded image is always built with its
 * library. */
#ifndef ASPAWN_IMAGE_BUILD
#define ASPAWN_IMAGE_BUILD ASPAWN_VERSION
#endif

/* True if this build of the library has one. */
bool aspw_has_image(void);

/* As aspw_perform_actions(), but executes the image with MEMORY_EXECUTED, or returns. */
int aspw_perform_in_image(void *arg, int write_end, void *mask, void *user_data, size_t length);

#endif
