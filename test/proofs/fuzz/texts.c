/* SPDX-License-Identifier: MIT */
/* Writes texts of failures, statuses, outcomes and results to buffers of all sizes, and reads and
 * writes numbers. The input is a size, and the structures' bytes. */
#include "instrumented.h"

#include <inttypes.h>

#include <aspawn/queue.h>

#include "../../../aspawn/action/action_info.c"
#include "../../../aspawn/caller/text.c"
#include "../../../syscall/errno.c"
#include "../../../syscall/kernel_file.c"
#include "../../../syscall/string.c"

static struct {
	int result;
	struct aspawn_io io;
	struct aspawn_result of_job;
} given;

enum { OF_FAILURE, OF_STATUS, OF_IO, OF_JOB, TEXTS };

static size_t text_of(int what, char *to, size_t size)
{
	switch (what) {
	case OF_FAILURE:
		return aspawn_failure_text(to, size, &given.io.failure);
	case OF_STATUS:
		return aspawn_status_text(to, size, given.io.status);
	case OF_IO:
		return aspawn_io_text(to, size, given.result, &given.io);
	default:
		return aspawn_result_text(to, size, &given.of_job);
	}
}

/* Checks for each size that the text is cut off as by snprintf(3). */
static void check_text(int what, size_t size)
{
	static const size_t most[TEXTS] = { 255, 63, 319, 319 };
	char whole[320], *part = exact(NULL, size);
	const size_t length = text_of(what, whole, sizeof whole);

	check(length <= most[what] && strlen(whole) == length, "a text of another length");
	for (const char *at = whole; *at; at++)
		check((unsigned char)*at >= ' ' && *at != 0x7f, "a control character");
	check(text_of(what, part, size) == length, "another length in a smaller buffer");
	if (size)
		check(strlen(part) == (length < size ? length : size - 1) &&
			      !strncmp(part, whole, size - 1),
		      "another text in a smaller buffer");
	free(part);
}

static void check_numbers(uint64_t number)
{
	char digits[PSYS_DECIMAL_SIZE], expected[32];
	const char *at = digits;

	snprintf(expected, sizeof expected, "%" PRIu64, number);
	check(psys_u64_to_decimal(digits, number) == strlen(expected) && !strcmp(digits, expected),
	      "other digits");
	check(aspw_read_number(&at) == number && !*at, "another number");
	snprintf(expected, sizeof expected, "%" PRId64, (int64_t)number);
	check(psys_i64_to_decimal(digits, (int64_t)number) == strlen(expected) &&
		      !strcmp(digits, expected),
	      "other digits of a negative number");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const size_t room = next_byte(&input);
	struct aspawn_failure *failure = &given.io.failure;
	uint64_t number = 0;

	memset(&given, 0, sizeof given);
	given.result = -(int)next_byte(&input);
	given.io.size = sizeof given.io;
	given.io.outcome = next_byte(&input) % 16 - 1;
	given.io.status = (int)(next_number(&input) << (next_byte(&input) % 2 ? 8 : 0));
	failure->step = (int)(next_number(&input) - 10);
	failure->error = next_byte(&input) % 2 ? given.result : (int)(0 - next_number(&input));
	failure->kind = (uint32_t)next_number(&input);
	char *subject = next_line(&input);
	strncpy(failure->subject, subject, sizeof failure->subject - 1);
	free(subject);
	given.of_job.outcome = given.io.outcome;
	given.of_job.status = given.io.status;
	given.of_job.failure = *failure;
	given.of_job.survivors = next_byte(&input) % 2;
	check(strlen(aspawn_failure_name(failure)) <= 20, "a name that is too long");
	for (int what = 0; what < TEXTS; what++)
		check_text(what, room);
	for (int i = 0; i < 8; i++)
		number = number << 8 | next_byte(&input);
	check_numbers(number);
	return 0;
}
