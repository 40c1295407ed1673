// SPDX-License-Identifier: MIT
//! Declarations of the C library aspawn, and its sources: the build
//! script compiles them, so nothing needs to be installed.
//!
//! The names, structures and rules are those of `aspawn/command.h`, `aspawn/action.h` and
//! `aspawn/queue.h`; the crate `aspawn` is the safe interface. All functions are async-signal-safe
//! and thread-safe, use no heap, and return 0 or a negative error number. A structure that begins
//! with `size` has its own size there, and zero in what is not set, as its `default()` has them.
//!
//! ```
//! use aspawn_sys as sys;
//! use std::ptr;
//!
//! let argv = [b"true\0".as_ptr() as *mut sys::c_char, ptr::null_mut()];
//! let command = sys::aspawn_command { argv: argv.as_ptr(), ..Default::default() };
//! let mut child = sys::aspawn_child::default();
//! unsafe {
//!     assert_eq!(sys::aspawn_start(&mut child, &command), 0);
//!     let mut status = -1;
//!     assert_eq!(sys::aspawn_wait(&mut child, &mut status, ptr::null_mut(), -1), 0);
//!     assert_eq!(status, 0);
//! }
//! ```
//!
//! On other systems than Linux, and machines that the library does not know, the names are there
//! too, and functions return `-ENOSYS`.
#![no_std]
// cfg(elsewhere) is the build script's
#![allow(non_camel_case_types, unknown_lints, unexpected_cfgs)]
#![warn(missing_docs)]

pub use core::ffi::c_void;

/// `int`
pub type c_int = i32;
/// `unsigned`
pub type c_uint = u32;
/// The kernel's `long`, which x32 and n32 have with 64 bits.
#[cfg(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "mips64"))]
pub type psys_kernel_long = i64;
/// The kernel's `long`.
#[cfg(not(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "mips64")))]
pub type psys_kernel_long = i32;
/// Microseconds of a [`psys_timeval`].
#[cfg(target_arch = "sparc64")]
pub type psys_suseconds = i32;
/// Microseconds of a [`psys_timeval`].
#[cfg(not(target_arch = "sparc64"))]
pub type psys_suseconds = psys_kernel_long;

/// `ECHILD`
pub const PSYS_ECHILD: c_int = 10;
/// `ENOMEM`
pub const PSYS_ENOMEM: c_int = 12;
/// `EINVAL`
pub const PSYS_EINVAL: c_int = 22;
/// `ENOSYS`
pub const PSYS_ENOSYS: c_int = [38, 89, 90][ARCHITECTURE];
/// `ECANCELED`: the program was never executed.
pub const PSYS_ECANCELED: c_int = [125, 158, 127][ARCHITECTURE];
/// `ETIMEDOUT`
pub const PSYS_ETIMEDOUT: c_int = [110, 145, 60][ARCHITECTURE];

/// MIPS and SPARC number errors otherwise.
const ARCHITECTURE: usize = cfg!(any(target_arch = "mips", target_arch = "mips64")) as usize
    + 2 * cfg!(target_arch = "sparc64") as usize;

/// A function returns the value behind `=` where the library does not work.
macro_rules! functions {
    ($($(#[$doc:meta])* pub fn $name:ident($($operand:ident: $type:ty),*)
       $(-> $result:ty = $otherwise:expr)?;)*) => {
        #[cfg(not(elsewhere))]
        extern "C" {
            $($(#[$doc])*
            pub fn $name($($operand: $type),*) $(-> $result)?;)*
        }
        $($(#[$doc])*
        #[cfg(elsewhere)]
        #[allow(clippy::missing_safety_doc)]
        pub unsafe extern "C" fn $name($(_: $type),*) $(-> $result)? {
            $($otherwise)?
        })*
    };
}

functions! {
    /// The name of an error: `ENOENT`; NULL if there is none of this number.
    pub fn psys_errname(error: c_int) -> *const c_char = b"\0".as_ptr().cast();
    /// What strerror(3) says of an error.
    pub fn psys_strerror(error: c_int) -> *const c_char = b"\0".as_ptr().cast();
}

include!(concat!(env!("OUT_DIR"), "/interface.rs"));
