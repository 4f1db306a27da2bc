//! Connects hosts and switches into a [`Network`].

use flowsched_units::{Rate, Time};

use crate::error::{FASTEST, LARGEST_PORT_COUNT, LARGEST_TABLE, NetworkError, SLOWEST};
use crate::ids::{HostId, NodeId, PortId};
use crate::loss::Loss;
use crate::network::{Network, Tier};
use crate::parallel::Parallel;
use crate::port::{Grouped, LinkEnd};
use crate::routes::Routes;

/// A link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// How fast bits leave.
    pub rate: Rate,
    /// One way, from the last bit's departure to its arrival.
    pub delay: Time,
}

/// A switch of a network that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch(u32);

/// Collects switches, hosts and links, then numbers them and finds the routes.
///
/// ```
/// use flowsched_topology::{Link, NetworkBuilder};
/// use flowsched_units::{Rate, Time};
///
/// let link = Link { rate: Rate::from_gbps(10), delay: Time::from_us(1) };
/// let mut builder = NetworkBuilder::new();
/// let switches = builder.tier("switch", 2);
/// builder.connect(switches[0], switches[1], link);
/// let left = builder.host(switches[0], link);
/// let right = builder.host(switches[1], link);
/// let network = builder.finish().unwrap();
/// assert_eq!(network.paths(left, right)[0].len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    tiers: Vec<(&'static str, u32)>,
    switches: u32,
    host_links: Vec<(Switch, Link)>,
    core_links: Vec<(Switch, Switch, Link)>,
    further_links: Vec<(HostId, Switch, Link)>,
    parallel: Parallel,
    names: Vec<String>,
}

impl NetworkBuilder {
    /// A builder without hosts, switches and links.
    pub fn new() -> NetworkBuilder {
        NetworkBuilder::default()
    }

    /// Adds `count` switches of one rank; ranks are added from the hosts upwards.
    pub fn tier(&mut self, name: &'static str, count: u32) -> Vec<Switch> {
        let first = self.switches;
        self.switches += count;
        self.tiers.push((name, count));
        (first..self.switches).map(Switch).collect()
    }

    /// Adds a host at `switch`. Hosts are numbered in the order of these calls.
    pub fn host(&mut self, switch: Switch, link: Link) -> HostId {
        self.host_links.push((switch, link));
        HostId(self.host_links.len() as u32 - 1)
    }

    /// Adds `count` hosts at `switch`.
    pub fn hosts(&mut self, count: u32, switch: Switch, link: Link) {
        for _ in 0..count {
            self.host(switch, link);
        }
    }

    /// Gives `host` a further link, to `switch`. Hosts then forward.
    pub fn attach(&mut self, host: HostId, switch: Switch, link: Link) {
        self.further_links.push((host, switch, link));
    }

    /// Sets which paths are parallel. By default, these are all shortest paths.
    pub(crate) fn parallel(&mut self, parallel: Parallel) {
        self.parallel = parallel;
    }

    /// Gives nodes names of their own, hosts first.
    pub(crate) fn name_nodes(&mut self, names: Vec<String>) {
        self.names = names;
    }

    /// Connects two switches. Equal-cost ports of a switch are in the order of these calls.
    pub fn connect(&mut self, one: Switch, other: Switch, link: Link) {
        self.core_links.push((one, other, link));
    }

    /// Numbers everything and finds the shortest routes.
    ///
    /// # Errors
    /// [`NetworkError`] if there is no host, a host cannot reach another, a link's rate is less
    /// than 1 Kbps or beyond the resolution of time, or the network is too large.
    pub fn finish(self) -> Result<Network, NetworkError> {
        self.check()?;
        let hosts = self.host_links.len() as u32;
        let (ports, reverse) = self.ports();
        let nodes = hosts + self.switches;
        let ports_by_owner = Grouped::by_owner(nodes, &ports);
        let core_ports = 2 * self.core_links.len() as u32;
        let hosts_forward = !self.further_links.is_empty();
        let routes = if hosts_forward {
            Routes::forwarding(hosts, &ports, &ports_by_owner, nodes)?
        } else {
            Routes::shortest(hosts, nodes, &ports)?
        };
        Ok(Network {
            hosts,
            tiers: self.numbered_tiers(),
            ports,
            reverse,
            ports_by_owner,
            routes,
            core_ports,
            hosts_forward,
            parallel: self.parallel,
            names: self.names,
        })
    }

    fn check(&self) -> Result<(), NetworkError> {
        if self.host_links.is_empty() {
            return Err(NetworkError::NoHosts);
        }
        let host_rates = self.host_links.iter().map(|(_, link)| link.rate);
        let core_rates = self.core_links.iter().map(|(_, _, link)| link.rate);
        let further_rates = self.further_links.iter().map(|(_, _, link)| link.rate);
        let mut rates = host_rates.chain(core_rates).chain(further_rates);
        if let Some(rate) = rates.find(|rate| !is_link_rate(*rate)) {
            return Err(NetworkError::Rate(rate));
        }
        let mut edges: Vec<u32> = self.host_links.iter().map(|(edge, _)| edge.0).collect();
        edges.sort_unstable();
        edges.dedup();
        let links = self.host_links.len() + self.core_links.len() + self.further_links.len();
        let ports = 2 * links as u64;
        let table = if self.further_links.is_empty() {
            u64::from(self.switches) * edges.len() as u64
        } else {
            let hosts = self.host_links.len() as u64;
            (hosts + u64::from(self.switches)) * hosts
        };
        if ports > LARGEST_PORT_COUNT || table > LARGEST_TABLE {
            return Err(NetworkError::TooLarge { ports, table });
        }
        Ok(())
    }

