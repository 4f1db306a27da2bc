//! Compiles the BPF programs and generates their skeletons, and the types of the shared header.

use std::env;
use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the architecture");
    // Where Debian keeps the kernel's asm/ headers: of the machine's own architecture, and of
    // another one that its cross compilers build for.
    let headers = format!("/usr/include/{architecture}-linux-gnu");
    let cross_headers = format!("/usr/{architecture}-linux-gnu/include");
    // Without 32-bit instructions (Linux 5.1) half of the program would be shifts.
    let code = ["-mcpu=v3", "-fno-strict-aliasing", "-Wall", "-Werror"];
    // Of the programs that the bench compares with, only tests have anything.
    for (source, skeleton) in
        [("bpf/tagger.bpf.c", "tagger.skel.rs"), ("bpf/bench/floors.bpf.c", "floors.skel.rs")]
    {
        SkeletonBuilder::new()
            .source(source)
            .clang_args(code.into_iter().chain(["-I", &headers, "-I", &cross_headers]))
            .reference_obj(true)
            .build_and_generate(out.join(skeleton))
            .unwrap_or_else(|error| {
                panic!(
                    "{source} does not compile: {error:?}\n\
                     clang, libelf and zlib are needed: scripts/install-agent-deps.sh"
                )
            });
    }
}
