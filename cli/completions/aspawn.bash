# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completions of aspawn(1) for bash. After the options those of the command follow, as of sudo.

_aspawn()
{
	local with_value="--timeout --idle --signal --kill-after --cpu-time --output-limit --rlimit --memory --pids-limit
		--cgroup --stdin --user --chdir --json --json-fd"
	local without_value="--leave --die-with-parent --no-new-privs --foreground --preserve-status --pty --setsid
		--quiet --verbose --help --version"
	local limits="as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack"
	local current=${COMP_WORDS[COMP_CWORD]} word option="" i

	# Which option waits for its value, and where the command begins. COMP_WORDS has --name=value as
	# three words: "=" is in COMP_WORDBREAKS.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $option ]]; then
			[[ $word == = ]] || option=""
		elif [[ $word == -- || $word != -* ]]; then
			[[ $word != -- ]] || i=$((i + 1))
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			elif ((i == COMP_CWORD)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			else
				compopt -o default
			fi
			return
		elif [[ " ${with_value//[$'\n\t']/ } " == *" $word "* || $word == -*[tskC] && $word != --* ]]; then
			option=$word
		fi
	done
	[[ $current != = ]] || current=""

	case $option in
	"") ;;
	--signal | -*s) mapfile -t COMPREPLY < <(compgen -W "$(compgen -A signal | sed -n 's/^SIG//p')" -- "$current") ;;
	--stdin | --json) mapfile -t COMPREPLY < <(compgen -f -- "$current") && compopt -o filenames ;;
	--chdir | -*C | --cgroup) mapfile -t COMPREPLY < <(compgen -d -- "$current") && compopt -o filenames ;;
	--user) mapfile -t COMPREPLY < <(compgen -u -- "$current") ;;
	--rlimit) mapfile -t COMPREPLY < <(compgen -S = -W "$limits" -- "$current") && compopt -o nospace ;;
	*) ;; # a number
	esac
	[[ ! $option ]] || return
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$with_value $without_value -t -s -k -f -p -C -q -v -h -V" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$current")
	fi
}
complete -F _aspawn aspawn
