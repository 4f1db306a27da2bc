//! Compares the switch with the ports and controllers of the simulator, on the same packets, through real sockets in
//! real time.
//!
//! Each port of the switch has a controller that notes what its host hands over and what leaves, and when. A replica
//! of the network, which is served here one event at a time, gets what hosts handed over. It must decide the same:
//! order, departures, marks, drops, headers and messages. What hosts get must be what left the last ports, and
//! captures and counters must agree. Times are the switch's own, so a slow machine changes the sequence and not the
//! result.

#[path = "../../sim/tests/all/common/boxed.rs"]
mod boxed;
#[path = "support/compared.rs"]
mod compared;
#[path = "support/first_run.rs"]
mod first_run;
#[path = "support/frames.rs"]
mod frames;
#[path = "support/noting.rs"]
mod noting;
#[path = "support/real.rs"]
mod real;
#[path = "support/replica.rs"]
mod replica;
#[path = "support/root.rs"]
mod root;
#[path = "support/sequence.rs"]
mod sequence;
#[path = "support/spoilt.rs"]
mod spoilt;
#[path = "support/switched.rs"]
mod switched;
#[path = "support/wires.rs"]
mod wires;

use std::collections::BTreeSet;

use compared::{Tally, compare, compare_reading, compare_spoilt};
use first_run::FirstRun;
use flowsched_lab::switch::form::Form;
use flowsched_schemes::Scheme;
use flowsched_schemes::controller::epn::header::{EpnHeader, Tp};
use flowsched_schemes::on_linux::RealHosts;
use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Parts, Ports, World};
use flowsched_sim::Job;
use flowsched_units::Time;
use real::{Real, from_hosts};
use root::is_root;
use sequence::{delayed, frames_of, random, random_headers, recorded, replay};
use spoilt::spoil;

/// Who sends packets through the switch.
#[derive(Clone, Copy)]
enum Source {
    /// The test sends random packets, with this seed.
    Random(u64),
    /// The test sends random packets of the job's flows, with random headers and this seed.
    RandomHeaders(u64),
    /// The test sends what hosts send in a simulation.
    Recorded,
    /// The test sends what hosts send in a simulation, but what belongs to a flow stops for some time.
    Paused(Pause),
    /// The test sends what hosts send in a simulation, with frames that are spoilt at random with this seed.
    Spoilt(u64),
    /// The lab's hosts send.
    Hosts,
}

/// A pause of a flow.
#[derive(Clone, Copy)]
struct Pause {
    flow: u32,
    at: Time,
    /// [`Time::MAX`] if the flow does not go on.
    length: Time,
}

/// Sends packets through a switch, and compares it with the replica.
struct Differential<'a> {
    job: Job<'a>,
    scheme: &'a Scheme,
    source: Source,
}

impl World for Differential<'_> {
    type Output = Tally;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Tally
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let Differential { job, scheme, source } = self;
        let priorities = scheme.port.queues;
        let Parts { transport, tagger, ports, controllers } = parts;
        let (ports, controllers) = (&ports, &controllers);
        let form = match (&source, scheme.on_linux().unwrap()) {
            // Random packets are of no flow of the job, which only the kernel's TCP can send.
            (Source::Random(_), _) => Form::Tcp,
            (_, RealHosts::Kernel(hosts)) => Form::of_kernel(&hosts.tags).unwrap(),
            (_, RealHosts::OverUdp(_)) => Form::Datagrams(T::Header::CODEC.unwrap()),
        };
        let (setting, hosts) = ((form, priorities), job.network.host_count());
        let sequence = match source {
            Source::Random(seed) => random(hosts, priorities, seed),
            Source::RandomHeaders(seed) => random_headers(&form, job.flows, priorities, seed),
            Source::Recorded | Source::Spoilt(_) => {
                recorded(&job, &form, (transport, tagger), ports, controllers)
            }
            Source::Paused(Pause { flow, at, length }) => {
                let all = recorded(&job, &form, (transport, tagger), ports, controllers);
                delayed(all, |sent| sent.packet.flow == flow && sent.at >= at, length)
            }
            Source::Hosts => {
                let real = Real::up(hosts, scheme, T::Header::WIRE_BYTES);
                let ends = (transport, tagger);
                let (run, crossed) = from_hosts(&job, setting, ends, (ports, controllers), real);
                return compare(&job, (ports, controllers), &run, &crossed);
            }
        };
        let mut sent = frames_of(&form, hosts, &sequence, priorities);
        if let Source::Spoilt(seed) = source {
            spoil(&mut sent, seed);
        }
        let (run, crossed) = replay(&job, setting, (ports, controllers), &sequence, sent);
        if let Source::Spoilt(_) = source {
            compare_spoilt(&run, &crossed);
            return Tally::default();
        }
        compare_reading(&sequence, &run);
        compare(&job, (ports, controllers), &run, &crossed)
    }
}

