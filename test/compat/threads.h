/* SPDX-License-Identifier: MIT */
/* Calls a function in many threads at once. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>

#include "../suite/harness.h"

/* Each thread calls function(&failed): the function stores 1 in failed after a failure. */
static inline void check_in_threads(int count, void *(*function)(void *failed))
{
	pthread_t threads[32];
	int failed = 0;

	CHECK(count <= 32);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, function, &failed), 0);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
	CHECK_EQUAL(failed, 0);
}

#endif
