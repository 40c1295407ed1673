/* SPDX-License-Identifier: MIT */
/*
 * Decides if a command line needs a shell. Most command lines of system() and popen() are a
 * program and its arguments: a shell would only execute that program. All rules are
 * allow-lists: a command with a byte, word or variable that is not known goes to the shell.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64 /* for files of any size and inode number */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "shell.h"

/* --- words ------------------------------------------------------------------- */

/* No shell treats these bytes specially. Fewer are allowed in the first word, which could be an
 * assignment, a job or a label. */
static const char plain_first[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:@%=";

/* Reserved words and builtins of dash, bash, busybox, ksh, mksh, yash and zsh, sorted. Builtins
 * that only replace a program of the same behaviour, as cat, are left out. */
/* clang-format off */
static const char *const own_words[] = {
	".", ":", "[", "alias", "alloc", "array", "autoload", "bg", "bind", "bindkey", "break",
	"builtin", "bye", "caller", "case", "cd", "chdir", "command", "compctl", "compgen",
	"complete", "compopt", "continue", "coproc", "declare", "dirs", "disable", "disown", "do",
	"done", "echo", "echotc", "echoti", "elif", "else", "emulate", "enable", "end", "enum",
	"esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "float", "for",
	"foreach", "function", "functions", "getln", "getopts", "global", "hash", "help", "hist",
	"history", "if", "in", "integer", "jobs", "kill", "let", "limit", "local", "log", "login",
	"logout", "mapfile", "nameref", "namespace", "newgrp", "nocorrect", "noglob", "popd",
	"print", "printf", "pushd", "pushln", "pwd", "r", "read", "readarray", "readonly",
	"redirect", "rehash", "repeat", "return", "sched", "select", "set", "setopt", "shift",
	"shopt", "source", "stop", "suspend", "test", "then", "time", "times", "trap", "true",
	"ttyctl", "type", "typeset", "ulimit", "umask", "unalias", "unfunction", "unhash",
	"unlimit", "unset", "unsetopt", "until", "vared", "vpath", "wait", "whence", "where",
	"which", "while", "zcompile", "zle", "zmodload", "zparseopts", "zstyle",
};
/* clang-format on */

static int compare_word(const void *word, const void *entry)
{
	return strcmp(word, *(const char *const *)entry);
}

static bool is_own_word(const char *word)
{
	return bsearch(word, own_words, sizeof own_words / sizeof *own_words, sizeof *own_words,
		       compare_word);
}

/* Splits the line in place; argv must have room for all words and NULL. Returns their number,
 * or 0 if the line needs a shell. */
static size_t split_line(char *text, char **argv)
{
	size_t count = 0;

	for (;;) {
		text += strspn(text, " \t");
		if (!*text)
			break;
		size_t length = strspn(text, count ? plain : plain_first);
		if (!length || (text[length] && text[length] != ' ' && text[length] != '\t') ||
		    *text == '=')
			return 0;
		argv[count++] = text;
		text += length;
		if (*text)
			*text++ = '\0';
	}
	argv[count] = NULL;
	if (!count || **argv == '-' || **argv == '+' || is_own_word(*argv))
		return 0;
	return count;
}

/* --- environment ---------------------------------------------------------------- */

/* Returns true for variables that shells read or change before they execute anything. */
static bool is_shell_variable(const char *name, size_t length)
{
	/* clang-format off */
	static const char names[][16] = {
		"COMP_WORDBREAKS", "ENV", "EPOCHREALTIME", "EPOCHSECONDS", "FPATH", "HISTCMD", "IFS",
		"KSH_VERSION", "LINENO", "OPTARG", "OPTERR", "OPTIND", "POSIXLY_CORRECT", "PPID",
		"PS1", "PS2", "PS3", "PS4", "RANDOM", "SECONDS", "SHELLOPTS", "SRANDOM",
	};
	/* clang-format on */

	if (length >= 4 && !memcmp(name, "BASH", 4))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (*name == *names[i] && !strncmp(name, names[i], length) && !names[i][length])
			return true;
	return false;
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* Finds duplicate variables, of which a shell passes on only one. The names are in a hash table,
 * which is at most half full. */
enum { MOST_VARIABLES = 512, SLOTS = 2 * MOST_VARIABLES };
struct seen {
	uint16_t slots[SLOTS]; /* 1 + index in envp, or 0 */
};

static bool is_first(struct seen *seen, char *const *envp, size_t index, size_t length,
		     unsigned hash)
{
	for (hash ^= hash >> 15;; hash++) {
		uint16_t *slot = &seen->slots[hash % SLOTS];
		if (!*slot) {
			*slot = (uint16_t)(index + 1);
			return true;
		}
		if (!strncmp(envp[*slot - 1], envp[index], length))
			return false;
	}
}

/* True if every shell passes the environment on unchanged. Some shells drop variables whose name
 * is no identifier. After clearenv(), envp is NULL. */
static bool is_plain_environment(char *const *envp, size_t *count)
{
	struct seen seen = { 0 };

	for (*count = 0; envp && envp[*count]; ++*count) {
		const char *name = envp[*count], *end = name;
		unsigned hash = 0;

		if (!is_letter(*name) || *count == MOST_VARIABLES)
			return false;
		for (; is_letter(*end) || (*end >= '0' && *end <= '9'); end++)
			hash = hash * 31 + (unsigned char)*end;
		const size_t length = (size_t)(end - name);
		if (*end != '=' || is_shell_variable(name, length) ||
		    !is_first(&seen, envp, *count, length + 1, hash))
			return false;
	}
	return true;
}

/* Returns true if a shell would keep this PWD, because PWD names the current directory. */
static bool is_current_directory(const char *pwd, const char *directory)
{
	struct stat named, here;

	if (!pwd || *pwd != '/')
		return false;
	if (!strcmp(pwd, directory))
		return true;
	return !stat(pwd, &named) && !stat(".", &here) && named.st_dev == here.st_dev &&
	       named.st_ino == here.st_ino;
}

/* True if a component is "." or "..": only some shells keep such a PWD. */
static bool has_dot_component(const char *path)
{
	while ((path = strstr(path, "/."))) {
		path += 2;
		path += *path == '.';
		if (!*path || *path == '/')
			return true;
	}
	return false;
}

/* bash removes an OLDPWD that is no directory, other shells do not. */
static bool is_directory(const char *path)
{
	struct stat status;

	return *path == '/' && !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* --- search --------------------------------------------------------------------- */

enum found { NOT_FOUND, EXECUTABLE, UNSURE };

/* The execute permission of this user is not checked: if the exec fails, the shell reports the
 * error. */
static enum found check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno == ENOENT || errno == ENOTDIR ? NOT_FOUND : UNSURE;
	return S_ISREG(status.st_mode) && (status.st_mode & 0111) ? EXECUTABLE : UNSURE;
}

/* Finds file in PATH. Fails if shells could disagree about PATH: it has a relative directory or
 * a special character, or the first match is not executable. */
static bool search_file(const char *file, char to[PATH_MAX])
{
	const char *path = getenv("PATH");
	const size_t length = strlen(file);

	if (!path || strpbrk(path, "%~"))
		return false;
	for (size_t part; *path == '/'; path += part + 1) {
		part = strcspn(path, ":");
		if (part + 1 + length >= PATH_MAX)
			return false;
		memcpy(to, path, part);
		to[part] = '/';
		memcpy(to + part + 1, file, length + 1);
		enum found found = check_file(to);
		if (found != NOT_FOUND)
			return found == EXECUTABLE;
		if (!path[part])
			return false;
	}
	return false;
}

/* --- all of it -------------------------------------------------------------------- */

/* A set-id shell may drop privileges (bash without -p): never bypass it. */
static bool is_set_id(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

/* Some shells unblock signals, or reset an ignored SIGCHLD, before they execute a program. */
static bool has_plain_signals(const struct psys_sigset *mask)
{
	struct psys_sigset none;
	struct sigaction child;

	psys_sigemptyset(&none);
	return !memcmp(mask, &none, sizeof none) && sigaction(SIGCHLD, NULL, &child) == 0 &&
	       child.sa_handler != SIG_IGN;
}

static void make_environment(char **to, size_t count, char *pwd)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "PWD=", 4) != 0)
			to[kept++] = environ[i];
	to[kept++] = pwd;
	to[kept] = NULL;
}

