/* SPDX-License-Identifier: MIT */
#include <syscall/vdso.h>
extern int fd;
extern const char *path;
extern char *const argv[], *const envp[];
