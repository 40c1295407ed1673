/* SPDX-License-Identifier: MIT */
/* See resources.h. */
#define _GNU_SOURCE
#include "resources.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "methods.h"

enum {
	FOR_A_CHECK = 2, /* its pipe and its pidfd */
	FOR_A_START = 8, /* the pipe's other end, files of the libc, epoll, the signal pipe */
};

static size_t open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	if (!directory)
		return 3; /* a guess */
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* ".", "..", and the directory itself */
}

bool resources_descriptors(size_t concurrency)
{
	const rlim_t needed = open_descriptors() + FOR_A_CHECK * concurrency + FOR_A_START;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		perror("poller: the limit of descriptors");
		return false;
	}
	if (limit.rlim_cur >= needed)
		return true;
	if (limit.rlim_max < needed) {
		fprintf(stderr,
			"poller: --concurrency %zu needs %llu descriptors, the hard limit is %llu (ulimit -Hn)\n",
			concurrency, (unsigned long long)needed, (unsigned long long)limit.rlim_max);
		return false;
	}
	methods_limit_descriptors(&limit);
	limit.rlim_cur = needed;
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return true;
	fprintf(stderr, "poller: the limit of descriptors to %llu: %s\n",
		(unsigned long long)needed, strerror(errno));
	return false;
}

bool resources_memory(long mebibytes)
{
	size_t size = (size_t)mebibytes << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("poller: --resident");
		return false;
	}
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	return true;
}
