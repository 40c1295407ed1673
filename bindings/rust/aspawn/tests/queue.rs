// SPDX-License-Identifier: MIT
//! The queue.

use aspawn::queue::{End, Job, Options, Outcome, Queue};
use aspawn::spec::Spec;
use aspawn::{Action, Command, Memory, Stdio, Step};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::io::AsRawFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const ECHILD: i32 = 10;
const E2BIG: i32 = 7;
const EBADF: i32 = 9;
const ESRCH: i32 = 3;

extern "C" {
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// The only result of the queue.
fn only(queue: &Queue) -> Outcome {
    let outcome = queue.wait(None).unwrap().unwrap();
    assert!(queue.wait(None).unwrap().is_none());
    outcome
}

#[test]
fn runs_many_a_few_at_a_time() {
    let queue = Queue::with(Options::new().jobs(64).running(3)).unwrap();
    let (mut submitted, mut sum) = (0, 0);
    while submitted < 200 {
        let command = shell(&format!("echo {}", submitted));
        match queue.submit(Job::new(&command).cookie(submitted).stdout(100)) {
            Ok(_) => submitted += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                sum += queue.wait(None).unwrap().unwrap().cookie;
            }
        }
        assert!(queue.counts().unwrap().running <= 3);
    }
    for outcome in queue.results() {
        let outcome = outcome.unwrap();
        assert!(outcome.success());
        assert_eq!(outcome.stdout, format!("{}\n", outcome.cookie).as_bytes());
        sum += outcome.cookie;
    }
    assert_eq!(sum, 199 * 200 / 2);
    let counts = queue.counts().unwrap();
    assert_eq!((counts.waiting, counts.running, counts.ended, counts.servers), (0, 0, 0, 1));
}

#[test]
fn keeps_input_and_both_outputs() {
    let queue = Queue::new().unwrap();
    let command = shell("cat; echo 12345678 >&2; exit 3");
    queue.submit(Job::new(&command).input(b"of the input").stdout(6).stderr(6)).unwrap();
    let outcome = only(&queue);
    assert_eq!((outcome.stdout.as_slice(), outcome.stdout_total), (&b"of the"[..], 12));
    assert_eq!((outcome.stderr.as_slice(), outcome.stderr_total), (&b"123456"[..], 9));
    assert!(outcome.pid.is_some() && outcome.usage.max_resident > 0);
    assert_eq!(outcome.to_string(), "exit 3");
    assert_eq!(outcome.into_output().unwrap().status.code(), Some(3));

    queue.submit(Job::new(&command).stdout(6).tail(true).stderr_to_stdout()).unwrap();
    assert_eq!(only(&queue).stdout, b"45678\n");
    let mut command = shell("echo 1; echo 2 >&2");
    command.stderr(Stdio::to_stdout());
    let prepared = queue.prepare(&command).unwrap();
    for job in [Job::new(&command), Job::prepared(prepared)] {
        queue.submit(job.clone().stdout(9)).unwrap();
        assert_eq!(only(&queue).stdout, b"1\n2\n");
    }
}

#[test]
fn a_failure_names_the_step() {
    let queue = Queue::new().unwrap();
    queue.submit(&Job::new(&Command::new("no-such-program"))).unwrap();
    let outcome = only(&queue);
    assert!(matches!(&outcome.end, End::NotStarted(error) if error.step() == Step::Search));
    assert_eq!(
        outcome.to_string(),
        "not started: search \"no-such-program\": no such file or directory"
    );
    assert_eq!(outcome.into_output().unwrap_err().kind(), ErrorKind::NotFound);

    let mut command = Command::new("true");
    command.current_dir("/").action(Action::umask(0)).action(Action::chdir("/no/such"));
    queue.submit(Job::new(&command).cookie(7)).unwrap();
    let outcome = only(&queue);
    assert_eq!(outcome.cookie, 7);
    assert_eq!(outcome.into_output().unwrap_err().step(), Step::Action(1));
    let prepared = queue.prepare(&command).unwrap();
    queue.submit(&Job::prepared(prepared)).unwrap();
    assert_eq!(only(&queue).into_output().unwrap_err().step(), Step::Action(1));
}

