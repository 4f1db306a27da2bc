//! Compiles the BPF program and generates its skeleton.

use std::env;
use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

const SOURCE: &str = "bpf/dctcp.bpf.c";

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets the architecture");
    // Where Debian keeps the kernel's asm/ headers.
    let headers = format!("/usr/include/{architecture}-linux-gnu");
    let code = ["-mcpu=v3", "-fno-strict-aliasing", "-Wall", "-Werror"];
    SkeletonBuilder::new()
        .source(SOURCE)
        .clang_args(code.into_iter().chain(["-I", &headers]))
        .reference_obj(true)
        .build_and_generate(out.join("dctcp.skel.rs"))
        .unwrap_or_else(|error| {
            panic!(
                "{SOURCE} does not compile: {error:?}\n\
                 clang, libelf and zlib are needed: scripts/install-agent-deps.sh"
            )
        });
}
