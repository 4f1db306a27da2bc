//! How a packet's port is chosen among equal-cost ones.

use flowsched_units::{Kind, Parameter};

use crate::ids::{HostId, NodeId, PortId};
use crate::network::Network;

/// The choice among equal-cost ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// By a seeded hash of the flow: all its packets take one path.
    Ecmp,
    /// By a choice for each packet.
    Spray,
}

/// The parameter `routing`, which every topology has beside its own.
pub const ROUTING: Parameter = Parameter {
    name: "routing",
    kind: Kind::Choice(&["ecmp", "spray"]),
    default: Some("ecmp"),
    about: "How a packet's path is chosen among equal ones: by a hash of its flow, or packet by \
            packet.",
    source: "RFC 2992; PIAS ToN 2017, V-C sprays",
};

impl Routing {
    /// The routing that the word stands for.
    pub fn from_word(word: &str) -> Option<Routing> {
        match word {
            "ecmp" => Some(Routing::Ecmp),
            "spray" => Some(Routing::Spray),
            _ => None,
        }
    }

    /// The word for it in an experiment file.
    pub const fn word(self) -> &'static str {
        match self {
            Routing::Ecmp => "ecmp",
            Routing::Spray => "spray",
        }
    }
}

/// Paths by a seeded hash of the flow, the direction and the switch, as if each flow had its own
/// TCP ports; the same in every engine.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp {
    seed: u64,
}

impl Ecmp {
    /// The hash of a run.
    pub fn new(seed: u64) -> Ecmp {
        Ecmp { seed: mix(seed) }
    }

    /// The port through which `node` sends packets of this `way`: one of `ports`, of which there is
    /// at least one.
    #[inline]
    pub fn choose(self, node: NodeId, way: Way, ports: &[PortId]) -> PortId {
        let key = (u64::from(way.flow) << 1) | u64::from(way.is_back);
        let path = u64::from(way.path) << 33;
        let hash = mix(self.seed ^ key ^ path ^ (u64::from(node.0) << 40));
        // The high bits, scaled to the number of ports: no division, and no branch where there is
        // one port only, which costs more than the hash.
        ports[(((hash >> 32) * ports.len() as u64) >> 32) as usize]
    }

    /// The path that packets of this `way` take where paths are taken whole: one of `paths`, of
    /// which there is at least one, the shortest first. Ways with different path numbers get
    /// different
    /// paths, as far as there are enough. The flow decides which of equally long paths comes first,
    /// so that not all flows take the same links.
    #[inline]
    pub fn choose_path(self, way: Way, paths: &[Vec<PortId>]) -> &[PortId] {
        let place = way.path as usize % paths.len();
        let length = paths[place].len();
        let first = paths.partition_point(|path| path.len() < length);
        let alike = paths.partition_point(|path| path.len() <= length) - first;
        let turn = (mix(self.seed ^ u64::from(way.flow)) >> 32) as usize;
        &paths[first + (place - first + turn) % alike]
    }

    /// The ports that the data of `flow` passes from `src` to `dst`.
    pub fn path(
        self,
        network: &Network,
        flow: u32,
        src: HostId,
        dst: HostId,
    ) -> impl Iterator<Item = PortId> + '_ {
        self.ports_of(network, Way { flow, path: 0, is_back: false }, src, dst)
    }

    /// The ports that packets of this `way` pass from `src` to `dst`.
    pub fn ports_of(
        self,
        network: &Network,
        way: Way,
        src: HostId,
        dst: HostId,
    ) -> impl Iterator<Item = PortId> + '_ {
        let next = move |node| self.choose(node, way, network.routes().next(node, dst));
        let first = if network.hosts_forward() { next(src.node()) } else { network.nic(src) };
        std::iter::successors(Some(first), move |port| {
            let node = network.port(*port).peer;
            (node != dst.node()).then(|| next(node))
        })
    }
}

/// What decides the path of a packet where paths are chosen by flow.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The flow.
    pub flow: u32,
    /// Which of the flow's paths.
    pub path: u32,
    /// Whether the packet goes to the flow's sender rather than from it.
    pub is_back: bool,
}

/// A fixed mixing of 64 bits (the finaliser of SplitMix64), for choices that need no stream of
/// random numbers.
#[inline]
pub const fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flowsched_units::Settings;

    use super::*;

    #[test]
    fn every_word_stands_for_a_routing() {
        let Kind::Choice(words) = ROUTING.kind else { panic!("routing is a choice") };
        for word in words {
            assert_eq!(Routing::from_word(word).map(Routing::word), Some(*word));
        }
        assert_eq!(Routing::from_word("shortest"), None);
    }
    #[test]
    fn a_flow_with_as_many_numbers_takes_every_path_the_shortest_first() {
        let settings = Settings::defaults(crate::kind("bcube").unwrap().parameters);
        let network = crate::build("bcube", &settings).unwrap();
        let mut paths = network.parallel_paths(HostId(0), HostId(3));
        paths.sort_by_key(Vec::len);
        let lengths: Vec<usize> = paths.iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 4, 8, 8]);
        let mut firsts = BTreeSet::new();
        for flow in 0..40 {
            let way = |path| Way { flow, path, is_back: false };
            let chosen: Vec<&[PortId]> =
                (0..4).map(|path| Ecmp::new(7).choose_path(way(path), &paths)).collect();
            assert!(chosen.iter().map(|path| path.len()).eq(lengths.iter().copied()));
            assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), 4);
            assert_eq!(Ecmp::new(7).choose_path(way(4), &paths), chosen[0], "around again");
            firsts.insert(chosen[0]);
        }
        assert_eq!(firsts.len(), 2, "flows begin with either of the shortest");
    }
}
