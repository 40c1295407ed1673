/* SPDX-License-Identifier: MIT */
// The library alone, from C++: a command and its output.
#include <iostream>
#include <string>

#include <aspawn/command.h>

int main()
{
	char text[64];
	aspawn_io io{};
	io.size = sizeof io;
	io.out = text;
	io.out_size = sizeof text;
	int error = aspawn_run(ASPAWN_COMMAND("printf", "%s-%s", "a", "b"), &io);

	std::cout << "aspawn_run: " << error << ", " << io.status << ", " << text << "\n";
	return error || io.status || std::string(text) != "a-b";
}
