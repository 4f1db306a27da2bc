//! Max-min fair sharing, within priority classes if there are any. Flows are all alike (RCP, TCP as
//! an idealisation), or are classified by bytes sent (PIAS, LAS) or by size (TCP\[a\]Q).

use flowsched_units::Time;

use super::{Allocator, Moment};
use crate::fair::Fair;
use crate::transfers::{ROUNDING, Transfer};

/// What determines a flow's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassBy {
    /// Bits that it has sent.
    Sent,
    /// Bits that it will have sent at its end.
    Size,
}

/// Max-min fair sharing in classes.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    fair: Fair,
    by: ClassBy,
    /// Bits up to which a flow is in each class but the last.
    thresholds: Vec<f64>,
}

impl Classes {
    /// Flows up to the first threshold go before those up to the second, and so on. Without
    /// thresholds, all flows are alike.
    pub(crate) fn new(capacities: Vec<f64>, by: ClassBy, thresholds: Vec<f64>) -> Classes {
        let fair = Fair::new(capacities, thresholds.len() + 1);
        Classes { fair, by, thresholds }
    }

    fn class_of(&self, transfer: &Transfer) -> u8 {
        match self.by {
            ClassBy::Sent => 0,
            ClassBy::Size => self.thresholds.partition_point(|most| *most < transfer.size) as u8,
        }
    }
}

impl Allocator for Classes {
    fn start(&mut self, slot: u32, path: &[u32], moment: Moment<'_>) {
        if let Some(transfer) = moment.transfers.get(slot) {
            self.fair.add(slot, path.iter().copied(), self.class_of(transfer));
        }
    }

    fn end(&mut self, slot: u32, _: Moment<'_>) {
        self.fair.remove(slot);
    }

    /// Moves the flow to the next class if it has reached its threshold. It may be due for another
    /// reason, because times are rounded.
    fn turn(&mut self, slot: u32, moment: Moment<'_>) {
        let class = self.fair.class(slot);
        let threshold = self.thresholds.get(usize::from(class));
        if let (ClassBy::Sent, Some(threshold), Some(transfer)) =
            (self.by, threshold, moment.transfers.get(slot))
            && transfer.sent_at(moment.now) >= *threshold - ROUNDING
        {
            self.fair.set_class(slot, class + 1);
        }
    }

    fn settle(&mut self, _: Moment<'_>, changed: impl FnMut(u32)) {
        self.fair.settle(changed);
    }

    fn rate(&self, slot: u32) -> f64 {
        self.fair.rate(slot)
    }

    fn on(&self, link: u32, tell: impl FnMut(u32)) {
        self.fair.on(link).for_each(tell);
    }

    fn turning_point(&self, slot: u32, moment: Moment<'_>) -> Time {
        let next = self.thresholds.get(usize::from(self.fair.class(slot)));
        match (self.by, next, moment.transfers.get(slot)) {
            (ClassBy::Sent, Some(threshold), Some(transfer)) if *threshold < transfer.size => {
                transfer.time_of(*threshold, moment.now)
            }
            _ => Time::MAX,
        }
    }
}
