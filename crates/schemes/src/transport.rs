//! Transports: when and how fast a host sends.
//!
//! A [`Transport`] is the rule that all flows of a scheme follow. It makes senders, receivers and
//! the state of hosts, whose methods get the rule as their first argument.

mod carrying;
pub mod d3;
pub mod explicit;
pub mod homa;
pub mod hpcc;
pub mod omniscient;
mod part;
pub mod pdq;
pub mod phost;
pub mod tcp;

pub use carrying::{Carried, Carrying};
pub use part::TransportPart;
#[doc(hidden)]
pub use part::{Hosts, TransportFamily};

use flowsched_units::{Bytes, Rate, Time};

pub use crate::knowledge::Start;
use crate::knowledge::Work;
use crate::packet::{Flags, Header, Packet};
pub use crate::timeouts::Timeouts;
pub use crate::world::SenderState;

/// How far a sender is with its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is something to send, or to wait for.
    Sending,
    /// The whole flow is acknowledged.
    Acknowledged,
    /// The flow is given up: it would not finish by its deadline.
    GaveUp,
}

/// A data packet that a sender wants on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<H = ()> {
    /// The segment's number.
    pub seq: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Bytes of the flow before the first of these.
    pub offset: u64,
    /// What the packet says.
    pub flags: Flags,
    /// Whether everything sent before was acknowledged.
    pub idle: bool,
    /// Timeouts since the flow last made progress.
    pub timeouts_in_a_row: u32,
    /// How much there is to send.
    pub work: Work,
    /// The scheme's own header.
    pub header: H,
}

/// When and how fast to send: the rule that all flows of a scheme follow.
///
/// A world hands packets and timers to senders, receivers and hosts. After each of these it takes all
/// packets that the sender may send. A deadline may come too early; it never
/// comes too late.
pub trait Transport: Sized + Send + Sync {
    /// The header of its packets, for the switches; [`Carrying`] puts a header on the packets of a
    /// transport that has none.
    type Header: Header;
    /// What stays when a flow ends and the next begins on the same connection.
    type Connection: Send;
    /// What a host remembers beyond its flows: whom to grant or to credit next, and whose turn it is
    /// to send.
    type Host: Hosting<Self> + Send;
    /// The sending side of a flow.
    type Sender: Sending<Self> + Send;
    /// The receiving side of a flow.
    type Receiver: Receiving<Self> + Send;

    /// Whether all packets of a flow must pass the same switches, which know the flow.
    const NEEDS_ONE_PATH: bool = false;

    /// Whether senders wait for applications that hand bytes over at a rate
    /// ([`Start::application_rate`]).
    const WAITS_FOR_APPLICATIONS: bool = false;

    /// Whether a sender ends only when a packet tells it so that its receiver sent once it had every byte
    /// ([`Receiving::is_delivered`]). A run whose senders may end earlier uses one thread.
    const ENDS_AFTER_DELIVERY: bool = false;

    /// The same rule over paths by which packets of one flow overtake each other.
    #[must_use]
    fn over_sprayed_paths(self) -> Self {
        self
    }

    /// How many connections each pair of hosts has open from the start, which outlive their flows; 0 if
    /// every flow opens its own.
    fn open_connections(&self) -> u32 {
        0
    }

    /// A connection that is open before its first flow, on a path with this round-trip time.
    fn open_connection(&self, round_trip: Time) -> Self::Connection;
    /// A connection that its first flow has to open.
    fn new_connection(&self) -> Self::Connection;

    /// The state of a host whose card has this rate.
    fn host(&self, rate: Rate) -> Self::Host;
    /// The sender of a flow that begins now.
    fn sender(&self, start: &Start, connection: Self::Connection) -> Self::Sender;
    /// The receiver of a flow of `size` bytes.
    fn receiver(&self, size: Bytes) -> Self::Receiver;
}

/// The sending side of one flow, at `host`.
pub trait Sending<T: Transport> {
    /// The next packet that may be sent now.
    fn poll(&mut self, transport: &T, host: &mut T::Host, now: Time)
    -> Option<Outgoing<T::Header>>;
    /// Hands all packets to `send` that may be sent now: those that [`Sending::poll`] gives.
    #[inline(always)]
    fn send_all(
        &mut self,
        transport: &T,
        host: &mut T::Host,
        now: Time,
        mut send: impl FnMut(Outgoing<T::Header>),
    ) {
        while let Some(outgoing) = self.poll(transport, host, now) {
            send(outgoing);
        }
    }
    /// A packet of a receiver arrives: an ACK, a grant or a credit.
    fn on_ack(&mut self, transport: &T, host: &mut T::Host, now: Time, ack: &Packet<T::Header>);
    /// The sender's deadline may have come.
    fn on_timer(&mut self, transport: &T, host: &mut T::Host, now: Time);
    /// When [`Sending::on_timer`] is due; [`Time::MAX`]: not at all.
    fn deadline(&self) -> Time;
    /// How far the sender is with its flow.
    fn phase(&self) -> Phase;
    /// The flow has ended: its connection, for the next one.
    fn finish(&mut self, now: Time) -> T::Connection;
    /// Packets sent again so far.
    fn retransmissions(&self) -> u32;
    /// Timeouts so far.
    fn timeouts(&self) -> Timeouts;
    /// What a probe sees of the sender.
    fn state(&self) -> SenderState {
        SenderState::default()
    }
}

/// The receiving side of one flow.
///
/// A packet that a receiver or a host hands to `send` goes to the sender of the flow that the
/// packet names, whichever host that is at.
pub trait Receiving<T: Transport> {
    /// A data packet comes to the receiver at `host`; what to answer goes to `send`.
    fn on_data(
        &mut self,
        transport: &T,
        host: &mut T::Host,
        now: Time,
        packet: &Packet<T::Header>,
        send: impl FnMut(Packet<T::Header>),
    );

    /// The receiver's deadline may have come.
    fn on_timer(
        &mut self,
        _transport: &T,
        _host: &mut T::Host,
        _now: Time,
        _send: impl FnMut(Packet<T::Header>),
    ) {
    }

    /// When [`Receiving::on_timer`] is due; [`Time::MAX`]: not at all.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// Whether every byte came.
    fn is_delivered(&self) -> bool;
}

/// What a host remembers beyond its flows. `()` will do where senders do not wait for each other,
/// and receivers answer the packets of their own flows and nothing else.
pub trait Hosting<T: Transport> {
    /// The host's deadline may have come; grants and credits go to `send`.
    fn on_timer(&mut self, _transport: &T, _now: Time, _send: impl FnMut(Packet<T::Header>)) {}

    /// A flow of this host whose sender is to be polled, after the host's timer. The host is asked
    /// until it names none, so it has to forget a flow that it has named.
    fn next_sender(&mut self, _transport: &T, _now: Time) -> Option<u32> {
        None
    }

    /// When [`Hosting::on_timer`] is due; [`Time::MAX`]: not at all.
    fn deadline(&self) -> Time {
        Time::MAX
    }
}
