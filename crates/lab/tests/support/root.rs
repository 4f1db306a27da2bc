//! Tests that need root.

/// Whether the process is root. If not, prints that `test` is skipped.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}
