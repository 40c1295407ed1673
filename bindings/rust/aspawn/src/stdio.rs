// SPDX-License-Identifier: MIT
//! Standard streams, as std::process has them.

use std::any::Any;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::process;

use crate::spec::{Fd, Stream};
use crate::{sys, Error, Result, Step};

/// A standard stream of a command, as [`std::process::Stdio`].
///
/// It converts from whatever owns a descriptor, as files, sockets and pipes do. It does not convert from
/// std's itself, which cannot be looked into.
pub struct Stdio(Kind);

#[derive(Debug)]
enum Kind {
    Inherit,
    Null,
    MakePipe,
    ToStdout,
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

    pub(crate) fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Inherit => Ok(Stream::Inherit),
            Kind::Null => Ok(Stream::Null),
            Kind::MakePipe => Ok(Stream::Pipe),
            Kind::ToStdout => Ok(Stream::ToStdout),
            Kind::Fd { number, copy: Ok(copy), .. } => {
                Ok(Stream::Fd(Fd(copy.as_ref().map_or(*number, AsRawFd::as_raw_fd))))
            }
            Kind::Fd { copy: Err(error), .. } => {
                Err(Error::new(Step::Streams, error.raw_os_error().unwrap_or(sys::PSYS_EINVAL)))
            }
        }
    }
}

/// The library takes numbers above 2, and gets a copy of another. Nothing else gets the number of the
/// original before the command is dropped. The caller's own streams are also the other of the two:
/// `command.stderr(io::stdout())`.
impl<T: AsFd + Send + Sync + 'static> From<T> for Stdio {
    fn from(original: T) -> Self {
        let fd = original.as_fd();
        let number = fd.as_raw_fd();
        let copy = (number <= 2).then(|| fd.try_clone_to_owned()).transpose();
        Stdio(Kind::Fd { number, copy, _original: Box::new(original) })
    }
}

impl FromRawFd for Stdio {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        OwnedFd::from_raw_fd(fd).into()
    }
}

macro_rules! streams {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
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
    )*};
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
streams! {
    /// The pipe to a child's standard input; its end is the input's.
    ChildStdin
    /// The pipe from a child's standard output.
    ChildStdout
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
