//! What a flow is.

use flowsched_topology::HostId;
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, Rate, Time};

/// The largest flow there may be: 4 TiB.
pub const LARGEST_FLOW: Bytes = Bytes::new(1 << 42);

/// The latest that a flow may start or be due: 5,000,000 s, 58 days.
pub const LATEST: Time = Time::from_ms(5_000_000_000);

/// No run goes on for longer: 9,000,000 s, 104 days, which the signed integers of result tables can
/// hold in picoseconds.
pub const LONGEST_RUN: Time = Time::from_ms(9_000_000_000);

/// Bytes to be carried from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its place in the order of starts; an index into the workload's flows.
    pub id: u32,
    /// Who sends.
    pub src: HostId,
    /// Who receives, never `src`.
    pub dst: HostId,
    /// Payload, from 1 B to [`LARGEST_FLOW`].
    pub size: Bytes,
    /// When the sender has the first byte to send.
    pub start: Time,
    /// The instant by which it should have finished, if any; later than `start`.
    pub deadline: Option<Time>,
    /// The rate, over 0, at which the application hands over payload from `start` on; none if it hands
    /// over all of it at once.
    pub application_rate: Option<Rate>,
    /// Whether it counts in statistics: warm-up and cool-down flows do not.
    pub measured: bool,
}

impl Flow {
    /// A flow that counts in statistics, without a deadline, whose application hands over all of it at once.
    pub const fn new(id: u32, src: HostId, dst: HostId, size: Bytes, start: Time) -> Flow {
        Flow { id, src, dst, size, start, deadline: None, application_rate: None, measured: true }
    }
}

/// What `size` bytes of payload occupy on a link: full packets of 1460 B and the rest, each with
/// a header of 40 B.
pub fn wire_bytes(size: Bytes) -> Bytes {
    size + Bytes::new(size.get().div_ceil(PACKET_PAYLOAD) * PACKET_HEADER)
}
