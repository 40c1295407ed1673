// SPDX-License-Identifier: MIT
//! Compiles the library from vendor/, which `make crates` of its tree fills; in the tree itself
//! from what its generator writes, which needs python3.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let tree = root.join("../../..");
    let generator = tree.join("tools/amalgamate.py");

    println!("cargo:rerun-if-changed=build.rs");
    let sources = if generator.exists() && tree.join("bindings/rust").exists() {
        for part in ["tools/amalgamate.py", "include", "syscall", "aspawn", "command", "queue"] {
            println!("cargo:rerun-if-changed={}", tree.join(part).display());
        }
        let written = Command::new(&generator).arg(&out).status();
        assert!(
            matches!(written, Ok(status) if status.success()),
            "{} failed: {:?}",
            generator.display(),
            written
        );
        out
    } else {
        println!("cargo:rerun-if-changed=vendor");
        root.join("vendor")
    };
    compile(&sources);
    // For build scripts that compile C against it: DEP_ASPAWN_INCLUDE.
    println!("cargo:include={}", sources.display());
}

/// Two archives, as the objects of aspawn.c and aspawn.S would have one name. The options of the
/// library are in its sources.
fn compile(sources: &Path) {
    for (file, library) in [("aspawn.c", "aspawn"), ("aspawn.S", "aspawn_asm")] {
        cc::Build::new().file(sources.join(file)).opt_level(2).warnings(false).compile(library);
    }
}
