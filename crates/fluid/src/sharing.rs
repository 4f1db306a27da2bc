//! The disciplines by which flows share links.
//!
//! Each discipline is a file. It turns starts, ends and turning points of flows into rates.
//! Disciplines know flows from [`Transfers`], and get the time as an argument.

mod ahead;
mod classes;
mod priority;
mod reservations;
mod sizes;

pub(crate) use ahead::Ahead;
pub(crate) use classes::{ClassBy, Classes};
pub(crate) use priority::Priority;
pub(crate) use reservations::Reservations;
pub(crate) use sizes::Sizes;

use flowsched_units::Time;

use crate::transfers::Transfers;

/// The state of all flows at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) now: Time,
    pub(crate) transfers: &'a Transfers,
}

/// A flow starts sharing links, or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The flow in the slot starts over the links.
    Start(u32, Vec<u32>),
    /// The flow in the slot ends.
    End(u32),
}

/// How flows share links.
pub(crate) trait Allocator {
    /// Whether [`Allocator::expect`] can be of use.
    const LOOKS_AHEAD: bool = false;

    /// The flow in `slot` starts to compete on `path`.
    fn start(&mut self, slot: u32, path: &[u32], moment: Moment<'_>);

    /// The flow in `slot` ends. It is still among the transfers.
    fn end(&mut self, slot: u32, moment: Moment<'_>);

    /// The turning point of the flow in `slot` has come.
    fn turn(&mut self, slot: u32, moment: Moment<'_>);

    /// The flow in `slot` hears of another rate. It may have sent until now, though it has no rate
    /// here.
    fn put_in_order(&mut self, _slot: u32, _moment: Moment<'_>) {}

    /// Finds the rates after all that has happened at this instant. `changed` gets every slot whose
    /// rate or turning point may be different, and maybe slots that are free again.
    fn settle(&mut self, moment: Moment<'_>, changed: impl FnMut(u32));

    /// The flow's rate, bit/s.
    fn rate(&self, slot: u32) -> f64;

    /// Calls `tell` for each flow that sends on the link.
    fn on(&self, link: u32, tell: impl FnMut(u32));

    /// Calls `tell` for each flow that may pass the one in `slot`, whose rate has changed.
    fn behind(&self, _slot: u32, _tell: impl FnMut(u32)) {}

    /// The next time at which the flow's own progress changes how links are shared, if all rates
    /// stay the same. The flow's end does not count.
    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time;

    /// Whether [`Allocator::expect`] is of use now.
    fn has_time(&self) -> bool {
        false
    }

    /// Tells which step probably comes next, at a later instant.
    fn expect(&mut self, _step: Step) {}
}
