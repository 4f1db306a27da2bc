//! On which interfaces the tagger runs, and by which hook: tcx where the kernel has it (6.6 on),
//! clsact otherwise. It runs before other programs, lets them run, and outlives the agent.

mod clsact;
mod tcx;

use std::fmt;
use std::os::fd::BorrowedFd;

use crate::entry::{Entry, Side};
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
pub(crate) use clsact::RECORD;

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
        let program = program(Entry::on(interface, side));
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

/// Takes the tagger off an interface.
pub(crate) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    Hook::BOTH.iter().try_for_each(|hook| hook.remove(places, interface))
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
