//! Limits the size of super-packets. All segments of a super-packet have one DSCP, so smaller ones
//! make the tags finer. The previous limits are recorded and restored.

use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::config::GsoCap;
use crate::error::AgentError;
use crate::interfaces::{Interface, by_index};
use crate::pins::Places;

/// The prefix of records of previous limits.
pub(crate) const RECORD: &str = "gso_";

/// An interface's limits.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct Limits {
    gso_max_size: u32,
    gso_max_segs: u32,
}

/// Limits the interface's super-packets.
pub(crate) fn cap(places: &Places, interface: &Interface, cap: GsoCap) -> Result<(), AgentError> {
    if cap == GsoCap::default() {
        return Ok(());
    }
    let before = limits(&interface.name)?;
    let record = record(interface.index);
    if places.read_record(&record)?.is_none() {
        places.write_record(&record, &serde_json::to_string(&before).unwrap_or_default())?;
    }
    set(
        &interface.name,
        Limits {
            gso_max_size: cap.max_size.map_or(before.gso_max_size, |m| m.min(before.gso_max_size)),
            gso_max_segs: cap
                .max_segments
                .map_or(before.gso_max_segs, |m| m.min(before.gso_max_segs)),
        },
    )
}

fn record(index: u32) -> String {
    format!("{RECORD}{index}")
}

/// Restores the previous limits of the interface with this index.
pub(crate) fn restore(places: &Places, index: u32) -> Result<(), AgentError> {
    let name = record(index);
    let Some(text) = places.read_record(&name)? else { return Ok(()) };
    // There is nothing to restore on an interface that is gone.
    if let (Ok(before), Some(interface)) = (serde_json::from_str(&text), by_index(index)) {
        set(&interface.name, before)?;
    }
    let record = places.record(&name);
    std::fs::remove_file(&record).map_err(|e| AgentError::file(&record, e))
}

fn limits(interface: &str) -> Result<Limits, AgentError> {
    let output = Command::new("ip")
        .args(["-details", "-json", "link", "show", "dev", interface])
        .output()
        .map_err(|e| AgentError::kernel("run ip (of iproute2)", e))?;
    let links: Vec<Limits> = serde_json::from_slice(&output.stdout)
        .map_err(|e| AgentError::kernel(format!("read the limits of {interface}"), e))?;
    links.first().copied().ok_or_else(|| AgentError::Missing(format!("no interface {interface}")))
}

fn set(interface: &str, limits: Limits) -> Result<(), AgentError> {
    let size = limits.gso_max_size.to_string();
    let segments = limits.gso_max_segs.to_string();
    let output = Command::new("ip")
        .args(["link", "set", "dev", interface])
        .args(["gso_max_size", &size, "gso_max_segs", &segments])
        .output()
        .map_err(|e| AgentError::kernel("run ip (of iproute2)", e))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(AgentError::kernel(format!("cap super-packets of {interface}"), reason))
}
