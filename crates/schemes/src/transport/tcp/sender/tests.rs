//! Tests the sender by itself, rule by rule. The RFCs' words are in quotes.

use flowsched_units::{Rate, Settings};

use super::super::congestion::{AnyAlgorithm, Dctcp, DctcpSettings, EcnStar, Reno};
use super::super::parameters::PARAMETERS;
use super::super::settings::{EctOn, FastRetransmit, Rto, TcpSettings};
use super::*;

const RTT: Time = Time::from_us(100);

fn settings() -> TcpSettings {
    TcpSettings {
        initial_window: 10,
        fast_retransmit: FastRetransmit::On,
        ..TcpSettings::from_settings(&Settings::defaults(PARAMETERS))
    }
}

fn tcp(settings: TcpSettings, algorithm: impl Into<AnyAlgorithm>) -> Tcp {
    Tcp::new(settings, algorithm.into())
}

fn reno() -> Tcp {
    tcp(settings(), Reno)
}

/// A flow of this size that starts now.
fn start(size: Bytes, now: Time) -> Start {
    Start {
        flow: 0,
        now,
        size,
        deadline: None,
        application_rate: None,
        rate: Rate::from_gbps(10),
        random: 1,
    }
}

/// A sender of `segments` full segments on an open connection, and the segments that it sends at
/// first.
fn started(tcp: &Tcp, segments: u64) -> (Sender, Vec<u32>) {
    let connection = Connection::open(tcp, RTT);
    let mut sender =
        Sender::new(tcp, &start(Bytes::new(segments * PACKET_PAYLOAD), Time::ZERO), connection);
    let sent = all(tcp, &mut sender, Time::ZERO);
    (sender, sent)
}

/// The segments that the sender sends now.
fn all(tcp: &Tcp, sender: &mut Sender, now: Time) -> Vec<u32> {
    std::iter::from_fn(|| sender.poll(tcp, now)).map(|outgoing| outgoing.seq).collect()
}

fn ack(expected: u32, flags: Flags, block: std::ops::Range<u32>) -> Packet {
    let flags = flags.with(Flags::ACK);
    let mut ack = Packet { seq: expected, flags, ..Packet::default() };
    ack.set_sack_block(block);
    ack
}

fn plain(expected: u32) -> Packet {
    ack(expected, Flags::default(), 0..0)
}

fn marked(expected: u32) -> Packet {
    ack(expected, Flags::ECE, 0..0)
}

