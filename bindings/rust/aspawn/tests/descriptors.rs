// SPDX-License-Identifier: MIT
//! In a process of its own, as it counts descriptors and children.

use aspawn::{Command, Stdio, Step};
use std::os::unix::io::{FromRawFd, OwnedFd};
use std::sync::Mutex;

fn open() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// One test of this process at a time.
static ALONE: Mutex<()> = Mutex::new(());

extern "C" {
    fn dup(fd: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
    fn fcntl(fd: i32, command: i32) -> i32;
}

/// Closed at once, its number would be that of the next descriptor that anybody opens.
#[test]
fn a_low_descriptor_of_a_stream_stays_open_until_the_command_is_dropped() {
    let _alone = ALONE.lock();
    let is_open = |fd| unsafe { fcntl(fd, 1) } >= 0;
    for fd in [0, 1, 2] {
        let saved = unsafe { dup(fd) };
        let mut command = Command::new("true");
        command.stdout(unsafe { Stdio::from_raw_fd(fd) });
        assert!(is_open(fd));
        let status = command.status();
        let was_open = is_open(fd);
        drop(command);
        let is_closed = !is_open(fd);
        assert_eq!(unsafe { dup2(saved, fd) }, fd);
        drop(unsafe { OwnedFd::from_raw_fd(saved) });
        assert!(status.unwrap().success() && was_open && is_closed);
    }
}

#[test]
fn nothing_is_left_open() {
    let _alone = ALONE.lock();
    let before = open();
    for _ in 0..3 {
        assert!(Command::new("true").output().is_ok());
        assert!(Command::new("no-such-program").output().is_err());
        assert!(Command::new("no-such-program").stdin(Stdio::piped()).spawn().is_err());
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.kill_on_drop(true);
        drop(command.start());
        assert!(command.spawn().unwrap().wait().is_ok());
        assert!(command.spawn().unwrap().wait_with_output().is_ok());
    }
    assert_eq!(open(), before);
    extern "C" {
        fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    }
    assert_eq!(unsafe { waitpid(-1, std::ptr::null_mut(), 1) }, -1, "a child is left");

    extern "C" {
        fn setrlimit(resource: i32, limits: *const [usize; 2]) -> i32;
    }
    const EMFILE: i32 = 24;
    const NOFILE: i32 = if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 5 } else { 7 };
    assert_eq!(unsafe { setrlimit(NOFILE, &[64, 64]) }, 0);
    let _all: Vec<_> = (0..64).map_while(|_| std::fs::File::open("/dev/null").ok()).collect();
    let error = Command::new("true").stderr(std::io::stdout()).spawn().unwrap_err();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Streams, EMFILE));
}
