//! How much traffic is asked for, and how much there is.
//!
//! Load is data on the wire, with 1500 B for a full packet, relative to what links can carry.
//! Acknowledgements do not count.

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};

use crate::flow::{Flow, wire_bytes};
use crate::parameters::{LOAD, LOAD_OF, SHARE};
use crate::pattern::Pattern;

/// Shares of capacity that data takes up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The load of the busiest host links: the receiver's link if all flows have the same receiver,
    /// otherwise the mean over all hosts, which are alike in the long run. Where hosts forward, a
    /// flow loads the link of every host that sends it on.
    pub host_links: f64,
    /// The load of the links between switches, the mean over all of them. `None` if there are none.
    /// A flow loads every such link that its path crosses.
    pub core_links: Option<f64>,
}

/// How far a load may exceed 1 by rounding.
const ROUNDING: f64 = 1e-9;

/// What links can carry, in bytes per second.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    host_links: f64,
    core_links: f64,
}

impl Capacity {
    fn new(network: &Network, only_receiver: Option<HostId>) -> Capacity {
        let host_links = match only_receiver {
            Some(host) => network.capacity_to(host),
            None => network.host_capacity(),
        };
        Capacity {
            host_links: host_links.as_bytes_per_sec_f64(),
            core_links: network.core_capacity().as_bytes_per_sec_f64(),
        }
    }

    /// The load of this many bytes per second. `bytes` count once for every host that sends them on
    /// their way, and `core_bytes` once for every core link that they cross.
    fn load(self, bytes: f64, core_bytes: f64) -> Load {
        Load {
            host_links: bytes / self.host_links,
            core_links: (self.core_links > 0.0).then_some(core_bytes / self.core_links),
        }
    }
}

/// The load that a pattern's flows ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Wire bytes a second, all hosts together.
    pub bytes_per_second: f64,
    host_hops: f64,
    core_hops: f64,
    only_receiver: Option<HostId>,
}

/// The load that the settings ask for: their `load`, times their `share` if they have one.
pub(crate) fn asked(
    settings: &Settings,
    network: &Network,
    pattern: &Pattern,
) -> Result<Asked, SettingError> {
    let load = settings.number(&LOAD);
    if !(load > 0.0 && load <= 1.0) {
        return Err(SettingError::new(&LOAD, load.to_string(), "a number over 0 and up to 1"));
    }
    let share = settings.get(&SHARE).map_or(1.0, |_| settings.number(&SHARE));
    if !(share > 0.0 && share <= 1.0) {
        return Err(SettingError::new(&SHARE, share.to_string(), "a number over 0 and up to 1"));
    }
    let load = load * share;
    let only_receiver = pattern.only_receiver();
    let capacity = Capacity::new(network, only_receiver);
    let (host_hops, core_hops) = (pattern.mean_host_hops(network), pattern.mean_core_hops(network));
    let of_core = settings.text(&LOAD_OF) == "core";
    if of_core && core_hops == 0.0 {
        let problem = "`load_of = \"core\"` needs flows that cross a link between switches, and none \
                       does here. Use `load_of = \"hosts\"`.";
        return Err(SettingError::sentence(&LOAD_OF, problem));
    }
    let bytes_per_second = if of_core {
        load * capacity.core_links / core_hops
    } else {
        load * capacity.host_links / host_hops
    };
    let asked = capacity.load(bytes_per_second * host_hops, bytes_per_second * core_hops);
    if of_core && asked.host_links > 1.0 + ROUNDING {
        let of_hosts = asked.host_links;
        let problem = format!(
            "A load of {load} on the core links loads the host links by {of_hosts:.3}, and at most 1 \
             is possible. Use a load of at most {:.3}.",
            load / of_hosts
        );
        return Err(SettingError::sentence(&LOAD, problem));
    }
    Ok(Asked { bytes_per_second, host_hops, core_hops, only_receiver })
}

/// The load that all parts ask for together. If all have the same receiver, the load of host links
/// is that of its link.
pub(crate) fn together(parts: &[&Asked], network: &Network) -> Load {
    let first = parts.first().and_then(|part| part.only_receiver);
    let only_receiver = first.filter(|_| parts.iter().all(|part| part.only_receiver == first));
    let bytes = parts.iter().map(|part| part.bytes_per_second * part.host_hops).sum();
    let core_bytes = parts.iter().map(|part| part.bytes_per_second * part.core_hops).sum();
    Capacity::new(network, only_receiver).load(bytes, core_bytes)
}

/// Refuses parts that together ask for more than a host's link carries. The busiest link may be
/// that of a host that some parts send all their flows to, and that the others send to as to any
/// host.
pub(crate) fn check_together(parts: &[&Asked], network: &Network) -> Result<(), SettingError> {
    if parts.len() < 2 {
        return Ok(());
    }
    let everyones = Capacity::new(network, None).host_links;
    let of_all: Vec<&&Asked> = parts.iter().filter(|part| part.only_receiver.is_none()).collect();
    let of_all: f64 =
        of_all.iter().map(|part| part.bytes_per_second * part.host_hops / everyones).sum();
    let receivers = parts.iter().map(|part| part.only_receiver);
    for receiver in receivers {
        let mut busiest = of_all;
        if receiver.is_some() {
            let own = Capacity::new(network, receiver).host_links;
            let to_it = parts.iter().filter(|part| part.only_receiver == receiver);
            busiest += to_it.map(|part| part.bytes_per_second / own).sum::<f64>();
        }
        if busiest > 1.0 + ROUNDING {
            let problem = format!(
                "All parts together load a host's link by {busiest:.3}, and at most 1 is possible. \
                 Lower a `load`."
            );
            return Err(SettingError::sentence(&LOAD, problem));
        }
    }
    Ok(())
}

/// The load of `flows`, sorted by start, from the first start to the last. `None` if they all start
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
    // Without the flows at the last start, there are as many arrivals as gaps.
    let (mut bytes, mut core_bytes) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| flow.start < last) {
        let wire = wire_bytes(flow.size).get() as f64;
        let host_hops = match only_receiver {
            Some(_) => 1,
            None => network.host_hops(flow.src, flow.dst),
        };
        bytes += wire * f64::from(host_hops);
        core_bytes += wire * f64::from(network.core_hops(flow.src, flow.dst));
    }
    Some(Capacity::new(network, only_receiver).load(bytes / seconds, core_bytes / seconds))
}
