//! The ownership of labs. Each lab has a folder with a lock, which the kernel frees when the owner
//! ends in whatever way.
//!
//! The folder of a living lab holds a link to each of its namespaces, for `nsenter`. The folder of a
//! dead lab is all that is left of the lab; [`clean_up`] removes such folders and nothing else.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::{Flock, FlockArg};

use crate::error::LabError;
use crate::namespaces::Namespace;
use crate::processors::Division;

/// Where labs keep their folders. It is not the agent's run directory, which may belong to another
/// user.
pub const FOLDER: &str = "/run/flowsched-lab";

/// Only root may open a lock, because whoever can open a lock can hold it.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// The lock of a lab's folder.
const LOCK: &str = "owner.lock";
/// A file in a lab's folder: the number of its switch's processor.
const PROCESSOR: &str = "processor";
/// Held by whoever makes or removes a lab's folder, so that none is removed before it is locked.
const TURN: &str = "turn.lock";

static LABS: AtomicU32 = AtomicU32::new(0);

/// A lab's folder, locked. Dropping this removes it.
#[derive(Debug)]
pub struct Owner {
    folder: PathBuf,
    division: Option<Division>,
    _lock: Flock<File>,
}

impl Owner {
    /// Makes the folder of a new lab in `all`, usually [`FOLDER`].
    ///
    /// # Errors
    /// [`LabError::File`], or [`LabError::NeedsRoot`] without the right to write there.
    pub fn claim(all: &Path) -> Result<Owner, LabError> {
        let _turn = take_turn(all)?;
        let number = LABS.fetch_add(1, Ordering::Relaxed);
        let folder = all.join(format!("{}-{number}", std::process::id()));
        make_folder(&folder)?;
        let path = folder.join(LOCK);
        let lock = try_lock(&path)?.ok_or_else(|| {
            LabError::file("lock", &path, io::Error::from(io::ErrorKind::AlreadyExists))
        })?;
        let division = divide(all, &folder)?;
        Ok(Owner { folder, division, _lock: lock })
    }

    /// Names a namespace: `nsenter --net=FOLDER/name` enters it while this process lives.
    ///
    /// # Errors
    /// [`LabError::File`].
    pub fn name(&self, namespace: &Namespace, name: &str) -> Result<(), LabError> {
        let link = self.folder.join(name);
        symlink(namespace.path(), &link).map_err(|e| LabError::file("make", &link, e))
    }

    /// The lab's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lab's processors. `None` if there is one for all.
    pub fn division(&self) -> Option<&Division> {
        self.division.as_ref()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next lab.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders in `all` whose labs are dead. Returns how many there were.
///
/// # Errors
/// [`LabError::File`], or [`LabError::NeedsRoot`] without the right to write there.
pub fn clean_up(all: &Path) -> Result<usize, LabError> {
    let _turn = take_turn(all)?;
    let mut removed = 0;
    for entry in fs::read_dir(all).map_err(|e| LabError::file("read", all, e))? {
        let folder = entry.map_err(|e| LabError::file("read", all, e))?.path();
        if is_dead(&folder)? {
            fs::remove_dir_all(&folder).map_err(|e| LabError::file("remove", &folder, e))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Divides the processors, and notes in the lab's `folder` which one its switch has. No other lab in `all` has it, if
/// there are enough.
fn divide(all: &Path, folder: &Path) -> Result<Option<Division>, LabError> {
    let labs = fs::read_dir(all).map_err(|e| LabError::file("read", all, e))?;
    let notes = labs.flatten().map(|lab| fs::read_to_string(lab.path().join(PROCESSOR)));
    let taken: Vec<usize> = notes.flatten().filter_map(|note| note.parse().ok()).collect();
    let division =
        Division::beside(&taken).map_err(|e| LabError::system("count the processors", e))?;
    if let Some(division) = &division {
        let path = folder.join(PROCESSOR);
        let note = division.switch.to_string();
        fs::write(&path, note).map_err(|e| LabError::file("write", &path, e))?;
    }
    Ok(division)
}

/// Whether `folder` is a lab's and nobody holds its lock. A lab that died before it locked its
/// folder has an empty one.
fn is_dead(folder: &Path) -> Result<bool, LabError> {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(false);
    }
    let path = folder.join(LOCK);
    match path.symlink_metadata() {
        Ok(_) => Ok(try_lock(&path)?.is_some()),
        Err(_) => Ok(fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())),
    }
}

/// Waits until no other process makes or removes folders.
fn take_turn(all: &Path) -> Result<Flock<File>, LabError> {
    make_folder(all)?;
    let path = all.join(TURN);
    let lock = Flock::lock(open(&path)?, FlockArg::LockExclusive);
    lock.map_err(|(_, source)| LabError::file("lock", &path, source.into()))
}

fn make_folder(path: &Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path);
    made.map_err(|source| LabError::file("make", path, source))
}

fn open(path: &Path) -> Result<File, LabError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    let file = options.custom_flags(libc::O_NOFOLLOW).open(path);
    file.map_err(|source| LabError::file("open", path, source))
}

/// Takes a lock; `None` if somebody else holds it.
fn try_lock(path: &Path) -> Result<Option<Flock<File>>, LabError> {
    match Flock::lock(open(path)?, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, nix::Error::EWOULDBLOCK)) => Ok(None),
        Err((_, source)) => Err(LabError::file("lock", path, source.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_lab_left_goes_and_nothing_else() {
        let all = tempfile::tempdir().unwrap();
        let alive = Owner::claim(all.path()).unwrap();
        let dead = all.path().join("1-0");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::create_dir(all.path().join("2-0")).unwrap();
        let foreign = all.path().join("notes");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("text"), "").unwrap();
        assert_eq!(clean_up(all.path()).unwrap(), 2);
        assert!(alive.folder().exists() && foreign.exists() && !dead.exists());
        assert_eq!(clean_up(all.path()).unwrap(), 0);
    }

    #[test]
    fn a_lab_that_ends_takes_its_folder_along() {
        let all = tempfile::tempdir().unwrap();
        let (one, other) = (Owner::claim(all.path()).unwrap(), Owner::claim(all.path()).unwrap());
        assert_ne!(one.folder(), other.folder());
        let gone = one.folder().to_owned();
        drop(one);
        assert!(!gone.exists() && other.folder().exists());
    }
}
