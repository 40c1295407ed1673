/* SPDX-License-Identifier: MIT */
#ifndef ASPAWN_CHILD_MAIN_H
#define ASPAWN_CHILD_MAIN_H

/* The child's entry point, for the clone. */
int aspw_child_main(void *control);

#endif
