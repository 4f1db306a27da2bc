//! PDQ, D3 and RCP on whole networks, against what the PDQ paper says of them.

use crate::common::{network, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{Job, Outcome, PortSample, Progress};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// PDQ 2012, Figure 2b: servers around one switch, with links of 1 Gbps, 0.1 us of propagation and 25 us
/// of processing per hop.
fn single_bottleneck(hosts: &str, loss: &str) -> Network {
    let delays = [("link_delay", "25.1us"), ("host_delay", "0us")];
    network(
        "star",
        &[("hosts", hosts), ("host_link", "1Gbps"), ("loss", loss), delays[0], delays[1]],
    )
}

/// A flow from host `id + 1` to host 0.
fn to_aggregator(id: u32, size: u64, start: Time) -> Flow {
    let (src, dst, size) = (HostId(id + 1), HostId(0), Bytes::new(size));
    Flow::new(id, src, dst, size, start)
}

fn run(network: &Network, flows: &[Flow], scheme: &Scheme, sample: Time) -> Outcome {
    let job = Job {
        network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: sample,
        until: Some(Time::from_ms(5_000)),
    };
    flowsched_sim::run(&job, scheme, &Progress::default())
}

/// The samples of the port to the aggregator.
struct Bottleneck {
    samples: Vec<PortSample>,
}

impl Bottleneck {
    fn measured(network: &Network, outcome: &Outcome) -> Bottleneck {
        let port = network.port_to(HostId(0)).index() as u32;
        let samples = outcome.ports.iter().filter(|sample| sample.port == port).copied();
        Bottleneck { samples: samples.collect() }
    }

    fn between(&self, from: Time, to: Time) -> impl Iterator<Item = &PortSample> {
        self.samples.iter().filter(move |sample| (from..=to).contains(&sample.time))
    }

    /// The share of 1 Gbps that is used between two samples.
    fn utilisation(&self, from: Time, to: Time) -> f64 {
        let sent = |time| self.between(Time::ZERO, time).last().map_or(0, |s| s.sent_bytes);
        (sent(to) - sent(from)) as f64 * 8.0 / (to - from).as_secs_f64() / 1e9
    }

    /// The queue at every sample, in full packets with PDQ's header.
    fn queues(&self, from: Time, to: Time) -> Vec<f64> {
        self.between(from, to).map(|sample| sample.queue_bytes as f64 / 1516.0).collect()
    }
}

fn ends(outcome: &Outcome) -> Vec<Time> {
    outcome.flows.iter().map(|flow| flow.finished_at_sender.expect("it ends")).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const EVERY: Time = Time::from_us(20);

/// PDQ 2012, 5.4, Scenario #1: "five flows that start at time 0. The flows have no deadlines,
/// and each flow has a size of ~1 MByte. The flow size is perturbed slightly such that a flow
/// with smaller index is more critical."
fn five_flows(scheme: &Scheme) -> (Network, Outcome) {
    let network = single_bottleneck("6", "0");
    let flows: Vec<Flow> = (0..5)
        .map(|id| to_aggregator(id, 1_000_000 + u64::from(id) * 10_000, Time::ZERO))
        .collect();
    let outcome = run(&network, &flows, scheme, EVERY);
    (network, outcome)
}

fn plain(preset: &str) -> Scheme {
    scheme(preset, "none", &[])
}

/// "With seamless flow switching, PDQ completes at ~42 ms due to protocol overhead (~3% bandwidth
/// loss due to TCP/IP header) and first-flow initialization time ... resulting in a near perfect
/// (100%) bottleneck link utilization ... PDQ exhibits a very small queue size and has no packet
/// drops." Here headers are 56 B of 1516, 3.8%, so that 5.1 MB take 42.4 ms at the least.
#[test]
fn five_flows_follow_each_other_seamlessly() {
    let (network, outcome) = five_flows(&plain("pdq"));
    let ends = ends(&outcome);
    assert_eq!(outcome.drops, 0);
    assert_eq!(outcome.retransmissions, 0);
    let over = *ends.iter().max().unwrap();
    let last = over.as_secs_f64() * 1e3;
    assert!((42.3..43.8).contains(&last), "{last} ms");
    // Flows end one after the other, the most critical one first. Flows that differ by less than a
    // round-trip time may change places when the next one starts.
    assert_eq!(ends.iter().min(), Some(&ends[0]));
    let mean_end = mean(&ends.iter().map(|end| end.as_us_f64() / 1e3).collect::<Vec<_>>());
    let one_by_one = (1.00 + 2.01 + 3.03 + 4.06 + 5.10) / 5.0 * 8.0 * 1516.0 / 1460.0;
    assert!((one_by_one..one_by_one * 1.05).contains(&mean_end), "{mean_end} ms");
    let bottleneck = Bottleneck::measured(&network, &outcome);
    let busy = bottleneck.utilisation(Time::from_ms(1), Time::from_ms(42));
    assert!(busy > 0.98, "{busy}");
    let queues = bottleneck.queues(Time::ZERO, over);
    assert!(mean(&queues) < 3.0, "{}", mean(&queues));
    assert!(queues.iter().all(|queue| *queue < 25.0), "{queues:?}");
}

/// "As the feedback loop delay ..., it could take one to two RTTs before flow B can start sending data"
/// without Early Start (3.3.2). There are four switches between flows, and the RTT is 125 us.
#[test]
fn without_early_start_every_switch_between_flows_costs_round_trips() {
    let last = |preset| ends(&five_flows(&plain(preset)).1).into_iter().max().unwrap().as_us_f64();
    let lost = last("pdq-basic") - last("pdq-es");
    assert!((4.0 * 0.5 * 125.0..4.0 * 2.5 * 125.0).contains(&lost), "{lost} us");
}

/// PDQ 2012, 5.4, Scenario #2: "a long-lived flow that starts at time 0, and 50 short flows that
/// all start at 10 ms. The short flow sizes are set to 20 KByte with small random perturbation."
fn burst(scheme: &Scheme) -> (Network, Outcome) {
    let network = single_bottleneck("52", "0");
    let mut flows = vec![to_aggregator(0, 20_000_000, Time::ZERO)];
    let short = |id: u32| to_aggregator(id, 19_500 + u64::from(id * 37 % 50) * 20, BURST);
    flows.extend((1..51).map(short));
    let outcome = run(&network, &flows, scheme, EVERY);
    (network, outcome)
}

const BURST: Time = Time::from_ms(10);

/// "The average link utilization during the preemption period is 91.7%. ... PDQ does not
/// compromise the queue length by having only 5 to 10 packets in the queue."
#[test]
fn a_burst_of_short_flows_keeps_the_link_busy_and_the_queue_short() {
    let (network, outcome) = burst(&plain("pdq"));
    assert_eq!(outcome.drops, 0);
    let ends = ends(&outcome);
    let over = *ends[1..].iter().max().unwrap();
    assert!(ends[0] > over, "the long flow is preempted");
    let bottleneck = Bottleneck::measured(&network, &outcome);
    let busy = bottleneck.utilisation(BURST, over);
    assert!(busy > 0.9, "{busy}");
    let queues = bottleneck.queues(BURST, over);
    let mean = mean(&queues);
    assert!((1.0..12.0).contains(&mean), "{mean}");
    println!("the burst is over at {over}: utilisation {busy:.3}, mean queue {mean:.1}");
}

/// PDQ 2012, 5.1: RCP with exact flow counts "is exactly equivalent to D3 when flows have no
/// deadlines".
#[test]
fn d3_without_deadlines_is_rcp() {
    let [d3, rcp] = ["d3", "rcp"].map(plain);
    assert_eq!(five_flows(&d3).1, five_flows(&rcp).1);
    assert_eq!(burst(&d3).1, burst(&rcp).1);
}

/// Under RCP all flows of a bottleneck have the same rate. Five similar flows therefore end together,
/// after the time that the link needs for all of them.
#[test]
fn rcp_shares_the_link_alike() {
    let (_, outcome) = five_flows(&plain("rcp"));
    let ends: Vec<f64> = ends(&outcome).iter().map(|end| end.as_us_f64()).collect();
    assert_eq!(outcome.drops, 0);
    // 1.00 to 1.04 MB: the shortest ends when 5 x 1.00 MB have passed.
    let at_least = 5.0 * 1_000_000.0 * (1516.0 / 1460.0) * 8.0 / 1e3;
    assert!((at_least..at_least * 1.05).contains(&ends[0]), "{ends:?}");
    assert!(ends[4] < at_least * 1.09, "{ends:?}");
}

/// RCP is max-min fair. One of a host's two flows is held up at host 0, where it shares the link with
/// four others. The other flow gets the rest of the host's card. The fair share of the card is half the
/// link; for one flow to have four fifths, the card has to grant 1.6 times what it carries.
#[test]
fn rcp_hands_out_what_flows_leave_that_are_held_up_elsewhere() {
    let network = single_bottleneck("7", "0");
    let held_up = (0..5).map(|id| to_aggregator(id, 2_000_000, Time::ZERO));
    let free = Flow { dst: HostId(6), ..to_aggregator(0, 8_000_000, Time::ZERO) };
    let flows: Vec<Flow> = held_up.chain([Flow { id: 5, ..free }]).collect();
    let outcome = run(&network, &flows, &plain("rcp"), EVERY);
    // All at once: five flows of 2 MB through one link, and 10 MB through the other.
    let at_least = 10.0 * (1516.0 / 1460.0) * 8.0;
    for end in ends(&outcome).iter().map(|end| end.as_us_f64() / 1e3) {
        assert!((at_least * 0.95..at_least * 1.1).contains(&end), "{end} of {at_least} ms");
    }
}

/// PDQ 2012, Figure 1: three flows of sizes 1, 2, 3 with deadlines 1, 4, 6. Units are 10 ms and 1 MB
/// here, which leaves a sixth for headers and start-up.
#[test]
fn figure_1_with_packets() {
    let network = single_bottleneck("4", "0");
    let flow = |(id, size, due): (u32, u64, u64)| Flow {
        deadline: Some(Time::from_ms(10 * due)),
        ..to_aggregator(id, size * 1_000_000, Time::ZERO)
    };
    // Arrival order fB, fA, fC, for which D3 fails.
    let flows: Vec<Flow> = [(0, 2, 4), (1, 1, 1), (2, 3, 6)].map(flow).into();
    let met = |preset, changes: &[_]| {
        let outcome = run(&network, &flows, &scheme(preset, "none", changes), EVERY);
        let met = |flow: &Flow| {
            let end = outcome.flows[flow.id as usize].finished_at_sender;
            end.is_some_and(|end| Some(end) <= flow.deadline)
        };
        flows.iter().map(met).collect::<Vec<_>>()
    };
    assert_eq!(met("pdq", &[]), [true, true, true]);
    assert_eq!(met("pdq-basic", &[]), [true, true, true]);
    assert_eq!(met("d3", &[("quenching", "false")]), [true, false, true]);
    assert_eq!(met("rcp", &[]), [false, false, true]);
}

/// Early Termination (3.1): a flow that cannot meet its deadline is given up, and leaves the link to one
/// that can.
#[test]
fn a_flow_that_cannot_be_in_time_is_given_up() {
    let network = single_bottleneck("3", "0");
    let due = Some(Time::from_ms(10));
    // Each takes 8.3 ms alone.
    let flows: Vec<Flow> = (0..2)
        .map(|id| Flow { deadline: due, ..to_aggregator(id, 1_000_000, Time::ZERO) })
        .collect();
    let outcome = run(&network, &flows, &scheme("pdq", "none", &[]), EVERY);
    assert!(outcome.flows[0].finished_at_sender <= due);
    let gave_up = outcome.flows[1].gave_up.expect("it is given up");
    // The flow is given up as soon as the time left is too short, which is after 2 ms.
    assert!((1.9..2.5).contains(&(gave_up.as_us_f64() / 1e3)), "{gave_up}");
    assert_eq!(outcome.flows[1].finished_at_sender, None);
    let outcome = run(&network, &flows, &scheme("pdq-es", "none", &[]), EVERY);
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
}

/// Flows as they are drawn: source, distance to the destination, bytes, start in nanoseconds.
fn flows_of(network: &Network, mut drawn: Vec<(u32, u32, u64, u64)>) -> Vec<Flow> {
    drawn.sort_by_key(|(.., start)| *start);
    let hosts = network.host_count();
    (0..)
        .zip(drawn)
        .map(|(id, (src, distance, size, start))| {
            let (src, dst) = (src % hosts, (src + 1 + distance % (hosts - 1)) % hosts);
            let (src, dst, size) = (HostId(src), HostId(dst), Bytes::new(size));
            let start = Time::from_ns(start);
            Flow::new(id, src, dst, size, start)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// PDQ 2012, 3.1 and 5.6: whatever is lost, SYN and TERM included, every flow ends and every byte
    /// arrives. Packets that arrive beyond that were sent again. Where nothing is lost, packets stay in
    /// order, and packets are sent again only after a timeout. Such timeouts are rare: they come when a
    /// queue of some 90 packets, from flows that one link lets go while another link has others,
    /// outlasts the shortest timeout of 1 ms.
    #[test]
    fn every_byte_arrives_though_packets_are_lost(
        drawn in prop::collection::vec((0u32..100, 0u32..100, 1u64..200_000, 0u64..3_000_000), 1..25),
        is_tree in any::<bool>(),
        loss in prop_oneof![Just("0"), Just("0.01"), Just("0.06")],
        preset in prop_oneof![Just("pdq"), Just("pdq-basic")],
        most in prop_oneof![Just("100"), Just("1")],
    ) {
        let network = if is_tree {
            network("single-rooted-tree", &[("loss", loss)])
        } else {
            let sizes = [("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")];
            network("leaf-spine", &[&sizes[..], &[("loss", loss)]].concat())
        };
        let flows = flows_of(&network, drawn);
        let scheme = scheme(preset, "none", &[("max_flows", most)]);
        let outcome = run(&network, &flows, &scheme, Time::ZERO);
        let (mut packets, mut came) = (0, 0);
        for (flow, outcome) in flows.iter().zip(&outcome.flows) {
            let arrived = outcome.finished_at_receiver.expect("every byte arrives");
            prop_assert!(arrived < outcome.finished_at_sender.expect("and the sender knows"));
            packets += flow.size.get().div_ceil(1460);
            came += u64::from(outcome.passage.arrived);
        }
        let again = outcome.retransmissions;
        prop_assert!((packets..=packets + again).contains(&came), "{came} of {packets}+{again}");
        if loss == "0" {
            prop_assert_eq!(outcome.drops, 0);
            for flow in &outcome.flows {
                prop_assert_eq!(flow.passage.reordered, 0);
                prop_assert!(flow.retransmissions == 0 || flow.timeouts.all > 0, "{flow:?}");
            }
        }
    }
}

/// PDQ 2012, 5.6: "For a heavily lossy channel where the packet loss rate is 3% in both directions, the
/// flow completion time of PDQ has increased by 11.4%" (Figure 9b). Every link loses packets here, so
/// each of four hops does. The test only asks that flows take less than twice as long.
#[test]
fn loss_costs_little() {
    let flows: Vec<Flow> =
        (0..10).map(|id| to_aggregator(id, 60_000 + 8_000 * u64::from(id), Time::ZERO)).collect();
    let scheme = scheme("pdq", "none", &[]);
    let mean = |loss| {
        let outcome = run(&single_bottleneck("11", loss), &flows, &scheme, Time::ZERO);
        mean(&ends(&outcome).iter().map(|end| end.as_us_f64()).collect::<Vec<_>>())
    };
    let (none, some) = (mean("0"), mean("0.015"));
    println!("mean FCT without loss {none:.0} us, with 3% a way {some:.0} us");
    assert!((1.0..2.0).contains(&(some / none)), "{none} {some}");
}

/// Query aggregation (PDQ 2012, 5.1 and 5.2): sizes uniform between 2 and 198 KB, deadlines exponential
/// with mean 20 ms and at least 3 ms. Flows of 11 servers go to one server at once.
fn query_aggregation(flows: u32, seed: u64, with_deadlines: bool) -> Vec<Flow> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let flow = |id| {
        let size = Bytes::new((2_000.0 + uniform() * 196_000.0) as u64);
        let due = f64::max(3e-3, -(1.0 - uniform()).ln() * 20e-3);
        let deadline = with_deadlines.then(|| Time::from_secs_f64(due));
        let (src, dst) = (HostId(id % 11 + 1), HostId(0));
        Flow { deadline, ..Flow::new(id, src, dst, size, Time::ZERO) }
    };
    (0..flows).map(flow).collect()
}

const SEEDS: std::ops::Range<u64> = 1..9;

/// PDQ 2012, 5.2.2 and the abstract: PDQ "can save ~30% average flow completion time compared
/// with TCP, RCP and D3"; Early Start makes the most of it.
#[test]
fn pdq_ends_flows_sooner_than_fair_sharing() {
    let network = network("single-rooted-tree", &[]);
    let mean_fct = |preset| {
        let scheme = scheme(preset, "none", &[]);
        let of_seed = |seed| {
            let outcome = run(&network, &query_aggregation(20, seed, false), &scheme, Time::ZERO);
            mean(&ends(&outcome).iter().map(|end| end.as_us_f64()).collect::<Vec<_>>())
        };
        mean(&SEEDS.map(of_seed).collect::<Vec<_>>())
    };
    let [full, basic, rcp] = ["pdq", "pdq-basic", "rcp"].map(mean_fct);
    println!("mean FCT: {full:.0} us, Basic {basic:.0} us, RCP {rcp:.0} us");
    assert!((0.2..0.45).contains(&(1.0 - full / rcp)), "{full} {rcp}");
    assert!(full < basic && basic < rcp, "{full} {basic} {rcp}");
}

/// The number of deadlines met, with this many flows for each seed, over all seeds.
fn deadlines_met(network: &Network, flows: u32, scheme: &Scheme) -> usize {
    let of_seed = |seed| {
        let flows = query_aggregation(flows, seed, true);
        let outcome = run(network, &flows, scheme, Time::ZERO);
        let in_time = |flow: &&Flow| {
            let end = outcome.flows[flow.id as usize].finished_at_sender;
            end.is_some_and(|end| Some(end) <= flow.deadline)
        };
        flows.iter().filter(in_time).count()
    };
    SEEDS.map(of_seed).sum()
}

/// PDQ 2012, Figure 3a: PDQ(Full) meets the most deadlines, then PDQ(ES+ET), PDQ(ES), PDQ(Basic);
/// RCP meets few.
#[test]
fn early_start_and_early_termination_meet_deadlines() {
    let network = network("single-rooted-tree", &[]);
    let met = |preset| deadlines_met(&network, 20, &plain(preset));
    let [full, no_probing, no_termination, basic, d3, rcp] =
        ["pdq", "pdq-es-et", "pdq-es", "pdq-basic", "d3", "rcp"].map(met);
    println!("of 160: {full} {no_probing} {no_termination} {basic}, D3 {d3}, RCP {rcp}");
    assert!(no_probing > no_termination && no_termination > basic);
    assert!(full > basic && full > d3 && d3 > rcp);
    // Suppressed Probing matters with more flows than these.
    assert!(full.abs_diff(no_probing) < 16);
}

/// PDQ 2012, 5.5: a random permutation of a fat-tree's 16 servers, with ten flows per server at once, of
/// sizes uniform around `mean_size` bytes. Returns the mean FCT in ms of three draws.
fn permutation_fct(mean_size: u64, scheme: &Scheme) -> f64 {
    let delays = [("link", "1Gbps"), ("link_delay", "25.1us")];
    let network = network("fat-tree", &[&[("k", "4")][..], &delays].concat());
    let of_seed = |seed| {
        let sizes = query_aggregation(160, seed, false);
        let mut to: Vec<u32> = (0..16).collect();
        // Sattolo's shuffle, with the first flows' sizes as random numbers: nobody sends to itself.
        (1..16).rev().for_each(|last| to.swap(last, sizes[last].size.get() as usize % last));
        let flow = |flow: &Flow| {
            let (src, size) = (flow.id % 16, flow.size.get() * mean_size / 100_000);
            let (src, dst) = (HostId(src), HostId(to[src as usize]));
            Flow { src, dst, size: Bytes::new(size), ..*flow }
        };
        let flows: Vec<Flow> = sizes.iter().map(flow).collect();
        let ends = ends(&run(&network, &flows, scheme, Time::ZERO));
        mean(&ends.iter().map(|end| end.as_us_f64() / 1e3).collect::<Vec<_>>())
    };
    mean(&(1..4).map(of_seed).collect::<Vec<_>>())
}

/// Prints tables of how PDQ depends on settings that its paper leaves open, or gives without saying what
/// other values do.
#[test]
#[ignore = "prints tables"]
fn tables_of_settings() {
    let tree = network("single-rooted-tree", &[]);
    let row = |settings: &[(&str, &str)]| {
        let scheme = scheme("pdq", "none", settings);
        let last = ends(&five_flows(&scheme).1).into_iter().max().unwrap();
        let (network, outcome) = burst(&scheme);
        let over = *ends(&outcome)[1..].iter().max().unwrap();
        let bottleneck = Bottleneck::measured(&network, &outcome);
        let (busy, queues) = (bottleneck.utilisation(BURST, over), bottleneck.queues(BURST, over));
        let longest = queues.iter().copied().fold(0.0, f64::max);
        let met = deadlines_met(&tree, 20, &scheme) as f64 / 1.6;
        let settings = settings.iter().map(|(name, value)| format!("{name} {value}"));
        println!(
            "| {} | {:.1} | {:.1}% | {:.1} | {longest:.0} | {met:.0}% | {:.2} | {:.1} |",
            settings.collect::<Vec<_>>().join(", "),
            last.as_us_f64() / 1e3,
            100.0 * busy,
            mean(&queues),
            permutation_fct(100_000, &scheme),
            permutation_fct(1_000_000, &scheme),
        );
    };
    println!(
        "| setting | five flows end, ms | burst: utilisation | mean queue | largest | deadlines of \
         20 flows met | tree, 100 KB: mean FCT, ms | 1 MB |"
    );
    ["0", "0.1", "0.25", "0.5", "0.75", "1"].iter().for_each(|value| row(&[("dampening", value)]));
    ["0", "1", "1.5", "2", "3"].iter().for_each(|value| row(&[("early_start", value)]));
    ["0", "0.1", "0.2", "0.5", "1"].iter().for_each(|value| row(&[("probe_spacing", value)]));
}

/// PDQ 2012, 3.3.1 and 3.3.2: a switch remembers 2 kappa flows, 20 bytes each, and paused flows probe.
#[test]
fn what_it_costs_is_counted() {
    let network = single_bottleneck("4", "0");
    let flows = [to_aggregator(0, 5_000_000, Time::ZERO), to_aggregator(1, 6_000_000, Time::ZERO)];
    let overhead =
        |preset, flows: &[Flow]| run(&network, flows, &plain(preset), Time::ZERO).overhead;
    let alone = overhead("pdq-es-et", &flows[..1]);
    assert_eq!((alone.header, alone.probes), (Bytes::new(16), Bytes::ZERO));
    assert_eq!(alone.switch_state, Some(Bytes::new(20)));
    let both = overhead("pdq-es-et", &flows);
    assert_eq!(both.port_state, Some(Bytes::new(40)), "the port to the aggregator");
    // The second flow waits for 41 ms, in which it sends a probe of 56 bytes about every 113 us.
    let probes = both.probes.get() / 56;
    assert!((320..400).contains(&probes), "{probes}");
    let tcp = overhead("tcp", &flows);
    assert_eq!((tcp.header, tcp.probes, tcp.port_state), (Bytes::ZERO, Bytes::ZERO, None));
}

/// PDQ 2012, 3.3.3: r_PDQ below the link's rate leaves the rest of the link to other traffic.
#[test]
fn a_share_of_the_links_is_left_to_others() {
    for share in ["0.5", "0.8"] {
        let scheme = scheme("pdq", "none", &[("link_share", share)]);
        let (network, outcome) = five_flows(&scheme);
        assert_eq!(outcome.drops, 0);
        let last = *ends(&outcome).iter().max().unwrap();
        let bottleneck = Bottleneck::measured(&network, &outcome);
        let used = bottleneck.utilisation(Time::from_ms(2), last - Time::from_ms(2));
        let share: f64 = share.parse().unwrap();
        // Probes come on top of the share.
        assert!((share - 0.03..share + 0.03).contains(&used), "{used} of {share}");
    }
}
