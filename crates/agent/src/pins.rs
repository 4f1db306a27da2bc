//! The files of the agent that outlive it: pins in a BPF file system, and records in a run
//! directory.
//!
//! The run directory is the one place that every command knows. It records where the pins are.
//! [`crate::folder`] checks who may write to these folders, and [`crate::lock`] has the lock.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf, absolute};

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, MapCore, MapHandle, Program};

use crate::entry::{Entry, Side};
use crate::error::AgentError;
use crate::folder::{self, Purpose, WHO_MAY};
use crate::{map, sys};

/// The folder of pins, unless `start --pins` names another.
const DEFAULT_PINS: &str = "/sys/fs/bpf/flowsched";
/// The record that says where the pins are. It is a symbolic link.
const PINS: &str = "pins";
/// The file that is locked for changes of the scheduling of interfaces.
pub(crate) const QUEUEING_LOCK: &str = "nic.lock";
/// The largest size of a record.
const MAX_RECORD: u64 = 1 << 20;

/// The folders of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// A folder in a BPF file system.
    pub pins: PathBuf,
    /// The run directory, which is emptied when the machine starts.
    pub run: PathBuf,
}

impl Places {
    /// Finds the folders of the agent whose run directory is `run`. `chosen` is the value of
    /// `--pins`.
    ///
    /// # Errors
    /// If `chosen` is not the folder of that agent's pins, or if others could have changed the
    /// record.
    pub(crate) fn find(run: &Path, chosen: Option<&Path>) -> Result<Places, AgentError> {
        let (run, chosen) = absolutes(run, chosen)?;
        match (chosen, recorded(&run)?) {
            (Some(chosen), Some(recorded)) if chosen != recorded => {
                Err(AgentError::Usage(format!(
                    "`--pins {}` contradicts {}, which says {}. Leave out `--pins`, or name the run \
                     directory of the other agent with `--run-dir`.",
                    chosen.display(),
                    run.join(PINS).display(),
                    recorded.display()
                )))
            }
            (_, Some(pins)) => Ok(Places { pins, run }),
            (chosen, None) => Ok(Places { pins: chosen.unwrap_or(DEFAULT_PINS.into()), run }),
        }
    }

    /// Finds the folders of an agent that starts. It may choose other pins once the old ones are
    /// gone.
    ///
    /// # Errors
    /// If a tagger is still installed elsewhere.
    pub(crate) fn find_for_start(run: &Path, chosen: Option<&Path>) -> Result<Places, AgentError> {
        let (run, chosen) = absolutes(run, chosen)?;
        let recorded = recorded(&run)?.map(|pins| Places { pins, run: run.clone() });
        match (chosen, recorded) {
            (Some(chosen), Some(old)) if chosen != old.pins && old.is_installed() => {
                Err(AgentError::Usage(format!(
                    "`--pins {}` would leave two taggers: one is pinned in {}. Leave out `--pins`, \
                     or run `flowsched agent uninstall` first.",
                    chosen.display(),
                    old.pins.display()
                )))
            }
            (None, Some(old)) => Ok(old),
            (chosen, _) => Ok(Places { pins: chosen.unwrap_or(DEFAULT_PINS.into()), run }),
        }
    }

    pub(crate) fn map(&self, name: &str) -> PathBuf {
        self.pins.join(name)
    }

    /// Opens the pinned map called `name`.
    ///
    /// # Errors
    /// If no tagger is installed, or if the user lacks permission.
    pub(crate) fn open_map(&self, name: &str) -> Result<MapHandle, AgentError> {
        let path = self.map(name);
        MapHandle::from_pinned_path(&path).map_err(|e| match e.kind() {
            libbpf_rs::ErrorKind::PermissionDenied => {
                AgentError::Denied(format!("{}: {e}\n{WHO_MAY}", path.display()))
            }
            _ => AgentError::NotInstalled(format!(
                "{}: {e}\nno tagger is installed here; `flowsched agent start` installs one",
                path.display()
            )),
        })
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.pins.join(format!("program_{name}"))
    }

    /// The pin of the link on one side of the interface with this index.
    pub(crate) fn link(&self, index: u32, side: Side) -> PathBuf {
        self.pins.join(format!("link_{index}_{}", side.name()))
    }

    /// Indices and sides of the interfaces that have a pinned link.
    pub(crate) fn links(&self) -> Vec<(u32, Side)> {
        names_in(&self.pins).iter().filter_map(|name| link_named(name)).collect()
    }

    /// Removes links of an earlier version, which named them by the interface's name.
    pub(crate) fn remove_old_links(&self) -> Result<(), AgentError> {
        let names = names_in(&self.pins).into_iter();
        names
            .filter(|name| name.starts_with("link_") && link_named(name).is_none())
            .map(|name| self.pins.join(name))
            .try_for_each(|path| fs::remove_file(&path).map_err(|e| AgentError::file(path, e)))
    }

