// SPDX-License-Identifier: MIT
//! Standard streams, as std::process has them.

use std::any::Any;
use std::fmt;
use std::io;
#[cfg(not(elsewhere))]
use std::os::unix::io::AsRawFd;
#[cfg(unix)]
use std::os::unix::io::{FromRawFd, RawFd};

use crate::os::{AsFd, OwnedFd};
#[cfg(not(elsewhere))]
use crate::{
    spec::{Fd, Stream},
    sys,
};
use crate::{Error, Result, Step};

/// A standard stream of a command, as [`std::process::Stdio`].
///
/// It converts from whatever owns a descriptor, as files, sockets and pipes do. It does not convert
/// from std's itself, which cannot be looked into.
pub struct Stdio(Kind);

#[derive(Debug)]
enum Kind {
    Inherit,
    Null,
    MakePipe,
    ToStdout,
    Terminal,
    Fd { number: i32, copy: io::Result<Option<OwnedFd>>, _original: Box<dyn Any + Send + Sync> },
}

/// As std shows it in a command.
impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Stdio {
    /// The caller's stream.
    pub fn inherit() -> Self {
        Stdio(Kind::Inherit)
    }

    /// /dev/null
    pub fn null() -> Self {
        Stdio(Kind::Null)
    }

    /// A new pipe.
    pub fn piped() -> Self {
        Stdio(Kind::MakePipe)
    }

    /// For standard error only: the same as standard output, `2>&1`.
    pub fn to_stdout() -> Self {
        Stdio(Kind::ToStdout)
    }

    /// A new pseudoterminal, the same for each stream of the command that is one. Its size, and
    /// what the program gets with it: [`Command::terminal`](crate::Command::terminal).
    pub fn terminal() -> Self {
        Stdio(Kind::Terminal)
    }

    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.0, Kind::Terminal)
    }

    #[cfg(elsewhere)]
    pub(crate) fn to_std(&self) -> Result<std::process::Stdio> {
        use std::process::Stdio;
        let failed = |error: &io::Error| Error::of_std(Step::Streams, error);
        match &self.0 {
            Kind::Inherit => Ok(Stdio::inherit()),
            Kind::Null => Ok(Stdio::null()),
            Kind::MakePipe => Ok(Stdio::piped()),
            Kind::ToStdout => Err(Error::unsupported("Stdio::to_stdout")),
            Kind::Terminal => Err(Error::unsupported("terminal")),
            Kind::Fd { copy: Ok(copy), .. } => {
                let copy = copy.as_ref().expect("a copy of each").try_clone();
                Ok(copy.map_err(|error| failed(&error))?.into())
            }
            Kind::Fd { copy: Err(error), .. } => Err(failed(error)),
        }
    }

    #[cfg(not(elsewhere))]
    pub(crate) fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Inherit => Ok(Stream::Inherit),
            Kind::Null => Ok(Stream::Null),
            Kind::MakePipe => Ok(Stream::Pipe),
            Kind::ToStdout => Ok(Stream::ToStdout),
            Kind::Terminal => Ok(Stream::Terminal),
            Kind::Fd { number, copy: Ok(copy), .. } => {
                Ok(Stream::Fd(Fd(copy.as_ref().map_or(*number, AsRawFd::as_raw_fd))))
            }
            Kind::Fd { copy: Err(error), .. } => {
                Err(Error::new(Step::Streams, error.raw_os_error().unwrap_or(sys::PSYS_EINVAL)))
            }
        }
    }
}

/// The library takes numbers above 2, and gets a copy of another. Nothing else gets the number of
/// the original before the command is dropped. The caller's own streams are also the other of the
/// two: `command.stderr(io::stdout())`.
impl<T: AsFd + Send + Sync + 'static> From<T> for Stdio {
    fn from(original: T) -> Self {
        let fd = original.as_fd();
        #[cfg(elsewhere)]
        let number = 0;
        #[cfg(not(elsewhere))]
        let number = fd.as_raw_fd();
        let copy = (number <= 2).then(|| fd.try_clone_to_owned()).transpose();
        Stdio(Kind::Fd { number, copy, _original: Box::new(original) })
    }
}

#[cfg(unix)]
impl FromRawFd for Stdio {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        OwnedFd::from_raw_fd(fd).into()
    }
}
