//! EPN on whole networks: what the paper shows in its figures, and what must hold in every scene.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::ledger::{self, Ledger};
use crate::common::{flow, network, scheme};
use flowsched_schemes::Packet;
use flowsched_schemes::controller::epn::header::{EpnHeader, Tp};
use flowsched_schemes::controller::epn::{EpnController, EpnSettings};
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::Flags;
use flowsched_schemes::port::{Backlog, InTurn, Port, Queues, Weights};
use flowsched_schemes::tagger::priority_mapper::PriorityMapper;
use flowsched_schemes::transport::Carrying;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_sim::{Job, Outcome, Parts, Progress, run_parts};
use flowsched_topology::{Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// What a test saw of a run.
#[derive(Default)]
struct Seen {
    /// For each flow, when its sender's TP changed, and to which.
    changes: Vec<Vec<(Time, Tp)>>,
    /// For each flow, when data left its sender's card, and how much.
    sent: Vec<Vec<(Time, u32)>>,
    /// For each port, the bytes of messages that its controller sent.
    messages: Vec<u64>,
    /// The largest sum of the rates of HIGH flows at any link, as a share of the link.
    fullest: f64,
}

impl Seen {
    /// The TP of a flow at a time.
    fn tp(&self, flow: usize, time: Time) -> Tp {
        let before = self.changes[flow].iter().take_while(|(at, _)| *at <= time);
        before.last().map_or(Tp::HIGH, |(_, tp)| *tp)
    }

    /// The rate at which a flow sent payload between two times, as a share of 10 Gbps.
    fn rate(&self, flow: usize, from: Time, to: Time) -> f64 {
        let within = self.sent[flow].iter().filter(|(at, _)| (from..to).contains(at));
        let bytes: u64 = within.map(|(_, bytes)| u64::from(*bytes)).sum();
        bytes as f64 * 8.0 / (to - from).as_secs_f64() / 10e9
    }
}

/// A controller of the scheme that the test looks into and restarts.
struct Watched {
    inner: EpnController,
    site: Site,
    restart_at: Time,
    seen: Rc<RefCell<Seen>>,
}

impl Watched {
    fn look(&self) {
        let high = self.inner.table().high();
        let gbps: u32 = high.iter().map(|entry| entry.rate).sum();
        let share = f64::from(gbps) * 1e9 / self.site.rate.as_bps() as f64;
        let mut seen = self.seen.borrow_mut();
        seen.fullest = seen.fullest.max(share);
    }
}

impl Controller<EpnHeader> for Watched {
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<EpnHeader>,
        backlog: impl FnMut() -> Backlog,
        send: impl FnMut(Packet<EpnHeader>),
    ) {
        if self.site.is_host && !packet.flags.has(Flags::ACK) {
            let mut seen = self.seen.borrow_mut();
            let (flow, tp) = (packet.flow as usize, packet.header.tp);
            seen.sent[flow].push((now, u32::from(packet.wire) - 90));
            if seen.tp(flow, now) != tp {
                seen.changes[flow].push((now, tp));
            }
        }
        self.inner.on_forward(now, packet, backlog, send);
    }

    fn on_return(&mut self, now: Time, packet: &mut Packet<EpnHeader>) {
        self.inner.on_return(now, packet);
    }

    fn deadline(&self) -> Time {
        self.inner.deadline().min(self.restart_at)
    }

    fn on_timer(&mut self, now: Time, mut send: impl FnMut(Packet<EpnHeader>)) {
        if self.restart_at <= now {
            self.restart_at = Time::MAX;
            self.inner.restart();
        }
        let mut bytes = 0;
        self.inner.on_timer(now, |message| {
            bytes += u64::from(message.wire);
            send(message);
        });
        self.seen.borrow_mut().messages[self.site.port as usize] += bytes;
        self.look();
    }
}

/// A port of the scheme that lets only some of the messages through.
struct Lossy<P> {
    port: P,
    /// The port passes one in this many messages.
    passes_every: u64,
    came: u64,
}

