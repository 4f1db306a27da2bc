//! What holds on whole networks, for every discipline.

mod common;

use common::{all_disciplines, by_acceptance, flow, flows, network, run, run_until, scheme};
use flowsched_fluid::Outcome;
use flowsched_schemes::flow_level::{Acknowledgements, Admission, FlowLevel, Sharing};
use flowsched_topology::{HostId, Network, PortId};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Time};
use flowsched_workload::sizes::by_name;
use flowsched_workload::{Flow, wire_bytes};

/// Links of different rates, so that flows are limited at several places.
fn fabric() -> Network {
    let changes =
        [("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "4"), ("fabric_link", "15Gbps")];
    network("leaf-spine", &changes)
}

fn busy(network: &Network, count: u64, seed: u64) -> Vec<Flow> {
    let mut flows =
        flows(network, ("all-to-all", 0.8), &by_name("web-search-packets").unwrap(), count, seed);
    for flow in flows.iter_mut().filter(|flow| flow.id % 3 == 0) {
        flow.deadline = Some(flow.start + Time::from_ms(1 + u64::from(flow.id % 7)));
    }
    flows
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let network = fabric();
    // The delays of packets in the optimum are tested in tests/optimal.rs.
    for scheme in
        all_disciplines().iter().filter(|scheme| scheme.sharing != Sharing::LEAST_TIME_LEFT_FIRST)
    {
        for (dst, bytes) in [(1, 1), (1, 1460), (5, 1461), (5, 10_000_000), (11, 123_456)] {
            let one = Flow { size: Bytes::new(bytes), ..flow(0, 0, dst, 1, Time::from_us(7)) };
            let outcome = run(&network, &[one], scheme);
            let taken = outcome.flows[0].finished_at_sender.unwrap() - one.start;
            let ideal = network.ideal_fct(one.src, one.dst, one.size);
            // Ends are rounded up to a picosecond.
            assert!(
                taken.saturating_sub(ideal) <= Time::from_ps(1) && ideal <= taken,
                "{scheme:?}"
            );
        }
    }
}

#[test]
fn announcements_and_headers_take_their_time() {
    let network = network("star", &[("hosts", "2")]);
    let header = Bytes::new(56);
    let scheme =
        FlowLevel { round_trips_before: 1, header, ..scheme(Sharing::MOST_CRITICAL_FIRST) };
    let one = flow(0, 0, 1, 1000, Time::ZERO);
    let taken = run(&network, &[one], &scheme).flows[0].finished_at_sender.unwrap();
    let rtt = network.base_rtt(HostId(0), HostId(1), header, header);
    let more = network.port(network.nic(HostId(0))).rate.transmission_time(Bytes::new(16_000));
    let ideal = network.ideal_fct(one.src, one.dst, one.size);
    assert_eq!(taken, rtt + more + ideal);
}

/// No byte is lost or made. The ports of hosts send and receive the bytes of their flows, and no port ever sends
/// more than it can.
#[test]
fn every_byte_passes_every_link_of_its_path_once_and_in_time() {
    let network = fabric();
    let flows = busy(&network, 400, 3);
    let interval = Time::from_us(100);
    for scheme in all_disciplines() {
        let outcome = run_until(&network, &flows, &scheme, interval, None);
        assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()), "{scheme:?}");
        let ports = network.ports().len();
        let last = &outcome.ports[outcome.ports.len() - ports..];
        for host in network.hosts() {
            let wire = |flow: &Flow| wire_bytes(flow.size).get();
            let back =
                |flow: &Flow| flow.size.get().div_ceil(1460) * scheme.acknowledgements.size.get();
            let (from, to) = (|flow: &&Flow| flow.src == host, |flow: &&Flow| flow.dst == host);
            let data: u64 = flows.iter().filter(from).map(wire).sum();
            let of_others: u64 = flows.iter().filter(to).map(back).sum();
            assert_eq!(last[network.nic(host).index()].sent_bytes, data + of_others, "{scheme:?}");
            let data: u64 = flows.iter().filter(to).map(wire).sum();
            let of_others: u64 = flows.iter().filter(from).map(back).sum();
            let received = last[network.port_to(host).index()].sent_bytes;
            assert_eq!(received, data + of_others, "{scheme:?}");
        }
        for (before, after) in outcome.ports.iter().zip(&outcome.ports[ports..]) {
            let most = network.ports()[after.port as usize].rate.bytes_in(after.time - before.time);
            let sent = after.sent_bytes - before.sent_bytes;
            // Both counters are rounded to bytes, and a rate may be off by a 500th.
            let most = most.get() + most.get() / 500 + 2;
            assert!(sent <= most, "{scheme:?}: {sent} of {most}");
        }
    }
}

