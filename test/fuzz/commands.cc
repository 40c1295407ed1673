/* SPDX-License-Identifier: MIT */
// Commands of random actions, strings and sizes: the start fails or makes a child. The parent
// never crashes, and no descriptor or process is left. libFuzzer; make fuzz.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/security.h>
#include <syscall/syscall.h>

#include "../suite/last_action.h"

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
		// Small numbers are usually valid, large ones must be rejected.
		uint8_t kind = byte();
		if (kind < 200)
			return kind % 50;
		uint64_t wild = 0;
		for (int i = 0; i < 8; i++)
			wild = wild << 8 | byte();
		return kind < 230 ? ~wild : kind < 240 ? ~UINT64_C(0) : wild;
	}
};

// Memory that an action may point to: always readable, and ending with a NUL.
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

// False for actions that, as root, would change more than the child.
bool is_harmless(const aspawn_action &action)
{
	switch (action.kind) {
	case ASPAWN_ACTION_MOUNT:
	case ASPAWN_ACTION_PIVOT_ROOT:
	case ASPAWN_ACTION_HOSTNAME:
	case ASPAWN_ACTION_JOIN_CGROUP:
	case ASPAWN_ACTION_NEW_CGROUP:
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
	case ASPAWN_ACTION_FOREGROUND:
		return false;
	case ASPAWN_ACTION_SCHEDULER: // a real-time loop would starve the machine
		return action.u.scheduler.policy != 1 && action.u.scheduler.policy != 2;
	default:
		return true;
	}
}

// A size beyond the memory would be invalid use, unless the library rejects it.
size_t size_of_array(Input &input, size_t each)
{
	uint64_t size = input.number();
	if (size > sizeof memory / each && size <= 1000000)
		size = 8 * (input.byte() % (sizeof memory / 8 / each));
	return static_cast<size_t>(size);
}

const void *array(Input &input)
{
	return input.byte() % 8 ? memory : nullptr;
}

// All bytes are random; then the pointers are set to valid memory or NULL.
aspawn_action random_action(Input &input, int *end)
{
	aspawn_action action = {};
	action.kind = input.byte() < 250 ? input.byte() % (LAST_ACTION + 1) :
					   static_cast<uint32_t>(input.number());
	action.flags = input.byte() < 250 ? 0 : static_cast<uint32_t>(input.number());
	if (action.kind == ASPAWN_ACTION_RLIMIT) {
		aspawn_action_rlimit(&action, static_cast<int>(input.number()), input.number(),
				     input.number());
		return action;
	}
	int *numbers = reinterpret_cast<int *>(&action.u);
	for (size_t i = 0; i < sizeof action.u / sizeof *numbers; i++)
		numbers[i] = static_cast<int>(input.number());

	auto text = [&] { return static_cast<const char *>(pointer(input)); };
	auto &u = action.u;
	// clang-format off
	switch (action.kind) {
	case ASPAWN_ACTION_OPENAT: u.openat.path = text(); break;
	case ASPAWN_ACTION_OPENAT2: u.openat2.path = text(); break;
	case ASPAWN_ACTION_OUTPUT_PIPE: u.output_pipe.read_end = input.byte() % 8 ? end : nullptr; break;
	case ASPAWN_ACTION_INPUT_PIPE: u.input_pipe.write_end = input.byte() % 8 ? end : nullptr; break;
	case ASPAWN_ACTION_SETENV: u.setenv = { text(), text() }; break;
	case ASPAWN_ACTION_UNSETENV: u.unsetenv.name = text(); break;
	case ASPAWN_ACTION_CHDIR: u.chdir.path = text(); break;
	case ASPAWN_ACTION_CHROOT: u.chroot.path = text(); break;
	case ASPAWN_ACTION_WRITE: u.write = { text(), text() }; break;
	case ASPAWN_ACTION_MOUNT: u.mount = { text(), text(), text(), input.number(), text() }; break;
	case ASPAWN_ACTION_PIVOT_ROOT: u.pivot_root = { text(), text() }; break;
	case ASPAWN_ACTION_HOSTNAME: u.hostname.name = text(); break;
	case ASPAWN_ACTION_SIGMASK: u.sigmask.set = array(input); break;
	case ASPAWN_ACTION_SIGNALS_DEFAULT: u.signals_default.set = array(input); break;
	case ASPAWN_ACTION_SIGNALS_IGNORE: u.signals_ignore.set = array(input); break;
	case ASPAWN_ACTION_AFFINITY: u.affinity = { array(input), size_of_array(input, 1) }; break;
	case ASPAWN_ACTION_USER:
		u.user.groups = static_cast<const unsigned *>(array(input));
		u.user.count = size_of_array(input, sizeof(unsigned));
		break;
	case ASPAWN_ACTION_GROUPS:
		u.groups.groups = static_cast<const unsigned *>(array(input));
		u.groups.count = size_of_array(input, sizeof(unsigned));
		break;
	case ASPAWN_ACTION_SECCOMP:
		u.seccomp = { array(input), size_of_array(input, sizeof(struct psys_sock_filter)) };
		break;
	case ASPAWN_ACTION_SYSCALL: { // harmless ones: shared, of the image, and refused
		static const int numbers[] = { PSYS_NR_umask, PSYS_NR_chdir, PSYS_NR_munlockall, PSYS_NR_execve };
		action.flags = (input.number() & 0xfff) | static_cast<uint32_t>(size_of_array(input, 1)) << 12;
		u.syscall.number = numbers[input.byte() % 4];
		for (unsigned long &word : u.syscall.words)
			word = reinterpret_cast<unsigned long>(array(input));
		break;
	}
	case ASPAWN_ACTION_CALL: u.call = { input.byte() % 4 ? call : nullptr, nullptr }; break;
	default: break;
	}
	// clang-format on
	return action;
}

