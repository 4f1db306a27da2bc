//! Removes the networks and pins that a killed soak has left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::capture::now;

const MARKS: &str = "/run/flowsched-soak";

/// Marks that a soak of this process runs, as long as the value lives.
pub struct Mark(PathBuf);

impl Mark {
    /// First removes what soaks have left behind if their process is gone, and then makes the mark.
    pub fn new() -> Mark {
        for entry in fs::read_dir(MARKS).into_iter().flatten().flatten() {
            let pid = entry.file_name().to_string_lossy().into_owned();
            if !Path::new("/proc").join(&pid).exists() {
                remove(&pid);
                let _ = fs::remove_file(entry.path());
            }
        }
        let mark = Path::new(MARKS).join(std::process::id().to_string());
        fs::create_dir_all(MARKS).unwrap();
        fs::write(&mark, now().to_string()).unwrap();
        Mark(mark)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Ends the agents that have a folder of this name in their arguments.
fn end_agents(folder: &str) {
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        if arguments.contains("flowsched-agent") && arguments.contains(&format!("/{folder}\0")) {
            let pid = entry.file_name();
            let _ = Command::new("kill").arg("-KILL").arg(pid).stderr(Stdio::null()).status();
        }
    }
}

/// Removes everything that a process has named after itself.
fn remove(pid: &str) {
    let named = |folder: &str, start: String| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(&start))
    };
    for network in named("/run/netns", format!("fs{pid}-")) {
        let name = network.file_name();
        let _ = Command::new("ip").args(["netns", "del"]).arg(name).stderr(Stdio::null()).status();
    }
    for folder in named("/sys/fs/bpf", format!("fst-{pid}-")) {
        end_agents(&folder.file_name().to_string_lossy());
        let _ = fs::remove_dir_all(folder.path());
    }
    let temporary = std::env::temp_dir();
    for folder in named(&temporary.to_string_lossy(), format!("fst-{pid}-")) {
        let _ = fs::remove_dir_all(folder.path());
    }
}
