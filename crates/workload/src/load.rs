//! How much traffic is asked for, and how much there is.
//!
//! Load is data on the wire, 1500 B a full packet, over what links can carry; acknowledgements
//! do not count.

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};

use crate::flow::{Flow, wire_bytes};
use crate::pattern::Pattern;

/// Shares of capacity that data takes up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Of the busiest host links: the one receiver's link if all flows have the same, otherwise
    /// the mean over all hosts, which are alike in the long run.
    pub host_links: f64,
    /// Of the links between switches, the mean over all of them; none where there are none. A
    /// flow takes up the capacity of every such link that its path crosses.
    pub core_links: Option<f64>,
}

/// How much more than 1 a load may come out where exact arithmetic gives 1.
const ROUNDING: f64 = 1e-9;

/// What links can carry, in bytes a second.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    host_links: f64,
    core_links: f64,
}

impl Capacity {
    fn of(network: &Network, only_receiver: Option<HostId>) -> Capacity {
        let host_links = match only_receiver {
            Some(host) => network.port(network.port_to(host)).rate,
            None => network.host_capacity(),
        };
        Capacity {
            host_links: host_links.as_bytes_per_sec_f64(),
            core_links: network.core_capacity().as_bytes_per_sec_f64(),
        }
    }

    /// The load of `bytes` a second, `core_bytes` counting once for every core link crossed.
    fn load(self, bytes: f64, core_bytes: f64) -> Load {
        Load {
            host_links: bytes / self.host_links,
            core_links: (self.core_links > 0.0).then_some(core_bytes / self.core_links),
        }
    }
}

/// The wire bytes a second that the settings ask for, all hosts together, and the load that they
/// are.
pub(crate) fn asked(
    settings: &Settings,
    network: &Network,
    pattern: &Pattern,
) -> Result<(f64, Load), SettingError> {
    let load = settings.number("load");
    if !(load > 0.0 && load <= 1.0) {
        return Err(SettingError::new("load", load.to_string(), "a number over 0 and up to 1"));
    }
    let capacity = Capacity::of(network, pattern.only_receiver());
    let core_hops = pattern.mean_core_hops(network);
    let of_core = settings.text("load_of") == "core";
    if of_core && core_hops == 0.0 {
        let allowed = "\"hosts\", since no flow crosses a link between switches";
        return Err(SettingError::new("load_of", "\"core\"", allowed));
    }
    let bytes =
        if of_core { load * capacity.core_links / core_hops } else { load * capacity.host_links };
    let asked = capacity.load(bytes, bytes * core_hops);
    if of_core && asked.host_links > 1.0 + ROUNDING {
        let of_hosts = asked.host_links;
        let found = format!("{load} of the core links, which is {of_hosts:.3} of the host links");
        let allowed = format!("at most {:.3} of the core links", load / of_hosts);
        return Err(SettingError::new("load", found, allowed));
    }
    Ok((bytes, asked))
}

/// The load of `flows`, sorted by start, from the first start to the last; none if they all start
/// at once.
pub(crate) fn measured(
    flows: &[Flow],
    network: &Network,
    only_receiver: Option<HostId>,
) -> Option<Load> {
    let (first, last) = (flows.first()?.start, flows.last()?.start);
    let seconds = last.saturating_sub(first).as_secs_f64();
    if seconds == 0.0 {
        return None;
    }
    // As many arrivals as gaps.
    let (mut bytes, mut core_bytes) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| flow.start < last) {
        let wire = wire_bytes(flow.size).get() as f64;
        bytes += wire;
        core_bytes += wire * f64::from(network.core_hops(flow.src, flow.dst));
    }
    Some(Capacity::of(network, only_receiver).load(bytes / seconds, core_bytes / seconds))
}
