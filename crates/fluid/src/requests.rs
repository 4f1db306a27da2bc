//! The delay that flows have because they ask for rates once a round trip (PDQ 2012, 5.1).
//!
//! A switch grants a flow the rate that it asks for and its fair share, as long as some capacity is
//! not granted. If the switch knows other flows already, it has granted them the whole capacity. A
//! flow that announces itself then gets nothing until it asks again, a round trip later, when the
//! other flows have asked again too and have been granted less.
//!
//! When a flow ends, the other flows get its share as they ask, within the next round trip and
//! after half of one on average. The switch's answer then travels through the receiver and the
//! sender, so the link carries the new rate another round trip later. Until then, no flow uses that
//! share.

use flowsched_units::Time;

/// Which links are granted to flows.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// The number of flows that each link's switch knows.
    known: Vec<u32>,
}

impl Requests {
    /// The state of this many links before the first request.
    pub(crate) fn new(links: usize) -> Requests {
        Requests { known: vec![0; links] }
    }

    /// A flow announces itself over `path`. Returns whether it is granted a rate at once.
    pub(crate) fn announce(&mut self, path: &[u32]) -> bool {
        let is_free = path.iter().all(|link| self.known[*link as usize] == 0);
        path.iter().for_each(|link| self.known[*link as usize] += 1);
        is_free
    }

    /// A flow over `path` has ended.
    pub(crate) fn forget(&mut self, path: &[u32]) {
        path.iter().for_each(|link| self.known[*link as usize] -= 1);
    }
}

/// The time from the end of a flow until other flows have its share.
pub(crate) fn until_noticed(round_trip: Time) -> Time {
    round_trip.saturating_mul(3) / 2
}
