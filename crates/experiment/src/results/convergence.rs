//! The time that flows take to make room for others.

use std::collections::BTreeMap;

use flowsched_units::Time;

use super::{FlowRow, PortRecord, PortRow, RunRecord};

/// Convergence time: the time from the last start of a flow until the earlier flows have fallen to
/// their fair share, as Slytherin 2018, V-C and Figure 7, measures it.
///
/// A flow's rate is what its host's port sends from one sample to the next, so the sampling
/// interval is the resolution. Only flows whose senders' hosts have no other flow count. One link must
/// carry all flows: the fair share is that link's rate divided by the number of flows that are under
/// way after the last start. Otherwise there is no convergence time.
#[derive(Clone, Debug)]
pub(super) struct Convergence {
    last_start: Time,
    /// In bits per second.
    fair_share: f64,
    /// The flow that each port's host sends, by port.
    senders: BTreeMap<u32, Sender>,
}

/// A flow whose sender's host has no other flow.
#[derive(Clone, Debug)]
struct Sender {
    end: Option<Time>,
    /// Its port's latest sample since the last start.
    before: Option<PortRow>,
    /// The first sample time at which the flow had made room.
    made_room: Option<Time>,
}

impl Convergence {
    /// Prepares the convergence time of a run with these ports. `last` has the last sample of each
    /// port. `None` if the run has no convergence time.
    pub(super) fn new(
        run: &RunRecord,
        ports: &[PortRecord],
        last: &[PortRow],
    ) -> Option<Convergence> {
        let last_start = run.flows.iter().map(|flow| flow.start).max()?;
        let is_under_way = |flow: &&FlowRow| end(flow).is_none_or(|end| end > last_start);
        let under_way = run.flows.iter().filter(is_under_way).count();
        let fair_share = slowest_shared_link(run, ports, last)? / under_way as f64;
        let senders = alone(run, last_start);
        (!senders.is_empty()).then_some(Convergence { last_start, fair_share, senders })
    }

    /// Adds the next samples.
    pub(super) fn take(&mut self, samples: &[PortRow]) {
        for sample in samples.iter().filter(|sample| sample.time >= self.last_start) {
            let Some(sender) = self.senders.get_mut(&sample.port) else { continue };
            if let Some(before) = sender.before.replace(*sample)
                && sender.made_room.is_none()
            {
                let bits = 8.0 * sample.tx_bytes.saturating_sub(before.tx_bytes) as f64;
                let seconds = sample.time.saturating_sub(before.time).as_secs_f64();
                sender.made_room = (bits <= self.fair_share * seconds).then_some(sample.time);
            }
        }
    }

    /// The mean over the flows, in microseconds. `None` if some flow had not made room by its end, or
    /// by the end of the run.
    pub(super) fn mean_us(&self) -> Option<f64> {
        let time = |sender: &Sender| {
            let time = sender.made_room?;
            let in_time = sender.end.is_none_or(|end| time < end);
            in_time.then(|| time.saturating_sub(self.last_start).as_us_f64())
        };
        let times = self.senders.values().map(time).collect::<Option<Vec<f64>>>()?;
        Some(times.iter().sum::<f64>() / times.len() as f64)
    }
}

/// The flows that started before the last start and whose senders' hosts have no other flow, by the
/// ports of these hosts. Host number n sends through port number n.
fn alone(run: &RunRecord, last_start: Time) -> BTreeMap<u32, Sender> {
    let mut flows_of: BTreeMap<u32, u32> = BTreeMap::new();
    for flow in &run.flows {
        *flows_of.entry(flow.src).or_default() += 1;
        if flow.dst != flow.src {
            *flows_of.entry(flow.dst).or_default() += 1;
        }
    }
    let is_alone = |flow: &&FlowRow| flow.start < last_start && flows_of.get(&flow.src) == Some(&1);
    let sender =
        |flow: &FlowRow| (flow.src, Sender { end: end(flow), before: None, made_room: None });
    run.flows.iter().filter(is_alone).map(sender).collect()
}