/// Flows in opposite directions over the same links slow each other down by their acknowledgements, and by nothing
/// else.
#[test]
fn acknowledgements_take_their_part_of_what_they_pass() {
    let network = network("star", &[("hosts", "4")]);
    let rate = network.port(network.nic(HostId(0))).rate.as_bps() as f64;
    for (sharing, header) in [(Sharing::MaxMin, 40), (Sharing::MOST_CRITICAL_FIRST, 56)] {
        let header = Bytes::new(header);
        let alone = scheme(sharing);
        let acknowledgements = Acknowledgements { size: header, ..alone.acknowledgements };
        let scheme = FlowLevel { header, acknowledgements, ..alone };
        let one = flow(0, 0, 1, 10_000, Time::ZERO);
        let back = flow(1, 1, 0, 10_000, Time::ZERO);
        let elsewhere = flow(1, 2, 3, 10_000, Time::ZERO);
        let end = |flows: &[Flow]| run(&network, flows, &scheme).flows[0].finished_at_sender;
        let alone = end(&[one]).unwrap();
        assert_eq!(end(&[one, elsewhere]), Some(alone));
        let bits = 8.0 * 10_000.0 * (1460 + header.get()) as f64;
        let ratio = header.get() as f64 / (1460 + header.get()) as f64;
        let longer = (end(&[one, back]).unwrap() - alone).as_secs_f64();
        let expected = bits / (rate * (1.0 - ratio)) - bits / rate;
        assert!((longer - expected).abs() < 1e-11, "{longer} for {expected}");
    }
}

/// PDQ's acknowledgements go back over the links of their data. Those of other schemes take a path of their own.
#[test]
fn acknowledgements_go_back_their_way() {
    let network = network("fat-tree", &[("k", "4")]);
    let flows: Vec<Flow> =
        (0..40).map(|id| flow(id, id % 4, 12 + id % 3, 10, Time::ZERO)).collect();
    let alone = scheme(Sharing::MaxMin);
    let core_bytes = |same_way_back| {
        let acknowledgements = Acknowledgements { same_way_back, ..alone.acknowledgements };
        let scheme = FlowLevel { acknowledgements, ..alone.clone() };
        let sent = run(&network, &flows, &scheme).ports;
        let of = |port: PortId| sent[port.index()].sent_bytes;
        let core: Vec<PortId> = network.core_ports().filter(|port| of(*port) >= 15_000).collect();
        core.into_iter().map(|port| (of(port), of(network.reverse(port)))).collect::<Vec<_>>()
    };
    let is_alike = |(data, back): &(u64, u64)| data * 40 == back * 1500;
    let same = core_bytes(true);
    assert!(!same.is_empty() && same.iter().all(is_alike), "{same:?}");
    assert!(!core_bytes(false).iter().all(is_alike));
}

