//! Attaches the tagger to interfaces, by tcx if the kernel has it (6.6 on) and by clsact otherwise.
//! The tagger runs before other programs, lets them run, and outlives the agent.

mod clsact;
mod tcx;

use std::fmt;
use std::os::fd::BorrowedFd;

use crate::entry::{Entry, Side};
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
pub(crate) use clsact::RECORD;

/// The way to attach programs to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// Links. The kernel keeps the order of programs.
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

    /// The best hook that the kernel has.
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

/// The result of [`attach`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attached {
    /// There was no tagger on the interface.
    Fresh,
    /// There was a tagger. Its program was replaced, and no packet was untagged in between.
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

/// Attaches programs to an interface, or replaces those that are there. `program` returns the
/// program of an entry point. Programs on the other hook are removed afterwards, so that no packet
/// is untagged. Until then, the programs on both hooks run.
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

/// Whether a tagger runs on both sides of the interface.
pub(crate) fn is_attached(places: &Places, interface: &Interface) -> bool {
    Hook::BOTH.iter().any(|hook| Side::BOTH.iter().all(|side| hook.has(places, interface, *side)))
}

/// Removes the tagger from an interface.
pub(crate) fn detach(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    Hook::BOTH.iter().try_for_each(|hook| hook.remove(places, interface))
}

/// The interfaces that a tagger runs on, with its hook.
pub(crate) fn attached(places: &Places) -> Vec<(Interface, Hook)> {
    let hook_of = |interface: &Interface| {
        Hook::BOTH.into_iter().find(|hook| hook.has(places, interface, Side::Egress))
    };
    let all = interfaces::all().into_iter();
    all.filter_map(|interface| hook_of(&interface).map(|hook| (interface, hook))).collect()
}

/// The programs that run before the tagger on packets that leave an interface. Any of them may keep
/// packets from the tagger.
pub(crate) fn before(places: &Places, interface: &Interface, hook: Hook) -> Vec<String> {
    match hook {
        Hook::Tcx => tcx::before(places, interface),
        Hook::Clsact => clsact::before(places, interface),
    }
}

/// The number of programs on tcx that run on packets that leave the interface.
pub(crate) fn count_on_tcx(interface: &Interface) -> usize {
    tcx::programs(interface.index, Side::Egress).map_or(0, |programs| programs.len())
}
