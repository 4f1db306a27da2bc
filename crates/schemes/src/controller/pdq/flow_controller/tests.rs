//! Each rule of Algorithms 1 to 3 (PDQ 2012, 3.3.2).

use super::*;

const RTT: Time = Time::from_us(200);
const LINK: LinkState = LinkState { capacity: Rate::from_gbps(1), mean_rtt: RTT };
const ME: u32 = 7;

fn me() -> Pauser {
    Pauser::of_port(ME)
}

fn other() -> Option<Pauser> {
    Some(Pauser::of_port(3))
}

fn name(flow: u32) -> Name {
    Name { flow, path: 0 }
}

/// Parameters without dampening.
fn settings() -> FlowControl {
    FlowControl {
        comparator: Comparator::DeadlineThenSize,
        early_start: 2.0,
        probe_spacing: 0.2,
        dampening: 0.0,
        most_flows: 100,
        link_share: 1.0,
    }
}

fn controller(settings: FlowControl) -> FlowController {
    FlowController::new(settings, me())
}

/// The header of a flow that needs this many more round-trip times.
fn header(round_trips: f64) -> PdqHeader {
    PdqHeader {
        rate: Rate::from_gbps(1),
        transmission: Time::from_ps((round_trips * RTT.as_ps() as f64) as u64),
        rtt: RTT,
        ..PdqHeader::default()
    }
}

/// The header of a flow's first packet.
fn first_header(round_trips: f64) -> PdqHeader {
    PdqHeader { rtt: Time::ZERO, ..header(round_trips) }
}

/// A packet goes to the receiver and its ACK comes back, with nothing in between. Returns the header
/// after that.
fn there_and_back(
    controller: &mut FlowController,
    now: Time,
    flow: u32,
    mut header: PdqHeader,
) -> PdqHeader {
    controller.on_data(now, name(flow), &mut header, LINK);
    controller.on_ack(name(flow), &mut header);
    header
}

fn is_accepted(header: &PdqHeader) -> bool {
    header.paused_by.is_none() && header.rate > Rate::from_bps(0)
}

fn flows(controller: &FlowController) -> Vec<u32> {
    controller.list().entries().iter().map(|entry| entry.criticality.flow).collect()
}

/// Algorithm 1: "if P_H = other switch then remove the flow from the list if it is in the list".
#[test]
fn a_flow_that_another_switch_has_paused_is_forgotten() {
    let mut controller = controller(settings());
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, header(50.0))));
    assert_eq!(flows(&controller), [1]);
    let mut paused = PdqHeader { paused_by: other(), ..header(50.0) };
    controller.on_data(Time::ZERO, name(1), &mut paused, LINK);
    assert!(flows(&controller).is_empty());
    assert_eq!(paused.paused_by, other(), "its pauser stays in the header");
}

/// Algorithm 1: the most critical flow is accepted at the link's rate, the next one paused, and
/// a more critical one preempts.
#[test]
fn a_more_critical_flow_preempts() {
    let mut controller = controller(settings());
    let first = there_and_back(&mut controller, Time::ZERO, 1, header(50.0));
    assert_eq!((first.rate, first.paused_by), (Rate::from_gbps(1), None));
    let second = there_and_back(&mut controller, Time::ZERO, 2, header(60.0));
    assert_eq!((second.rate, second.paused_by), (Rate::from_bps(0), Some(me())));
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 3, header(40.0))));
    assert!(!is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, header(49.0))));
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 3, header(39.0))));
}

/// Algorithm 1: "W = min(Availbw(i), R_H)": a flow that is slower elsewhere leaves the rest.
#[test]
fn a_slow_flow_leaves_the_rest_to_the_next() {
    let mut controller = controller(settings());
    let slow = PdqHeader { rate: Rate::from_bps(300_000_000), ..header(50.0) };
    assert_eq!(there_and_back(&mut controller, Time::ZERO, 1, slow).rate, slow.rate);
    let next = there_and_back(&mut controller, Time::ZERO, 2, header(60.0));
    assert_eq!(next.rate, Rate::from_bps(700_000_000));
}

