//! Tests that need root.

/// Whether this is root; otherwise says that `test` is skipped.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}
