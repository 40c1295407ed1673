/* SPDX-License-Identifier: MIT */
/*
 * The preload, which is linked without startup files, has its own pthread_atfork(). The startup
 * files would add symbol lookups to the start of every program that loads the preload. On many
 * systems they also lack the note of shadow stacks, so the whole library would lack it. glibc's
 * pthread_atfork() is a static function that needs the startup files.
 */
#include <pthread.h>

#ifdef __GLIBC__
/* The last argument identifies the library when it is unloaded; the preload never is
 * (-z nodelete). */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *library);

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	static char library;

	return __register_atfork(prepare, parent, child, &library);
}
#endif