    /// All ports in the order that [`PortId`] promises, and the reverse of each.
    fn ports(&self) -> (Vec<LinkEnd>, Vec<PortId>) {
        let hosts = self.host_links.len() as u32;
        let node = |switch: Switch| NodeId(hosts + switch.0);
        let port = |owner, peer, Link { rate, delay }| LinkEnd {
            owner,
            peer,
            rate,
            delay,
            loss: Loss::NONE,
        };
        let mut ports = Vec::with_capacity(2 * (self.host_links.len() + self.core_links.len()));
        let mut reverse = Vec::with_capacity(ports.capacity());
        for (host, (edge, link)) in self.host_links.iter().enumerate() {
            ports.push(port(NodeId(host as u32), node(*edge), *link));
            reverse.push(PortId(hosts + host as u32));
        }
        for (host, (edge, link)) in self.host_links.iter().enumerate() {
            ports.push(port(node(*edge), NodeId(host as u32), *link));
            reverse.push(PortId(host as u32));
        }

        // Core link i has the directions 2 i and 2 i + 1. Ports are numbered switch by switch.
        let directions: Vec<LinkEnd> = self
            .core_links
            .iter()
            .flat_map(|&(one, other, link)| {
                [port(node(one), node(other), link), port(node(other), node(one), link)]
            })
            .collect();
        let mut order: Vec<usize> = (0..directions.len()).collect();
        order.sort_by_key(|&direction| directions[direction].owner);
        let mut numbers = vec![PortId(0); directions.len()];
        for (position, &direction) in order.iter().enumerate() {
            numbers[direction] = PortId(2 * hosts + position as u32);
        }
        for &direction in &order {
            ports.push(directions[direction]);
            reverse.push(numbers[direction ^ 1]);
        }
        for (host, switch, link) in &self.further_links {
            let number = ports.len() as u32;
            ports.push(port(host.node(), node(*switch), *link));
            ports.push(port(node(*switch), host.node(), *link));
            reverse.extend([PortId(number + 1), PortId(number)]);
        }
        (ports, reverse)
    }

    fn numbered_tiers(&self) -> Vec<Tier> {
        let mut first = self.host_links.len() as u32;
        let number = |&(name, count): &(&'static str, u32)| {
            let nodes = first..first + count;
            first = nodes.end;
            Tier { name, nodes }
        };
        self.tiers.iter().map(number).collect()
    }
}

/// Whether a link can have this rate.
pub(crate) fn is_link_rate(rate: Rate) -> bool {
    (SLOWEST..=FASTEST).contains(&rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        Link { rate: Rate::from_gbps(10), delay: Time::from_us(1) }
    }

    #[test]
    fn what_is_not_a_network_is_refused() {
        assert_eq!(NetworkBuilder::new().finish().unwrap_err(), NetworkError::NoHosts);

        let mut apart = NetworkBuilder::new();
        for switch in apart.tier("switch", 2) {
            apart.host(switch, link());
        }
        let unreachable = NetworkError::Unreachable { from: HostId(1), to: HostId(0) };
        assert_eq!(apart.finish().unwrap_err(), unreachable);

        let mut mute = NetworkBuilder::new();
        let switch = mute.tier("switch", 1)[0];
        mute.host(switch, Link { rate: Rate::from_bps(0), ..link() });
        assert_eq!(mute.finish().unwrap_err(), NetworkError::Rate(Rate::from_bps(0)));
    }

    #[test]
    fn ports_are_numbered_hosts_first_then_towards_hosts_then_switch_by_switch() {
        let mut builder = NetworkBuilder::new();
        let leaves = builder.tier("leaf", 2);
        let spines = builder.tier("spine", 2);
        for leaf in &leaves {
            builder.hosts(2, *leaf, link());
            for spine in &spines {
                builder.connect(*leaf, *spine, link());
            }
        }
        let network = builder.finish().unwrap();
        let ends: Vec<(u32, u32)> =
            network.ports().iter().map(|port| (port.owner.0, port.peer.0)).collect();
        let nics = [(0, 4), (1, 4), (2, 5), (3, 5)];
        let down = [(4, 0), (4, 1), (5, 2), (5, 3)];
        let core = [(4, 6), (4, 7), (5, 6), (5, 7), (6, 4), (6, 5), (7, 4), (7, 5)];
        assert_eq!(ends, [&nics[..], &down[..], &core[..]].concat());
        assert_eq!(network.name(NodeId(3)), "host 3");
        assert_eq!(network.name(NodeId(7)), "spine 1");
    }
}