/// Algorithm 3: an acceptance counts only if no switch further on paused the flow.
#[test]
fn acceptance_takes_two_phases() {
    let mut controller = controller(settings());
    let mut there = header(50.0);
    controller.on_data(Time::ZERO, name(1), &mut there, LINK);
    assert!(is_accepted(&there));
    // A switch further on pauses it: "if P_H = other switch then remove the flow"; "if P_H is
    // not empty then R_H = 0".
    let mut back = PdqHeader { paused_by: other(), ..there };
    controller.on_ack(name(1), &mut back);
    assert_eq!((flows(&controller), back.rate), (vec![], Rate::from_bps(0)));
    controller.on_data(Time::ZERO, name(1), &mut there, LINK);
    controller.on_ack(name(1), &mut there);
    assert_eq!(controller.list().sending(), 1);
}

/// A flow that is accepted takes its rate before the ACK is back: two flows that come within a
/// round-trip time are not promised the link twice.
#[test]
fn what_is_accepted_is_taken_at_once() {
    let mut controller = controller(settings());
    let (mut first, mut second) = (header(50.0), header(60.0));
    controller.on_data(Time::ZERO, name(1), &mut first, LINK);
    controller.on_data(Time::ZERO, name(2), &mut second, LINK);
    assert!(is_accepted(&first));
    assert_eq!(second.paused_by, Some(me()));
}

/// "A flow is accepted if all switches along the path accept it" (3.3.2). The header of a flow that
/// another switch may now accept gets the rate that this switch would have for it. The flow takes no
/// place here.
#[test]
fn a_flow_that_another_pauses_learns_what_there_would_be() {
    let mut controller = controller(settings());
    let slow = PdqHeader { rate: Rate::from_bps(300_000_000), ..header(50.0) };
    there_and_back(&mut controller, Time::ZERO, 1, slow);
    let passes = |controller: &mut FlowController, round_trips| {
        let mut passing = PdqHeader { paused_by: other(), ..header(round_trips) };
        controller.on_data(Time::ZERO, name(2), &mut passing, LINK);
        assert_eq!(passing.paused_by, other());
        passing.rate
    };
    assert_eq!(passes(&mut controller, 60.0), Rate::from_bps(700_000_000));
    assert_eq!(passes(&mut controller, 40.0), Rate::from_gbps(1), "it is more critical");
    assert_eq!(flows(&controller), vec![1]);
}

/// Only flows that all switches accepted dampen others.
#[test]
fn an_acceptance_that_another_switch_overrules_dampens_nobody() {
    let mut controller = controller(FlowControl { dampening: 1.0, ..settings() });
    let mut there = first_header(60.0);
    controller.on_data(Time::ZERO, name(1), &mut there, LINK);
    assert!(is_accepted(&there));
    let mut next = first_header(50.0);
    controller.on_data(Time::ZERO, name(2), &mut next, LINK);
    assert_eq!(next.paused_by, Some(me()), "dampened");
    controller.on_ack(name(1), &mut PdqHeader { paused_by: other(), ..there });
    let mut next = PdqHeader { paused_by: Some(me()), ..header(50.0) };
    controller.on_data(Time::ZERO, name(2), &mut next, LINK);
    assert!(is_accepted(&next));
}

/// Algorithm 2: flows that end within K round-trip times do not count, as long as they take no more
/// than K together. All other more critical flows count.
#[test]
fn early_start_lets_the_next_flows_begin() {
    let mut controller = controller(settings());
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, header(0.9))));
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 2, header(1.0))));
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 3, header(30.0))));
    assert!(!is_accepted(&there_and_back(&mut controller, Time::ZERO, 4, header(40.0))));
    // 1.2 and 1.9 round trips are more than K = 2 together, so the next flow waits for the second.
    let mut controller = self::controller(settings());
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, header(1.2))));
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 2, header(1.9))));
    assert!(!is_accepted(&there_and_back(&mut controller, Time::ZERO, 3, header(30.0))));

    let mut controller = self::controller(FlowControl { early_start: 0.0, ..settings() });
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, header(0.5))));
    assert!(!is_accepted(&there_and_back(&mut controller, Time::ZERO, 2, header(0.6))), "K = 0");
}

