//! The program, run on small experiments in a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two schemes on four hosts; ends at once.
pub const SMALL: &str = r#"name = "a small one"
seeds = 2

[topology]
kind = "star"
hosts = 4

[workload]
sizes = "fixed 20pkt"
load = 0.5
flows = 50

[[scheme]]
preset = "dctcp"

[[scheme]]
preset = "pias"
queues = 2
thresholds = "10pkt"
"#;

/// A folder with `small.toml`, in which the program is run.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// Makes a new folder.
    pub fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.write("small.toml", SMALL);
        place
    }

    /// The path of the file `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the file `name`.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The program with `arguments`, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowsched"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program with `arguments`.
    pub fn flowsched(&self, arguments: &[&str]) -> Done {
        Done::from_output(self.command(arguments).output().unwrap())
    }
}

/// What the program did.
pub struct Done {
    pub status: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl Done {
    /// Collects what the program did. Panics if the program panicked.
    pub fn from_output(done: Output) -> Done {
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!errors.contains("panicked"), "{errors}");
        let output = String::from_utf8_lossy(&done.stdout).into_owned();
        Done { status: done.status.code(), output, errors }
    }

    /// The output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.output).unwrap_or_else(|error| {
            panic!("{error}\n{}\n{}", self.output, self.errors);
        })
    }
}

/// The summary in a results folder.
pub fn summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}
