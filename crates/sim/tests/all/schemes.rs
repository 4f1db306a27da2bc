//! What papers say of their schemes, and what must hold for all schemes, over random scenes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::common::boxed::Boxed;
use crate::common::{flow, network, run_with, scheme, scheme_of, small_fabric};
use flowsched_schemes::combination::Combination;
use flowsched_schemes::controller::Site;
use flowsched_schemes::packet::{Flags, Frame, Header};
use flowsched_schemes::port::{
    Backlog, CongestedFirst, Connections, PfabricPort, Port, PortSettings, PriorityPort, Queues,
};
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_schemes::world::{Controllers, Parts, Ports, World};
use flowsched_schemes::{PRESETS, Packet, Scheme};
use flowsched_sim::{Job, Outcome, Passage, PortSample, Progress, run_parts};
use flowsched_topology::{Network, PortId, Routing};
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE, Time, Value};
use flowsched_workload::Flow;
use proptest::prelude::*;

const HOSTS: u32 = 6;

/// Flows between the hosts of the small fabric, many of them to the same one.
fn any_flows() -> impl Strategy<Value = Vec<Flow>> {
    let any_flow = (0..HOSTS, 1..HOSTS, any::<bool>(), 1u64..400_000, 0u64..300);
    prop::collection::vec(any_flow, 1..30).prop_map(|drawn| {
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

fn any_routing() -> impl Strategy<Value = Routing> {
    prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)]
}

fn run(network: &Network, routing: Routing, flows: &[Flow], scheme: &Scheme) -> Outcome {
    crate::common::run(network, routing, flows, scheme)
}

/// PIAS over weighted round robin, which its paper decides against (ToN 2017, III-B.2).
fn pias_in_turns() -> Scheme {
    let parts = [None, None, Some("weighted-round-robin"), None];
    let combination = Combination::new("pias", parts).unwrap();
    let mut settings = combination.defaults("none");
    settings.set("thresholds", crate::common::sizes(&[20]));
    settings.set("buffer", Value::Size(Bytes::new(30_000)));
    settings.set("name", Value::Text("pias by turns".into()));
    Scheme::from_settings(&settings).unwrap()
}

/// Bytes on the wire of the largest packet of any scheme: a full one and a scheme's header.
const LARGEST: u64 = PACKET_WIRE + 64;

/// Pairs of consecutive samples of each port, with the bytes that its link can send between them.
fn looked_at(
    network: &Network,
    routing: Routing,
    flows: &[Flow],
    scheme: &Scheme,
) -> Vec<(PortSample, PortSample, u64)> {
    let (interval, until) = (Time::from_us(5), Time::from_ms(2));
    let job =
        Job { network, routing, flows, seed: 1, sample_interval: interval, until: Some(until) };
    let samples = flowsched_sim::run(&job, scheme, &Progress::default()).ports;
    let ports = network.ports().len();
    let pairs = samples.iter().zip(&samples[ports..]);
    pairs
        .map(|(before, after)| {
            assert_eq!(before.port, after.port);
            let rate = network.ports()[before.port as usize].rate;
            (*before, *after, rate.bytes_in(after.time - before.time).get())
        })
        .collect()
}

/// A port of the scheme that notes what goes through it.
struct Watched<H> {
    port: Boxed<H>,
    watch: Rc<RefCell<Traffic>>,
    number: usize,
}

/// What went through all ports.
#[derive(Default)]
struct Traffic {
    /// For each port, the packets that came, left and were dropped.
    packets: Vec<[u64; 3]>,
    /// For each port and flow, the data packets that left, and whether they had been sent before.
    left: BTreeMap<(usize, u32), Vec<(u32, bool)>>,
    idle_with_backlog: u64,
    dropped: Vec<Packet>,
}

impl<H: Header> Watched<H> {
    fn note_left(&self, packet: Option<Packet<H>>) {
        let mut watch = self.watch.borrow_mut();
        match packet {
            Some(packet) => {
                watch.packets[self.number][1] += 1;
                if !packet.flags.has(Flags::ACK.with(Flags::SYN)) {
                    let again = packet.flags.has(Flags::RETRANSMISSION);
                    let left = watch.left.entry((self.number, packet.flow)).or_default();
                    left.push((packet.seq, again));
                }
            }
            None => watch.idle_with_backlog += u64::from(self.port.backlog().packets > 0),
        }
    }
}

impl<H: Header> Port<Packet<H>> for Watched<H> {
    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, mut dropped: impl FnMut(Packet<H>)) {
        let (watch, number) = (&self.watch, self.number);
        watch.borrow_mut().packets[number][0] += 1;
        self.port.enqueue(packet, elsewhere, |packet| {
            watch.borrow_mut().packets[number][2] += 1;
            watch.borrow_mut().dropped.push(packet.with_header(()));
            dropped(packet);
        });
    }

    fn dequeue(&mut self) -> Option<Packet<H>> {
        let packet = self.port.dequeue();
        self.note_left(packet);
        packet
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

/// Runs a job with the scheme's own parts and watched ports.
struct Watching<'a>(&'a Job<'a>);

/// Makes watched ports.
struct WatchedPorts<P> {
    ports: P,
    watch: Rc<RefCell<Traffic>>,
}

impl<H: Header, P: Ports<H>> Ports<H> for WatchedPorts<P> {
    type Port = Watched<H>;

    fn port(&self, site: Site, connections: &Connections) -> Watched<H> {
        let number = self.watch.borrow().packets.len();
        self.watch.borrow_mut().packets.push([0; 3]);
        let port = Boxed::new(self.ports.port(site, connections));
        Watched { port, watch: self.watch.clone(), number }
    }

    fn host_rate(&self) -> f64 {
        self.ports.host_rate()
    }
}

impl World for Watching<'_> {
    type Output = Traffic;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Traffic
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let watch = Rc::new(RefCell::new(Traffic::default()));
        let Parts { transport, tagger, ports, controllers } = parts;
        let ports = WatchedPorts { ports, watch: watch.clone() };
        let parts = Parts { transport, tagger, ports, controllers };
        run_parts(self.0, parts, &Progress::default());
        Rc::into_inner(watch).expect("no port is left").into_inner()
    }
}

