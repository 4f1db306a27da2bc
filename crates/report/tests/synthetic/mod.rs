//! A made-up study that looks like a real one: three schemes on a small leaf-spine fabric.

use flowsched_experiment::results::{
    Counters, FlowRow, Meta, PacketCounters, Point, PortRecord, PortRow, PortsOfRun, Program,
    RunRecord, VariedKey,
};
use flowsched_units::{Bytes, Rate, Time};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The parameters of a made-up study.
#[derive(Clone, Debug)]
pub struct Study {
    pub schemes: Vec<&'static str>,
    pub seeds: u64,
    /// Varied as `workload.load` if there are several.
    pub loads: Vec<&'static str>,
    /// Varied as `topology.spines` if there are several, to no effect.
    pub spines: Vec<&'static str>,
    pub flows: u64,
    /// The largest flow.
    pub largest: f64,
}

impl Default for Study {
    fn default() -> Study {
        Study {
            schemes: vec!["tcp", "dctcp", "pias"],
            seeds: 3,
            loads: vec!["0.8"],
            spines: vec!["2"],
            flows: 2_000,
            largest: 3e7,
        }
    }
}

const HOSTS: u32 = 16;
const SAMPLES: u64 = 40;

impl Study {
    pub fn meta(&self) -> Meta {
        let experiment = "name = \"PIAS against DCTCP, web search\"\nseeds = 3\n\n[topology]\n\
            kind = \"leaf-spine\"\nleaves = 4\nhost_link = \"10Gbps\" # <the default>\n";
        Meta {
            name: "PIAS against DCTCP, web search".to_owned(),
            experiment: experiment.to_owned(),
            keys: [("workload.load", &self.loads), ("topology.spines", &self.spines)]
                .into_iter()
                .filter(|(_, values)| values.len() > 1)
                .map(|(key, values)| VariedKey::new(key, values.iter().copied()))
                .collect(),
            program: Program::default(),
            orders: Vec::new(),
            has_probe: false,
        }
    }

