// Commands of random actions, strings and sizes: an error or a child, and never a
// crash of the parent, a descriptor left or a process left. libFuzzer; make fuzz.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dirent.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/security.h>
#include <syscall/syscall.h>

namespace
{

struct Input {
	const uint8_t *data;
	size_t size;

	uint8_t byte()
	{
		return size ? size--, *data++ : 0;
	}
	uint64_t number()
	{
		// Small ones are what most actions mean, wild ones what they must refuse.
		uint8_t kind = byte();
		if (kind < 200)
			return kind % 50;
		uint64_t wild = 0;
		for (int i = 0; i < 8; i++)
			wild = wild << 8 | byte();
		return kind < 230 ? ~wild : kind < 240 ? ~UINT64_C(0) : wild;
	}
};

// Memory that an action may point to: always readable, always with a NUL behind.
char memory[4096];
const char *const texts[] = { "/",    "/dev/null", "/dev", "", "no such file", "/proc/self/comm",
			      "text", memory };

const void *pointer(Input &input)
{
	uint8_t kind = input.byte();
	return kind % 9 == 8 ? nullptr : texts[kind % 8];
}

ASPAWN_CHILD int call(void *)
{
	return 0;
}

// What would change more than the child: as root of a machine that is to live on.
bool is_harmless(const aspawn_action &action)
{
	switch (action.kind) {
	case ASPAWN_ACTION_MOUNT:
	case ASPAWN_ACTION_PIVOT_ROOT:
	case ASPAWN_ACTION_HOSTNAME:
	case ASPAWN_ACTION_JOIN_CGROUP:
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
	case ASPAWN_ACTION_FOREGROUND:
		return false;
	case ASPAWN_ACTION_SCHEDULER: // a real-time loop would starve the machine
		return action.a != 1 && action.a != 2;
	default:
		return true;
	}
}

aspawn_action random_action(Input &input, int *end)
{
	aspawn_action action = {};
	action.kind = input.byte() < 250 ? input.byte() % (ASPAWN_ACTION_CALL + 1)
					 : static_cast<int>(input.number());
	action.a = static_cast<int>(input.number());
	action.b = static_cast<int>(input.number());
	action.c = static_cast<int>(input.number());
	action.u = input.number();
	action.v = input.number();
	switch (action.kind) {
	case ASPAWN_ACTION_SIGMASK:
	case ASPAWN_ACTION_SIGNALS_DEFAULT:
	case ASPAWN_ACTION_SIGNALS_IGNORE:
	case ASPAWN_ACTION_AFFINITY:
	case ASPAWN_ACTION_GROUPS:
	case ASPAWN_ACTION_USER:
	case ASPAWN_ACTION_SECCOMP:
		// A size beyond what there is would be the caller's lie, unless it is refused.
		action.size = input.number();
		if (action.size > sizeof memory && action.size <= 1000000)
			action.size = 8 * (action.u = input.byte() % 64);
		action.data = input.byte() % 8 ? memory : nullptr;
		break;
	default:
		action.data = pointer(input);
		action.size = input.number();
	}
	for (const char *&text : action.text)
		text = static_cast<const char *>(pointer(input));
	action.pointer = action.kind == ASPAWN_ACTION_CALL ? nullptr : end;
	action.call = input.byte() % 4 ? call : nullptr;
	return action;
}

int count_descriptors()
{
	int count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		count++;
	closedir(folder);
	return count;
}

void check(bool holds, const char *what)
{
	if (holds)
		return;
	std::fprintf(stderr, "%s\n", what);
	std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Stack_t stack;
	Input input = { data, size };
	std::vector<aspawn_action> actions;
	static char *const argv[] = { const_cast<char *>("true"), nullptr };
	struct aspawn_command command = {
		sizeof command, input.number() & 31, "true", argv, nullptr, "/bin", nullptr, 0
	};
	const psys_timespec limit = { 20, 0 };
	aspawn_child child = {};
	aspawn_failure failure;
	int status;

	std::vector<int> ends(input.byte() % 24, -1);
	for (int &end : ends) {
		aspawn_action action = random_action(input, &end);
		if (is_harmless(action))
			actions.push_back(action);
	}
	command.actions = actions.data();
	command.action_count = actions.size();

	int before = count_descriptors();
	int r = aspawn_command(&child, &stack, &command);
	if (r < 0) {
		check(child.pid == 0, "a child after an error");
	} else {
		r = aspawn_started(&child, &failure, &limit);
		check(r != -PSYS_ETIMEDOUT || failure.step != ASPAWN_STEP_NONE, "it never starts");
		check(failure.step < static_cast<int>(actions.size()), "a step that there is not");
		aspawn_kill(&child, PSYS_SIGKILL);
		check(aspawn_wait(&child, &status, nullptr, &limit) == 0, "it never ends");
		check(!aspawn_stack_busy(&stack), "its stack is busy");
	}
	for (int &end : ends)
		if (end >= 0)
			close(end);
	check(count_descriptors() == before, "descriptors are left");
	return 0;
}