impl<P: Port<Packet<EpnHeader>>> Port<Packet<EpnHeader>> for Lossy<P> {
    fn enqueue(
        &mut self,
        packet: Packet<EpnHeader>,
        elsewhere: u64,
        mut dropped: impl FnMut(Packet<EpnHeader>),
    ) {
        self.came += u64::from(packet.flags.has(Flags::MESSAGE));
        if packet.flags.has(Flags::MESSAGE) && !self.came.is_multiple_of(self.passes_every) {
            return dropped(packet);
        }
        self.port.enqueue(packet, elsewhere, dropped);
    }

    fn dequeue(&mut self) -> Option<Packet<EpnHeader>> {
        self.port.dequeue()
    }

    fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    fn marks(&self) -> u64 {
        self.port.marks()
    }

    fn shares_memory(&self) -> bool {
        self.port.shares_memory()
    }
}

/// What goes wrong in a run.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    /// Every switch's port passes one in this many messages.
    passes_every: u64,
    /// When all controllers restart.
    restart_at: Time,
}

const NO_TROUBLE: Trouble = Trouble { passes_every: 1, restart_at: Time::MAX };

/// Runs EPN with every byte accounted for.
fn watched(
    network: &Network,
    routing: Routing,
    flows: &[Flow],
    changes: &[(&str, &str)],
    trouble: Trouble,
) -> (Outcome, Seen) {
    let scheme = &scheme("epn", "none", changes);
    let seen = Seen {
        changes: vec![Vec::new(); flows.len()],
        sent: vec![Vec::new(); flows.len()],
        messages: vec![0; network.ports().len()],
        fullest: 0.0,
    };
    let seen = Rc::new(RefCell::new(seen));
    let ledger = Ledger::new(network);
    let tcp: Tcp = scheme.part().expect("TCP");
    let tagger: PriorityMapper = scheme.part().expect("EPN's hosts");
    let controller: EpnSettings = scheme.part().expect("EPN's switches");
    let ports = |_: Site| {
        // "WRR queues with weights of 100 and 1" (EPN 2018, V-C).
        let turns = InTurn::new(Weights::new(&[100, 1]).unwrap());
        let port = Queues::with_serving(scheme.port, turns);
        ledger.port(Lossy { port, passes_every: trouble.passes_every, came: 0 })
    };
    let controllers = |site: Site| Watched {
        inner: EpnController::new(controller, site),
        site,
        restart_at: trouble.restart_at,
        seen: seen.clone(),
    };
    let parts = Parts { transport: Carrying::new(tcp), tagger, ports, controllers };
    let job = Job { network, routing, flows, seed: 1, sample_interval: Time::ZERO, until: None };
    let outcome = run_parts(&job, parts, &Progress::default());
    let seen = Rc::into_inner(seen).expect("no controller is left").into_inner();
    let mut of_their_own = vec![0; network.node_count() as usize];
    for (port, bytes) in network.ports().iter().zip(&seen.messages) {
        of_their_own[port.owner.index()] += bytes;
    }
    ledger::balance_with(network, &outcome, &ledger, &of_their_own);
    (outcome, seen)
}

/// Two switches, three hosts at each: 0 to 2 and 3 to 5.
fn two_switches(between: &str) -> Network {
    network("dumbbell", &[("hosts_per_side", "3"), ("bottleneck_link", between)])
}

/// The time that this many packets take at 10 Gbps.
fn time_of(packets: u64) -> Time {
    Time::from_ns(1240) * packets
}

/// EPN 2018, Figure 3: f1 and f2 share the link of switch A, f2 and f3 one of switch B. f3 has the
/// highest desired priority and f1 the lowest. f1, f2 and f3 are flows 0, 1 and 2.
fn figure_3() -> [Flow; 3] {
    [
        flow(0, 0, 3, 8000, Time::ZERO),
        flow(1, 1, 4, 4000, Time::ZERO),
        flow(2, 5, 4, 3900, Time::ZERO),
    ]
}

