//! The capabilities of this process.

use std::fs;

use crate::error::AgentError;

/// The capabilities that matter here, with their numbers (capabilities(7)).
const CAPABILITIES: [(&str, u32); 4] =
    [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

/// The names of the capabilities that this process has. CAP_SYS_ADMIN includes those that were
/// split off from it.
pub(crate) fn held() -> Vec<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    let has = |number: u32| bits >> number & 1 == 1;
    let implied = |name: &str| has(21) && (name == "CAP_BPF" || name == "CAP_PERFMON");
    CAPABILITIES
        .iter()
        .filter(|(name, number)| has(*number) || implied(name))
        .map(|(name, _)| *name)
        .collect()
}

/// The capabilities that tagging needs. Without CAP_PERFMON, the verifier guards every access to a
/// packet against speculation, and refuses most.
pub(crate) const FOR_TAGGING: [&str; 3] = ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"];
/// The capabilities that changing an interface's queueing needs.
pub(crate) const FOR_QUEUEING: [&str; 1] = ["CAP_NET_ADMIN"];

/// Checks that the process has all `needed` capabilities.
///
/// # Errors
/// If some are missing. The error names them.
pub(crate) fn demand(needed: &[&str]) -> Result<(), AgentError> {
    let held = held();
    let missing: Vec<&str> = needed.iter().copied().filter(|name| !held.contains(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(AgentError::Denied(format!(
        "this process lacks {}: run it as root, or under systemd with AmbientCapabilities={}",
        missing.join(", "),
        missing.join(" ")
    )))
}