    fn point(&self, load: &str, spines: &str) -> Point {
        let load = (self.loads.len() > 1).then_some(("workload.load", load));
        let spines = (self.spines.len() > 1).then_some(("topology.spines", spines));
        let pairs = load.into_iter().chain(spines);
        Point(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// The runs in the order of an experiment, by point, scheme, seed, with the samples of their
    /// ports.
    pub fn runs(&self) -> Vec<(RunRecord, PortsOfRun)> {
        let mut runs = Vec::new();
        let points = self.loads.iter().flat_map(|load| self.spines.iter().map(move |s| (load, s)));
        for (load, spines) in points {
            let point = self.point(load, spines);
            let load: f64 = load.parse().expect("loads are numbers");
            for (place, scheme) in self.schemes.iter().enumerate() {
                for seed in 1..=self.seeds {
                    let (run, ports) = self.run(scheme, place, seed, load);
                    runs.push((RunRecord { point: point.clone(), ..run }, ports));
                }
            }
        }
        runs
    }

    fn run(&self, scheme: &str, place: usize, seed: u64, load: f64) -> (RunRecord, PortsOfRun) {
        let flows = self.flow_rows(place, seed, load);
        let end = flows.last().map_or(Time::ZERO, |flow| flow.start);
        let (ports, samples) = port_samples(place, seed, load, end);
        let sum =
            |of: fn(&PortRow) -> u64| samples.iter().rev().take(ports.len()).map(of).sum::<u64>();
        let run = RunRecord {
            scheme: scheme.to_owned(),
            seed,
            counters: Counters {
                packet_hops: sum(|s| s.tx_packets),
                events: sum(|s| s.tx_packets) * 11 / 10,
                cpu_s: 5.5 + place as f64 * 0.3,
                wall_s: 6.0 + place as f64 * 0.3,
                peak_rss_bytes: 61_000_000 + seed * 100_000,
                drops: sum(|s| s.drops),
                ecn_marks: sum(|s| s.ecn_marks),
                timeouts: flows.iter().map(|flow| flow.timeouts).sum(),
                retransmissions: flows.iter().map(|flow| flow.retransmissions).sum(),
                ..Counters::default()
            },
            flows,
            ..RunRecord::default()
        };
        (run, PortsOfRun { ports, samples, ..PortsOfRun::default() })
    }

    fn flow_rows(&self, place: usize, seed: u64, load: f64) -> Vec<FlowRow> {
        // Sizes and starts come from one stream for all schemes, delays from one each.
        let mut shared = ChaCha8Rng::seed_from_u64(seed);
        let mut own = ChaCha8Rng::seed_from_u64(seed * 100 + place as u64 + (load * 1e4) as u64);
        let mut start = 0.0;
        let mut flow = |number| {
            let size = 3_000.0 * (self.largest / 3_000.0).powf(shared.random::<f64>().powf(1.4));
            start -= 12e-6 / load * shared.random::<f64>().max(1e-9).ln();
            let ideal = 85e-6 + size * 8.22 / 1e10;
            let crowd = load / (1.02 - load);
            let (small, large) = [(9.0, 1.1), (3.0, 1.05), (0.35, 1.2)][place % 3];
            let weight = if size < 1e5 { small } else { large };
            let wait = -own.random::<f64>().max(1e-9).ln() * crowd * weight;
            let unlucky = own.random::<f64>() < [0.02, 0.004, 0.002][place % 3];
            let fct = ideal * (1.0 + 0.4 * wait) + if unlucky { 2e-3 } else { 0.0 };
            let finished = own.random::<f64>() > 0.0015;
            FlowRow {
                flow: number,
                src: shared.random_range(0..HOSTS),
                dst: shared.random_range(0..HOSTS),
                size: Bytes::new(size as u64),
                start: Time::from_secs_f64(start),
                fct: finished.then(|| Time::from_secs_f64(fct)),
                receiver_fct: finished.then(|| Time::from_secs_f64(fct - 4e-5)),
                gave_up: false,
                ideal_fct: Time::from_secs_f64(ideal),
                deadline: None,
                retransmissions: if unlucky { 12 } else { 0 },
                timeouts: u64::from(unlucky),
                packets: PacketCounters::default(),
                measured: number >= self.flows / 20,
            }
        };
        (0..self.flows).map(&mut flow).collect()
    }
}

fn port_samples(place: usize, seed: u64, load: f64, end: Time) -> (Vec<PortRecord>, Vec<PortRow>) {
    let mut ports = Vec::new();
    let mut add = |owner: String, peer: String, class: &str, rate| {
        ports.push(PortRecord {
            owner,
            peer,
            class: class.to_owned(),
            rate: Rate::from_gbps(rate),
        });
    };
    for host in 0..HOSTS {
        let (host, leaf) = (format!("host{host}"), format!("leaf{}", host / 4));
        add(host.clone(), leaf.clone(), "host to leaf", 10);
        add(leaf, host, "leaf to host", 10);
    }
    for leaf in 0..4 {
        for spine in 0..2 {
            let (leaf, spine) = (format!("leaf{leaf}"), format!("spine{spine}"));
            add(leaf.clone(), spine.clone(), "leaf to spine", 40);
            add(spine, leaf, "spine to leaf", 40);
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed * 31 + place as u64);
    let shares: Vec<f64> = ports.iter().map(|_| load * random.random_range(0.8..1.15)).collect();
    let mut samples: Vec<PortRow> = Vec::new();
    for step in 0..=SAMPLES + 4 {
        let time = end * step / SAMPLES;
        for (number, (port, share)) in ports.iter().zip(&shares).enumerate() {
            let busy = step <= SAMPLES && random.random::<f64>() < load;
            let depth = [150.0, 45.0, 40.0][place % 3] * load * load;
            let waits = if port.class.ends_with("host") { 1.0 } else { 0.25 };
            let queue = -random.random::<f64>().max(1e-9).ln() * depth * waits;
            let queue = if busy { (queue as u64).min(240) } else { 0 };
            let bytes = share
                * port.rate.as_bytes_per_sec_f64()
                * (end * step.min(SAMPLES) / SAMPLES).as_secs_f64();
            let packets = bytes as u64 / 1_200;
            let marked =
                if place.is_multiple_of(3) { 0 } else { (packets as f64 * 0.08 * waits) as u64 };
            samples.push(PortRow {
                time,
                port: number as u32,
                queue_bytes: queue * 1_500,
                queue_packets: queue,
                tx_bytes: bytes as u64,
                tx_packets: packets,
                drops: (packets as f64 * [2e-3, 2e-4, 1e-4][place % 3] * waits) as u64,
                ecn_marks: marked,
            });
        }
    }
    (ports, samples)
}
