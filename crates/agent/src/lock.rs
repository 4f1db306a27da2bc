//! One agent for each run directory: a lock that the kernel frees however the agent ends.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

use crate::error::AgentError;
use crate::pins::Places;

/// For root and the agent's user alone: whoever can open the file can lock it.
const MODE: u32 = 0o600;
/// A command that looks holds the lock for a moment.
const TRIES: u32 = 5;
const BETWEEN: Duration = Duration::from_millis(20);

/// The lock, held.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Flock<File>,
}

impl Lock {
    /// Takes the lock; `None` if another agent holds it.
    pub(crate) fn try_take(places: &Places) -> Result<Option<Lock>, AgentError> {
        let path = path(places);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|e| AgentError::file(&path, e))?;
        // Earlier versions left one that everybody could open.
        file.set_permissions(Permissions::from_mode(MODE))
            .map_err(|e| AgentError::file(&path, e))?;
        for _ in 0..TRIES {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(held) => return Ok(Some(Lock { _file: held })),
                Err((back, _)) => file = back,
            }
            thread::sleep(BETWEEN);
        }
        Ok(None)
    }

    /// Whether an agent holds the lock.
    pub(crate) fn is_held(places: &Places) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path(places));
        file.is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
    }
}

fn path(places: &Places) -> PathBuf {
    places.record("agent.lock")
}
