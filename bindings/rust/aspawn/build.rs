// SPDX-License-Identifier: MIT
//! In the library's own tree only: a packed crate has the actions in src/, and no build script.

fn main() {
    let actions = std::env::var("DEP_ASPAWN_ACTIONS").expect("aspawn-sys of the same tree");
    println!("cargo:rustc-env=ASPAWN_ACTIONS={}", actions);
}
