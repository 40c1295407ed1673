// SPDX-License-Identifier: MIT
//! What a new process does before it executes its program. `generate.py` of the library's tree
//! writes a function for each action of its headers.

use alloc::vec::Vec;
use core::{mem, ptr};
#[cfg(feature = "std")]
use std::{ffi::OsStr, path::Path};

use crate::sys;
#[cfg(feature = "std")]
use crate::{os::OsStrExt, Descriptor};

include!(env!("ASPAWN_ACTIONS"));

/// Something that the new process does before it executes its program: chdir(2), a limit, a mount.
///
/// A command performs its actions in their order; the first one that fails ends the child, and
/// the [`Error`](crate::Error) says which it was and what it was about. Actions are data: no code
/// of the caller runs in the child, so nothing can go wrong with locks or memory.
///
/// Each function names the system call that it stands for, whose manual page has the details.
/// Those marked *copy* let the child execute a small program of the library's first, which costs
/// some time, whatever the caller's memory; where that is not possible, it begins in a copy of the
/// memory, as fork(2) makes it and at its cost.
#[cfg(feature = "std")]
#[derive(Clone, Debug)]
pub struct Action {
    pub(crate) raw: spec::Action,
    /// The number of the descriptor that it uses, and whether the program has it.
    pub(crate) uses: Option<(i32, bool)>,
    /// The program's number that it makes.
    pub(crate) makes: Option<i32>,
}

#[cfg(feature = "std")]
impl Action {
    fn new<const N: usize>(raw: spec::Action, used: [Descriptor; N], makes: Option<i32>) -> Self {
        let mut action = Action { raw, uses: None, makes };
        for descriptor in used {
            action.uses = Some((descriptor.fd().0, descriptor.keep(&mut action.raw)));
        }
        action
    }
}

impl Resource {
    /// No limit.
    pub const UNLIMITED: u64 = u64::MAX;
}

pub(crate) mod spec {
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use core::any::Any;
    use core::cell::Cell;

    pub use crate::spec::Spec;
    use crate::{sys, Error, Result, Step};

    /// A descriptor for a [`Spec`], which does not keep it open.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Fd(pub(crate) i32);

    impl Fd {
        /// A number of the caller's, or one that the program has from an earlier action. No number
        /// is taken without this:
        ///
        /// ```compile_fail
        /// aspawn::spec::kill_cgroup(3);
        /// ```
        ///
        /// # Safety
        ///
        /// A number of the caller's is open, and stays so, until the last start of
        /// a command that uses it.
        pub const unsafe fn borrow_raw(number: i32) -> Self {
            Fd(number)
        }
    }

    /// [`crate::Action`] for a [`Spec`]: strings are bytes.
    #[derive(Clone)]
    pub struct Action {
        pub(crate) raw: sys::aspawn_action,
        /// What makes the action, with the caller's end of a pipe, which is known to each child,
        /// and the program's number.
        pub(crate) pipe: Option<(PipeMaker, i32)>,
        /// Why it cannot be performed, or 0.
        error: i32,
        /// What `raw` points to, and its descriptors.
        data: Vec<Arc<dyn Any + Send + Sync>>,
    }

    type PipeMaker = unsafe extern "C" fn(*mut sys::aspawn_action, i32, *mut i32);

    // SAFETY: what the raw action points to is owned by data, never written, and Send and Sync.
    unsafe impl Send for Action {}
    // SAFETY: as of Send.
    unsafe impl Sync for Action {}

    shown! {
        Action: |action, f|
            f.debug_struct("Action").field("error", &action.error).finish_non_exhaustive();
    }

    impl Action {
        pub(crate) fn empty() -> Self {
            Action { raw: Default::default(), pipe: None, error: 0, data: Vec::new() }
        }

        pub(crate) fn keep<T: Any + Send + Sync>(&mut self, data: T) -> Arc<T> {
            let data = Arc::new(data);
            self.data.push(data.clone());
            data
        }

        pub(crate) fn fail(&mut self, error: Option<i32>) {
            self.error = error.unwrap_or(sys::PSYS_EINVAL);
        }

        pub(super) fn text(&mut self, bytes: &[u8]) -> Arc<Vec<u8>> {
            let mut has_nul = false;
            let text = self.keep(super::with_nul(bytes, &mut has_nul));
            if has_nul {
                self.fail(None);
            }
            text
        }

        /// 128 signals, as MIPS has them.
        pub(super) fn signal_set(&mut self, signals: &[i32]) -> Arc<Vec<usize>> {
            self.bit_mask(signals.iter().map(|&signal| (signal as usize).wrapping_sub(1)), 128, 128)
        }

        /// The kernel's long words with these bits, which are numbers below `end`.
        pub(super) fn bit_mask(
            &mut self,
            bits: impl Iterator<Item = usize>,
            least: usize,
            end: usize,
        ) -> Arc<Vec<usize>> {
            const BITS: usize = usize::BITS as usize;
            let mut mask = alloc::vec![0; least / BITS];
            for bit in bits {
                if bit >= end {
                    self.fail(None);
                    break;
                }
                mask.resize(mask.len().max(bit / BITS + 1), 0);
                mask[bit / BITS] |= 1 << (bit % BITS);
            }
            self.keep(mask)
        }

        /// The start sets the end of a pipe.
        pub(crate) fn raw(&self, step: Step, end: &Cell<i32>) -> Result<sys::aspawn_action> {
            if self.error != 0 {
                return Err(Error::new(step, self.error));
            }
            let mut raw = self.raw;
            if let Some((make, number)) = self.pipe {
                // SAFETY: the end lives until the start has returned.
                unsafe { make(&mut raw, number, end.as_ptr()) };
            }
            Ok(raw)
        }
    }
}

pub(crate) fn with_nul(bytes: &[u8], has_nul: &mut bool) -> Vec<u8> {
    *has_nul |= bytes.contains(&0);
    [bytes, &[0]].concat()
}
