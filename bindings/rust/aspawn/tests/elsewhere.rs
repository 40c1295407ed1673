// SPDX-License-Identifier: MIT
//! What a command is where the library does not work: built with ASPAWN_ELSEWHERE=1.
#![allow(unknown_lints, unexpected_cfgs)]
#![cfg(elsewhere)]

use aspawn::queue::{Job, Options};
use aspawn::spec::Spec;
use aspawn::{Action, Child, Command, Error, Memory, Owner, Queue, Resource, Result, Stdio, Step};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(200);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn refused(error: Error, text: &str) {
    assert_eq!((error.step(), error.kind()), (Step::Unsupported, ErrorKind::Unsupported));
    assert_eq!(error.to_string(), text);
    let error = std::io::Error::from(error);
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Unsupported, text));
}

#[test]
fn the_flag_is_false() {
    assert_eq!(aspawn::SUPPORTED.to_string(), "false");
}

#[test]
fn starts_feeds_and_reads() {
    let mut command = Command::new("tr");
    command.args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    for start in [Command::start, Command::spawn] {
        let mut child: Child = start(&mut command).unwrap();
        assert!(child.id() > 1 && child.wait_id().unwrap() == child.id());
        assert!(child.wait_started(None).unwrap());
        assert_eq!((child.owner(), child.mode()), (Owner::Caller, None));
        child.stdin.take().unwrap().write_all(b"abc").unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ABC");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn names_a_program_that_is_not_there() {
    let error = Command::new("/no/such").spawn().unwrap_err();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Unknown, 2));
    assert_eq!(error.to_string(), "start \"/no/such\": No such file or directory (os error 2)");
    let error = Command::new("true").arg("a\0b").spawn().unwrap_err();
    assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::InvalidInput, 0));
}

#[test]
fn a_time_limit_ends_the_program() {
    let mut ignores = shell("trap '' TERM; while :; do sleep 0.01; done");
    let mut many = shell("sleep 100 & sleep 100");
    ignores.timeout(LIMIT).grace(LIMIT);
    many.timeout(LIMIT).kill_group(true);
    for command in [&mut ignores, &mut many, Command::new("sleep").arg("100").timeout(LIMIT)] {
        for _ in 0..2 {
            let begin = Instant::now();
            assert_eq!(command.output().unwrap_err().kind(), ErrorKind::TimedOut);
            assert_eq!(command.status().unwrap_err().kind(), ErrorKind::TimedOut);
            assert!(begin.elapsed() >= LIMIT && begin.elapsed() < Duration::from_secs(50));
        }
    }
}

#[test]
fn output_that_is_held_by_another_process_is_left_after_the_grace() {
    let begin = Instant::now();
    let output = shell("echo text; sleep 100 &").grace(LIMIT).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.success()), (&b"text\n"[..], true));
    assert!(begin.elapsed() < Duration::from_secs(50));
}

#[test]
fn waits_and_kills() {
    let mut child = Command::new("sleep").arg("100").spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    assert!(child.wait_timeout(LIMIT).unwrap().is_none());
    child.kill_with(15).unwrap();
    assert!(child.wait_timeout(Duration::from_secs(100)).unwrap().is_some());
    child.kill().unwrap();
    let mut child =
        shell("sleep 100 & echo; wait").process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0]).unwrap();
    child.kill_group(9).unwrap();
    out.read_to_end(&mut Vec::new()).unwrap();
    assert!(!child.wait().unwrap().success());
    drop(Command::new("sleep").arg("100").kill_on_drop(true).spawn().unwrap());
}

#[test]
fn a_session_of_its_own() {
    let script = "set -- $(cat /proc/$$/stat); echo $(($5 == $$)) $(($6 == $$))";
    assert_eq!(shell(script).setsid(true).output().unwrap().stdout, b"1 1\n");
    assert_eq!(shell(script).process_group(0).output().unwrap().stdout, b"1 0\n");
}

