// SPDX-License-Identifier: MIT
//! What std's Command has not.

use aspawn::spec::{Fd, Limits, Spec, Stream};
use aspawn::{consts, Action, Command, Memory, Mode, Owner, Resource, Stdio, Step};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, FromRawFd};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const ESRCH: i32 = 3;
const ECHILD: i32 = 10;

extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn getpid() -> i32;
    fn getuid() -> u32;
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn text(command: &mut Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn start_reports_a_missing_program_later() {
    let mut child = Command::new("no-such-program").start().unwrap();
    let error = child.wait().unwrap_err();
    assert_eq!((error.step(), error.kind()), (Step::Search, ErrorKind::NotFound));
    assert_eq!(error.subject(), b"no-such-program");
    assert_eq!(error.to_string(), "search \"no-such-program\": no such file or directory");
    let again = child.wait_started(Some(Duration::ZERO)).unwrap_err();
    assert_eq!(again.step(), Step::Search);
}

#[test]
fn errors_name_the_step() {
    let step = |command: &mut Command| command.spawn().unwrap_err().step();
    assert_eq!(step(Command::new("true").current_dir("/no/such")), Step::Setup);
    assert_eq!(step(&mut Command::new("/tmp")), Step::Exec);

    let actions = [Action::umask(0), Action::chdir("/no/such")];
    let error = Command::new("true").current_dir("/").actions(actions).output().unwrap_err();
    assert_eq!((error.step(), error.action()), (Step::Action(1), Some("chdir")));
    assert_eq!(error.to_string(), "action 1, chdir \"/no/such\": no such file or directory");
    assert_eq!(std::io::Error::from(error).raw_os_error(), Some(2));
}

#[test]
fn names_a_missing_interpreter() {
    use std::os::unix::fs::PermissionsExt;
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/interpreter");
    fs::write(path, "#!/no/such\r\n").unwrap(); // line ends of DOS
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Command::new(path).spawn().unwrap_err();
    fs::remove_file(path).unwrap();
    assert_eq!((error.step(), error.kind()), (Step::Interpreter, ErrorKind::NotFound));
    assert_eq!(error.subject(), b"/no/such\r");
    assert_eq!(error.to_string(), "interpreter \"/no/such\\r\": no such file or directory");
}

#[test]
fn a_string_with_a_nul_and_an_impossible_number_are_refused() {
    for (command, step) in [
        (Command::new("true").env("A", "1\0"), Step::Argument),
        (Command::new("true").arg("\0"), Step::Argument),
        (Command::new("true").current_dir("/\0"), Step::Setup),
        (Command::new("true").action(Action::chroot("\0")), Step::Action(0)),
        (Command::new("true").action(Action::sigmask(&[0])), Step::Action(0)),
        (Command::new("true").action(Action::sigmask(&[1, -1])), Step::Action(0)),
        (Command::new("true").action(Action::affinity(&[usize::MAX])), Step::Action(0)),
    ] {
        let error = command.start().unwrap_err();
        assert_eq!((error.step(), error.kind()), (step, ErrorKind::InvalidInput));
    }
}

#[test]
fn an_invalid_member_or_action_is_named() {
    let error = Command::new("true").stdin(Stdio::to_stdout()).start().unwrap_err();
    assert_eq!((error.step(), error.subject()), (Step::Argument, &b"std_in"[..]));
    assert_eq!(std::io::Error::from(error).to_string(), "argument \"std_in\": invalid argument");
    let actions = [Action::umask(0), Action::setenv("", "value")];
    let error = Command::new("true").current_dir("/").actions(actions).start().unwrap_err();
    assert_eq!((error.step(), error.action()), (Step::Action(1), Some("setenv")));
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn actions_and_limits() {
    let mut command = shell("ulimit -t; umask; nice; echo $A; ls /proc/self/fd | wc -l");
    command.rlimit(Resource::Cpu, 10, 11).action(Action::umask(0o27)).action(Action::nice(5));
    command.action(Action::setenv("A", "b c")).closefrom(3);
    assert_eq!(text(&mut command), "10\n0027\n5\nb c\n4\n");
}

#[test]
fn an_action_keeps_its_descriptor_open() {
    let mut command = shell("cat <&3; cat <&4; cat");
    let file = fs::File::open("/proc/sys/kernel/ostype").unwrap();
    command.action(Action::dup2(&file, 3));
    drop(file);
    command.action(Action::dup2(fs::File::open("/proc/sys/kernel/ostype").unwrap(), 4));
    let path = "/proc/sys/kernel/ostype";
    command.actions([Action::open(5, path, consts::O_RDONLY, 0), Action::dup2(5, 0)]);
    assert_eq!(text(&mut command), "Linux\nLinux\nLinux\n");
}

/// It could be of another part of this process, or soon be.
#[test]
fn a_number_of_this_process_is_refused() {
    let file = fs::File::open("/dev/null").unwrap();
    let mut command = Command::new("true");
    command.action(Action::umask(0)).action(Action::dup2(file.as_raw_fd(), 0));
    let error = command.spawn().unwrap_err();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Action(1), 9));
}

