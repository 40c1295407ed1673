/* SPDX-License-Identifier: MIT */
/* Writes texts, and reads numbers and the clock. Runs in the tool and in the reaper. */
#define PSYS_DEFINE_MEMORY_FUNCTIONS /* compilers call memcpy() and memset() */
#include <stdarg.h>

#include "cli.h"

void text_add(struct text *text, const char *more)
{
	text->length += psys_strlcpy(text->at + text->length, more, sizeof text->at - text->length);
	if (text->length >= sizeof text->at)
		text->length = sizeof text->at - 1;
}

/* 64-bit numbers are not divided: for a division 32-bit compilers call a function that is not
 * linked. */
static void add_seconds(struct text *text, uint64_t ms)
{
	char digits[PSYS_DECIMAL_SIZE + 3] = "000";
	const size_t length = psys_u64_to_decimal(digits + 3, ms);
	const char *last = digits + length, fraction[] = { '.', last[0], last[1], last[2], '\0' };

	digits[length] = '\0';
	text_add(text, length < 4 ? "0" : digits + 3);
	text_add(text, fraction);
}

/* The library's texts contain the names of errors and signals. */
static void add_error(struct text *text, int error)
{
	const struct aspawn_io io = { .size = sizeof io };
	char name[320];

	aspawn_io_text(name, sizeof name, error, &io);
	text_add(text, name);
}

static void add_signal(struct text *text, int signal)
{
	static const struct {
		int signal;
		const char *name;
	} harmless[] = { /* the library does not name signals that end nothing */
			 { PSYS_SIGCHLD, "SIGCHLD" }, { PSYS_SIGCONT, "SIGCONT" },
			 { PSYS_SIGSTOP, "SIGSTOP" }, { PSYS_SIGTSTP, "SIGTSTP" },
			 { PSYS_SIGTTIN, "SIGTTIN" }, { PSYS_SIGTTOU, "SIGTTOU" },
			 { PSYS_SIGURG, "SIGURG" },   { PSYS_SIGWINCH, "SIGWINCH" }
	};
	char status[64];

	aspawn_status_text(status, sizeof status, signal);
	const char *name = status + sizeof "killed by " - 1;
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		name = harmless[i].signal == signal ? harmless[i].name : name;
	text_add(text, name);
}

/* Returns the length of the UTF-8 character at the beginning of the string, or 0 if it is
 * invalid. */
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
	const bool is_invalid = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
				(*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f);
	return is_invalid ? 0 : length;
}

/* Cuts a long name or value of the user: the line must have space for the error. */
static void add_short(struct text *text, const char *string)
{
	char cut[132];

	if (psys_strlcpy(cut, string, sizeof cut) >= sizeof cut)
		psys_strlcpy(cut + sizeof cut - sizeof "...", "...", sizeof "...");
	text_add(text, cut);
}

static void add_json(struct text *text, const char *string)
{
	static const char hex[] = "0123456789abcdef";

	text_add(text, "\"");
	while (*string) {
		const unsigned char c = (unsigned char)*string;
		const char escaped[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], '\0' };
		const size_t length = utf8_length((const void *)string);
		char plain[5];
		psys_strlcpy(plain, string, length + 1);
		text_add(text, !length                          ? "\\ufffd" :
			       c < ' ' || c == '"' || c == '\\' ? escaped :
								  plain);
		string += length ? length : 1;
	}
	text_add(text, "\"");
}

/* Adds a value. A number of UINT64_MAX, a negative time and a string NULL are null. */
static void add_value(struct text *text, char conversion, va_list *values)
{
	char digits[PSYS_DECIMAL_SIZE];
	uint64_t number = 0;
	const char *string = "";

	if (conversion == 'd' || conversion == 't')
		number = va_arg(*values, uint64_t);
	else if (conversion == 's' || conversion == 'n' || conversion == 'j')
		string = va_arg(*values, const char *);
	psys_u64_to_decimal(digits, number);
	if (number > INT64_MAX || !string)
		text_add(text, "null");
	else if (conversion == 't')
		add_seconds(text, number);
	else if (conversion == 's')
		text_add(text, string);
	else if (conversion == 'd')
		text_add(text, digits);
	else if (conversion == 'n')
		add_short(text, string);
	else if (conversion == 'j')
		add_json(text, string);
	else if (conversion == 'e')
		add_error(text, va_arg(*values, int));
	else if (conversion == 'g')
		add_signal(text, va_arg(*values, int));
}

static void add_values(struct text *text, const char *format, va_list *values)
{
	for (char one[] = "?"; *format; format++) {
		one[0] = *format;
		if (*format == '%')
			add_value(text, *++format, values);
		else
			text_add(text, one);
	}
}

void text_format(struct text *text, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	add_values(text, format, &values);
	va_end(values);
}

bool read_number(const char **from, uint64_t *number)
{
	const char *begin = *from;

	for (*number = 0; **from >= '0' && **from <= '9'; ++*from) {
		if (*number > UINT64_MAX >> 4)
			return false;
		*number = *number * 10 + (unsigned)(**from - '0');
	}
	return *from != begin;
}

int text_write(const struct text *text, int fd)
{
	for (size_t at = 0; at < text->length;) {
		const long r = psys_write(fd, text->at + at, text->length - at);
		if (r <= 0 && r != -PSYS_EINTR)
			return (int)r;
		at += r > 0 ? (size_t)r : 0;
	}
	return 0;
}

/* The line has no control character, not even of C1, whatever a name contains. */
void say(const char *format, ...)
{
	struct text text;
	va_list values;

	text_set(&text, "aspawn: ");
	va_start(values, format);
	add_values(&text, format, &values);
	va_end(values);
	for (unsigned char *c = (void *)text.at; *c;) {
		const size_t length = utf8_length(c);
		const bool is_printable =
			length && *c >= ' ' && *c != 0x7f && (*c != 0xc2 || c[1] >= 0xa0);
		if (!is_printable)
			*c = '?';
		c += is_printable ? length : 1;
	}
	text_add(&text, "\n");
	text_write(&text, 2);
}

long file_read(int directory, const char *path, char *to, size_t size)
{
	const int fd = psys_openat(directory, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, to, size - 1);

	psys_close(fd); /* close(-1) is harmless */
	to[length > 0 ? length : 0] = '\0';
	return length;
}

int64_t now_ms(void)
{
	struct psys_timespec time;

	return psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time) < 0 ?
		       0 :
		       time.tv_sec * 1000 + (uint32_t)time.tv_nsec / 1000000;
}
