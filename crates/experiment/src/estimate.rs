//! Estimates the size of an experiment before it runs: rows, packet-hops and memory. The estimate
//! is computed from a small number of its flows. What it allows is decided elsewhere.

use std::time::{Duration, Instant};

use flowsched_schemes::transport::tcp::parameters::{RTO_BACKOFF, RTO_MIN};
use flowsched_topology::PROBABILITY;
use flowsched_topology::{HostId, Network};
use flowsched_units::{PACKET_PAYLOAD, SettingError, Time, Value};
use flowsched_workload::{Flow, wire_bytes};

use crate::engine::Engine;
use crate::experiment::{Experiment, Scene};
use crate::scheme::{Level, SchemeOfScene};
use crate::workload::{Traffic, WorkloadOfScene};

/// At most this many flows are drawn to represent all.
const FEW: u64 = 20_000;
/// Memory of a run without flows or ports, in bytes: the program, buffers of the tables.
const BASE_MEMORY: f64 = 20e6;
/// Memory for each port of the network, in bytes: queues, routes, samples on their way to the disk.
const PORT_MEMORY: f64 = 3e3;
/// Memory for each flow until a run's table is written, in bytes: its state, its outcome, its row.
const FLOW_MEMORY: f64 = 600.0;

/// The approximate size of one run of a scene, or of all runs of an experiment. Congestion makes
/// runs longer than this, and losses make them much longer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number of flows.
    pub flows: f64,
    /// Rows of the table of ports.
    pub port_rows: f64,
    /// Packets, data or ACK, that reach the far end of a link; 0 where there are no packets.
    pub packet_hops: f64,
    /// Retransmission time-outs of flows that wait for others, for senders that try again at a
    /// fixed interval. Time-outs after packet losses are not included.
    pub timeouts: f64,
    /// The seconds of the network's time until the flows end, one run after the other. Runs with real packets take
    /// this long.
    pub seconds: f64,
    /// The time to build the networks, one after the other.
    pub building: Duration,
    /// The run that takes the most memory.
    pub largest: Largest,
    /// The largest share of packets that any link loses.
    pub loss: f64,
}

/// The parts of a run that take memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Largest {
    /// Ports of the run's network.
    pub ports: f64,
    /// Flows.
    pub flows: f64,
}

impl Largest {
    /// The memory of the run in bytes.
    pub fn memory(self) -> f64 {
        self.memory_of_network() + FLOW_MEMORY * self.flows
    }

    /// The memory that the run needs without any flows, in bytes.
    pub fn memory_of_network(self) -> f64 {
        BASE_MEMORY + PORT_MEMORY * self.ports
    }

    fn max(self, other: Largest) -> Largest {
        if self.memory() < other.memory() { other } else { self }
    }
}

impl Experiment {
    /// Estimates all runs together.
    ///
    /// # Errors
    /// If flows cannot be drawn.
    #[doc(hidden)]
    pub fn estimate(&self) -> Result<Estimate, SettingError> {
        let mut all = Estimate::default();
        for scene in &self.scenes {
            let one = scene.estimate(self.first_seed)?;
            let runs = self.seeds as f64 * scene.schemes.len() as f64;
            all = Estimate {
                flows: all.flows + runs * one.flows,
                port_rows: all.port_rows + runs * one.port_rows,
                packet_hops: all.packet_hops + runs * one.packet_hops,
                timeouts: all.timeouts + runs * one.timeouts,
                seconds: all.seconds + runs * one.seconds,
                building: all.building + one.building.mul_f64(runs),
                largest: all.largest.max(one.largest),
                loss: all.loss.max(one.loss),
            };
        }
        Ok(all)
    }
}

impl Scene {
    /// Estimates one run.
    fn estimate(&self, seed: u64) -> Result<Estimate, SettingError> {
        let begun = Instant::now();
        let network = self.network()?;
        let building = begun.elapsed();
        let flows = self.workload.flow_count() as f64;
        let few = self.workload.first(FEW);
        let sample = few.flows(&network, seed).map_err(|error| error.error)?.flows;
        let share = sample.len() as f64 / flows;
        let last_start = last_start(&self.workload, &sample, share);
        let seconds = self.until.map_or(f64::INFINITY, Time::as_secs_f64);
        let seconds = seconds.min(seconds_of(&network, &sample, share, last_start));
        let times = match self.sample_interval {
            Time::ZERO => 1.0,
            interval => seconds / interval.as_secs_f64() + 1.0,
        };
        let ports = network.ports().len() as f64;
        let hops = |flow: &Flow| {
            let packets = flow.size.get().div_ceil(PACKET_PAYLOAD) as f64;
            2.0 * packets * network.first_path(flow.src, flow.dst).count() as f64
        };
        let packet_hops = match self.engine {
            Engine::Packet => sample.iter().map(hops).sum::<f64>() / share,
            Engine::Fluid => 0.0,
        };
        Ok(Estimate {
            flows,
            port_rows: ports * times,
            packet_hops,
            timeouts: self.timeouts(&network, &sample, share),
            seconds,
            building,
            largest: Largest { ports, flows },
            loss: match self.engine {
                Engine::Packet => self.topology.settings.number(&PROBABILITY),
                Engine::Fluid => 0.0,
            },
        })
    }
}

