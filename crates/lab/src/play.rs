//! A run under way: the hosts in one thread, the switch in another.

use std::sync::atomic::{AtomicBool, Ordering};

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::Port;
use flowsched_schemes::world::{Outcome, PortSample, Progress, Uncounted, Watch};
use flowsched_sim::Job;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_WIRE, Time};
use flowsched_workload::LONGEST_RUN;

use crate::clock::Clock;
use crate::conduct::Conduct;
use crate::error::LabError;
use crate::played::Played;
use crate::processors::{Division, keep_on};
use crate::switch::Switch;
use crate::tap::Cable;

/// Runs the hosts, which play the flows, in one thread and the switch in another, until the hosts have
/// finished.
pub(crate) fn play<K, H, P, C>(
    job: &Job<'_>,
    mut switch: Switch<'_, K, H, P, C>,
    clock: Clock,
    division: Option<&Division>,
    watch: &mut Watch<'_>,
    hosts: impl FnOnce(Time, &Progress) -> Result<Played, LabError> + Send,
) -> Result<(Outcome, Conduct), LabError>
where
    K: Cable,
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
{
    let until = job.until.map_or(LONGEST_RUN, |until| until.min(LONGEST_RUN));
    let is_over = AtomicBool::new(false);
    let (progress, samples) = (watch.progress, &mut watch.samples);
    let mut ports = Vec::new();
    let played = std::thread::scope(|scope| {
        let player = scope.spawn(|| {
            let _guard = OnPanic(&is_over);
            let kept = division.map(|division| keep_on(&division.others)).transpose();
            let kept = kept.map_err(|error| LabError::system("choose a processor", error));
            let played = kept.and_then(|_kept| hosts(until, progress));
            is_over.store(true, Ordering::Relaxed);
            played
        });
        let _guard = OnPanic(&progress.stop);
        let switched = switch.run(division, &is_over, job.sample_interval, |network, now| {
            network.sample(now, &mut ports);
            if samples(&ports).is_break() {
                progress.stop.store(true, Ordering::Relaxed);
            }
            ports.clear();
        });
        if switched.is_err() {
            progress.stop.store(true, Ordering::Relaxed);
        }
        let played = player.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        switched.map_err(|error| LabError::system("switch packets", error)).and(played)
    });
    let played = played?;
    let end = clock.now();
    let network = switch.network();
    let settled = end.min(network.next());
    network.sample(settled, &mut ports);
    switch.finish_captures()?;
    let is_stopped = samples(&ports).is_break() || progress.stop.load(Ordering::Relaxed);
    let conduct = Conduct::new(switch.counts(), &played, packet_time(job.network));
    let lost = switch.network().losses().lost();
    let (passage, sent_again) = (switch.passage(), switch.sent_again());
    let outcome = Outcome { passage, ..outcome(played, &ports, lost, end, is_stopped) };
    Ok((with_switch_count(outcome, sent_again), conduct))
}

/// The switch counts what was sent again where the hosts do not.
fn with_switch_count(outcome: Outcome, sent_again: Option<u64>) -> Outcome {
    match sent_again.filter(|_| outcome.uncounted.retransmissions) {
        Some(retransmissions) => {
            let uncounted = Uncounted { retransmissions: false, ..outcome.uncounted };
            Outcome { retransmissions, uncounted, ..outcome }
        }
        None => outcome,
    }
}

/// Ends the other thread if this one panics. Otherwise that thread would wait for ever, and so would the run.
struct OnPanic<'a>(&'a AtomicBool);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The time of a full packet on the slowest link.
fn packet_time(network: &Network) -> Time {
    let packet = Bytes::new(PACKET_WIRE);
    let times = network.ports().iter().map(|port| port.rate.transmission_time(packet));
    times.max().unwrap_or_default()
}

fn outcome(played: Played, ports: &[PortSample], drops: u64, end: Time, stopped: bool) -> Outcome {
    let Played { flows, uncounted, .. } = played;
    Outcome {
        packet_hops: ports.iter().map(|port| port.sent_packets).sum(),
        drops,
        ecn_marks: ports.iter().map(|port| port.marks).sum(),
        timeouts: flows.iter().map(|flow| u64::from(flow.timeouts.all)).sum(),
        retransmissions: flows.iter().map(|flow| u64::from(flow.retransmissions)).sum(),
        // The switch counts neither lost packets by flow nor the bytes of headers and probes.
        uncounted: Uncounted { losses: true, overhead: true, ..uncounted },
        stopped,
        end,
        flows,
        ..Outcome::default()
    }
}
