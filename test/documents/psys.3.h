/* SPDX-License-Identifier: MIT */
extern int fd;
extern const char *path;
extern char *const argv[], *const envp[];
