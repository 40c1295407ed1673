/* Which version is loaded. */
#include <aspawn/version.h>

int aspawn_version(void)
{
	return ASPAWN_VERSION;
}
