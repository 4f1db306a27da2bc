//! Shells, and processes that live as long as the test.

use std::io::Read;
use std::process::{Child, Command, Stdio};

/// What a shell prints that runs `text`.
pub fn sh(text: &str) -> String {
    let output = Command::new("sh").args(["-c", text]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A process in namespaces of its own. It ends when this is dropped, or with the test.
pub struct Keeper(Child);

impl Keeper {
    /// Starts a shell in new namespaces, as options of `unshare` name them, and waits until it has run `script`.
    pub fn start(namespaces: &[&str], script: &str) -> Keeper {
        // The shell's standard input is open until this is dropped or the test ends.
        let script = format!("{script} && echo ready && exec cat");
        let mut shell = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 5];
        let read = shell.stdout.take().unwrap().read_exact(&mut ready);
        read.unwrap_or_else(|error| panic!("{script}: {error}"));
        Keeper(shell)
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
