/* SPDX-License-Identifier: MIT */
/* Checks which ways are listed for a command's wishes and its caller's findings. */
#include "../../../aspawn/caller/decide.h"
#include "../../../aspawn/helper/ways.h"
#include "harness.h"
#include "pattern.h"

/* The letters stand for the owner, the memory, how many actions need a copy, if the image can
 * perform the actions, if an action joins a control group, if the child may share the descriptors,
 * and if a helper's child would stay in the pid namespace. */
enum { OWNER, MEMORY, COPIES, IMAGE, JOINS, SHARES, STAYS, LETTERS };
static const char *const letters[LETTERS] = { "cpt", "sfc", "-om", "-i", "-j", "-s", "-y" };

/* The first matching row says which ways are listed: c or h for who clones; H for a helper, s, v, c
 * or i for the memory, with + in the group. pattern.h explains patterns. */
static const struct {
	const char *letters, *ways;
} decisions[] = {
	{ "Cc.....", "cH hc" },
	{ "c.m-...", "cc" },
	{ "..m-...", "cH hc" },
	{ "c..i..-", "ci cc" },
	{ "...i-.-", "cH hi hc" },
	{ "c.o--..", "cc" },
	{ ".c.....", "cc" },
	{ "...i-..", "cH hi hc ci cc" },
	{ "..m...-", "cH hi+ hi hc" },
	{ "...i..-", "cH hv+ hi hc" },
	{ "..o.-..", "cH hc" },
	{ "C...-..", "cH hs" },
	{ "C......", "cH hv+ hc" },
	{ ".s..-..", "cs" },
	{ "....-..", "cv" },
	{ "..m....", "cH hi+ hi hc ci cc" },
	{ "...i...", "cH hv+ hi hc ci cc" },
	{ "......y", "cH hv+ hc cc" },
	{ ".f.....", "cv+ cc" },
	{ ".......", "cc" },
};

static size_t name_ways(char *text, unsigned ways)
{
	size_t length = 0;

	for (size_t i = 0; i < WAYS; i++)
		if (ways >> i & 1) {
			text[length++] = "ch"[aspw_ways[i].by];
			text[length++] = "svciH"[aspw_ways[i].memory];
			if (aspw_ways[i].in_cgroup)
				text[length++] = '+';
			text[length++] = ' ';
		}
	text[length ? length - 1 : 0] = '\0';
	return length;
}

static unsigned decide(const int *of, struct request *request, struct plan *plan)
{
	static const struct aspawn_action join = ASPAWN_JOIN_CGROUP(9);
	const struct aspawn_command command = { .size = sizeof command,
						.owner = of[OWNER],
						.memory = of[MEMORY] };
	const struct requirements needs = {
		.copies = (size_t)of[COPIES],
		.image = of[IMAGE],
		.joined = of[JOINS] ? &join : NULL,
		.shares_table = of[SHARES] ? SHARES_TABLE : SHARES_NOTHING,
	};
	const struct findings found = { .has_image = true, .children_stay = of[STAYS] };

	aspw_decide_ways(&command, &needs, &found, request, plan);
	return plan->ways;
}

TEST(the_decision_lists_the_ways)
{
	int wrong = 0;

	for (int i = 0; i < 3 * 3 * 3 * 2 * 2 * 2 * 2; i++) {
		const int of[LETTERS] = { i % 3,      i / 3 % 3,   i / 9 % 3,  i / 27 % 2,
					  i / 54 % 2, i / 108 % 2, i / 216 % 2 };
		struct request request;
		struct plan plan;
		char name[LETTERS + 1] = "", text[64];
		size_t row = 0;

		/* What nobody may wish, and what does not go together. */
		if ((of[OWNER] && of[MEMORY] == ASPAWN_MEMORY_SUSPENDED) ||
		    (of[IMAGE] && (!of[COPIES] || of[MEMORY])) || of[JOINS] > of[COPIES] ||
		    (of[STAYS] && (of[OWNER] || of[MEMORY])))
			continue;
		for (int letter = 0; letter < LETTERS; letter++)
			name[letter] = letters[letter][of[letter]];
		name_ways(text, decide(of, &request, &plan));
		while (row < sizeof decisions / sizeof *decisions &&
		       !fits_pattern(decisions[row].letters, name))
			row++;
		if (row < sizeof decisions / sizeof *decisions &&
		    !psys_strcmp(decisions[row].ways, text))
			continue;
		note(name, 0);
		note(text, 0);
		wrong++;
	}
	CHECK_EQUAL(wrong, 0);
}
