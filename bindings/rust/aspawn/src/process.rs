// SPDX-License-Identifier: MIT
//! What [`std::process`] has, by the same names and with the same results: a program changes its
//! `use` lines, and nothing else.
//!
//! ```
//! use aspawn::process::{Command, Stdio}; // was std::process
//!
//! fn kernel() -> std::io::Result<Vec<u8>> {
//!     let child = Command::new("uname").stdout(Stdio::piped()).spawn()?;
//!     Ok(child.wait_with_output()?.stdout)
//! }
//! assert_eq!(kernel()?, b"Linux\n");
//! let error = Command::new("true").current_dir("/no/such").spawn().unwrap_err();
//! let inner = error.get_ref().unwrap().downcast_ref::<aspawn::Error>().unwrap();
//! assert_eq!((inner.action(), inner.raw_os_error()), (Some("chdir"), 2));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Errors are [`std::io::Error`]s that contain a [`crate::Error`], whose
//! [`raw_os_error`](crate::Error::raw_os_error) has the number: that of the outer error is None.
//!
//! A library that takes a [`std::process::Stdio`] or gives one cannot be part of it, as that type
//! cannot be looked into: [`Stdio`] converts from what it was made of.

pub use crate::{ChildStderr, ChildStdin, ChildStdout, CommandArgs, CommandEnvs, Stdio};
pub use std::process::{abort, exit, id, ExitCode, ExitStatus, Output, Termination};

use std::io;

use crate::spec::Stream;
use crate::wraps::wraps_command;

/// [`crate::Child`], with std's errors.
pub type Child = crate::Child<io::Error>;

/// [`std::process::Command`] and its `CommandExt`. Dereferences to a [`crate::Command`], which has
/// more.
pub struct Command(crate::Command);

wraps_command!(Command);

impl Command {
    /// Starts the program, and returns when it has been executed, or with the error.
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.0.spawn_as([Stream::Inherit; 3])
    }

    /// Runs the program to its end, and collects what it writes.
    pub fn output(&mut self) -> io::Result<Output> {
        Ok(self.0.output()?)
    }

    /// Runs the program to its end.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        Ok(self.0.status()?)
    }
}
