//! Locks of a run directory, which the kernel frees however their holder ends. The first lock allows
//! only one agent at a time. The second allows only one process at a time to change the scheduling of
//! interfaces.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

use crate::error::AgentError;
use crate::pins::{Places, QUEUEING_LOCK};

/// Only root and the agent's user may open the file, because whoever opens it can lock it.
const MODE: u32 = 0o600;
/// The number of tries. A command that checks the lock holds it for a moment.
const TRIES: u32 = 5;
/// The number of tries for scheduling an interface, which needs some dozens of calls of `tc`.
const TRIES_FOR_QUEUEING: u32 = 1_500;
const BETWEEN: Duration = Duration::from_millis(20);

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Flock<File>,
}

impl Lock {
    /// Takes the agent's lock; `None` if another agent holds it.
    pub(crate) fn try_take(places: &Places) -> Result<Option<Lock>, AgentError> {
        let path = path(places);
        let file = open(&path).map_err(|e| AgentError::file(&path, e))?;
        Ok(take(file, TRIES))
    }

    /// Takes the lock for changes of the scheduling of interfaces. Without it, the agent and `agent
    /// nic` would delete each other's classes.
    ///
    /// # Errors
    /// If another process holds it for half a minute.
    pub(crate) fn of_queueing(places: &Places) -> Result<Lock, AgentError> {
        let path = places.record(QUEUEING_LOCK);
        let owner = places.make_run().and_then(|()| {
            std::fs::metadata(&places.run).map_err(|e| AgentError::file(&places.run, e))
        })?;
        let file = open(&path).map_err(|e| AgentError::file(&path, e))?;
        // Root's command and the agent's user both need the file, so it gets the owner of the
        // folder.
        let _ = fchown(&file, Some(owner.uid()), Some(owner.gid()));
        take(file, TRIES_FOR_QUEUEING).ok_or_else(|| {
            AgentError::Missing(format!(
                "another process changes the scheduling of interfaces and does not end (it locks \
                 {}): see `fuser {0}`, and try again",
                path.display()
            ))
        })
    }

    /// Whether an agent holds the lock.
    pub(crate) fn is_held(places: &Places) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path(places));
        file.is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
    }
}

/// Opens the lock's file for its owner alone, and makes it if it is missing.
fn open(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(MODE)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    // Earlier versions left a file that everybody could open.
    file.set_permissions(Permissions::from_mode(MODE))?;
    Ok(file)
}

fn take(mut file: File, tries: u32) -> Option<Lock> {
    for _ in 0..tries {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => return Some(Lock { _file: held }),
            Err((back, _)) => file = back,
        }
        thread::sleep(BETWEEN);
    }
    None
}

fn path(places: &Places) -> PathBuf {
    places.record("agent.lock")
}
