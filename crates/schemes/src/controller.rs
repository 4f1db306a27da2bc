//! Controllers: what switches tell the hosts beside marks.
//!
//! A controller belongs to one egress port. It sees every packet that is to leave through the port and every
//! packet that comes back over the same link. It may change the headers of these packets, and may send messages
//! of its own to the senders of flows.

pub mod d3;
pub mod epn;
mod none;
mod part;
pub mod pdq;
pub mod telemetry;
mod uninformed;

pub use none::{NoController, Uncontrolled};
#[doc(hidden)]
pub use part::{Controlled, ControllerFamily};
pub use part::{ControllerPart, Language};
#[doc(hidden)]
pub use uninformed::Uninformed;

use flowsched_units::{Bytes, Rate, Time};

use crate::packet::{Header, Packet};
use crate::port::Backlog;

/// Where a controller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The number of the egress port, which no other controller has.
    pub port: u32,
    /// The rate of the link behind it.
    pub rate: Rate,
    /// Whether the port is a host's network card; otherwise it is a port of a switch.
    pub is_host: bool,
}

/// What one egress port does to the headers of the packets that pass it.
///
/// The world sends each packet that a controller hands to `send` to the sender of the packet's flow.
pub trait Controller<H: Header> {
    /// Whether the controller does anything; if not, none of its functions is called.
    const IS_THERE: bool = true;
    /// Whether the ACKs of a flow must come back over the links that its data went by.
    const NEEDS_WAY_BACK: bool = false;

    /// Whether [`Controller::on_return`] does nothing.
    const LOOKS_ONE_WAY: bool = false;
    /// Whether the controller ever sends messages or has a deadline.
    const SENDS: bool = true;
    /// Whether [`Controller::on_departure`] does anything; if not, it need not be called.
    const LOOKS_AT_DEPARTURES: bool = true;
    /// Whether the controller minds headers alone:
    ///
    /// - It reads nothing of a packet but its flow, its size, its header and the flags that its host set.
    /// - It changes nothing but the header.
    /// - It sends no messages, and does nothing in [`Controller::on_departure`].
    ///
    /// A world may then show it packets that have left the port already, with the time when they came and the
    /// backlog at that time. Other fields may be missing.
    const MINDS_HEADERS_ALONE: bool = false;

    /// A packet comes that is to leave through the port. `backlog` computes what waits there. This takes time,
    /// so call it only if the result matters.
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        backlog: impl FnMut() -> Backlog,
        send: impl FnMut(Packet<H>),
    );

    /// The first bit of a packet leaves the port, where `behind` still waits.
    ///
    /// The calls follow the order in which packets leave, and each comes before any later
    /// [`Controller::on_forward`]. But [`Controller::on_return`] and [`Controller::on_timer`] may have been
    /// called for later times. The packet's size on the wire must stay as it is.
    #[inline]
    fn on_departure(&mut self, _now: Time, _packet: &mut Packet<H>, _behind: Backlog) {}

    /// Whether [`Controller::on_forward`] does nothing at this port. If so, it need not be called.
    #[inline]
    fn is_blind(&self) -> bool {
        false
    }

    /// A packet came over the same link from its far end.
    fn on_return(&mut self, now: Time, packet: &mut Packet<H>);

    /// When [`Controller::on_timer`] is due: [`Time::MAX`] if it is not.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// The deadline may have come.
    fn on_timer(&mut self, _now: Time, _send: impl FnMut(Packet<H>)) {}

    /// The instant before which the controller's messages depend on nothing that comes to the port from `now`
    /// on. At the start of a run, this instant comes some time after `now`. It always comes the same time after
    /// `now`, unless the controller has a deadline before then.
    ///
    /// A controller that returns a later instant than `now` must send its messages from
    /// [`Controller::on_timer`] alone, do nothing with the messages of others, not look at the backlog, and do
    /// nothing in [`Controller::on_departure`]. The reason is that it may see packets before earlier ones have
    /// left.
    fn settled_until(&self, now: Time) -> Time {
        now
    }

    /// Hands the messages that the controller will send before `until` to `send`, with their times and in order
    /// of time. `until` is at most what [`Controller::settled_until`] returns.
    fn foresee(&self, _until: Time, _send: impl FnMut(Time, Packet<H>)) {}

    /// The most memory that it has needed for flows so far, as a switch would lay it out; `None` if
    /// it does not count that.
    fn largest_state(&self) -> Option<Bytes> {
        None
    }
}
