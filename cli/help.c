/* SPDX-License-Identifier: MIT */
/* The text of --help. Runs in the tool. */
#include "cli.h"

static const char help[] =
	"aspawn [OPTIONS] [--] COMMAND [ARG ...]\n"
	"Runs a command, ends everything that it has started, and says why.\n"
	"\n"
	"  -t, --timeout DURATION     end the command after this time\n"
	"      --idle DURATION        ... after so long without output\n"
	"  -s, --signal SIGNAL        the signal of a limit (TERM)\n"
	"  -k, --kill-after DURATION  from the signal to SIGKILL (10 s; process 1: 8 s)\n"
	"  -f, --foreground           send the signal to the program alone\n"
	"      --cpu-time DURATION    processor time of each process, in whole seconds\n"
	"      --output-limit SIZE    drop what is beyond, of each stream\n"
	"      --rlimit NAME=SOFT:HARD  such as nofile=64:64, core=0, as=unlimited\n"
	"      --memory SIZE          memory of everything together, in a cgroup\n"
	"      --pids-limit N         processes and threads, in a cgroup\n"
	"      --cgroup DIR           the parent of the command's cgroup\n"
	"      --leave                let what the program has left live on\n"
	"      --die-with-parent      end when the parent process of aspawn ends\n"
	"      --no-new-privs         set-user-ID programs give no privileges\n"
	"      --setsid               a session without a terminal\n"
	"      --pty                  a terminal of the command's own\n"
	"      --stdin FILE           standard input\n"
	"      --user NAME[:GROUP]    IDs, groups, HOME, USER and LOGNAME of this user\n"
	"  -C, --chdir DIR            the directory\n"
	"  -p, --preserve-status      the program's exit code also after a limit\n"
	"  -q, --quiet                no line about the end\n"
	"  -v, --verbose              a line for each signal sent\n"
	"      --json FILE, --json-fd N  write the result as JSON\n"
	"  -h, --help, -V, --version\n"
	"\n"
	"DURATION is in seconds, or with ms, s, m, h or d: 10, 1.5, 500ms; 0 is none.\n"
	"SIZE is in bytes, or with K, M, G or T.\n"
	"\n"
	"Exit code: the command's; 124 a limit was reached; 125 aspawn itself failed, or\n"
	"processes survive; 126 not executable; 127 not found; 128 + n ended by signal n\n"
	"(137 also: out of memory).\n";

void help_write(void)
{
	struct text text;

	text_set(&text, "%s", help);
	text_write(&text, 1);
}
