// SPDX-License-Identifier: MIT
//! In a process of its own, as it counts descriptors and children.

use aspawn::{Command, Stdio};

fn open() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn nothing_is_left_open() {
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
}
