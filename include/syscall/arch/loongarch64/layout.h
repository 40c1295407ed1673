/*
 * loongarch64: its kernel lays out and numbers everything as most do. clone takes
 * child_tid before tls (no CONFIG_CLONE_BACKWARDS).
 */
#ifndef PSYS_LOONGARCH64_LAYOUT_H
#define PSYS_LOONGARCH64_LAYOUT_H

#endif
