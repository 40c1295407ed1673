// SPDX-License-Identifier: MIT
//! The caller's ends of pipes, as std::process has them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::process;

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