const STAR: &str = r#"kind = "star", hosts = 5, host_link = "20Mbps", link_delay = "20us""#;

/// Two switches, with two bottlenecks: the link between them, and the link to a host that more than one other sends to.
/// At these rates a byte takes a whole number of picoseconds, because the simulator's lines round other times down.
const DUMBBELL: &str = r#"kind = "dumbbell", hosts_per_side = 3, host_link = "20Mbps", bottleneck_link = "16Mbps", link_delay = "20us", host_delay = "20us""#;

/// An experiment with this topology, scheme and workload.
fn experiment(topology: &str, scheme: &str, workload: &str) -> FirstRun {
    FirstRun::of(&format!(
        "
        topology = {{ {topology} }}
        workload = {{ {workload} }}
        scheme = [{{ {scheme} }}]
    "
    ))
}

#[test]
fn random_packets_meet_what_they_meet_in_the_simulator() {
    if !is_root("random_packets_meet_what_they_meet_in_the_simulator") {
        return;
    }
    for text in [
        r#"preset = "tcp", buffer = "12KB""#,
        r#"preset = "ecn-star", buffer = "20KB", ecn_threshold = "5KB""#,
        r#"preset = "ecn-star", buffer = "20KB", ecn_threshold = "5KB", ecn_at = "dequeue""#,
        r#"preset = "pias", queues = 8, thresholds = "10KB 20KB 30KB 40KB 50KB 60KB 70KB", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "slytherin", buffer = "20KB", ecn_threshold = "5KB""#,
        r#"preset = "pfabric", buffer = "12KB""#,
        r#"preset = "dctcp", port = "weighted-round-robin", queues = 3, weights = "3 2 1", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "dctcp", port = "weighted-round-robin", queues = 3, weights = "3 2 1", ecn_scope = "queue", buffer_sharing = "queue", buffer = "6KB", ecn_threshold = "3KB""#,
        r#"preset = "dctcp", buffer_sharing = "switch", switch_memory = "30KB", dynamic_alpha = 1.0, ecn_threshold = "5KB""#,
        r#"preset = "pias", queues = 2, thresholds = "10KB", buffer_sharing = "switch", switch_memory = "20KB", dynamic_alpha = 4.0, ecn_threshold = "5KB""#,
        r#"preset = "dctcp", without_ect = "drop", buffer = "40KB", ecn_threshold = "5KB""#,
    ] {
        let first = experiment(STAR, text, r#"sizes = "fixed 1KB", flows = 1, at = "0ms""#);
        let (job, scheme) = (Job { flows: &[], ..first.job() }, first.scheme());
        let (mut marks, mut drops) = (0, 0);
        for seed in 0..4 {
            let source = Source::Random(seed);
            let tally = scheme.run_in(Differential { job, scheme, source });
            (marks, drops) = (marks + tally.marks, drops + tally.drops);
        }
        println!("{text}: {marks} marks, {drops} drops");
        assert!(drops > 0, "{text}");
        assert!(marks > 0 || !text.contains("ecn_threshold"), "{text}");
    }
}

/// Flows that together overrun the buffers.
const INCAST: &str =
    r#"pattern = "many-to-one", receiver = 0, sizes = "fixed 30KB", flows = 8, at = "0ms""#;

/// Flows in both directions between the switches of the dumbbell, and beside them.
const ACROSS: &str = r#"flow = [
    { src = 1, dst = 0, size = "20KB" },
    { src = 3, dst = 0, size = "30KB" },
    { src = 4, dst = 0, size = "40KB" },
    { src = 5, dst = 2, size = "50KB" },
    { src = 2, dst = 4, size = "30KB" },
    { src = 0, dst = 4, size = "40KB" },
]"#;

/// The schemes whose switches have controllers.
const WITH_CONTROLLERS: [&str; 7] = [
    r#"preset = "pdq""#,
    r#"preset = "pdq-basic""#,
    r#"preset = "m-pdq""#,
    r#"preset = "d3""#,
    r#"preset = "rcp""#,
    r#"preset = "hpcc""#,
    EPN,
];

/// EPN with switches that see all flows and often send messages.
const EPN: &str =
    r#"preset = "epn", tiny = "10KB", mark_interval = "1ms", counter_interval = "5ms""#;

