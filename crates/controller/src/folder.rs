//! The state folder: files that outlive the controller. Each file is replaced as a whole.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ControllerError;

/// A folder of JSON files.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at `path`, and creates it if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn create(path: &Path) -> Result<Folder, ControllerError> {
        fs::create_dir_all(path).map_err(|e| ControllerError::file(path, e))?;
        Ok(Folder(path.to_owned()))
    }

    fn path(&self, kind: &str, group: &str) -> PathBuf {
        self.0.join(format!("{kind}-{group}.json"))
    }

    /// Reads the value that [`Folder::write`] wrote last; `None` if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn read<T: DeserializeOwned>(
        &self,
        kind: &str,
        group: &str,
    ) -> Result<Option<T>, ControllerError> {
        let path = self.path(kind, group);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|e| {
                ControllerError::file(&path, format!("{e}. Remove the file to start without it."))
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ControllerError::file(path, error)),
        }
    }

    /// Replaces the stored value by `value`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write<T: Serialize>(
        &self,
        kind: &str,
        group: &str,
        value: &T,
    ) -> Result<(), ControllerError> {
        let path = self.path(kind, group);
        let fresh = self.0.join(format!("new.{kind}-{group}.json"));
        let write = || {
            let text = serde_json::to_vec(value)?;
            let mut file = fs::File::create(&fresh)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)
        };
        write().map_err(|e: std::io::Error| ControllerError::file(path.clone(), e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = Folder::create(&folder.path().join("a/b")).unwrap();
        assert_eq!(state.read::<u64>("state", "g").unwrap(), None);
        state.write("state", "g", &7u64).unwrap();
        assert_eq!(state.read::<u64>("state", "g").unwrap(), Some(7));
        fs::write(folder.path().join("a/b/state-g.json"), "{").unwrap();
        let error = state.read::<u64>("state", "g").unwrap_err().to_string();
        assert!(error.contains("state-g.json") && error.contains("Remove the file"), "{error}");
    }
}
