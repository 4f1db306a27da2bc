//! Which ports the packets of each flow pass, worked out once.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_topology::{NodeId, PortId};

use super::{Router, is_back};

/// A router for ports that have levels ([`flowsched_topology::Network::levels`]), which remembers
/// its choices where these depend on the flow, its path and the direction alone.
#[derive(Clone, Debug)]
pub(crate) struct Remembered<'a> {
    router: Router<'a>,
    /// By level of the port that a packet has come through, flow, path if flows are spread, and direction:
    /// the next port, or [`UNKNOWN`]. Empty where nothing can be remembered.
    ports: Vec<PortId>,
    /// How many flows, paths and directions there are; 0 where nothing can be remembered.
    ways: usize,
}

/// How many paths of a flow have ways that are remembered, if flows are spread.
const PATHS: usize = 4;

/// What is remembered of the packets that have come through ports of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(usize);

/// No network has so many ports.
const UNKNOWN: PortId = PortId(u32::MAX);

impl<'a> Remembered<'a> {
    /// For this many levels, and flows whose packets have headers of type `H`. Without levels nothing is
    /// remembered.
    pub(crate) fn new<H: Header>(
        router: Router<'a>,
        levels: usize,
        flows: usize,
    ) -> Remembered<'a> {
        let ways = if router.goes_by_flow() { flows * paths::<H>() * 2 } else { 0 };
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

    /// The port through which `node` sends on a packet, which has come through a port of this row.
    #[inline]
    pub(crate) fn next<H: Header>(&mut self, row: Row, node: NodeId, packet: &Packet<H>) -> PortId {
        let known = self.remembered(row, packet);
        if known == UNKNOWN { self.look_up(row, node, packet) } else { known }
    }

    /// Works out through which port `node` sends on a packet, and remembers it if it can be remembered.
    #[inline(never)]
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

/// Where the way of a packet is remembered that has come through a port of this row; beyond all places if it
/// is not.
#[inline]
fn place<H: Header>(row: Row, packet: &Packet<H>) -> usize {
    let mut way = packet.flow as usize;
    if H::IS_SPREAD {
        let path = packet.header.path() as usize;
        if path >= PATHS {
            return usize::MAX;
        }
        way = way * PATHS + path;
    }
    row.0 + way * 2 + usize::from(is_back(packet))
}

/// How many paths of a flow have places.
fn paths<H: Header>() -> usize {
    if H::IS_SPREAD { PATHS } else { 1 }
}
