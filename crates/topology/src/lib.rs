//! Networks as plain descriptions that a packet engine and a flow-level engine can both run.
//!
//! What lives here: who is connected to whom at which rate and delay ([`Network`], [`LinkEnd`]), which ports lead
//! to a host ([`Routes`]), which paths are parallel, what follows from paths alone (round-trip times, the flow
//! completion time on an idle network), the topologies that an experiment can name ([`TOPOLOGIES`]), and the hash
//! by which flows choose among equal paths ([`Ecmp`]). What may not: queues and packets, which belong to the
//! engines.
//!
//! A topology is one file in `kinds`: a list of parameters and a function that connects
//! switches and hosts with a [`NetworkBuilder`]. Numbers and routes follow by themselves.
//!
//! ```
//! use flowsched_topology::{HostId, build, kind};
//! use flowsched_units::{Bytes, Settings, Time};
//!
//! let fabric = kind("leaf-spine").unwrap();
//! let network = build(fabric.name, &Settings::defaults(fabric.parameters)).unwrap();
//! let (data, ack) = (Bytes::new(1500), Bytes::new(40));
//! let rtt = network.base_rtt(HostId(0), HostId(143), data, ack);
//! assert_eq!(rtt, Time::from_ns(84_680));
//! ```

mod builder;
mod error;
mod ids;
mod kind;
mod kinds;
mod levels;
mod loss;
mod lossy_links;
mod network;
mod parallel;
mod parallel_paths;
mod paths;
mod port;
mod regular_graph;
mod routes;
mod routing;

pub use builder::{Link, NetworkBuilder, Switch};
pub use error::NetworkError;
pub use ids::{HostId, NodeId, PortId};
pub use kind::{TOPOLOGIES, TopologyKind, build, kind};
pub use loss::{LOSS, Loss, PROBABILITY};
pub use network::{Network, Tier};
pub use port::LinkEnd;
pub use routes::Routes;
pub use routing::{Ecmp, ROUTING, Routing, Way, mix};