#[test]
fn recorded_packets_meet_what_they_meet_in_the_simulator() {
    if !is_root("recorded_packets_meet_what_they_meet_in_the_simulator") {
        return;
    }
    for scheme in [
        r#"preset = "tcp", buffer = "12KB""#,
        r#"preset = "pias", queues = 4, thresholds = "5KB 10KB 20KB", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "slytherin", buffer = "20KB", ecn_threshold = "5KB""#,
        r#"preset = "dctcp", port = "weighted-round-robin", queues = 3, weights = "3 2 1", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "dctcp", buffer_sharing = "switch", switch_memory = "30KB", dynamic_alpha = 1.0, ecn_threshold = "5KB""#,
        r#"preset = "pfabric", buffer = "12KB""#,
        r#"preset = "homa", buffer = "20KB""#,
    ] {
        let tally = differential(scheme, Source::Recorded);
        println!("{scheme}: {tally:?}");
        assert!(tally.marks + tally.drops > 0, "{scheme}");
    }
}

#[test]
fn controllers_write_what_they_write_in_the_simulator() {
    if !is_root("controllers_write_what_they_write_in_the_simulator") {
        return;
    }
    for scheme in WITH_CONTROLLERS {
        let tally = differential(scheme, Source::Recorded);
        println!("{scheme}: {tally:?}");
        assert!(tally.rewritten > 0, "{scheme}");
        assert!(!tally.messages.is_empty() || !scheme.contains("epn"), "{scheme}");
    }
}

/// Both switches have controllers that write headers or send messages. Packets cross one of them, or both.
#[test]
fn controllers_of_two_switches_write_what_they_write_in_the_simulator() {
    if !is_root("controllers_of_two_switches_write_what_they_write_in_the_simulator") {
        return;
    }
    for scheme in WITH_CONTROLLERS {
        let tally = differential_of((DUMBBELL, scheme), ACROSS, Source::Recorded);
        println!("{scheme}: {tally:?}");
        assert_eq!(tally.writers.len(), 2, "{scheme}");
        let demoting: BTreeSet<u8> =
            tally.messages.iter().map(|(_, header)| epn(header).dsid).collect();
        let has_both = demoting.range(1..).count() == 2;
        assert!(has_both || !scheme.contains("epn"), "messages of the switches {demoting:?}");
    }
}

/// The headers are random, so that controllers see what no host would send. HPCC's header is left out: hardly any random
/// bytes are one.
#[test]
fn random_headers_meet_what_they_meet_in_the_simulator() {
    if !is_root("random_headers_meet_what_they_meet_in_the_simulator") {
        return;
    }
    for scheme in WITH_CONTROLLERS.into_iter().filter(|scheme| !scheme.contains("hpcc")) {
        let on_both = (0..4).map(Source::RandomHeaders).flat_map(|source| {
            [(STAR, INCAST), (DUMBBELL, ACROSS)]
                .map(|(topology, workload)| differential_of((topology, scheme), workload, source))
        });
        let rewritten: Vec<usize> = on_both.map(|tally| tally.rewritten).collect();
        println!("{scheme}: {rewritten:?} headers rewritten");
        assert!(rewritten.iter().all(|rewritten| *rewritten > 0), "{scheme}: {rewritten:?}");
    }
}

/// EPN 2018, IV-B. The HIGH flow falls silent without a last packet. The controller finds its byte counter unchanged,
/// forgets it, and promotes the other flow. It does not if a flow has to be silent for 1,000 readings.
#[test]
fn byte_counters_find_a_flow_that_died() {
    if !is_root("byte_counters_find_a_flow_that_died") {
        return;
    }
    let promotes = |reads: u32| told(reads, Time::MAX).contains(&Tp::HIGH);
    assert!(promotes(3));
    assert!(!promotes(1_000));
}

/// The flow that died sends again. To the controller it is a new one, and demotes the flow that took its place. A flow
/// that may be silent for 1,000 readings keeps its place over the same pause.
#[test]
fn a_flow_that_died_and_sends_again_gets_its_place_back() {
    if !is_root("a_flow_that_died_and_sends_again_gets_its_place_back") {
        return;
    }
    let loses_its_place = |reads: u32| {
        let told = told(reads, Time::from_ms(30));
        let promoted = told.iter().position(|tp| *tp == Tp::HIGH);
        promoted.is_some_and(|promoted| told[promoted..].contains(&Tp::LOW))
    };
    assert!(loses_its_place(3));
    assert!(!loses_its_place(1_000));
}

