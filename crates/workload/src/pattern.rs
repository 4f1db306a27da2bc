//! Who sends to whom.

use std::collections::BTreeMap;

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};
use rand::Rng;
use rand::seq::{SliceRandom, index};
use rand_chacha::ChaCha8Rng;

use crate::random::stream;

/// A pattern that describes itself.
#[derive(Clone, Copy, Debug)]
pub struct PatternKind {
    /// Its name in the experiment file.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Who uses it.
    pub source: &'static str,
    /// The keys of [`crate::PARAMETERS`] that mean something to this pattern only.
    pub own_keys: &'static [&'static str],
}

/// Every pattern there is.
pub const PATTERNS: &[PatternKind] = &[
    PatternKind {
        name: "all-to-all",
        about: "Every flow is between two hosts drawn at random.",
        source: "PIAS ToN 2017, V-C",
        own_keys: &[],
    },
    PatternKind {
        name: "incast",
        about: "At every arrival, some hosts drawn at random send a flow each to one receiver.",
        source: "Slytherin 2018, V-D",
        own_keys: &["degree", "receiver"],
    },
    PatternKind {
        name: "permutation",
        about: "Every host sends to a partner of its own, drawn once for the run, and receives \
                from one host.",
        source: "PDQ 2012, 5.3",
        own_keys: &[],
    },
    PatternKind {
        name: "many-to-one",
        about: "Every flow is from a host drawn at random to the run's one receiver.",
        source: "PIAS ToN 2017, V-A: one client fetches from 15 servers",
        own_keys: &["receiver"],
    },
];

/// The names in [`PATTERNS`], for the parameter's kind.
pub(crate) const NAMES: &[&str] = &["all-to-all", "incast", "permutation", "many-to-one"];

/// A pattern on a network, ready to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    hosts: u32,
    rule: Rule,
    random: ChaCha8Rng,
}

#[derive(Clone, Debug)]
enum Rule {
    AllToAll,
    /// Without a receiver, a new one is drawn for every burst.
    Incast {
        degree: u32,
        receiver: Option<HostId>,
    },
    Permutation {
        partners: Vec<HostId>,
    },
    ManyToOne {
        receiver: HostId,
    },
}

impl Pattern {
    pub(crate) fn from_settings(
        settings: &Settings,
        network: &Network,
        seed: u64,
    ) -> Result<Pattern, SettingError> {
        let hosts = network.host_count();
        let name = settings.text("pattern");
        if hosts < 2 {
            let allowed = "a topology of at least 2 hosts, since flows are between two";
            return Err(SettingError::new("pattern", format!("{name} on {hosts} host"), allowed));
        }
        let mut random = stream(seed, "pairs", 0);
        let rule = match name.as_str() {
            "all-to-all" => Rule::AllToAll,
            "incast" => {
                let degree = degree(settings, hosts)?;
                Rule::Incast { degree, receiver: receiver(settings, hosts)? }
            }
            "permutation" => Rule::Permutation { partners: derangement(hosts, &mut random) },
            "many-to-one" => {
                let receiver = receiver(settings, hosts)?;
                let drawn = || HostId(random.random_range(0..hosts));
                Rule::ManyToOne { receiver: receiver.unwrap_or_else(drawn) }
            }
            _ => return Err(SettingError::new("pattern", name, NAMES.join(", "))),
        };
        Ok(Pattern { hosts, rule, random })
    }

    /// How many flows an arrival brings.
    pub(crate) fn flows_at_once(&self) -> u32 {
        match self.rule {
            Rule::Incast { degree, .. } => degree,
            _ => 1,
        }
    }

    /// The host that receives all flows, if there is one.
    pub(crate) fn only_receiver(&self) -> Option<HostId> {
        match self.rule {
            Rule::Incast { receiver, .. } => receiver,
            Rule::ManyToOne { receiver } => Some(receiver),
            Rule::AllToAll | Rule::Permutation { .. } => None,
        }
    }

    /// Senders and receivers of the next arrival's flows.
    pub(crate) fn draw(&mut self) -> Vec<(HostId, HostId)> {
        match &self.rule {
            Rule::AllToAll => {
                let src = HostId(self.random.random_range(0..self.hosts));
                let dst = other_than(src, self.random.random_range(0..self.hosts - 1));
                vec![(src, dst)]
            }
            Rule::Incast { degree, receiver } => {
                let dst =
                    receiver.unwrap_or_else(|| HostId(self.random.random_range(0..self.hosts)));
                let others = self.hosts as usize - 1;
                index::sample(&mut self.random, others, *degree as usize)
                    .into_iter()
                    .map(|other| (other_than(dst, other as u32), dst))
                    .collect()
            }
            Rule::Permutation { partners } => {
                let src = self.random.random_range(0..self.hosts);
                vec![(HostId(src), partners[src as usize])]
            }
            Rule::ManyToOne { receiver } => {
                let src = other_than(*receiver, self.random.random_range(0..self.hosts - 1));
                vec![(src, *receiver)]
            }
        }
    }

