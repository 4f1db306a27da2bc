//! A network: its nodes, its ports and the routes over them.

use std::ops::Range;

use flowsched_units::Rate;

use crate::ids::{HostId, NodeId, PortId};
use crate::parallel::Parallel;
use crate::port::{Grouped, LinkEnd};
use crate::routes::Routes;

/// Switches of one rank, such as the spines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// What one of them is called, `"spine"`.
    pub name: &'static str,
    /// The numbers of their nodes.
    pub nodes: Range<u32>,
}

/// Hosts, switches, the ports between them and the routes; built by [`crate::build`] or a
/// [`crate::NetworkBuilder`]. Every link has two ports. Every host has one link, unless hosts
/// forward ([`Network::hosts_forward`]): then a host may have several, and a packet for one host
/// may come by others, which send it on.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) hosts: u32,
    pub(crate) tiers: Vec<Tier>,
    pub(crate) ports: Vec<LinkEnd>,
    pub(crate) reverse: Vec<PortId>,
    pub(crate) ports_by_owner: Grouped,
    pub(crate) routes: Routes,
    /// How many ports there are between switches.
    pub(crate) core_ports: u32,
    pub(crate) hosts_forward: bool,
    pub(crate) parallel: Parallel,
    /// The name of each node, where nodes have names of their own.
    pub(crate) names: Vec<String>,
}

impl Network {
    /// How many hosts there are.
    pub fn host_count(&self) -> u32 {
        self.hosts
    }

    /// All hosts in order.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = HostId> + Clone + use<> {
        (0..self.hosts).map(HostId)
    }

    /// How many hosts and switches there are.
    pub fn node_count(&self) -> u32 {
        self.tiers.last().map_or(self.hosts, |tier| tier.nodes.end)
    }

    /// All switches in order.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (self.hosts..self.node_count()).map(NodeId)
    }

    /// The ranks of switches, nearest to the hosts first.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// All ports, indexed by [`PortId`].
    pub fn ports(&self) -> &[LinkEnd] {
        &self.ports
    }

    /// One port.
    pub fn port(&self, port: PortId) -> &LinkEnd {
        &self.ports[port.index()]
    }

    /// The port of the same link's other direction.
    pub fn reverse(&self, port: PortId) -> PortId {
        self.reverse[port.index()]
    }

    /// The ports that `node` sends through, in order.
    pub fn ports_of(&self, node: NodeId) -> &[PortId] {
        self.ports_by_owner.of_node(node)
    }

    /// Whether hosts have several ports and send packets on that are for others. Where they do
    /// not, [`Network::nic`] is a host's only port and every packet that reaches a host is for it.
    pub fn hosts_forward(&self) -> bool {
        self.hosts_forward
    }

    /// The ports that `host` sends through: one, unless hosts forward. [`Network::routes`] says
    /// which of several leads where.
    pub fn nics(&self, host: HostId) -> &[PortId] {
        self.ports_of(host.node())
    }

    /// The port that `host` sends through; its first where it has several.
    pub fn nic(&self, host: HostId) -> PortId {
        PortId(host.0)
    }

    /// The port that sends to `host`, through its first link where it has several.
    pub fn port_to(&self, host: HostId) -> PortId {
        PortId(self.hosts + host.0)
    }

    /// The switch that `host` is connected to, by its first link where it has several. Two hosts
    /// with the same one share a rack.
    pub fn edge_of(&self, host: HostId) -> NodeId {
        self.port(self.nic(host)).peer
    }

    /// The host that `node` is, unless it is a switch.
    pub fn host(&self, node: NodeId) -> Option<HostId> {
        (node.0 < self.hosts).then_some(HostId(node.0))
    }

    /// Which ports lead where.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The ports between switches: two for every core link.
    pub fn core_ports(&self) -> impl ExactSizeIterator<Item = PortId> + use<> {
        (2 * self.hosts..2 * self.hosts + self.core_ports).map(PortId)
    }

    /// Whether the port is between switches.
    pub fn is_core(&self, port: PortId) -> bool {
        (2 * self.hosts..2 * self.hosts + self.core_ports).contains(&port.0)
    }

    /// The sum of the rates of the ports that send to `host`.
    pub fn capacity_to(&self, host: HostId) -> Rate {
        self.sum_of_rates(self.nics(host).iter().map(|port| self.reverse(*port)))
    }

    /// The sum of the rates of all hosts' ports.
    pub fn host_capacity(&self) -> Rate {
        self.sum_of_rates(self.hosts().flat_map(|host| self.nics(host).iter().copied()))
    }

    /// The sum of the rates of all core ports, both directions of every link.
    pub fn core_capacity(&self) -> Rate {
        self.sum_of_rates(self.core_ports())
    }

    /// What `node` is called: `"host 12"`, `"leaf 3"`.
    pub fn name(&self, node: NodeId) -> String {
        if let Some(name) = self.names.get(node.index()) {
            return name.clone();
        }
        match self.tiers.iter().find(|tier| tier.nodes.contains(&node.0)) {
            Some(tier) => format!("{} {}", tier.name, node.0 - tier.nodes.start),
            None => format!("host {}", node.0),
        }
    }

    fn sum_of_rates(&self, ports: impl Iterator<Item = PortId>) -> Rate {
        Rate::from_bps(ports.map(|port| self.port(port).rate.as_bps()).sum())
    }
}
