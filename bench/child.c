/* SPDX-License-Identifier: MIT */
/* Every benchmark starts this program, which ends at once. */
int main(void)
{
	return 0;
}
