//! Tells the program which commit it is built from.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let dirty = if changed.is_some_and(|changed| !changed.is_empty()) { "-dirty" } else { "" };
    println!("cargo::rustc-env=FLOWSCHED_COMMIT={commit}{dirty}");
    // Commits and checkouts write here. A file that changes without one is seen at the next build
    // of this crate.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// What git says; nothing where there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