#[test]
fn f2_of_figure_3_does_not_oscillate_and_does_without_dsid() {
    // EPN 2018, IV-A: "as a result, the TP of f2 will oscillate. This issue can be simply removed
    // by adding a Demoting Switch ID".
    let changes = |dsid| {
        let changes = [("dp", "size"), ("dsid", dsid)];
        let network = two_switches("10Gbps");
        let (_, seen) = watched(&network, Routing::Ecmp, &figure_3(), &changes, NO_TROUBLE);
        let tps: Vec<Tp> = seen.changes[1].iter().map(|(_, tp)| *tp).collect();
        tps
    };
    assert_eq!(changes("true"), [Tp::LOW, Tp::HIGH]);
    let without = changes("false");
    assert!(without.len() > 20, "{without:?}");
}

#[test]
fn flows_of_figure_3_take_turns_at_once() {
    // EPN 2018, VI-B: "f1 can transmit at HIGH queue in parallel with f3. After 10s, f3 finishes,
    // SB immediately promotes f2 to HIGH queue and ToR switch A (SA) demotes f1 to LOW. Later when
    // f2 finishes, SA promotes f1. The flow switching time is within one RTT".
    // Links and marking are the testbed's (V-D, VI-C). At 10 Gbps TCP takes longer to use a link
    // again.
    let rates = [("host_link", "1Gbps"), ("bottleneck_link", "1Gbps")];
    let network = network("dumbbell", &[&rates[..], &[("hosts_per_side", "3")]].concat());
    let changes = [("dp", "size"), ("ecn_threshold", "40pkt")];
    let (outcome, seen) = watched(&network, Routing::Ecmp, &figure_3(), &changes, NO_TROUBLE);
    let end = |flow: usize| outcome.flows[flow].finished_at_sender.unwrap();
    let round_trip = Time::from_us(100);
    let (f3_ends, f2_ends) = (end(2), end(1));
    let promoted = seen.changes[1].last().unwrap().0;
    // A flow sends again when an ACK comes. The packet that causes the ACK of f2 may wait in the
    // LOW queue of switch A for 100 packets of f1. The packet that causes the ACK of f1 may be
    // behind others of its own flow in that queue.
    let turn = Time::from_ns(12_400) * 100;
    assert!(promoted < f3_ends + turn + round_trip, "{promoted} after {f3_ends}");
    assert_eq!(seen.tp(0, f3_ends - round_trip), Tp::HIGH);
    assert_eq!(seen.tp(0, promoted + round_trip * 2), Tp::LOW);
    assert_eq!(seen.tp(0, f2_ends + turn + round_trip), Tp::HIGH);

    // Shares of 1 Gbps; 1460 of 1550 bytes are payload.
    let shares = |from, to| [0, 1, 2].map(|flow| 10.0 * seen.rate(flow, from, to));
    let [f1, f2, f3] = shares(Time::from_ms(5), f3_ends - round_trip);
    assert!(f1 > 0.92 && f2 < 0.02 && f3 > 0.92, "{f1} {f2} {f3}");
    let [f1, f2, _] = shares(promoted + Time::from_ms(5), f2_ends - round_trip);
    assert!(f1 < 0.02 && f2 > 0.92, "{f1} {f2}");
    assert!(seen.fullest <= 1.0);
}

#[test]
fn links_between_switches_take_several_flows() {
    // EPN 2018, IV-A, Figure 4: "the switch-switch link has enough bandwidth to support f2 in the
    // HIGH queue as f3 is bottlenecked at its access link".
    let flows = [
        flow(0, 0, 3, 8000, Time::ZERO),
        flow(1, 1, 4, 4000, Time::ZERO),
        flow(2, 2, 5, 3900, Time::ZERO),
    ];
    let (_, seen) =
        watched(&two_switches("20Gbps"), Routing::Ecmp, &flows, &[("dp", "size")], NO_TROUBLE);
    let at = Time::from_ms(2);
    assert_eq!([0, 1, 2].map(|flow| seen.tp(flow, at)), [Tp::LOW, Tp::HIGH, Tp::HIGH]);
    let [_, f2, f3] = [0, 1, 2].map(|flow| seen.rate(flow, Time::from_ms(1), Time::from_ms(4)));
    assert!(f2 > 0.9 && f3 > 0.9, "{f2} {f3}");
    assert!(seen.fullest <= 1.0);
}