    /// Whether the agent's object is pinned under this name. Others may use the same names.
    fn is_the_agents(&self, name: &str) -> bool {
        let path = self.pins.join(name);
        // A symbolic link could lead elsewhere.
        is_made_here(name)
            && fs::symlink_metadata(&path).is_ok_and(|found| found.is_file())
            && is_named(&path, name.strip_prefix("new_").unwrap_or(name))
    }

    /// Whether any part of a tagger is pinned.
    pub(crate) fn is_installed(&self) -> bool {
        names_in(&self.pins).iter().any(|name| self.is_the_agents(name))
    }

    /// The path of a record in the run directory, such as what an interface was before.
    pub(crate) fn record(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }

    /// The indices of the interfaces that have a record of this kind.
    pub(crate) fn records(&self, kind: &str) -> Vec<u32> {
        let names = names_in(&self.run).into_iter();
        names.filter_map(|name| name.strip_prefix(kind)?.parse().ok()).collect()
    }

    /// Makes the run directory for a record, if it is missing.
    pub(crate) fn make_run(&self) -> Result<(), AgentError> {
        folder::make(&self.run, 0o755, Purpose::Use)
    }

    /// Replaces the record called `name` as a whole. Does not follow an existing link, because the
    /// folder may belong to another user than the one who writes.
    pub(crate) fn write_record(&self, name: &str, text: &str) -> Result<(), AgentError> {
        self.make_run()?;
        let fresh = self.record(&format!("new.{name}"));
        let _ = fs::remove_file(&fresh);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        let written = options.open(&fresh).and_then(|mut file| file.write_all(text.as_bytes()));
        written
            .and_then(|()| fs::rename(&fresh, self.record(name)))
            .map_err(|e| AgentError::file(self.record(name), e))
    }

    /// Reads the record called `name`, if there is one.
    pub(crate) fn read_record(&self, name: &str) -> Result<Option<String>, AgentError> {
        let path = self.record(name);
        let mut options = OpenOptions::new();
        // A link in its place could lead elsewhere, and a pipe would never end.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let mut text = String::new();
        let read =
            options.open(&path).and_then(|file| file.take(MAX_RECORD).read_to_string(&mut text));
        match read {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AgentError::file(path, error)),
        }
    }

    /// Makes both folders if they are missing, so that nobody else can write to them.
    ///
    /// # Errors
    /// If somebody else could have put something there, or if there is no BPF file system.
    pub(crate) fn create(&self) -> Result<(), AgentError> {
        folder::make(&self.run, 0o755, Purpose::Start)?;
        let made = self.demand_bpf_file_system().and_then(|()| self.create_pins());
        if made.is_err() {
            // This removes the folder only if it is empty.
            let _ = fs::remove_dir(&self.run);
        }
        made
    }

    fn create_pins(&self) -> Result<(), AgentError> {
        folder::make(&self.pins, 0o700, Purpose::Start)?;
        for name in names_in(&self.pins) {
            folder::demand_own(&self.pins.join(name))?;
        }
        Ok(())
    }

    /// Records where the pins are, for all commands that follow.
    pub(crate) fn record_pins(&self) -> Result<(), AgentError> {
        let fresh = self.record("new.pins");
        let _ = fs::remove_file(&fresh);
        symlink(&self.pins, &fresh)
            .and_then(|()| fs::rename(&fresh, self.record(PINS)))
            .map_err(|e| AgentError::file(self.record(PINS), e))
    }

    /// # Errors
    /// If the pins' folder is not, or would not be, in a BPF file system.
    pub(crate) fn demand_bpf_file_system(&self) -> Result<(), AgentError> {
        let there = self.pins.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        if is_bpf_file_system(there) {
            return Ok(());
        }
        Err(AgentError::Refused(format!(
            "{} is in no BPF file system. Mount one with `mount -t bpf bpf /sys/fs/bpf`, or name \
             another folder with `--pins`.",
            self.pins.display()
        )))
    }

    /// Removes the agent's pins, its files in the run directory, and then the folders if they are
    /// empty. Returns the other files among the pins, which stay.
    pub(crate) fn remove(&self) -> Result<Vec<PathBuf>, AgentError> {
        let mut left = Vec::new();
        if self.pins.exists() {
            self.demand_bpf_file_system()?;
            for name in names_in(&self.pins) {
                let path = self.pins.join(&name);
                if self.is_the_agents(&name) {
                    fs::remove_file(&path).map_err(|e| AgentError::file(&path, e))?;
                } else {
                    left.push(path);
                }
            }
        }
        for name in [PINS, "agent.lock", QUEUEING_LOCK, "control"] {
            let _ = fs::remove_file(self.record(name));
        }
        // A folder that is a mount point, or has other files, stays.
        let _ = fs::remove_dir(&self.pins);
        let _ = fs::remove_dir(&self.run);
        Ok(left)
    }
}

/// Whether `path` is in a BPF file system.
pub(crate) fn is_bpf_file_system(path: &Path) -> bool {
    nix::sys::statfs::statfs(path)
        .is_ok_and(|found| found.filesystem_type() == nix::sys::statfs::BPF_FS_MAGIC)
}

