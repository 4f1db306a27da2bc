//! The workloads that come with the program.

use flowsched_units::PACKET_PAYLOAD;

use super::SizeDistribution;
use super::law::Law;
use super::packets::Packets;
use super::table::{Point, Table};

/// What the sizes of a built-in table count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeUnit {
    Byte,
    /// Packets of 1460 B.
    Packet,
}

/// A distribution that has a name.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name, as in the experiment file.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// Where the points come from.
    pub source: &'static str,
    unit: SizeUnit,
    points: &'static [(u32, f64)],
}

impl BuiltIn {
    /// The distribution.
    pub fn sizes(&self) -> SizeDistribution {
        let unit = match self.unit {
            SizeUnit::Byte => 1.0,
            SizeUnit::Packet => PACKET_PAYLOAD as f64,
        };
        let point =
            |&(size, cumulative): &(u32, f64)| Point::new(f64::from(size) * unit, cumulative);
        let table = Table::new(self.points.iter().map(point));
        let packets = match self.unit {
            SizeUnit::Byte => None,
            SizeUnit::Packet => Packets::new(table.clone()),
        };
        SizeDistribution { law: packets.map_or(Law::Table(table), Law::Packets) }
    }
}

/// The built-in distributions. The packet and the byte version of a workload are not the same
/// distribution in other units: they differ in the head and, for data mining, in the tail.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "web-search-packets",
        about: "web search in whole packets: 15% of 6 packets, 3% over 6667, mean 1140.98 packets",
        source: "packet simulations of PIAS (ToN 2017, V-C) and pFabric",
        unit: SizeUnit::Packet,
        points: &[
            (6, 0.0),
            (6, 0.15),
            (13, 0.2),
            (19, 0.3),
            (33, 0.4),
            (53, 0.53),
            (133, 0.6),
            (667, 0.7),
            (1333, 0.8),
            (3333, 0.9),
            (6667, 0.97),
            (20_000, 1.0),
        ],
    },
    BuiltIn {
        name: "web-search-bytes",
        about: "web search in bytes: 53% up to 80 KB, 3% over 10 MB, mean 1,711,250 B",
        source: "testbed traffic generator of PIAS, many ns-3 simulations",
        unit: SizeUnit::Byte,
        points: &[
            (0, 0.0),
            (10_000, 0.15),
            (20_000, 0.2),
            (30_000, 0.3),
            (50_000, 0.4),
            (80_000, 0.53),
            (200_000, 0.6),
            (1_000_000, 0.7),
            (2_000_000, 0.8),
            (5_000_000, 0.9),
            (10_000_000, 0.97),
            (30_000_000, 1.0),
        ],
    },
    BuiltIn {
        name: "data-mining-packets",
        about: "data mining in whole packets: half of 1 packet, 1% over 66,667, mean 5116.6 packets",
        source: "packet simulations of PIAS (ToN 2017, V-C) and pFabric",
        unit: SizeUnit::Packet,
        points: &[
            (1, 0.0),
            (1, 0.5),
            (2, 0.6),
            (3, 0.7),
            (7, 0.8),
            (267, 0.9),
            (2107, 0.95),
            (66_667, 0.99),
            (666_667, 1.0),
        ],
    },
    BuiltIn {
        name: "data-mining-bytes",
        about: "data mining in bytes: half up to 1100 B, 2% over 100 MB, mean 12,658,199 B",
        source: "testbed traffic generator of PIAS",
        unit: SizeUnit::Byte,
        points: &[
            (0, 0.0),
            (180, 0.1),
            (216, 0.2),
            (560, 0.3),
            (900, 0.4),
            (1_100, 0.5),
            (1_870, 0.6),
            (3_160, 0.7),
            (10_000, 0.8),
            (400_000, 0.9),
            (3_160_000, 0.95),
            (100_000_000, 0.98),
            (1_000_000_000, 1.0),
        ],
    },
    BuiltIn {
        name: "university-packets",
        about: "a university's data centre in whole packets: half of 1 packet, at most 2107, \
                mean 195,357 B",
        source: "Benson et al., IMC 2010, as used in packet simulations",
        unit: SizeUnit::Packet,
        points: &[
            (1, 0.0),
            (1, 0.5),
            (2, 0.6),
            (3, 0.7),
            (5, 0.75),
            (7, 0.8),
            (40, 0.8125),
            (72, 0.825),
            (137, 0.85),
            (267, 0.9),
            (1_187, 0.95),
            (2_107, 1.0),
        ],
    },
];
