//! The prefixes and control groups that are tagged, as the BPF program looks them up. (Ports are
//! part of the rule itself.)

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Shared, types};
use crate::config::Selection;
use crate::error::AgentError;

/// Bits of the key before the address.
const SLOT_BITS: u32 = 32;
/// The mount point of the hierarchy on most machines.
const MOUNT: &str = "/sys/fs/cgroup";
/// The number of control groups below the root that are looked up. Corresponds to `CGROUP_DEPTH` in
/// `bpf/select.h`, which counts the root too.
pub(crate) const CGROUP_DEPTH: usize = 7;
const PRESENT: [u8; 4] = 1u32.to_ne_bytes();

/// Fills both maps with `selection`, for the rule in `slot`.
pub(crate) fn fill(
    prefixes: &impl MapCore,
    cgroups: &impl MapCore,
    selection: &Selection,
    slot: usize,
) -> Result<(), AgentError> {
    clear(prefixes, cgroups, slot)?;
    for (address, length) in &selection.prefixes {
        let key = prefix_key(*address, *length, slot);
        prefixes
            .update(key.bytes(), &PRESENT, MapFlags::ANY)
            .map_err(|e| AgentError::kernel(format!("select {address}/{length}"), e))?;
    }
    refresh_cgroups(cgroups, selection, slot)
}

/// Replaces the control groups of `slot` by those that the selection's paths name now. A path that
/// does not exist yet selects nothing until it does.
pub(crate) fn refresh_cgroups(
    cgroups: &impl MapCore,
    selection: &Selection,
    slot: usize,
) -> Result<(), AgentError> {
    let wanted: BTreeSet<u64> =
        selection.cgroups.iter().filter_map(|path| cgroup_id(path)).collect();
    let there: BTreeSet<u64> = cgroups
        .keys()
        .map(|key| types::cgroup_key::from_bytes(&key))
        .filter(|key| key.slot == slot as u64)
        .map(|key| key.id)
        .collect();
    let key = |id| types::cgroup_key { id, slot: slot as u64 };
    for id in wanted.difference(&there) {
        cgroups
            .update(key(*id).bytes(), &PRESENT, MapFlags::ANY)
            .map_err(|e| AgentError::kernel("select a control group", e))?;
    }
    for id in there.difference(&wanted) {
        let _ = cgroups.delete(key(*id).bytes());
    }
    Ok(())
}

/// Removes all entries of `slot`.
pub(crate) fn clear(
    prefixes: &impl MapCore,
    cgroups: &impl MapCore,
    slot: usize,
) -> Result<(), AgentError> {
    let stale: Vec<Vec<u8>> = prefixes
        .keys()
        .filter(|key| types::prefix_key::from_bytes(key).slot == slot as u32)
        .collect();
    for key in stale {
        prefixes.delete(&key).map_err(|e| AgentError::kernel("deselect a prefix", e))?;
    }
    let stale: Vec<Vec<u8>> = cgroups
        .keys()
        .filter(|key| types::cgroup_key::from_bytes(key).slot == slot as u64)
        .collect();
    for key in stale {
        cgroups.delete(&key).map_err(|e| AgentError::kernel("deselect a control group", e))?;
    }
    Ok(())
}

fn prefix_key(address: IpAddr, length: u8, slot: usize) -> types::prefix_key {
    let (address, before) = match address {
        IpAddr::V4(address) => (address.to_ipv6_mapped().octets(), 96),
        IpAddr::V6(address) => (address.octets(), 0),
    };
    let prefix_len = SLOT_BITS + before + u32::from(length);
    types::prefix_key { prefix_len, slot: slot as u32, address }
}

/// The id of a control group, which is its folder's inode number.
pub(crate) fn cgroup_id(path: &Path) -> Option<u64> {
    let folder = fs::metadata(cgroup_folder(path)?).ok();
    folder.filter(fs::Metadata::is_dir).map(|folder| folder.ino())
}

/// The folder of a control group of the configuration, whether it exists or not.
pub(crate) fn cgroup_folder(path: &Path) -> Option<PathBuf> {
    if path.starts_with(MOUNT) {
        return Some(path.to_owned());
    }
    Some(hierarchy()?.join(cgroup_name(path)))
}

/// A control group's path below the root of the hierarchy.
pub(crate) fn cgroup_name(path: &Path) -> PathBuf {
    let mount = hierarchy();
    let below = mount.and_then(|mount| path.strip_prefix(mount).ok().map(Path::to_owned));
    let below = below.or_else(|| path.strip_prefix(MOUNT).ok().map(Path::to_owned));
    below.unwrap_or_else(|| path.strip_prefix("/").unwrap_or(path).to_owned())
}

/// The mount point of control groups version 2.
pub(crate) fn hierarchy() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.find(|fields| fields.get(2) == Some(&"cgroup2")).map(|fields| PathBuf::from(fields[1]))
}