    /// How many core links a flow crosses, on average over what can be drawn.
    pub(crate) fn mean_core_hops(&self, network: &Network) -> f64 {
        let mean_over = |pairs: &mut dyn Iterator<Item = (HostId, HostId)>| {
            let (count, hops) = pairs.fold((0u64, 0u64), |(count, hops), (src, dst)| {
                (count + 1, hops + u64::from(network.core_hops(src, dst)))
            });
            hops as f64 / count as f64
        };
        if let Some(dst) = self.only_receiver() {
            let others = network.hosts().filter(|src| *src != dst);
            return mean_over(&mut others.map(|src| (src, dst)));
        }
        match &self.rule {
            Rule::Permutation { partners } => {
                mean_over(&mut network.hosts().zip(partners.iter().copied()))
            }
            _ => mean_core_hops_of_all_pairs(network),
        }
    }
}

/// The `index`th of the hosts other than `host`.
fn other_than(host: HostId, index: u32) -> HostId {
    HostId(if index < host.0 { index } else { index + 1 })
}

/// A permutation without a fixed point, all of them equally likely.
fn derangement(hosts: u32, random: &mut ChaCha8Rng) -> Vec<HostId> {
    let mut partners: Vec<HostId> = (0..hosts).map(HostId).collect();
    // About one permutation in e is a derangement, whatever the number of hosts.
    loop {
        partners.shuffle(random);
        if partners.iter().enumerate().all(|(host, partner)| host != partner.index()) {
            return partners;
        }
    }
}

/// The mean over all pairs of different hosts, rack by rack.
fn mean_core_hops_of_all_pairs(network: &Network) -> f64 {
    let mut racks = BTreeMap::new();
    for host in network.hosts() {
        racks.entry(network.edge_of(host)).or_insert((host, 0u64)).1 += 1;
    }
    let mut hops = 0;
    for &(src, senders) in racks.values() {
        for &(dst, receivers) in racks.values() {
            hops += senders * receivers * u64::from(network.core_hops(src, dst));
        }
    }
    let hosts = u64::from(network.host_count());
    hops as f64 / (hosts * (hosts - 1)) as f64
}

fn degree(settings: &Settings, hosts: u32) -> Result<u32, SettingError> {
    let degree = settings.count("degree");
    match u32::try_from(degree) {
        Ok(degree) if (1..hosts).contains(&degree) => Ok(degree),
        _ => {
            let allowed = format!("a number of senders from 1 to {}, all hosts but one", hosts - 1);
            Err(SettingError::new("degree", degree.to_string(), allowed))
        }
    }
}

/// The receiver that was asked for, or none for a random one.
fn receiver(settings: &Settings, hosts: u32) -> Result<Option<HostId>, SettingError> {
    let text = settings.text("receiver");
    if text == "random" {
        return Ok(None);
    }
    match text.parse() {
        Ok(host) if host < hosts => Ok(Some(HostId(host))),
        _ => {
            let allowed = format!("\"random\" or a host from 0 to {}", hosts - 1);
            Err(SettingError::new("receiver", format!("\"{text}\""), allowed))
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_topology::{build, kind};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_names_are_those_of_the_patterns() {
        assert!(PATTERNS.iter().map(|pattern| pattern.name).eq(NAMES.iter().copied()));
    }

    #[test]
    fn every_derangement_is_equally_likely() {
        let mut random = stream(1, "test", 0);
        let mut counts = BTreeMap::new();
        for _ in 0..9_000 {
            *counts.entry(derangement(4, &mut random)).or_insert(0) += 1;
        }
        // There are 9; 1000 each, within 5 standard deviations.
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

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

    proptest! {
        #[test]
        fn a_derangement_has_no_fixed_point_and_reaches_everyone(hosts in 2u32..200, seed: u64) {
            let partners = derangement(hosts, &mut stream(seed, "test", 0));
            let mut reached: Vec<HostId> = partners.clone();
            reached.sort();
            prop_assert!(reached.into_iter().eq((0..hosts).map(HostId)));
            for (host, partner) in partners.iter().enumerate() {
                prop_assert_ne!(host, partner.index());
            }
        }
    }
}
