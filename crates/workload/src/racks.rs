//! Hosts by rack: means over all pairs, and receivers that are near or far.

use std::collections::BTreeMap;

use flowsched_topology::{HostId, Network, NodeId};
use flowsched_units::SettingError;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::pattern::parameters::SAME_RACK;

/// The hosts of each rack, and how likely a receiver is in the sender's own one.
#[derive(Clone, Debug)]
pub(crate) struct Racks {
    same_rack: f64,
    /// All hosts, rack by rack.
    hosts: Vec<HostId>,
    /// For each host, where its rack begins and ends among `hosts`, and its own place there.
    places: Vec<(usize, usize, usize)>,
}

impl Racks {
    /// The racks of `network`.
    ///
    /// # Errors
    /// [`SettingError`] if some host is alone in its rack, or has no host outside it, and would
    /// have to send there.
    pub(crate) fn new(network: &Network, same_rack: f64) -> Result<Racks, SettingError> {
        let mut hosts = Vec::new();
        let mut places = vec![(0, 0, 0); network.host_count() as usize];
        for rack in by_rack(network).into_values() {
            let (from, to) = (hosts.len(), hosts.len() + rack.len());
            for (index, host) in rack.iter().enumerate() {
                places[host.index()] = (from, to, from + index);
            }
            hosts.extend(rack);
        }
        let alone = places.iter().position(|(from, to, _)| to - from == 1);
        if let Some(host) = alone.filter(|_| same_rack > 0.0) {
            let found = format!("{same_rack}, and host {host} is alone in its rack");
            return Err(SettingError::new(&SAME_RACK, found, "0, or racks of at least 2 hosts"));
        }
        if same_rack < 1.0 && places.first().is_some_and(|(from, to, _)| to - from == hosts.len()) {
            let found = format!("{same_rack}, and all hosts are in one rack");
            return Err(SettingError::new(&SAME_RACK, found, "1, or a topology of several racks"));
        }
        Ok(Racks { same_rack, hosts, places })
    }

    /// Draws a receiver for `src`. The hosts of its rack are equally likely, and so are those
    /// outside it.
    pub(crate) fn receiver(&self, src: HostId, random: &mut ChaCha8Rng) -> HostId {
        let (from, to, own) = self.places[src.index()];
        if random.random_bool(self.same_rack) {
            let other = random.random_range(from..to - 1);
            return self.hosts[if other < own { other } else { other + 1 }];
        }
        let outside = random.random_range(0..self.hosts.len() - (to - from));
        self.hosts[if outside < from { outside } else { outside + to - from }]
    }

    /// The probability that a flow of `src` is to `dst`, another host.
    pub(crate) fn probability(&self, src: HostId, dst: HostId) -> f64 {
        let (from, to, _) = self.places[src.index()];
        if (from..to).contains(&self.places[dst.index()].2) {
            return self.same_rack / (to - from - 1) as f64;
        }
        (1.0 - self.same_rack) / (self.hosts.len() - (to - from)) as f64
    }

    /// The mean number of core links that a flow crosses.
    pub(crate) fn mean_core_hops(&self, network: &Network) -> f64 {
        if self.same_rack == 1.0 {
            return 0.0;
        }
        let racks = by_rack(network);
        let first: Vec<HostId> = racks.values().map(|hosts| hosts[0]).collect();
        // By receiver's rack, then by sender's; small numbers, for there may be many racks.
        let small = |hops: u32| u16::try_from(hops).unwrap_or(u16::MAX);
        let hops_to = |to: &HostId| network.core_hops_from(&first, *to).into_iter().map(small);
        let hops: Vec<Vec<u16>> = first.iter().map(|to| hops_to(to).collect()).collect();
        let hosts = f64::from(network.host_count());
        let mean_from = |rack: usize, size: usize| {
            let outside = hosts - size as f64;
            racks
                .values()
                .enumerate()
                .filter(|(other, _)| *other != rack)
                .map(|(other, to)| to.len() as f64 / outside * f64::from(hops[other][rack]))
                .sum::<f64>()
        };
        let mean: f64 = racks
            .values()
            .enumerate()
            .map(|(rack, from)| from.len() as f64 / hosts * mean_from(rack, from.len()))
            .sum();
        (1.0 - self.same_rack) * mean
    }
}

/// The hosts at each edge switch, in order.
fn by_rack(network: &Network) -> BTreeMap<NodeId, Vec<HostId>> {
    let mut racks = BTreeMap::new();
    for host in network.hosts() {
        racks.entry(network.edge_of(host)).or_insert_with(Vec::new).push(host);
    }
    racks
}

