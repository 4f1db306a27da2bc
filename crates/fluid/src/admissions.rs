//! Whom switches let in at once, of those who announce themselves.

use flowsched_schemes::flow_level::Admission;
use flowsched_units::Time;

use crate::latency::round_trips;
use crate::requests::Requests;

/// What switches know of those who have announced themselves.
#[derive(Clone, Debug)]
pub(crate) enum Admissions {
    /// They let everybody in.
    Open,
    Requests(Requests),
    Dampening(Dampening),
}

impl Admissions {
    /// Of this many links, to which nobody has come yet.
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

    /// A flow announces itself over `path`, which takes it a `round_trip`: whether it has its rate
    /// after that, rather than after another one.
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

/// PDQ's Dampening, as far as it concerns newcomers (PDQ 2012, 3.3.2): a switch that has accepted
/// one pauses those who come within a given period, and they send when a probe, a round trip later,
/// has been accepted.
#[derive(Clone, Debug)]
pub(crate) struct Dampening {
    /// How long the period is.
    round_trips: f64,
    /// By link: when it is over.
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