/// "After a switch has accepted a flow, it can only accept other paused flows after a given small
/// period of time"; a flow that sends is not held up.
#[test]
fn dampening_spaces_acceptances() {
    let mut controller = controller(FlowControl { dampening: 0.5, ..settings() });
    let (soon, later) = (RTT / 4, RTT / 2);
    let paused = PdqHeader { paused_by: Some(me()), ..header(40.0) };
    assert!(is_accepted(&there_and_back(&mut controller, Time::ZERO, 1, first_header(50.0))));
    assert!(!is_accepted(&there_and_back(&mut controller, soon, 2, first_header(40.0))));
    assert!(!is_accepted(&there_and_back(&mut controller, soon, 2, paused)));
    assert!(is_accepted(&there_and_back(&mut controller, soon, 1, header(49.0))), "it sends");
    assert!(is_accepted(&there_and_back(&mut controller, later, 2, paused)));
}

/// Flows that have been accepted probe on until the ACK is back, several times in a round trip.
/// These probes dampen no flow, and are not dampened themselves.
#[test]
fn who_has_been_accepted_is_not_dampened_and_dampens_no_more() {
    let mut controller = controller(FlowControl { dampening: 0.5, ..settings() });
    let mut probe = |now, flow, round_trips| {
        let mut header = PdqHeader { paused_by: Some(me()), ..header(round_trips) };
        controller.on_data(now, name(flow), &mut header, LINK);
        is_accepted(&header)
    };
    // All three end within K round trips, so that there is room for all.
    assert!(probe(Time::ZERO, 1, 0.3));
    assert!(!probe(RTT / 4, 2, 0.4));
    assert!(probe(RTT / 2, 2, 0.4));
    assert!(probe(RTT / 2 + RTT / 4, 1, 0.3), "accepted before");
    assert!(!probe(RTT / 2 + RTT / 4, 3, 0.5));
    assert!(probe(RTT, 3, 0.5));
}

/// A flow that another switch paused and has let go may be sending, so it is not one of the "other
/// paused flows" of this switch. A flow that sends its first packet is one of these, and so is a
/// flow that this switch paused.
#[test]
fn dampening_holds_for_the_flows_that_this_switch_paused() {
    let mut controller = controller(FlowControl { dampening: 0.5, ..settings() });
    let mut lets = |flow, header: PdqHeader| {
        is_accepted(&there_and_back(&mut controller, Time::ZERO, flow, header))
    };
    assert!(lets(1, first_header(50.0)));
    assert!(!lets(2, first_header(40.0)), "its first packet");
    assert!(!lets(2, PdqHeader { paused_by: Some(me()), ..header(40.0) }), "paused here");
    assert!(!lets(3, PdqHeader { paused_by: other(), ..header(30.0) }), "paused elsewhere");
    assert!(lets(3, header(30.0)), "let go elsewhere");
}

/// What a switch tells a flow on the way to the receiver is newer than an ACK, which answers an
/// earlier packet.
#[test]
fn an_ack_does_not_undo_what_was_said_since() {
    let mut controller = controller(settings());
    let (mut older, mut newer) = (header(50.0), header(49.0));
    controller.on_data(Time::ZERO, name(1), &mut older, LINK);
    let critical = there_and_back(&mut controller, Time::ZERO, 2, header(40.0));
    assert!(is_accepted(&critical));
    // Flow 1 is preempted; then comes the ACK of what it sent before.
    controller.on_data(Time::ZERO, name(1), &mut newer, LINK);
    assert_eq!(newer.paused_by, Some(me()));
    controller.on_ack(name(1), &mut older);
    assert_eq!(controller.list().sending(), 1);
    // Flow 2 ends and flow 1 is accepted again; then comes the ACK that tells flow 1 of its pause.
    controller.on_term(name(2));
    let mut newest = header(48.0);
    controller.on_data(Time::ZERO, name(1), &mut newest, LINK);
    assert!(is_accepted(&newest));
    controller.on_ack(name(1), &mut newer);
    assert_eq!(newer.rate, Rate::from_bps(0), "the sender learns what was said then");
    assert_eq!(controller.list().sending(), 1, "the link is taken");
}

