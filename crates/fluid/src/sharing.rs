//! The disciplines by which flows share links.
//!
//! Each is a file: it turns starts, ends and turning points of flows into rates. What they know
//! of flows is in [`Transfers`]; time is handed in.

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

/// A flow starts or ends to share links.
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

    /// The flow in `slot` hears of another rate, and may have sent until now though it had none.
    fn put_in_order(&mut self, _slot: u32, _moment: Moment<'_>) {}

    /// Finds the rates after all that has happened at this instant; `changed` gets every slot
    /// whose rate or turning point may be another, and maybe slots that are free again.
    fn settle(&mut self, moment: Moment<'_>, changed: impl FnMut(u32));

    /// The flow's rate, bit/s.
    fn rate(&self, slot: u32) -> f64;

    /// Tells of the flows on the link that send.
    fn on(&self, link: u32, tell: impl FnMut(u32));

    /// Tells of flows that may pass the one in `slot`, whose progress is slower now.
    fn behind(&self, _slot: u32, _tell: impl FnMut(u32)) {}

    /// When the flow's own progress will next change who gets what, if all rates stay as they
    /// are; its end does not count.
    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time;

    /// Whether [`Allocator::expect`] is of use now.
    fn has_time(&self) -> bool {
        false
    }

    /// The step probably comes next, at a later instant.
    fn expect(&mut self, _step: Step) {}
}
