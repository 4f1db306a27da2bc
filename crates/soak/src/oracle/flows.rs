//! Rules that hold for each flow.

use flowsched_experiment::results::FlowRow;
use flowsched_units::{PACKET_PAYLOAD, Time};

use crate::study::RunView;
use crate::violation::Violations;

/// Relative slack of times, for the rounding of rates.
const ROUNDING: f64 = 1e-9;
/// The most links of a path.
const MOST_LINKS: u64 = 64;

/// A fluid flow ends when this many bits are left.
const AS_GOOD_AS_SENT: f64 = 0.125;

/// Checks all flows of the run.
pub fn judge(run: &RunView, found: &mut Violations) {
    for flow in &run.flows {
        let broken = broken(run, flow);
        for rule in broken {
            found.add(rule, || format!("{}: {flow:?}, end {:?}", run.name(), run.end()));
        }
    }
    let measured = run.flows.iter().filter(|flow| flow.measured);
    let (mut flows, mut finished) = (0, 0);
    for flow in measured {
        flows += 1;
        finished += u64::from(flow.finished());
    }
    found.require(
        (flows, finished) == (run.summary.flows, run.summary.finished),
        "flow counts",
        || format!("{}: {finished} of {flows} in the table, {:?}", run.name(), run.summary),
    );
}

/// The rules that the flow breaks.
fn broken(run: &RunView, flow: &FlowRow) -> Vec<&'static str> {
    let mut rules = Vec::new();
    rules.extend((!ends_in_order(run, flow)).then_some("end of a flow"));
    rules.extend((!has_ended(run, flow)).then_some("flow without an end"));
    rules.extend(is_faster_than_links(run, flow).then_some("faster than its links"));
    rules.extend(is_faster_than_alone(run, flow).then_some("faster than alone"));
    rules.extend((!counts_fit(run, flow)).then_some("packets of a flow"));
    rules
}

/// Whether the last byte arrived before the sender knew it, and both happened before the run ended.
/// A flow that was given up must have a deadline and must not have finished.
fn ends_in_order(run: &RunView, flow: &FlowRow) -> bool {
    let is_known_late = flow.fct.is_none_or(|fct| flow.receiver_fct.is_some_and(|at| at <= fct));
    let end = last_time(run);
    let is_before_end =
        |time: Option<Time>| time.is_none_or(|time| flow.start.saturating_add(time) <= end);
    let is_given_up_well = !flow.gave_up || flow.fct.is_none() && flow.deadline.is_some();
    is_known_late && is_before_end(flow.fct) && is_before_end(flow.receiver_fct) && is_given_up_well
}

/// The latest time at which a flow can have ended. With the fluid engine, the last sample is taken
/// when the last bit is sent, which is before it arrives.
fn last_time(run: &RunView) -> Time {
    let sampled = run.end().filter(|_| run.promises.has_packets);
    sampled.or(run.promises.until).unwrap_or(Time::MAX)
}

/// Whether the flow has ended, if it had to. Without `until`, a run goes on until its last flow has
/// ended.
fn has_ended(run: &RunView, flow: &FlowRow) -> bool {
    !run.is_over() || flow.finished() || flow.gave_up
}

/// Whether the payload arrived sooner than the links of its hosts could carry it.
fn is_faster_than_links(run: &RunView, flow: &FlowRow) -> bool {
    let Some(time) = flow.receiver_fct else { return false };
    if run.samples.is_empty() {
        return false;
    }
    let capacity = |ports: &mut dyn Iterator<Item = usize>| {
        ports.map(|port| run.ports[port].rate.as_bps()).sum::<u64>() as f64
    };
    let slower = capacity(&mut run.ports_from(flow.src)).min(capacity(&mut run.ports_to(flow.dst)));
    let least_ps = flow.size.get() as f64 * 8.0 / slower * 1e12;
    (time.as_ps() as f64) < least_ps * (1.0 - ROUNDING) - 1.0
}

/// Whether a flow on one path took less time than alone on the idle network. The ideal time rounds
/// each packet's transmission to a picosecond, which the engines do not. Fluid flows end
/// [`AS_GOOD_AS_SENT`] bits early.
fn is_faster_than_alone(run: &RunView, flow: &FlowRow) -> bool {
    let Some(fct) = flow.fct.filter(|_| run.promises.is_one_path) else { return false };
    let packets = flow.size.get().div_ceil(PACKET_PAYLOAD);
    let slowest = run.ports.iter().map(|port| port.rate.as_bps()).min().unwrap_or(1) as f64;
    let early = if run.promises.has_packets { 0.0 } else { AS_GOOD_AS_SENT / slowest * 1e12 };
    let slack = (packets + MOST_LINKS) as f64 + early + fct.as_ps() as f64 * ROUNDING;
    (fct.as_ps() as f64) < flow.ideal_fct.as_ps() as f64 - slack
}