fn sacked(expected: u32, block: std::ops::Range<u32>) -> Packet {
    ack(expected, Flags::default(), block)
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// RFC 6675, 4: IsLost "returns true when either DupThresh discontiguous SACKed sequences have
/// arrived above 'SeqNum' or more than (DupThresh - 1) * SMSS bytes with sequence numbers
/// greater than 'SeqNum' have been SACKed".
#[test]
fn fast_retransmit_comes_after_three_later_segments() {
    let tcp = reno();
    let (mut sender, sent) = started(&tcp, 100);
    assert_eq!(sent, (0..10).collect::<Vec<_>>());
    // RFC 3042, limited transmit: one new segment for each of the first two.
    sender.on_ack(&tcp, us(100), &sacked(0, 1..2));
    assert_eq!(all(&tcp, &mut sender, us(100)), [10]);
    sender.on_ack(&tcp, us(100), &sacked(0, 1..3));
    assert_eq!(all(&tcp, &mut sender, us(100)), [11]);
    sender.on_ack(&tcp, us(100), &sacked(0, 1..4));
    let sent = all(&tcp, &mut sender, us(100));
    assert_eq!(sent.first(), Some(&0), "{sent:?}");
    assert_eq!((sender.retransmissions, sender.timeouts.all), (1, 0));
}

/// RFC 6675, 5, step 4.2: "ssthresh = cwnd = (FlightSize / 2)", and step 4.3: "Retransmit the
/// first data segment presumed dropped", whatever is in the pipe.
#[test]
fn the_first_loss_is_sent_again_even_if_the_pipe_is_full() {
    let tcp = reno();
    let (mut sender, _) = started(&tcp, 10);
    // Segments 1 to 3 arrive; 0 and 4 to 9 are lost, and nothing else will be reported.
    sender.on_ack(&tcp, us(100), &sacked(0, 1..4));
    assert_eq!(sender.window().segments(), 5);
    assert_eq!(all(&tcp, &mut sender, us(100)), [0]);
}

/// RFC 6675, 5.1, and RFC 5681, 3.1: after a timeout the window starts from one segment.
#[test]
fn a_timeout_sends_one_segment_again() {
    let tcp = reno();
    let (mut sender, _) = started(&tcp, 100);
    let due = sender.deadline();
    assert_eq!(due, tcp.settings.rto_min);
    sender.on_timer(&tcp, due - us(1));
    assert_eq!(sender.timeouts.all, 0, "too early");
    sender.on_timer(&tcp, due);
    assert_eq!((sender.timeouts.all, sender.window().segments()), (1, 1));
    assert_eq!(all(&tcp, &mut sender, due), [0]);
    sender.on_ack(&tcp, due + us(100), &plain(1));
    assert_eq!(all(&tcp, &mut sender, due + us(100)), [1, 2], "slow start");
}

/// RFC 6298, 5.3: "When an ACK is received that acknowledges new data, restart the
/// retransmission timer so that it will expire after RTO seconds", and 5.2: "When all
/// outstanding data has been acknowledged, turn off the retransmission timer."
#[test]
fn new_acknowledgements_restart_the_timer_and_the_last_turns_it_off() {
    let tcp = reno();
    let (mut sender, _) = started(&tcp, 3);
    sender.on_ack(&tcp, us(500), &plain(1));
    assert_eq!(sender.deadline(), us(500) + tcp.settings.rto_min);
    sender.on_ack(&tcp, us(700), &sacked(1, 2..3));
    assert_eq!(sender.deadline(), us(500) + tcp.settings.rto_min, "not new data");
    sender.on_ack(&tcp, us(900), &plain(3));
    assert_eq!(sender.deadline(), Time::MAX);
    assert!(sender.is_done());
}

/// RFC 6298, 5.5: "The host MUST set RTO <- RTO * 2 ("back off the timer")."
#[test]
fn each_timeout_in_a_row_doubles_the_wait() {
    let tcp = reno();
    let (mut sender, _) = started(&tcp, 3);
    let mut last = Time::ZERO;
    for factor in [1, 2, 4, 8] {
        let due = sender.deadline();
        assert_eq!(due - last, tcp.settings.rto_min * factor);
        sender.on_timer(&tcp, due);
        assert_eq!(all(&tcp, &mut sender, due), [0]);
        last = due;
    }
}

/// RFC 6298, 3: "RTT samples MUST NOT be made using segments that were retransmitted (and thus
/// for which it is ambiguous whether the reply was for the first instance of the packet or a
/// later instance)" (Karn). The back-off stays until a sample is made (5.5).
#[test]
fn what_was_sent_again_gives_no_sample() {
    let tcp = reno();
    let (mut sender, _) = started(&tcp, 10);
    let before = sender.connection.round_trip;
    let due = sender.deadline();
    sender.on_timer(&tcp, due);
    all(&tcp, &mut sender, due);
    sender.on_ack(&tcp, due + us(5_000), &plain(1));
    let rto = tcp.settings.rto_min * 2;
    assert_eq!(sender.connection.round_trip.timeout(&tcp.settings), rto, "still backed off");
    sender.on_ack(&tcp, due + us(5_000), &plain(10));
    let mut backed_off = before;
    backed_off.back_off(&tcp.settings);
    assert_eq!(sender.connection.round_trip, backed_off, "no sample");
    // There is no sample after a fast retransmit either.
    let (mut sender, _) = started(&tcp, 10);
    sender.on_ack(&tcp, us(100), &sacked(0, 1..4));
    assert_eq!(all(&tcp, &mut sender, us(100)), [0]);
    sender.on_ack(&tcp, us(1_500), &plain(10));
    assert_eq!(sender.connection.round_trip, before, "no sample");
    // A new segment, sent once, gives one again.
    let (mut sender, _) = started(&tcp, 100);
    sender.on_timer(&tcp, due);
    all(&tcp, &mut sender, due);
    sender.on_ack(&tcp, due + us(100), &plain(10));
    assert_eq!(all(&tcp, &mut sender, due + us(100))[0], 10);
    sender.on_ack(&tcp, due + us(200), &plain(11));
    assert_eq!(sender.connection.round_trip.timeout(&tcp.settings), tcp.settings.rto_min);
}

/// RFC 6298, 3 and 5.5: after a time-out Linux measures nothing until a segment is acknowledged that was sent once, and
/// until then the time-out stays doubled.
#[test]
fn linux_measures_nothing_that_was_sent_again() {
    let tcp = tcp(TcpSettings { rto: Rto::Linux, ..settings() }, Reno);
    let (mut sender, _) = started(&tcp, 10);
    let due = sender.deadline();
    assert_eq!(due, RTT + tcp.settings.rto_min);
    sender.on_timer(&tcp, due);
    assert_eq!(all(&tcp, &mut sender, due), [0]);
    sender.on_ack(&tcp, due + RTT, &ack(1, Flags::default(), 0..0));
    let timeout = |sender: &Sender| sender.connection.round_trip.timeout(&tcp.settings);
    assert_eq!(timeout(&sender), due * 2, "segment 0 was sent twice");
    // Segment 1 took 2.3 ms: 1/8 of the excess of 2.2 ms is added to the round-trip time, and the deviation is 3/4
    // of 50 us and 1/4 of 2.2 ms.
    sender.on_ack(&tcp, due + RTT * 2, &ack(2, Flags::default(), 0..0));
    assert_eq!(timeout(&sender), us(375 + 3 * 50 + 2_200));
}

/// `tcp_ack_update_rtt` in tcp_input.c: an ACK that only reports segments is a measurement too.
#[test]
fn linux_measures_what_sack_reports() {
    let tcp = tcp(TcpSettings { rto: Rto::Linux, ..settings() }, Reno);
    let (mut sender, _) = started(&tcp, 10);
    sender.on_ack(&tcp, us(2_300), &ack(0, Flags::default(), 2..3));
    // As above, 2.3 ms after 100 us.
    let timeout = sender.connection.round_trip.timeout(&tcp.settings);
    assert_eq!(timeout, us(375 + 3 * 50 + 2_200));
}

/// RFC 5681, 4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission if
/// the TCP has not sent data in an interval exceeding the retransmission timeout", where RW =
/// min(IW, cwnd).
#[test]
fn a_connection_idle_for_a_timeout_restarts_from_the_initial_window() {
    let tcp = reno();
    let rto = tcp.settings.rto_min;
    for (idle, expected) in [(rto, 20), (rto + us(1), 10)] {
        let (mut sender, _) = started(&tcp, 10);
        for expected in 1..=10 {
            sender.on_ack(&tcp, us(100), &plain(expected));
        }
        assert_eq!(sender.window().segments(), 20);
        let connection = sender.finish(us(100));
        let size = Bytes::new(100 * PACKET_PAYLOAD);
        let next = Sender::new(&tcp, &start(size, us(100) + idle), connection);
        assert_eq!(next.window().segments(), expected, "idle for {idle}");
    }
}

/// RFC 3168, 6.1.2: "the TCP sender's congestion window should be reduced only once in response
/// to a series of dropped and/or CE packets from a single window of data".
#[test]
fn marks_cut_the_window_once_a_window() {
    let tcp = tcp(settings(), EcnStar);
    let (mut sender, _) = started(&tcp, 100);
    sender.on_ack(&tcp, us(100), &marked(1));
    assert_eq!(sender.window().segments(), 5);
    for expected in 2..=10 {
        sender.on_ack(&tcp, us(100), &marked(expected));
        assert_eq!(sender.window().segments(), 5, "same window");
    }
    assert!(!all(&tcp, &mut sender, us(100)).is_empty());
    sender.on_ack(&tcp, us(200), &marked(11));
    assert_eq!(sender.window().segments(), 2, "the next window");
}

/// RFC 3168, 6.1.2, the sentence above: a loss and marks in a single window of data reduce the
/// congestion window only once.
#[test]
fn a_loss_and_marks_in_one_window_cut_it_once() {
    let tcp = tcp(settings(), EcnStar);
    let (mut sender, _) = started(&tcp, 100);
    sender.on_ack(&tcp, us(100), &plain(1));
    all(&tcp, &mut sender, us(100));
    sender.on_ack(&tcp, us(100), &sacked(1, 2..5));
    let after_loss = sender.window().segments();
    all(&tcp, &mut sender, us(100));
    sender.on_ack(&tcp, us(110), &marked(5));
    assert_eq!(sender.window().segments(), after_loss);
}

/// RFC 3168, 6.1.2: the sender "sets the CWR flag in the TCP header of the first new data
/// packet sent after the window reduction".
#[test]
fn the_first_new_packet_after_a_cut_says_so() {
    let tcp = tcp(settings(), EcnStar);
    let (mut sender, _) = started(&tcp, 100);
    sender.on_ack(&tcp, us(100), &marked(1));
    (2..=6).for_each(|expected| sender.on_ack(&tcp, us(100), &plain(expected)));
    let first = sender.poll(&tcp, us(100)).unwrap();
    assert!(first.flags.has(Flags::CWR) && first.flags.has(Flags::ECT));
    sender.on_ack(&tcp, us(100), &plain(10));
    assert!(!sender.poll(&tcp, us(100)).unwrap().flags.has(Flags::CWR));
}

/// RFC 8257, 3.3: "cwnd = cwnd * (1 - DCTCP.Alpha / 2)", at most once a window.
#[test]
fn dctcp_cuts_by_half_of_alpha() {
    let dctcp = DctcpSettings { g: 0.5, initial_alpha: 0.5 };
    let tcp = tcp(TcpSettings { initial_window: 100, ..settings() }, Dctcp::new(dctcp));
    let (mut sender, _) = started(&tcp, 1000);
    // The first observation window ends with the first ACK: alpha is now 0.75.
    sender.on_ack(&tcp, us(100), &marked(1));
    assert_eq!(sender.window().segments(), 62, "100 * (1 - 0.75 / 2)");
}

/// PIAS ToN 2017, IV-A.3: Linux "does not set the ECN-capable (ECT) codepoint on TCP SYN packets and
/// retransmitted packets", so that PIAS sets "ECT on every TCP packet".
#[test]
fn ect_is_on_the_packets_that_the_settings_name() {
    let cases = [
        (EctOn::NewData, [false, true, false]),
        (EctOn::Data, [false, true, true]),
        (EctOn::EveryPacket, [true; 3]),
    ];
    for (ect_on, expected) in cases {
        let tcp = tcp(TcpSettings { ect_on, ..settings() }, EcnStar);
        let size = Bytes::new(10 * PACKET_PAYLOAD);
        let mut sender = Sender::new(&tcp, &start(size, Time::ZERO), Connection::closed(&tcp));
        let syn = sender.poll(&tcp, Time::ZERO).unwrap();
        sender.on_ack(&tcp, us(80), &ack(0, Flags::SYN, 0..0));
        let first = sender.poll(&tcp, us(80)).unwrap();
        all(&tcp, &mut sender, us(80));
        let due = sender.deadline();
        sender.on_timer(&tcp, due);
        let again = sender.poll(&tcp, due).unwrap();
        assert!(again.flags.has(Flags::RETRANSMISSION));
        let found = [syn, first, again].map(|outgoing| outgoing.flags.has(Flags::ECT));
        assert_eq!(found, expected, "{ect_on:?}");
    }
}

/// RFC 9293, 3.5: the sender sends a SYN first, and data when the SYN is answered. RFC 6298, 2.1:
/// the timeout is one second before a sample; 5.5 holds for the SYN as well.
#[test]
fn a_closed_connection_opens_first() {
    let tcp = reno();
    let size = Bytes::new(PACKET_PAYLOAD);
    let mut sender = Sender::new(&tcp, &start(size, Time::ZERO), Connection::closed(&tcp));
    let syn = sender.poll(&tcp, Time::ZERO).unwrap();
    assert!(syn.flags.has(Flags::SYN) && syn.payload == 0);
    assert_eq!(sender.poll(&tcp, Time::ZERO), None, "nothing before it is answered");
    sender.on_ack(&tcp, us(80), &ack(0, Flags::SYN, 0..0));
    let data = sender.poll(&tcp, us(80)).unwrap();
    assert_eq!((data.seq, data.payload), (0, PACKET_PAYLOAD as u32));
    assert_eq!(sender.deadline(), us(80) + tcp.settings.rto_min, "the SYN gave a sample");
    sender.on_ack(&tcp, us(90), &ack(0, Flags::SYN, 0..0));
    assert_eq!(sender.poll(&tcp, us(90)), None, "a second answer changes nothing");
}

/// RFC 5681, 3.1: "if the SYN or SYN/ACK is lost, the initial window used by a sender after a
/// correctly transmitted SYN MUST be one segment".
#[test]
fn a_lost_syn_is_sent_again_and_costs_the_initial_window() {
    let tcp = reno();
    let size = Bytes::new(10 * PACKET_PAYLOAD);
    let mut sender = Sender::new(&tcp, &start(size, Time::ZERO), Connection::closed(&tcp));
    sender.poll(&tcp, Time::ZERO).unwrap();
    let second = Time::from_ms(1_000);
    assert_eq!(sender.deadline(), second);
    sender.on_timer(&tcp, second);
    assert!(sender.poll(&tcp, second).unwrap().flags.has(Flags::SYN));
    assert_eq!(sender.deadline(), second * 3, "backed off");
    sender.on_ack(&tcp, second + us(80), &ack(0, Flags::SYN, 0..0));
    assert_eq!(all(&tcp, &mut sender, second + us(80)), [0]);
    assert_eq!((sender.timeouts.all, sender.retransmissions), (1, 0));
}

/// The receive window bounds new data, not what is sent again.
#[test]
fn the_receive_window_holds_new_data_back() {
    let tcp = tcp(TcpSettings { receive_window: 4, ..settings() }, Reno);
    let (mut sender, sent) = started(&tcp, 100);
    assert_eq!(sent, [0, 1, 2, 3]);
    sender.on_ack(&tcp, us(100), &sacked(0, 1..4));
    assert_eq!(all(&tcp, &mut sender, us(100)), [0]);
    sender.on_ack(&tcp, us(100), &plain(2));
    assert_eq!(all(&tcp, &mut sender, us(100)), [4, 5]);
}

/// The application hands over 1460 B every 10 us. The last segment has half as many bytes.
#[test]
fn nothing_is_sent_before_the_application_has_handed_it_over() {
    let tcp = reno();
    let rate = Some(Rate::from_bps(PACKET_PAYLOAD * 8 * 100_000));
    let size = Bytes::new(2 * PACKET_PAYLOAD + PACKET_PAYLOAD / 2);
    let start = Start { application_rate: rate, ..start(size, us(50)) };
    let mut sender = Sender::new(&tcp, &start, Connection::open(&tcp, RTT));
    let mut sent = Vec::new();
    let mut now = us(50);
    loop {
        sent.extend(all(&tcp, &mut sender, now).into_iter().map(|seq| (seq, now)));
        now = sender.deadline();
        if sent.len() == 3 {
            break;
        }
        sender.on_timer(&tcp, now);
    }
    assert_eq!(sent, [(0, us(60)), (1, us(70)), (2, us(75))]);
    assert_eq!(sender.timeouts.all, 0, "waiting for the application is no timeout");
    assert_eq!(now, us(60) + tcp.settings.rto_min, "then the timeout is what is waited for");
}
