/* SPDX-License-Identifier: MIT */
/*
 * loongarch64: structures and constants are those of most architectures. clone takes
 * child_tid before tls (no CONFIG_CLONE_BACKWARDS).
 */
#ifndef PSYS_LOONGARCH64_LAYOUT_H
#define PSYS_LOONGARCH64_LAYOUT_H

#endif
