//! The hook of kernels before 6.6: filters of the queueing discipline clsact, which stay until they are
//! removed.

use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use libbpf_rs::{Program, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};
use serde::Deserialize;

use super::tcx;
use crate::entry::{Entry, Side};
use crate::error::AgentError;
use crate::interfaces::Interface;
use crate::pins::Places;
use crate::sys;

/// The first priority that is tried. Its filters run first, but it may belong to a filter of another kind.
const FIRST_PRIORITY: u32 = 1;
const LAST_PRIORITY: u32 = 16;
/// The priority that earlier versions of the agent gave their filter.
const OLD_PRIORITY: u32 = 0xf5c0;

/// The prefix of records that say that the agent made clsact on an interface.
pub(crate) const RECORD: &str = "clsact_";

fn record(interface: &Interface) -> String {
    format!("{RECORD}{}", interface.index)
}

/// The handles that identify the agent's filters. Agents with other folders have other handles, so that no
/// agent replaces another's filter (FNV-1a). There are two handles, because a filter that moves to the front
/// needs another handle than the filter that it replaces.
fn handles(places: &Places) -> [u32; 2] {
    let bytes = places.pins.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let first = 1 + hash % 0xffff;
    [first, first + 0x1_0000]
}

/// Attaches the program to the interface, before other filters if their priorities allow it. A filter that
/// is there already is replaced in its place, or by a new one further ahead.
pub(super) fn attach(
    program: BorrowedFd<'_>,
    places: &Places,
    interface: &Interface,
    side: Side,
) -> Result<(), AgentError> {
    if !has_clsact(&interface.name) {
        places.write_record(&record(interface), "")?;
    }
    let mut there = ours(places, interface, side);
    // An agent that was killed while its filter moved has left two filters.
    there.drain(1.min(there.len())..).try_for_each(|spare| spare.remove(interface))?;
    let put = |handle, priorities| put(program, interface, side, handle, priorities);
    let [first, second] = handles(places);
    let Some(old) = there.pop() else { return put(first, FIRST_PRIORITY..=LAST_PRIORITY) };
    let other = if old.handle == first { second } else { first };
    match further_ahead(places, interface, side, old.priority) {
        Some(priority) if put(other, priority..=priority).is_ok() => old.remove(interface),
        _ => put(old.handle, old.priority..=old.priority),
    }
}

/// The priority at which a new filter runs before a filter that now runs before ours. `ours` is the priority
/// of our filter. Among filters of one priority, the newest one runs first. `None` if there is no such
/// priority.
fn further_ahead(places: &Places, interface: &Interface, side: Side, ours: u32) -> Option<u32> {
    let before = filters_before(places, interface, side);
    let is_like_ours = |one: &Shown| one.kind == "bpf" && one.protocol == "all";
    let takes_ours =
        |priority: &u32| before.iter().all(|one| one.pref != *priority || is_like_ours(one));
    let first = (FIRST_PRIORITY..=ours.min(LAST_PRIORITY)).find(takes_ours)?;
    before.iter().any(|one| one.pref >= first).then_some(first)
}

