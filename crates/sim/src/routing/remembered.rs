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
    ports: Vec<PortId>,
    /// How many flows and directions there are; 0 where nothing can be remembered.
    ways: usize,
}

/// What is remembered of the packets that have come through ports of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(usize);

/// No network has so many ports.
const UNKNOWN: PortId = PortId(u32::MAX);

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

    /// The port through which the next node sends on a packet, or [`UNKNOWN`]; packets do not take turns.
    #[inline]
    pub(crate) fn remembered<H: Header>(&self, row: Row, packet: &Packet<H>) -> PortId {
        self.ports.get(place(row, packet)).copied().unwrap_or(UNKNOWN)
    }

    /// Works out through which port `node` sends on a packet, and remembers it if it can be remembered.
    pub(crate) fn look_up<H: Header>(
        &mut self,
        row: Row,
        node: NodeId,
        packet: &Packet<H>,
    ) -> PortId {
        let next = self.router.next(node, packet);
        if let Some(port) = self.ports.get_mut(place(row, packet)) {
            *port = next;
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

/// Where the way of a packet is remembered that has come through a port of this row.
#[inline]
fn place<H: Header>(row: Row, packet: &Packet<H>) -> usize {
    row.0 + packet.flow as usize * 2 + usize::from(is_back(packet))
}