#[test]
fn an_action_makes_a_pipe() {
    let mut command = shell("cat <&4 >&3");
    command.actions([Action::output_pipe(3), Action::input_pipe(4)]);
    for start in [Command::start, Command::spawn] {
        let mut child = start(&mut command).unwrap();
        let (out, input) = (child.take_pipe(3).unwrap(), child.take_pipe(4).unwrap());
        assert!(child.take_pipe(3).is_none());
        fs::File::from(input).write_all(b"text").unwrap();
        let mut text = String::new();
        fs::File::from(out).read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_filter_an_affinity_and_a_mask_of_signals() {
    use aspawn::sys::psys_sock_filter;
    let allow = psys_sock_filter {
        code: consts::BPF_RET | consts::BPF_K,
        jt: 0,
        jf: 0,
        k: consts::SECCOMP_RET_ALLOW,
    };
    let mut command = Command::new("sed");
    command.args(["-nE", "s/^(SigBlk|Cpus_allowed_list|Seccomp):\\s*//p", "/proc/self/status"]);
    command
        .action(Action::sigmask(&[consts::SIGHUP, consts::SIGUSR1]))
        .action(Action::affinity(&[0]));
    command.actions([Action::no_new_privs(), Action::seccomp(&[allow])]);
    assert_eq!(text(&mut command), "0000000000000201\n2\n0\n");
}

#[test]
fn landlock_passes_its_flags_to_the_kernel() {
    let file = fs::File::open("/dev/null").unwrap();
    let errno = |flags| {
        let actions = [Action::no_new_privs(), Action::landlock(&file, flags)];
        Command::new("true").actions(actions).spawn().unwrap_err().raw_os_error()
    };
    // EBADFD: no ruleset. Without Landlock both are ENOSYS or the like.
    const EBADFD: i32 =
        if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 81 } else { 77 };
    assert!(errno(0) != EBADFD || errno(1 << 31) == 22);
}

#[test]
fn stderr_goes_to_stdout() {
    let output = shell("echo a; echo b >&2").stderr(Stdio::to_stdout()).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"a\nb\n"[..], &b""[..]));
}

/// As std's from Rust 1.74 on.
#[test]
fn the_callers_own_stream_for_another() {
    let mut command = shell("test /proc/self/fd/1 -ef /proc/self/fd/3; echo $? >&2");
    command.action(Action::dup2(&std::io::stderr(), 3)).stdout(std::io::stderr());
    assert_eq!(command.output().unwrap().stderr, b"0\n");
}

#[test]
fn a_command_can_be_started_again() {
    let mut command = shell("echo text");
    assert_eq!(text(&mut command), text(&mut command));
    assert_eq!(text(&mut command), "text\n");
}

