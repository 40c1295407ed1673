// SPDX-License-Identifier: MIT
//! The caller's ends of pipes, as std::process has them, and of terminals.

use std::fs::File;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

macro_rules! streams {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        pub struct $name(File);

        shown! { $name: |_own, f| f.debug_struct(stringify!($name)).finish_non_exhaustive(); }
    )*};
}
#[cfg(unix)]
macro_rules! descriptors {
    ($($name:ident),*) => {$(
        converted! {
            $name: |fd: OwnedFd| $name(fd.into());
            std::process::Stdio: |stream: $name| stream.0.into();
            OwnedFd: |stream: $name| stream.0.into();
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
    /// This process's end of the terminal of a child: [`Command::terminal`](crate::Command::terminal).
    ///
    /// Reading ends when no process has the terminal any more. If this end is closed before, the
    /// session's leader and the foreground process group get SIGHUP. A child of `aspawn::tokio` has
    /// one that does not block, for tokio's `AsyncFd`.
    Terminal
}
#[cfg(unix)]
descriptors!(ChildStdin, ChildStdout, ChildStderr, Terminal);
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
writes!(ChildStdin, &ChildStdin, Terminal, &Terminal);

impl Read for &Terminal {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        const EIO: i32 = 5;
        match (&self.0).read(to) {
            Err(error) if error.raw_os_error() == Some(EIO) => Ok(0),
            result => result,
        }
    }
}
impl Read for Terminal {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        (&*self).read(to)
    }
}

impl Terminal {
    /// Sets the size, in characters, also after the program's end. If it changes, the foreground
    /// process group gets SIGWINCH: TIOCSWINSZ of ioctl_tty(2).
    #[cfg(not(elsewhere))]
    pub fn resize(&self, rows: u16, columns: u16) -> io::Result<()> {
        use std::{env::consts::ARCH, os::raw::c_ulong};
        extern "C" {
            fn ioctl(fd: i32, request: c_ulong, ...) -> i32;
        }
        let is_older = matches!(ARCH, "mips" | "mips64" | "powerpc" | "powerpc64" | "sparc64");
        let tiocswinsz = if is_older { 0x8008_7467 } else { 0x5414 };
        let size = [rows, columns, 0, 0];
        // SAFETY: the call reads the four numbers.
        match unsafe { ioctl(self.0.as_raw_fd(), tiocswinsz, size.as_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Fails: there is no terminal on this system.
    #[cfg(elsewhere)]
    pub fn resize(&self, _: u16, _: u16) -> io::Result<()> {
        Err(crate::Error::unsupported("terminal").into())
    }
}
