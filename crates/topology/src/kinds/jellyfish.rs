//! Switches connected at random, each to as many others.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use crate::builder::NetworkBuilder;
use crate::kind::{self, MANY, Size, TopologyKind, core_link, count, host_link, parameter};
use crate::parallel::Parallel;
use crate::regular_graph::random_regular;

const PDQ: &str = "PDQ 2012, Figure 8d: 24 ports, two to switches for one to a server";
const DELAYS: &str = "as in single-rooted-tree, PDQ 2012, Figure 2";

const SWITCHES: Parameter = parameter(
    "switches",
    Kind::Count { from: 1, to: MANY },
    "20",
    "Switches.",
    "none: 160 servers, near PDQ's 128",
);

const PORTS: Parameter =
    parameter("ports", Kind::Count { from: 1, to: MANY }, "24", "Ports of a switch.", PDQ);

const DEGREE: Parameter = parameter(
    "degree",
    Kind::Count { from: 0, to: MANY },
    "16",
    "Ports of a switch that lead to other switches; every other port has a server.",
    PDQ,
);

const GRAPH_SEED: Parameter = parameter(
    "graph_seed",
    Kind::Count { from: 0, to: 1 << 53 },
    "1",
    "The seed of the graph, which all runs share.",
    "the project",
);

const PATHS: Parameter = parameter(
    "paths",
    Kind::Count { from: 1, to: 64 },
    "8",
    "Number of shortest paths of a pair that count as parallel paths.",
    "Jellyfish, NSDI 2012, 5: 8 shortest paths",
);

const LINK: Parameter =
    parameter("link", Kind::Rate, "1Gbps", "Rate of every link.", "PDQ 2012, Figure 2");

const LINK_DELAY: Parameter =
    Parameter { default: Some("25.1us"), source: DELAYS, ..kind::LINK_DELAY };

const HOST_DELAY: Parameter =
    Parameter { default: Some("0us"), source: DELAYS, ..kind::HOST_DELAY };

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "jellyfish",
    about: "A random regular graph of switches, with servers at the remaining ports; the shortest \
            paths of a pair count as parallel paths, whatever their lengths.",
    source: "Jellyfish, NSDI 2012; PDQ 2012, 5.5",
    parameters: &[SWITCHES, PORTS, DEGREE, GRAPH_SEED, PATHS, LINK, LINK_DELAY, HOST_DELAY],
    connect,
};

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let [switches, ports, degree] =
        [&SWITCHES, &PORTS, &DEGREE].map(|parameter| count(settings, parameter));
    check_degree(switches, ports, degree)?;
    let size = Size {
        hosts: u64::from(switches) * u64::from(ports - degree),
        core_links: u64::from(switches) * u64::from(degree) / 2,
        edge_switches: switches.into(),
        switches: switches.into(),
    };
    size.check(&SWITCHES, settings)?;
    let links = random_regular(switches, degree, settings.count(&GRAPH_SEED)).ok_or_else(|| {
        let found = format!("{degree}, with which no connected graph of {switches} was found");
        SettingError::new(&DEGREE, found, "another degree or graph_seed")
    })?;

    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", switches);
    for switch in &switches {
        builder.hosts(ports - degree, *switch, host_link(settings, &LINK));
    }
    for (one, other) in links {
        let [one, other] = [one, other].map(|index| switches[index as usize]);
        builder.connect(one, other, core_link(settings, &LINK));
    }
    builder.parallel(Parallel::KShortest(settings.count(&PATHS) as usize));
    Ok(builder)
}

/// Refuses degrees of which there is no connected regular graph.
fn check_degree(switches: u32, ports: u32, degree: u32) -> Result<(), SettingError> {
    let refuse = |found: String, allowed: String| Err(SettingError::new(&DEGREE, found, allowed));
    if degree >= ports {
        let found = format!("{degree} of {ports} ports");
        return refuse(found, "fewer, so that there are servers".into());
    }
    if degree >= switches {
        let found = format!("{degree}, for {switches} switches");
        return refuse(found, format!("at most {}, all others", switches - 1));
    }
    if u64::from(switches) * u64::from(degree) % 2 == 1 {
        let found = format!("{degree}, for {switches} switches: an odd number of ends of links");
        return refuse(found, "an even degree, or an even number of switches".into());
    }
    let is_apart = match degree {
        0 => switches > 1,
        1 => switches > 2,
        _ => false,
    };
    if is_apart {
        let found = format!("{degree}, which leaves {switches} switches apart");
        return refuse(found, "at least 2".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flowsched_units::Value;

    use super::*;
    use crate::{Network, build, kind};

    fn jellyfish(counts: &[(&str, u64)]) -> Result<Network, SettingError> {
        let mut settings = Settings::defaults(kind("jellyfish").unwrap().parameters);
        for (key, count) in counts {
            settings.set(*key, Value::Count(*count));
        }
        build("jellyfish", &settings)
    }

    #[test]
    fn every_switch_has_as_many_servers_and_neighbours() {
        let network = jellyfish(&[]).unwrap();
        assert_eq!(network.host_count(), 160);
        for switch in network.switches() {
            let ports = network.ports_of(switch);
            let servers =
                ports.iter().filter(|port| network.host(network.port(**port).peer).is_some());
            assert_eq!((servers.count(), ports.len()), (8, 24));
        }
    }

    #[test]
    fn the_seed_makes_the_graph() {
        let ends = |seed| {
            let network = jellyfish(&[("graph_seed", seed), ("degree", 4)]).unwrap();
            network.ports().iter().map(|port| (port.owner, port.peer)).collect::<Vec<_>>()
        };
        assert_eq!(ends(1), ends(1));
        assert_ne!(ends(1), ends(2));
    }

    #[test]
    fn degrees_without_a_regular_graph_are_refused() {
        let bad: [&[(&str, u64)]; 5] = [
            &[("degree", 24)],
            &[("degree", 20)],
            &[("switches", 7), ("degree", 3)],
            &[("degree", 0)],
            &[("degree", 1)],
        ];
        for counts in bad {
            assert_eq!(jellyfish(counts).unwrap_err().key, "degree", "{counts:?}");
        }
        for (switches, degree) in [(1, 0), (2, 1), (3, 2), (20, 19), (50, 2), (9, 4)] {
            let network = jellyfish(&[("switches", switches), ("degree", degree)]);
            assert!(network.is_ok(), "{switches} {degree}");
        }
    }
}
