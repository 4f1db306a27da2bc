//! Checks who may write to the agent's folders. A user with write access can replace the records
//! that root's commands follow, and the maps that the tagger obeys.

use std::fs::{self, DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use nix::unistd::{Uid, User, geteuid};

use crate::error::AgentError;

/// Advice to a user without permission.
pub(crate) const WHO_MAY: &str =
    "what the agent keeps is for root, and for the user who started the agent: run this as root";

/// The purpose of checking a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An agent starts. The folder must belong to its user or to root.
    Start,
    /// A command reads or restores what an agent has left. The folder may be another user's.
    Use,
}

/// Makes a folder, or checks the existing one.
pub(crate) fn make(path: &Path, mode: u32, purpose: Purpose) -> Result<(), AgentError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| AgentError::file(parent, e))?;
    }
    match DirBuilder::new().mode(mode).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => demand_safe(path, purpose),
        Err(error) => Err(AgentError::file(path, error)),
    }
}

/// # Errors
/// If `path` is there and somebody else could have put something into it.
pub(crate) fn demand_safe(path: &Path, purpose: Purpose) -> Result<(), AgentError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(AgentError::file(path, error)),
    };
    match objection(&found, purpose, geteuid()) {
        None => Ok(()),
        Some(objection) => Err(AgentError::Refused(format!("{} {objection}", path.display()))),
    }
}

/// # Errors
/// If what is at `path` belongs to another user, who could still change it.
pub(crate) fn demand_own(path: &Path) -> Result<(), AgentError> {
    let found = fs::symlink_metadata(path).map_err(|e| AgentError::file(path, e))?;
    if is_own(found.uid(), geteuid()) {
        return Ok(());
    }
    Err(AgentError::Refused(format!(
        "{} belongs to {}, who can change it. Run `flowsched agent uninstall`, or start the agent as \
         that user.",
        path.display(),
        name(found.uid())
    )))
}

fn is_own(owner: u32, user: Uid) -> bool {
    owner == 0 || owner == user.as_raw()
}

fn objection(found: &Metadata, purpose: Purpose, user: Uid) -> Option<String> {
    let (owner, mode) = (name(found.uid()), found.mode() & 0o7777);
    if found.is_symlink() {
        return Some(format!(
            "is a symbolic link of {owner}. Remove it, or name another folder with `--run-dir` or \
             `--pins`."
        ));
    }
    if !found.is_dir() {
        return Some("is not a folder".into());
    }
    if mode & 0o022 != 0 {
        return Some(format!(
            "belongs to {owner} and has mode {mode:04o}: others can replace what is in it. Remove \
             what others have put there, then `chmod go-w` it."
        ));
    }
    if purpose == Purpose::Start && !is_own(found.uid(), user) {
        return Some(format!(
            "belongs to {owner}, not to {}. Start the agent as that user (`systemctl start \
             flowsched-agent`), or run `flowsched agent uninstall` and remove the folder first.",
            name(user.as_raw())
        ));
    }
    None
}

/// `flowsched (uid 110)`.
fn name(uid: u32) -> String {
    match User::from_uid(Uid::from_raw(uid)) {
        Ok(Some(user)) => format!("{} (uid {uid})", user.name),
        _ => format!("uid {uid}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn objection_to(path: &Path, purpose: Purpose, user: u32) -> Option<String> {
        objection(&fs::symlink_metadata(path).unwrap(), purpose, Uid::from_raw(user))
    }

    #[test]
    fn folders_that_others_can_write_to_are_refused() {
        let base = std::env::temp_dir().join(format!("fst-folder-{}", std::process::id()));
        let folder = base.join("folder");
        make(&folder, 0o700, Purpose::Start).unwrap();
        let me = geteuid().as_raw();
        assert_eq!(objection_to(&folder, Purpose::Start, me), None);
        for mode in [0o770, 0o702, 0o1777] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            for purpose in [Purpose::Start, Purpose::Use] {
                let said = objection_to(&folder, purpose, me).unwrap();
                assert!(said.contains(&format!("{mode:04o}")), "{said}");
            }
        }
        let link = base.join("link");
        symlink(&folder, &link).unwrap();
        assert!(objection_to(&link, Purpose::Use, me).unwrap().contains("symbolic link"));
        assert!(make(&link, 0o700, Purpose::Start).is_err());
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn an_agent_starts_in_a_folder_of_its_own_and_root_may_use_it() {
        if !geteuid().is_root() {
            eprintln!("skipped: another user's folder needs root");
            return;
        }
        let folder = std::env::temp_dir().join(format!("fst-owner-{}", std::process::id()));
        make(&folder, 0o755, Purpose::Start).unwrap();
        chown(&folder, Some(64_000), None).unwrap();
        assert_eq!(objection_to(&folder, Purpose::Start, 64_000), None);
        assert_eq!(objection_to(&folder, Purpose::Use, 0), None);
        let said = objection_to(&folder, Purpose::Start, 0).unwrap();
        assert!(said.contains("uid 64000") && said.contains("root (uid 0)"), "{said}");
        assert!(demand_own(&folder).unwrap_err().to_string().contains("uid 64000"));
        fs::remove_dir(&folder).unwrap();
    }
}
