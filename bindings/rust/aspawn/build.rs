// SPDX-License-Identifier: MIT
//! Passes on what the build script of aspawn-sys has found: where the library does not work,
//! cfg(elsewhere) is set. In the library's own tree it also names the file of the actions, which a
//! packed crate has in src/.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let problem = env::var("DEP_ASPAWN_PROBLEM").unwrap_or_default();
    if !problem.is_empty() {
        println!("cargo:rustc-cfg=elsewhere");
    }
    println!("cargo:rustc-env=ASPAWN_PROBLEM={}", problem);
    if let Ok(actions) = env::var("DEP_ASPAWN_ACTIONS") {
        println!("cargo:rustc-env=ASPAWN_ACTIONS={}", actions);
    }
}
