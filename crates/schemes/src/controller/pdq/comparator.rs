//! The flow comparator: which flow is more critical (PDQ 2012, 3.3).
//!
//! "We say a flow is more critical than another one if it has smaller deadline (emulating EDF to
//! minimize the number of deadline-missing flows). When there is a tie or flows have no deadline,
//! we break it by giving priority to the flow with smaller expected transmission time (emulating
//! SJF to minimize mean flow completion time). If a tie remains, we break it by flow ID." Senders
//! have further rules for what they announce (ageing, unknown sizes).

use std::cmp::Ordering;

use flowsched_units::Time;

/// The rule that all switches follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// By deadline, then by expected transmission time, then by number.
    DeadlineThenSize,
    /// By expected transmission time, then by number, whatever the deadline.
    Size,
}

/// What decides how critical a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criticality {
    /// When it should have finished: [`Time::MAX`] if it has no deadline.
    pub deadline: Time,
    /// Its expected transmission time, less the head start that it has from waiting.
    pub transmission: Time,
    /// Its number.
    pub flow: u32,
}

impl Comparator {
    /// [`Ordering::Less`] if `a` is more critical than `b`.
    #[inline]
    pub fn compare(self, a: &Criticality, b: &Criticality) -> Ordering {
        let by_size = || a.transmission.cmp(&b.transmission).then_with(|| a.flow.cmp(&b.flow));
        match self {
            Comparator::Size => by_size(),
            Comparator::DeadlineThenSize => a.deadline.cmp(&b.deadline).then_with(by_size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_then_size_then_number() {
        let flow = |deadline: Option<u64>, transmission, flow| Criticality {
            deadline: deadline.map_or(Time::MAX, Time::from_ms),
            transmission: Time::from_us(transmission),
            flow,
        };
        let rule = Comparator::DeadlineThenSize;
        let in_order = [
            flow(Some(3), 900, 9),
            flow(Some(4), 10, 8),
            flow(Some(4), 20, 7),
            flow(None, 1, 6),
            flow(None, 2, 4),
            flow(None, 2, 5),
        ];
        for pair in in_order.windows(2) {
            assert_eq!(rule.compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(rule.compare(&pair[1], &pair[0]), Ordering::Greater, "{pair:?}");
        }
        let (urgent, short) = (flow(Some(3), 900, 9), flow(None, 1, 6));
        assert_eq!(Comparator::Size.compare(&short, &urgent), Ordering::Less);
    }
}
