//! Checks that a machine has what the lab needs, before anything is written.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use nix::unistd::{AccessFlags, access};

use crate::error::LabError;

/// What an experiment needs beside root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Agents on the hosts.
    pub agent: bool,
    /// memcached on the hosts.
    pub memcached: bool,
}

impl Needs {
    /// Refuses a machine, or a user, that cannot run the lab.
    ///
    /// # Errors
    /// [`LabError::NeedsRoot`], [`LabError::NoProgram`] or [`LabError::NoMemcached`].
    pub fn check(self) -> Result<(), LabError> {
        if !nix::unistd::geteuid().is_root() {
            return Err(LabError::NeedsRoot);
        }
        let folders = env::var_os("PATH").unwrap_or_default();
        self.check_programs(&folders)
    }

    fn check_programs(self, folders: &OsStr) -> Result<(), LabError> {
        let of_agents = ["unshare", "mount"].into_iter().filter(|_| self.agent);
        if let Some(program) = of_agents.into_iter().find(|name| !has_program(folders, name)) {
            return Err(LabError::NoProgram { program });
        }
        if self.memcached && !has_program(folders, "memcached") {
            return Err(LabError::NoMemcached);
        }
        Ok(())
    }
}

/// Whether one of the `folders`, as in PATH, has this program.
fn has_program(folders: &OsStr, program: &str) -> bool {
    let may_run = |path: PathBuf| path.is_file() && access(&path, AccessFlags::X_OK).is_ok();
    env::split_paths(folders).any(|folder| may_run(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_in_path() {
        let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = env::join_paths([empty.path(), full.path()]).unwrap();
        let add = |name: &str| {
            let file = full.path().join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        };
        let needs = Needs { agent: true, memcached: true };
        let said = || needs.check_programs(&path).unwrap_err().to_string();
        for program in ["unshare", "mount", "memcached"] {
            assert!(said().contains(&format!("`{program}`")), "{}", said());
            assert!(Needs::default().check_programs(&path).is_ok());
            add(program);
        }
        assert!(needs.check_programs(&path).is_ok());
        assert!(needs.check_programs(empty.path().as_os_str()).is_err());
    }
}
