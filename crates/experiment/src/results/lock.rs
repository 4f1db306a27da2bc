//! Allows one writer per folder. The folder itself is locked; the lock ends with the process that
//! holds it.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::ResultsError;

/// The file in the folder of runs that names the process that writes there.
const OWNER_FILE: &str = "process";

/// A lock, held while a study is written.
pub(super) struct Lock {
    _folder: File,
}

impl Lock {
    /// Locks `dir` and notes in `runs` which process holds the lock.
    ///
    /// # Errors
    /// [`ResultsError::Busy`] if another process, or another part of this process, holds the lock.
    pub(super) fn take(dir: &Path, runs: &Path) -> Result<Lock, ResultsError> {
        let folder = File::open(dir).map_err(ResultsError::write(dir))?;
        let owner_file = runs.join(OWNER_FILE);
        match folder.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let owner = fs::read_to_string(&owner_file).unwrap_or_default();
                return Err(ResultsError::Busy { path: dir.to_owned(), owner });
            }
            Err(TryLockError::Error(source)) => {
                return Err(ResultsError::Write { path: dir.to_owned(), source });
            }
        }
        let owner = format!(" (process {})", std::process::id());
        fs::create_dir_all(runs)
            .and_then(|()| fs::write(&owner_file, owner))
            .map_err(ResultsError::write(&owner_file))?;
        Ok(Lock { _folder: folder })
    }
}
