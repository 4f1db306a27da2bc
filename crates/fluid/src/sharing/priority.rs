//! One flow after the other in the order of criticality.

use flowsched_schemes::flow_level::{CriticalBy, SizeBy};
use flowsched_units::Time;

use super::{Allocator, Moment};
use crate::strict::{Criticality, Order, Strict};
use crate::transfers::{Transfer, after};

/// What `bits` of the flow count as.
#[inline]
fn measure(by: SizeBy, bits: f64, transfer: &Transfer) -> f64 {
    if by == SizeBy::TimeLeft { bits / transfer.peak } else { bits }
}

/// The flow's size at `now`.
fn size_of(by: SizeBy, transfer: &Transfer, now: Time) -> f64 {
    match by {
        SizeBy::Whole => transfer.size,
        _ => measure(by, transfer.left_at(now), transfer),
    }
}

/// Strict priority in the order of criticality.
#[derive(Clone, Debug)]
pub(crate) struct Priority {
    strict: Strict,
    by: CriticalBy,
    said: Said,
}

/// What flows that wait have last said of their sizes, where they hear late that they are to wait:
/// the order that switches have them in is by that, whatever they send on.
#[derive(Clone, Debug)]
struct Said {
    /// Whether there are any.
    is_kept: bool,
    /// By slot: as [`SizeBy`] measures it.
    sizes: Vec<Option<f64>>,
}

impl Said {
    fn set(&mut self, slot: u32, size: Option<f64>) {
        if self.is_kept {
            if slot as usize >= self.sizes.len() {
                self.sizes.resize(slot as usize + 1, None);
            }
            self.sizes[slot as usize] = size;
        }
    }

    #[inline]
    fn size(&self, slot: u32) -> Option<f64> {
        self.sizes.get(slot as usize).copied().flatten()
    }
}

struct ByCriticality<'a> {
    by: CriticalBy,
    said: &'a Said,
    moment: Moment<'a>,
}

impl Order for ByCriticality<'_> {
    #[inline]
    fn criticality(&self, slot: u32) -> Criticality {
        let CriticalBy { deadline, size } = self.by;
        let Some(transfer) = self.moment.transfers.get(slot) else {
            return Criticality { deadline: u64::MAX, size: 0.0, id: u32::MAX };
        };
        Criticality {
            deadline: if deadline { transfer.deadline.as_ps() } else { u64::MAX },
            size: self.said.size(slot).unwrap_or_else(|| size_of(size, transfer, self.moment.now)),
            id: transfer.id,
        }
    }

    fn asked(&self, _: u32) -> f64 {
        f64::INFINITY
    }

    fn moves(&self) -> bool {
        self.by.size != SizeBy::Whole
    }

    #[inline]
    fn pace(&self, slot: u32, rate: f64) -> f64 {
        match self.by.size {
            SizeBy::TimeLeft => {
                let peak = self.moment.transfers.get(slot).map_or(1.0, |transfer| transfer.peak);
                rate / peak
            }
            SizeBy::Whole | SizeBy::Left => rate,
        }
    }
}

impl Priority {
    /// No flows; they may hear late that they are to wait.
    pub(crate) fn new(capacities: Vec<f64>, by: CriticalBy, hear_late: bool) -> Priority {
        let said = Said { is_kept: hear_late, sizes: Vec::new() };
        Priority { strict: Strict::new(capacities), by, said }
    }

    /// The flow has said of its size what it is now.
    fn say(&mut self, slot: u32, moment: Moment<'_>) {
        let size =
            moment.transfers.get(slot).map(|transfer| size_of(self.by.size, transfer, moment.now));
        self.said.set(slot, size);
    }

    /// When `behind` has no more left than `ahead`, which is slower on a link of both.
    fn passes(&self, behind: &Transfer, ahead: &Transfer, now: Time) -> Time {
        let is_later = self.by.deadline && ahead.deadline != behind.deadline;
        let closing = self.pace(behind) - self.pace(ahead);
        if is_later || closing <= 0.0 {
            return Time::MAX;
        }
        let gap = size_of(self.by.size, behind, now) - size_of(self.by.size, ahead, now);
        after(now, gap, closing).saturating_add(Time::from_ps(1))
    }

    /// How fast the flow gets smaller.
    fn pace(&self, transfer: &Transfer) -> f64 {
        measure(self.by.size, transfer.rate(), transfer)
    }
}

impl Allocator for Priority {
    fn start(&mut self, slot: u32, path: &[u32], moment: Moment<'_>) {
        self.said.set(slot, None);
        let order = ByCriticality { by: self.by, said: &self.said, moment };
        self.strict.add(slot, path, &order);
    }

    fn end(&mut self, slot: u32, moment: Moment<'_>) {
        let order = ByCriticality { by: self.by, said: &self.said, moment };
        self.strict.remove(slot, &order);
    }

    fn turn(&mut self, slot: u32, _: Moment<'_>) {
        self.strict.look_at(slot);
    }

    fn put_in_order(&mut self, slot: u32, moment: Moment<'_>) {
        if self.strict.rate(slot) == 0.0 {
            self.say(slot, moment);
            let order = ByCriticality { by: self.by, said: &self.said, moment };
            self.strict.put_in_order(slot, &order);
            self.strict.look_at(slot);
        }
    }

    fn settle(&mut self, moment: Moment<'_>, mut changed: impl FnMut(u32)) {
        let order = ByCriticality { by: self.by, said: &self.said, moment };
        let mut new_rates = Vec::new();
        self.strict.settle(&order, |slot| {
            changed(slot);
            if self.said.is_kept {
                new_rates.push(slot);
            }
        });
        for slot in new_rates {
            if self.strict.rate(slot) > 0.0 {
                self.said.set(slot, None);
            } else if self.said.size(slot).is_none() {
                self.say(slot, moment);
            }
        }
    }

    fn rate(&self, slot: u32) -> f64 {
        self.strict.rate(slot)
    }

    fn on(&self, link: u32, tell: impl FnMut(u32)) {
        self.strict.sending_on(link).for_each(tell);
    }

    fn behind(&self, slot: u32, tell: impl FnMut(u32)) {
        if self.by.size != SizeBy::Whole {
            self.strict.behind(slot, tell);
        }
    }

    /// A flow that sends passes those before it that are slower on a link of both, and may
    /// take from them then. One that waits loses nothing by being passed.
    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time {
        let Some(transfer) = moment.transfers.get(slot) else { return Time::MAX };
        let sends = transfer.rate() > 0.0 && self.strict.rate(slot) > 0.0;
        if self.by.size == SizeBy::Whole || !sends {
            return Time::MAX;
        }
        let mut next = Time::MAX;
        let path = self.strict.path(slot).iter();
        for &link in path.filter(|link| self.strict.do_others_send(slot, **link)) {
            for other in self.strict.sending_on(link).take_while(|other| *other != slot) {
                if let Some(other) = moment.transfers.get(other) {
                    next = next.min(self.passes(transfer, other, moment.now));
                }
            }
        }
        next
    }
}
