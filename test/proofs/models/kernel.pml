/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does for all models: processes that end, and futexes.
 *
 * A wait has no timeout here as long as the kernel clears the words of ended processes: the library
 * looks again after 50 ms, but no protocol may need that. In a sandbox that does not clear them
 * (clears == false) the sleeper goes on when it would no longer find what it waits for (is_there).
 */
bool clears = true;

/* One sleeper for each word. */
#define WAIT(word, sleeps, value, is_there) \
	atomic { \
		if \
		:: word == (value) -> sleeps = true \
		:: else \
		fi \
	} \
	(!sleeps || (!clears && !(is_there))); \
	sleeps = false

#define WAKE(sleeps) sleeps = false