/// Makes a filter with the first of these priorities that accepts it, or replaces the filter with this
/// handle.
fn put(
    program: BorrowedFd<'_>,
    interface: &Interface,
    side: Side,
    handle: u32,
    priorities: RangeInclusive<u32>,
) -> Result<(), AgentError> {
    let mut refused = None;
    for priority in priorities {
        let mut filter = TcHookBuilder::new(program)
            .ifindex(interface.index as i32)
            .replace(true)
            .handle(handle)
            .priority(priority)
            .hook(side.point());
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
    !ours(places, interface, side).is_empty()
}

/// Removes the filters. Removes clsact too, if the agent made it and nobody else uses it.
pub(super) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let mut removed = None;
    for side in Side::BOTH {
        for filter in ours(places, interface, side) {
            filter.remove(interface)?;
            removed = Some(filter.hook);
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

/// The programs that run before the tagger: everything on tcx, and earlier filters.
pub(super) fn before(places: &Places, interface: &Interface) -> Vec<String> {
    let mut found = tcx::all_names(interface);
    let filters = filters_before(places, interface, Side::Egress).into_iter();
    found.extend(filters.map(|one| format!("a {} filter of preference {}", one.kind, one.pref)));
    // `tc` shows a filter in several parts.
    found.dedup();
    found
}

/// The filters before the tagger's, as `tc` shows them.
fn filters_before(places: &Places, interface: &Interface, side: Side) -> Vec<Shown> {
    let handles = handles(places).map(|handle| Some(format!("0x{handle:x}")));
    let is_ours = |one: &Shown| {
        one.kind == "bpf" && one.options.as_ref().is_some_and(|o| handles.contains(&o.handle))
    };
    let before = shown(interface, side).into_iter().take_while(|one| !is_ours(one));
    before.filter(|one| one.options.is_some()).collect()
}

/// An entry in the output of `tc filter show`. A filter has several.
#[derive(Debug, Deserialize)]
struct Shown {
    kind: String,
    protocol: String,
    pref: u32,
    options: Option<ShownOptions>,
}

#[derive(Debug, Deserialize)]
struct ShownOptions {
    #[serde(default, deserialize_with = "text_or_number")]
    handle: Option<String>,
    #[serde(default)]
    bpf_name: String,
}

/// Reads the handle of a filter. `tc` prints it as text or as a number, depending on the filter's kind.
fn text_or_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
}

fn shown(interface: &Interface, side: Side) -> Vec<Shown> {
    let text = tc(&["-json", "filter", "show", "dev", &interface.name, side.name()]);
    serde_json::from_str(&text).unwrap_or_default()
}

/// A filter of this agent on an interface.
struct Ours {
    priority: u32,
    handle: u32,
    hook: TcHook,
}

impl Ours {
    fn remove(&self, interface: &Interface) -> Result<(), AgentError> {
        let what = || format!("take the filter off {}", interface.name);
        let mut hook = self.hook;
        hook.detach().map_err(|e| AgentError::kernel(what(), e))
    }
}

/// The agent's filters on the interface. They are recognised by their handles and their programs.
fn ours(places: &Places, interface: &Interface, side: Side) -> Vec<Ours> {
    let all = (FIRST_PRIORITY..=LAST_PRIORITY).chain([OLD_PRIORITY]);
    all.flat_map(|priority| handles(places).map(|handle| (priority, handle)))
        .filter_map(|(priority, handle)| {
            // Finding and removing a filter needs no program, but the type requires one.
            let mut hook = TcHook::new(std::io::stdin().as_fd());
            hook.ifindex(interface.index as i32)
                .handle(handle)
                .priority(priority)
                .attach_point(side.point());
            let id = hook.query().ok()?;
            let is_ours = is_pinned(places, interface, side, id)
                || has_our_name(interface, side, priority, handle);
            is_ours.then_some(Ours { priority, handle, hook })
        })
        .collect()
}

/// Whether a program is the pinned one for this side of the interface. Looking up programs by id would need
/// CAP_SYS_ADMIN, which the agent may lack.
fn is_pinned(places: &Places, interface: &Interface, side: Side, id: u32) -> bool {
    let pin = places.program(Entry::on(interface, side).name());
    let program = Program::fd_from_pinned_path(pin);
    program.is_ok_and(|program| sys::program_id(program.as_fd()).is_ok_and(|pinned| pinned == id))
}

/// Whether the filter's program has the name of the agent's program, which is so even if it is of an older or
/// a newer agent than the pinned one. `tc` shows the program of a filter by its name and id.
fn has_our_name(interface: &Interface, side: Side, priority: u32, handle: u32) -> bool {
    let name = format!("{}:[", Entry::on(interface, side).name());
    let handle = Some(format!("0x{handle:x}"));
    shown(interface, side).iter().any(|one| {
        let Some(options) = &one.options else { return false };
        one.pref == priority && options.handle == handle && options.bpf_name.starts_with(&name)
    })
}

fn has_clsact(name: &str) -> bool {
    tc(&["qdisc", "show", "dev", name]).contains("qdisc clsact")
}

/// The output of `tc`; empty if `tc` fails.
fn tc(arguments: &[&str]) -> String {
    let output = Command::new("tc").args(arguments).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}
