// SPDX-License-Identifier: MIT
#![cfg(feature = "tokio")]

use aspawn::queue::{Job, Options};
use aspawn::tokio::{Command, Queue};
use aspawn::{Owner, Stdio, Step};
use futures_core::Stream;
use std::future::Future;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn collects_both_outputs() {
    let output = Command::new("sh")
        .args(["-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3"])
        .output()
        .await
        .unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len()), (300_000, 300_000));
    assert_eq!(output.status.code(), Some(3));
}

#[tokio::test]
async fn spawn_reports_what_failed() {
    let error = Command::new("no-such-program").spawn_async().await.unwrap_err();
    assert_eq!(error.step(), Step::Search);
    let error = Command::new("no-such-program").start().unwrap().wait().await.unwrap_err();
    assert_eq!(error.step(), Step::Search);
}

#[tokio::test]
async fn feeds_and_reads() {
    let mut command = Command::new("tr");
    command.args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn_async().await.unwrap();
    child.stdin.take().unwrap().write_all(b"abc").await.unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "ABC");
    assert!(child.wait().await.unwrap().success());
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn children_run_at_the_same_time() {
    let mut children = Vec::new();
    for _ in 0..20 {
        children
            .push(Command::new("cat").stdin(Stdio::piped()).owner(Owner::Private).start().unwrap());
    }
    for child in &mut children {
        assert!(child.try_wait().unwrap().is_none());
    }
    for child in &mut children {
        assert!(child.wait().await.unwrap().success());
        assert!(child.try_wait().unwrap().unwrap().success());
    }
}

#[tokio::test]
async fn a_wait_can_be_cancelled() {
    // Not start(): killed before its exec, it would be an error.
    let mut child = Command::new("sleep").arg("20").spawn_async().await.unwrap();
    let begin = Instant::now();
    assert!(tokio::time::timeout(Duration::from_millis(20), child.wait()).await.is_err());
    assert!(begin.elapsed() >= Duration::from_millis(20));
    child.kill().await.unwrap();
    assert_eq!(child.wait().await.unwrap().to_string(), "signal: 9 (SIGKILL)");
}

#[tokio::test]
async fn a_time_limit_ends_the_program() {
    use std::io::ErrorKind::TimedOut;
    let shell = |script| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).timeout(Duration::from_millis(100));
        command
    };
    let begin = Instant::now();
    let error = shell("exec sleep 1000").output().await.unwrap_err();
    assert_eq!((error.step(), error.kind()), (Step::Run, TimedOut));
    let error = shell("exec sleep 1000").status().await.unwrap_err();
    assert_eq!((error.step(), error.kind()), (Step::Run, TimedOut));
    // What it writes within the grace is read.
    let script =
        "trap 'head -c 300000 /dev/zero && rm $0; exit' TERM; while :; do sleep 0.01; done";
    let file = std::path::Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/limit"));
    std::fs::write(file, "").unwrap();
    for limit in [100, 1_000, 10_000] {
        // A busy machine may not have come to the trap.
        let mut command = shell(script);
        command.arg(file).timeout(Duration::from_millis(limit)).grace(Duration::from_secs(500));
        assert_eq!(command.output().await.unwrap_err().kind(), TimedOut);
        if !file.exists() {
            break;
        }
    }
    assert!(!file.exists());
    // By SIGKILL, and the group, without which sleep would hold the pipe.
    for owner in [Owner::Caller, Owner::Private, Owner::Tree] {
        let mut command = shell("trap '' TERM; sleep 1000 & wait; sleep 1000");
        command.grace(Duration::from_millis(10)).kill_group(true).owner(owner);
        assert_eq!(command.output().await.unwrap_err().kind(), TimedOut);
    }
    assert!(begin.elapsed() < Duration::from_secs(400));
    let output = shell("echo text").timeout(Duration::MAX).output().await.unwrap();
    assert_eq!(output.stdout, b"text\n");
}

