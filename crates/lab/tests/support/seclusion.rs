//! A place for a lab that shows all that the lab leaves behind, and nothing that other programs leave.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Keeper, sh};

/// The folders in which programs make files. Here they are empty in the beginning, but for what `mount` and the kernel
/// put there.
const FOLDERS: &str = "/run /tmp /var/tmp /dev/shm /sys/fs/bpf";
/// The environment variable that tells processes from here, and those that they start, from all others.
const MARK: &str = "FLOWSCHED_LAB_TEST_SECLUSION";

/// A mount namespace in which [`FOLDERS`] are file systems of their own.
pub struct Seclusion(Keeper);

/// What is in a seclusion.
#[derive(Debug, PartialEq, Eq)]
pub struct Contents {
    /// The files in [`FOLDERS`].
    pub files: BTreeSet<String>,
    /// All mounts. A network namespace without a process may live in one.
    mounts: String,
    /// The processes that were started here, directly or indirectly.
    processes: Vec<u32>,
}

impl Seclusion {
    pub fn new() -> Seclusion {
        let mount = "case $it in */bpf) kind=bpf ;; *) kind=tmpfs ;; esac; mount -t $kind lab $it";
        let script = format!("for it in {FOLDERS}; do {mount} || exit; done");
        Seclusion(Keeper::start(&["--mount", "--propagation", "private"], &script))
    }

    /// A command that runs this test program here.
    pub fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.0.id()));
        // The program's own folder may be hidden here.
        command.arg(format!("/proc/{}/exe", std::process::id())).env(MARK, self.mark());
        command
    }

    /// The path from outside of an absolute path in here.
    pub fn path(&self, inside: &str) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.0.id())).join(inside.trim_start_matches('/'))
    }

    pub fn look(&self) -> Contents {
        let enter = format!("nsenter --mount=/proc/{}/ns/mnt", self.0.id());
        let files = sh(&format!("{enter} find {FOLDERS} -mindepth 1"));
        Contents {
            files: files.lines().map(str::to_owned).collect(),
            mounts: fs::read_to_string(format!("/proc/{}/mountinfo", self.0.id())).unwrap(),
            processes: self.processes(),
        }
    }

    fn mark(&self) -> String {
        format!("{}-{}", std::process::id(), self.0.id())
    }

    fn processes(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.mark());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_from_here = |id: &u32| {
            // A process that has ended has no environment.
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        ids.filter(is_from_here).collect()
    }
}
