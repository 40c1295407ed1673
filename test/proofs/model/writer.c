/* SPDX-License-Identifier: MIT */
/* The jobs execute this program: writer OUT ERR CODE SIGNAL MS [ATTACK]. ATTACK is a name of
 * attacks.h. The program writes the letters of letter_at() to standard output and standard error,
 * and afterwards the input to standard output.
 * The program sleeps for MS milliseconds, and ends by SIGNAL, if not 0, or exits with CODE. */
#define PSYS_DEFINE_MEMORY_FUNCTIONS
#include <syscall/string.h>
#include <syscall/syscall.h>
#include <syscall/time.h>

#include "attacks.h"
#include "letters.h"

int main(int argc, char **argv);

static int number(const char *text)
{
	int value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (*text - '0');
	return value;
}

static int write_letters(int fd, int count)
{
	char bytes[512];

	for (int done = 0; done < count;) {
		const int most = (int)sizeof bytes, rest = count - done,
			  size = rest < most ? rest : most;
		for (int i = 0; i < size; i++)
			bytes[i] = letter_at(done + i);
		const long written = psys_write(fd, bytes, (size_t)size);
		if (written < 0)
			return (int)written;
		done += (int)written;
	}
	return 0;
}

static int copy_input(void)
{
	char bytes[512];
	long length;

	while ((length = psys_read(0, bytes, sizeof bytes)) > 0)
		if (psys_write(1, bytes, (size_t)length) != length)
			return -1;
	return (int)length;
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 99;
	const int ms = number(argv[5]), signal = number(argv[4]);
	const struct psys_timespec time = { ms / 1000, ms % 1000 * 1000000L };

	if (argc > 6)
		attack(argv[6], "");
	if (write_letters(1, number(argv[1])) < 0 || write_letters(2, number(argv[2])) < 0 ||
	    copy_input() < 0)
		return 98;
	if (ms)
		psys_nanosleep(&time, NULL);
	if (signal)
		psys_tgkill(psys_getpid(), psys_gettid(), signal);
	return number(argv[3]);
}