/// Requested rates come late. A flow whose link is taken when it starts gets its rate after two round trips instead
/// of one. Others get the share of a flow one and a half round trips after its end.
#[test]
fn rates_that_are_asked_for_come_late() {
    let network = network("star", &[("hosts", "4")]);
    let scheme = FlowLevel {
        admission: Admission::ByRequest,
        round_trips_before: 1,
        ..scheme(Sharing::MaxMin)
    };
    let flows = [flow(0, 0, 2, 10_000, Time::ZERO), flow(1, 1, 2, 100, Time::ZERO)];
    let outcome = run(&network, &flows, &scheme);
    let [long, short] = [0, 1].map(|id| outcome.flows[id].finished_at_sender.unwrap());
    let (data, header) = (Bytes::new(PACKET_WIRE), Bytes::new(PACKET_HEADER));
    let ask = network.base_rtt(HostId(0), HostId(2), header, header);
    let notice = network.base_rtt(HostId(0), HostId(2), data, header) * 3 / 2;
    let rate = network.port(network.nic(HostId(0))).rate;
    let ideal = |flow: &Flow| network.ideal_fct(flow.src, flow.dst, flow.size);
    // The short flow has half the link's rate from its second request on.
    let at_half = rate.transmission_time(Bytes::new(150_000));
    assert_close(short, ask * 2 + at_half + ideal(&flows[1]));
    // The long flow has half the rate while the short one sends, and until it notices that the short one has ended.
    assert_close(long, ask + (at_half * 2 + notice) / 2 + ideal(&flows[0]));
    // A flow that comes to free links waits for nothing.
    let apart = [flows[0], flow(1, 1, 3, 100, Time::ZERO)];
    for (flow, outcome) in apart.iter().zip(run(&network, &apart, &scheme).flows) {
        assert_close(outcome.finished_at_sender.unwrap(), ask + ideal(flow));
    }
}

/// PDQ with announcements.
fn announced(dampening: f64, early_start: f64) -> FlowLevel {
    FlowLevel { round_trips_before: 1, ..by_acceptance(dampening, early_start) }
}

/// The round trips on a star of a header in both directions, and of a full packet and its acknowledgement.
fn round_trips(network: &Network) -> [Time; 2] {
    let header = Bytes::new(PACKET_HEADER);
    let of = |packet| network.base_rtt(HostId(0), HostId(2), packet, header);
    [of(header), of(Bytes::new(PACKET_WIRE))]
}

/// A flow that announces itself to a switch that has just accepted another is paused. It starts when its probe has
/// come back.
#[test]
fn switches_accept_newcomers_one_at_a_time() {
    let network = network("star", &[("hosts", "4")]);
    let scheme = announced(0.5, 2.0);
    let [round_trip, _] = round_trips(&network);
    // The first one has ended by then.
    let start = |start| {
        let flows = [flow(0, 0, 2, 1, Time::ZERO), flow(1, 1, 2, 10, start)];
        let end = run(&network, &flows, &scheme).flows[1].finished_at_sender.unwrap();
        end - start - network.ideal_fct(HostId(1), HostId(2), flows[1].size)
    };
    assert_close(start(Time::ZERO), round_trip * 2);
    assert_close(start(round_trip / 2 - Time::from_ps(1)), round_trip * 2);
    assert_close(start(round_trip / 2), round_trip);
}

/// A flow starts after the one before it has ended, nearly at once with Early Start. It probes until then.
#[test]
fn one_flow_follows_the_other_after_a_while() {
    let network = network("star", &[("hosts", "4"), ("host_link", "1Gbps"), ("link_delay", "1us")]);
    let [announcement, round_trip] = round_trips(&network);
    let flows = [flow(0, 0, 2, 1000, Time::ZERO), flow(1, 1, 2, 2000, Time::ZERO)];
    let [one, other] = [0, 1].map(|id| sending_time(&network, &flows[id]));
    for (early_start, gap) in [(0.0, 1.2), (1.5, 0.7), (2.0, 0.2), (3.0, 0.0)] {
        let outcome = run(&network, &flows, &announced(0.0, early_start));
        let [first, second] = [0, 1].map(|id| outcome.flows[id].finished_at_sender.unwrap());
        let alone = announcement + by_itself(&network, &flows[0]);
        assert_close(first, alone + beside_probes(&network, one));
        let gap = Time::from_secs_f64(gap * round_trip.as_secs_f64());
        assert_close(second, first + gap + other);
    }
}

