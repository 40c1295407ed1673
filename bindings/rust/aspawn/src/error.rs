// SPDX-License-Identifier: MIT
//! What failed, and where.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::sys;

/// Where a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The child could not be cloned. Also an invalid argument.
    Start,
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
}

/// An error: the step that failed, the number of the system's error, and what it is about.
///
/// It converts into an [`std::io::Error`] of the same kind, whose `get_ref()` is this error.
#[derive(Clone, Debug)]
pub struct Error {
    step: Step,
    errno: i32,
    detail: Option<Box<Detail>>,
}

#[derive(Clone, Debug)]
struct Detail {
    /// Of the action or step: `chdir`; or what is invalid.
    name: String,
    subject: Vec<u8>,
    is_action: bool,
}

impl Error {
    /// `errno` may be negative, as the library returns it.
    pub(crate) fn new(step: Step, errno: i32) -> Self {
        Error { step, errno: errno.abs(), detail: None }
    }

    pub(crate) fn invalid(text: &str) -> Self {
        let detail = Detail { name: text.to_owned(), subject: Vec::new(), is_action: false };
        Error { step: Step::Start, errno: sys::PSYS_EINVAL, detail: Some(Box::new(detail)) }
    }

    /// `setup` actions come before those of the caller.
    pub(crate) fn from_failure(failure: &sys::aspawn_failure, setup: usize) -> Self {
        let step = match failure.step {
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
        // SAFETY: a constant string.
        let name = unsafe { text_of(sys::aspawn_failure_name(failure)) }.to_owned();
        let end = failure.subject.iter().position(|&byte| byte == 0);
        let subject = failure.subject[..end.unwrap_or(failure.subject.len())]
            .iter()
            .map(|&byte| byte as u8)
            .collect();
        let detail = Detail { name, subject, is_action: failure.kind != 0 };
        Error { step, errno: failure.error.abs(), detail: Some(Box::new(detail)) }
    }

    /// Where it failed.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The number of the error, as of errno(3): `2` for ENOENT. `ECHILD` of a step before the
    /// program's execution means that a signal killed the child there.
    pub fn raw_os_error(&self) -> i32 {
        self.errno
    }

    /// The name of the action that failed: `"chdir"`, `"resuid"`.
    pub fn action(&self) -> Option<&str> {
        let detail = self.detail.as_deref()?;
        detail.is_action.then_some(detail.name.as_str())
    }

    /// The path, name or number that failed, or the end of a longer one; empty if there is none.
    pub fn subject(&self) -> &[u8] {
        self.detail.as_deref().map_or(&[], |detail| &detail.subject)
    }

    /// The kind that [`std::io::Error`] has for this number.
    #[cfg(feature = "std")]
    pub fn kind(&self) -> std::io::ErrorKind {
        std::io::Error::from_raw_os_error(self.errno).kind()
    }
}

/// A constant string of the library, which is ASCII.
unsafe fn text_of(text: *const sys::c_char) -> &'static str {
    let mut length = 0;
    while *text.add(length) != 0 {
        length += 1;
    }
    core::str::from_utf8_unchecked(core::slice::from_raw_parts(text.cast(), length))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Step::Action(index) = self.step {
            write!(f, "action {}, ", index)?;
        }
        f.write_str(match (&self.detail, self.step) {
            (Some(detail), _) if !detail.name.is_empty() => &detail.name,
            (None, Step::Run) => "run",
            _ => "start",
        })?;
        if !self.subject().is_empty() {
            write!(f, " \"{}\"", String::from_utf8_lossy(self.subject()))?;
        }
        // SAFETY: a constant string.
        write!(f, ": {}", unsafe { text_of(sys::psys_strerror(self.errno)) })
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        std::io::Error::new(error.kind(), error)
    }
}