#[test]
fn a_time_limit_and_a_cancel_end_the_whole_group() {
    let queue = Queue::new().unwrap();
    // Without the group sleep would hold the pipe open.
    let mut command = shell("sleep 20 & echo text; wait");
    queue.submit(Job::new(&command).stdout(10).timeout(Duration::from_millis(100))).unwrap();
    let outcome = only(&queue);
    assert_eq!(outcome.to_string(), "timed out, killed by SIGTERM");
    assert_eq!(outcome.into_output().unwrap_err().kind(), ErrorKind::TimedOut);
    // the command's own
    command.timeout(Duration::from_millis(100)).stop_signal(aspawn::consts::SIGUSR1);
    queue.submit(Job::new(&command).stdout(10)).unwrap();
    let outcome = only(&queue);
    assert_eq!(outcome.to_string(), "timed out, killed by SIGUSR1");
    assert_eq!((outcome.stdout_cut, outcome.survivors, outcome.memory_peak), (false, 0, None));

    let ticket = queue.submit(&Job::new(&Command::new("cat"))).unwrap();
    assert!(only(&queue).success());
    assert_eq!(queue.cancel(ticket).unwrap_err().raw_os_error(), ESRCH);
    let ticket = queue.submit(&Job::new(Command::new("sleep").arg("20"))).unwrap();
    queue.submit(&Job::new(Command::new("sleep").arg("20"))).unwrap();
    queue.cancel(ticket).unwrap();
    let outcome = queue.wait(None).unwrap().unwrap();
    assert_eq!((outcome.ticket, outcome.to_string().as_str()), (ticket, "cancelled"));
    assert!(queue.wait(Some(Duration::ZERO)).unwrap().is_none());
    queue.cancel_all().unwrap();
    assert!(queue.drain(None).unwrap());
    assert!(matches!(only(&queue).end, End::Cancelled));
}