fn end(flow: &FlowRow) -> Option<Time> {
    flow.fct.map(|fct| flow.start.saturating_add(fct))
}

/// The rate in bits per second of the slowest port that has sent at least as many bytes as all finished
/// flows have. `None` if there is none.
fn slowest_shared_link(run: &RunRecord, ports: &[PortRecord], last: &[PortRow]) -> Option<f64> {
    let finished = run.flows.iter().filter(|flow| flow.finished());
    let bytes: u64 = finished.map(|flow| flow.size.get()).sum();
    let is_of_all = |sample: &&PortRow| bytes > 0 && sample.tx_bytes >= bytes;
    let shared = last.iter().filter(is_of_all).filter_map(|sample| ports.get(sample.port as usize));
    shared.map(|port| port.rate.as_bps() as f64).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Rate};

    use super::*;

    fn flow(src: u32, start_us: u64, fct_us: Option<u64>) -> FlowRow {
        let (start, fct) = (Time::from_us(start_us), fct_us.map(Time::from_us));
        FlowRow { src, dst: 9, size: Bytes::new(1000), start, fct, ..FlowRow::default() }
    }

    /// Port 0 is the first host's. Port 3 is the link that all flows share, with 8 Gbps. `sent` has
    /// what port 0 sends from one sample to the next, every 10 us.
    fn convergence_us(flows: Vec<FlowRow>, sent: &[u64]) -> Option<f64> {
        let port = PortRecord {
            owner: String::new(),
            peer: String::new(),
            class: String::new(),
            rate: Rate::from_gbps(8),
        };
        let mut samples = Vec::new();
        let mut so_far = 0;
        for (place, bytes) in sent.iter().enumerate() {
            so_far += bytes;
            let time = Time::from_us(10 * place as u64);
            samples.push(PortRow { time, port: 0, tx_bytes: so_far, ..PortRow::default() });
            samples.push(PortRow { time, port: 3, tx_bytes: 99_000, ..PortRow::default() });
        }
        let run = RunRecord { flows, ..RunRecord::default() };
        let last = &samples[samples.len().saturating_sub(2)..];
        let mut convergence = Convergence::new(&run, &vec![port; 4], last)?;
        samples.chunks(2).for_each(|samples| convergence.take(samples));
        convergence.mean_us()
    }

    #[test]
    fn a_flow_has_made_room_when_it_gets_no_more_than_its_share() {
        // Two flows share 8 Gbps from 20 us on: 5,000 B each in 10 us.
        let flows = vec![flow(0, 0, Some(500)), flow(1, 20, Some(400))];
        let sent = [0, 10_000, 10_000, 9_000, 6_000, 4_900, 5_100];
        assert_eq!(convergence_us(flows.clone(), &sent), Some(30.0));
        assert_eq!(convergence_us(flows, &sent[..5]), None, "never");
        let short = vec![flow(0, 0, Some(45)), flow(1, 20, Some(400))];
        assert_eq!(convergence_us(short, &sent), None, "it had ended");
    }

    #[test]
    fn other_scenes_have_no_convergence_time() {
        assert_eq!(convergence_us(Vec::new(), &[]), None);
        let sent = [0, 10_000, 10_000, 0];
        let together = vec![flow(0, 0, Some(500)), flow(1, 0, Some(400))];
        assert_eq!(convergence_us(together, &sent), None, "none was there before");
        let of_one_host = vec![flow(0, 0, Some(500)), flow(0, 5, Some(500)), flow(1, 10, None)];
        assert_eq!(convergence_us(of_one_host, &sent), None, "whose bytes are whose?");
    }

    /// With many flows to one host, work that is quadratic in their number would take minutes.
    #[test]
    fn many_flows_to_one_host_are_looked_at_once() {
        let flows = (0..160_000).map(|src| flow(src + 10, u64::from(src), Some(500_000)));
        let flows: Vec<FlowRow> = flows.chain([flow(0, 0, Some(900_000))]).collect();
        assert_eq!(convergence_us(flows, &[0, 10_000]), None);
    }
}
