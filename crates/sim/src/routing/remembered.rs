//! Which ports the packets of each flow pass, worked out once.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_topology::{NodeId, PortId};

use super::{Router, is_back};

/// A router for ports that have levels ([`flowsched_topology::Network::levels`]), which remembers
/// its choices where these depend on the flow and the direction alone.
#[derive(Clone, Debug)]
pub(crate) struct Remembered<'a> {
    router: Router<'a>,
    /// By level of the port that a packet has come through, flow, and direction: the next port, or
    /// [`UNKNOWN`]. Empty where nothing can be remembered.
    ports: Vec<u32>,
    /// How many flows and directions there are; 0 where nothing can be remembered.
    ways: usize,
}

/// What is remembered of the packets that have come through ports of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(usize);

/// No switch has this port: it is the first host's.
const UNKNOWN: u32 = 0;

impl<'a> Remembered<'a> {
    /// For this many levels and flows.
    pub(crate) fn new(router: Router<'a>, levels: usize, flows: usize) -> Remembered<'a> {
        let ways = if router.goes_by_flow() { flows * 2 } else { 0 };
        Remembered { router, ports: vec![UNKNOWN; levels * ways], ways }
    }

    /// For packets that have come through a port of `level`.
    #[inline]
    pub(crate) fn row(&self, level: u32) -> Row {
        Row(level as usize * self.ways)
    }

    /// The port through which `node` sends on a packet; packets do not take turns.
    #[inline]
    pub(crate) fn next<H: Header>(&mut self, row: Row, node: NodeId, packet: &Packet<H>) -> PortId {
        let place = row.0 + packet.flow as usize * 2 + usize::from(is_back(packet));
        match self.ports.get(place) {
            Some(port) if *port != UNKNOWN => PortId(*port),
            _ => self.look_up(place, node, packet),
        }
    }

    /// Works out the next port and remembers it, if it can be remembered.
    #[cold]
    #[inline(never)]
    fn look_up<H: Header>(&mut self, place: usize, node: NodeId, packet: &Packet<H>) -> PortId {
        let next = self.router.next(node, packet);
        if let Some(port) = self.ports.get_mut(place) {
            *port = next.0;
        }
        next
    }

    /// Whether packets take turns.
    pub(crate) fn takes_turns(&self) -> bool {
        self.router.takes_turns()
    }

    /// The ports among which `node` chooses for the packet.
    #[inline]
    pub(crate) fn choices<H: Header>(&self, node: NodeId, packet: &Packet<H>) -> &'a [PortId] {
        self.router.choices(node, packet)
    }

    /// The port through which `node` sends on a packet, whose turn it is if packets take turns.
    #[inline]
    pub(crate) fn choose<H: Header>(&mut self, node: NodeId, packet: &Packet<H>) -> PortId {
        self.router.next(node, packet)
    }
}