#[tokio::test]
async fn a_terminal_is_read_without_blocking() {
    let mut command = Command::new("sh");
    command.args(["-c", "read word; stty size; echo \"<$word>\""]).terminal(7, 8);
    let mut child = command.start().unwrap();
    let terminal = AsyncFd::new(child.terminal.take().unwrap()).unwrap();
    terminal.get_ref().resize(9, 10).unwrap();
    terminal.writable().await.unwrap().try_io(|fd| fd.get_ref().write(b"word\n")).unwrap().unwrap();
    let (mut text, mut part) = (Vec::new(), [0; 100]);
    loop {
        match terminal.readable().await.unwrap().try_io(|fd| fd.get_ref().read(&mut part)) {
            Ok(Ok(0)) => break,
            Ok(count) => text.extend_from_slice(&part[..count.unwrap()]),
            Err(_) => (), // not ready
        }
    }
    assert_eq!(String::from_utf8(text).unwrap(), "word\r\n9 10\r\n<word>\r\n");
    assert!(child.wait().await.unwrap().success());
    let errors = [command.status().await.unwrap_err(), command.output().await.unwrap_err()];
    assert!(errors
        .iter()
        .all(|error| (error.step(), error.subject()) == (Step::Argument, b"terminal")));
}

#[tokio::test]
async fn others_run_while_a_program_is_awaited() {
    let waits = tokio::spawn(async { Command::new("sleep").arg("0.2").status().await });
    let mut turns = 0;
    while !waits.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
        turns += 1;
    }
    assert!(waits.await.unwrap().unwrap().success() && turns > 0);
}

#[tokio::test]
async fn results_of_a_queue_are_awaited() {
    let queue = Queue::with(Options::new().running(4)).unwrap();
    assert!(queue.next().await.unwrap().is_none());
    let mut sum = 0;
    for round in 0..3 {
        for number in 0..50 {
            let command = aspawn::Command::new("true");
            queue.submit(Job::new(&command).cookie(round * 50 + number)).unwrap();
        }
        while let Some(outcome) = queue.next().await.unwrap() {
            assert!(outcome.success());
            sum += outcome.cookie;
        }
    }
    assert_eq!(sum, 149 * 150 / 2);
}

/// The next item of a stream.
struct Next<'a, S>(&'a mut S);

impl<S: Stream + Unpin> Future for Next<'_, S> {
    type Output = Option<S::Item>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll_next(context)
    }
}

#[tokio::test]
async fn a_queue_has_a_stream_for_each_task() {
    let queue = Arc::new(Queue::new().unwrap());
    for _ in 0..30 {
        queue.submit(&Job::new(aspawn::Command::new("sleep").arg("0.01"))).unwrap();
    }
    let tasks = [(); 3].map(|_| {
        let queue = queue.clone();
        tokio::spawn(async move {
            let (mut count, mut stream) = (0, queue.stream());
            while let Some(outcome) = Next(&mut stream).await {
                assert!(outcome.unwrap().success());
                count += 1;
            }
            count
        })
    });
    let mut taken = 0;
    for task in tasks {
        taken += task.await.unwrap();
    }
    assert_eq!(taken, 30);
}

#[tokio::test]
async fn a_task_learns_of_the_end_that_another_has_seen() {
    let queue = Arc::new(Queue::new().unwrap());
    queue.submit(&Job::new(aspawn::Command::new("sleep").arg("0.1"))).unwrap();
    let waits = tokio::spawn({
        let queue = queue.clone();
        async move { queue.next().await }
    });
    tokio::task::yield_now().await;
    // The runtime sees nothing of the end before this task has taken the result.
    while queue.counts().unwrap().ended == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(10));
    assert!(queue.next().await.unwrap().unwrap().success());
    assert!(queue.next().await.unwrap().is_none());
    let other = tokio::time::timeout(Duration::from_secs(60), waits).await;
    assert!(other.unwrap().unwrap().unwrap().is_none());
}

