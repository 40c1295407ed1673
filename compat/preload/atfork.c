/*
 * pthread_atfork() of the preload. That of glibc is in a part of it that is linked
 * statically, with the startup files of a shared library, which the preload does without:
 * they need symbols to be looked up in every program that loads it, and on many systems
 * have no note of shadow stacks, so that the whole library would have none.
 */
#include <pthread.h>

#ifdef __GLIBC__
/* What that calls. The last is by what the library would be known when it is unloaded,
 * which it never is (-z nodelete). */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *library);

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	static char library;

	return __register_atfork(prepare, parent, child, &library);
}
#endif
