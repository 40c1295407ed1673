// SPDX-License-Identifier: MIT
//! Standard streams, as std::process has them.

use std::any::Any;
use std::fmt::Debug;
use std::io;
#[cfg(unix)]
use std::os::unix::io::{FromRawFd, RawFd};

use crate::os::{AsFd, AsRawFd, OwnedFd};
use crate::spec::{Fd, Stream};
use crate::{Error, Result, Step};

/// A standard stream of a command, as [`std::process::Stdio`].
///
/// It converts from whatever owns a descriptor, as files, sockets and pipes do. It does not convert
/// from std's itself, which cannot be looked into.
pub struct Stdio(Kind);

#[derive(Debug)]
enum Kind {
    Plain(Stream),
    Fd { number: i32, copy: Result<Option<OwnedFd>>, _original: Box<dyn Any + Send + Sync> },
}

shown! {
    /// As std shows it in a command.
    Stdio: |stdio, f| match &stdio.0 {
        Kind::Plain(Stream::Pipe) => f.write_str("MakePipe"),
        Kind::Plain(stream) => stream.fmt(f),
        fd => fd.fmt(f),
    };
}

macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident = $stream:ident;)*) => {
        $($(#[$doc])*
        pub fn $name() -> Self {
            Stdio::of(Stream::$stream)
        })*
    };
}

impl Stdio {
    pub(crate) fn of(stream: Stream) -> Self {
        Stdio(Kind::Plain(stream))
    }

    plain! {
        /// The caller's stream.
        inherit = Inherit;
        /// /dev/null
        null = Null;
        /// A new pipe.
        piped = Pipe;
        /// For standard error only: the same as standard output, `2>&1`.
        to_stdout = ToStdout;
        /// A new pseudoterminal, the same for each stream of the command that is one. Its size, and
        /// what the program gets with it: [`Command::terminal`](crate::Command::terminal).
        terminal = Terminal;
    }

    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.0, Kind::Plain(Stream::Terminal))
    }

    #[cfg(elsewhere)]
    pub(crate) fn to_std(&self) -> Result<std::process::Stdio> {
        use std::process::Stdio;
        match &self.0 {
            Kind::Plain(Stream::Inherit) => Ok(Stdio::inherit()),
            Kind::Plain(Stream::Null) => Ok(Stdio::null()),
            Kind::Plain(Stream::Pipe) => Ok(Stdio::piped()),
            Kind::Plain(Stream::Terminal) => Err(Error::unsupported("terminal")),
            Kind::Plain(_) => Err(Error::unsupported("Stdio::to_stdout")),
            Kind::Fd { copy, .. } => {
                let copy = copy.as_ref().map_err(Error::clone)?.as_ref().expect("a copy of each");
                Ok(copy.try_clone().map_err(failed)?.into())
            }
        }
    }

    #[cfg(not(elsewhere))]
    pub(crate) fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Plain(stream) => Ok(*stream),
            Kind::Fd { number, copy, .. } => {
                let copy = copy.as_ref().map_err(Error::clone)?;
                Ok(Stream::Fd(Fd(copy.as_ref().map_or(*number, AsRawFd::as_raw_fd))))
            }
        }
    }
}

fn failed(error: io::Error) -> Error {
    Error::of_std(Step::Streams, &error)
}

/// The library takes numbers above 2, and gets a copy of another. Nothing else gets the number of
/// the original before the command is dropped. The caller's own streams are also the other of the
/// two: `command.stderr(io::stdout())`.
impl<T: AsFd + Send + Sync + 'static> From<T> for Stdio {
    fn from(original: T) -> Self {
        let fd = original.as_fd();
        let number = if crate::SUPPORTED { fd.as_raw_fd() } else { 0 };
        let copy = (number <= 2).then(|| fd.try_clone_to_owned()).transpose();
        Stdio(Kind::Fd { number, copy: copy.map_err(failed), _original: Box::new(original) })
    }
}

#[cfg(unix)]
impl FromRawFd for Stdio {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        OwnedFd::from_raw_fd(fd).into()
    }
}
