//! What a flow's sender sent again, as the kernel counts it for the connection.

use flowsched_schemes::transport::Timeouts;
use flowsched_schemes::world::{FlowOutcome, Uncounted};
use flowsched_traffic::TcpInfo;

/// What was sent again of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resent {
    packets: u32,
    /// The time-outs, and the rows of consecutive ones; `None` if the kernel does not count them.
    timeouts: Option<(u16, u16)>,
}

impl Resent {
    /// The difference between the counters of a connection at the flow's beginning and now.
    pub fn between(before: &TcpInfo, now: &TcpInfo) -> Resent {
        let timeouts = before.timeouts.zip(now.timeouts).map(|(before, now)| {
            (now.all.wrapping_sub(before.all), now.rows.wrapping_sub(before.rows))
        });
        Resent { packets: now.retransmissions.wrapping_sub(before.retransmissions), timeouts }
    }

    /// Writes this into the flow's outcome, and notes in `uncounted` what the kernel does not tell.
    pub fn note(self, outcome: &mut FlowOutcome, uncounted: &mut Uncounted) {
        outcome.retransmissions = self.packets;
        let Some((all, rows)) = self.timeouts else {
            uncounted.timeouts = true;
            return;
        };
        let in_rows = Timeouts::in_rows(all.into(), rows.into());
        uncounted.timeout_rows |= in_rows.is_none();
        outcome.timeouts = in_rows.unwrap_or(Timeouts { all: all.into(), ..Timeouts::default() });
    }
}

#[cfg(test)]
mod tests {
    use flowsched_traffic::TcpTimeouts;

    use super::*;

    fn info(retransmissions: u32, timeouts: Option<(u16, u16)>) -> TcpInfo {
        let timeouts = timeouts.map(|(all, rows)| TcpTimeouts { all, rows });
        TcpInfo { retransmissions, timeouts, ..TcpInfo::default() }
    }

    fn noted(before: &TcpInfo, now: &TcpInfo) -> (u32, Timeouts, Uncounted) {
        let (mut outcome, mut uncounted) = (FlowOutcome::default(), Uncounted::default());
        Resent::between(before, now).note(&mut outcome, &mut uncounted);
        (outcome.retransmissions, outcome.timeouts, uncounted)
    }

    #[test]
    fn a_flow_has_the_timeouts_since_it_began() {
        let (resent, timeouts, uncounted) =
            noted(&info(7, Some((65_535, 1))), &info(12, Some((2, 2))));
        let expected = Timeouts { all: 3, in_a_row: 0, repeated: 1, longest: 3 };
        assert_eq!((resent, timeouts, uncounted), (5, expected, Uncounted::default()));
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_counted() {
        let (_, timeouts, uncounted) = noted(&info(0, None), &info(3, None));
        assert_eq!(timeouts, Timeouts::default());
        assert!(uncounted.timeouts);
        let (_, timeouts, uncounted) = noted(&info(0, Some((0, 0))), &info(9, Some((5, 2))));
        assert_eq!(timeouts.all, 5);
        assert!(uncounted.timeout_rows && !uncounted.timeouts, "{uncounted:?}");
    }
}