/// A paused flow sends for a round trip until it hears of the pause, beside the flow that it is paused for. Then it
/// probes.
#[test]
fn a_pause_is_heard_of_a_round_trip_later() {
    let network = network("star", &[("hosts", "4")]);
    let [announcement, round_trip] = round_trips(&network);
    let start = Time::from_ms(1);
    let flows = [flow(0, 0, 2, 10_000, Time::ZERO), flow(1, 1, 2, 1_000, start)];
    let outcome = run(&network, &flows, &announced(0.0, 2.0));
    let [long, short] = [0, 1].map(|id| outcome.flows[id].finished_at_sender.unwrap());
    // Each has half of the link for two round trips.
    let expected = start + announcement + round_trip + by_itself(&network, &flows[1]);
    let alone = sending_time(&network, &flows[1]) - round_trip;
    assert_close(short, expected + beside_probes(&network, alone));
    // The long flow loses what the short one takes, and the hand-over.
    let taken = sending_time(&network, &flows[1]) + beside_probes(&network, alone);
    let expected = announcement + by_itself(&network, &flows[0]) + taken + round_trip / 5;
    assert_close(long, expected);
}

/// Nothing announces the capacity that a pause frees on another link. The flow that takes this capacity has to
/// probe first, and sends a round trip later.
#[test]
fn what_a_paused_flow_leaves_elsewhere_is_taken_late() {
    let network = network("star", &[("hosts", "4")]);
    let [announcement, round_trip] = round_trips(&network);
    let start = Time::from_us(200);
    let waiting = flow(1, 1, 2, 10_001, Time::ZERO);
    let flows = [flow(0, 0, 2, 10_000, Time::ZERO), waiting, flow(2, 0, 3, 9_000, start)];
    let outcome = run(&network, &flows, &announced(0.0, 2.0));
    let end = outcome.flows[1].finished_at_sender.unwrap();
    // The paused flow sends for two more round trips, because it has half of its card. It sends beside the other
    // flow for the last four fifths of a round trip.
    let half = round_trip * 2 / 5;
    let expected = start + announcement + round_trip * 6 / 5 + half + by_itself(&network, &waiting);
    let alone = sending_time(&network, &waiting) - half;
    assert_close(end, expected + beside_probes(&network, alone));
}

/// A flow that has been given up takes no capacity for probes.
#[test]
fn a_flow_probes_until_it_is_given_up() {
    let network = network("star", &[("hosts", "4"), ("host_link", "1Gbps"), ("link_delay", "1us")]);
    let [announcement, _] = round_trips(&network);
    let due = |flow: Flow, ms| Flow { deadline: Some(Time::from_ms(ms)), ..flow };
    // The second flow needs 24 ms, and can no longer meet its deadline when the first has sent for half its time.
    let flows =
        [due(flow(0, 0, 2, 1000, Time::ZERO), 20), due(flow(1, 1, 2, 2000, Time::ZERO), 30)];
    let scheme = FlowLevel { gives_up: true, ..announced(0.0, 2.0) };
    let outcome = run(&network, &flows, &scheme);
    assert!(outcome.flows[1].gave_up.is_some());
    let beside = Time::from_ms(6) - announcement;
    // What the first flow sends beside the probes.
    let sent = beside - beside_probes(&network, beside);
    let alone = announcement + by_itself(&network, &flows[0]);
    let end = outcome.flows[0].finished_at_sender.unwrap();
    let difference = end.as_secs_f64() - (alone + (beside - sent)).as_secs_f64();
    assert!(difference.abs() < 1e-6, "{difference}");
    assert!((beside - sent).as_secs_f64() > 1e-5);
}

/// A flow that still sends beside the flow that it is paused for has less left, and may go before others then.
#[test]
fn what_a_flow_sends_before_it_hears_of_a_pause_counts() {
    let network = network("star", &[("hosts", "5")]);
    // When the fourth flow comes, the first has 34 packets more than the second, and sends 68 more.
    let flows = [
        flow(0, 0, 2, 1_867, Time::ZERO),
        flow(1, 1, 2, 1_000, Time::ZERO),
        flow(2, 1, 3, 900, Time::ZERO),
        flow(3, 4, 2, 500, Time::from_ms(1)),
    ];
    let outcome = run(&network, &flows, &announced(0.0, 2.0));
    let ends = [3, 0, 1].map(|id: usize| outcome.flows[id].finished_at_sender.unwrap());
    assert!(ends.is_sorted(), "{ends:?}");
}

