// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs, clippy::undocumented_unsafe_blocks)]

extern crate alloc;

pub use aspawn_sys as sys;

/// Methods that set a field: `name(arguments) [field] = value;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) [$($field:tt)+] = $value:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(&mut self, $($argument: $type),*) -> &mut Self {
            self.$($field)+ = $value;
            self
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
#[cfg(feature = "std")]
pub mod process;
#[cfg(feature = "std")]
mod stdio;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use action::{consts, Memory, Owner, Resource};
pub use error::{Error, Step};
pub use queue::Queue;
pub use spec::{Mode, Usage};

#[cfg(feature = "std")]
pub use {
    action::Action,
    child::{kill_cgroup, Child},
    command::{Command, CommandArgs, CommandEnvs, CommandOf},
    descriptor::Descriptor,
    std::process::{ExitStatus, Output},
    stdio::{ChildStderr, ChildStdin, ChildStdout, Stdio},
};

/// What a call of the crate returns.
pub type Result<T, E = Error> = core::result::Result<T, E>;
