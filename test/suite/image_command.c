/* SPDX-License-Identifier: MIT */
/* How the prepared command comes into the image: as strings. */
#include "../../command/packed.h"
#include "observe.h"

static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);

/* --- packing ---------------------------------------------------------------------- */

enum { MOST = 300000 };

/* Lays the strings out as an exec does, from an address of any alignment. */
static void copy_strings(char **strings, char *to)
{
	for (; *strings; strings++) {
		const size_t size = psys_strlen(*strings) + 1;
		CHECK(size <= 128 * 1024);
		*strings = psys_memcpy(to, *strings, size);
		to += size;
	}
}

static void check_packs(const void *bytes, size_t size, size_t offset)
{
	static _Alignas(16) char room[2 * MOST], other[2 * MOST];
	size_t unpacked;

	psys_memset(room, 'r', packed_room(size) + 100);
	char **strings = pack(room, bytes, size);
	CHECK((char *)strings == room);
	for (size_t i = packed_room(size); i < packed_room(size) + 100; i++)
		CHECK_EQUAL(room[i], 'r');
	copy_strings(strings, other + offset);
	const char *same = unpack(strings, &unpacked);
	CHECK_EQUAL(unpacked, size);
	CHECK_EQUAL((uintptr_t)same % PACKED_ALIGN, 0);
	CHECK(same >= other + offset);
	CHECK_EQUAL(psys_memcmp(same, bytes, size), 0);
}

TEST(bytes_are_packed_and_unpacked)
{
	static _Alignas(16) unsigned char bytes[MOST];
	enum { STRING = PACKED_BLOCK * PACKED_BLOCKS };
	const size_t word = sizeof(long);
	const size_t sizes[] = { STRING - word, STRING, STRING + word, 2 * STRING, MOST };

	for (int kind = 0; kind < 5; kind++) {
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (unsigned char)(kind == 0 ? 0 :
						   kind == 1 ? 255 :
						   kind == 2 ? i :
						   kind == 3 ? i * 7 + i / 251 :
							       i % 17 == 0);
		for (size_t words = 1; words < 200; words++)
			check_packs(bytes, words * word, words % 17);
		for (size_t i = 0; kind > 2 && i < sizeof sizes / sizeof *sizes; i++)
			check_packs(bytes, sizes[i], i * 5 % 16);
	}
	for (int i = 0; i < 500; i++) {
		CHECK_EQUAL(psys_getrandom(bytes, 2048, 0), 2048);
		check_packs(bytes, 2048, (size_t)i % 16);
	}
}

/* --- commands ------------------------------------------------------------------ */

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(1 + (i * 7 + i / 251) % 255);
}

/* All arguments after the name have all bytes. */
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
		CHECK_EQUAL(aspawn_child_mode(&child), mode);
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
	check_command(100000, 10, NULL, mode); /* a fifth of 8 MiB is enough */
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

TEST(a_command_too_large_for_the_stack_of_the_image_makes_a_copy)
{
	const struct psys_rlimit64 limit = { 512 * 1024, 512 * 1024 };
	const int mode = mode_here();

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &limit, NULL), 0);
	check_command(30000, 1, NULL, mode);
	check_command(100000, 1, NULL, mode == ASPAWN_MODE_IMAGE ? ASPAWN_MODE_FORK : mode);
}

TEST(a_command_too_large_for_the_image_takes_no_room_for_it)
{
	enum { SIZE = 8 * 1024 * 1024 };
	char *large = psys_mmap(NULL, SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
				PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	struct Stack_t stack = { 0 };
	struct self self;

	CHECK(!PSYS_IS_ERROR(large));
	psys_memset(large, 'x', SIZE - 1);
	struct aspawn_command command = command_in_role(&self, "has_all_bytes", large);
	command.actions = &nothing;
	command.action_count = 1;
	struct aspawn_child child = start_command(&stack, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_E2BIG);
	CHECK(stack.size < SIZE + SIZE / 2);
	check_ends(&child, 127 << 8);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}