/// A flow that comes while a flow still sends ahead of waiting flows gets its right place: a link orders waiting
/// flows by what they have said.
#[test]
fn newcomers_find_their_place_among_flows_that_wait() {
    let network = network("star", &[("hosts", "12")]);
    for wait in 0..15 {
        let flows = [
            flow(0, 0, 2, 1_867, Time::ZERO),
            flow(1, 1, 2, 1_000, Time::ZERO),
            flow(2, 1, 3, 900, Time::ZERO),
            flow(3, 5, 2, 3_000, Time::ZERO),
            flow(4, 6, 2, 4_000, Time::ZERO),
            flow(5, 4, 2, 500, Time::from_ms(1)),
            flow(6, 7, 2, 995, Time::from_ms(1) + Time::from_us(10 * wait)),
        ];
        let outcome = run(&network, &flows, &announced(0.0, 2.0));
        let ends = [6, 1, 3].map(|id: usize| outcome.flows[id].finished_at_sender.unwrap());
        assert!(ends.is_sorted(), "{wait}: {ends:?}");
    }
}

/// A flow that is given up while it waits leaves nothing behind, whenever it is given up.
#[test]
fn who_is_given_up_while_waiting_takes_nobodys_turn() {
    let network =
        network("star", &[("hosts", "5"), ("host_link", "1Gbps"), ("link_delay", "25us")]);
    // With this many packets, the second flow is given up when the first has sent everything, and would be next.
    for (early_start, at_its_turn) in [(0.0, 45), (2.0, 60)] {
        let end = |packets| {
            let due = |flow: Flow, us| Flow { deadline: Some(Time::from_us(us)), ..flow };
            let flows = [
                due(flow(0, 0, 2, 1000, Time::ZERO), 12_900),
                due(flow(1, 1, 2, packets, Time::from_us(10)), 13_000),
                flow(2, 3, 2, 2000, Time::from_us(20)),
            ];
            let scheme = FlowLevel { gives_up: true, ..announced(0.0, early_start) };
            let outcome = run(&network, &flows, &scheme);
            assert!(outcome.flows[1].gave_up.is_some());
            outcome.flows[2].finished_at_sender.unwrap().as_secs_f64()
        };
        let difference = end(at_its_turn) - end(120);
        assert!(difference.abs() < 1e-5, "{early_start}: {difference}");
    }
}

/// PDQ's flows leave a part of every link to other traffic.
#[test]
fn flows_fill_their_share_of_a_link() {
    let network = network("star", &[("hosts", "3"), ("link_delay", "1ns"), ("host_delay", "0us")]);
    let flows = [flow(0, 0, 2, 10_000, Time::ZERO), flow(1, 1, 2, 10_000, Time::ZERO)];
    let last = |link_share| {
        let scheme = FlowLevel { link_share, ..scheme(Sharing::MOST_CRITICAL_FIRST) };
        run(&network, &flows, &scheme).flows[1].finished_at_sender.unwrap().as_secs_f64()
    };
    let ratio = last(0.25) / last(1.0);
    assert!((3.9..4.01).contains(&ratio), "{ratio}");
}

fn by_itself(network: &Network, flow: &Flow) -> Time {
    network.ideal_fct(flow.src, flow.dst, flow.size)
}

/// The time that the flow takes at the rate of a star's links.
fn sending_time(network: &Network, flow: &Flow) -> Time {
    network.port(network.nic(flow.src)).rate.transmission_time(wire_bytes(flow.size))
}

/// How much longer a flow that takes `time` alone takes beside the probes of one waiting flow.
fn beside_probes(network: &Network, time: Time) -> Time {
    let rate = network.port(network.nic(HostId(0))).rate.as_bps() as f64;
    let [_, round_trip] = round_trips(network);
    let probes = 8.0 * PACKET_HEADER as f64 / (0.6 * round_trip.as_secs_f64());
    Time::from_secs_f64(time.as_secs_f64() * probes / (rate - probes))
}

