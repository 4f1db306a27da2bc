//! How long flows take to make room for others.

use flowsched_units::Time;

use super::{FlowRow, PortSample, RunRecord};

/// Convergence time: from the last start of a flow until those that were under way before have
/// come down to their fair share, as Slytherin 2018, V-C and Figure 7, measures it; the mean over
/// those flows, in microseconds.
///
/// What a flow gets is what its host's port sends from one sample to the next, so that the sampling
/// interval is the resolution. Only flows whose hosts have no other flow count, and only where one
/// link carries all flows: the fair share is then that link's rate over their number. `None` in
/// every other scene, and where a flow ended, or the run did, before it came to that.
pub(super) fn convergence_us(run: &RunRecord) -> Option<f64> {
    let last_start = run.flows.iter().map(|flow| flow.start).max()?;
    let under_way =
        run.flows.iter().filter(|flow| end(flow).is_none_or(|end| end > last_start)).count();
    let fair_share = slowest_shared_link(run)? / under_way as f64;
    let is_alone = |flow: &&FlowRow| {
        let others = |other: &&FlowRow| [other.src, other.dst].contains(&flow.src);
        flow.start < last_start && run.flows.iter().filter(others).count() == 1
    };
    let times = run.flows.iter().filter(is_alone).map(|flow| {
        let time = first_at_most(run, flow.src, last_start, fair_share)?;
        end(flow).is_none_or(|end| time < end).then(|| (time - last_start).as_us_f64())
    });
    let times = times.collect::<Option<Vec<f64>>>()?;
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

fn end(flow: &FlowRow) -> Option<Time> {
    flow.fct.map(|fct| flow.start.saturating_add(fct))
}

/// Bits per second of the slowest port between switches that has sent what all flows have.
fn slowest_shared_link(run: &RunRecord) -> Option<f64> {
    let finished = run.flows.iter().filter(|flow| flow.finished());
    let bytes: u64 = finished.map(|flow| flow.size.get()).sum();
    let is_of_all = |sample: &&PortSample| bytes > 0 && sample.tx_bytes >= bytes;
    let ports = run.samples.iter().filter(is_of_all).map(|sample| sample.port as usize);
    let rates = ports.filter_map(|port| run.ports.get(port)).map(|port| port.rate.as_bps() as f64);
    rates.reduce(f64::min)
}

/// The end of the first interval between samples from `from` on in which the port number `port`
/// sent at most at this rate.
fn first_at_most(run: &RunRecord, port: u32, from: Time, bps: f64) -> Option<Time> {
    let samples = run.samples.iter().filter(|sample| sample.port == port && sample.time >= from);
    let samples: Vec<&PortSample> = samples.collect();
    let is_slow = |pair: &&[&PortSample]| {
        let bits = 8.0 * (pair[1].tx_bytes - pair[0].tx_bytes) as f64;
        bits <= bps * (pair[1].time - pair[0].time).as_secs_f64()
    };
    samples.windows(2).find(is_slow).map(|pair| pair[1].time)
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Rate};

    use super::*;
    use crate::results::Port;

    fn flow(src: u32, start_us: u64, fct_us: Option<u64>) -> FlowRow {
        let (start, fct) = (Time::from_us(start_us), fct_us.map(Time::from_us));
        FlowRow { src, dst: 9, size: Bytes::new(1000), start, fct, ..FlowRow::default() }
    }

    /// Port 0 is the first host's, port 3 the link that all flows share, of 8 Gbps; samples every
    /// 10 us of what port 0 sends.
    fn run(flows: Vec<FlowRow>, sent: &[u64]) -> RunRecord {
        let port = Port {
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
            samples.push(PortSample { time, port: 0, tx_bytes: so_far, ..PortSample::default() });
            samples.push(PortSample { time, port: 3, tx_bytes: 99_000, ..PortSample::default() });
        }
        RunRecord { flows, ports: vec![port; 4], samples, ..RunRecord::default() }
    }

    #[test]
    fn a_flow_has_made_room_when_it_gets_no_more_than_its_share() {
        // Two flows share 8 Gbps, 5,000 B in 10 us each, from 20 us on.
        let flows = vec![flow(0, 0, Some(500)), flow(1, 20, Some(400))];
        let sent = [0, 10_000, 10_000, 9_000, 6_000, 4_900, 5_100];
        assert_eq!(convergence_us(&run(flows.clone(), &sent)), Some(30.0));
        assert_eq!(convergence_us(&run(flows, &sent[..5])), None, "never");
        let short = vec![flow(0, 0, Some(45)), flow(1, 20, Some(400))];
        assert_eq!(convergence_us(&run(short, &sent)), None, "it had ended");
    }

    #[test]
    fn other_scenes_have_no_convergence_time() {
        assert_eq!(convergence_us(&RunRecord::default()), None);
        let sent = [0, 10_000, 10_000, 0];
        let together = vec![flow(0, 0, Some(500)), flow(1, 0, Some(400))];
        assert_eq!(convergence_us(&run(together, &sent)), None, "none was there before");
        let of_one_host = vec![flow(0, 0, Some(500)), flow(0, 5, Some(500)), flow(1, 10, None)];
        assert_eq!(convergence_us(&run(of_one_host, &sent)), None, "whose bytes are whose?");
    }
}
