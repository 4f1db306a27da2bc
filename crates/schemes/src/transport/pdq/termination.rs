//! Early Termination: when a flow is given up (PDQ 2012, 3.1).

use flowsched_units::Time;

use super::Knowledge;

/// The prospects of a flow with a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// When the flow should have finished.
    pub due: Time,
    /// How long the rest of the flow takes at the highest rate.
    pub rest: Time,
    /// The round-trip time, if the flow is paused. A flow without an answer yet is not paused.
    pub paused: Option<Time>,
}

impl Outlook {
    /// Whether the flow is given up: "The sender sends a TERM packet whenever any of the following
    /// conditions happen".
    pub fn is_hopeless(&self, knowledge: Knowledge, now: Time) -> bool {
        // 1. "Deadline is past."
        let is_past = now > self.due;
        // 2. "The remaining flow transmission time is larger than the time to deadline."
        let knows = knowledge == Knowledge::Known;
        let is_too_long = knows && now.saturating_add(self.rest) > self.due;
        // 3. "The flow is paused, and the time to deadline is smaller than an RTT."
        let is_held_up = self.paused.is_some_and(|rtt| now.saturating_add(rtt) > self.due);
        is_past || is_too_long || is_held_up
    }
}
