// SPDX-License-Identifier: MIT
//! What [`std::process`] has, by the same names and with the same results, so that most programs
//! change nothing but their `use` lines.
//!
//! What is missing or differs:
//!
//! * The methods of `CommandExt` are [`Command`]'s own, and there is no trait of that name here.
//!   `exec` is missing, and so may be what std got after Rust 1.63.
//! * [`pre_exec`](Command::pre_exec) runs in the caller's memory and not in a copy: read its *Safety*.
//! * A directory with a NUL is `EINVAL`, where std's error has no number.
//!
//! Errors are [`std::io::Error`]s with the system's number, as std's are: which step failed, and
//! about what, the [`crate::Error`] of a [`crate::Command`] says.
//!
//! No library that takes or gives a [`std::process::Stdio`] can be part of it: that type cannot be
//! looked into. [`Stdio`] converts from all that has a descriptor, and another `From` conflicts.

pub use crate::{ChildStderr, ChildStdin, ChildStdout, CommandArgs, CommandEnvs, Stdio};
pub use std::process::{abort, exit, id, ExitCode, ExitStatus, Output, Termination};

/// [`crate::Child`], with std's errors.
pub type Child = crate::Child<std::io::Error>;

/// [`std::process::Command`] and its `CommandExt`.
pub type Command = crate::CommandOf<std::io::Error>;
