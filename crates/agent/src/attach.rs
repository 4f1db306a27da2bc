//! On which interfaces the tagger runs, and by which hook: tcx where the kernel has it (6.6 on),
//! clsact otherwise. Both run beside other programs and outlive the agent.

use std::fmt;
use std::os::fd::AsFd;
use std::process::Command;

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, Program, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};

use crate::error::AgentError;
use crate::pins::Places;
use crate::sys;
use crate::tagger::{Entry, Tagger};

/// Priority of the filter on clsact.
const FILTER_PRIORITY: u32 = 0xf5c0;

/// Its handle, by which it is found again: agents with other folders have other handles, so that
/// none replaces another's filter (FNV-1a).
fn filter_handle(places: &Places) -> u32 {
    let bytes = places.pins.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    1 + hash % 0xffff
}

/// How programs are put on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// Links of their own; the kernel keeps their order.
    Tcx,
    /// Filters of a queueing discipline.
    Clsact,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hook::Tcx => "tcx",
            Hook::Clsact => "clsact",
        })
    }
}

impl Hook {
    /// The better one that the kernel has.
    pub(crate) fn available() -> Hook {
        let any = interfaces().first().map_or(1, |(_, index)| *index);
        if sys::count_tcx(any).is_ok() { Hook::Tcx } else { Hook::Clsact }
    }
}

/// All interfaces of this network namespace: names and indices.
pub(crate) fn interfaces() -> Vec<(String, u32)> {
    let Ok(all) = nix::net::if_::if_nameindex() else { return Vec::new() };
    all.iter().filter_map(|one| Some((one.name().to_str().ok()?.to_owned(), one.index()))).collect()
}

/// Those whose name is one of `patterns`, where `*` at the end stands for anything.
pub(crate) fn matching(patterns: &[String]) -> Vec<(String, u32)> {
    let mut all = interfaces();
    all.retain(|(name, _)| patterns.iter().any(|pattern| is_match(pattern, name)));
    all
}

fn is_match(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// What [`attach`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attached {
    /// There was no tagger on the interface.
    Fresh,
    /// There was one, and its program was replaced without a packet in between untagged.
    Replaced,
}

impl fmt::Display for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attached::Fresh => "tagged",
            Attached::Replaced => "the program was replaced",
        })
    }
}

/// Puts the tagger on an interface, or replaces the one that is there.
pub(crate) fn attach(
    tagger: &Tagger,
    places: &Places,
    hook: Hook,
    name: &str,
    index: u32,
) -> Result<Attached, AgentError> {
    let program = tagger.program(entry_of(name));
    let error = |e: &dyn fmt::Display| AgentError::kernel(format!("attach to {name} ({hook})"), e);
    match hook {
        Hook::Tcx => {
            let path = places.link(name);
            if let Some(mut link) = live_link(places, name, index) {
                link.update_prog(program).map_err(|e| error(&e))?;
                return Ok(Attached::Replaced);
            }
            let _ = std::fs::remove_file(&path);
            let mut link = sys::attach_tcx(program, index).map_err(|e| error(&e))?;
            link.pin(&path)
                .map_err(|e| AgentError::kernel(format!("pin {}", path.display()), e))?;
            Ok(Attached::Fresh)
        }
        Hook::Clsact => {
            let mut filter = filter(places, program, index);
            let there = filter.query().is_ok();
            if !has_clsact(name) {
                places.write_record(&format!("clsact_{name}"), "")?;
            }
            filter.create().map_err(|e| error(&e))?;
            filter.attach().map_err(|e| error(&e))?;
            Ok(if there { Attached::Replaced } else { Attached::Fresh })
        }
    }
}

/// Whether a tagger runs on the interface.
pub(crate) fn is_attached(places: &Places, name: &str, index: u32) -> bool {
    live_link(places, name, index).is_some() || our_filter(places, name, index).is_some()
}

