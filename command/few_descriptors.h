/* SPDX-License-Identifier: MIT */
/* How many descriptors the caller has. */
#ifndef COMMAND_FEW_DESCRIPTORS_H
#define COMMAND_FEW_DESCRIPTORS_H

#include <stdbool.h>

#include <aspawn/command.h>

/*
 * True if to copy the caller's descriptors costs less than to wait for another process's turn. A
 * wrong answer costs time and nothing else. pool: keeps the answer for some starts; NULL: none.
 */
bool aspawn_descriptors_are_few(struct aspawn_pool *pool);

#endif