/// Asserts that two times differ only by rounding to picoseconds.
fn assert_close(found: Time, expected: Time) {
    let difference = found.saturating_sub(expected).max(expected.saturating_sub(found));
    assert!(difference <= Time::from_ps(4), "{found} for {expected}");
}

/// The FNV-1a hash of the values that tables are made of.
fn digest(outcome: &Outcome) -> u64 {
    let ends = outcome.flows.iter().flat_map(|flow| {
        [flow.finished_at_sender, flow.finished_at_receiver].map(|end| end.unwrap_or(Time::MAX))
    });
    let sent = outcome.ports.iter().map(|port| Time::from_ps(port.sent_bytes));
    ends.chain(sent)
        .flat_map(|number| number.as_ps().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[test]
fn runs_side_by_side_are_equal() {
    let network = fabric();
    let flows = busy(&network, 300, 5);
    for scheme in all_disciplines() {
        let once = || run_until(&network, &flows, &scheme, Time::from_us(500), None);
        let alone = once();
        let beside = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(once)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(beside.iter().all(|outcome| *outcome == alone), "{scheme:?}");
    }
}

/// A change here is a change of every published result: say why in the change log.
#[test]
fn outcomes_are_those_of_all_machines_and_builds() {
    let network = fabric();
    let flows = busy(&network, 300, 5);
    let found: Vec<String> = all_disciplines()
        .iter()
        .map(|scheme| run_until(&network, &flows, scheme, Time::from_us(500), None))
        .map(|outcome| format!("{:016x}", digest(&outcome)))
        .collect();
    let expected = [
        "4c863ea061e2107e",
        "3277cbcbc1d88ca4",
        "d335e887091e754b",
        "b981a24d80367a9d",
        "9309c39cc1ddbb3a",
        "ac020e7ae7fbf7cf",
        "fef8064a1a203c58",
        "ccc44b55537cba01",
        "f32462e3c17237f6",
        "37e59756159ad697",
        "05ad38084a875733",
    ];
    assert_eq!(found, expected);
}

/// A flow that cannot meet its deadline makes room for those that can.
#[test]
fn a_lost_flow_is_given_up_at_once() {
    let network = network("star", &[("hosts", "3")]);
    let due = |flow: Flow, ms| Flow { deadline: Some(Time::from_ms(ms)), ..flow };
    // 10,000 packets take 12 ms. The second flow cannot end within 6 ms after the first one.
    let flows = [
        due(flow(0, 0, 2, 10_000, Time::ZERO), 13),
        due(flow(1, 1, 2, 10_000, Time::ZERO), 18),
        due(flow(2, 1, 2, 9_000, Time::ZERO), 24),
    ];
    let scheme = FlowLevel { gives_up: true, ..scheme(Sharing::MOST_CRITICAL_FIRST) };
    let outcome = run(&network, &flows, &scheme);
    let ends = outcome.flows.iter().map(|flow| flow.finished_at_sender);
    let met: Vec<bool> =
        ends.zip(&flows).map(|(end, flow)| end.is_some() && end <= flow.deadline).collect();
    assert_eq!(met, [true, false, true]);
    assert_eq!(outcome.flows[1].finished_at_sender, None);
}

#[test]
fn a_run_that_is_cut_off_says_what_had_finished() {
    let network = fabric();
    let flows = busy(&network, 200, 1);
    let scheme = scheme(Sharing::MaxMin);
    let whole = run(&network, &flows, &scheme);
    let until = flows[100].start;
    let part = run_until(&network, &flows, &scheme, Time::ZERO, Some(until));
    for (part, whole) in part.flows.iter().zip(&whole.flows) {
        let by_then = |time: Option<Time>| time.filter(|time| *time <= until);
        assert_eq!(part.finished_at_sender, by_then(whole.finished_at_sender));
        assert_eq!(part.finished_at_receiver, by_then(whole.finished_at_receiver));
    }
}