/// Runs flows with the test's own ports, watched.
fn watched<P: Port<Packet> + 'static>(
    network: &Network,
    routing: Routing,
    flows: &[Flow],
    scheme: &Scheme,
    new_port: impl Fn(usize) -> P,
) -> (Outcome, Traffic) {
    let watch = Rc::new(RefCell::new(Traffic::default()));
    let number = Cell::new(0);
    let port = || {
        let number = number.replace(number.get() + 1);
        watch.borrow_mut().packets.push([0; 3]);
        Watched { port: Boxed::new(new_port(number)), watch: watch.clone(), number }
    };
    let job = Job { network, routing, flows, seed: 1, sample_interval: Time::ZERO, until: None };
    let tcp: Tcp = scheme.part().expect("TCP");
    let outcome = run_with(&job, scheme, tcp, port, &Progress::default());
    let watch = Rc::into_inner(watch).expect("no port is left").into_inner();
    (outcome, watch)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Every flow is delivered whole: each of its packets arrives, and the packets that arrive or
    /// are lost are no more than its sender sent. The links carry what left the ports.
    #[test]
    fn no_scheme_loses_or_duplicates_a_byte(flows in any_flows(), routing in any_routing()) {
        let network = small_fabric();
        for preset in PRESETS.iter().filter(|preset| preset.sends_packets()) {
            let scheme = scheme_of(preset.name, &[("buffer", "30KB")]);
            // Schemes whose switches know flows cannot be combined with spraying: the switches
            // might never agree on a flow.
            let routing = if scheme.facts().needs_one_path { Routing::Ecmp } else { routing };
            let outcome = run(&network, routing, &flows, &scheme);
            for (flow, outcome) in flows.iter().zip(&outcome.flows) {
                let packets = flow.size.get().div_ceil(PACKET_PAYLOAD);
                let Passage { arrived, lost, .. } = outcome.passage;
                let sent = packets + u64::from(outcome.retransmissions);
                prop_assert!(u64::from(arrived) >= packets, "{}: {outcome:?}", preset.name);
                prop_assert!(u64::from(arrived + lost) <= sent, "{}: {outcome:?}", preset.name);
                let (at_receiver, at_sender) =
                    (outcome.finished_at_receiver, outcome.finished_at_sender);
                prop_assert!(at_receiver.is_some(), "{}: flow {} is stuck", preset.name, flow.id);
                prop_assert!(at_receiver <= at_sender, "{}: acknowledged before it came", preset.name);
            }
            let sent: u64 = outcome.ports.iter().map(|port| port.sent_packets).sum();
            prop_assert_eq!(sent, outcome.packet_hops, "{}: packets on links", preset.name);
            prop_assert!(outcome.ports.iter().all(|port| port.queue_packets == 0), "{}", preset.name);
        }
    }

    /// No port is idle while a packet waits in it, and none keeps or makes packets.
    #[test]
    fn every_port_conserves_work_and_packets(flows in any_flows(), routing in any_routing()) {
        let network = small_fabric();
        let presets = PRESETS.iter().filter(|preset| preset.sends_packets());
        let schemes = presets.map(|preset| scheme_of(preset.name, &[("buffer", "30KB")]));
        for scheme in schemes.chain([pias_in_turns()]) {
            let needs_one = scheme.facts().needs_one_path;
            let routing = if needs_one { Routing::Ecmp } else { routing };
            let (sample_interval, until) = (Time::ZERO, None);
            let (network, flows) = (&network, flows.as_slice());
            let job = Job { network, routing, flows, seed: 1, sample_interval, until };
            let watch = scheme.run_in(Watching(&job));
            prop_assert_eq!(watch.idle_with_backlog, 0, "{}", scheme.name);
            for [came, left, dropped] in watch.packets {
                prop_assert_eq!(came, left + dropped, "{}", scheme.name);
            }
        }
    }

    /// A link sends all the time if its port holds more than it can send until the next sample,
    /// except for the rest of the packet that was counted before.
    #[test]
    fn no_link_with_a_backlog_is_idle(flows in any_flows(), routing in any_routing()) {
        let network = small_fabric();
        let presets = PRESETS.iter().filter(|preset| preset.sends_packets());
        let schemes = presets.map(|preset| scheme_of(preset.name, &[("buffer", "30KB")]));
        for scheme in schemes.chain([pias_in_turns()]) {
            let routing = if scheme.facts().needs_one_path { Routing::Ecmp } else { routing };
            let pairs = looked_at(&network, routing, &flows, &scheme);
            for (before, after, could_send) in pairs {
                let sent = after.sent_bytes - before.sent_bytes;
                let is_busy = before.queue_bytes < could_send || sent + LARGEST >= could_send;
                prop_assert!(is_busy, "{}: {before:?} {after:?} {could_send}", scheme.name);
            }
        }
    }

    /// pFabric (Alizadeh et al., SIGCOMM 2013, 4.1): the packet that is dropped is the worst in the
    /// port.
    #[test]
    fn pfabric_drops_only_the_lowest_priority_present(flows in any_flows(), routing in any_routing()) {
        let network = small_fabric();
        for preset in ["pfabric", "las", "sjf"] {
            let scheme = scheme_of(preset, &[("buffer", "15KB")]);
            let port = |_| DropsTheWorst(PfabricPort::new(scheme.port));
            watched(&network, routing, &flows, &scheme, port);
        }
    }

    /// PIAS ToN 2017, III-B.2: "with strict priority queueing, PIAS is free of packet reordering,
    /// because a flow is always demoted from a higher priority queue to a lower priority queue,
    /// and an earlier packet is guaranteed to dequeue before a latter packet at each hop".
    #[test]
    fn a_pias_message_without_retransmission_is_never_reordered_at_a_hop(flows in any_flows()) {
        let network = small_fabric();
        let scheme = scheme_of("pias", &[("buffer", "unlimited"), ("rto_min", "1s")]);
        let port = |_| PriorityPort::new(scheme.port);
        let (outcome, watch) = watched(&network, Routing::Ecmp, &flows, &scheme, port);
        prop_assert_eq!(outcome.drops, 0);
        for left in watch.left.values().filter(|left| left.iter().all(|(_, again)| !again)) {
            prop_assert!(left.is_sorted_by(|a, b| a.0 < b.0), "{left:?}");
        }
    }

    /// Slytherin 2018, III-B: it "is designed to prioritize packets *after* the first hop upon
    /// observing ECN marks". A packet that it promotes was marked before it came.
    #[test]
    fn slytherin_never_promotes_at_the_first_hop(flows in any_flows(), routing in any_routing()) {
        let network = small_fabric();
        let scheme = scheme_of("slytherin", &[("ecn_threshold", "3KB")]);
        let promoted = Rc::new(Cell::new(0));
        let port = |number| Promotions::new(&network, &scheme, number, &promoted);
        watched(&network, routing, &flows, &scheme, port);
    }
}