bool aspawn_compat_is_direct(const char *command, struct section *section, struct direct *direct)
{
	static const char name[] = "PWD=";
	static char *nothing[] = { NULL };
	const size_t length = strlen(command), most = length / 2 + 2;
	size_t count;

	/* Cheap checks first. */
	if (length > 65536 || strpbrk(command, "|&;<>()$`\\\"'*?[]#~{}!^\n") || is_set_id() ||
	    !is_plain_environment(environ, &count))
		return false;

	struct memory {
		char path[PATH_MAX], pwd[sizeof name + PATH_MAX];
		char *pointers[];
	} *memory = aspawn_compat_scratch(
		section, sizeof *memory + (most + count + 2) * sizeof(char *) + length + 1);
	if (!memory)
		return false;
	direct->argv = memory->pointers;
	char *text = memcpy(memory->pointers + most + count + 2, command, length + 1);
	if (!split_line(text, direct->argv))
		return false;

	direct->path = direct->argv[0];
	if (strchr(direct->path, '/')) {
		if (check_file(direct->path) != EXECUTABLE)
			return false;
	} else {
		if (!search_file(direct->argv[0], memory->path))
			return false;
		direct->path = memory->path;
	}

	memcpy(memory->pwd, name, sizeof name - 1);
	char *directory = memory->pwd + sizeof name - 1;
	if (psys_getcwd(directory, PATH_MAX) < 0 || *directory != '/') /* "(unreachable)" */
		return false;
	const char *pwd = getenv("PWD"), *old = getenv("OLDPWD");
	const bool here = is_current_directory(pwd, directory);
	if ((here && has_dot_component(pwd)) || (old && !is_directory(old)))
		return false;
	direct->envp = environ ? environ : nothing;
	if (!here) {
		direct->envp = memory->pointers + most;
		make_environment(direct->envp, count, memory->pwd);
	}
	return true;
}

int aspawn_compat_spawn_line(struct section *section, const struct spawn *spawn, const char *command)
{
	/* "--" as in POSIX.1-2024: the command may begin with a dash. */
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"--", (char *)(uintptr_t)command,
			       NULL };
	struct spawn line = *spawn;
	struct direct direct;

	if (has_plain_signals(spawn->mask ? spawn->mask : &section->mask) &&
	    aspawn_compat_is_direct(command, section, &direct)) {
		line.file = direct.path;
		line.argv = direct.argv;
		line.envp = direct.envp;
		if (aspawn_compat_spawn_in(section, &line) == 0)
			return 0;
	}
	line.file = "/bin/sh";
	line.argv = argv;
	line.envp = environ;
	return aspawn_compat_spawn_in(section, &line);
}
