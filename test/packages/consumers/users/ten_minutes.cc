// SPDX-License-Identifier: MIT
// The same in C++11: no designated initializers, output of any length.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <aspawn/command.h>

struct result {
	int error, status;
	std::string out, why;
};

static int append(void *arg, int, const void *bytes, size_t count)
{
	static_cast<std::string *>(arg)->append(static_cast<const char *>(bytes), count);
	return 0; // bad_alloc would pass through the library: a real one catches it
}

static result run(const std::vector<std::string> &words, int64_t limit_ms)
{
	std::vector<const char *> argv;
	std::vector<aspawn_action> actions;
	char why[320];
	result to = { 0, -1, std::string(), std::string() };

	for (const std::string &word : words)
		argv.push_back(word.c_str());
	argv.push_back(nullptr);
	actions.push_back(ASPAWN_CHDIR("/"));
	actions.push_back(ASPAWN_SETENV("LC_ALL", "C"));
	actions.push_back(ASPAWN_CLOSEFROM(3));

	aspawn_command command = aspawn_command();
	command.size = sizeof command;
	command.argv = const_cast<char *const *>(argv.data());
	command.actions = actions.data();
	command.action_count = actions.size();

	aspawn_io io = aspawn_io();
	io.size = sizeof io;
	io.flags = ASPAWN_IO_KILL_GROUP;
	io.sink = append;
	io.arg = &to.out;
	io.time_limit_ms = limit_ms;

	to.error = aspawn_run(&command, &io);
	to.status = io.status;
	aspawn_io_text(why, sizeof why, to.error, &io);
	to.why = why;
	return to;
}

int main()
{
	const result got = run({ "uname", "-a" }, 1000);

	std::printf("%s[%s]\n", got.out.c_str(), got.why.c_str());

	char text[100];
	aspawn_io io = aspawn_io();
	io.size = sizeof io;
	io.out = text;
	io.out_size = sizeof text;
	return aspawn_run(ASPAWN_COMMAND("uname", "-sr"), &io) || got.error;
}