#[test]
fn the_bottleneck_rate_is_found_behind_faster_links() {
    // EPN 2018, IV-A: hosts with cards of 40 Gbps, a link between switches of 40 Gbps, and two
    // receivers at 10 Gbps each: both flows fit.
    let link = |gbps| Link { rate: Rate::from_gbps(gbps), delay: Time::from_us(5) };
    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", 2);
    builder.hosts(2, switches[0], link(40));
    builder.hosts(2, switches[1], link(10));
    builder.connect(switches[0], switches[1], link(40));
    let network = builder.finish().unwrap();
    let flows = [flow(0, 0, 2, 8000, Time::ZERO), flow(1, 1, 3, 4000, Time::ZERO)];
    let (_, seen) = watched(&network, Routing::Ecmp, &flows, &[("dp", "size")], NO_TROUBLE);
    assert_eq!([0, 1].map(|flow| seen.tp(flow, Time::from_ms(1))), [Tp::HIGH; 2]);
    assert!(seen.changes[0].len() == 2, "LOW until rates are known: {:?}", seen.changes[0]);
}

#[test]
fn flows_of_a_controller_that_restarted_are_promoted_again_because_they_probe() {
    // EPN 2018, IV-B: without it, "flows demoted by this controller may never have a chance to be
    // promoted".
    let flows = [flow(0, 0, 3, 12_000, Time::ZERO), flow(1, 1, 3, 2000, Time::ZERO)];
    let last_tp = |probe_interval| {
        let changes = [("dp", "size"), ("probe_interval", probe_interval)];
        let trouble = Trouble { restart_at: Time::from_ms(1), ..NO_TROUBLE };
        let network = two_switches("10Gbps");
        let (_, seen) = watched(&network, Routing::Ecmp, &flows, &changes, trouble);
        assert_eq!(seen.tp(0, Time::from_ms(1)), Tp::LOW);
        let end = time_of(2000) + Time::from_ms(6);
        seen.tp(0, end)
    };
    assert_eq!(last_tp("5ms"), Tp::HIGH);
    assert_eq!(last_tp("1s"), Tp::LOW);
}

#[test]
fn lost_messages_are_made_good() {
    // EPN 2018, IV-B: after a message "the next packet of the flow should be S-marked. This is
    // equivalent to send an acknowledgment to the switch"; what is not acknowledged is sent again.
    let network = two_switches("10Gbps");
    for passes_every in [2, 3] {
        let trouble = Trouble { passes_every, ..NO_TROUBLE };
        let changes = [("dp", "size"), ("counter_interval", "200us"), ("counter_reads", "20")];
        let (outcome, seen) = watched(&network, Routing::Ecmp, &figure_3(), &changes, trouble);
        assert!(outcome.drops > 0);
        assert_eq!(seen.tp(1, Time::from_ms(4)), Tp::LOW, "f2 was told in the end");
        let f3_ends = outcome.flows[2].finished_at_sender.unwrap();
        assert_eq!(seen.tp(1, f3_ends + Time::from_ms(3)), Tp::HIGH, "and promoted");
    }
}

#[test]
fn tiny_flows_are_never_told_anything() {
    // EPN 2018, IV-A: tiny flows go "into the HIGH queue and the priority controller will simply
    // ignore them".
    let network = two_switches("10Gbps");
    let flows: Vec<Flow> = (0..12).map(|id| flow(id, id % 3, 3, 47, Time::ZERO)).collect();
    let (_, seen) = watched(&network, Routing::Ecmp, &flows, &[], NO_TROUBLE);
    assert!(seen.changes.iter().all(Vec::is_empty));
    assert_eq!(seen.fullest, 0.0);
}

