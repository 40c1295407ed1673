// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs, clippy::undocumented_unsafe_blocks)]
#![allow(unknown_lints, unexpected_cfgs)] // cfg(elsewhere) is the build script's
#![cfg_attr(any(elsewhere, not(feature = "tokio")), allow(dead_code, unused_imports))]

extern crate alloc;

pub use aspawn_sys as sys;

/// True on Linux, on the machines that the library knows: otherwise [`Command`] starts programs by
/// std, and what std has not is an [`Error`] of [`Step::Unsupported`].
pub const SUPPORTED: bool = cfg!(not(elsewhere));

/// Why it is false.
const PROBLEM: &str = env!("ASPAWN_PROBLEM");

/// Methods that return what they change: `name(arguments) |own| own.field = value;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident $(<$($parameter:ident: $bound:path),+>)?
       ($($argument:ident: $type:ty),*) |$own:ident| $change:expr;)*) => {
        $($(#[$doc])*
        pub fn $name $(<$($parameter: $bound),+>)? (&mut self, $($argument: $type),*) -> &mut Self {
            let $own = &mut *self;
            $change;
            self
        })*
    };
}

/// Implementations of Debug: `Type: |value, formatter| result;`.
macro_rules! shown {
    ($($(#[$doc:meta])* $name:ty: |$own:ident, $f:ident| $result:expr;)*) => {
        $($(#[$doc])*
        impl core::fmt::Debug for $name {
            fn fmt(&self, $f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $own = self;
                $result
            }
        })*
    };
}

/// Implementations of From: `Type: |value: Type| result;`.
macro_rules! converted {
    ($($to:ty: |$value:ident: $from:ty| $result:expr;)*) => {
        $(impl From<$from> for $to {
            fn from($value: $from) -> Self {
                $result
            }
        })*
    };
}

mod action;
mod error;
pub mod queue;
pub mod spec;

#[cfg(feature = "std")]
mod child;
#[cfg(feature = "std")]
mod command;
#[cfg(feature = "std")]
mod descriptor;
#[cfg(all(feature = "std", elsewhere))]
mod elsewhere;
#[cfg(all(feature = "std", windows))]
#[path = "windows.rs"]
mod os;
#[cfg(feature = "std")]
pub mod process;
#[cfg(feature = "std")]
mod stdio;
#[cfg(feature = "std")]
mod streams;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(all(feature = "std", unix))]
mod os {
    pub use std::os::unix::ffi::OsStrExt;
    pub use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
    pub use std::os::unix::process::ExitStatusExt;
}

pub use action::{consts, Memory, Owner, Resource};
pub use error::{Error, Step};
pub use queue::Queue;
pub use spec::{Mode, Usage};

#[cfg(all(feature = "std", elsewhere))]
pub use std::process::{ChildStderr, ChildStdin, ChildStdout};
#[cfg(all(feature = "std", not(elsewhere)))]
pub use streams::{ChildStderr, ChildStdin, ChildStdout};
#[cfg(feature = "std")]
pub use {
    action::Action,
    child::{kill_cgroup, Child},
    command::{Command, CommandArgs, CommandEnvs, CommandOf},
    descriptor::Descriptor,
    std::process::{ExitStatus, Output},
    stdio::Stdio,
    streams::Terminal,
};

/// What a call of the crate returns.
pub type Result<T, E = Error> = core::result::Result<T, E>;