/// Asserts that pFabric's port keeps nothing that is worse than what it drops.
struct DropsTheWorst(PfabricPort<Packet>);

impl Port<Packet> for DropsTheWorst {
    fn enqueue(&mut self, packet: Packet, elsewhere: u64, mut dropped: impl FnMut(Packet)) {
        let mut best_dropped = u32::MAX;
        self.0.enqueue(packet, elsewhere, |packet| {
            best_dropped = best_dropped.min(packet.rank());
            dropped(packet);
        });
        let worst = self.0.waiting().map(Packet::rank).max().unwrap_or(0);
        assert!(best_dropped >= worst, "rank {best_dropped} was dropped, {worst} kept");
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.0.dequeue()
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    fn marks(&self) -> u64 {
        self.0.marks()
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

/// Asserts which packets Slytherin's port promotes.
struct Promotions {
    port: Queues<Packet, CongestedFirst>,
    /// A card with one queue, in which no packet passes another.
    is_plain: bool,
    is_first_hop: bool,
    promoted: Rc<Cell<u64>>,
}

impl Promotions {
    /// Port `number`, as the engine makes it. First hops are a host's card, and the first switch's
    /// port to another switch.
    fn new(
        network: &Network,
        scheme: &Scheme,
        number: usize,
        promoted: &Rc<Cell<u64>>,
    ) -> Promotions {
        let (id, is_card) = (PortId(number as u32), number < network.host_count() as usize);
        let leaves = &network.tiers()[0].nodes;
        let is_uplink = network.is_core(id) && leaves.contains(&network.port(id).owner.0);
        let is_plain = is_card && !scheme.host_port.is_like_switch;
        let settings = if is_plain { PortSettings::card() } else { scheme.port };
        Promotions {
            port: Queues::with_serving(settings, CongestedFirst),
            is_plain,
            is_first_hop: is_card || is_uplink,
            promoted: promoted.clone(),
        }
    }
}

impl Port<Packet> for Promotions {
    fn enqueue(&mut self, packet: Packet, elsewhere: u64, dropped: impl FnMut(Packet)) {
        let before = self.port.queue_backlog(0).packets;
        self.port.enqueue(packet, elsewhere, dropped);
        let is_promoted = !self.is_plain && self.port.queue_backlog(0).packets > before;
        if is_promoted && !packet.is_ack() {
            assert!(packet.marks > 0, "not marked before");
            assert!(!self.is_first_hop, "promoted at the first hop");
            self.promoted.set(self.promoted.get() + 1);
        }
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.port.dequeue()
    }

    fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    fn marks(&self) -> u64 {
        self.port.marks()
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

#[test]
fn slytherin_promotes_what_was_marked_at_an_earlier_hop() {
    // Slytherin 2018, Figure 1: congestion at two hops in a row, the first leaf's only uplink and
    // the receiver's port at the second leaf.
    let sizes = [("leaves", "2"), ("hosts_per_leaf", "3"), ("spines", "1")];
    let network = network("leaf-spine", &[&sizes[..], &[("fabric_link", "10Gbps")]].concat());
    let flows: Vec<Flow> =
        (0..10).map(|id| flow(id, [0, 1, 2, 4, 5][id as usize % 5], 3, 200, Time::ZERO)).collect();
    let scheme = scheme_of("slytherin", &[("ecn_threshold", "3KB")]);
    let promoted = Rc::new(Cell::new(0));
    watched(&network, Routing::Ecmp, &flows, &scheme, |number| {
        Promotions::new(&network, &scheme, number, &promoted)
    });
    assert!(promoted.get() > 100, "only {} were promoted", promoted.get());
}

#[test]
fn a_short_flow_passes_long_ones_under_every_size_aware_scheme() {
    // Two long flows fill the port of host 0; a short one comes later.
    let network = small_fabric();
    let flows = [
        flow(0, 1, 0, 2000, Time::ZERO),
        flow(1, 2, 0, 2000, Time::ZERO),
        flow(2, 3, 0, 10, Time::from_ms(1)),
    ];
    let fct = |preset: &str| {
        let outcome = run(&network, Routing::Ecmp, &flows, &scheme_of(preset, &[]));
        outcome.flows[2].finished_at_sender.unwrap() - flows[2].start
    };
    let fifo = fct("dctcp");
    for preset in ["pias", "las", "pfabric", "tcp2q", "tcp8q", "sjf"] {
        // 10 packets and the idle path take about 96 us; one packet may be under way.
        assert!(fct(preset) < Time::from_us(102), "{preset}: {}", fct(preset));
        assert!(fct(preset) < fifo, "{preset} against {fifo} with FIFO");
    }
}

#[test]
fn hosts_that_send_at_less_than_the_line_rate_take_longer_by_that_share() {
    // PIAS ToN 2017, IV-A.2: "rate-limits outgoing traffic at the line rate".
    let network = small_fabric();
    let flows = [flow(0, 0, 5, 5000, Time::ZERO)];
    let fct = |share: &str| {
        let changes =
            [("host_rate", share), ("max_window", "100000"), ("initial_window", "100000")];
        let scheme = scheme_of(
            "dctcp",
            &[&changes[..], &[("buffer", "unlimited"), ("ecn_threshold", "unlimited")]].concat(),
        );
        run(&network, Routing::Ecmp, &flows, &scheme).flows[0].finished_at_sender.unwrap()
    };
    let difference = fct("0.5") - fct("1");
    // The data packets take their time once more. The ACKs of the other host have half a rate too.
    let packets = Time::from_ns(1200) * 5000;
    assert!(difference >= packets && difference < packets + Time::from_us(2), "{difference}");
}

#[test]
fn a_plain_network_card_neither_orders_marks_nor_drops() {
    // PIAS ToN 2017, IV-A.2: "the sender's NIC also introduces latency because it is actually
    // the first contention point of the fabric".
    let network = small_fabric();
    let flows = [flow(0, 0, 5, 3000, Time::ZERO), flow(1, 0, 4, 10, Time::from_us(200))];
    let outcome = |host_port: &str| {
        let changes =
            [("host_port", host_port), ("initial_window", "1000"), ("max_window", "1000")];
        run(&network, Routing::Ecmp, &flows, &scheme_of("pias", &changes))
    };
    let (scheduled, plain) = (outcome("scheme"), outcome("fifo"));
    let nic = |outcome: &Outcome| outcome.ports[0];
    assert!(nic(&scheduled).marks > 0 && nic(&scheduled).drops > 0);
    assert_eq!((nic(&plain).marks, nic(&plain).drops), (0, 0));
    let fct = |outcome: &Outcome| outcome.flows[1].finished_at_sender.unwrap() - flows[1].start;
    let gap = Time::from_us(500);
    assert!(fct(&plain) > fct(&scheduled) + gap, "{} {}", fct(&plain), fct(&scheduled));
}

#[test]
fn sub_queues_that_are_full_drop_or_demote() {
    // Slytherin 2018, V-F: "when the capacity of each of those sub-queues is limited, PIAS needs
    // to either drop or demote packets to a lower priority queue".
    let network = small_fabric();
    let flows: Vec<Flow> = (0..5).map(|id| flow(id, id + 1, 0, 60, Time::ZERO)).collect();
    let drops = |overflow: &str| {
        let limited = [("buffer_sharing", "queue"), ("buffer", "30KB"), ("overflow", overflow)];
        let plenty = [
            ("initial_window", "60"),
            ("thresholds", "100pkt 100pkt 100pkt 100pkt 100pkt 100pkt 100pkt"),
        ];
        let scheme = scheme("pias", "none", &[&limited[..], &plenty].concat());
        run(&network, Routing::Ecmp, &flows, &scheme).drops
    };
    let (dropped, demoted) = (drops("drop"), drops("demote"));
    assert!(demoted < dropped, "{demoted} against {dropped}");
}
