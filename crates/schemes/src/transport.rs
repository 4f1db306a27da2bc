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

/// A data packet that a sender wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<H = ()> {
    /// The segment's number.
    pub seq: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Bytes of the flow before the first payload byte.
    pub offset: u64,
    /// The packet's flags.
    pub flags: Flags,
    /// Whether everything sent before was acknowledged.
    pub idle: bool,
    /// Timeouts since the flow last made progress.
    pub timeouts_in_a_row: u32,
    /// The flow's size, and how many of its packets are not known to have arrived.
    pub work: Work,
    /// The scheme's own header.
    pub header: H,
}

/// When and how fast to send: the rule that all flows of a scheme follow.
///
/// A world hands packets and timers to senders, receivers and hosts. After each of these it takes all
/// packets that the sender may send. A timer may run out too early, but never too late.
pub trait Transport: Sized + Send + Sync {
    /// The header that its packets carry for the switches. [`Carrying`] puts a header on the packets of a
    /// transport that has none.
    type Header: Header;
    /// The state of a connection, which stays when a flow ends and the next begins.
    type Connection: Send;
    /// The state of a host beyond that of its flows: which flow gets the next grant or credit, and which
    /// flow sends next.
    type Host: Hosting<Self> + Send;
    /// The sending side of a flow.
    type Sender: Sending<Self> + Send;
    /// The receiving side of a flow.
    type Receiver: Receiving<Self> + Send;

    /// Whether all packets of a flow must pass the same switches, because switches know the flow.
    const NEEDS_ONE_PATH: bool = false;

    /// Whether senders wait for applications that hand bytes over at a rate
    /// ([`Start::application_rate`]).
    const WAITS_FOR_APPLICATIONS: bool = false;

    /// Whether a sender ends only on a packet that its receiver sends after every byte has come
    /// ([`Receiving::is_delivered`]). A run whose senders may end earlier uses one thread.
    const ENDS_AFTER_DELIVERY: bool = false;

    /// Adapts the rule to sprayed paths, on which packets of one flow overtake each other.
    #[must_use]
    fn over_sprayed_paths(self) -> Self {
        self
    }

    /// The number of connections that each pair of hosts has open from the start; 0 if every flow opens
    /// its own. Open connections outlive their flows.
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
    /// Hands all packets that may be sent now to `send`, as [`Sending::poll`] would return them.
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
    /// Handles a packet from a receiver: an ACK, a grant or a credit.
    fn on_ack(&mut self, transport: &T, host: &mut T::Host, now: Time, ack: &Packet<T::Header>);
    /// Handles the sender's timer, which may have run out too early.
    fn on_timer(&mut self, transport: &T, host: &mut T::Host, now: Time);
    /// When [`Sending::on_timer`] is due: [`Time::MAX`] if it is not.
    fn deadline(&self) -> Time;
    /// How far the sender is with its flow.
    fn phase(&self) -> Phase;
    /// Ends the flow. Returns its connection, for the next flow.
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
/// A packet that a receiver or a host hands to `send` goes to the sender of the flow that the packet
/// names, at whichever host.
pub trait Receiving<T: Transport> {
    /// Handles a data packet that comes to the receiver at `host`. Hands the answers to `send`.
    fn on_data(
        &mut self,
        transport: &T,
        host: &mut T::Host,
        now: Time,
        packet: &Packet<T::Header>,
        send: impl FnMut(Packet<T::Header>),
    );

    /// Handles the receiver's timer, which may have run out too early.
    fn on_timer(
        &mut self,
        _transport: &T,
        _host: &mut T::Host,
        _now: Time,
        _send: impl FnMut(Packet<T::Header>),
    ) {
    }

    /// When [`Receiving::on_timer`] is due: [`Time::MAX`] if it is not.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// Whether every byte came.
    fn is_delivered(&self) -> bool;
}

/// The state of a host beyond that of its flows. Use `()` if senders do not wait for each other, and if
/// receivers only answer the packets of their own flows.
pub trait Hosting<T: Transport> {
    /// Handles the host's timer, which may have run out too early. Hands grants and credits to `send`.
    fn on_timer(&mut self, _transport: &T, _now: Time, _send: impl FnMut(Packet<T::Header>)) {}

    /// Returns a flow of this host whose sender is to be polled. After the host's timer, the world calls
    /// this until it returns `None`, so the host has to forget a flow that it has returned.
    fn next_sender(&mut self, _transport: &T, _now: Time) -> Option<u32> {
        None
    }

    /// When [`Hosting::on_timer`] is due: [`Time::MAX`] if it is not.
    fn deadline(&self) -> Time {
        Time::MAX
    }
}
