// SPDX-License-Identifier: MIT
//! What std::os::unix has for this crate, of handles.

use std::ffi::OsStr;

pub use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};
pub use std::os::windows::process::ExitStatusExt;

pub trait OsStrExt {
    fn as_bytes(&self) -> &[u8];
    fn from_bytes(bytes: &[u8]) -> &Self;
}

impl OsStrExt for OsStr {
    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> &Self {
        // SAFETY: a command's strings are whole strings of as_bytes().
        unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }
    }
}

/// A handle is no such number.
pub trait AsRawFd {
    fn as_raw_fd(&self) -> i32 {
        -1
    }
}

impl AsRawFd for BorrowedFd<'_> {}
impl AsRawFd for OwnedFd {}

pub trait AsFd {
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl<T: std::os::windows::io::AsHandle> AsFd for T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}