/// EPN 2018, IV-D: "HIGH priority flow cannot saturate the link, and the rest bandwidth is shared
/// among multiple LOW priority flows. However, EPN is still work-conserving".
#[test]
fn low_flows_use_what_the_application_of_a_high_flow_leaves() {
    let network = two_switches("10Gbps");
    let slow =
        Flow { application_rate: Some(Rate::from_gbps(4)), ..flow(0, 0, 3, 4000, Time::ZERO) };
    let flows = [slow, flow(1, 1, 3, 12_000, Time::ZERO), flow(2, 2, 3, 12_001, Time::ZERO)];
    let (outcome, seen) = watched(&network, Routing::Ecmp, &flows, &[("dp", "size")], NO_TROUBLE);
    let (from, to) = (Time::from_ms(4), Time::from_ms(10));
    assert_eq!([0, 1, 2].map(|flow| seen.tp(flow, from)), [Tp::HIGH, Tp::LOW, Tp::LOW]);
    let rates = [0, 1, 2].map(|flow| seen.rate(flow, from, to));
    assert!((0.38..0.42).contains(&rates[0]), "the application's rate: {rates:?}");
    let sum: f64 = rates.iter().sum();
    let payload = 1460.0 / (1500.0 + 50.0);
    assert!(sum > 0.97 * payload, "the link is full: {rates:?}");
    let handed_over = Rate::from_gbps(4).transmission_time(slow.size);
    let late = outcome.flows[0].finished_at_receiver.unwrap() - handed_over;
    assert!(late < Time::from_us(400), "its packets go first: {late}");
}

const HOSTS: u32 = 6;

/// Flows between the hosts of a small fabric, many of them to the same one.
fn any_flows() -> impl Strategy<Value = Vec<Flow>> {
    let any_flow = (0..HOSTS, 1..HOSTS, any::<bool>(), 1u64..1_500_000, 0u64..600);
    prop::collection::vec(any_flow, 1..20).prop_map(|drawn| {
        let mut flows: Vec<Flow> = drawn
            .into_iter()
            .map(|(src, ahead, to_first, bytes, start)| {
                let dst = if to_first && src != 0 { 0 } else { (src + ahead) % HOSTS };
                let flow = flow(0, src, dst, 1, Time::from_us(start));
                Flow { size: Bytes::new(bytes), ..flow }
            })
            .collect();
        flows.sort_by_key(|flow| flow.start);
        for (id, flow) in flows.iter_mut().enumerate() {
            flow.id = id as u32;
        }
        flows
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whichever messages are lost and whenever controllers restart, every byte is delivered, the
    /// accounts of all ports balance, and HIGH flows never sum to more than a link.
    #[test]
    fn no_byte_is_lost_and_no_link_is_promised_twice(
        flows in any_flows(),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
        dp in prop_oneof![Just("size"), Just("remaining"), Just("sent")],
        connections in prop_oneof![Just("persistent"), Just("new")],
        passes_every in 1u64..4,
        restart_at in 100u64..3000,
    ) {
        let fabric = [("leaves", "2"), ("hosts_per_leaf", "3"), ("spines", "2")];
        let fabric = network("leaf-spine", &[&fabric[..], &[("fabric_link", "20Gbps")]].concat());
        let changes = [("dp", dp), ("connections", connections), ("buffer", "100KB")];
        let trouble = Trouble { passes_every, restart_at: Time::from_us(restart_at) };
        let (outcome, seen) = watched(&fabric, routing, &flows, &changes, trouble);
        for (flow, outcome) in flows.iter().zip(&outcome.flows) {
            let (at_receiver, at_sender) =
                (outcome.finished_at_receiver, outcome.finished_at_sender);
            prop_assert!(at_receiver.is_some(), "flow {} is stuck", flow.id);
            prop_assert!(at_receiver <= at_sender, "acknowledged before it came");
        }
        prop_assert!(seen.fullest <= 1.0, "{}", seen.fullest);
    }
}
