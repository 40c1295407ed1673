// SPDX-License-Identifier: MIT
use super::*;

/// The OOM killer cannot be asked for it.
#[test]
fn a_job_that_is_out_of_memory_is_not_lost() {
    let outcome = sys::ASPAWN_OUTCOME_OUT_OF_MEMORY;
    let result = sys::aspawn_result { outcome, status: 9, ..Default::default() };
    let outcome = Outcome::new(&result);
    assert!(!outcome.success());
    assert_eq!(alloc::format!("{}", outcome), "out of memory, killed by SIGKILL");
    #[cfg(feature = "std")]
    assert_eq!(outcome.into_output().unwrap_err().raw_os_error(), sys::PSYS_ENOMEM);
}
