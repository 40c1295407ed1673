// SPDX-License-Identifier: MIT
//! What failed, and where.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::sys;

/// Where a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The child could not be cloned.
    Start,
    /// Something invalid, which [`Error::subject`] names: `std_in`, `job.priority`.
    Argument,
    /// The child could not copy its descriptors, for [`Action::only_below`](crate::Action::only_below).
    Descriptors,
    /// A standard stream.
    Streams,
    /// What the command's own methods ask for: `current_dir`, `uid`, `process_group` and so on.
    /// [`Error::action`] says which.
    Setup,
    /// The action of this index, from 0, of those that the caller added; `pre_exec` adds one.
    Action(usize),
    /// The program was not found in the search path.
    Search,
    /// execve(2)
    Exec,
    /// The program exists, but not the interpreter that its first line or its ELF header names.
    Interpreter,
    /// The program was executed: a time limit has passed, or its end is not known.
    Run,
    /// The program was not executed, and the reason is lost.
    Unknown,
    /// [`Error::subject`] is not possible on this system, or needs a newer Linux.
    Unsupported,
}

/// An error: the step that failed, the number of the system's error, and what it is about.
///
/// It converts into an [`std::io::Error`] of the same number, as std's are; the step, the path and
/// the text are lost then. One of [`Step::Argument`] has no number there, and is its `get_ref()`.
#[derive(Clone)]
pub struct Error {
    step: Step,
    errno: i32,
    /// Of the step or action.
    name: &'static str,
    is_action: bool,
    subject: Vec<u8>,
    /// Where the number does not say it.
    #[cfg(feature = "std")]
    kind: Option<std::io::ErrorKind>,
}

impl Error {
    /// `errno` may be negative, as the library returns it.
    pub(crate) fn new(step: Step, errno: i32) -> Self {
        let name = match step {
            Step::Run => "run",
            Step::Argument => "argument",
            Step::Action(_) | Step::Setup => "operand",
            _ => "start",
        };
        Error {
            step,
            errno: errno.abs(),
            name,
            is_action: false,
            subject: Vec::new(),
            #[cfg(feature = "std")]
            kind: None,
        }
    }

    /// `name` says where it is possible.
    pub(crate) fn unsupported_on(name: &'static str, subject: &str) -> Self {
        Error {
            name,
            subject: subject.as_bytes().to_vec(),
            #[cfg(feature = "std")]
            kind: Some(std::io::ErrorKind::Unsupported),
            ..Error::new(Step::Unsupported, 0)
        }
    }

    pub(crate) fn unsupported(subject: &str) -> Self {
        Error::unsupported_on(crate::PROBLEM, subject)
    }

    #[cfg(all(feature = "std", elsewhere))]
    pub(crate) fn about(self, subject: &[u8]) -> Self {
        Error { subject: subject.to_vec(), ..self }
    }

    #[cfg(feature = "std")]
    pub(crate) fn of_std(step: Step, error: &std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Error::new(step, errno),
            None => Error { kind: Some(error.kind()), ..Error::new(step, 0) },
        }
    }

    pub(crate) fn argument(subject: &str) -> Self {
        Error {
            subject: subject.as_bytes().to_vec(),
            #[cfg(feature = "std")]
            kind: Some(std::io::ErrorKind::InvalidInput),
            ..Error::new(Step::Argument, sys::PSYS_EINVAL)
        }
    }

    /// `setup` actions come before those of the caller.
    pub(crate) fn from_failure(failure: &sys::aspawn_failure, setup: usize) -> Self {
        let step = match failure.step {
            sys::ASPAWN_STEP_ARGUMENT => Step::Argument,
            sys::ASPAWN_STEP_CLONE => Step::Start,
            sys::ASPAWN_STEP_DESCRIPTORS => Step::Descriptors,
            sys::ASPAWN_STEP_STREAMS => Step::Streams,
            sys::ASPAWN_STEP_SEARCH => Step::Search,
            sys::ASPAWN_STEP_EXEC => Step::Exec,
            sys::ASPAWN_STEP_INTERPRETER => Step::Interpreter,
            index if index < 0 => Step::Unknown,
            index if (index as usize) < setup => Step::Setup,
            index => Step::Action(index as usize - setup),
        };
        let subject = failure.subject.iter().take_while(|&&byte| byte != 0);
        Error {
            // SAFETY: a constant string.
            name: unsafe { text_of(sys::aspawn_failure_name(failure)) },
            is_action: failure.kind != 0,
            subject: subject.map(|&byte| byte as u8).collect(),
            ..Error::new(step, failure.error)
        }
    }

    /// Where it failed.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The number of the error, as of errno(3): `2` for ENOENT. `ECHILD` of a step before the
    /// program's execution means that a signal killed the child there.
    /// 0 if the system has no number for it.
    pub fn raw_os_error(&self) -> i32 {
        self.errno
    }

    /// The name of the action that failed: `"chdir"`, `"resuid"`.
    pub fn action(&self) -> Option<&'static str> {
        self.is_action.then_some(self.name)
    }

    /// The path, name or number that failed, or the end of a longer one; empty if there is none.
    pub fn subject(&self) -> &[u8] {
        &self.subject
    }

    /// The kind that [`std::io::Error`] has for this number.
    #[cfg(feature = "std")]
    pub fn kind(&self) -> std::io::ErrorKind {
        self.kind.unwrap_or_else(|| std::io::Error::from_raw_os_error(self.errno).kind())
    }
}

/// A constant string of the library, which is ASCII.
unsafe fn text_of(text: *const sys::c_char) -> &'static str {
    let length = (0..).take_while(|&at| *text.add(at) != 0).count();
    core::str::from_utf8_unchecked(core::slice::from_raw_parts(text.cast(), length))
}

shown! {
    Error: |error, f| f
        .debug_struct("Error")
        .field("step", &error.step)
        .field("action", &error.action())
        .field("errno", &error.errno)
        .field("subject", &String::from_utf8_lossy(&error.subject))
        .finish();
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.step == Step::Unsupported {
            return write!(f, "{}: {}", String::from_utf8_lossy(&self.subject), self.name);
        }
        if let Step::Action(index) = self.step {
            write!(f, "action {}, ", index)?;
        }
        f.write_str(self.name)?;
        if !self.subject.is_empty() {
            write!(f, " {:?}", String::from_utf8_lossy(&self.subject))?;
        }
        #[cfg(all(feature = "std", elsewhere))]
        let text = match self.kind {
            Some(kind) => std::io::Error::from(kind),
            None => std::io::Error::from_raw_os_error(self.errno),
        };
        // SAFETY: a constant string.
        #[cfg(not(all(feature = "std", elsewhere)))]
        let text = unsafe { text_of(sys::psys_strerror(self.errno)) };
        write!(f, ": {}", text)
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

#[cfg(feature = "std")]
converted! {
    std::io::Error: |error: Error| match (error.step, error.errno) {
        (Step::Argument | Step::Unsupported, _) | (_, 0) => Self::new(error.kind(), error),
        (_, errno) => Self::from_raw_os_error(errno),
    };
}