#[tokio::test]
async fn a_stream_that_is_left_keeps_no_result_from_others() {
    let queue = Queue::new().unwrap();
    let wait = Duration::from_secs(60);
    queue.submit(&Job::new(aspawn::Command::new("sleep").arg("0.1"))).unwrap();
    let mut stream = queue.stream();
    assert!(tokio::time::timeout(Duration::ZERO, Next(&mut stream)).await.is_err());
    assert!(tokio::time::timeout(wait, queue.next()).await.unwrap().unwrap().is_some());
    assert!(tokio::time::timeout(wait, Next(&mut stream)).await.unwrap().is_none());
}

#[tokio::test]
async fn no_result_is_lost_by_a_cancelled_wait() {
    let queue = Queue::new().unwrap();
    queue.submit(&Job::new(aspawn::Command::new("sleep").arg("0.1"))).unwrap();
    let mut turns = 0;
    let outcome = loop {
        match tokio::time::timeout(Duration::from_millis(5), queue.next()).await {
            Ok(outcome) => break outcome.unwrap(),
            Err(_) => turns += 1,
        }
    };
    assert!(outcome.unwrap().success() && turns > 0);
    assert!(queue.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_server_that_a_job_stops_is_continued() {
    let queue = Queue::new().unwrap();
    queue.submit(&Job::new(aspawn::Command::new("sh").args(["-c", "kill -STOP $PPID"]))).unwrap();
    let outcome = tokio::time::timeout(Duration::from_secs(60), queue.next()).await;
    assert!(outcome.unwrap().unwrap().unwrap().success());
}

#[tokio::test]
async fn a_child_that_is_left_is_no_zombie_for_long() {
    extern "C" {
        fn kill(pid: i32, signal: i32) -> i32;
    }
    for (seconds, kills) in [("0.1", false), ("1000", true)] {
        let child = Command::new("sleep").arg(seconds).kill_on_drop(kills).spawn().unwrap();
        let pid = child.id().unwrap() as i32;
        drop(child);
        let begin = Instant::now();
        while unsafe { kill(pid, 0) } == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60));
            assert!(Command::new("true").status().await.unwrap().success());
        }
    }
}

#[test]
fn a_child_is_awaited_in_another_runtime() {
    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }
    let start = |stdin| {
        runtime().block_on(async { Command::new("cat").stdin(stdin).spawn_async().await.unwrap() })
    };
    let mut ended = start(Stdio::null());
    let mut running = start(Stdio::piped());
    runtime().block_on(async {
        assert!(ended.wait().await.unwrap().success());
        running.stdin = None;
        assert!(running.wait().await.unwrap().success());
    });
}

#[tokio::test]
async fn a_child_whose_helper_was_killed_blocks_no_thread() {
    let mut command = Command::new("sh");
    command.args(["-c", "kill -9 $PPID; read none"]).stdin(Stdio::piped());
    let mut child = command.owner(Owner::Private).start().unwrap();
    let stdin = child.stdin.take();
    for _ in 0..2 {
        assert!(tokio::time::timeout(Duration::from_millis(200), child.wait()).await.is_err());
    }
    drop(stdin);
    let _ = tokio::time::timeout(Duration::from_secs(60), child.wait()).await.unwrap();
}

#[tokio::test]
async fn process_is_as_tokios() {
    use aspawn::tokio::process::{Child, Command};
    async fn wait(child: &mut Child) -> std::io::Result<std::process::ExitStatus> {
        child.wait().await
    }
    let output = Command::new("sh").args(["-c", "echo out; echo err >&2"]).output();
    let output = output.await.unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!(Command::new("sh").args(["-c", "exit 3"]).status().await.unwrap().code(), Some(3));
    let error: std::io::Error = Command::new("/no/such").spawn().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(2));
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    assert!(child.id().is_some() && child.try_wait().unwrap().is_none());
    assert!(wait(&mut child).await.unwrap().success());
    assert_eq!(child.id(), None);
}