/// The index and the side of the interface whose link is pinned under this name.
fn link_named(name: &str) -> Option<(u32, Side)> {
    let (index, side) = name.strip_prefix("link_")?.split_once('_')?;
    let side = Side::BOTH.into_iter().find(|one| one.name() == side)?;
    Some((index.parse().ok()?, side))
}

/// Whether the agent uses this name for a pin.
fn is_made_here(name: &str) -> bool {
    let is_program = |name: &str| Entry::ALL.iter().any(|entry| entry.name() == name);
    map::ALL.contains(&name)
        || name.strip_prefix("program_").is_some_and(is_program)
        || name.starts_with("link_")
        || name.strip_prefix("new_").is_some_and(is_made_here)
}

/// Whether the pinned object is of the kind that the agent pins under this name.
fn is_named(path: &Path, name: &str) -> bool {
    if name.starts_with("link_") {
        let info = Link::open(path).and_then(|link| link.info());
        return info.is_ok_and(|info| matches!(info.info, LinkTypeInfo::Tcx(_)));
    }
    match name.strip_prefix("program_") {
        Some(entry) => Program::fd_from_pinned_path(path)
            .is_ok_and(|program| sys::program_name_of(program.as_fd()) == entry),
        None => MapHandle::from_pinned_path(path)
            .is_ok_and(|found| found.name() == map::kernel_name(name)),
    }
}

fn absolutes(run: &Path, pins: Option<&Path>) -> Result<(PathBuf, Option<PathBuf>), AgentError> {
    let absolute = |path: &Path| absolute(path).map_err(|e| AgentError::file(path, e));
    Ok((absolute(run)?, pins.map(absolute).transpose()?))
}

/// The folder of the pins, as the run directory records it.
fn recorded(run: &Path) -> Result<Option<PathBuf>, AgentError> {
    folder::demand_safe(run, Purpose::Use)?;
    let path = run.join(PINS);
    match fs::read_link(&path) {
        Ok(pins) => Ok(Some(pins)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(AgentError::Denied(format!("{}: {error}\n{WHO_MAY}", path.display())))
        }
        Err(error) => Err(AgentError::file(path, error)),
    }
}

/// The names in a folder, sorted. Empty if it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry: io::Result<fs::DirEntry>| entry.map(|e| e.file_name()));
    let mut names: Vec<String> = names.filter_map(|name| name.ok()?.into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agents_own_names_are_its_pins() {
        for name in [
            "settings",
            "flows",
            "program_tag_ip",
            "link_7_ingress",
            "new_link_7_egress",
            "new_writers",
        ] {
            assert!(is_made_here(name), "{name}");
        }
        for name in ["passwd", "program_other", "new_", "tc", "cilium_calls", "new_thing"] {
            assert!(!is_made_here(name), "{name}");
        }
    }

    #[test]
    fn every_command_finds_the_pins_that_start_recorded() {
        let run = std::env::temp_dir().join(format!("fst-places-{}", std::process::id()));
        let elsewhere = Path::new("/somewhere/else");
        assert_eq!(Places::find(&run, None).unwrap().pins, Path::new(DEFAULT_PINS));
        let places = Places::find_for_start(&run, Some(elsewhere)).unwrap();
        folder::make(&run, 0o755, Purpose::Start).unwrap();
        places.record_pins().unwrap();
        assert_eq!(Places::find(&run, None).unwrap(), places);
        assert_eq!(Places::find(&run, Some(elsewhere)).unwrap(), places);
        let other = Places::find(&run, Some(Path::new("/third"))).unwrap_err();
        assert!(other.to_string().contains("contradicts") && other.exit_code() == 2, "{other}");
        // Nothing is pinned there any more.
        let moved = Places::find_for_start(&run, Some(Path::new("/third"))).unwrap();
        assert_eq!(moved.pins, Path::new("/third"));
        fs::remove_dir_all(&run).unwrap();
    }

    #[test]
    fn a_record_never_follows_a_link() {
        let run = std::env::temp_dir().join(format!("fst-records-{}", std::process::id()));
        let places = Places { pins: "/none".into(), run: run.clone() };
        places.write_record("gso_eth0", "first").unwrap();
        let secret = run.join("secret");
        fs::write(&secret, "secret").unwrap();
        symlink(&secret, run.join("nic_eth0")).unwrap();
        symlink(&secret, run.join("new.nic_eth0")).unwrap();
        assert!(places.read_record("nic_eth0").is_err());
        places.write_record("nic_eth0", "second").unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert_eq!(places.read_record("nic_eth0").unwrap().as_deref(), Some("second"));
        assert_eq!(places.read_record("gso_eth0").unwrap().as_deref(), Some("first"));
        assert_eq!(places.read_record("gso_eth1").unwrap(), None);
        fs::remove_dir_all(&run).unwrap();
    }
}
