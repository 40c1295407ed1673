/* SPDX-License-Identifier: MIT */
/* Returns the version of the loaded library. */
#include <aspawn/version.h>

int aspawn_version(void)
{
	return ASPAWN_VERSION;
}
