//! Who sends to whom.

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};
use rand::Rng;
use rand::seq::{SliceRandom, index};
use rand_chacha::ChaCha8Rng;

use crate::racks::{Racks, mean_core_hops_of_all_pairs};
use crate::random::stream;
use crate::turns::Turns;

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
        own_keys: &["senders"],
    },
    PatternKind {
        name: "rising",
        about: "Every flow is from a host to one of a higher number, all such pairs equally \
                likely.",
        source: "PIAS ToN 2017, V-C.4: flows from host i to j with i < j",
        own_keys: &[],
    },
    PatternKind {
        name: "falling",
        about: "Every flow is from a host to one of a lower number, all such pairs equally likely.",
        source: "PIAS ToN 2017, V-C.4",
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
        own_keys: &["senders"],
    },
    PatternKind {
        name: "many-to-one",
        about: "Every flow is from another host to the run's one receiver; with senders in turn \
                it is PDQ's aggregation.",
        source: "PIAS ToN 2017, V-A: one client fetches from 15 servers",
        own_keys: &["receiver", "senders"],
    },
    PatternKind {
        name: "stride",
        about: "Host x sends to host x + stride, counted around.",
        source: "PDQ 2012, 5.3",
        own_keys: &["stride", "senders"],
    },
    PatternKind {
        name: "staggered",
        about: "A host sends to another one in its rack with some probability, otherwise to one \
                in another rack.",
        source: "PDQ 2012, 5.3",
        own_keys: &["same_rack", "senders"],
    },
];

/// The names in [`PATTERNS`], for the parameter's kind.
pub(crate) const NAMES: &[&str] = &[
    "all-to-all",
    "rising",
    "falling",
    "incast",
    "permutation",
    "many-to-one",
    "stride",
    "staggered",
];

/// A pattern on a network, ready to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    hosts: u32,
    rule: Rule,
    /// The senders in turn, unless they are drawn.
    turns: Option<Turns>,
    random: ChaCha8Rng,
}

#[derive(Clone, Debug)]
enum Rule {
    AllToAll,
    Rising,
    Falling,
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
    Stride {
        stride: u32,
    },
    Staggered(Racks),
}

impl Pattern {
    pub(crate) fn from_settings(
        settings: &Settings,
        network: &Network,
        seed: u64,
        part: u64,
    ) -> Result<Pattern, SettingError> {
        let hosts = network.host_count();
        let name = settings.text("pattern");
        if hosts < 2 {
            let allowed = "a topology of at least 2 hosts, since flows are between two";
            return Err(SettingError::new("pattern", format!("{name} on {hosts} host"), allowed));
        }
        let mut random = stream(seed, "pairs", part);
        let rule = match name.as_str() {
            "all-to-all" => Rule::AllToAll,
            "rising" => Rule::Rising,
            "falling" => Rule::Falling,
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
            "stride" => Rule::Stride { stride: stride(settings, hosts)? },
            "staggered" => Rule::Staggered(Racks::new(network, settings.number("same_rack"))?),
            _ => return Err(SettingError::new("pattern", name, NAMES.join(", "))),
        };
        let in_turn = settings.text("senders") == "in-turn";
        let receiver = match rule {
            Rule::ManyToOne { receiver } => Some(receiver),
            _ => None,
        };
        let turns = in_turn.then(|| Turns::new(hosts, receiver));
        Ok(Pattern { hosts, rule, turns, random })
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
            _ => None,
        }
    }

    /// Senders and receivers of the next arrival's flows.
    pub(crate) fn draw(&mut self) -> Vec<(HostId, HostId)> {
        if let Rule::Incast { degree, receiver } = self.rule {
            let dst = receiver.unwrap_or_else(|| HostId(self.random.random_range(0..self.hosts)));
            let others = self.hosts as usize - 1;
            return index::sample(&mut self.random, others, degree as usize)
                .into_iter()
                .map(|other| (other_than(dst, other as u32), dst))
                .collect();
        }
        let src = self.sender();
        let dst = match &self.rule {
            Rule::AllToAll | Rule::Rising | Rule::Falling => {
                other_than(src, self.random.random_range(0..self.hosts - 1))
            }
            Rule::Permutation { partners } => partners[src.index()],
            Rule::ManyToOne { receiver } | Rule::Incast { receiver: Some(receiver), .. } => {
                *receiver
            }
            Rule::Incast { receiver: None, .. } => src,
            Rule::Stride { stride } => HostId((src.0 + stride) % self.hosts),
            Rule::Staggered(racks) => racks.receiver(src, &mut self.random),
        };
        let (low, high) = (src.min(dst), src.max(dst));
        vec![match self.rule {
            Rule::Rising => (low, high),
            Rule::Falling => (high, low),
            _ => (src, dst),
        }]
    }

    /// Who sends next.
    fn sender(&mut self) -> HostId {
        if let Some(turns) = &mut self.turns {
            return turns.next(&mut self.random);
        }
        match self.rule {
            Rule::ManyToOne { receiver } => {
                other_than(receiver, self.random.random_range(0..self.hosts - 1))
            }
            _ => HostId(self.random.random_range(0..self.hosts)),
        }
    }

    /// How many core links a flow crosses, on average over what can be drawn.
    pub(crate) fn mean_core_hops(&self, network: &Network) -> f64 {
        let hops = |(src, dst)| network.core_hops(src, dst);
        if let Some(dst) = self.only_receiver() {
            let others = network.hosts().filter(|src| *src != dst);
            return mean(others.map(|src| hops((src, dst))));
        }
        match &self.rule {
            Rule::Staggered(racks) => racks.mean_core_hops(network),
            _ => match self.pairs() {
                Some(pairs) => mean(pairs.into_iter().map(hops)),
                None => mean_core_hops_of_all_pairs(network),
            },
        }
    }

    /// How many hosts send a flow on its way, on average over what can be drawn; those that send
    /// to the one receiver, if there is one.
    pub(crate) fn mean_host_hops(&self, network: &Network) -> f64 {
        if !network.hosts_forward() || self.only_receiver().is_some() {
            return 1.0;
        }
        let hops = |(src, dst)| network.host_hops(src, dst);
        // Where hosts forward, on a BCube, they are alike: of many, the first stands for all.
        let sources = if self.hosts > MANY_HOSTS { 1 } else { self.hosts };
        match (&self.rule, self.pairs()) {
            (_, Some(pairs)) => mean(pairs.into_iter().map(hops)),
            (Rule::Staggered(racks), _) => {
                let weighted =
                    |(src, dst)| racks.probability(src, dst) * f64::from(hops((src, dst)));
                let sum: f64 = pairs_from(sources, self.hosts).map(weighted).sum();
                sum / f64::from(sources)
            }
            _ => mean(pairs_from(sources, self.hosts).map(hops)),
        }
    }

    /// Every sender with its one receiver, where each has one.
    fn pairs(&self) -> Option<Vec<(HostId, HostId)>> {
        let hosts = (0..self.hosts).map(HostId);
        match &self.rule {
            Rule::Permutation { partners } => Some(hosts.zip(partners.iter().copied()).collect()),
            Rule::Stride { stride } => {
                let receiver = |src: HostId| HostId((src.0 + stride) % self.hosts);
                Some(hosts.map(|src| (src, receiver(src))).collect())
            }
            _ => None,
        }
    }
}

