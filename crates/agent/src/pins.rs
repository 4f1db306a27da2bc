//! Where things that outlive the agent are: pins in the BPF file system, and the lock and records
//! in a run directory.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

use nix::fcntl::{Flock, FlockArg};

use crate::attach::Side;
use crate::error::AgentError;

/// The folders of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// A folder in a BPF file system.
    pub pins: PathBuf,
    /// A folder that is emptied when the machine starts.
    pub run: PathBuf,
}

impl Places {
    pub(crate) fn map(&self, name: &str) -> PathBuf {
        self.pins.join(name)
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.pins.join(format!("program_{name}"))
    }

    /// The pin of the link on one side of the interface with this index.
    pub(crate) fn link(&self, index: u32, side: Side) -> PathBuf {
        self.pins.join(format!("link_{index}_{}", side.name()))
    }

    /// A record in the run directory about the interface with this index: what it was before, say.
    pub(crate) fn record(&self, about: &str, index: u32) -> PathBuf {
        self.run.join(format!("{about}{index}"))
    }

    /// Indices of the interfaces that there is such a record about.
    pub(crate) fn records(&self, about: &str) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(&self.run) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<u32> =
            names.filter_map(|name| name.strip_prefix(about)?.parse().ok()).collect();
        found.sort_unstable();
        found
    }

    /// Removes all pins and the lock's file, and the folders if nothing else is in them.
    pub(crate) fn remove(&self) -> Result<(), AgentError> {
        if let Ok(entries) = fs::read_dir(&self.pins) {
            for path in entries.flatten().map(|entry| entry.path()) {
                fs::remove_file(&path).map_err(|e| AgentError::file(&path, e))?;
            }
        }
        let _ = fs::remove_file(self.lock_path());
        // A folder that is a mount point, or not ours alone, stays.
        let _ = fs::remove_dir(&self.pins);
        let _ = fs::remove_dir(&self.run);
        Ok(())
    }

    fn lock_path(&self) -> PathBuf {
        self.run.join("agent.lock")
    }

    /// Makes both folders where they are missing.
    pub(crate) fn create(&self) -> Result<(), AgentError> {
        fs::create_dir_all(&self.run).map_err(|e| AgentError::file(&self.run, e))?;
        fs::create_dir_all(&self.pins).map_err(|e| {
            AgentError::Missing(format!(
                "{}: {e}\nthe folder for pins must be in a BPF file system that this user may \
                 write to: mount -t bpf bpf /sys/fs/bpf",
                self.pins.display()
            ))
        })
    }

    /// The process that runs the agent, if one does.
    pub(crate) fn running(&self) -> Option<i32> {
        let mut file = File::open(self.lock_path()).ok()?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(_free) => None,
            Err(_) => text.trim().parse().ok(),
        }
    }
}

/// Held by the agent that runs; freed by the kernel however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Flock<File>,
}

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// If another agent holds it.
    pub(crate) fn take(places: &Places) -> Result<Lock, AgentError> {
        let path = places.lock_path();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(|e| AgentError::file(&path, e))?;
        let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err(_) => {
                let pid = places.running().unwrap_or(0);
                return Err(AgentError::Running { pid });
            }
        };
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(|e| AgentError::file(&path, e))?;
        Ok(Lock { _file: file })
    }
}
