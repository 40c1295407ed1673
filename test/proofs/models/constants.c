/* SPDX-License-Identifier: MIT */
/* Prints the values of the library's headers that the models use,
 * as definitions of the preprocessor. */
#include <stdio.h>

#include "aspawn/helper/tree.h"
#include "aspawn/queue/queue.h"

#define SHOW(name) printf("#define %s %d\n", #name, (int)name)

int main(void)
{
	/* aspawn/spawn/stack.h */
	SHOW(FREE);
	SHOW(RUNNING);
	SHOW(SHARES_FILES);
	SHOW(NOT_ENDED);
	SHOW(REAPED_NEXT);
	SHOW(ENDED);
	SHOW(NO_HELPER);
	SHOW(CLONING);
	SHOW(HELPING);
	/* aspawn/queue/queue.h */
	SHOW(JOB_FREE);
	SHOW(JOB_QUEUED);
	SHOW(JOB_TAKEN);
	SHOW(JOB_ENDED);
	SHOW(JOB_HELD);
}
