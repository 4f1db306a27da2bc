//! What it costs that rates are asked for, once a round trip (PDQ 2012, 5.1).
//!
//! A switch grants a flow what it asks for and its fair share as long as there is any capacity left
//! that it has not granted. Where another flow is known already, that one has been granted its share
//! of all there is, and nothing is left: a flow that announces itself gets nothing until it asks
//! again, a round trip later, when the others' requests have come by and have been granted less.
//!
//! What a flow leaves that ends is granted to the others as they ask, within the next round trip,
//! half of one later in the mean; and it is a round trip from the switch's answer, by way of the
//! receiver and the sender, until the link sees the new rate. So long nobody has that share.

use flowsched_units::Time;

/// Which links have been granted.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// By link: flows that its switch knows.
    known: Vec<u32>,
}

impl Requests {
    /// Nobody has asked yet for any of so many links.
    pub(crate) fn new(links: usize) -> Requests {
        Requests { known: vec![0; links] }
    }

    /// A flow announces itself over `path`: whether it is granted a rate at once.
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

/// From the end of a flow until others have its share.
pub(crate) fn until_noticed(round_trip: Time) -> Time {
    round_trip.saturating_mul(3) / 2
}
