//! The load that a run asks for, and the load of its flows.
//!
//! Load is data on the wire as a share of the capacity of some links. Headers count, but ACKs and
//! retransmissions do not. The key `load_of` names the links. How flows are drawn is decided
//! elsewhere.

use flowsched_topology::{Network, PortId};
use flowsched_workload::Workload;
use serde::{Deserialize, Serialize};

/// The links that a load refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadOf {
    /// The links that hosts send through, on average.
    #[default]
    Hosts,
    /// The links to the only host that receives flows.
    Receiver,
    /// The links between switches, on average.
    Core,
}

/// The load of a flow sequence, and the ports that it refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfferedLoad {
    /// The links.
    pub links: LoadOf,
    /// Their ports, by their places in [`super::PortsOfRun::ports`].
    pub ports: Vec<u32>,
    /// The load that the experiment asks for; `None` if start times are not random.
    pub requested: Option<f64>,
    /// The load of the flows from the first start to the last; `None` if all flows start at once.
    pub realised: Option<f64>,
}

impl OfferedLoad {
    /// The load of `workload`. It refers to the links between switches if `of_core` is true, otherwise
    /// to the links to the only receiver if there is one, otherwise to the links that hosts send through.
    pub fn new(workload: &Workload, network: &Network, of_core: bool) -> OfferedLoad {
        let (links, ports): (LoadOf, Vec<PortId>) = match workload.only_receiver {
            _ if of_core => (LoadOf::Core, network.core_ports().collect()),
            Some(host) => {
                let ports = network.nics(host).iter().map(|port| network.reverse(*port));
                (LoadOf::Receiver, ports.collect())
            }
            None => {
                let ports = network.hosts().flat_map(|host| network.nics(host).iter().copied());
                (LoadOf::Hosts, ports.collect())
            }
        };
        let of_links = |load: flowsched_workload::Load| match links {
            LoadOf::Core => load.core_links,
            LoadOf::Hosts | LoadOf::Receiver => Some(load.host_links),
        };
        OfferedLoad {
            links,
            ports: ports.into_iter().map(|port| port.0).collect(),
            requested: workload.load_asked.and_then(of_links),
            realised: workload.load_measured.and_then(of_links),
        }
    }
}

/// The load and the utilisation of one run, as shares of the links' capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadFigures {
    /// The links.
    pub links: LoadOf,
    /// The load that the experiment asks for; `None` if start times are not random.
    pub requested: Option<f64>,
    /// The load of the flows from the first start to the last; `None` if all flows start at once.
    pub realised: Option<f64>,
    /// The utilisation of the links while flows arrived; `None` if samples are missing or too far
    /// apart.
    pub utilisation: Option<f64>,
}

impl LoadFigures {
    /// The figures of this load, with the utilisation of its links.
    pub(super) fn new(load: &OfferedLoad, utilisation: Option<f64>) -> LoadFigures {
        let OfferedLoad { links, requested, realised, .. } = *load;
        LoadFigures { links, requested, realised, utilisation }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_topology::{HostId, TOPOLOGIES};
    use flowsched_units::Settings;
    use flowsched_workload::{FlowParts, Load};

    use super::*;

    #[test]
    fn the_ports_are_those_that_the_load_refers_to() {
        let leaf_spine = TOPOLOGIES.iter().find(|kind| kind.name == "leaf-spine").unwrap();
        let settings = Settings::defaults(leaf_spine.parameters);
        let network = flowsched_topology::build("leaf-spine", &settings).unwrap();
        let load = |only_receiver, of_core| {
            let workload = Workload {
                flows: Vec::new(),
                parts: FlowParts::default(),
                load_asked: Some(Load { host_links: 0.4, core_links: Some(0.3) }),
                load_measured: Some(Load { host_links: 0.5, core_links: Some(0.2) }),
                only_receiver,
            };
            OfferedLoad::new(&workload, &network, of_core)
        };
        let hosts = load(None, false);
        assert_eq!(
            (hosts.links, hosts.requested, hosts.realised),
            (LoadOf::Hosts, Some(0.4), Some(0.5))
        );
        assert_eq!(hosts.ports, (0..network.host_count()).collect::<Vec<_>>());
        let receiver = load(Some(HostId(3)), false);
        assert_eq!(
            (receiver.links, receiver.ports),
            (LoadOf::Receiver, vec![network.port_to(HostId(3)).0])
        );
        let core = load(Some(HostId(3)), true);
        assert_eq!(
            (core.links, core.requested, core.realised),
            (LoadOf::Core, Some(0.3), Some(0.2))
        );
        assert_eq!(core.ports.len(), network.core_ports().len());
    }
}
