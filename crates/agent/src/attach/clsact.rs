//! The hook of kernels before 6.6: filters of the queueing discipline clsact, which stay until they
//! are taken away.

use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};
use serde::Deserialize;

use super::tcx;
use crate::entry::{Entry, Side};
use crate::error::AgentError;
use crate::interfaces::Interface;
use crate::pins::Places;
use crate::sys;

/// Priorities are tried from this one on, which runs first: others may have it with a filter of
/// another kind.
const FIRST_PRIORITY: u32 = 1;
const LAST_PRIORITY: u32 = 16;
/// The priority that earlier versions gave their filter.
const OLD_PRIORITY: u32 = 0xf5c0;

/// Records that clsact was made here begin with this.
pub(crate) const RECORD: &str = "clsact_";

fn record(interface: &Interface) -> String {
    format!("{RECORD}{}", interface.index)
}

/// The handle by which a filter is found again: agents with other folders have other handles, so
/// that none replaces another's filter (FNV-1a).
fn handle(places: &Places) -> u32 {
    let bytes = places.pins.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    1 + hash % 0xffff
}

/// Puts the program on the interface, before other filters where their priorities allow it.
pub(super) fn attach(
    program: BorrowedFd<'_>,
    places: &Places,
    interface: &Interface,
    side: Side,
) -> Result<(), AgentError> {
    if !has_clsact(&interface.name) {
        places.write_record(&record(interface), "")?;
    }
    let there = ours(places, interface, side).map(|(priority, _)| priority);
    let priorities = match there {
        Some(priority) => priority..=priority,
        None => FIRST_PRIORITY..=LAST_PRIORITY,
    };
    let mut refused = None;
    for priority in priorities {
        let mut filter = filter(program, places, interface, side, priority);
        filter.create().map_err(|e| AgentError::kernel("make clsact", e))?;
        match filter.attach() {
            Ok(_) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    let reason = refused.map_or_else(String::new, |error| error.to_string());
    Err(AgentError::kernel("put a filter on the interface", reason))
}

pub(super) fn is_attached(places: &Places, interface: &Interface, side: Side) -> bool {
    ours(places, interface, side).is_some()
}

/// Takes the filters away; clsact itself too, if it was made for them and nobody else uses it.
pub(super) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let mut removed = None;
    for side in Side::BOTH {
        if let Some((_, mut filter)) = ours(places, interface, side) {
            filter.detach().map_err(|e| {
                AgentError::kernel(format!("take the filter off {}", interface.name), e)
            })?;
            removed = Some(filter);
        }
    }
    let record = places.record(&record(interface));
    if let (Some(filter), true) = (removed, record.exists()) {
        std::fs::remove_file(&record).map_err(|e| AgentError::file(&record, e))?;
        remove_clsact(interface, filter)?;
    }
    Ok(())
}

fn remove_clsact(interface: &Interface, mut filter: TcHook) -> Result<(), AgentError> {
    if Side::BOTH.into_iter().any(|side| !shown(interface, side).is_empty()) {
        return Ok(());
    }
    filter
        .attach_point(TC_EGRESS | TC_INGRESS)
        .destroy()
        .map_err(|e| AgentError::kernel(format!("remove clsact of {}", interface.name), e))
}

/// What runs before the tagger: all that is on tcx, and filters that are looked at earlier.
pub(super) fn before(places: &Places, interface: &Interface) -> Vec<String> {
    let mut found = tcx::all_names(interface);
    let handle = format!("0x{:x}", handle(places));
    for shown in shown(interface, Side::Egress) {
        let Some(options) = &shown.options else { continue };
        if shown.kind == "bpf" && options.handle.as_ref() == Some(&handle) {
            break;
        }
        found.push(format!("a {} filter of preference {}", shown.kind, shown.pref));
    }
    // Of one filter tc shows several parts.
    found.dedup();
    found
}

/// A line of `tc filter show`.
#[derive(Debug, Deserialize)]
struct Shown {
    kind: String,
    pref: u32,
    options: Option<ShownOptions>,
}

#[derive(Debug, Deserialize)]
struct ShownOptions {
    #[serde(default, deserialize_with = "text_or_number")]
    handle: Option<String>,
}

/// `tc` prints the handles of filters as text or as numbers, by their kind.
fn text_or_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
}

fn shown(interface: &Interface, side: Side) -> Vec<Shown> {
    let text = tc(&["-json", "filter", "show", "dev", &interface.name, side.name()]);
    serde_json::from_str(&text).unwrap_or_default()
}

fn filter(
    program: BorrowedFd<'_>,
    places: &Places,
    interface: &Interface,
    side: Side,
    priority: u32,
) -> TcHook {
    TcHookBuilder::new(program)
        .ifindex(interface.index as i32)
        .replace(true)
        .handle(handle(places))
        .priority(priority)
        .hook(side.point())
}

/// The filter on the interface and its priority. Known by its handle and the name of its program:
/// the pinned programs may be those of a newer agent.
fn ours(places: &Places, interface: &Interface, side: Side) -> Option<(u32, TcHook)> {
    let name = Entry::on(interface, side).name();
    (FIRST_PRIORITY..=LAST_PRIORITY).chain([OLD_PRIORITY]).find_map(|priority| {
        // Looking for a filter and taking it away need no program, but the type wants one.
        let mut hook = TcHook::new(std::io::stdin().as_fd());
        hook.ifindex(interface.index as i32)
            .handle(handle(places))
            .priority(priority)
            .attach_point(side.point());
        let id = hook.query().ok()?;
        (sys::program_name(id) == name).then_some((priority, hook))
    })
}

fn has_clsact(name: &str) -> bool {
    tc(&["qdisc", "show", "dev", name]).contains("qdisc clsact")
}

/// What `tc` prints; nothing where it fails.
fn tc(arguments: &[&str]) -> String {
    let output = Command::new("tc").args(arguments).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}
