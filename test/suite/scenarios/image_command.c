/* SPDX-License-Identifier: MIT */
/* How the prepared command comes into the image. */
#include "observe.h"

static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(1 + (i * 7 + i / 251) % 255);
}

/* Each argument after the name has all bytes. */
ROLE(has_all_bytes)
{
	for (int i = 1; i < argc; i++)
		for (size_t j = 0; argv[i][j]; j++)
			if ((unsigned char)argv[i][j] != byte_at(j))
				return 1;
	return argc;
}

static void check_command(size_t length, int count, struct aspawn_pool *pool, int mode)
{
	static char argument[128 * 1024];
	char *argv[64];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "has_all_bytes", NULL);

	argument[length] = '\0';
	for (size_t i = 0; i < length; i++)
		argument[i] = (char)byte_at(i);
	int before = 0;
	for (; self.argv[before]; before++) /* an emulator has arguments of its own */
		argv[before] = (char *)(uintptr_t)self.argv[before];
	for (int i = 0; i < count; i++)
		argv[before + i] = argument;
	argv[before + count] = NULL;
	command.argv = argv;
	command.pool = pool;
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	if (mode)
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), mode);
	check_ends(&child, (1 + count) << 8);
}

static int mode_here(void)
{

	return observe(&nothing, 1, "").mode;
}

TEST(a_command_of_all_bytes_and_any_size_comes_into_the_image)
{
	static struct aspawn_pool pool;
	const int mode = mode_here();

	for (int round = 0; round < 3; round++) {
		struct aspawn_pool *on = round ? &pool : NULL;
		for (size_t length = 1; length < 10000; length = length * 3 + 1)
			check_command(length, 1, on, mode);
		check_command(128 * 1024 - 1, 1, on, mode);
	}
	check_command(100000, 10, NULL, mode);
	release_pool(&pool);
}

TEST(a_command_too_large_for_the_stack_of_the_image_makes_a_copy)
{
	const struct psys_rlimit64 limit = { 320 * 1024, 320 * 1024 };
	const int mode = mode_here();

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &limit, NULL), 0);
	check_command(50000, 1, NULL, mode);
	check_command(70000, 1, NULL, mode == ASPAWN_MODE_IMAGE ? ASPAWN_MODE_FORK : mode);
}
