/* SPDX-License-Identifier: MIT */
#ifndef SPAWN_CHILD_MAIN_H
#define SPAWN_CHILD_MAIN_H

/* The clone begins the child here. */
int aspw_child_main(void *control);

#endif
