//! Whole flows over a channel that loses, delays, duplicates and marks packets as a script says.

use std::collections::{BTreeMap, BTreeSet};

use flowsched_units::{PACKET_HEADER, Rate, Settings};
use proptest::prelude::*;

use super::congestion::{Dctcp, DctcpSettings, EcnStar, Reno};
use super::parameters::PARAMETERS;
use super::settings::{Growth, Rto};
use super::*;
use crate::packet::Flags;
use crate::transport::{Outgoing, Phase};

/// What happens to a packet.
#[derive(Clone, Copy, Debug)]
struct Fate {
    /// Microseconds until each copy arrives. Without a copy, the packet is lost.
    copies: [Option<u64>; 2],
    marked: bool,
}

/// The fate of every packet after the end of the script.
const KIND: Fate = Fate { copies: [Some(50), None], marked: false };

fn fate() -> impl Strategy<Value = Fate> {
    let copies = prop_oneof![
        4 => Just([Some(50), None]),
        2 => (1u64..200).prop_map(|delay| [Some(delay), None]),
        1 => (1u64..200, 1u64..5_000).prop_map(|(one, other)| [Some(one), Some(other)]),
        2 => Just([None, None]),
    ];
    (copies, any::<bool>()).prop_map(|(copies, marked)| Fate { copies, marked })
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let dctcp = AnyAlgorithm::Dctcp(Dctcp::new(DctcpSettings { g: 0.0625, initial_alpha: 1.0 }));
    let algorithm = prop_oneof![Just(Reno.into()), Just(EcnStar.into()), Just(dctcp)];
    let windows = (1u32..30, 1u32..100, prop_oneof![Just(u32::MAX), 1u32..40]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let rto = prop_oneof![Just(Rto::Estimated), Just(Rto::Linux)];
    (algorithm, windows, flags, rto, 1u32..3, 0u32..3).prop_map(
        |(algorithm, windows, (fast, persistent, ns2, backoff), rto, ack_ratio, probe_timeouts)| {
            let settings = TcpSettings {
                initial_window: windows.0,
                max_window: windows.1,
                receive_window: windows.2,
                fast_retransmit: if fast { FastRetransmit::On } else { FastRetransmit::Off },
                growth: if ns2 { Growth::Ns2 } else { Growth::Rfc },
                rto,
                rto_backoff: backoff,
                open_connections: u32::from(persistent),
                ack_ratio,
                probe_timeouts,
                ..TcpSettings::from_settings(&Settings::defaults(PARAMETERS))
            };
            Tcp::new(settings, algorithm)
        },
    )
}

/// A plain model of RFC 6675: what it knows of a sender's segments.
#[derive(Default)]
struct Board {
    unacknowledged: u32,
    next: u32,
    sacked: BTreeSet<u32>,
    lost: BTreeSet<u32>,
    resent: BTreeSet<u32>,
}

impl Board {
    /// RFC 6675, 4, SetPipe.
    fn pipe(&self) -> u32 {
        (self.unacknowledged..self.next)
            .filter(|segment| !self.sacked.contains(segment))
            .filter(|segment| !self.lost.contains(segment) || self.resent.contains(segment))
            .count() as u32
    }

    fn on_ack(&mut self, ack: &Packet) {
        self.unacknowledged = self.unacknowledged.max(ack.seq);
        self.sacked.extend(ack.sack_block().filter(|segment| *segment >= self.unacknowledged));
        self.sacked = self.sacked.split_off(&self.unacknowledged);
        for segment in self.unacknowledged..self.next {
            // RFC 6675, 4, IsLost: three later ones arrived.
            if self.sacked.range(segment + 1..).count() >= 3 && !self.sacked.contains(&segment) {
                self.lost.insert(segment);
            }
        }
    }

    fn on_timeout(&mut self) {
        let missing = self.unacknowledged..self.next;
        self.lost = missing.filter(|segment| !self.sacked.contains(segment)).collect();
        self.resent.clear();
    }
}

#[derive(Clone, Copy)]
enum Arrival {
    Data(Packet),
    Ack(Packet),
}

/// The channel, what came out of it, and the checks.
struct Channel<'a> {
    tcp: &'a Tcp,
    size: Bytes,
    now: Time,
    script: Vec<Fate>,
    sent: usize,
    arrivals: BTreeMap<(Time, usize), Arrival>,
    board: Board,
    /// Segments that arrived at the receiver.
    arrived: BTreeSet<u32>,
    /// The highest cumulative ACK sent.
    acknowledged: u32,
}

