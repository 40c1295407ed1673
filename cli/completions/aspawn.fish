# SPDX-License-Identifier: MIT
# Completions of aspawn(1) for fish. After the options those of the command follow.

# Prints the words of the command, with the one at the cursor; fails if the command has not begun.
function __aspawn_command
    set -l words (commandline -opc)
    set -l value 0
    for i in (seq 2 (count $words))
        if test $value = 1
            set value 0
        else if test "$words[$i]" = --
            __aspawn_words $words[(math $i + 1)..]
            return 0
        else if not string match -q -- '-?*' $words[$i]
            __aspawn_words $words[$i..]
            return 0
        else if string match -qr -- '^(-[fpqv]*[tskC]|--(timeout|idle|signal|kill-after|cpu-time|output-limit|rlimit|memory|pids-limit|cgroup|stdin|user|chdir|json|json-fd))$' $words[$i]
            set value 1
        end
    end
    return 1
end

function __aspawn_words
    string join -- ' ' (string escape -- $argv) (commandline -ct)
end

function __aspawn_no_command
    not __aspawn_command >/dev/null
end

complete -c aspawn -f
complete -c aspawn -n __aspawn_command -a '(complete -C (__aspawn_command))'
complete -c aspawn -n __aspawn_no_command -a '(__fish_complete_command)'
complete -c aspawn -n __aspawn_no_command -l leave -d 'Let descendants live on'
complete -c aspawn -n __aspawn_no_command -l die-with-parent -d 'End everything when the starting process ends'
complete -c aspawn -n __aspawn_no_command -l no-new-privs -d 'Run set-user-ID programs without their rights'
complete -c aspawn -n __aspawn_no_command -s t -l timeout -x -d 'Limit of time'
complete -c aspawn -n __aspawn_no_command -l idle -x -d 'Limit of time without output'
complete -c aspawn -n __aspawn_no_command -s s -l signal -x -a '(kill -l | string split -n " ")' -d 'Signal sent at a limit'
complete -c aspawn -n __aspawn_no_command -s k -l kill-after -x -d 'Time from the signal to KILL'
complete -c aspawn -n __aspawn_no_command -s f -l foreground -d 'Send the signal to the program alone'
complete -c aspawn -n __aspawn_no_command -s p -l preserve-status -d 'Exit with the status of the command after a limit'
complete -c aspawn -n __aspawn_no_command -l cpu-time -x -d 'Limit of processor time'
complete -c aspawn -n __aspawn_no_command -l output-limit -x -d 'Limit of each output'
complete -c aspawn -n __aspawn_no_command -l rlimit -x -a '(printf "%s=\n" as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack)' -d 'Limit of the kernel'
complete -c aspawn -n __aspawn_no_command -l memory -x -d 'Limit of memory, in a cgroup'
complete -c aspawn -n __aspawn_no_command -l pids-limit -x -d 'Limit of processes, in a cgroup'
complete -c aspawn -n __aspawn_no_command -l cgroup -x -a '(__fish_complete_directories)' -d 'Parent of the cgroup'
complete -c aspawn -n __aspawn_no_command -l stdin -r -F -d 'Standard input'
complete -c aspawn -n __aspawn_no_command -l pty -d 'Run on a terminal of its own'
complete -c aspawn -n __aspawn_no_command -l setsid -d 'Run in a session without a terminal'
complete -c aspawn -n __aspawn_no_command -l user -x -a '(__fish_complete_users)' -d 'Run as this user'
complete -c aspawn -n __aspawn_no_command -s C -l chdir -x -a '(__fish_complete_directories)' -d 'Run in this directory'
complete -c aspawn -n __aspawn_no_command -s q -l quiet -d 'No line about the end'
complete -c aspawn -n __aspawn_no_command -s v -l verbose -d 'A line for each signal sent'
complete -c aspawn -n __aspawn_no_command -l json -r -F -d 'Write the result to a file'
complete -c aspawn -n __aspawn_no_command -l json-fd -x -d 'Write the result to a descriptor'
complete -c aspawn -n __aspawn_no_command -s h -l help -d 'Show the options'
complete -c aspawn -n __aspawn_no_command -s V -l version -d 'Show the version'
