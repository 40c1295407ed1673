// SPDX-License-Identifier: MIT
//! Compiles the library from vendor/, which `make crates` of its tree fills; in the tree itself
//! from what its generator writes, which needs python3.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let image = out.join("aspawn-image");
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
    compile(&sources, link_image(&sources, &image));
    // For build scripts that compile C against it: DEP_ASPAWN_INCLUDE.
    println!("cargo:include={}", sources.display());
}

/// The program that a child of another user executes first. Without it the memory is copied.
fn link_image<'a>(sources: &Path, image: &'a Path) -> Option<&'a Path> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let mut build = cc::Build::new();
    build.opt_level_str("s").debug(false).warnings(false).pic(false);
    let mut command = build.get_compiler().to_command();
    let script = sources.join("aspawn-image.ld");
    command.args([
        "-std=gnu11",
        "-w",
        "-ffreestanding",
        "-fno-stack-protector",
        "-ffunction-sections",
        "-fno-asynchronous-unwind-tables",
        if arch == "mips64" { "-fPIE" } else { "-fno-pic" },
        "-static",
        "-nostdlib",
        "-no-pie",
        "-Wl,--gc-sections,--build-id=none,--no-eh-frame-hdr,-s",
    ]);
    command.arg(format!("-Wl,-T,{}", script.display())).arg("-o").arg(image);
    command.args([sources.join("aspawn-image.c"), sources.join("aspawn-image.S")]);
    match command.output() {
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
