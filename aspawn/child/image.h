/* SPDX-License-Identifier: MIT */
/*
 * The image is a program of a few KiB in the library. A child executes the image to have its own
 * memory. Only a process with its own memory may change users, groups and oom scores. A copy of the
 * memory is not shared either, but costs what fork(2) costs.
 *
 * parent  sees by the actions that the command needs its own memory, and needs nothing in the
 *         parent's memory (decide.c). A helper then starts a child on shared memory.
 * helper  is suspended until the child has executed the image or has ended. The child is the
 *         caller's (CLONE_PARENT) unless it is private.
 * child   compares what execve(2) changes with what the child has (image_check.c). It goes on only
 *         if an exec would change no credential, limit or flag that an action can see.
 * child   makes a file without a name, with the image, a page, and the prepared command. Image and
 *         parent share the page, where the parent sees the last exec or why there was none. The
 *         child lets the descriptors of actions survive one exec, and executes the image.
 * image   maps page and command, closes the file, corrects the pointers in the command by the
 *         difference of the addresses, and sets FD_CLOEXEC again. Then the image does what a child
 *         in copied memory would do: it performs the actions, reports in the shared page, and
 *         executes the program.
 * helper  starts a child in a copy of the memory if the first child has not executed the image. The
 *         parent of the first child reaps that child, and nobody else can see this.
 *
 * If the library is built with ASPAWN_IMAGE_FILE, the path of an installed image, the child
 * executes the installed image. The file without a name then has no image, and is not executable.
 *
 * No action runs before the image: an exec never undoes an action, and no process that shares the
 * parent's memory changes credentials. Only the parent itself may change its credentials, later.
 */
#ifndef CHILD_IMAGE_H
#define CHILD_IMAGE_H

#include <aspawn/version.h>

#include "../action/prepared.h"
#include "../spawn/exec_watch.h"

enum {
	IMAGE_PAGE = 65536,             /* the largest page size of any architecture */
	IMAGE_WATCH = IMAGE_PAGE,       /* offset in the file of the page for exec_watch.h */
	IMAGE_COMMAND = 2 * IMAGE_PAGE, /* offset of the prepared command, up to the file's end */
	/* The watch lies close to the text, so few page tables are needed. */
	IMAGE_WATCH_AT = 0x400000 /* image.ld */ + IMAGE_PAGE,
};

/* An installed image takes only commands of the library that it was built with: the build defines a
 * checksum of the image's preprocessed source. Whatever the image reads and does counts, and nobody
 * keeps a list of members. An embedded image is always built with its library. */
#ifndef ASPAWN_IMAGE_BUILD
#define ASPAWN_IMAGE_BUILD ASPAWN_VERSION
#endif

/* True if this build of the library has an image. */
bool aspw_has_image(void);

/* Executes the image if the memory is MEMORY_EXECUTED, and returns if the image cannot be executed.
 * Otherwise does what aspw_perform_actions() does. */
int aspw_perform_in_image(void *arg, int write_end, void *mask, void *user_data, size_t length);

#endif
