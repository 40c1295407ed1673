/* SPDX-License-Identifier: MIT */
// Compares the drop-in's posix_spawn with the libc's, with various actions and attributes. Each
// library has file-action objects of its own.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "libcs.h"
#include "measure.h"

struct Library {
	const char *name;
	decltype(posix_spawn) *spawn, *spawnp;
	decltype(posix_spawn_file_actions_init) *init, *destroy;
	decltype(posix_spawn_file_actions_adddup2) *adddup2;
	decltype(posix_spawn_file_actions_addopen) *addopen;
	decltype(posix_spawn_file_actions_addclose) *addclose;
	decltype(posix_spawn_file_actions_addclosefrom_np) *addclosefrom;
	decltype(posix_spawn_file_actions_addchdir_np) *addchdir;
};

// The requested actions and attributes.
struct Request {
	const Library *library;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	std::vector<char *> argv;
	bool searches;
	std::vector<int> descriptors;
};
static Request request;

static bool run()
{
	Request &is = request;
	pid_t pid;
	int error = (is.searches ? is.library->spawnp : is.library->spawn)(
		&pid, is.argv[0], &is.actions, &is.attributes, is.argv.data(), environ);
	goes_on();
	return error ? error == ENOENT : reap(pid);
}

static void nothing(Request &) {}

template <int count> static void dup2(Request &is)
{
	for (int i = 0; i < count; i++)
		is.library->adddup2(&is.actions, 1, 5 + i % 50);
}

template <int count> static void close(Request &is)
{
	for (int i = 0; i < count; i++)
		is.library->addclose(&is.actions, 100 + i);
}

static void open_two(Request &is)
{
	is.library->addopen(&is.actions, 0, "/dev/null", O_RDONLY, 0);
	is.library->addopen(&is.actions, 2, "/dev/null", O_WRONLY, 0);
}

static void close_from(Request &is)
{
	is.library->addclosefrom(&is.actions, 3);
}

static void change_directory(Request &is)
{
	is.library->addchdir(&is.actions, "/");
}

static void all_attributes(Request &is)
{
	sigset_t all;
	sigfillset(&all);
	posix_spawnattr_setsigdefault(&is.attributes, &all);
	posix_spawnattr_setflags(&is.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
							 POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_RESETIDS);
}

template <int kibibytes> static void arguments(Request &is)
{
	static char text[64];
	for (char &byte : text)
		byte = &byte == &text[63] ? '\0' : 'x';
	is.argv.insert(is.argv.end() - 1, kibibytes * 1024 / sizeof text, text);
}

static void search(Request &is)
{
	static const std::string path = child_argv[0];
	static std::string name = path.substr(path.rfind('/') + 1);
	setenv("PATH", ("/a:/b:/c:/d:/usr/local/bin:" + path.substr(0, path.rfind('/'))).c_str(), 1);
	is.argv[0] = name.data();
	is.searches = true;
}

static void fail(Request &is)
{
	static char name[] = "/no-such-program";
	is.argv[0] = name;
}

static void handle(Request &)
{
	for (int signal = 1; signal < 32; signal++)
		std::signal(signal, [](int) {});
}

static void hold(Request &is)
{
	for (int i = 0; i < 800; i++)
		is.descriptors.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

using Ask = void (*)(Request &);

static void measure_asked(benchmark::State &state, const Library *library, Ask ask)
{
	request.library = library;
	request.argv = { child_argv[0], nullptr };
	request.searches = false;
	library->init(&request.actions);
	posix_spawnattr_init(&request.attributes);
	ask(request);
	measure(state, run);
	library->destroy(&request.actions);
	posix_spawnattr_destroy(&request.attributes);
	for (int fd : request.descriptors)
		::close(fd);
	request.descriptors.clear();
	for (int signal = 1; signal < 32; signal++)
		std::signal(signal, SIG_DFL);
}

#define FILE_ACTIONS(get)                                                                     \
	get(posix_spawn_file_actions_init), get(posix_spawn_file_actions_destroy),            \
		get(posix_spawn_file_actions_adddup2), get(posix_spawn_file_actions_addopen), \
		get(posix_spawn_file_actions_addclose),                                       \
		get(posix_spawn_file_actions_addclosefrom_np),                                \
		get(posix_spawn_file_actions_addchdir_np)
#define OURS(function) function

int main(int argc, char **argv)
{
	static const Library libraries[] = {
		{ "ours", posix_spawn, posix_spawnp, FILE_ACTIONS(OURS) },
		{ "libc", LIBC(posix_spawn), LIBC(posix_spawnp), FILE_ACTIONS(LIBC) },
	};
	static const struct {
		const char *name;
		Ask ask;
	} asked[] = {
		{ "nothing else", nothing },
		{ "10 dup2", dup2<10> },
		{ "1000 dup2", dup2<1000> },
		{ "2 opens", open_two },
		{ "200 closes", close<200> },
		{ "closefrom", close_from },
		{ "another directory", change_directory },
		{ "session, mask, all signals default, ids", all_attributes },
		{ "64 KiB of arguments", arguments<64> },
		{ "1 MiB of arguments", arguments<1024> },
		{ "the sixth directory of PATH", search },
		{ "no such program", fail },
		{ "a caller with 31 handlers", handle },
		{ "a caller with 800 descriptors", hold },
	};

	write_to_dev_null();
	for (const auto &row : asked)
		for (const Library &library : libraries)
			benchmark::RegisterBenchmark(
				(std::string(row.name) + '@' + library.name).c_str(), measure_asked,
				&library, row.ask)
				->UseRealTime();
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
}
