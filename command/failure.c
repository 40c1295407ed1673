/* A failure as a text. */
#include <syscall/string.h>

#include "prepared.h"

struct text {
	char *to;
	size_t size, length;
};

static void add(struct text *text, const char *more)
{
	size_t at = text->length < text->size ? text->length : text->size;

	text->length += psys_strlcpy(text->to + at, more, text->size - at);
}

size_t aspawn_failure_text(char *to, size_t size, const struct aspawn_failure *failure,
			   const struct aspawn_command *command)
{
	struct text text = { to, to ? size : 0, 0 };
	char number[PSYS_DECIMAL_SIZE];

	add(&text, "");
	if (!failure || !failure->error)
		return 0;
	if (failure->step >= 0) {
		const struct action_info *known =
			command && command->actions && (size_t)failure->step < command->action_count ?
				aspawn_action_info(command->actions[failure->step].kind) : NULL;
		add(&text, "action ");
		psys_i64_to_decimal(number, failure->step);
		add(&text, number);
		if (known)
			add(&text, ", ");
		add(&text, known ? known->name : "");
	} else {
		static const char stages[][16] = { "", "", "clone", "descriptors",
						   "path search", "exec", "interpreter" };
		add(&text, failure->step >= ASPAWN_STEP_INTERPRETER ? stages[-failure->step] : "unknown");
	}
	if (text.length)
		add(&text, ": ");
	const char *name = psys_errname(failure->error);
	psys_i64_to_decimal(number, failure->error);
	add(&text, *name == 'E' ? name : number); /* otherwise "unknown error" */
	return text.length;
}
