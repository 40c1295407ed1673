/* SPDX-License-Identifier: MIT */
/* Texts, numbers and the clock. Runs in the tool and in the reaper. */
#define PSYS_DEFINE_MEMORY_FUNCTIONS /* compilers call memcpy() and memset() */
#include "cli.h"

void text_add(struct text *text, const char *more)
{
	text->length += psys_strlcpy(text->to + text->length, more, text->size - text->length);
	if (text->length >= text->size)
		text->length = text->size - 1;
}

void text_add_number(struct text *text, uint64_t number)
{
	char digits[PSYS_DECIMAL_SIZE];

	psys_u64_to_decimal(digits, number);
	text_add(text, digits);
}

/* The library has the names of errors and signals in texts of its own. */
void text_add_error(struct text *text, int error)
{
	const struct aspawn_io io = { .size = sizeof io };
	char name[TEXT_SIZE];

	aspawn_io_text(name, sizeof name, error, &io);
	text_add(text, name);
}

void text_add_signal(struct text *text, int signal)
{
	static const struct {
		int signal;
		const char *name;
	} harmless[] = {
		/* those that end nothing, which the library does not name */
		{ PSYS_SIGCHLD, "SIGCHLD" }, { PSYS_SIGCONT, "SIGCONT" },
		{ PSYS_SIGSTOP, "SIGSTOP" }, { PSYS_SIGTSTP, "SIGTSTP" },
		{ PSYS_SIGTTIN, "SIGTTIN" }, { PSYS_SIGTTOU, "SIGTTOU" },
		{ PSYS_SIGURG, "SIGURG" },   { PSYS_SIGWINCH, "SIGWINCH" },
	};
	char name[64];

	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (harmless[i].signal == signal) {
			text_add(text, harmless[i].name);
			return;
		}
	aspawn_status_text(name, sizeof name, signal);
	text_add(text, name + sizeof "killed by " - 1);
}

/* 64-bit numbers are not divided: 32-bit compilers call a function for that, which is not linked. */
void text_add_seconds(struct text *text, int64_t ms)
{
	char digits[PSYS_DECIMAL_SIZE + 3] = "000";
	const size_t length = psys_u64_to_decimal(digits + 3, (uint64_t)ms);
	const char *from = digits + (length < 4 ? length - 1 : 3);

	while (*from) {
		const char one[] = { *from++, '\0' };
		text_add(text, one);
		if (from == digits + length)
			text_add(text, ".");
	}
}

/* Returns the length of the character in UTF-8 at the beginning of the string; 0: it is invalid. */
static size_t utf8_length(const unsigned char *s)
{
	const size_t length = *s < 0x80 ? 1 :
			      *s < 0xc2 ? 0 :
			      *s < 0xe0 ? 2 :
			      *s < 0xf0 ? 3 :
			      *s < 0xf5 ? 4 :
					  0;

	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void text_add_json(struct text *text, const char *string)
{
	static const char hex[] = "0123456789abcdef";

	text_add(text, "\"");
	for (const unsigned char *s = (const void *)string; *s;) {
		const size_t length = utf8_length(s);
		char one[8] = { (char)*s };
		if (length == 0)
			psys_strlcpy(one, "\\ufffd", sizeof one);
		else if (*s < ' ' || *s == 0x7f)
			psys_memcpy(one,
				    (const char[]){ '\\', 'u', '0', '0', hex[*s >> 4], hex[*s & 15],
						    '\0' },
				    7);
		else if (*s == '"' || *s == '\\')
			psys_memcpy(one, (const char[]){ '\\', (char)*s, '\0' }, 3);
		else
			psys_memcpy(one, s, length);
		text_add(text, one);
		s += length ? length : 1;
	}
	text_add(text, "\"");
}

bool read_number(const char **from, uint64_t *number)
{
	const char *begin = *from;

	*number = 0;
	for (; **from >= '0' && **from <= '9'; ++*from) {
		if (*number > UINT64_MAX >> 4)
			return false;
		*number = *number * 10 + (unsigned)(**from - '0');
	}
	return *from != begin;
}

void text_write(const struct text *text, int fd)
{
	for (size_t at = 0; at < text->length;) {
		const long r = psys_write(fd, text->to + at, text->length - at);
		if (r <= 0 && r != -PSYS_EINTR)
			return;
		at += r > 0 ? (size_t)r : 0;
	}
}

int64_t now_ms(void)
{
	struct psys_timespec time;

	if (psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time) < 0)
		return 0;
	return time.tv_sec * 1000 + (uint32_t)time.tv_nsec / 1000000;
}