#[test]
fn a_time_limit_ends_the_whole_group() {
    // Without the group sleep would hold the pipe open.
    let mut command = shell("sleep 20 & echo $!; wait");
    command.timeout(Duration::from_millis(100)).kill_group(true);
    assert_eq!(command.output().unwrap_err().kind(), ErrorKind::TimedOut);
    let mut command = shell("trap '' TERM; while :; do sleep 1; done");
    command.timeout(Duration::from_millis(100)).grace(Duration::ZERO).kill_group(true);
    assert_eq!(command.status().unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn a_time_limit_sends_the_stop_signal() {
    let file = std::env::temp_dir().join(format!("aspawn-stop-{}", std::process::id()));
    let script = "trap 'echo ends >$0; exit' USR1; kill -STOP $$; while :; do sleep 0.01; done";
    for owner in [Owner::Caller, Owner::Tree] {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&file).owner(owner).stop_signal(consts::SIGUSR1);
        command.timeout(Duration::from_secs(2)).grace(Duration::from_secs(100));
        assert_eq!(command.status().unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "ends\n");
        std::fs::remove_file(&file).unwrap();
    }
    let error = Command::new("true").stop_signal(consts::SIGKILL).spawn().unwrap_err();
    assert_eq!(error.to_string(), "argument \"stop_signal\": invalid argument");
}

/// Reads until the text ends so.
fn read_until(mut from: impl Read, end: &str) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(end.as_bytes()) {
        from.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn a_terminal_has_its_size_and_a_later_one() {
    let script = "trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.01; done";
    for (rows, columns, size) in [(7, 0, "7 80\r\n"), (0, 65535, "24 65535\r\n")] {
        let mut child = shell(script).terminal(rows, columns).spawn().unwrap();
        let mut terminal = child.terminal.take().unwrap();
        assert_eq!(read_until(&terminal, "\n"), size);
        terminal.resize(9, 100).unwrap();
        let mut rest = String::new();
        terminal.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().success()), ("9 100\r\n", true));
    }
}

#[test]
fn a_terminal_takes_input_and_is_the_controlling_one() {
    let script = "read word; echo \"<$word>\" >/dev/tty; exec sleep 1000";
    let mut child = shell(script).terminal(0, 0).stderr(Stdio::null()).start().unwrap();
    let mut terminal = child.terminal.take().unwrap();
    terminal.write_all(b"word\n").unwrap();
    assert_eq!(read_until(&terminal, ">\r\n"), "word\r\n<word>\r\n"); // the first is the echo
    drop(terminal); // which hangs up
    assert_eq!(child.wait().unwrap().signal(), Some(consts::SIGHUP));
}

#[test]
fn collects_the_output_of_a_terminal() {
    let script = "test -t 0 && echo out; read word || echo err >&2";
    let output = shell(script).terminal(0, 0).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "out\r\nerr\r\n");
    let output = shell(script).terminal(0, 0).stdout(Stdio::piped()).output().unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b"out\n"[..], &b"err\r\n"[..])
    );
    let output = shell(script).stderr(Stdio::terminal()).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b""[..], &b"err\r\n"[..]));
    // More than a terminal holds.
    assert!(shell("head -c 300000 /dev/zero").terminal(0, 0).status().unwrap().success());
}

#[test]
fn a_time_limit_ends_the_group_of_a_terminal() {
    let mut command = shell("sleep 1000 & wait");
    command.terminal(0, 0).kill_group(true).timeout(Duration::from_secs(2));
    assert_eq!(command.output().unwrap_err().kind(), ErrorKind::TimedOut);
    let error = shell("exit").terminal(0, 0).process_group(0).spawn().unwrap_err();
    assert_eq!((error.action(), error.kind()), (Some("setpgid"), ErrorKind::PermissionDenied));
}

#[test]
fn a_terminal_of_a_spec() {
    let mut spec = Spec::new("stty");
    spec.arg("size").stdin(Stream::Terminal).stdout(Stream::Terminal).terminal_size(3, 4);
    let (mut child, mut out) = (spec.start().unwrap(), Vec::new());
    child.communicate(b"", Some(&mut out), None, &Limits::default()).unwrap();
    assert_eq!(out, b"3 4\r\n");

    let mut spec = Spec::new("sh");
    spec.arg("-c").arg("read word; stty size").stdin(Stream::Terminal).stdout(Stream::Terminal);
    let mut child = spec.start().unwrap();
    let fd = child.take_terminal().unwrap();
    assert_eq!(child.take_terminal(), None);
    let mut terminal = unsafe { fs::File::from_raw_fd(fd) };
    child.resize(unsafe { Fd::borrow_raw(fd) }, 5, 6).unwrap();
    terminal.write_all(b"word\n").unwrap();
    assert_eq!(read_until(&terminal, "5 6\r\n"), "word\r\n5 6\r\n");
    assert_eq!(child.wait(None).unwrap().unwrap().status, 0);
}