/// The priorities that the controller tells one of two flows. The other is shorter, and pauses. A controller reads its
/// counters every 2 ms, and a flow without progress for this many `reads` is dead. Hosts mark every packet that comes
/// after a pause, however short, because the recorded flow knows nothing of the pause in which it dies.
fn told(reads: u32, pause: Time) -> Vec<Tp> {
    let flows = r#"flow = [
        { src = 1, dst = 0, size = "100KB" },
        { src = 2, dst = 0, size = "200KB" },
    ]"#;
    let scheme = format!(
        r#"preset = "epn", dp = "size", initial_window = 10, mark_interval = "1ms", probe_interval = "1us", counter_interval = "2ms", counter_reads = {reads}"#
    );
    let pause = Pause { flow: 0, at: Time::from_ms(10), length: pause };
    let tally = differential_of((STAR, &scheme), flows, Source::Paused(pause));
    let of_other = tally.messages.iter().filter(|(flow, _)| *flow == 1);
    let told = of_other.map(|(_, header)| epn(header).tp).collect();
    println!("{reads} readings, paused for {}: {told:?}", pause.length);
    told
}

/// The header in a message of EPN.
fn epn(header: &[u8]) -> EpnHeader {
    let [bits @ .., ttl] = header else { panic!("no header") };
    let bits = u32::from_be_bytes(bits.try_into().unwrap());
    (EpnHeader::TUNNEL.unwrap().from_bits)(bits, *ttl)
}

/// The kernel's TCP, EPN's edges around it, and the simulator's hosts over UDP, through TAP interfaces.
#[test]
fn packets_of_real_hosts_meet_what_they_meet_in_the_simulator() {
    if !is_root("packets_of_real_hosts_meet_what_they_meet_in_the_simulator") {
        return;
    }
    let on_star = [
        r#"preset = "tcp", buffer = "12KB""#,
        r#"preset = "ecn-star", buffer = "30KB", ecn_threshold = "5KB""#,
        r#"preset = "slytherin", buffer = "30KB", ecn_threshold = "5KB""#,
        r#"preset = "pias", lab_senders = "simulator", queues = 4, thresholds = "5KB 10KB 20KB", buffer = "30KB", ecn_threshold = "5KB""#,
        r#"preset = "pdq""#,
        r#"preset = "m-pdq""#,
        r#"preset = "d3""#,
        r#"preset = "rcp""#,
        r#"preset = "hpcc""#,
        r#"preset = "l2dct", buffer = "30KB", ecn_threshold = "5KB""#,
        EPN,
    ]
    .map(|scheme| (STAR, scheme, INCAST));
    let on_dumbbell = [r#"preset = "pdq""#, EPN].map(|scheme| (DUMBBELL, scheme, ACROSS));
    for (topology, scheme, workload) in on_star.into_iter().chain(on_dumbbell) {
        let tally = differential_of((topology, scheme), workload, Source::Hosts);
        println!("{scheme}: {tally:?}");
        let has_controller = !scheme.contains("buffer");
        assert!(tally.sent > 100, "{scheme}");
        assert!(tally.rewritten > 0 || !has_controller, "{scheme}");
        assert!(tally.marks + tally.drops > 0 || has_controller, "{scheme}");
    }
}

/// The frames are of Ethernet, VLAN, IPv4, IPv6, TCP, UDP, VXLAN and the headers of schemes. The switch does not panic, and
/// no host gets a frame that does not name it.
#[test]
fn spoilt_frames_reach_no_other_host() {
    if !is_root("spoilt_frames_reach_no_other_host") {
        return;
    }
    for scheme in [
        r#"preset = "tcp", buffer = "12KB""#,
        r#"preset = "pdq""#,
        r#"preset = "m-pdq""#,
        r#"preset = "d3""#,
        r#"preset = "hpcc""#,
        r#"preset = "homa""#,
        r#"preset = "phost""#,
        r#"preset = "dctcp", lab_senders = "simulator""#,
        EPN,
    ] {
        for seed in 0..4 {
            differential(scheme, Source::Spoilt(seed));
        }
    }
}

fn differential(scheme: &str, source: Source) -> Tally {
    differential_of((STAR, scheme), INCAST, source)
}

fn differential_of((topology, scheme): (&str, &str), workload: &str, source: Source) -> Tally {
    let first = experiment(topology, scheme, workload);
    let (job, scheme) = (first.job(), first.scheme());
    scheme.run_in(Differential { job, scheme, source })
}
