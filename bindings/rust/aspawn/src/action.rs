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
    fn new<const COUNT: usize>(
        raw: spec::Action,
        uses: [Descriptor; COUNT],
        makes: Option<i32>,
    ) -> Self {
        let mut action = Action { raw, uses: None, makes };
        for descriptor in uses {
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
    use core::fmt;

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
        raw: sys::aspawn_action,
        pipe: Option<(PipeMaker, i32)>,
        /// Why it cannot be performed, or 0.
        error: i32,
        /// What `raw` points to, and its descriptors.
        _data: Vec<Arc<dyn Any + Send + Sync>>,
    }

    type PipeMaker = unsafe extern "C" fn(*mut sys::aspawn_action, i32, *mut i32);

    // SAFETY: what the raw action points to is owned by data, never written, and Send and Sync.
    unsafe impl Send for Action {}
    // SAFETY: as of Send.
    unsafe impl Sync for Action {}

    impl fmt::Debug for Action {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Action").field("error", &self.error).finish_non_exhaustive()
        }
    }

    impl Action {
        pub(crate) fn plain(make: impl FnOnce(*mut sys::aspawn_action)) -> Self {
            let mut raw = sys::aspawn_action::default();
            make(&mut raw);
            Action { raw, pipe: None, error: 0, _data: Vec::new() }
        }

        pub(crate) fn with<T: Any + Send + Sync>(
            data: T,
            error: i32,
            make: impl FnOnce(*mut sys::aspawn_action, &T),
        ) -> Self {
            let data = Arc::new(data);
            let action = Self::plain(|raw| make(raw, &data));
            Action { error, _data: alloc::vec![data as _], ..action }
        }

        pub(crate) fn text(bytes: &[u8], error: &mut i32) -> Vec<u8> {
            if bytes.contains(&0) {
                *error = sys::PSYS_EINVAL;
            }
            super::with_nul(bytes)
        }

        /// The caller's end is known to each child.
        pub(crate) fn pipe(make: PipeMaker, number: i32) -> Self {
            // SAFETY: the call writes the action.
            let action = Self::plain(|raw| unsafe { make(raw, number, core::ptr::null_mut()) });
            Action { pipe: Some((make, number)), ..action }
        }

        #[cfg(feature = "std")]
        pub(crate) fn keep(&mut self, fd: crate::os::OwnedFd) {
            self._data.push(Arc::new(fd));
        }

        #[cfg(feature = "std")]
        pub(crate) fn fail(&mut self, error: Option<i32>) {
            self.error = error.unwrap_or(sys::PSYS_EINVAL);
        }

        pub(crate) fn check(&self, index: usize, setup: usize) -> Result<()> {
            match self.error {
                0 => Ok(()),
                error if index < setup => Err(Error::new(Step::Setup, error)),
                error => Err(Error::new(Step::Action(index - setup), error)),
            }
        }

        pub(crate) fn pipe_end(&self) -> Option<(i32, Cell<i32>)> {
            self.pipe.map(|(_, number)| (number, Cell::new(-1)))
        }

        /// A pipe's has the next of the ends, which the start sets.
        pub(crate) fn raw<'a>(
            &self,
            ends: &mut impl Iterator<Item = &'a Cell<i32>>,
        ) -> sys::aspawn_action {
            let mut raw = self.raw;
            if let (Some((make, number)), end) = (self.pipe, self.pipe.and_then(|_| ends.next())) {
                // SAFETY: the end lives until the start has returned.
                unsafe { make(&mut raw, number, end.map_or(core::ptr::null_mut(), Cell::as_ptr)) };
            }
            raw
        }
    }
}

pub(crate) fn with_nul(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0]].concat()
}

/// 128 signals, as MIPS has them; the kernel's long words.
fn signal_set(signals: &[i32], error: &mut i32) -> Vec<usize> {
    let bits: Vec<_> = signals.iter().map(|&signal| (signal as usize).wrapping_sub(1)).collect();
    let mut set = bit_mask(&bits, 128, error);
    set.resize(128 / usize::BITS as usize, 0);
    set
}

/// Of numbers below `end`.
fn bit_mask(numbers: &[usize], end: usize, error: &mut i32) -> Vec<usize> {
    const BITS: usize = usize::BITS as usize;
    let mut mask = Vec::new();
    for &number in numbers {
        if number >= end {
            *error = sys::PSYS_EINVAL;
            break;
        }
        mask.resize(mask.len().max(number / BITS + 1), 0);
        mask[number / BITS] |= 1 << (number % BITS);
    }
    mask
}