/// Networks of more hosts have too many pairs to look at each.
const MANY_HOSTS: u32 = 1_024;

/// All pairs of one of the first `sources` hosts with another one of all `hosts`.
fn pairs_from(sources: u32, hosts: u32) -> impl Iterator<Item = (HostId, HostId)> {
    let others = move |src: HostId| (0..hosts).map(HostId).filter(move |dst| *dst != src);
    (0..sources).map(HostId).flat_map(move |src| others(src).map(move |dst| (src, dst)))
}

fn mean(counts: impl Iterator<Item = u32>) -> f64 {
    let (count, sum) =
        counts.fold((0u64, 0u64), |(count, sum), value| (count + 1, sum + u64::from(value)));
    sum as f64 / count as f64
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

/// How far around the receivers are; never all the way, where they would be the senders.
fn stride(settings: &Settings, hosts: u32) -> Result<u32, SettingError> {
    let stride = settings.count("stride");
    match u32::try_from(stride % u64::from(hosts)) {
        Ok(stride) if stride > 0 => Ok(stride),
        _ => {
            let found = format!("{stride}, with which each of {hosts} hosts sends to itself");
            let allowed = format!("a number that is not a multiple of {hosts}, such as 1");
            Err(SettingError::new("stride", found, allowed))
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
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_names_are_those_of_the_patterns() {
        assert!(PATTERNS.iter().map(|pattern| pattern.name).eq(NAMES.iter().copied()));
    }

    #[test]
    fn the_first_host_of_a_bcube_stands_for_all() {
        let kind = flowsched_topology::kind("bcube").unwrap();
        let mut settings = flowsched_units::Settings::defaults(kind.parameters);
        for (name, count) in [("n", 3), ("k", 2)] {
            settings.set(name, flowsched_units::Value::Count(count));
        }
        let network = flowsched_topology::build(kind.name, &settings).unwrap();
        let hosts = network.host_count();
        let mean_from = |sources| {
            mean(pairs_from(sources, hosts).map(|(src, dst)| network.host_hops(src, dst)))
        };
        assert_eq!((hosts, mean_from(1)), (27, mean_from(hosts)));
    }

    #[test]
    fn rising_and_falling_pairs_are_all_drawn_alike() {
        for (rule, is_of_it) in [
            (Rule::Rising, (|(src, dst)| src < dst) as fn((HostId, HostId)) -> bool),
            (Rule::Falling, |(src, dst)| src > dst),
        ] {
            let mut pattern = Pattern { hosts: 4, rule, turns: None, random: stream(1, "test", 0) };
            let mut counts = BTreeMap::new();
            for _ in 0..6_000 {
                let [pair] = pattern.draw()[..] else { panic!("one flow an arrival") };
                assert!(is_of_it(pair), "{pair:?}");
                *counts.entry(pair).or_insert(0) += 1;
            }
            // There are 6; 1000 each, within 5 standard deviations.
            assert_eq!(counts.len(), 6);
            assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
        }
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