/// 3.3.1: the 2 kappa most critical flows are stored; others are paused unless they become
/// critical enough.
#[test]
fn twice_as_many_flows_as_send_are_remembered() {
    let mut controller = controller(settings());
    for (flow, size) in [(1, 50.0), (2, 60.0), (3, 70.0), (4, 55.0)] {
        there_and_back(&mut controller, Time::ZERO, flow, header(size));
    }
    assert_eq!(flows(&controller), [1, 4], "one sends");
    let third = there_and_back(&mut controller, Time::ZERO, 3, header(70.0));
    assert_eq!((third.paused_by, third.rate), (Some(me()), Rate::from_bps(0)));
}

/// 3.3.1: beyond the hard limit M, flows share what is left, and are paused where nothing is left.
#[test]
fn beyond_the_memory_flows_are_the_rest() {
    let mut controller = controller(FlowControl { most_flows: 1, ..settings() });
    let slow = PdqHeader { rate: Rate::from_bps(300_000_000), ..header(50.0) };
    there_and_back(&mut controller, Time::ZERO, 1, slow);
    let mut second = header(60.0);
    let decision = controller.on_data(Time::ZERO, name(2), &mut second, LINK);
    assert_eq!(decision, Decision::WithTheRest);
    assert_eq!(controller.left_over(LINK.capacity), Rate::from_bps(700_000_000));
}

/// Algorithm 3: "I_H = max{I_H, X x i}", the first flow's index being 1 (the paper's overhead of
/// probing is a sum from 1 on).
#[test]
fn the_less_critical_probe_less_often() {
    let mut controller = controller(settings());
    let interval = |controller: &mut FlowController, flow, size| {
        there_and_back(controller, Time::ZERO, flow, header(size)).probe_interval
    };
    assert_eq!(interval(&mut controller, 1, 50.0), 0.2);
    assert_eq!(interval(&mut controller, 2, 60.0), 0.4);
    assert_eq!(interval(&mut controller, 3, 70.0), 0.6, "not remembered");
    let mut told = PdqHeader { probe_interval: 9.0, ..header(50.0) };
    controller.on_ack(name(1), &mut told);
    assert_eq!(told.probe_interval, 9.0, "another switch asked for less");
}

/// A lost TERM does not block the link for ever.
#[test]
fn silent_flows_are_forgotten() {
    let mut controller = controller(settings());
    there_and_back(&mut controller, Time::ZERO, 1, header(50.0));
    there_and_back(&mut controller, Time::ZERO, 2, header(60.0));
    controller.forget_silent(RTT * 4, RTT);
    assert_eq!(flows(&controller), [1, 2]);
    there_and_back(&mut controller, RTT * 4, 2, header(60.0));
    controller.forget_silent(RTT * 5, RTT);
    assert_eq!(flows(&controller), [2]);
    assert!(is_accepted(&there_and_back(&mut controller, RTT * 5, 2, header(60.0))));
}

/// TERM: the flow is forgotten.
#[test]
fn a_flow_that_ends_is_forgotten() {
    let mut controller = controller(settings());
    there_and_back(&mut controller, Time::ZERO, 1, header(50.0));
    controller.on_term(name(1));
    assert!(flows(&controller).is_empty());
}

/// In section 7, flows become more critical as they wait. That alone does not let the next flow
/// start.
#[test]
fn a_head_start_changes_the_order_and_not_early_start() {
    let after_one_of = |first: PdqHeader| {
        let mut controller = controller(settings());
        for flow in [1, 2] {
            let mut there = if flow == 1 { first } else { header(50.0) };
            controller.on_data(Time::from_ms(flow.into()), name(flow), &mut there, LINK);
            if flow == 2 {
                return there.paused_by.is_none();
            }
            controller.on_ack(name(flow), &mut there);
        }
        false
    };
    let aged = PdqHeader { head_start: RTT * 99, ..header(100.0) };
    assert!(!after_one_of(aged), "the first takes one round trip in the order, and goes before");
    assert!(after_one_of(header(1.0)), "it really takes one: the second starts early");
    assert!(after_one_of(header(100.0)), "the second is more critical");
}
