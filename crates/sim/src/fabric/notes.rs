//! Notes of packets that came to ports, for controllers that see the packets later.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::Backlog;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::order::Comes;
use super::tickets::Ticket;

/// The packets that came to ports in a window: their times, and what controllers may read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    // A list of its own, because sorting reads nothing else.
    pub(super) times: Vec<Instant>,
    pub(super) notes: Vec<Note>,
}

impl Notes {
    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.notes.clear();
    }
}

/// When a packet came to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(pub(super) Time);

impl Comes for Instant {
    #[inline]
    fn at(&self) -> Time {
        self.0
    }

    /// The link that a packet came over decides, but it is known only after earlier notes have been shown.
    #[inline]
    fn rank(&self) -> u32 {
        0
    }
}

/// A packet came to a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) port: PortId,
    /// The number of the packet's ticket.
    pub(super) ticket: u32,
    flow: u32,
    flags: Flags,
    wire: u16,
    /// The backlog of the port. A port holds less than 4 GB.
    waiting_bytes: u32,
    waiting_packets: u32,
}

impl Note {
    /// The packet with this header, without what controllers do not read.
    #[inline]
    pub(super) fn packet<H: Header>(&self, header: H) -> Packet<H> {
        let Note { flow, flags, wire, .. } = *self;
        Packet::<()>::data(flow, 0, 0, wire, flags).with_header(header)
    }

    /// The backlog of the port when the packet came.
    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        Backlog { bytes: self.waiting_bytes.into(), packets: self.waiting_packets }
    }
}

/// The notes of all ports.
pub(super) type Shared = Rc<RefCell<Notes>>;

/// Stands at a port in place of a controller of type `C`, and notes which packets come.
#[derive(Debug)]
pub(super) struct Noting<C> {
    port: PortId,
    /// Whether the port is a host's. Its controller sees packets at once and needs no notes.
    is_at_host: bool,
    notes: Shared,
    controller: PhantomData<C>,
}

impl<C> Noting<C> {
    pub(super) fn new(port: PortId, is_at_host: bool, notes: Shared) -> Noting<C> {
        Noting { port, is_at_host, notes, controller: PhantomData }
    }
}

impl<H: Header, C: Controller<H>> Controller<Ticket<H>> for Noting<C> {
    const NEEDS_WAY_BACK: bool = C::NEEDS_WAY_BACK;
    const LOOKS_ONE_WAY: bool = true;
    const SENDS: bool = false;
    const LOOKS_AT_DEPARTURES: bool = false;

    #[inline]
    fn on_forward(
        &mut self,
        at: Time,
        packet: &mut Packet<Ticket<H>>,
        mut backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<Ticket<H>>),
    ) {
        if self.is_at_host {
            return;
        }
        let Packet { flow, flags, wire, header: Ticket { number: ticket, .. }, .. } = *packet;
        let Backlog { bytes, packets: waiting_packets } = backlog();
        let waiting_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let port = self.port;
        let mut notes = self.notes.borrow_mut();
        notes.times.push(Instant(at));
        notes.notes.push(Note { port, ticket, flow, flags, wire, waiting_bytes, waiting_packets });
    }

    fn on_return(&mut self, _: Time, _: &mut Packet<Ticket<H>>) {}
}
