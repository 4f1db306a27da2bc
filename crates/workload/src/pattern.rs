//! Who sends to whom.

pub(crate) mod kinds;
pub(crate) mod parameters;
mod rule;

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};
use rand_chacha::ChaCha8Rng;

use crate::parameters::PATTERN;
use crate::racks::mean_core_hops_of_all_pairs;
use crate::random::stream;
use crate::turns::Turns;
use kinds::{NAMES, PATTERNS};
use parameters::SENDERS;
use rule::{Incast, Pairs, Rule};

/// A pattern on a network, ready to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    hosts: u32,
    rule: Rule,
    /// The senders in turn, unless they are drawn.
    turns: Option<Turns>,
    random: ChaCha8Rng,
}

impl Pattern {
    pub(crate) fn from_settings(
        settings: &Settings,
        network: &Network,
        seed: u64,
        part: u64,
    ) -> Result<Pattern, SettingError> {
        let hosts = network.host_count();
        let name = settings.text(&PATTERN);
        if hosts < 2 {
            let problem = "The topology has one host, and a flow needs two. Add hosts.";
            return Err(SettingError::sentence(&PATTERN, problem));
        }
        let Some(kind) = PATTERNS.iter().find(|kind| kind.name == name) else {
            return Err(SettingError::new(&PATTERN, name, NAMES.join(", ")));
        };
        let mut random = stream(seed, "pairs", part);
        let rule = (kind.rule)(settings, network, &mut random)?;
        let receiver = match rule {
            Rule::One(Pairs::ManyToOne { receiver }) => Some(receiver),
            _ => None,
        };
        let turns = settings.is(&SENDERS, "in-turn").then(|| Turns::new(hosts, receiver));
        Ok(Pattern { hosts, rule, turns, random })
    }

    /// How many flows an arrival brings.
    pub(crate) fn flows_at_once(&self) -> u32 {
        match self.rule {
            Rule::Incast(Incast { degree, .. }) => degree,
            Rule::One(_) => 1,
        }
    }

    /// The host that receives all flows, if there is one.
    pub(crate) fn only_receiver(&self) -> Option<HostId> {
        match self.rule {
            Rule::Incast(Incast { receiver, .. }) => receiver,
            Rule::One(Pairs::ManyToOne { receiver }) => Some(receiver),
            Rule::One(_) => None,
        }
    }

    /// Senders and receivers of the next arrival's flows.
    pub(crate) fn draw(&mut self) -> Vec<(HostId, HostId)> {
        match &self.rule {
            Rule::Incast(incast) => incast.draw(self.hosts, &mut self.random),
            Rule::One(pairs) => {
                let src = match &mut self.turns {
                    Some(turns) => turns.next(&mut self.random),
                    None => pairs.sender(self.hosts, &mut self.random),
                };
                vec![pairs.ends(src, self.hosts, &mut self.random)]
            }
        }
    }

    /// The mean number of core links that a flow crosses, over all flows that can be drawn.
    pub(crate) fn mean_core_hops(&self, network: &Network) -> f64 {
        let hops = |(src, dst)| network.core_hops(src, dst);
        if let Some(dst) = self.only_receiver() {
            let others = network.hosts().filter(|src| *src != dst);
            return mean(others.map(|src| hops((src, dst))));
        }
        match &self.rule {
            Rule::One(Pairs::Staggered(racks)) => racks.mean_core_hops(network),
            _ => match self.pairs() {
                Some(pairs) => mean(pairs.into_iter().map(hops)),
                None => mean_core_hops_of_all_pairs(network),
            },
        }
    }

    /// The mean number of hosts that send a flow on its way, over all flows that can be drawn. If
    /// there is one receiver, only hosts that send to it count.
    pub(crate) fn mean_host_hops(&self, network: &Network) -> f64 {
        if !network.hosts_forward() || self.only_receiver().is_some() {
            return 1.0;
        }
        let hops = |(src, dst)| network.host_hops(src, dst);
        // Where hosts forward, on a BCube, they are alike: of many, the first stands for all.
        let sources = if self.hosts > MANY_HOSTS { 1 } else { self.hosts };
        match (&self.rule, self.pairs()) {
            (_, Some(pairs)) => mean(pairs.into_iter().map(hops)),
            (Rule::One(Pairs::Staggered(racks)), _) => {
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
            Rule::One(Pairs::Permutation { partners }) => {
                Some(hosts.zip(partners.iter().copied()).collect())
            }
            Rule::One(Pairs::Stride { stride }) => {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::rule::derangement;
    use super::*;

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
        for (pairs, is_of_it) in [
            (Pairs::Rising, (|(src, dst)| src < dst) as fn((HostId, HostId)) -> bool),
            (Pairs::Falling, |(src, dst)| src > dst),
        ] {
            let rule = Rule::One(pairs);
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