#[test]
fn waits_with_a_time_limit() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.wait_timeout(Duration::from_millis(10)).unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait_timeout(Duration::from_secs(1000)).unwrap().unwrap().success());
}

#[test]
fn the_pidfd_is_the_childs() {
    for owner in [Owner::Caller, Owner::Private] {
        let mut command = Command::new("cat");
        let mut child = command.owner(owner).stdin(Stdio::piped()).start().unwrap();
        let pidfd = child.pidfd().unwrap();
        let path = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
        let information = fs::read_to_string(path).unwrap();
        assert!(information.contains(&format!("Pid:\t{}\n", child.id())), "{}", information);
        assert!(child.ended_fd().is_some());
        assert!(child.wait().unwrap().success());
        assert!(child.ended_fd().is_none());
        assert_eq!(child.pidfd().unwrap_err().raw_os_error(), ESRCH);
    }
}

#[test]
fn a_group_or_session_of_its_own() {
    let script = "set -- $(cat /proc/$$/stat); echo $(($5 == $$)) $(($6 == $$))";
    assert_eq!(text(&mut shell(script)), "0 0\n");
    assert_eq!(text(shell(script).process_group(0)), "1 0\n");
    assert_eq!(text(shell(script).setsid(true)), "1 1\n");
}

#[test]
fn kills_a_group() {
    let mut command = shell("sleep 20 & echo $!; wait");
    let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut byte = [0];
    out.read_exact(&mut byte).unwrap(); // sleep is there
    child.kill_group(9).unwrap();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap(); // ends when sleep has ended
    assert_eq!(child.wait().unwrap().to_string(), "signal: 9 (SIGKILL)");
}

#[test]
fn the_number_of_a_private_child_stays_known() {
    let mut child = Command::new("true").owner(Owner::Private).start().unwrap();
    let id = child.wait_id().unwrap();
    assert!(id > 1 && id == child.id());
    child.wait().unwrap();
    assert_eq!(child.id(), id);
    let mut child = Command::new("true").owner(Owner::Private).start().unwrap();
    child.wait().unwrap(); // asks before the end
    assert_ne!(child.id(), 0);
}

#[test]
fn nobody_else_sees_a_private_child() {
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).owner(Owner::Private).spawn().unwrap();
    assert_eq!(child.owner(), Owner::Private);
    assert_eq!(unsafe { waitpid(child.id() as i32, std::ptr::null_mut(), 0) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(ECHILD));
    assert!(child.wait().unwrap().success());
    assert!(child.kill().is_ok());
}

#[test]
fn a_tree_ends_with_its_child() {
    for grace in [None, Some(Duration::ZERO)] {
        let mut command = shell("setsid sleep 1000 & echo; exec sleep 1000");
        let mut child = command.stdout(Stdio::piped()).owner(Owner::Tree).spawn().unwrap();
        assert_eq!(child.owner(), Owner::Tree);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        child.kill_tree(grace).unwrap();
        output.read_line(&mut String::new()).unwrap(); // until the last has closed it
        let signal = if grace.is_some() { 9 } else { 15 };
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
    }
}

#[test]
fn a_child_that_is_no_tree_is_not_killed_as_one() {
    let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
    let error = child.kill_tree(None).unwrap_err();
    assert_eq!((error.step(), error.subject()), (Step::Argument, &b"owner"[..]));
    assert!(child.try_wait().unwrap().is_none());
}

