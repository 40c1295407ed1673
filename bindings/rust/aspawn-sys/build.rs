// SPDX-License-Identifier: MIT
//! Compiles the library. A packed crate has its sources in vendor/, and the declarations in src/.
//! In the library's own tree both are made here, which needs python3.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let tree = root.join("../../..");

    println!("cargo:rerun-if-env-changed=ASPAWN_ELSEWHERE");
    let sources = if tree.join("bindings/rust/generate.py").exists() {
        let generators = ["tools/amalgamate.py", "bindings/rust/generate.py"];
        for part in generators.iter().chain(&["include", "syscall", "aspawn", "doc/interface.json"])
        {
            println!("cargo:rerun-if-changed={}", tree.join(part).display());
        }
        for generator in generators {
            run(Command::new(tree.join(generator)).arg(&out), "python3");
        }
        // For the build script of the crate aspawn: DEP_ASPAWN_ACTIONS.
        println!("cargo:actions={}", out.join("actions.rs").display());
        out.clone()
    } else {
        println!("cargo:rerun-if-changed=vendor");
        root.join("vendor")
    };
    match problem() {
        None => compile(&sources, &out),
        Some(problem) => {
            println!("cargo:rustc-cfg=elsewhere");
            // For the build script of the crate aspawn: DEP_ASPAWN_PROBLEM.
            println!("cargo:problem={}", problem);
        }
    }
    // For build scripts that compile C against it: DEP_ASPAWN_INCLUDE.
    println!("cargo:include={}", sources.display());
}

/// Why the library cannot work on the target. ASPAWN_ELSEWHERE simulates another system.
fn problem() -> Option<String> {
    const MACHINES: &str = "aarch64 arm loongarch64 m68k mips mips64 powerpc powerpc64 riscv32 riscv64 s390x sparc64 x86 x86_64";
    let of_target = |what| env::var(format!("CARGO_CFG_TARGET_{}", what)).unwrap();
    let (system, machine) = (of_target("OS"), of_target("ARCH"));
    if env::var_os("ASPAWN_ELSEWHERE").is_some() || !["linux", "android"].contains(&&system[..]) {
        return Some("on Linux only".to_string());
    }
    let is_known = MACHINES.split(' ').any(|known| known == machine);
    (!is_known).then(|| format!("not on {}, only on {}", machine, MACHINES.replace(' ', ", ")))
}

fn run(command: &mut Command, needs: &str) {
    let status = command.status();
    let succeeded = matches!(status, Ok(status) if status.success());
    assert!(succeeded, "aspawn-sys needs {}: {:?}: {:?}", needs, command, status);
}

/// The words of CC_aarch64_unknown_linux_gnu, if that is the target, or of TARGET_CC or CC.
fn words(name: &str, otherwise: &str) -> Vec<String> {
    let of_target = format!("{}_{}", name, env::var("TARGET").unwrap().replace('-', "_"));
    let value = [of_target, format!("TARGET_{}", name), name.to_string()].iter().find_map(|name| {
        println!("cargo:rerun-if-env-changed={}", name);
        env::var(name).ok()
    });
    value.as_deref().unwrap_or(otherwise).split_whitespace().map(String::from).collect()
}

/// For another architecture than the host's: what Debian calls the compiler.
fn usual_compiler() -> String {
    let (host, target) = (env::var("HOST").unwrap(), env::var("TARGET").unwrap());
    if host.split('-').next() == target.split('-').next() {
        return "cc".to_string();
    }
    target.replace("-unknown", "").replace("armv7-", "arm-").replace("64gc-", "64-") + "-gcc"
}

/// Without the image, the program that a child of another user executes first, the memory is
/// copied. The options of the library are in its sources.
fn compile(sources: &Path, out: &Path) {
    let (compiler, flags) = (words("CC", &usual_compiler()), words("CFLAGS", ""));
    let image = out.join("aspawn-image");
    let mut script = Command::new("sh");
    script.arg(sources.join("aspawn-image.sh")).arg(&image).args(&compiler).args(&flags);
    let has_image = matches!(script.output(), Ok(output) if output.status.success());
    let archiver = words("AR", "ar");
    let mut pack = Command::new(&archiver[0]);
    pack.args(&archiver[1..]).arg("crs").arg(out.join("libaspawn.a"));
    for (source, object) in [("aspawn.c", "c.o"), ("aspawn.S", "asm.o")] {
        let mut compile = Command::new(&compiler[0]);
        compile.args(&compiler[1..]).args(["-O2", "-fPIC", "-w", "-c"]).args(&flags);
        if has_image {
            compile.arg(format!("-DASPAWN_IMAGE=\"{}\"", image.display()));
        }
        let object = out.join(object);
        compile.arg(sources.join(source)).arg("-o").arg(&object);
        run(&mut compile, "a C compiler (apt-get install gcc, or CC)");
        pack.arg(object);
    }
    run(&mut pack, "an archiver (apt-get install binutils, or AR)");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=aspawn");
}
