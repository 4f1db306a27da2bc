//! How flows share links, and what taggers and ports say of it together.

use flowsched_units::{Bytes, PACKET_PAYLOAD};

use super::{Fluid, NoFluid};
use crate::part::Role;

/// How flows share links.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// Max-min fairly.
    MaxMin,
    /// Max-min fairly within the priority of the bytes they have sent: these demote.
    BytesSent(Vec<Bytes>),
    /// Max-min fairly within the priority of their size; the largest size of each.
    Sizes(Vec<Bytes>),
    /// One flow after the other.
    InOrder(CriticalBy),
    /// Reservations in the order of their starts, then fair shares of the rest.
    Reservations,
}

/// What makes a flow critical: the most critical one goes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalBy {
    /// An early deadline, before all else; flows without one come after those with one.
    pub deadline: bool,
    /// Then a small size.
    pub size: SizeBy,
    /// The size counts for half as much after every 100 ms over this number that the flow has waited;
    /// 0: waiting changes nothing (PDQ 2012, 7 and Figure 12: alpha).
    pub ageing: f64,
}

/// What counts as a flow's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeBy {
    /// All that it has to send.
    Whole,
    /// What it has left to send.
    Left,
    /// The time that what it has left takes at its highest rate, T in PDQ 2012, 3.
    TimeLeft,
    /// What it has sent, rounded up to the next of these steps (PDQ 2012, 5.6).
    Estimated {
        /// Payload.
        step: Bytes,
    },
    /// A random number that stays (PDQ 2012, 5.6).
    Random,
}

impl SizeBy {
    /// Whether flows have to know their sizes for it.
    pub fn is_known(self) -> bool {
        matches!(self, SizeBy::Whole | SizeBy::Left | SizeBy::TimeLeft)
    }

    /// Whether it shrinks as the flow sends.
    pub fn shrinks(self) -> bool {
        matches!(self, SizeBy::Left | SizeBy::TimeLeft)
    }
}

impl Sharing {
    /// One after the other by size.
    pub const SHORTEST_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: false, size: SizeBy::Whole, ageing: 0.0 });
    /// One after the other by what is left.
    pub const SHORTEST_REMAINING_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: false, size: SizeBy::Left, ageing: 0.0 });
    /// One after the other by deadline, then by size.
    pub const EARLIEST_DEADLINE_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::Whole, ageing: 0.0 });
    /// One after the other by deadline, then by what is left.
    pub const MOST_CRITICAL_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::Left, ageing: 0.0 });
    /// One after the other by deadline, then by the time that what is left takes.
    pub const LEAST_TIME_LEFT_FIRST: Sharing =
        Sharing::InOrder(CriticalBy { deadline: true, size: SizeBy::TimeLeft, ageing: 0.0 });

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        match self {
            Sharing::MaxMin => "max-min fair sharing",
            Sharing::BytesSent(_) => "priority by bytes sent, max-min fair within each",
            Sharing::Sizes(_) => "priority by size, max-min fair within each",
            Sharing::InOrder(by) => by.about(),
            Sharing::Reservations => "reservations, first come, first served, then fair shares",
        }
    }

    /// Whether flows know, or need not know, how much they have to send.
    pub fn knows_sizes(&self) -> bool {
        !matches!(self, Sharing::InOrder(by) if !by.size.is_known())
    }

    /// Least attained service: one class up to the first packet, each of the others up to a
    /// quarter more than the one before, the last of them from 1.5 GB on.
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

/// What a tagger's tags come down to at ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// At ports that serve priorities.
    pub by_priority: Sharing,
    /// At ports that order by rank.
    pub by_rank: Fluid<Sharing>,
}

impl Tagged {
    /// Of a tagger that writes no ranks.
    pub fn without_ranks(by_priority: Sharing) -> Tagged {
        let by_rank = Err(NoFluid {
            key: Role::Tagger.key(),
            why: "ports that order by rank need a tagger that writes ranks",
            instead: "remaining, size-known or bytes-sent",
        });
        Tagged { by_priority, by_rank }
    }

    /// Of a tagger that writes nothing but ranks.
    pub fn by_rank(sharing: Sharing) -> Tagged {
        Tagged { by_priority: Sharing::MaxMin, by_rank: Ok(sharing) }
    }
}

/// What tagger, port and controller come down to, for the transport to build on.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// How flows share links.
    pub sharing: Fluid<Sharing>,
}