impl Scene {
    /// The number of time-outs of flows that wait for others in a run, as the mean over all
    /// schemes. The sample is a `share` of the run's flows.
    fn timeouts(&self, network: &Network, sample: &[Flow], share: f64) -> f64 {
        let of_scheme = |scheme: &SchemeOfScene| {
            let interval = fixed_interval(scheme)?;
            let of_half = timeouts(network, &sample[..sample.len() / 2], interval);
            let of_sample = timeouts(network, sample, interval);
            // With twice the flows there are twice the time-outs if flows come one after the other,
            // and four times as many if all flows wait for one another.
            let growth = (of_sample / of_half.max(1.0)).max(1.0).log2().clamp(1.0, 2.0);
            Some(of_sample * share.powf(-growth))
        };
        let all: f64 = self.schemes.iter().filter_map(of_scheme).sum();
        all / self.schemes.len().max(1) as f64
    }
}

/// The interval at which senders try again, if it does not grow with each attempt.
fn fixed_interval(scheme: &SchemeOfScene) -> Option<Time> {
    let SchemeOfScene { settings, level, .. } = scheme;
    match (level, settings.get(&RTO_BACKOFF), settings.get(&RTO_MIN)) {
        (Level::Packets(_), Some(Value::Flag(false)), Some(Value::Time(interval))) => {
            (*interval > Time::ZERO).then_some(*interval)
        }
        _ => None,
    }
}

/// The number of time-outs of these flows while they wait for their sender or receiver to complete
/// the flows that started before.
fn timeouts(network: &Network, flows: &[Flow], interval: Time) -> f64 {
    let mut senders_until = vec![Time::ZERO; network.host_count() as usize];
    let mut receivers_until = senders_until.clone();
    let of_flow = |flow: &Flow| {
        let wait = |until: &mut Time, host| {
            let begins = flow.start.max(*until);
            let takes = network.capacity_to(host).transmission_time(wire_bytes(flow.size));
            *until = begins.saturating_add(takes);
            begins - flow.start
        };
        let of_sender = wait(&mut senders_until[flow.src.index()], flow.src);
        let of_receiver = wait(&mut receivers_until[flow.dst.index()], flow.dst);
        (of_sender.max(of_receiver).as_ps() / interval.as_ps()) as f64
    };
    flows.iter().map(of_flow).sum()
}

/// The start of the last flow, in seconds.
fn last_start(workload: &WorkloadOfScene, sample: &[Flow], share: f64) -> f64 {
    let start = |flow: Option<&Flow>| flow.map_or(Time::ZERO, |flow| flow.start).as_secs_f64();
    let (first, last) = (start(sample.first()), start(sample.last()));
    match &workload.traffic {
        Traffic::Trace(flows) => start(flows.last()),
        Traffic::Parts(parts) if parts.parts.is_empty() => last,
        _ => first + (last - first) / share,
    }
}

/// The seconds until the flows end; the sample is a `share` of them. Assumes that no flow takes
/// less time than alone, and that no host link carries more than its rate.
fn seconds_of(network: &Network, sample: &[Flow], share: f64, last_start: f64) -> f64 {
    let first = sample.first().map_or(Time::ZERO, |flow| flow.start).as_secs_f64();
    let alone = |flow: &Flow| network.ideal_fct(flow.src, flow.dst, flow.size);
    let longest = sample.iter().map(alone).max().unwrap_or(Time::ZERO).as_secs_f64();
    let mut sent = vec![0.0; network.host_count() as usize];
    let mut received = sent.clone();
    for flow in sample {
        sent[flow.src.index()] += flow.size.get() as f64;
        received[flow.dst.index()] += flow.size.get() as f64;
    }
    let seconds = |(host, bytes): (HostId, &f64)| {
        bytes / share / network.capacity_to(host).as_bytes_per_sec_f64()
    };
    let busiest = |bytes: &[f64]| network.hosts().zip(bytes).map(seconds).fold(0.0, f64::max);
    (last_start + longest).max(first + busiest(&sent)).max(first + busiest(&received))
}
