// SPDX-License-Identifier: MIT
//! Compiles the library. A packed crate has its sources in vendor/, and the declarations in src/. In the
//! library's own tree both are made here, which needs python3.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let image = out.join("aspawn-image");
    let tree = root.join("../../..");

    println!("cargo:rerun-if-changed=build.rs");
    let sources = if tree.join("bindings/rust/generate.py").exists() {
        for part in [
            "include",
            "syscall",
            "aspawn",
            "command",
            "queue",
            "tools/amalgamate.py",
            "doc/interface.json",
            "bindings/rust/generate.py",
        ] {
            println!("cargo:rerun-if-changed={}", tree.join(part).display());
        }
        run(&tree.join("tools/amalgamate.py"), &out);
        run(&tree.join("bindings/rust/generate.py"), &out);
        // For the build script of the crate aspawn: DEP_ASPAWN_ACTIONS.
        println!("cargo:actions={}", out.join("actions.rs").display());
        out
    } else {
        println!("cargo:rerun-if-changed=vendor");
        root.join("vendor")
    };
    compile(&sources, link_image(&sources, &image));
    // For build scripts that compile C against it: DEP_ASPAWN_INCLUDE.
    println!("cargo:include={}", sources.display());
}

fn run(generator: &Path, out: &Path) {
    let written = Command::new(generator).arg(out).status();
    assert!(
        matches!(written, Ok(status) if status.success()),
        "{}: {:?}",
        generator.display(),
        written
    );
}

/// The program that a child of another user executes first. Without it the memory is copied.
fn link_image<'a>(sources: &Path, image: &'a Path) -> Option<&'a Path> {
    let compiler = cc::Build::new().get_compiler();
    let mut script = Command::new("sh");
    script.arg(sources.join("aspawn-image.sh")).arg(image).arg(compiler.path());
    match script.args(compiler.args()).output() {
        Ok(output) if output.status.success() => Some(image),
        _ => None,
    }
}

/// Two archives, as the objects of aspawn.c and aspawn.S would have one name. The options of the
/// library are in its sources.
fn compile(sources: &Path, image: Option<&Path>) {
    for (file, library) in [("aspawn.c", "aspawn"), ("aspawn.S", "aspawn_asm")] {
        let mut build = cc::Build::new();
        if let Some(image) = image {
            build.define("ASPAWN_IMAGE", format!("\"{}\"", image.display()).as_str());
        }
        build.file(sources.join(file)).opt_level(2).warnings(false).compile(library);
    }
}
