//! Which flows switches admit as soon as the flows announce themselves.

use flowsched_schemes::flow_level::Admission;
use flowsched_units::Time;

use crate::latency::round_trips;
use crate::requests::Requests;

/// What switches know of the flows that have announced themselves.
#[derive(Clone, Debug)]
pub(crate) enum Admissions {
    /// Switches admit every flow at once.
    Open,
    Requests(Requests),
    Dampening(Dampening),
}

impl Admissions {
    /// The state of this many links before the first announcement.
    pub(crate) fn new(admission: Admission, links: usize) -> Admissions {
        match admission {
            Admission::AtOnce => Admissions::Open,
            Admission::ByRequest => Admissions::Requests(Requests::new(links)),
            Admission::ByAcceptance(acceptance) => Admissions::Dampening(Dampening {
                round_trips: acceptance.dampening,
                until: vec![Time::ZERO; links],
            }),
        }
    }

    /// A flow announces itself over `path`, which takes a `round_trip`. Returns whether the flow
    /// has its rate after this round trip. Otherwise it has its rate after another one.
    pub(crate) fn announce(&mut self, path: &[u32], now: Time, round_trip: Time) -> bool {
        match self {
            Admissions::Open => true,
            Admissions::Requests(requests) => requests.announce(path),
            Admissions::Dampening(dampening) => dampening.announce(path, now, round_trip),
        }
    }

    /// A flow over `path` has ended.
    pub(crate) fn forget(&mut self, path: &[u32]) {
        if let Admissions::Requests(requests) = self {
            requests.forget(path);
        }
    }
}

/// PDQ's Dampening, as far as it concerns new flows (PDQ 2012, 3.3.2). A switch that has accepted a
/// flow pauses the flows that come within a given period. They send when a probe, a round trip
/// later, has been accepted.
#[derive(Clone, Debug)]
pub(crate) struct Dampening {
    /// The length of the period, in round trips.
    round_trips: f64,
    /// When the period ends, by link.
    until: Vec<Time>,
}

impl Dampening {
    fn announce(&mut self, path: &[u32], now: Time, round_trip: Time) -> bool {
        let is_open = path.iter().all(|link| now >= self.until[*link as usize]);
        if is_open {
            let until = now.saturating_add(round_trips(self.round_trips, round_trip));
            path.iter().for_each(|link| self.until[*link as usize] = until);
        }
        is_open
    }
}