#[test]
fn what_std_has_not_is_an_error_of_the_start() {
    let file = std::fs::File::open("/dev/null").unwrap();
    for (command, name) in [
        (Command::new("true").owner(Owner::Tree), "owner"),
        (Command::new("true").owner(Owner::Private), "owner"),
        (Command::new("true").memory(Memory::Copied), "memory"),
        (Command::new("true").stop_signal(2), "stop_signal"),
        (Command::new("true").action(Action::chdir("/")), "action"),
        (Command::new("true").action(Action::dup2(&file, 3)), "action"),
        (Command::new("true").rlimit(Resource::Cpu, 1, 1), "action"),
        (Command::new("true").closefrom(3), "action"),
        (Command::new("true").groups(&[]), "groups"),
        (Command::new("true").dies_with_caller(true), "dies_with_caller"),
        (Command::new("true").tree_or_group(true), "tree_or_group"),
        (Command::new("true").shell_on_enoexec(true), "shell_on_enoexec"),
        (Command::new("true").inherit_signals(false), "inherit_signals"),
        (Command::new("true").stderr(Stdio::to_stdout()), "Stdio::to_stdout"),
        (Command::new("true").stderr(Stdio::terminal()), "terminal"),
        (Command::new("true").terminal(24, 80), "terminal"),
    ] {
        let text = format!("{}: on Linux only", name);
        refused(command.start().unwrap_err(), &text);
        refused(command.spawn().unwrap_err(), &text);
        refused(command.output().unwrap_err(), &text);
        refused(command.status().unwrap_err(), &text);
    }
}

#[test]
fn what_std_has_not_is_an_error_of_the_method() {
    let mut child = Command::new("sleep").arg("100").spawn().unwrap();
    refused(child.kill_tree(None).unwrap_err(), "kill_tree: on Linux only");
    refused(child.kill_with(10).unwrap_err(), "signal 10: on Linux only");
    refused(child.pidfd().unwrap_err(), "pidfd: on Linux only");
    refused(child.wait_with_usage().unwrap_err(), "wait_with_usage: on Linux only");
    assert!(child.ended_fd().is_none() && child.take_pipe(3).is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    let file = std::fs::File::open("/").unwrap();
    refused(aspawn::kill_cgroup(&file).unwrap_err(), "kill_cgroup: on Linux only");
}

#[test]
fn there_is_no_queue_and_no_spec() {
    let queue = |options| -> Result<()> {
        let queue = Queue::with(options)?;
        queue.submit(Job::new(&Command::new("true")).stdout(1))?;
        queue.results().try_for_each(|outcome| outcome.map(|_| ()))
    };
    refused(queue(Options::new().running(1)).unwrap_err(), "Queue: on Linux only");
    refused(Spec::new("true").start().unwrap_err(), "spec::Spec: on Linux only");
}

#[cfg(feature = "tokio")]
mod tokio {
    use super::{refused, Duration, ErrorKind, Job, Owner, Stdio, LIMIT};
    use ::tokio::io::AsyncReadExt;
    use aspawn::tokio::{process, Command, Queue};

    #[::tokio::test]
    async fn starts_and_reads() {
        let output = process::Command::new("echo").arg("text").output().await.unwrap();
        assert_eq!(output.stdout, b"text\n");
        assert!(Command::new("true").status().await.unwrap().success());
        let mut command = Command::new("echo");
        let mut child = command.arg("text").stdout(Stdio::piped()).spawn_async().await.unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), child.wait().await.unwrap().success()), ("text\n", true));
        assert!(child.try_wait().unwrap().is_some() && child.id().is_none());
        assert_eq!(Command::new("/no/such").output().await.unwrap_err().raw_os_error(), 2);
    }

    #[::tokio::test]
    async fn a_time_limit_and_kill_end_the_program() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; sleep 100 & wait; sleep 100"]).kill_group(true);
        let error = command.timeout(LIMIT).grace(LIMIT).output().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        child.kill().await.unwrap();
        child.kill_with(15).unwrap();
        let mut child = Command::new("sleep").arg("100").process_group(0).start().unwrap();
        child.kill_group(15).unwrap();
        assert!(!child.wait().await.unwrap().success());
    }

    #[::tokio::test]
    async fn what_tokio_has_not_is_an_error() {
        let error = Command::new("true").owner(Owner::Tree).output().await.unwrap_err();
        refused(error, "owner: on Linux only");
        let error = Command::new("true").terminal(0, 0).output().await.unwrap_err();
        refused(error, "terminal: on Linux only");
        let mut child = Command::new("true").spawn().unwrap();
        refused(child.kill_tree(Some(Duration::ZERO)).unwrap_err(), "kill_tree: on Linux only");
        refused(child.wait_with_usage().await.unwrap_err(), "wait_with_usage: on Linux only");
        child.wait().await.unwrap();
        refused(Queue::new().unwrap_err(), "Queue: on Linux only");
        let _ = |queue: &Queue| queue.submit(&Job::new(&aspawn::Command::new("true")));
    }
}
