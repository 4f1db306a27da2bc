//! Remembers which ports the packets of each flow pass.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_topology::{NodeId, PortId};

use super::{Router, is_back};

/// A router that remembers its choices where they depend only on the flow, its path and the direction.
/// Ports must have levels ([`flowsched_topology::Network::levels`]).
#[derive(Clone, Debug)]
pub(crate) struct Remembered<'a> {
    router: Router<'a>,
    /// The next port, or [`UNKNOWN`], by four indices: the level of the port that a packet has come
    /// through, the flow, the path if flows are spread, and the direction. Empty if nothing can be
    /// remembered.
    ports: Vec<PortId>,
    /// The number of combinations of flow, path and direction; 0 if nothing can be remembered.
    ways: usize,
}

/// If flows are spread, the number of paths per flow whose ways are remembered.
const PATHS: usize = 4;

/// Selects what is remembered of packets that have come through ports of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(usize);

/// Stands for a port that is not known. No network has this many ports.
const UNKNOWN: PortId = PortId(u32::MAX);

impl<'a> Remembered<'a> {
    /// A router for this many levels, and for this many flows whose packets have headers of type `H`.
    /// Without levels nothing is remembered.
    pub(crate) fn new<H: Header>(
        router: Router<'a>,
        levels: usize,
        flows: usize,
    ) -> Remembered<'a> {
        let ways = if router.goes_by_flow() { flows * paths::<H>() * 2 } else { 0 };
        Remembered { router, ports: vec![UNKNOWN; levels * ways], ways }
    }

    /// The row of packets that have come through a port of `level`.
    #[inline]
    pub(crate) fn row(&self, level: u32) -> Row {
        Row(level as usize * self.ways)
    }

    /// The remembered port through which the next node sends on a packet, or [`UNKNOWN`]. If packets
    /// take turns, no port is remembered.
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

    /// Chooses the port through which `node` sends on a packet. If packets take turns, it must be this
    /// packet's turn.
    #[inline]
    pub(crate) fn choose<H: Header>(&mut self, node: NodeId, packet: &Packet<H>) -> PortId {
        self.router.next(node, packet)
    }
}

/// The index in `ports` of a packet that has come through a port of this row. It is out of range if the
/// packet's way is not remembered.
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

/// The number of paths per flow whose ways are remembered.
fn paths<H: Header>() -> usize {
    if H::IS_SPREAD { PATHS } else { 1 }
}