// Usually valid; sometimes a descriptor, open or not, or an invalid number.
int random_stream(Input &input)
{
	uint8_t kind = input.byte();
	return kind < 100 ? 0 : kind < 240 ? -(kind % 6) : static_cast<int>(input.number());
}

int count_descriptors()
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (directory && readdir(directory))
		count++;
	closedir(directory);
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
	static aspawn_pool pool;
	static char *const empty[] = { nullptr };
	Input input = { data, size };
	std::vector<aspawn_action> actions;
	static char *const argv[] = { const_cast<char *>("true"), nullptr };
	struct aspawn_command command = {};
	const int64_t limit = 20000;
	aspawn_child child;
	aspawn_failure failure;
	char text[320];
	int status = -1;

	command.size = sizeof command;
	command.flags = input.number() & 31;
	command.file = input.byte() % 8 ? "true" : nullptr;
	command.argv = input.byte() % 8 ? argv : nullptr;
	command.envp = input.byte() % 2 ? empty : nullptr;
	command.search_path = input.byte() % 8 ? "/bin" : nullptr;
	const uint8_t memory_of = input.byte();
	command.pool = memory_of % 2 ? &pool : nullptr;
	command.memory = memory_of / 2 % 4;
	command.std_in = random_stream(input);
	command.std_out = random_stream(input);
	command.std_err = random_stream(input);

	std::vector<int> ends(input.byte() % 24, -1);
	for (int &end : ends) {
		aspawn_action action = random_action(input, &end);
		if (is_harmless(action))
			actions.push_back(action);
	}
	command.actions = actions.empty() ? nullptr : actions.data();
	command.action_count = actions.size();
	const bool communicates = input.byte() % 4 == 0, releases = input.byte() % 8 == 0;

	int before = count_descriptors();
	std::memset(&child, 0x55, sizeof child);
	int r = aspawn_start(&child, &command);
	if (r < 0) {
		check(aspawn_pid(&child) == -EINVAL, "a child after an error");
		check(child.ended_fd == -1 && child.started_fd == -1, "a descriptor after an error");
		check(child.in_fd == -1 && child.out_fd == -1 && child.err_fd == -1 &&
			      child.pty_fd == -1,
		      "a pipe after an error");
		check(aspawn_release(&child) == 0, "no release after an error");
	} else {
		r = aspawn_wait_started(&child, &failure, limit);
		check(r == 0 || r == -PSYS_ECANCELED, "it never starts");
		check((r == 0) == (failure.error == 0) && failure.error <= 0,
		      "a failure that does not fit");
		check(failure.step < static_cast<int>(actions.size()), "a step that there is not");
		check(failure.kind == (failure.step < 0 ? 0 : actions[failure.step].kind),
		      "a kind that is another's");
		check(aspawn_failure_text(text, sizeof text, &failure) <= 255,
		      "a text that is too long");
		if (releases)
			check(aspawn_release(&child) == 0, "no release");
		const int fds[] = { child.in_fd, child.out_fd, child.err_fd, child.pty_fd };
		aspawn_kill(&child, PSYS_SIGKILL);
		if (communicates) {
			struct aspawn_io io = {};
			io.size = sizeof io;
			io.time_limit_ms = limit;
			r = aspawn_communicate(&child, &io);
			check(r == 0 || r == -PSYS_ECANCELED, "it never ends");
			check(aspawn_io_text(text, sizeof text, r, &io) <= 319,
			      "an outcome that is too long");
		} else {
			r = aspawn_wait(&child, &status, nullptr, limit);
			check(r == 0 || r == -PSYS_ECANCELED, "it never ends");
			check(r == 0 || WIFSIGNALED(status) || WEXITSTATUS(status) == 127,
			      "another status than 127");
			for (int fd : fds)
				if (fd >= 0)
					close(fd);
		}
	}
	check(aspawn_pool_release(&pool) == 0, "the pool is in use");
	for (int &end : ends)
		if (end >= 0)
			close(end);
	check(count_descriptors() == before, "descriptors are left");
	return 0;
}
