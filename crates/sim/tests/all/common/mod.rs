//! What the tests of the engine share: scenes, schemes and the reference results.

pub mod boxed;
pub mod ledger;
pub mod observed;
pub mod one_link;

use std::path::PathBuf;

use boxed::Boxed;
use flowsched_schemes::combination::Combination;
use flowsched_schemes::controller::{NoController, Site};
use flowsched_schemes::port::Port;
use flowsched_schemes::tagger::AnyTagger;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::{Packet, Parts, Scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, LOSS, Network, Routing};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::Flow;

/// A preset with some parameters changed, each as it would be written in a file.
pub fn scheme(preset: &str, compat: &str, changes: &[(&str, &str)]) -> Scheme {
    let combination = Combination::new(preset, [None; 4]).unwrap();
    let mut settings = combination.defaults(compat);
    for (name, text) in changes {
        let parameter = combination
            .parameters()
            .find(|parameter| parameter.name == *name)
            .unwrap_or_else(|| panic!("{preset} has no {name}"));
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    Scheme::from_settings(&settings).unwrap()
}

/// A preset with thresholds that random flows cross, where it has any.
pub fn scheme_of(preset: &str, changes: &[(&str, &str)]) -> Scheme {
    let thresholds: &[(&str, &str)] = match preset {
        "pias" | "tcp8q" => &[("thresholds", "5pkt 10pkt 20pkt 40pkt 80pkt 160pkt 320pkt")],
        "tcp2q" => &[("thresholds", "20pkt")],
        _ => &[],
    };
    scheme(preset, "none", &[thresholds, changes].concat())
}

/// Two racks of three hosts.
pub fn small_fabric() -> Network {
    network("leaf-spine", &[("leaves", "2"), ("hosts_per_leaf", "3"), ("spines", "2")])
}

/// A topology with some parameters changed.
pub fn network(kind: &str, changes: &[(&str, &str)]) -> Network {
    let kind = flowsched_topology::kind(kind).unwrap();
    let mut settings = Settings::defaults(kind.parameters.iter().chain(LOSS));
    for (name, text) in changes {
        let parameter = kind
            .parameters
            .iter()
            .chain(LOSS)
            .find(|parameter| parameter.name == *name)
            .unwrap_or_else(|| panic!("{} has no {name}", kind.name));
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    flowsched_topology::build(kind.name, &settings).unwrap()
}

/// A flow of `packets` full packets.
pub fn flow(id: u32, src: u32, dst: u32, packets: u64, start: Time) -> Flow {
    let size = Bytes::new(packets * 1460);
    Flow::new(id, HostId(src), HostId(dst), size, start)
}

/// Runs flows under a scheme to the end.
pub fn run(network: &Network, routing: Routing, flows: &[Flow], scheme: &Scheme) -> Outcome {
    let job = Job { network, routing, flows, seed: 1, sample_interval: Time::ZERO, until: None };
    flowsched_sim::run(&job, scheme, &Progress::default())
}

/// Runs a job to its end with a transport and ports in place of the scheme's own. `new_port` is
/// called once for every port of the network, in their order.
pub fn run_with<T: Transport<Header = ()>, P: Port<Packet> + 'static>(
    job: &Job<'_>,
    scheme: &Scheme,
    transport: T,
    new_port: impl Fn() -> P,
    progress: &Progress,
) -> Outcome {
    let tagger: AnyTagger = scheme.part().expect("a tagger that needs no controller");
    let (ports, controllers) = (|_: Site| Boxed::new(new_port()), |_: Site| NoController);
    flowsched_sim::run_parts(job, Parts { transport, tagger, ports, controllers }, progress)
}

/// One row of a reference result.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub flow: Flow,
    pub fct: Time,
    pub timeouts: u32,
}

/// Reads one of the files of the PIAS authors' simulator's results.
pub fn reference(file: &str) -> Vec<Reference> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .skip(1)
        .enumerate()
        .map(|(id, line)| {
            let fields: Vec<&str> = line.split(',').collect();
            let number = |index: usize| fields[index].parse::<f64>().unwrap();
            let start = Time::from_secs_f64(number(0) - 1.0);
            Reference {
                flow: flow(id as u32, number(1) as u32, number(2) as u32, number(3) as u64, start),
                fct: Time::from_secs_f64(number(4)),
                timeouts: number(5) as u32,
            }
        })
        .collect()
}

/// The settings value of a size list.
pub fn sizes(packets: &[u64]) -> Value {
    Value::Sizes(packets.iter().map(|count| Bytes::new(count * 1460)).collect())
}