/// Takes the tagger off an interface, and what was made for it.
pub(crate) fn detach(places: &Places, name: &str) -> Result<(), AgentError> {
    let path = places.link(name);
    if path.exists() {
        std::fs::remove_file(&path).map_err(|e| AgentError::file(&path, e))?;
    }
    let index = interfaces().iter().find(|(there, _)| there == name).map(|(_, index)| *index);
    if let Some(mut filter) = index.and_then(|index| our_filter(places, name, index)) {
        filter.detach().map_err(|e| AgentError::kernel(format!("detach from {name}"), e))?;
        remove_clsact(places, name, &filter)?;
    }
    Ok(())
}

/// clsact itself goes if it was made for the tagger and nobody else uses it by now.
fn remove_clsact(places: &Places, name: &str, filter: &TcHook) -> Result<(), AgentError> {
    let record = places.record(&format!("clsact_{name}"));
    if !record.exists() {
        return Ok(());
    }
    std::fs::remove_file(&record).map_err(|e| AgentError::file(&record, e))?;
    if ["egress", "ingress"]
        .iter()
        .all(|side| tc(&["filter", "show", "dev", name, side]).is_empty())
    {
        let mut whole = *filter;
        whole
            .attach_point(TC_EGRESS | TC_INGRESS)
            .destroy()
            .map_err(|e| AgentError::kernel(format!("remove clsact of {name}"), e))?;
    }
    Ok(())
}

/// Interfaces that a tagger runs on.
pub(crate) fn attached(places: &Places) -> Vec<(String, Hook)> {
    let mut found = Vec::new();
    for (name, index) in interfaces() {
        if live_link(places, &name, index).is_some() {
            found.push((name, Hook::Tcx));
        } else if our_filter(places, &name, index).is_some() {
            found.push((name, Hook::Clsact));
        }
    }
    found
}

/// The entry point for what frames on the interface look like.
pub(crate) fn entry_of(name: &str) -> Entry {
    match sys::has_ethernet_header(name) {
        Ok(false) => Entry::Ip,
        Ok(true) | Err(_) => Entry::Ethernet,
    }
}

/// The pinned link, if it is still on this very interface: when an interface goes, its link is
/// left without one, and a new interface of the same name has another index.
fn live_link(places: &Places, name: &str, index: u32) -> Option<Link> {
    let link = Link::open(places.link(name)).ok()?;
    match link.info().ok()?.info {
        LinkTypeInfo::Tcx(info) if info.ifindex == index => Some(link),
        _ => None,
    }
}

fn filter(places: &Places, program: &Program<'_>, index: u32) -> TcHook {
    TcHookBuilder::new(program.as_fd())
        .ifindex(index as i32)
        .replace(true)
        .handle(filter_handle(places))
        .priority(FILTER_PRIORITY)
        .hook(TC_EGRESS)
}

/// The filter on the interface, if it is one of the pinned programs.
fn our_filter(places: &Places, name: &str, index: u32) -> Option<TcHook> {
    let entry = entry_of(name);
    let fd = Program::fd_from_pinned_path(places.program(entry.name())).ok()?;
    let id = sys::program_facts(fd.as_fd()).ok()?.id;
    let mut hook = TcHookBuilder::new(fd.as_fd())
        .ifindex(index as i32)
        .handle(filter_handle(places))
        .priority(FILTER_PRIORITY)
        .hook(TC_EGRESS);
    (hook.query().ok()? == id).then_some(hook)
}

fn has_clsact(name: &str) -> bool {
    tc(&["qdisc", "show", "dev", name]).contains("qdisc clsact")
}

/// What `tc` prints; nothing where it fails.
fn tc(arguments: &[&str]) -> String {
    let output = Command::new("tc").args(arguments).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn a_star_stands_for_any_end() {
        assert!(is_match("en*", "enp3s0") && is_match("*", "lo") && is_match("eth0", "eth0"));
        assert!(!is_match("eth0", "eth01") && !is_match("en*", "eth0"));
    }
}
