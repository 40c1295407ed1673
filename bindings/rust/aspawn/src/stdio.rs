// SPDX-License-Identifier: MIT
//! Standard streams, as std::process has them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::process;

use crate::spec::Stream;
use crate::{sys, Error, Result, Step};

/// A standard stream of a command, as [`std::process::Stdio`].
///
/// It converts from what std's does: files, descriptors, and both crates' pipes of children. It does
/// not convert from std's itself, which cannot be looked into.
#[derive(Debug)]
pub struct Stdio(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    Inherit,
    Null,
    Piped,
    ToStdout,
    Fd(io::Result<OwnedFd>),
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
        Stdio(Kind::Piped)
    }

    /// For standard error only: the same as standard output, `2>&1`.
    pub fn to_stdout() -> Self {
        Stdio(Kind::ToStdout)
    }

    pub(crate) fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Inherit => Ok(Stream::Inherit),
            Kind::Null => Ok(Stream::Null),
            Kind::Piped => Ok(Stream::Pipe),
            Kind::ToStdout => Ok(Stream::ToStdout),
            Kind::Fd(Ok(fd)) => Ok(Stream::Fd(fd.as_raw_fd())),
            Kind::Fd(Err(error)) => {
                Err(Error::new(Step::Streams, error.raw_os_error().unwrap_or(sys::PSYS_EINVAL)))
            }
        }
    }
}

impl From<OwnedFd> for Stdio {
    fn from(fd: OwnedFd) -> Self {
        // A program that was started without standard streams has files of such numbers.
        Stdio(Kind::Fd(if fd.as_raw_fd() > 2 { Ok(fd) } else { fd.try_clone() }))
    }
}

impl FromRawFd for Stdio {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        OwnedFd::from_raw_fd(fd).into()
    }
}

macro_rules! stdio_from {
    ($($type:ty),*) => {
        $(impl From<$type> for Stdio {
            fn from(stream: $type) -> Self {
                OwnedFd::from(stream).into()
            }
        })*
    };
}
stdio_from!(File, ChildStdin, ChildStdout, ChildStderr);
stdio_from!(process::ChildStdin, process::ChildStdout, process::ChildStderr);

/// The caller's own, also as the other of the two: `command.stderr(io::stdout())`.
macro_rules! stdio_from_own {
    ($($type:ty),*) => {
        $(impl From<$type> for Stdio {
            fn from(stream: $type) -> Self {
                Stdio(Kind::Fd(stream.as_fd().try_clone_to_owned()))
            }
        })*
    };
}
stdio_from_own!(io::Stdout, io::Stderr);

macro_rules! stream {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name(File);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
        impl From<OwnedFd> for $name {
            fn from(fd: OwnedFd) -> Self {
                $name(fd.into())
            }
        }
        impl From<$name> for process::Stdio {
            fn from(stream: $name) -> Self {
                OwnedFd::from(stream).into()
            }
        }
        impl From<$name> for OwnedFd {
            fn from(stream: $name) -> Self {
                stream.0.into()
            }
        }
        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }
        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }
        impl IntoRawFd for $name {
            fn into_raw_fd(self) -> RawFd {
                self.0.into_raw_fd()
            }
        }
    };
}
macro_rules! reads {
    ($($name:ident),*) => {
        $(impl Read for $name {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                self.0.read(to)
            }
            fn read_vectored(&mut self, to: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                self.0.read_vectored(to)
            }
        })*
    };
}
stream! {
    /// The pipe to a child's standard input; its end is the input's.
    ChildStdin
}
stream! {
    /// The pipe from a child's standard output.
    ChildStdout
}
stream! {
    /// The pipe from a child's standard error.
    ChildStderr
}
reads!(ChildStdout, ChildStderr);

macro_rules! writes {
    ($($name:ty),*) => {
        $(impl Write for $name {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                (&self.0).write(bytes)
            }
            fn write_vectored(&mut self, bytes: &[io::IoSlice<'_>]) -> io::Result<usize> {
                (&self.0).write_vectored(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        })*
    };
}
writes!(ChildStdin, &ChildStdin);