/// Whether the packet counters fit each other and the flow's size.
fn counts_fit(run: &RunView, flow: &FlowRow) -> bool {
    let packets = flow.packets;
    if !run.promises.has_packets {
        return packets == Default::default() && (flow.retransmissions, flow.timeouts) == (0, 0);
    }
    let needed = flow.size.get().div_ceil(PACKET_PAYLOAD);
    let has_all = flow.receiver_fct.is_none() || packets.arrived >= needed;
    has_all
        && packets.marked_again <= packets.marked
        && packets.marked <= packets.arrived
        && packets.reordered <= packets.arrived
        && packets.third_duplicate_acks <= packets.duplicate_acks
        && packets.duplicate_acks <= packets.acks
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::{PortRecord, PortRow};
    use flowsched_units::{Bytes, Rate};

    use super::*;
    use crate::study::Promises;

    /// A correct run of one flow of ten packets at 10 Gbps.
    fn good() -> RunView {
        let port = |owner: &str, peer: &str| PortRecord {
            owner: owner.into(),
            peer: peer.into(),
            class: String::new(),
            rate: Rate::from_gbps(10),
        };
        let ports = vec![port("a", "s"), port("b", "s"), port("s", "a"), port("s", "b")];
        let sample = |port| PortRow { time: Time::from_us(200), port, ..Default::default() };
        let mut flow = FlowRow {
            src: 0,
            dst: 1,
            size: Bytes::new(14_600),
            start: Time::from_us(100),
            fct: Some(Time::from_us(20)),
            receiver_fct: Some(Time::from_us(15)),
            ideal_fct: Time::from_us(19),
            measured: true,
            ..Default::default()
        };
        flow.packets.arrived = 10;
        let mut run = RunView {
            promises: Promises { has_packets: true, is_one_path: true, ..Promises::default() },
            flows: vec![flow],
            samples: (0..4).map(sample).collect(),
            ports,
            ..RunView::default()
        };
        (run.summary.complete, run.summary.flows, run.summary.finished) = (true, 1, 1);
        run
    }

    fn kinds(change: impl FnOnce(&mut RunView)) -> Vec<String> {
        let mut run = good();
        change(&mut run);
        let mut found = Violations::default();
        judge(&run, &mut found);
        found.into_vec().into_iter().map(|violation| violation.kind).collect()
    }

    #[test]
    fn a_good_flow_breaks_no_rule() {
        assert!(kinds(|_| {}).is_empty());
    }

    #[test]
    fn the_receiver_is_first_and_the_run_last() {
        let late = |run: &mut RunView| run.flows[0].receiver_fct = Some(Time::from_us(21));
        assert_eq!(kinds(late), ["end of a flow"]);
        assert_eq!(kinds(|run| run.flows[0].receiver_fct = None), ["end of a flow"]);
        assert_eq!(kinds(|run| run.flows[0].start = Time::from_us(190)), ["end of a flow"]);
        assert_eq!(kinds(|run| run.flows[0].gave_up = true), ["end of a flow"]);
    }

    #[test]
    fn a_flow_ends_unless_the_run_is_cut_short() {
        let unfinished = |run: &mut RunView| {
            (run.flows[0].fct, run.summary.finished) = (None, 0);
        };
        assert_eq!(kinds(unfinished), ["flow without an end"]);
        let until = |run: &mut RunView| {
            unfinished(run);
            run.promises.until = Some(Time::from_us(200));
        };
        assert!(kinds(until).is_empty());
    }

    #[test]
    fn nothing_is_faster_than_links_or_than_alone() {
        let fast = |run: &mut RunView| run.flows[0].receiver_fct = Some(Time::from_us(11));
        assert_eq!(kinds(fast), ["faster than its links"]);
        let ideal = |run: &mut RunView| run.flows[0].ideal_fct = Time::from_us(21);
        assert_eq!(kinds(ideal), ["faster than alone"]);
        let sprayed = |run: &mut RunView| {
            ideal(run);
            run.promises.is_one_path = false;
        };
        assert!(kinds(sprayed).is_empty());
        // At 10 Gbps, the last eighth of a bit takes 12.5 ps.
        let fluid = |by: u64| {
            kinds(|run| {
                run.promises.has_packets = false;
                run.flows[0].packets = Default::default();
                let fct = run.flows[0].fct.unwrap();
                let slack = (fct.as_ps() as f64 * ROUNDING) as u64 + 10 + MOST_LINKS;
                run.flows[0].ideal_fct = fct + Time::from_ps(slack + by);
            })
        };
        assert!(fluid(12).is_empty());
        assert_eq!(fluid(14), ["faster than alone"]);
    }

    #[test]
    fn packets_are_enough_and_counted_once() {
        assert_eq!(kinds(|run| run.flows[0].packets.arrived = 9), ["packets of a flow"]);
        assert_eq!(kinds(|run| run.flows[0].packets.marked = 11), ["packets of a flow"]);
        assert_eq!(kinds(|run| run.flows[0].packets.duplicate_acks = 1), ["packets of a flow"]);
        assert_eq!(kinds(|run| run.promises.has_packets = false), ["packets of a flow"]);
    }

    #[test]
    fn the_summary_counts_the_flows_of_the_table() {
        assert_eq!(kinds(|run| run.summary.finished = 0), ["flow counts"]);
    }
}
