// SPDX-License-Identifier: MIT
//! The same code with std's Command and with this one has the same results.
#![allow(clippy::needless_question_mark, clippy::useless_conversion)] // one of the two needs them

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};

/// Each test is a function that is compiled once for each of three modules: `same!` converts
/// errors, `same_types!` needs those of std.
macro_rules! same {
    ($($(#[$attribute:meta])* fn $name:ident() -> $result:ty $body:block)*) => {
        module! { with_std, std::process { $(fn $name() -> $result $body)* } }
        module! { with_aspawn, aspawn { $(fn $name() -> $result $body)* } }
        module! { with_process, aspawn::process { $(fn $name() -> $result $body)* } }
        $($(#[$attribute])* #[test]
        fn $name() {
            let expected = format!("{:?}", with_std::$name());
            assert_eq!(expected, format!("{:?}", with_aspawn::$name()));
            assert_eq!(expected, format!("{:?}", with_process::$name()));
        })*
    };
}
macro_rules! same_types {
    ($(fn $name:ident() -> $result:ty $body:block)*) => {
        module! { types_of_std, std::process { $(fn $name() -> $result $body)* } }
        module! { types_of_process, aspawn::process { $(fn $name() -> $result $body)* } }
        $(#[test]
        fn $name() {
            let expected = format!("{:?}", types_of_std::$name());
            assert_eq!(expected, format!("{:?}", types_of_process::$name()));
        })*
    };
}
macro_rules! module {
    ($module:ident, $($process:ident)::+ { $(fn $name:ident() -> $result:ty $body:block)* }) => {
        mod $module {
            use super::*;
            #[allow(unused_imports)]
            use std::os::unix::process::CommandExt;
            #[allow(unused_imports)]
            use $($process)::+ as process;
            #[allow(unused_imports)]
            use $($process)::+::{Command, Stdio};
            $(pub fn $name() -> $result $body)*
        }
    };
}

fn is_root() -> bool {
    fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0).unwrap()
}

/// Programs test either of them.
fn told(error: io::Error) -> (io::ErrorKind, Option<i32>) {
    (error.kind(), error.raw_os_error())
}

const IDS: &str = "grep -E '^(Uid|Gid|Groups):' /proc/self/status; pwd";

same! {
    fn collects_both_outputs() -> io::Result<std::process::Output> {
        Ok(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).output()?)
    }

    fn output_of_a_process_that_is_left() -> io::Result<std::process::Output> {
        Ok(Command::new("sh").args(["-c", "(sleep 1.2; echo late) & echo first"]).output()?)
    }

    fn output_has_no_input() -> io::Result<std::process::Output> {
        Ok(Command::new("cat").output()?)
    }

    fn reports_a_signal() -> io::Result<std::process::ExitStatus> {
        Ok(Command::new("sh").arg("-c").arg("kill -TERM $$").status()?)
    }

    fn inherits_ignored_signals() -> io::Result<std::process::Output> {
        extern "C" {
            fn signal(signal: i32, handler: usize) -> usize;
        }
        const SIGALRM: i32 = 14;
        const SIG_IGN: usize = 1;
        // SAFETY: no handler; nothing here needs the signal.
        unsafe { signal(SIGALRM, SIG_IGN) };
        // Of the first 28: glibc's posix_spawn ignores signals of its own.
        let script = "grep Sig[BI] /proc/self/status | grep -o '.......$'";
        Ok(Command::new("sh").args(["-c", script]).output()?)
    }

    fn a_program_that_is_not_there() -> Option<(io::ErrorKind, Option<i32>)> {
        Command::new("no-such-program").spawn().map_err(io::Error::from).err().map(told)
    }

    fn a_path_that_is_not_there() -> Option<(io::ErrorKind, Option<i32>)> {
        Command::new("/no/such").status().map_err(io::Error::from).err().map(told)
    }

    fn a_directory_that_is_not_there() -> Option<(io::ErrorKind, Option<i32>)> {
        let mut command = Command::new("true");
        command.current_dir("/no/such");
        command.output().map_err(io::Error::from).err().map(told)
    }

    fn a_directory_is_no_program() -> Option<(io::ErrorKind, Option<i32>)> {
        Command::new("/tmp").spawn().map_err(io::Error::from).err().map(told)
    }

    fn a_nul_in_an_argument() -> Option<(io::ErrorKind, Option<i32>)> {
        Command::new("true").arg("a\0b").spawn().map_err(io::Error::from).err().map(told)
    }

    fn environment() -> io::Result<String> {
        std::env::set_var("ASPAWN_INHERITED", "1");
        let mut text = String::new();
        for clear in [false, true] {
            let mut command = Command::new("/usr/bin/env");
            command.env("ASPAWN_BEFORE", "1");
            if clear {
                command.env_clear();
            }
            command.env("ASPAWN_B", "2").env("ASPAWN_A", "1").env_remove("ASPAWN_B");
            command.envs([("ASPAWN_C", "3")]).env_remove("HOME");
            let output = command.output()?;
            let output = String::from_utf8(output.stdout).unwrap();
            let mut lines: Vec<_> = output.lines().filter(|line| !line.starts_with('_')).collect();
            lines.sort_unstable();
            text += &lines.join("\n");
        }
        Ok(text)
    }

    fn a_variable_without_a_name() -> io::Result<process::Output> {
        Ok(Command::new("/usr/bin/env").env_clear().env("", "x").output()?)
    }

    fn searches_the_programs_path() -> Option<(io::ErrorKind, Option<i32>)> {
        let mut command = Command::new("true");
        command.env("PATH", "/no/such").status().map_err(io::Error::from).err().map(told)
    }

    fn directory_and_first_argument() -> io::Result<std::process::Output> {
        Ok(Command::new("sh").arg0("renamed").args(["-c", "pwd; echo $0"]).current_dir("/usr")
            .output()?)
    }

    fn what_was_set() -> String {
        let mut command = Command::new("ls");
        command.args(["-l", "/"]).env("A", "1").env_remove("B").current_dir("/tmp");
        let args: Vec<&OsStr> = command.get_args().collect();
        let envs: Vec<_> = command.get_envs().collect();
        format!("{:?} {:?} {:?} {:?}", command.get_program(), args, envs, command.get_current_dir())
    }

    fn feeds_a_pipe() -> io::Result<String> {
        let mut child = Command::new("tr").args(["a-z", "A-Z"]).stdin(Stdio::piped())
            .stdout(Stdio::piped()).spawn()?;
        child.stdin.take().unwrap().write_all(b"abc")?;
        let mut text = String::new();
        child.stdout.as_mut().unwrap().read_to_string(&mut text)?;
        Ok(format!("{} {}", text, child.wait()?))
    }

    fn waits_twice() -> io::Result<String> {
        let mut child = Command::new("sh").args(["-c", "exit 5"]).spawn()?;
        let first = child.wait()?;
        Ok(format!("{} {} {:?}", first, child.wait()?, child.try_wait()?))
    }

    fn output_after_wait() -> io::Result<std::process::Output> {
        let mut child = Command::new("echo").arg("text").stdout(Stdio::piped()).spawn()?;
        child.wait()?;
        Ok(child.wait_with_output()?)
    }

    fn kills() -> io::Result<String> {
        let mut child = Command::new("sleep").arg("20").spawn()?;
        let before = child.try_wait()?;
        child.kill()?;
        Ok(format!("{:?} {}", before, child.wait()?))
    }

    fn more_than_a_pipe_holds() -> io::Result<String> {
        let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo x >&2; i=$((i+1)); done";
        let output = Command::new("sh").args(["-c", script]).output()?;
        Ok(format!("{} {}", output.stdout.len(), output.stderr.len()))
    }

    fn files_and_pipes_of_others() -> io::Result<String> {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/output");
        let mut first = Command::new("echo").arg("through").stdout(Stdio::piped()).spawn()?;
        let status = Command::new("cat").stdin(first.stdout.take().unwrap())
            .stdout(File::create(path)?).stderr(Stdio::null()).status()?;
        let text = fs::read_to_string(path)?;
        fs::remove_file(path)?;
        Ok(format!("{} {} {}", text, status, first.wait()?))
    }

    fn signals_are_reset() -> io::Result<Vec<u64>> {
        let mut command = Command::new("sed");
        command.args(["-nE", "s/^Sig(Blk|Ign):.//p", "/proc/self/status"]);
        let text = String::from_utf8(command.output()?.stdout).unwrap();
        // Without 32 and 33, the libc's own, which glibc's posix_spawn() ignores.
        Ok(text.lines().map(|set| u64::from_str_radix(set, 16).unwrap() & !(3 << 31)).collect())
    }

    fn user_and_group() -> io::Result<std::process::Output> {
        let mut command = Command::new("sh");
        command.args(["-c", IDS]);
        if is_root() {
            command.uid(65534).gid(65534);
        }
        Ok(command.current_dir("/").output()?)
    }

    fn closes_what_is_closed_by_exec() -> io::Result<std::process::Output> {
        let _file = File::open("/dev/null")?;
        Ok(Command::new("ls").arg("/proc/self/fd").output()?)
    }

    fn pre_exec() -> io::Result<std::process::Output> {
        extern "C" {
            fn umask(mask: u32) -> u32;
        }
        let mut command = Command::new("sh");
        command.args(["-c", "umask"]);
        unsafe {
            command.pre_exec(|| {
                umask(0o27);
                Ok(())
            });
        }
        Ok(command.output()?)
    }

    fn pre_exec_that_fails() -> Option<(io::ErrorKind, Option<i32>)> {
        let mut command = Command::new("true");
        unsafe {
            command.pre_exec(|| File::open("/no/such").map(|_| ()));
        }
        command.output().map_err(io::Error::from).err().map(told)
    }

    fn shell_script_without_a_first_line() -> Option<(io::ErrorKind, Option<i32>)> {
        use std::os::unix::fs::PermissionsExt;
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/script");
        fs::write(path, "exit 0\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        let result = Command::new(path).status().map_err(io::Error::from);
        fs::remove_file(path).unwrap();
        result.err().map(told)
    }
}

/// As of a crate that has one for std's child.
trait SignalExt {
    fn signal(&self, signal: i32) -> String;
    fn send_signal(&self, signal: i32) -> String;
}
macro_rules! signals {
    ($($child:ty),*) => {
        $(impl SignalExt for $child {
            fn signal(&self, signal: i32) -> String {
                format!("signal {}", signal)
            }
            fn send_signal(&self, signal: i32) -> String {
                format!("send_signal {}", signal)
            }
        })*
    };
}
signals!(std::process::Child, aspawn::process::Child);

same_types! {
    fn returns_the_errors_of_std() -> io::Result<Option<process::ExitStatus>> {
        fn spawn(command: &mut Command) -> io::Result<process::Child> {
            command.spawn()
        }
        fn end(child: &mut process::Child) -> io::Result<process::ExitStatus> {
            child.kill().and_then(|_| child.wait())
        }
        let mut child = spawn(Command::new("cat").stdin(Stdio::piped()))?;
        end(&mut child)?;
        child.try_wait()
    }

    fn errors_pass_through() -> [(io::ErrorKind, Option<i32>); 3] {
        fn output(program: &str) -> io::Result<process::Output> {
            Command::new(program).output()
        }
        fn status(program: &str) -> io::Result<process::ExitStatus> {
            Command::new(program).status()
        }
        let spawned: io::Result<process::Child> = Command::new("/tmp").spawn();
        [output("/no/such").unwrap_err(), status("/").unwrap_err(), spawned.unwrap_err()].map(told)
    }

    fn methods_that_return_the_command() -> io::Result<process::Output> {
        Command::new("sh").arg("-c").args(["echo $0 $A $B"]).arg0("sh").env("A", "1")
            .envs([("B", "2")]).env_remove("C").current_dir("/").stdin(Stdio::null()).output()
    }

    fn names_the_types_of_what_was_set() -> String {
        fn args(command: &Command) -> process::CommandArgs<'_> {
            command.get_args()
        }
        fn envs(command: &Command) -> process::CommandEnvs<'_> {
            command.get_envs()
        }
        let mut command = Command::new("ls");
        command.args(["-l", "/"]).env("A", "1").env_remove("B");
        format!("{} {:?} {} {:?}", args(&command).len(), args(&command).collect::<Vec<_>>(),
            envs(&command).len(), envs(&command).collect::<Vec<_>>())
    }

    fn traits_of_others_are_not_shadowed() -> io::Result<(String, String)> {
        let mut child = Command::new("true").spawn()?;
        child.wait()?;
        let child = &mut child; // otherwise a method of `&self` comes first in any case
        Ok((child.signal(15), child.send_signal(15)))
    }

    fn parts_of_a_child_are_moved_out() -> io::Result<String> {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (&mut child.stdin, &mut child.stdout);
        stdin.as_mut().unwrap().write_all(b"text")?;
        *stdin = None;
        let mut text = String::new();
        let mut out: process::ChildStdout = stdout.take().unwrap();
        out.read_to_string(&mut text)?;
        child.wait().map(|status| format!("{} {}", text, status))
    }

    fn a_pipe_is_moved_out() -> io::Result<process::Output> {
        let first = Command::new("echo").arg("text").stdout(Stdio::piped()).spawn()?;
        Command::new("cat").stdin(Stdio::from(first.stdout.unwrap())).output()
    }

    fn mixed_with_std() -> io::Result<process::Output> {
        let mut first = Command::new("echo").arg("text").stdout(Stdio::piped()).spawn()?;
        let mut other = std::process::Command::new("cat");
        let mut second = other.stdin(first.stdout.take().unwrap()).stdout(std::process::Stdio::piped())
            .spawn()?;
        let output = Command::new("cat").stdin(second.stdout.take().unwrap()).output();
        first.wait()?;
        second.wait()?;
        output
    }
}
