//! On which interfaces the tagger runs, and by which hook: tcx where the kernel has it (6.6 on),
//! clsact otherwise. It runs before other programs, lets them run, and outlives the agent.

mod clsact;
mod tcx;

use std::fmt;
use std::os::fd::BorrowedFd;

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint};

use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
use crate::tagger::Entry;
use crate::{gso, nic, passed, sys};

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
    const BOTH: [Hook; 2] = [Hook::Tcx, Hook::Clsact];

    /// The better one that the kernel has.
    pub(crate) fn available() -> Hook {
        let any = interfaces::all().first().map_or(1, |one| one.index);
        if tcx::programs(any, Side::Egress).is_ok() { Hook::Tcx } else { Hook::Clsact }
    }

    fn other(self) -> Hook {
        match self {
            Hook::Tcx => Hook::Clsact,
            Hook::Clsact => Hook::Tcx,
        }
    }

    fn has(self, places: &Places, interface: &Interface, side: Side) -> bool {
        match self {
            Hook::Tcx => tcx::is_attached(places, interface, side),
            Hook::Clsact => clsact::is_attached(places, interface, side),
        }
    }

    fn remove(self, places: &Places, interface: &Interface) -> Result<(), AgentError> {
        match self {
            Hook::Tcx => tcx::detach(places, interface),
            Hook::Clsact => clsact::detach(places, interface),
        }
    }
}

/// Packets that leave an interface are tagged; of those that arrive it is noted that they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// What leaves.
    Egress,
    /// What arrives.
    Ingress,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Egress, Side::Ingress];

    /// As pins and `tc` name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Egress => "egress",
            Side::Ingress => "ingress",
        }
    }

    fn point(self) -> TcAttachPoint {
        match self {
            Side::Egress => TC_EGRESS,
            Side::Ingress => TC_INGRESS,
        }
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

/// Puts programs on an interface, or replaces those that are there; `program` is the one of an entry
/// point. Those on the other hook go only then, so that no packet is untagged; for that moment both
/// run.
pub(crate) fn attach<'a>(
    program: impl Fn(Entry) -> BorrowedFd<'a>,
    places: &Places,
    hook: Hook,
    interface: &Interface,
) -> Result<Attached, AgentError> {
    let was_tagged = Hook::BOTH.iter().any(|hook| hook.has(places, interface, Side::Egress));
    for side in Side::BOTH {
        let program = program(entry(interface, side));
        put(program, places, hook, interface, side).map_err(|reason| {
            AgentError::kernel(format!("attach to {} ({hook})", interface.name), reason)
        })?;
    }
    hook.other().remove(places, interface)?;
    Ok(if was_tagged { Attached::Replaced } else { Attached::Fresh })
}

fn put(
    program: BorrowedFd<'_>,
    places: &Places,
    hook: Hook,
    interface: &Interface,
    side: Side,
) -> Result<(), AgentError> {
    match hook {
        Hook::Tcx => tcx::attach(program, places, interface, side),
        Hook::Clsact => clsact::attach(program, places, interface, side),
    }
}

/// Whether a tagger runs on the interface, whole.
pub(crate) fn is_attached(places: &Places, interface: &Interface) -> bool {
    Hook::BOTH.iter().any(|hook| Side::BOTH.iter().all(|side| hook.has(places, interface, *side)))
}

/// Takes the tagger off an interface, and what was made for it.
pub(crate) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    Hook::BOTH.iter().try_for_each(|hook| hook.remove(places, interface))?;
    passed::end(places, interface)
}

/// Interfaces that a tagger runs on, and its hook.
pub(crate) fn attached(places: &Places) -> Vec<(Interface, Hook)> {
    let hook_of = |interface: &Interface| {
        Hook::BOTH.into_iter().find(|hook| hook.has(places, interface, Side::Egress))
    };
    let all = interfaces::all().into_iter();
    all.filter_map(|interface| hook_of(&interface).map(|hook| (interface, hook))).collect()
}

/// What runs on packets that leave an interface before the tagger does: any of them may keep
/// packets from it.
pub(crate) fn before(places: &Places, interface: &Interface, hook: Hook) -> Vec<String> {
    match hook {
        Hook::Tcx => tcx::before(places, interface),
        Hook::Clsact => clsact::before(places, interface),
    }
}

/// How many programs run on packets that leave the interface by tcx.
pub(crate) fn count_on_tcx(interface: &Interface) -> usize {
    tcx::programs(interface.index, Side::Egress).map_or(0, |programs| programs.len())
}

/// Forgets pins and records of interfaces that no longer exist.
pub(crate) fn tidy(places: &Places) {
    let all = interfaces::all();
    let is_gone = |index: u32| all.iter().all(|one| one.index != index);
    for (index, side) in places.links() {
        if is_gone(index) {
            let _ = std::fs::remove_file(places.link(index, side));
        }
    }
    for kind in [clsact::RECORD, gso::RECORD, nic::RECORD, passed::RECORD] {
        for index in places.records(kind).into_iter().filter(|index| is_gone(*index)) {
            let _ = std::fs::remove_file(places.record(&format!("{kind}{index}")));
        }
    }
}

/// Forgets what was recorded of interfaces on which nothing of the tagger is left. Somebody else may
/// have taken it away, and a record that stays would later make the agent take away theirs.
pub(crate) fn forget(places: &Places) {
    for kind in [clsact::RECORD, passed::RECORD] {
        for index in places.records(kind) {
            let _ = std::fs::remove_file(places.record(&format!("{kind}{index}")));
        }
    }
}

/// The program for packets of that side, by what they look like on the interface.
pub(crate) fn entry(interface: &Interface, side: Side) -> Entry {
    match (sys::has_ethernet_header(&interface.name), side) {
        (Ok(false), Side::Egress) => Entry::TagIp,
        (Ok(false), Side::Ingress) => Entry::HearIp,
        (Ok(true) | Err(_), Side::Egress) => Entry::TagEthernet,
        (Ok(true) | Err(_), Side::Ingress) => Entry::HearEthernet,
    }
}
