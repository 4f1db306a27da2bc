//! M-PDQ's hosts over paths that accept, pause and lose packets as a test says.

use std::collections::BTreeMap;

use flowsched_units::{Bytes, Kind, Rate, Settings, Time};
use proptest::prelude::*;

use super::{MultipathHeader, MultipathPdq, MultipathReceiver, MultipathSender, MultipathSettings};
use crate::packet::{Flags, Header, Packet};
use crate::transport::explicit::{Answering, ExplicitSender};
use crate::transport::{Outgoing, Phase, Start, TransportPart};

const GBPS: Rate = Rate::from_gbps(1);
const NOTHING: Rate = Rate::from_bps(0);
/// The delay of every path in one direction.
const DELAY: Time = Time::from_us(50);

fn settings(subflows: &str) -> MultipathSettings {
    let mut settings = Settings::defaults(MultipathPdq::PART.parameters());
    let kind = Kind::Count { from: 1, to: 64 };
    settings.set("subflows", kind.parse(subflows).unwrap());
    MultipathSettings::from_settings(&settings)
}

/// A flow over paths without queues, which grant 1 Gbps or what a test sets.
struct Scene {
    settings: MultipathSettings,
    sender: MultipathSender,
    receiver: MultipathReceiver,
    now: Time,
    /// Packets and ACKs in flight, by when and in which order they arrive.
    under_way: BTreeMap<(Time, usize), Packet<MultipathHeader>>,
    count: usize,
    /// The number of timers in a row at the same time.
    in_a_row: u32,
    /// For each path, whether the last packet said that the subflow ends.
    has_ended: BTreeMap<u32, bool>,
    /// For each segment of the flow, the payload and the path of its first packet.
    first: BTreeMap<u32, (u32, u32)>,
    /// For each path, the rate that a packet is granted.
    grants: Vec<Rate>,
}

impl Scene {
    fn new(size: u64, subflows: &str, deadline: Option<Time>) -> Scene {
        let settings = settings(subflows);
        let size = Bytes::new(size);
        let start = Start {
            flow: 0,
            now: Time::ZERO,
            size,
            deadline,
            application_rate: None,
            rate: GBPS,
            random: 1,
        };
        Scene {
            settings,
            sender: MultipathSender::new(&settings, &start),
            receiver: MultipathReceiver::new(size),
            now: Time::ZERO,
            under_way: BTreeMap::new(),
            count: 0,
            in_a_row: 0,
            has_ended: BTreeMap::new(),
            first: BTreeMap::new(),
            grants: vec![GBPS; 64],
        }
    }

    /// Sends all that the sender may send now, and loses the packets that `loses` chooses.
    fn pump(&mut self, mut loses: impl FnMut() -> bool) {
        while let Some(outgoing) = self.sender.poll(&self.settings, self.now) {
            self.note(&outgoing);
            let wire = (outgoing.payload + 56) as u16;
            let mut packet = Packet::data(0, 0, outgoing.seq, wire, outgoing.flags);
            packet.header = outgoing.header;
            packet.header.pdq.rate = self.grants[packet.header.path as usize];
            self.put(packet, loses());
        }
    }

    fn put(&mut self, packet: Packet<MultipathHeader>, is_lost: bool) {
        self.count += 1;
        if !is_lost {
            self.under_way.insert((self.now + DELAY, self.count), packet);
        }
    }

    fn note(&mut self, outgoing: &Outgoing<MultipathHeader>) {
        let Outgoing { seq, payload, flags, header, offset, .. } = *outgoing;
        self.has_ended.insert(header.path(), flags.has(Flags::TERM));
        if flags.has(Flags::PROBE) {
            return;
        }
        assert_eq!(offset, u64::from(seq) * 1460);
        if flags.has(Flags::RETRANSMISSION) {
            let (first, path) = self.first[&seq];
            assert_eq!((first, path), (payload, header.path), "the same again, the same way");
        } else {
            let before = self.first.insert(seq, (payload, header.path));
            assert_eq!(before, None, "segment {seq} is sent for the first time twice");
        }
    }

    /// Runs to the next arrival or timer. Returns false if the flow is over.
    fn step(&mut self, mut loses: impl FnMut() -> bool) -> bool {
        self.pump(&mut loses);
        if self.sender.phase() != Phase::Sending {
            return false;
        }
        let arrival = self.under_way.keys().next().copied();
        let timer = self.sender.deadline();
        match arrival.filter(|(time, _)| *time <= timer) {
            Some(key) => {
                self.now = key.0;
                let packet = self.under_way.remove(&key).unwrap();
                if packet.flags.has(Flags::ACK) {
                    self.sender.on_ack(&self.settings, self.now, &packet);
                } else {
                    let ack = self.receiver.answer(&packet);
                    self.put(ack, loses());
                }
            }
            None => {
                assert!(timer < Time::MAX, "nothing is left to happen");
                assert!(timer >= self.now, "a timer in the past");
                self.in_a_row = if timer == self.now { self.in_a_row + 1 } else { 0 };
                assert!(self.in_a_row < 10, "timers without end");
                self.now = timer;
                self.sender.on_timer(&self.settings, timer);
            }
        }
        true
    }

    fn run(&mut self) {
        while self.step(|| false) {}
    }

    /// Segments that were first sent on the path.
    fn sent_on(&self, path: u32) -> usize {
        self.first.values().filter(|(_, used)| *used == path).count()
    }