impl Channel<'_> {
    fn new(tcp: &Tcp, size: Bytes, now: Time, script: Vec<Fate>) -> Channel<'_> {
        Channel {
            tcp,
            size,
            now,
            script,
            sent: 0,
            arrivals: BTreeMap::new(),
            board: Board::default(),
            arrived: BTreeSet::new(),
            acknowledged: 0,
        }
    }

    fn carry(&mut self, arrival: Arrival) {
        let fate = self.script.get(self.sent).copied().unwrap_or(KIND);
        for delay in fate.copies.into_iter().flatten() {
            self.sent += 1;
            let arrival = match arrival {
                Arrival::Data(packet) if fate.marked && packet.flags.has(Flags::ECT) => {
                    Arrival::Data(Packet { flags: packet.flags.with(Flags::CE), ..packet })
                }
                other => other,
            };
            self.arrivals.insert((self.now + Time::from_us(delay), self.sent), arrival);
        }
        self.sent += 1;
    }

    /// Carries all that the sender may send, checking each packet.
    fn pump(&mut self, sender: &mut Sender) {
        let (mut twin, mut expected) = (sender.clone(), Vec::new());
        twin.send_all(self.tcp, self.now, |outgoing| expected.push(outgoing));
        let before = self.sent;
        let polled = self.poll(sender);
        assert_eq!(polled, expected, "all at once, and one after the other");
        if before.is_multiple_of(2) {
            *sender = twin;
        }
    }

    fn poll(&mut self, sender: &mut Sender) -> Vec<Outgoing> {
        let mut polled = Vec::new();
        let recovers = |sender: &Sender| sender.retransmissions;
        loop {
            let (window, before) = (sender.window().segments(), recovers(sender));
            let Some(outgoing) = sender.poll(self.tcp, self.now) else { break };
            if !outgoing.flags.has(Flags::SYN) && !outgoing.flags.has(Flags::PROBE) {
                self.check(&outgoing, window, sender.retransmissions > before);
            }
            let wire = (outgoing.payload + PACKET_HEADER as u32) as u16;
            self.carry(Arrival::Data(Packet::data(0, 0, outgoing.seq, wire, outgoing.flags)));
            polled.push(outgoing);
        }
        polled
    }

    fn check(&mut self, outgoing: &Outgoing, window: u32, again: bool) {
        let board = &mut self.board;
        let seq = outgoing.seq;
        assert_eq!(outgoing.offset, u64::from(seq) * PACKET_PAYLOAD);
        assert!(outgoing.offset + u64::from(outgoing.payload) <= self.size.get());
        assert_eq!(again, seq < board.next, "a segment is sent first or sent again");
        assert_eq!(again, outgoing.flags.has(Flags::RETRANSMISSION));
        let place = seq - board.unacknowledged;
        if again {
            assert!(board.lost.contains(&seq), "only what is lost is sent again: {seq}");
            assert!(board.resent.insert(seq), "once: {seq}");
        } else {
            assert_eq!(seq, board.next, "new segments go in order");
            assert!(place < self.tcp.settings.receive_window, "beyond the receive window");
            board.next += 1;
        }
        if !self.tcp.fast_retransmit {
            assert!(place < window, "{place} beyond the congestion window {window}");
        } else if !(again && place == 0) {
            // RFC 6675, 5, step 4.3 sends the first lost segment whatever is in the pipe.
            let pipe = board.pipe();
            assert!(pipe <= window, "{pipe} in the pipe, the window {window}");
        }
    }

    fn answer(&mut self, ack: Packet) {
        if !ack.flags.has(Flags::SYN) {
            let in_order = (0..).find(|segment| !self.arrived.contains(segment)).unwrap();
            assert!(ack.seq <= in_order, "an ACK for what never came");
            assert!(ack.seq >= self.acknowledged, "an ACK that takes back");
            assert!(ack.sack_block().all(|segment| self.arrived.contains(&segment)));
            self.acknowledged = ack.seq;
        }
        self.carry(Arrival::Ack(ack));
    }

    /// Runs a flow until its sender has every segment acknowledged.
    fn run(&mut self, connection: Connection) -> Connection {
        let rate = Rate::from_bps(10_000_000_000);
        let start = Start {
            flow: 0,
            now: self.now,
            size: self.size,
            deadline: None,
            application_rate: None,
            rate,
            random: 0,
        };
        let mut sender = self.tcp.sender(&start, connection);
        let mut receiver = self.tcp.receiver(self.size);
        for _ in 0..100_000 {
            self.pump(&mut sender);
            if sender.phase() == Phase::Acknowledged {
                assert!(receiver.is_complete());
                let segments = segments_of(self.size);
                assert!(self.arrived.iter().copied().eq(0..segments), "every segment, no other");
                return sender.finish(self.now);
            }
            self.step(&mut sender, &mut receiver);
        }
        panic!("the flow does not end");
    }

    fn step(&mut self, sender: &mut Sender, receiver: &mut Receiver) {
        let (tcp, mut answers) = (self.tcp, Vec::new());
        let arrival = self.arrivals.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
        let timer = sender.deadline().min(receiver.deadline());
        assert!(arrival.min(timer) < Time::MAX, "nothing is left to happen");
        self.now = self.now.max(arrival.min(timer));
        if arrival <= timer {
            match self.arrivals.pop_first().unwrap().1 {
                Arrival::Data(packet) => {
                    if !packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::PROBE) {
                        self.arrived.insert(packet.seq);
                    }
                    receiver.on_data(tcp, self.now, &packet, |ack| answers.push(ack));
                }
                Arrival::Ack(ack) => {
                    if !ack.flags.has(Flags::SYN) {
                        self.board.on_ack(&ack);
                    }
                    sender.on_ack(tcp, self.now, &ack);
                }
            }
        } else {
            let timeouts = sender.timeouts.all;
            sender.on_timer(tcp, self.now);
            if sender.timeouts.all > timeouts {
                self.board.on_timeout();
            }
            receiver.on_timer(tcp, self.now, |ack| answers.push(ack));
        }
        answers.into_iter().for_each(|ack| self.answer(ack));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_whatever_the_channel_does(
        tcp in tcp(),
        sizes in prop::collection::vec(1u64..150_000, 1..3),
        script in prop::collection::vec(fate(), 0..400),
    ) {
        let mut connection = if tcp.open_connections() > 0 {
            tcp.open_connection(Time::from_us(100))
        } else {
            tcp.new_connection()
        };
        let mut now = Time::ZERO;
        for size in sizes {
            let mut channel = Channel::new(&tcp, Bytes::new(size), now, script.clone());
            connection = channel.run(connection);
            now = channel.now;
        }
    }
}
