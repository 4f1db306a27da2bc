//! How flows share links, as taggers and ports decide together.

use flowsched_units::{Bytes, PACKET_PAYLOAD};

use super::{Fluid, NoFluid};
use crate::part::Role;

/// How flows share links.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// Max-min fairly.
    MaxMin,
    /// By priority, and max-min fairly within each. Flows are demoted when they have sent these
    /// amounts.
    BytesSent(Vec<Bytes>),
    /// By priority, and max-min fairly within each. This gives the largest size of each priority but
    /// the last.
    Sizes(Vec<Bytes>),
    /// One flow after the other.
    InOrder(CriticalBy),
    /// Flows reserve rates in the order of their starts, then all get fair shares of the rest.
    Reservations,
}

/// What makes a flow critical: the most critical one goes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalBy {
    /// Whether deadlines decide before all else: the earliest first, and flows without one last.
    pub deadline: bool,
    /// The size that decides next: the smallest first.
    pub size: SizeBy,
    /// The size is halved each time that the flow has waited for 100 ms divided by this number (PDQ
    /// 2012, 7 and Figure 12: alpha). With 0, waiting changes nothing.
    pub ageing: f64,
}

/// What counts as a flow's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeBy {
    /// All that the flow has to send.
    Whole,
    /// What the flow has left to send.
    Left,
    /// The time that the flow needs for what it has left, at its highest rate: T in PDQ 2012, 3.
    TimeLeft,
    /// The next multiple of a step above what the flow has sent: one step at the start (PDQ 2012,
    /// 5.6).
    Estimated {
        /// The step, in payload bytes.
        step: Bytes,
    },
    /// A random number that the flow keeps (PDQ 2012, 5.6).
    Random,
}

impl SizeBy {
    /// Whether flows must know their sizes.
    pub fn is_known(self) -> bool {
        matches!(self, SizeBy::Whole | SizeBy::Left | SizeBy::TimeLeft)
    }

    /// Whether this size shrinks as the flow sends.
    pub fn shrinks(self) -> bool {
        matches!(self, SizeBy::Left | SizeBy::TimeLeft)
    }
}

impl Sharing {
    /// One flow after the other: the smallest size first.
    pub const SHORTEST_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: false, size: SizeBy::Whole, ageing: 0.0 });
    /// One flow after the other: the least left to send first.
    pub const SHORTEST_REMAINING_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: false, size: SizeBy::Left, ageing: 0.0 });
    /// One flow after the other: the earliest deadline first, then the smallest size.
    pub const EARLIEST_DEADLINE_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::Whole, ageing: 0.0 });
    /// One flow after the other: the earliest deadline first, then the least left to send.
    pub const MOST_CRITICAL_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::Left, ageing: 0.0 });
    /// One flow after the other: the earliest deadline first, then the least time for what is left to
    /// send.
    pub const LEAST_TIME_LEFT_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::TimeLeft, ageing: 0.0 });

    /// A short description.
    pub fn about(&self) -> &'static str {
        match self {
            Sharing::MaxMin => "max-min fair sharing",
            Sharing::BytesSent(_) => "priority by bytes sent, max-min fair within each",
            Sharing::Sizes(_) => "priority by size, max-min fair within each",
            Sharing::InOrder(by) => by.about(),
            Sharing::Reservations => "reservations, first come, first served, then fair shares",
        }
    }

    /// Whether flows know how much they have to send, or need not know it.
    pub fn knows_sizes(&self) -> bool {
        !matches!(self, Sharing::InOrder(by) if !by.size.is_known())
    }

    /// Least attained service by classes of bytes sent. The first class ends after one packet, each
    /// of the others at a quarter more than the one before. The last class begins at 1.5 GB.
    pub fn least_attained() -> Sharing {
        let mut thresholds = vec![PACKET_PAYLOAD];
        while thresholds.len() < 63 {
            let last = thresholds[thresholds.len() - 1];
            thresholds.push(last + last / 4);
        }
        Sharing::BytesSent(thresholds.into_iter().map(Bytes::new).collect())
    }
}

impl CriticalBy {
    fn about(self) -> &'static str {
        match (self.deadline, self.size) {
            (false, SizeBy::Whole) => "one after the other by size",
            (false, SizeBy::Left) => "one after the other by remaining size",
            (false, SizeBy::TimeLeft) => "one after the other by remaining time",
            (true, SizeBy::Whole) => "one after the other by deadline, then size",
            (true, SizeBy::Left) => "one after the other by deadline, then remaining size",
            (true, SizeBy::TimeLeft) => "one after the other by deadline, then remaining time",
            (false, SizeBy::Estimated { .. }) => "one after the other by estimated size",
            (true, SizeBy::Estimated { .. }) => {
                "one after the other by deadline, then estimated size"
            }
            (false, SizeBy::Random) => "one after the other at random",
            (true, SizeBy::Random) => "one after the other by deadline, then at random",
        }
    }
}

/// The fluid forms of a tagger's tags.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// At ports that serve priorities.
    pub by_priority: Sharing,
    /// At ports that order by rank.
    pub by_rank: Fluid<Sharing>,
}

impl Tagged {
    /// The fluid forms for a tagger that writes no ranks.
    pub fn without_ranks(by_priority: Sharing) -> Tagged {
        let by_rank = Err(NoFluid {
            key: Role::Tagger.key(),
            why: "ports that order by rank need a tagger that writes ranks",
            instead: "remaining, size-known or bytes-sent",
        });
        Tagged { by_priority, by_rank }
    }

    /// The fluid forms for a tagger that writes nothing but ranks.
    pub fn by_rank(sharing: Sharing) -> Tagged {
        Tagged { by_priority: Sharing::MaxMin, by_rank: Ok(sharing) }
    }
}

/// The fluid form of tagger, port and controller, which the transport builds on.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// How flows share links.
    pub sharing: Fluid<Sharing>,
}
