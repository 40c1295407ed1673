/* SPDX-License-Identifier: MIT */
extern struct aspawn_action actions[];
extern size_t count;
