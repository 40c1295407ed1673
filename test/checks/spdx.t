#!/bin/sh
# SPDX-License-Identifier: MIT
# Each source file says in its first lines by which licence it is.
. "$(dirname "$0")/tap.sh"

says_its_licence()
{
	! find Makefile .ci aspawn bench bindings cli compat debian examples include packaging syscall test tools -type f \
		\( -name '*.[chS]' -o -name '*.cc' -o -name '*.mk' -o -name '*.py' -o -name '*.sh' -o -name '*.t' -o -perm -u=x \) \
		-exec awk 'FNR <= 2 && /SPDX-License-Identifier: MIT/ { found[FILENAME] }
			END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in found)) print ARGV[i] }' {} + | grep .
}

check "each source file has its SPDX-License-Identifier" says_its_licence
finish
