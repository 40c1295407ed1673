/* SPDX-License-Identifier: MIT */
/* The table of action kinds. Includers define ACTION(KIND, name, members of struct action_info). */
/* clang-format off */
ACTION(DUP2, "dup2", .plain = true, USES(dup2.from), .replaces = AT(dup2.to))
ACTION(OPENAT, "open", .uses = AT(openat.dirfd), .replaces = AT(openat.fd), .paths = 1,
       .strings = { AT(openat.path) })
ACTION(OPENAT2, "openat2", .uses = AT(openat2.dirfd), .replaces = AT(openat2.fd), .paths = 1,
       .strings = { AT(openat2.path) })
ACTION(OUTPUT_PIPE, "output_pipe", .plain = true, REPLACES(output_pipe.fd))
ACTION(INPUT_PIPE, "input_pipe", .plain = true, REPLACES(input_pipe.fd))
ACTION(CLOSE, "close", .plain = true, REPLACES(close.fd))
ACTION(CLOSEFROM, "closefrom", .plain = true, BEGINS_AT(closefrom.first))
ACTION(ONLY_BELOW, "only_below", .plain = true, BEGINS_AT(only_below.first))
ACTION(CLOEXEC_FROM, "cloexec_from", .plain = true, BEGINS_AT(cloexec_from.first))

ACTION(SETENV, "setenv", .plain = true, .strings = { AT(setenv.name), AT(setenv.value) })
ACTION(UNSETENV, "unsetenv", .plain = true, .strings = { AT(unsetenv.name) })
ACTION(CLEARENV, "clearenv", .plain = true)

ACTION(CHDIR, "chdir", .plain = true, .paths = 1, .strings = { AT(chdir.path) })
ACTION(FCHDIR, "fchdir", .hides = true, .plain = true, USES(fchdir.fd))
ACTION(UMASK, "umask", .plain = true)

ACTION(SETSID, "setsid", .plain = true)
ACTION(SETPGID, "setpgid", .plain = true, .subject = AT(setpgid.pgid))
ACTION(CONTROLLING_TERMINAL, "controlling_terminal", .plain = true,
       USES(controlling_terminal.fd))
ACTION(FOREGROUND, "foreground", USES(foreground.fd))

ACTION(RESET_SIGNALS, "reset_signals", .plain = true)
ACTION(SIGMASK, "sigmask", .plain = true, SIGNALS(sigmask.set))
ACTION(SIGNALS_DEFAULT, "signals_default", .plain = true, SIGNALS(signals_default.set))
ACTION(SIGNALS_IGNORE, "signals_ignore", .plain = true, SIGNALS(signals_ignore.set))
ACTION(SIGNAL_DEFAULT, "signal_default", .plain = true, .subject = AT(signal_default.signal))
ACTION(SIGNAL_IGNORE, "signal_ignore", .plain = true, .subject = AT(signal_ignore.signal))
ACTION(PDEATHSIG, "pdeathsig", .plain = true, .subject = AT(pdeathsig.signal))

ACTION(RLIMIT, "rlimit", .plain = true, .subject = AT(rlimit.resource))
ACTION(NICE, "nice", .plain = true, .subject = AT(nice.value))
ACTION(SCHEDULER, "scheduler", .subject = AT(scheduler.policy))
ACTION(AFFINITY, "affinity", ARRAY(affinity.mask, affinity.size, 1))
ACTION(IOPRIO, "ioprio", .subject = AT(ioprio.value))
ACTION(OOM_SCORE_ADJ, "oom_score_adj", .plain = true, .copies = true,
       .subject = AT(oom_score_adj.value))
ACTION(PERSONALITY, "personality", 0)
ACTION(JOIN_CGROUP, "join_cgroup", .plain = true, .copies = true, USES(join_cgroup.fd))
ACTION(NEW_CGROUP, "new_cgroup", .plain = true, .copies = true, USES(new_cgroup.parent_fd))

ACTION(USER, "user", .hides = true, .plain = true, .copies = true,
       ARRAY(user.groups, user.count, sizeof(unsigned)), .subject = AT(user.uid))
ACTION(RESUID, "resuid", .hides = true, .plain = true, .copies = true)
ACTION(RESGID, "resgid", .hides = true, .plain = true, .copies = true)
ACTION(GROUPS, "groups", .hides = true, .plain = true,
       ARRAY(groups.groups, groups.count, sizeof(unsigned)))
ACTION(CAP_DROP, "cap_drop", .hides = true, .subject = AT(cap_drop.capability))
ACTION(CAP_AMBIENT, "cap_ambient", .hides = true, .subject = AT(cap_ambient.capability))
ACTION(SECUREBITS, "securebits", .hides = true)
ACTION(NO_NEW_PRIVS, "no_new_privs", .plain = true)
ACTION(SECCOMP, "seccomp", .hides = true,
       ARRAY(seccomp.filter, seccomp.count, sizeof(struct psys_sock_filter)))
ACTION(LANDLOCK, "landlock", .hides = true, USES(landlock.ruleset_fd))

ACTION(CHROOT, "chroot", .hides = true, .paths = 1, .strings = { AT(chroot.path) })
ACTION(PIVOT_ROOT, "pivot_root", .hides = true, .paths = 2,
       .strings = { AT(pivot_root.new_root), AT(pivot_root.put_old) })
ACTION(UNSHARE, "unshare", .hides = true)
ACTION(SETNS, "setns", .hides = true, USES(setns.fd))
ACTION(MOUNT, "mount", .hides = true, .paths = 2, .optional = true,
       .strings = { AT(mount.target), AT(mount.source), AT(mount.type), AT(mount.options) })
ACTION(HOSTNAME, "hostname", .strings = { AT(hostname.name) })

ACTION(WRITE, "write", .hides = true, .paths = 1, .strings = { AT(write.path), AT(write.text) })
ACTION(CALL, "call", .hides = true)
ACTION(SYSCALL, "syscall", .hides = true, .paths = 6, .subject = AT(syscall.number))