/// The mean number of core links over all pairs of different hosts, computed rack by rack.
pub(crate) fn mean_core_hops_of_all_pairs(network: &Network) -> f64 {
    let racks = by_rack(network);
    let first: Vec<HostId> = racks.values().map(|hosts| hosts[0]).collect();
    let mut hops = 0;
    for to in racks.values() {
        let from_all = network.core_hops_from(&first, to[0]);
        for (from, hops_from) in racks.values().zip(from_all) {
            hops += (from.len() * to.len()) as u64 * u64::from(hops_from);
        }
    }
    let hosts = u64::from(network.host_count());
    hops as f64 / (hosts * (hosts - 1)) as f64
}

#[cfg(test)]
mod tests {
    use flowsched_topology::{build, kind};
    use flowsched_units::Settings;
    use rand::Rng;

    use super::*;
    use crate::random::stream;

    #[test]
    fn mean_hops_rack_by_rack_are_those_host_by_host() {
        for name in ["leaf-spine", "fat-tree", "single-rooted-tree", "star", "dumbbell"] {
            let settings = Settings::defaults(kind(name).unwrap().parameters);
            let network = build(name, &settings).unwrap();
            let (mut hops, mut pairs) = (0.0, 0.0);
            for src in network.hosts() {
                for dst in network.hosts().filter(|dst| *dst != src) {
                    hops += f64::from(network.core_hops(src, dst));
                    pairs += 1.0;
                }
            }
            assert_eq!(mean_core_hops_of_all_pairs(&network), hops / pairs, "{name}");
        }
    }

    #[test]
    fn hops_from_all_are_those_one_by_one() {
        for name in ["leaf-spine", "fat-tree", "bcube", "jellyfish", "dumbbell"] {
            let settings = Settings::defaults(kind(name).unwrap().parameters);
            let network = build(name, &settings).unwrap();
            let hosts: Vec<HostId> = network.hosts().collect();
            for dst in &hosts {
                let one_by_one: Vec<u32> =
                    hosts.iter().map(|src| network.core_hops(*src, *dst)).collect();
                let others = |hops: &[u32]| -> Vec<u32> {
                    let pairs = hosts.iter().zip(hops);
                    pairs.filter(|(src, _)| *src != dst).map(|(_, hops)| *hops).collect()
                };
                let together = network.core_hops_from(&hosts, *dst);
                assert_eq!(others(&together), others(&one_by_one), "{name}");
            }
        }
    }

    #[test]
    fn receivers_are_in_the_rack_as_often_as_asked_and_elsewhere_evenly() {
        let settings = Settings::defaults(kind("single-rooted-tree").unwrap().parameters);
        let tree = build("single-rooted-tree", &settings).unwrap();
        let mut random = stream(1, "test", 0);
        for same_rack in [0.0, 0.3, 0.7, 1.0] {
            let racks = Racks::new(&tree, same_rack).unwrap();
            let count = 30_000;
            let (mut by_receiver, mut hops) = (vec![0u32; 12], 0);
            for _ in 0..count {
                let src = HostId(random.random_range(3..6));
                let dst = racks.receiver(src, &mut random);
                assert_ne!(src, dst);
                by_receiver[dst.index()] += 1;
                hops += tree.core_hops(src, dst);
            }
            for (host, found) in by_receiver.iter().enumerate() {
                let own = (3..6).contains(&host);
                let expected = if own { same_rack / 3.0 } else { (1.0 - same_rack) / 9.0 };
                let found = f64::from(*found) / f64::from(count);
                assert!((found - expected).abs() < 0.01, "{same_rack}, host {host}: {found}");
            }
            let found = f64::from(hops) / f64::from(count);
            assert!((found - racks.mean_core_hops(&tree)).abs() < 0.02, "{same_rack}: {found}");
        }
    }

    #[test]
    fn racks_that_cannot_be_sent_to_are_refused() {
        let star = build("star", &Settings::defaults(kind("star").unwrap().parameters)).unwrap();
        assert_eq!(Racks::new(&star, 0.7).unwrap_err().key, "same_rack");
        assert!(Racks::new(&star, 1.0).is_ok());
        let mut settings = Settings::defaults(kind("dumbbell").unwrap().parameters);
        settings.set("hosts_per_side", flowsched_units::Value::Count(1));
        let alone = build("dumbbell", &settings).unwrap();
        assert_eq!(Racks::new(&alone, 0.1).unwrap_err().key, "same_rack");
        assert!(Racks::new(&alone, 0.0).is_ok());
    }
}
