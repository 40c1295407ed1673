// SPDX-License-Identifier: MIT
//! A descriptor that an action uses.

use std::fs::File;
use std::io;
#[cfg(not(elsewhere))]
use std::os::unix::io::FromRawFd;

use crate::os::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use crate::spec::{Action, Fd};

/// A descriptor that an [`Action`](crate::Action) uses.
///
/// One of this process, as `&file`, `file` or `OwnedFd`: the action owns a copy. A number is the
/// program's: 0, 1, 2, or what an earlier action of the command has opened. Other numbers fail with
/// `EBADF`, as they may be in use by somebody else in this process.
#[derive(Debug)]
pub struct Descriptor(Kind);

#[derive(Debug)]
enum Kind {
    Number(i32),
    Own(io::Result<OwnedFd>),
}

impl Descriptor {
    pub(crate) fn fd(&self) -> Fd {
        match &self.0 {
            Kind::Number(number) => Fd(*number),
            Kind::Own(fd) => Fd(fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
        }
    }

    /// The action keeps a copy. True if the number is the program's.
    pub(crate) fn keep(self, action: &mut Action) -> bool {
        match self.0 {
            Kind::Number(_) => return true,
            Kind::Own(Ok(fd)) => drop(action.keep(fd)),
            Kind::Own(Err(error)) => action.fail(error.raw_os_error()),
        }
        false
    }
}

/// Earlier actions of a command give low numbers to its program. The copy has a higher one.
impl<T: AsFd> From<&T> for Descriptor {
    fn from(file: &T) -> Self {
        let fd = file.as_fd();
        #[cfg(elsewhere)]
        let copy = fd.try_clone_to_owned();
        #[cfg(not(elsewhere))]
        let copy = {
            extern "C" {
                fn fcntl(fd: i32, command: i32, ...) -> i32;
            }
            const F_DUPFD_CLOEXEC: i32 = 1030;
            const LEAST: i32 = 64;
            // SAFETY: nobody else has the new descriptor.
            unsafe {
                match fcntl(fd.as_raw_fd(), F_DUPFD_CLOEXEC, LEAST) {
                    -1 => fd.try_clone_to_owned(), // RLIMIT_NOFILE
                    copy => Ok(OwnedFd::from_raw_fd(copy)),
                }
            }
        };
        Descriptor(Kind::Own(copy))
    }
}

converted! {
    Descriptor: |number: i32| Descriptor(Kind::Number(number));
    Descriptor: |file: OwnedFd| Descriptor::from(&file);
    Descriptor: |file: File| Descriptor::from(&file);
    Descriptor: |file: BorrowedFd<'_>| Descriptor::from(&file);
}
