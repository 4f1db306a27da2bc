//! Ports: one direction of a link each, and ports grouped by the node that sends.

use flowsched_units::{Rate, Time};

use crate::ids::{NodeId, PortId};
use crate::loss::Loss;

/// One direction of a link, seen from the end that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Who sends.
    pub owner: NodeId,
    /// Who receives.
    pub peer: NodeId,
    /// How fast bits leave.
    pub rate: Rate,
    /// From the last bit's departure to its arrival: propagation, and processing at either end
    /// where the topology has it.
    pub delay: Time,
    /// How likely a packet is lost on the way.
    pub loss: Loss,
}

/// Ports grouped by a dense index: those of group `i` are `members[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug)]
pub(crate) struct Grouped {
    starts: Vec<u32>,
    members: Vec<PortId>,
}

impl Grouped {
    /// Groups `ports` by owner, keeping their order.
    pub(crate) fn by_owner(nodes: u32, ports: &[LinkEnd]) -> Grouped {
        let mut members: Vec<PortId> = (0..ports.len() as u32).map(PortId).collect();
        members.sort_by_key(|port| ports[port.index()].owner);
        let mut starts = vec![0; nodes as usize + 1];
        for port in ports {
            starts[port.owner.index() + 1] += 1;
        }
        for node in 0..nodes as usize {
            starts[node + 1] += starts[node];
        }
        Grouped { starts, members }
    }

    pub(crate) fn of_node(&self, node: NodeId) -> &[PortId] {
        let (from, to) = (self.starts[node.index()], self.starts[node.index() + 1]);
        &self.members[from as usize..to as usize]
    }
}
