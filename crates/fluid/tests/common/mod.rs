//! What the tests of the engine share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use flowsched_fluid::{Job, Outcome, Progress};
use flowsched_schemes::controller::pdq::flow_controller::FlowControl;
use flowsched_schemes::controller::pdq::settings::PARAMETERS as PDQ_SWITCH;
use flowsched_schemes::flow_level::{Acceptance, Acknowledgements, Admission, FlowLevel, Sharing};
use flowsched_schemes::transport::pdq;
use flowsched_topology::{HostId, Link, Network, NetworkBuilder};
use flowsched_units::{Bytes, PACKET_HEADER, Rate, Settings, Time, Value};
use flowsched_workload::{Flow, PARAMETERS, generate, sizes::SizeDistribution, sizes::by_name};

/// The rate of the link that all flows share.
pub const BOTTLENECK: Rate = Rate::from_gbps(1);

/// The rate of the senders' links, the highest that the resolution of time allows.
const ACCESS: Rate = Rate::from_gbps(8_000);

/// Host 0 is behind the bottleneck, and the other hosts are senders. No link has a delay.
pub fn one_link(senders: u32) -> Network {
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.host(switch, Link { rate: BOTTLENECK, delay: Time::ZERO });
    builder.hosts(senders, switch, Link { rate: ACCESS, delay: Time::ZERO });
    builder.finish().unwrap()
}

/// A topology with some parameters changed.
pub fn network(kind: &str, changes: &[(&str, &str)]) -> Network {
    let kind = flowsched_topology::kind(kind).unwrap();
    let mut settings = Settings::defaults(kind.parameters);
    for (name, text) in changes {
        let parameter = kind.parameters.iter().find(|parameter| parameter.name == *name).unwrap();
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    flowsched_topology::build(kind.name, &settings).unwrap()
}

/// The links of PDQ 2012, Figure 2.
pub const LINKS: [(&str, &str); 2] = [("link", "1Gbps"), ("link_delay", "25.1us")];

/// A fat-tree of 16 hosts.
pub fn fat_tree() -> Network {
    network("fat-tree", &[LINKS.as_slice(), &[("k", "4")]].concat())
}

/// Flows with Poisson arrivals in this pattern.
pub fn flows(
    network: &Network,
    (pattern, load): (&str, f64),
    sizes: &SizeDistribution,
    count: u64,
    seed: u64,
) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("pattern", Value::Text(pattern.into()));
    if pattern == "many-to-one" {
        settings.set("receiver", Value::Text("0".into()));
    }
    settings.set("load", Value::Number(load));
    settings.set("flows", Value::Count(count));
    generate(&settings, network, sizes, seed).unwrap().flows
}

/// A random permutation of this many flows that start at once.
pub fn permutation(network: &Network, count: u64, sizes: &str, seed: u64) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("pattern", Value::Text("permutation".into()));
    settings.set("senders", Value::Text("in-turn".into()));
    settings.set("at", Value::Time(Time::ZERO));
    settings.set("flows", Value::Count(count));
    generate(&settings, network, &by_name(sizes).unwrap(), seed).unwrap().flows
}

/// A flow of `packets` full packets.
pub fn flow(id: u32, src: u32, dst: u32, packets: u64, start: Time) -> Flow {
    let size = Bytes::new(packets * 1460);
    Flow::new(id, HostId(src), HostId(dst), size, start)
}

/// A discipline without announcements and with usual headers.
pub fn scheme(sharing: Sharing) -> FlowLevel {
    let header = Bytes::new(PACKET_HEADER);
    let acknowledgements = Acknowledgements { size: header, packets: 1, same_way_back: false };
    FlowLevel {
        is_omniscient: sharing == Sharing::LEAST_TIME_LEFT_FIRST,
        sharing,
        link_share: 1.0,
        round_trips_before: 0,
        admission: Admission::AtOnce,
        header,
        acknowledgements,
        gives_up: false,
        subflows: None,
    }
}

/// The acceptance of PDQ with these parameters.
pub fn acceptance(dampening: f64, early_start: f64, probe_spacing: f64) -> Acceptance {
    let defaults = Settings::defaults(PDQ_SWITCH);
    let control = FlowControl::from_settings(&defaults);
    pdq::acceptance(&FlowControl { dampening, early_start, probe_spacing, ..control })
}

/// PDQ, with the time that its switches and hosts need to agree.
pub fn by_acceptance(dampening: f64, early_start: f64) -> FlowLevel {
    let acceptance = acceptance(dampening, early_start, 0.2);
    FlowLevel {
        admission: Admission::ByAcceptance(acceptance),
        ..scheme(Sharing::MOST_CRITICAL_FIRST)
    }
}

/// RCP, whose flows request their rates.
fn by_request() -> FlowLevel {
    FlowLevel { admission: Admission::ByRequest, ..scheme(Sharing::MaxMin) }
}

/// Every discipline, with thresholds where it has them, and the schemes whose flows hear of rates
/// late.
pub fn all_disciplines() -> Vec<FlowLevel> {
    let thresholds = || [10, 100, 1000].map(|packets| Bytes::new(packets * 1460)).to_vec();
    let disciplines = [
        Sharing::MaxMin,
        Sharing::BytesSent(thresholds()),
        Sharing::Sizes(thresholds()),
        Sharing::SHORTEST_FIRST,
        Sharing::SHORTEST_REMAINING_FIRST,
        Sharing::EARLIEST_DEADLINE_FIRST,
        Sharing::MOST_CRITICAL_FIRST,
        Sharing::Reservations,
        Sharing::LEAST_TIME_LEFT_FIRST,
    ];
    let late = [by_acceptance(0.5, 2.0), by_request()];
    disciplines.into_iter().map(scheme).chain(late).collect()
}

/// Runs to the end.
pub fn run(network: &Network, flows: &[Flow], scheme: &FlowLevel) -> Outcome {
    run_until(network, flows, scheme, Time::ZERO, None)
}

/// Runs with samples, until the end or until this time.
pub fn run_until(
    network: &Network,
    flows: &[Flow],
    scheme: &FlowLevel,
    sample_interval: Time,
    until: Option<Time>,
) -> Outcome {
    let job = Job { network, flows, scheme, seed: 1, sample_interval, until };
    flowsched_fluid::run(&job, &Progress::default())
}
