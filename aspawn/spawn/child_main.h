/* SPDX-License-Identifier: MIT */
#ifndef SPAWN_CHILD_MAIN_H
#define SPAWN_CHILD_MAIN_H

/* The child's entry point, for the clone. */
int aspw_child_main(void *control);

#endif
