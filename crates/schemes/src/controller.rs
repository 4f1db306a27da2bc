//! Controllers: what switches tell the hosts beside marks.
//!
//! A controller belongs to one egress port. It sees every packet that comes to be sent through
//! it and every packet that comes back over the same link, may change their headers, and may
//! send messages of its own to the senders of flows.

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
    /// The number of the egress port: no other controller has it.
    pub port: u32,
    /// The rate of the link behind it.
    pub rate: Rate,
    /// On a host's network card; otherwise in a switch.
    pub is_host: bool,
}

/// What one egress port does to the headers of the packets that pass it.
///
/// The world sends the packets that it hands to `send` to the senders of their flows.
pub trait Controller<H: Header> {
    /// Whether there is anything to do; if not, none of the functions is called.
    const IS_THERE: bool = true;
    /// Whether the ACKs of a flow must come back over the links that its data went by.
    const NEEDS_WAY_BACK: bool = false;

    /// Whether [`Controller::on_return`] does nothing.
    const LOOKS_ONE_WAY: bool = false;
    /// Whether it ever sends messages or has a deadline.
    const SENDS: bool = true;
    /// Whether [`Controller::on_departure`] does anything; if not, it need not be called.
    const LOOKS_AT_DEPARTURES: bool = true;
    /// Whether it reads nothing of a packet but its flow, its size, its header and the flags that its host set,
    /// changes nothing but the header, sends no messages and does nothing in [`Controller::on_departure`].
    ///
    /// A world may then show it packets that have left the port already, with the time when they came and what
    /// waited then; other fields may be missing.
    const MINDS_HEADERS_ALONE: bool = false;

    /// A packet comes to be sent through the port. `backlog` works out what waits there, which takes time:
    /// call it only if that matters.
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        backlog: impl FnMut() -> Backlog,
        send: impl FnMut(Packet<H>),
    );

    /// The first bit of a packet leaves the port, where `behind` still waits.
    ///
    /// Packets come here in the order in which they leave, and each before any later
    /// [`Controller::on_forward`]; [`Controller::on_return`] and [`Controller::on_timer`] may have
    /// been called for later times. The packet's size on the wire must stay as it is.
    #[inline]
    fn on_departure(&mut self, _now: Time, _packet: &mut Packet<H>, _behind: Backlog) {}

    /// Whether [`Controller::on_forward`] does nothing at this port; if so, it need not be called.
    #[inline]
    fn is_blind(&self) -> bool {
        false
    }

    /// A packet came over the same link from its far end.
    fn on_return(&mut self, now: Time, packet: &mut Packet<H>);

    /// When [`Controller::on_timer`] is due; [`Time::MAX`]: not at all.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// The deadline may have come.
    fn on_timer(&mut self, _now: Time, _send: impl FnMut(Packet<H>)) {}

    /// Before which instant its messages depend on nothing that comes to the port from `now` on. With no
    /// deadline before then, that is always as long after `now` as at the start of a run.
    ///
    /// A controller that knows more than the present must send its messages from [`Controller::on_timer`]
    /// alone, do nothing with the messages of others, not look at the backlog, and do nothing in
    /// [`Controller::on_departure`]: it may see packets before earlier ones have left.
    fn settled_until(&self, now: Time) -> Time {
        now
    }

    /// Hands the messages that it will send before `until` to `send`, with their times and in the
    /// order of these; `until` is at most what [`Controller::settled_until`] says.
    fn foresee(&self, _until: Time, _send: impl FnMut(Time, Packet<H>)) {}

    /// The most memory that it has needed for flows so far, as a switch would lay it out; `None` if
    /// it does not count that.
    fn largest_state(&self) -> Option<Bytes> {
        None
    }
}
