//! The `[probe]` of an experiment: which ports and flows are recorded over time, and when.
//!
//! What lives here: reading the table. What may not: recording, which belongs to the engine, and the
//! tables of what was recorded, which are in `results`.

use flowsched_topology::Network;
use flowsched_units::{Kind, Parameter, Settings, Time, Value};

use crate::document::Table;
use crate::engine::Engine;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};

/// The most flows that a probe may name. Each of them is examined after each event.
const MOST_FLOWS: usize = 1_000;

const PORTS: Parameter = Parameter {
    name: "ports",
    kind: Kind::Text,
    default: None,
    about: "The ports that are recorded, each by the two ends of its link as in ports.parquet: \"leaf 0 \
            to host 3; leaf 0 to spine 1\".",
    source: "the project",
};

const FLOWS: Parameter = Parameter {
    name: "flows",
    kind: Kind::Text,
    default: None,
    about: "The numbers of the flows that are recorded, as in flows.parquet, at most 1,000: \"0 5 17\".",
    source: "the project",
};

const INTERVAL: Parameter = Parameter {
    name: "interval",
    kind: Kind::Time,
    default: None,
    about: "Time from one row of a port or flow to the next. Without it, there is a row for each change.",
    source: "the project",
};

/// The keys of a `[probe]` table.
pub const PROBE: &[Parameter] = &[PORTS, FLOWS, INTERVAL];

/// The ports and flows that are recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeOfScene {
    /// The ports, by their places in the network.
    pub ports: Vec<u32>,
    /// The flows, by their numbers.
    pub flows: Vec<u32>,
    /// The time between rows. `None` means one row per change.
    pub interval: Option<Time>,
    /// The values of the keys that are given.
    pub(crate) settings: Settings,
}

/// Reads the table. `flow_count` is the number of flows, if known.
pub(crate) fn read(
    table: &Table,
    engine: Engine,
    network: Option<&Network>,
    flow_count: Option<u64>,
    mistakes: &mut Mistakes,
) -> Option<ProbeOfScene> {
    if engine == Engine::Fluid {
        let problem =
            "`[probe]` records the queues and windows of packets. It needs `engine = \"packet\"`.";
        mistakes.add(Mistake::new(&table.place, "probe", problem));
        return None;
    }
    let mut settings = Settings::new();
    let parameters: Vec<&Parameter> = PROBE.iter().collect();
    if !keys::check(table, &parameters, &mut settings, mistakes) {
        return None;
    }
    let interval = match settings.get(&INTERVAL) {
        Some(Value::Time(interval)) => Some(*interval),
        _ => None,
    };
    if interval == Some(Time::ZERO) {
        let allowed = "a time over 0, or no `interval` for each change";
        refuse(table, &INTERVAL, "\"0ps\"", allowed, mistakes);
    }
    if table.text(PORTS.name).is_none() && table.text(FLOWS.name).is_none() {
        let problem = "`[probe]` names neither `ports` nor `flows`. Name at least one.";
        mistakes.add(Mistake::new(&table.place, "probe", problem));
    }
    let ports = network.map(|network| ports(table, network, mistakes)).unwrap_or_default();
    let flows = flows(table, flow_count, mistakes);
    Some(ProbeOfScene { ports, flows, interval, settings })
}

fn ports(table: &Table, network: &Network, mistakes: &mut Mistakes) -> Vec<u32> {
    let text = table.text(PORTS.name).unwrap_or_default();
    let mut ports = Vec::new();
    for link in text.split(';').map(str::trim).filter(|link| !link.is_empty()) {
        match port(link, network) {
            Some(port) if ports.contains(&port) => {
                refuse(table, &PORTS, &format!("\"{link}\" twice"), "each port once", mistakes);
            }
            Some(port) => ports.push(port),
            None => {
                let allowed = "\"A to B\" for two ends of a link as ports.parquet names them, such as \
                               \"leaf 0 to host 3\", with \";\" between ports";
                refuse(table, &PORTS, &format!("\"{link}\""), allowed, mistakes);
            }
        }
    }
    ports
}

/// The port that sends over a link, given as `OWNER to PEER`.
fn port(link: &str, network: &Network) -> Option<u32> {
    let (owner, peer) = link.split_once(" to ")?;
    let is_it = |port: &flowsched_topology::LinkEnd| {
        network.name(port.owner) == owner.trim() && network.name(port.peer) == peer.trim()
    };
    network.ports().iter().position(is_it).map(|port| port as u32)
}

fn flows(table: &Table, flow_count: Option<u64>, mistakes: &mut Mistakes) -> Vec<u32> {
    let words: Vec<&str> = table.text(FLOWS.name).unwrap_or_default().split_whitespace().collect();
    if words.len() > MOST_FLOWS {
        let allowed = format!("at most {MOST_FLOWS}");
        refuse(table, &FLOWS, &format!("{} flows", words.len()), &allowed, mistakes);
        return Vec::new();
    }
    let last = flow_count.map(|count| count.saturating_sub(1));
    let mut flows = Vec::new();
    for word in words {
        let number = word.parse::<u32>().ok();
        match number.filter(|flow| last.is_none_or(|last| u64::from(*flow) <= last)) {
            Some(flow) if flows.contains(&flow) => {
                refuse(table, &FLOWS, &format!("\"{word}\" twice"), "each flow once", mistakes);
            }
            Some(flow) => flows.push(flow),
            None => {
                let to = last.map(|last| format!(" from 0 to {last}")).unwrap_or_default();
                let allowed = format!("numbers of flows{to}, with blanks between them");
                refuse(table, &FLOWS, &format!("\"{word}\""), &allowed, mistakes);
            }
        }
    }
    flows
}

fn refuse(
    table: &Table,
    parameter: &Parameter,
    found: &str,
    allowed: &str,
    mistakes: &mut Mistakes,
) {
    let (place, path) = (table.place_of(parameter.name), table.label_of(parameter.name));
    mistakes.add(Mistake::found(place, path, found, allowed));
}
