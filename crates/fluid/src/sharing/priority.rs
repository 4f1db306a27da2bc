//! Serves one flow after the other, the most critical first.

use flowsched_units::Time;

use super::sizes::Sizes;
use super::{Allocator, Moment};
use crate::strict::{Criticality, Order, Strict};
use crate::transfers::{Transfer, after};

/// Strict priority in the order of criticality.
#[derive(Clone, Debug)]
pub(crate) struct Priority {
    strict: Strict,
    sizes: Sizes,
}

struct ByCriticality<'a> {
    sizes: &'a Sizes,
    moment: Moment<'a>,
}

impl Order for ByCriticality<'_> {
    #[inline]
    fn criticality(&self, slot: u32) -> Criticality {
        let Moment { now, transfers } = self.moment;
        let (Some(transfer), Some(flow)) = (transfers.get(slot), transfers.flow(slot)) else {
            return Criticality { deadline: u64::MAX, size: 0.0, id: u32::MAX, path: 0 };
        };
        Criticality {
            deadline: if self.sizes.by.deadline { flow.deadline.as_ps() } else { u64::MAX },
            size: self.sizes.known(slot, flow, now),
            id: flow.id,
            path: transfer.path,
        }
    }

    fn asked(&self, _: u32) -> f64 {
        f64::INFINITY
    }

    /// A flow that starts to send has aged since it last said its size.
    fn moves(&self) -> bool {
        self.sizes.by.size.shrinks() || self.sizes.by.ageing > 0.0
    }

    /// A subflow may always gain, because its flow's size shrinks at the rates of other subflows too.
    #[inline]
    fn gains(&self, behind: (u32, f64), ahead: (u32, f64)) -> bool {
        let Moment { now, transfers } = self.moment;
        let pace = |(slot, rate)| {
            transfers.get(slot).map_or(rate, |transfer| self.sizes.pace(slot, transfer, rate, now))
        };
        let is_subflow = |slot| transfers.split_flow(slot).is_some();
        pace(ahead) < pace(behind) || is_subflow(behind.0) || is_subflow(ahead.0)
    }
}

impl Priority {
    /// Links of these capacities, in bit/s, without flows.
    pub(crate) fn new(capacities: Vec<f64>, sizes: Sizes) -> Priority {
        Priority { strict: Strict::new(capacities), sizes }
    }

    /// When the flow in `slot` has no more left than the flow in `ahead`, which is slower on a link of both.
    fn passes(&self, slot: u32, ahead: u32, moment: Moment<'_>) -> Time {
        let Moment { now, transfers } = moment;
        let [Some(one), Some(other)] = [slot, ahead].map(|slot| transfers.flow(slot)) else {
            return Time::MAX;
        };
        let pace = |slot, flow: &Transfer| self.sizes.pace(slot, flow, flow.rate(), now);
        let is_later = self.sizes.by.deadline && other.deadline != one.deadline;
        let closing = pace(slot, one) - pace(ahead, other);
        if is_later || closing <= 0.0 {
            return Time::MAX;
        }
        let gap = self.sizes.now(slot, one, now) - self.sizes.now(ahead, other, now);
        after(now, gap, closing).saturating_add(Time::from_ps(1))
    }

    /// The flow has sent its estimated size. Raises the estimate, so that the flow goes behind others.
    fn fall_back(&mut self, slot: u32, transfer: &Transfer, moment: Moment<'_>) {
        let path = self.strict.path(slot).to_vec();
        self.strict.remove(slot, &ByCriticality { sizes: &self.sizes, moment });
        self.sizes.raise(slot, transfer, moment.now);
        self.strict.add(slot, &path, &ByCriticality { sizes: &self.sizes, moment });
    }
}

impl Allocator for Priority {
    fn start(&mut self, slot: u32, path: &[u32], moment: Moment<'_>) {
        let Some(flow) = moment.transfers.flow(slot) else { return };
        self.sizes.start(slot, flow, moment.now);
        self.strict.add(slot, path, &ByCriticality { sizes: &self.sizes, moment });
    }

    fn end(&mut self, slot: u32, moment: Moment<'_>) {
        self.strict.remove(slot, &ByCriticality { sizes: &self.sizes, moment });
    }

    fn turn(&mut self, slot: u32, moment: Moment<'_>) {
        let Moment { now, transfers } = moment;
        let (Some(transfer), Some(flow)) = (transfers.get(slot), transfers.flow(slot)) else {
            return;
        };
        if self.sizes.is_too_small(slot, transfer, now) {
            self.fall_back(slot, transfer, moment);
        } else if self.sizes.has_news(slot, flow, now) {
            self.put_in_order(slot, moment);
        } else {
            self.strict.look_at(slot);
        }
    }

    fn put_in_order(&mut self, slot: u32, moment: Moment<'_>) {
        if let Some(flow) = moment.transfers.flow(slot)
            && self.strict.rate(slot) == 0.0
        {
            self.sizes.say(slot, flow, moment.now);
            let order = ByCriticality { sizes: &self.sizes, moment };
            self.strict.put_in_order(slot, &order);
            self.strict.look_at(slot);
        }
    }

    fn settle(&mut self, moment: Moment<'_>, mut changed: impl FnMut(u32)) {
        let order = ByCriticality { sizes: &self.sizes, moment };
        let mut new_rates = Vec::new();
        self.strict.settle(&order, |slot| {
            changed(slot);
            if self.sizes.keeps_word {
                new_rates.push(slot);
            }
        });
        for slot in new_rates {
            let Some(flow) = moment.transfers.flow(slot) else { continue };
            if self.strict.rate(slot) > 0.0 {
                self.sizes.sends(slot, moment.now);
            } else {
                self.sizes.waits(slot, flow, moment.now);
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
        if self.sizes.by.size.shrinks() {
            self.strict.behind(slot, tell);
        }
    }

    /// A flow has these turning points:
    ///
    /// - A flow that sends passes a slower flow before it on a link of both, and may then take capacity from it. A
    ///   flow that waits loses nothing when it is passed.
    /// - A flow has sent its estimated size, and falls back.
    /// - A flow that waits has aged, or other subflows of its flow have sent, so that it comes forward.
    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time {
        let Moment { now, transfers } = moment;
        let (Some(transfer), Some(flow)) = (transfers.get(slot), transfers.flow(slot)) else {
            return Time::MAX;
        };
        let mut next = self.sizes.next_step(slot, transfer, now);
        let is_allowed = self.strict.rate(slot) > 0.0;
        if !is_allowed {
            return next.min(self.sizes.next_word(slot, flow, now));
        }
        if !self.sizes.by.size.shrinks() || flow.rate() == 0.0 {
            return next;
        }
        let path = self.strict.path(slot).iter();
        for &link in path.filter(|link| self.strict.do_others_send(slot, **link)) {
            for other in self.strict.sending_on(link).take_while(|other| *other != slot) {
                next = next.min(self.passes(slot, other, moment));
            }
        }
        next
    }
}