#[test]
fn a_child_dies_with_its_caller() {
    const VARIABLE: &str = "ASPAWN_TEST_OF_DYING";
    if std::env::var_os(VARIABLE).is_some() {
        // Its standard output is the pipe, which nobody else has.
        let mut command = shell("echo started; exec sleep 1000");
        command.dies_with_caller(true).start().unwrap();
        loop {
            thread::park();
        }
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_child_dies_with_its_caller", "--nocapture"]);
    command.env(VARIABLE, "1").stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut out = process.stdout.take().unwrap();
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"started\n") {
        out.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    process.kill().unwrap();
    process.wait().unwrap();
    out.read_to_end(&mut text).unwrap(); // ends when sleep has ended
}

#[test]
fn no_process_of_another_user_shares_the_memory() {
    // Where a program without a file can be executed, and no filter is in the way, by the image.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let sysctl = fs::read_to_string("/proc/sys/vm/memfd_noexec").unwrap_or_default();
    let may_execute = status.contains("\nSeccomp:\t0\n") && sysctl.trim() != "2";
    let uid = unsafe { getuid() };
    let text = format!("{}\n", uid);
    let (mut with, mut without) = (Command::new("id"), Command::new("id"));
    with.arg("-u").uid(uid).stdout(Stdio::piped());
    without.arg("-u").uid(uid).stdout(Stdio::piped()).memory(Memory::Copied);
    for start in [Command::start, Command::spawn] {
        let mut child = start(&mut with).unwrap();
        assert_ne!(child.wait_id().unwrap(), 0);
        let mode = child.mode().unwrap();
        assert!(mode == Mode::Image || !may_execute && mode == Mode::Copied);
        assert_eq!(child.wait_with_output().unwrap().stdout, text.as_bytes());
        let child = start(&mut without).unwrap();
        assert_eq!(child.mode(), Some(Mode::Copied));
        assert_eq!(child.wait_with_output().unwrap().stdout, text.as_bytes());
    }
    let mut child = Command::new("true").spawn().unwrap();
    assert_eq!(child.mode(), Some(Mode::Suspended));
    child.wait().unwrap();
}

#[test]
fn a_dropped_child_is_killed_if_asked_for() {
    let child = Command::new("sleep").arg("20").kill_on_drop(true).spawn().unwrap();
    let pid = child.id() as i32;
    drop(child);
    assert_eq!(unsafe { kill(pid, 0) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(ESRCH));
}

#[test]
fn pre_exec_shares_the_memory() {
    let seen = Arc::new(AtomicI32::new(0));
    let in_child = seen.clone();
    let mut command = Command::new("true");
    unsafe {
        command.pre_exec(move || {
            in_child.store(getpid(), Ordering::SeqCst);
            drop(vec![1u8; 100_000]);
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), child.id() as i32);
    assert!(child.wait().unwrap().success());
}

#[test]
fn pre_exec_has_its_place_among_the_actions() {
    let mut command = Command::new("true");
    command.action(Action::umask(0));
    unsafe { command.pre_exec(|| Err(std::io::Error::from_raw_os_error(7))) };
    let error = command.spawn().unwrap_err();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Action(1), 7));
}

#[test]
fn pre_exec_fails_with_any_number() {
    const EINVAL: i32 = 22;
    for number in [0, -1, i32::MIN] {
        let mut command = Command::new("true");
        unsafe { command.pre_exec(move || Err(std::io::Error::from_raw_os_error(number))) };
        let error = command.spawn().unwrap_err();
        assert_eq!((error.step(), error.raw_os_error()), (Step::Action(0), EINVAL));
    }
}

#[test]
fn pre_exec_as_another_user() {
    let (uid, text) = match unsafe { getuid() } {
        0 => (65534, "65534\n".to_owned()),
        own => (own, format!("{}\n", own)),
    };
    let mut command = Command::new("id");
    command.arg("-u").uid(uid).stdout(Stdio::piped());
    unsafe {
        command.pre_exec(move || {
            if getuid() == uid {
                Ok(())
            } else {
                Err(std::io::Error::from_raw_os_error(1))
            }
        })
    };
    assert_eq!(command.spawn().unwrap().wait_with_output().unwrap().stdout, text.as_bytes());
}

/// As by std of later Rust than 1.63.
#[test]
fn shows_the_directory_and_the_variables() {
    let mut command = Command::new("ls");
    command.args(["-l", "/"]).env("A", "1 2").env_remove("B").env_remove("C").current_dir("/tmp");
    let text = r#"cd "/tmp" && env -u B -u C A="1 2" "ls" "-l" "/""#;
    assert_eq!(format!("{:?}", command), text);
    let mut command = Command::new("ls");
    command.arg0("other").env_clear().env("A", "\n").env_remove("B");
    assert_eq!(format!("{:?}", command), r#"env -i A="\n" ["ls"] "other""#);
    assert_eq!(format!("{:?}", Command::new("ls").arg("x")), r#""ls" "x""#);
}

/// As std of a Rust later than 1.63, which emptied it.
#[test]
fn inherits_the_blocked_signals() {
    extern "C" {
        fn pthread_sigmask(how: i32, set: *const [u64; 16], old: *mut [u64; 16]) -> i32;
    }
    const SIG_SETMASK: i32 =
        if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 3 } else { 2 };
    let blocked = [1 << (15 - 1); 16]; // SIGTERM
    assert_eq!(unsafe { pthread_sigmask(SIG_SETMASK, &blocked, std::ptr::null_mut()) }, 0);
    let mut command = Command::new("sed");
    command.args(["-n", "s/^SigBlk:.//p", "/proc/self/status"]);
    assert_eq!(text(&mut command), "0000000000004000\n");
    assert_eq!(text(command.owner(Owner::Private)), "0000000000004000\n");
    assert_eq!(text(command.action(Action::sigmask(&[]))), "0000000000000000\n");
}

/// As std's pipes of later Rust than 1.63 do.
#[test]
fn whatever_owns_a_descriptor_is_a_stream() {
    let (mut own, programs) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(Command::new("echo").arg("text").stdout(programs).status().unwrap().success());
    let mut text = String::new();
    own.read_to_string(&mut text).unwrap(); // ends as nobody has the other end
    assert_eq!(text, "text\n");
}

/// With the fields of std's, if that shows any, as from Rust 1.66 on.
#[test]
fn shows_its_fields_as_std_does() {
    use std::os::unix::process::CommandExt;
    macro_rules! shown {
        ($($process:ident)::+) => {{
            use $($process)::+::{Command, Stdio};
            let mut command = Command::new("ls");
            let mut text = format!("{:#?}", command);
            command.args(["-l", "/"]).env("A", "1").env_remove("B").current_dir("/tmp").arg0("x");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
            text += &format!("{:#?}", command.uid(1).gid(2));
            text += &format!("{:#?}", command.env_clear());
            text.replace("    create_pidfd: false,\n", "")
        }};
    }
    let std = shown!(std::process);
    if std.starts_with("Command {") {
        assert_eq!(shown!(aspawn::process), std);
    }
}

/// In a process that has such strings: std passes them on and does not tell them.
#[test]
fn strings_without_an_equals_sign_are_inherited() {
    const VARIABLE: &str = "ASPAWN_TEST_OF_STRINGS";
    if std::env::var_os(VARIABLE).is_some() {
        let sorted = |stdout: Vec<u8>| {
            let mut lines: Vec<_> = stdout.split(|&byte| byte == b'\n').map(Vec::from).collect();
            lines.sort();
            lines
        };
        let std = std::process::Command::new("/usr/bin/env").output().unwrap();
        let output = Command::new("/usr/bin/env").output().unwrap();
        assert_eq!(sorted(output.stdout), sorted(std.stdout));
        return;
    }
    let mut spec = aspawn::spec::Spec::new(std::env::current_exe().unwrap().as_os_str().as_bytes());
    spec.arg("--exact").arg("strings_without_an_equals_sign_are_inherited");
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let variable = format!("{}=1", VARIABLE);
    spec.environment(["first", &path, "A=1", "", "=x", &variable, "A=2", "last"]);
    assert_eq!(spec.start().unwrap().wait(None).unwrap().unwrap().status, 0);
}

/// The system call's "as it is": the program would keep the caller's.
#[test]
fn no_id_is_none() {
    for command in [Command::new("true").uid(u32::MAX), Command::new("true").gid(u32::MAX)] {
        let error = command.output().unwrap_err();
        assert_eq!((error.step(), error.kind()), (Step::Setup, ErrorKind::InvalidInput));
    }
}

#[test]
fn pre_exec_ends_before_its_command() {
    for _ in 0..20 {
        let mut command = Command::new("true");
        let captured = vec![1u8; 1000];
        let is_whole = move || match captured.iter().all(|&byte| byte == 1) {
            true => Ok(()),
            false => Err(std::io::Error::from_raw_os_error(1)),
        };
        unsafe { command.pre_exec(is_whole) };
        let child = command.memory(Memory::Copied).owner(Owner::Private).start();
        drop(command);
        let others = vec![2u8; 1000];
        child.unwrap().wait().unwrap();
        drop(others);
    }
}

#[test]
fn collects_either_output_first_after_a_wait() {
    for (first, other) in [("1", "2"), ("2", "1")] {
        let script = "(sleep 0.1; head -c 200000 /dev/zero >&$0; echo end >&$1) & exit 3";
        let mut command = shell(script);
        command.args([first, other]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3));
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
        let output = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(output.status.code(), Some(3));
        let mut both = [output.stdout, output.stderr];
        both.sort_by_key(Vec::len);
        assert_eq!((both[0].as_slice(), both[1].len()), (&b"end\n"[..], 200_000));
    }
}

#[test]
fn tells_what_a_child_used() {
    let script = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
    let (status, usage) = shell(script).spawn().unwrap().wait_with_usage().unwrap();
    assert!(status.success());
    assert!(usage.user + usage.system > Duration::ZERO && usage.max_resident > 0);
}

#[test]
fn many_threads_start_commands() {
    fn is_send<T: Send + Sync>() {}
    is_send::<Command>();
    is_send::<aspawn::Child>();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                for _ in 0..50 {
                    let output = Command::new("echo").arg(number.to_string()).output().unwrap();
                    assert_eq!(output.stdout, format!("{}\n", number).as_bytes());
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_environment_may_change_meanwhile() {
    let changing = thread::spawn(|| {
        for number in 0..2000 {
            std::env::set_var(format!("ASPAWN_CHANGING_{}", number), "x");
        }
    });
    for _ in 0..50 {
        assert!(Command::new("true").status().unwrap().success());
    }
    changing.join().unwrap();
}

#[test]
fn input_of_any_length() {
    let mut child = shell("wc -c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || input.write_all(&vec![0; 300_000]).unwrap());
    assert_eq!(child.wait_with_output().unwrap().stdout, b"300000\n");
    writer.join().unwrap();
}

#[test]
fn not_a_cgroup() {
    let directory = fs::File::open("/tmp").unwrap();
    assert_eq!(aspawn::kill_cgroup(&directory).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn takes_what_std_tells_of_a_command() {
    let mut std = std::process::Command::new("sh");
    std.args(["-c", "echo $A$HOME; pwd"]).env("A", "1").env_remove("HOME").current_dir("/usr");
    assert_eq!(text(&mut Command::from(std)), "1\n/usr\n");
    let std = std::process::Command::new("uname");
    assert_eq!(aspawn::process::Command::from(std).output().unwrap().stdout, b"Linux\n");
}

/// std does not tell them, but in a text for people. Lost, a program would run as root.
#[test]
fn a_std_command_of_which_something_would_be_lost_is_refused() {
    use std::os::unix::process::CommandExt;
    type Change = fn(&mut std::process::Command) -> &mut std::process::Command;
    let changes: [(&str, Change); 7] = [
        ("env_clear", |command| command.env_clear()),
        ("uid", |command| command.uid(65534)),
        ("gid", |command| command.gid(65534)),
        ("arg0", |command| command.arg0("renamed")),
        ("stdin", |command| command.stdin(std::process::Stdio::null())),
        ("stdout", |command| command.stdout(std::process::Stdio::inherit())),
        ("stderr", |command| command.stderr(std::process::Stdio::piped())),
    ];
    for (name, change) in changes {
        let mut std = std::process::Command::new("true");
        change(&mut std);
        // Of an older std, whose `{:#?}` writes no struct, only this is seen.
        if name != "arg0" && !format!("{:#?}", std).starts_with("Command {") {
            continue;
        }
        let error = Command::from(std).spawn().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", name);
        assert_eq!(
            (error.step(), error.subject()),
            (Step::Argument, &b"std::process::Command"[..])
        );
    }
}
