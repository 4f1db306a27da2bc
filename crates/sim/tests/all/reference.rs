//! Runs the flows of the PIAS authors' simulator with `compat = "ns2"` and compares the results.

use crate::common::{Reference, network, reference, run, scheme};
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;

const THRESHOLDS: &str = "909pkt 1329pkt 1648pkt 1960pkt 2143pkt 2337pkt 2484pkt";

#[derive(Debug)]
struct Averages {
    all: f64,
    small: Option<f64>,
    medium: Option<f64>,
    large: Option<f64>,
}

impl Averages {
    /// The averages and the number of time-outs, separated by blanks.
    fn row(&self, timeouts: u64) -> String {
        let Averages { all, small, medium, large } = *self;
        let classes = [small, medium, large].map(Option::unwrap_or_default);
        format!("{all} {} {} {} {timeouts}", classes[0], classes[1], classes[2])
    }
}

/// Average FCTs in microseconds by the size classes of the reference, in KiB and MiB.
fn averages(rows: &[Reference], fct: impl Fn(usize) -> f64) -> Averages {
    let mean = |from: u64, to: u64| {
        let class: Vec<f64> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| (from + 1..=to).contains(&row.flow.size.get()))
            .map(|(index, _)| fct(index))
            .collect();
        (!class.is_empty()).then(|| class.iter().sum::<f64>() / class.len() as f64)
    };
    Averages {
        all: mean(0, u64::MAX - 1).unwrap(),
        small: mean(0, 100 << 10),
        medium: mean(100 << 10, 10 << 20),
        large: mean(10 << 20, u64::MAX - 1),
    }
}

fn small_fabric() -> Network {
    network("leaf-spine", &[("leaves", "3"), ("hosts_per_leaf", "4"), ("spines", "4")])
}

fn compare(file: &str, network: &Network) {
    let rows = reference(file);
    let flows: Vec<_> = rows.iter().map(|row| row.flow).collect();
    let preset = ["dctcp", "pias", "l2dct", "pfabric", "las"]
        .into_iter()
        .find(|preset| file.ends_with(&format!("-{preset}.csv")))
        .expect("a file is named after its scheme");
    let changes: &[_] = if preset == "pias" { &[("thresholds", THRESHOLDS)] } else { &[] };
    let scheme = scheme(preset, "ns2", changes);
    let outcome = run(network, Routing::Ecmp, &flows, &scheme);
    let theirs = averages(&rows, |index| rows[index].fct.as_us_f64());
    let ours = averages(&rows, |index| {
        let end = outcome.flows[index].finished_at_sender.expect("every flow ends");
        (end - flows[index].start).as_us_f64()
    });
    let timeouts: u32 = rows.iter().map(|row| row.timeouts).sum();
    // scripts/fidelity.py reads this line.
    println!("agreement {file} {} {}", theirs.row(timeouts.into()), ours.row(outcome.timeouts));
    let pairs = [
        (Some(theirs.all), Some(ours.all)),
        (theirs.small, ours.small),
        (theirs.medium, ours.medium),
        (theirs.large, ours.large),
    ];
    for (theirs, ours) in pairs {
        let (Some(theirs), Some(ours)) = (theirs, ours) else {
            assert_eq!(theirs.is_some(), ours.is_some());
            continue;
        };
        let ratio = ours / theirs;
        assert!((0.9..=1.1).contains(&ratio), "{file}: {ours} against {theirs}");
    }
}

#[test]
fn flows_on_an_idle_fabric_agree_to_the_nanosecond() {
    let text = include_str!("../../../../reference/ns2-solo-flows.csv");
    let network = small_fabric();
    for line in text.lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        for (preset, theirs) in [("dctcp", fields[1]), ("pias", fields[2])] {
            let changes: &[(&str, &str)] =
                if preset == "pias" { &[("thresholds", THRESHOLDS)] } else { &[] };
            let flows = [crate::common::flow(0, 0, 11, fields[0] as u64, Time::ZERO)];
            let outcome = run(&network, Routing::Ecmp, &flows, &scheme(preset, "ns2", changes));
            let ours = outcome.flows[0].finished_at_sender.unwrap();
            let error = ours.as_us_f64() * 1e3 - theirs * 1e9;
            assert!(error.abs() < 1.0, "{preset}, {} packets: off by {error} ns", fields[0]);
        }
    }
}

#[test]
fn small_fabric_dctcp() {
    compare("ns2-small-websearch-0.8-dctcp.csv", &small_fabric());
}

#[test]
fn small_fabric_pias() {
    compare("ns2-small-websearch-0.8-pias.csv", &small_fabric());
}

#[test]
fn full_fabric_dctcp() {
    compare("ns2-websearch-0.8-dctcp.csv", &network("leaf-spine", &[]));
}

#[test]
fn full_fabric_pias() {
    compare("ns2-websearch-0.8-pias.csv", &network("leaf-spine", &[]));
}

#[test]
fn full_fabric_dctcp_independent_arrivals() {
    compare("ns2-websearch-0.8-independent-dctcp.csv", &network("leaf-spine", &[]));
}

#[test]
fn full_fabric_pias_independent_arrivals() {
    compare("ns2-websearch-0.8-independent-pias.csv", &network("leaf-spine", &[]));
}

#[test]
fn small_fabric_l2dct() {
    compare("ns2-small-websearch-0.8-l2dct.csv", &small_fabric());
}

#[test]
fn full_fabric_l2dct() {
    compare("ns2-websearch-0.8-l2dct.csv", &network("leaf-spine", &[]));
}

#[test]
fn small_fabric_pfabric() {
    compare("ns2-small-websearch-0.8-pfabric.csv", &small_fabric());
}

#[test]
fn small_fabric_las() {
    compare("ns2-small-websearch-0.8-las.csv", &small_fabric());
}

#[test]
fn full_fabric_pfabric() {
    compare("ns2-websearch-0.8-pfabric.csv", &network("leaf-spine", &[]));
}

#[test]
fn full_fabric_las() {
    compare("ns2-websearch-0.8-las.csv", &network("leaf-spine", &[]));
}

#[test]
fn full_fabric_pfabric_independent_arrivals() {
    compare("ns2-websearch-0.8-independent-pfabric.csv", &network("leaf-spine", &[]));
}