    fn check_is_complete(&self, size: u64) {
        assert!(self.receiver.is_complete());
        assert_eq!(self.sender.phase(), Phase::Acknowledged);
        let payload: u64 = self.first.values().map(|(payload, _)| u64::from(*payload)).sum();
        assert_eq!(payload, size);
        assert!(self.first.keys().copied().eq(0..self.first.len() as u32));
    }
}

#[test]
fn free_paths_have_equal_shares() {
    let size = 300 * 1460;
    let mut scene = Scene::new(size, "3", None);
    scene.run();
    scene.check_is_complete(size);
    for path in 0..3 {
        assert!((99..=101).contains(&scene.sent_on(path)), "{}", scene.sent_on(path));
    }
    // A handshake, a third of the time that one path takes, the last packet's way.
    let third = GBPS.transmission_time(Bytes::new(100 * 1516));
    let least = DELAY * 4 + third;
    assert!(scene.now < least + DELAY, "{}", scene.now);
}

/// "The M-PDQ sender periodically shifts the load from the paused subflows to the sending one".
#[test]
fn a_paused_path_sends_nothing_and_the_others_all() {
    let size = 300 * 1460 - 1;
    let mut scene = Scene::new(size, "3", None);
    scene.grants[1] = NOTHING;
    scene.run();
    scene.check_is_complete(size);
    assert_eq!(scene.sent_on(1), 0);
    assert!(scene.sent_on(0).abs_diff(scene.sent_on(2)) < 10, "{}", scene.sent_on(0));
}

#[test]
fn a_path_that_is_free_again_is_used_again() {
    let size = 3000 * 1460;
    let mut scene = Scene::new(size, "2", None);
    scene.grants[1] = NOTHING;
    while scene.now < Time::from_ms(5) {
        scene.step(|| false);
    }
    assert_eq!(scene.sent_on(1), 0);
    scene.grants[1] = GBPS;
    scene.run();
    scene.check_is_complete(size);
    // 400 of 3000 packets are sent in 5 ms; half of the rest is 1300.
    assert!((1200..1350).contains(&scene.sent_on(1)), "{}", scene.sent_on(1));
}

#[test]
fn a_slow_path_sends_less() {
    let size = 1000 * 1460;
    let mut scene = Scene::new(size, "2", None);
    scene.grants[1] = Rate::from_bps(250_000_000);
    scene.run();
    scene.check_is_complete(size);
    assert!((190..220).contains(&scene.sent_on(1)), "{}", scene.sent_on(1));
}

/// Early Termination looks at the whole flow: two paths can send in time what one cannot, and what
/// two cannot send in time either is given up.
#[test]
fn a_flow_is_given_up_when_all_its_paths_are_too_slow() {
    let size = 1000 * 1460;
    let alone = GBPS.transmission_time(Bytes::new(1000 * 1516));
    let mut scene = Scene::new(size, "2", Some(alone / 2 + Time::from_ms(1)));
    scene.run();
    scene.check_is_complete(size);

    let mut scene = Scene::new(size, "2", Some(alone / 2 + Time::from_ms(1)));
    scene.grants[1] = NOTHING;
    scene.run();
    assert_eq!(scene.sender.phase(), Phase::GaveUp);
    assert!(scene.now < alone, "{}", scene.now);
}

/// PDQ 2012, 3.1, Early Termination, 3: the flow is paused, "and the time to deadline is smaller
/// than an RTT".
#[test]
fn a_paused_flow_is_given_up_a_round_trip_before_its_deadline() {
    let (round_trip, due) = (DELAY * 2, Time::from_us(3_050));
    let mut scene = Scene::new(2 * 1460, "2", Some(due));
    scene.grants = vec![NOTHING; 64];
    scene.run();
    assert_eq!(scene.sender.phase(), Phase::GaveUp);
    let rest = GBPS.transmission_time(Bytes::new(1516));
    assert!((due - round_trip..due - rest).contains(&scene.now), "{}", scene.now);
}

#[test]
fn every_subflow_tells_the_switches_that_it_ends() {
    for (size, blocked) in [(1, 64), (5000, 64), (300 * 1460, 1), (300 * 1460, 0)] {
        let mut scene = Scene::new(size, "3", None);
        if blocked < 64 {
            scene.grants[blocked] = NOTHING;
        }
        scene.run();
        let ended = &scene.has_ended;
        assert!(ended.values().all(|has_ended| *has_ended), "{size} {blocked}: {ended:?}");
        assert_eq!(ended.len() as u64, size.div_ceil(1460).min(3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever paths grant and lose, every segment arrives with its own payload, unless the flow
    /// is given up for its deadline. None is sent a second time as if it were new.
    #[test]
    fn every_byte_arrives_once(
        size in 1u64..400_000,
        subflows in 1u32..6,
        changes in prop::collection::vec((1u64..3_000, 0usize..6, 0u64..5), 0..40),
        loss in 0u32..12,
        due in prop::option::weighted(0.2, 1u64..20_000),
        seed: u32,
    ) {
        let mut scene = Scene::new(size, &subflows.to_string(), due.map(Time::from_us));
        let mut state = seed;
        let mut loses = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % 100 < loss
        };
        let mut until = Time::ZERO;
        for (us, path, quarters) in changes {
            until += Time::from_us(us);
            scene.grants[path] = Rate::from_bps(quarters * 250_000_000);
            while scene.now < until && scene.step(&mut loses) {}
        }
        scene.grants.fill(GBPS);
        while scene.step(&mut loses) {}
        if due.is_none() || scene.sender.phase() != Phase::GaveUp {
            scene.check_is_complete(size);
        }
    }
}