#[test]
fn a_prepared_command_has_other_arguments() {
    let queue = Queue::new().unwrap();
    let prepared = queue.prepare(Command::new("echo").arg("own").env("A", "b")).unwrap();
    queue.submit(Job::prepared(prepared).stdout(100)).unwrap();
    assert_eq!(only(&queue).stdout, b"own\n");
    queue.submit(Job::prepared(prepared).argv(["echo", "other"]).stdout(100)).unwrap();
    assert_eq!(only(&queue).stdout, b"other\n");
    let other = Queue::new().unwrap();
    assert_eq!(other.submit(&Job::prepared(prepared)).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn of_jobs_with_a_key_only_so_many_run() {
    let queue = Queue::with(Options::new().running(8)).unwrap();
    let directory = concat!(env!("CARGO_TARGET_TMPDIR"), "/key");
    let mut command = shell("mkdir \"$0\" && sleep 0.01 && rmdir \"$0\"");
    command.arg(directory);
    for _ in 0..8 {
        queue.submit(Job::new(&command).key(1, 1)).unwrap();
    }
    assert!(queue.results().all(|outcome| outcome.unwrap().success()));
}

#[test]
fn rejects_what_a_job_cannot_have() {
    let queue = Queue::with(Options::new().job_bytes(4096)).unwrap();
    let kind = |command: &Command| queue.submit(&Job::new(command)).unwrap_err().kind();
    assert_eq!(kind(Command::new("true").stdout(Stdio::piped())), ErrorKind::InvalidInput);
    let prepared = queue.prepare(Command::new("true").env_clear()).unwrap();
    assert_eq!(
        queue.submit(Job::prepared(prepared).stderr_to_stdout()).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let mut command = Command::new("true");
    unsafe { command.pre_exec(|| Ok(())) };
    assert_eq!(kind(&command), ErrorKind::InvalidInput);
    command.memory(Memory::Copied); // the function may be gone when a job of this begins
    assert_eq!(kind(&command), ErrorKind::InvalidInput);
    assert_eq!(queue.prepare(&command).unwrap_err().subject(), b"pre_exec");
    let plain = Command::new("true");
    assert_eq!(
        queue.submit(Job::new(&plain).cookie(1 << 60)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        queue.submit(Job::new(&plain).argv(["true"])).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let mut large = Command::new("true");
    large.arg("x".repeat(5000)).env_clear();
    assert_eq!(queue.submit(&Job::new(&large)).unwrap_err().raw_os_error(), E2BIG);
    let mut with_fd = Command::new("true");
    with_fd.env_clear().action(Action::dup2(9999, 0));
    assert_eq!(queue.submit(&Job::new(&with_fd)).unwrap_err().raw_os_error(), EBADF);
    let error = queue.submit(Job::new(&plain).priority(8)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(queue.wait(None).unwrap().is_none()); // none was submitted
}

#[test]
fn no_other_wait_sees_a_job() {
    let queue = Queue::new().unwrap();
    queue.submit(Job::new(&shell("echo $PPID")).stdout(20)).unwrap();
    let outcome = only(&queue);
    let pid = outcome.pid.unwrap() as i32;
    assert_ne!(outcome.stdout, format!("{}\n", std::process::id()).as_bytes());
    assert_eq!(unsafe { waitpid(pid, std::ptr::null_mut(), 0) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(ECHILD));
}

#[test]
fn a_dropped_queue_kills_its_jobs() {
    let queue = Queue::new().unwrap();
    let (end, start) = pipe();
    let path = format!("/proc/{}/fd/{}", std::process::id(), start.as_raw_fd());
    let mut command = shell("echo text; sleep 1000");
    command.action(Action::open(1, path, 1, 0));
    queue.submit(&Job::new(&command)).unwrap();
    let mut text = [0; 5];
    std::io::Read::read_exact(&mut &end, &mut text).unwrap();
    drop(start);
    drop(queue);
    assert_eq!(std::io::Read::read(&mut &end, &mut text).unwrap(), 0); // nobody has its end
}

fn pipe() -> (File, File) {
    use std::os::unix::io::FromRawFd;
    extern "C" {
        fn pipe2(fds: *mut i32, flags: i32) -> i32;
    }
    const O_CLOEXEC: i32 = 0o2000000;
    let mut fds = [0; 2];
    unsafe {
        assert_eq!(pipe2(fds.as_mut_ptr(), O_CLOEXEC), 0);
        (File::from_raw_fd(fds[0]), File::from_raw_fd(fds[1]))
    }
}

#[test]
fn threads_submit_and_take() {
    let queue = Arc::new(Queue::with(Options::new().jobs(512)).unwrap());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let queue = queue.clone();
            thread::spawn(move || {
                for _ in 0..25 {
                    queue.submit(&Job::new(&Command::new("true"))).unwrap();
                }
                queue.results().map(|outcome| assert!(outcome.unwrap().success())).count()
            })
        })
        .collect();
    let taken: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(taken, 100);
}

#[test]
fn a_local_queue_has_the_callers_descriptors() {
    let queue = Queue::with(Options::new().local(true)).unwrap();
    let file = File::open("/proc/self/comm").unwrap();
    let mut command = Command::new("cat");
    command.action(Action::dup2(&file, 0));
    queue.submit(Job::new(&command).stdout(100)).unwrap();
    let own = std::fs::read("/proc/self/comm").unwrap();
    assert_eq!(only(&queue).stdout, own);
}

#[test]
fn a_job_has_the_descriptors_that_its_actions_use() {
    let queue = Queue::new().unwrap();
    let file = File::open("/proc/self/comm").unwrap();
    let mut command = Command::new("cat");
    command.action(Action::dup2(&file, 0));
    queue.submit(Job::new(&command).stdout(100)).unwrap();
    drop(file);
    assert_eq!(only(&queue).stdout, std::fs::read("/proc/self/comm").unwrap());
    let mut command = Command::new("cat");
    command.action(Action::dup2(9999, 0));
    assert_eq!(queue.submit(&Job::new(&command)).unwrap_err().raw_os_error(), EBADF);
}

#[test]
fn a_higher_priority_starts_first() {
    let queue = Queue::with(Options::new().running(1)).unwrap();
    let first = queue.submit(&Job::new(Command::new("sleep").arg("20"))).unwrap();
    while queue.counts().unwrap().running == 0 {
        thread::yield_now();
    }
    for priority in [0u8, 2, 1] {
        let job = Command::new("true");
        queue.submit(Job::new(&job).priority(priority).cookie(priority.into())).unwrap();
    }
    queue.cancel(first).unwrap();
    let order: Vec<_> = queue.results().map(|outcome| outcome.unwrap().cookie).collect();
    assert_eq!(order[1..], [2, 1, 0]);
}

#[test]
fn a_failure_names_the_invalid_member() {
    let queue = Queue::with(Options::new().job_bytes(4096)).unwrap();
    let command = Command::new("true");
    let error = queue.submit(Job::new(&command).priority(8)).unwrap_err();
    assert_eq!((error.step(), error.subject()), (Step::Argument, &b"job.priority"[..]));
    let error = queue.submit(&Job::new(Command::new("true").stdout(Stdio::piped()))).unwrap_err();
    assert_eq!((error.step(), error.subject()), (Step::Argument, &b"std_out"[..]));
    let error = queue.submit(&Job::new(Command::new("true").terminal(0, 0))).unwrap_err();
    assert_eq!((error.step(), error.subject()), (Step::Argument, &b"std_in"[..]));
    let error = queue.submit(&Job::new(Command::new("true").arg("x".repeat(9000)))).unwrap_err();
    assert_eq!((error.subject(), error.raw_os_error()), (&b"job_bytes"[..], E2BIG));
    let mut command = Command::new("true");
    command.current_dir("/").action(Action::umask(0)).action(Action::output_pipe(3));
    let error = queue.prepare(&command).unwrap_err();
    assert_eq!((error.step(), error.action()), (Step::Action(1), Some("output_pipe")));
}

#[test]
fn of_a_spec_without_std() {
    let queue = Queue::new().unwrap();
    let mut spec = Spec::new("sh");
    spec.arg("-c").arg("echo $A").environment(["A=b", "PATH=/bin"]);
    queue.submit(Job::of(&spec).stdout(9)).unwrap();
    assert_eq!(only(&queue).stdout, b"b\n");
    let prepared = queue.prepare_spec(&spec).unwrap();
    queue.submit(Job::prepared(prepared).stdout(9)).unwrap();
    assert_eq!(only(&queue).stdout, b"b\n");
}
