//! Tests of whole folders: what is written, read back, compared and refused.

mod comparisons;
mod damage;
mod folders;
mod resuming;
mod summaries;
mod warnings;

use std::path::Path;

use flowsched_units::{Bytes, Rate, Time};

use super::*;

/// A finished, measured flow.
fn flow(number: u64, size: u64, fct_us: u64) -> FlowRow {
    FlowRow {
        flow: number,
        src: 1,
        dst: 2,
        size: Bytes::new(size),
        start: Time::from_us(number),
        fct: Some(Time::from_us(fct_us)),
        receiver_fct: Some(Time::from_us(fct_us.saturating_sub(1))),
        gave_up: false,
        ideal_fct: Time::from_us(10),
        deadline: None,
        retransmissions: 0,
        timeouts: 0,
        packets: PacketCounters::default(),
        measured: true,
    }
}

fn run(scheme: &str, seed: u64, flows: Vec<FlowRow>) -> RunRecord {
    RunRecord { scheme: scheme.to_owned(), seed, flows, ..RunRecord::default() }
}

/// Four samples of two ports.
fn samples_of(run: &RunRecord) -> PortsOfRun {
    let port = |owner: &str, peer: &str| PortRecord {
        owner: owner.to_owned(),
        peer: peer.to_owned(),
        class: "host to leaf".to_owned(),
        rate: Rate::from_gbps(10),
    };
    let sample = |time, port| PortRow {
        time: Time::from_us(time),
        port,
        queue_bytes: 1500 * time,
        queue_packets: time,
        tx_bytes: 3000 * time,
        tx_packets: 2 * time,
        drops: time / 2,
        ecn_marks: time / 3,
    };
    PortsOfRun {
        run: run.key(),
        ports: vec![port("host0", "leaf0"), port("host1", "leaf0")],
        samples: (0..8).map(|i| sample(u64::from(i / 2), i % 2)).collect(),
    }
}

/// Writes runs with samples of their ports.
fn write_all(
    dir: &Path,
    meta: &Meta,
    runs: impl IntoIterator<Item = RunRecord>,
) -> Result<Summary, ResultsError> {
    let with_samples = |run: RunRecord| {
        let samples = samples_of(&run);
        (run, samples)
    };
    write(dir, meta, runs.into_iter().map(with_samples))
}

/// Writes runs without samples.
fn write_unsampled(dir: &Path, runs: impl IntoIterator<Item = RunRecord>) -> Summary {
    let without = |run: RunRecord| {
        let ports = PortsOfRun { samples: Vec::new(), ..samples_of(&run) };
        (run, ports)
    };
    write(dir, &meta(), runs.into_iter().map(without)).unwrap()
}

/// Writes one run of a study.
fn add(writer: &Writer, place: usize, run: &RunRecord) -> Result<RunSummary, ResultsError> {
    let PortsOfRun { run: key, ports, samples } = samples_of(run);
    let mut writer = writer.begin(place, RunStart { key, ports, ..RunStart::default() })?;
    for at_one_time in samples.chunks(2) {
        writer.add_samples(at_one_time)?;
    }
    writer.finish(run)
}

fn meta() -> Meta {
    Meta {
        name: "a test".to_owned(),
        experiment: "name = \"a test\"\n".to_owned(),
        keys: Vec::new(),
        program: Program::default(),
        orders: Order::parse_all("all mean: tcp < pias").unwrap(),
        has_probe: false,
    }
}
