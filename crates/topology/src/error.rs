//! The bounds of a network, and what is wrong with a description that is not one.

use flowsched_units::Rate;
use thiserror::Error;

use crate::ids::HostId;

/// The most ports that a network may have: room for a million hosts, and a bound on memory.
pub(crate) const LARGEST_PORT_COUNT: u64 = 1 << 21;

/// The most pairs of a switch and an edge switch: a routing table of half a gigabyte.
pub(crate) const LARGEST_TABLE: u64 = 1 << 26;

/// The fastest link: a byte in a picosecond, the resolution of [`Time`].
pub(crate) const FASTEST: Rate = Rate::from_gbps(8_000);

/// The slowest link: at a fifth of this, a full packet takes longer than a sender ever waits for an
/// acknowledgement before it sends the packet again.
pub(crate) const SLOWEST: Rate = Rate::from_bps(1_000);

/// A description that is not a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// There is no host.
    #[error("the network has no host. Add at least one.")]
    NoHosts,
    /// A link carries next to nothing, or a byte in less than a picosecond.
    #[error("a link has a rate of {0}. Use a rate from {SLOWEST} to {FASTEST}.")]
    Rate(Rate),
    /// Too many ports, or too many switches for a routing table.
    #[error(
        "the network has {ports} ports and {table} routes, more than {LARGEST_PORT_COUNT} ports or \
         {LARGEST_TABLE} routes. Make it smaller."
    )]
    TooLarge {
        /// How many ports there are.
        ports: u64,
        /// How many pairs of a switch and an edge switch there are.
        table: u64,
    },
    /// A host cannot reach another.
    #[error("no path leads from host {} to host {}. Add links that connect them.", .from.0, .to.0)]
    Unreachable {
        /// Where from.
        from: HostId,
        /// Where to.
        to: HostId,
    },
}
