/* SPDX-License-Identifier: MIT */
/* The jobs of model.c run this program. The program writes the first argument, sleeps for the
 * milliseconds of the second, and exits with the third. */
#include <syscall/string.h>
#include <syscall/syscall.h>

int main(int argc, char **argv);

static int number(const char *text)
{
	int value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (*text - '0');
	return value;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 99;
	const int ms = number(argv[2]);
	const struct psys_timespec time = { ms / 1000, ms % 1000 * 1000000L };
	if (psys_write(1, argv[1], psys_strlen(argv[1])) < 0)
		return 98;
	if (ms)
		psys_nanosleep(&time, NULL);
	return number(argv[3]);
}
