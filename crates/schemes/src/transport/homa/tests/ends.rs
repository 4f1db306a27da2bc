//! The two ends of a message.

use flowsched_units::{Bytes, Rate, Time};

use super::*;
use crate::packet::Flags;
use crate::transport::homa::{Host, Receiver, Sender};
use crate::transport::{Phase, Receiving, Sending, Start, Transport};

const RATE: Rate = Rate::from_gbps(10);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn sender(homa: &Homa, flow: u32, segments: u64) -> Sender {
    let size = Bytes::new(segments * 1_460);
    let start = Start {
        flow,
        now: Time::ZERO,
        size,
        deadline: None,
        application_rate: None,
        rate: RATE,
        random: 0,
    };
    homa.sender(&start, ())
}

/// The packets that the sender sends at twice these times, in us. The card is free at each of them.
fn sent(
    homa: &Homa,
    host: &mut Host,
    sender: &mut Sender,
    times: std::ops::Range<u64>,
) -> Vec<(u32, Kind)> {
    let poll = |now| sender.poll(homa, host, us(now));
    times.filter_map(poll_at(poll)).collect()
}

/// Polls until nothing is left at that time.
fn poll_at(
    mut poll: impl FnMut(u64) -> Option<crate::transport::Outgoing<HomaHeader>>,
) -> impl FnMut(u64) -> Option<(u32, Kind)> {
    move |now| {
        let outgoing = poll(2 * now)?;
        assert!(poll(2 * now).is_none(), "the card has one packet at a time");
        Some((outgoing.seq, outgoing.header.kind))
    }
}

#[test]
fn rtt_bytes_leave_unscheduled_and_the_rest_as_granted() {
    let homa = homa(&[("rtt_bytes", "3pkt")]);
    let (mut host, mut sender) = (homa.host(RATE), sender(&homa, 0, 5));
    let unscheduled = [0, 1, 2].map(|seq| (seq, Kind::Unscheduled));
    assert_eq!(sent(&homa, &mut host, &mut sender, 0..9), unscheduled);
    sender.on_ack(&homa, &mut host, us(20), &packet(0, 1, Kind::Grant, 4));
    let outgoing = sender.poll(&homa, &mut host, us(20)).unwrap();
    assert_eq!(
        (outgoing.seq, outgoing.header.kind, outgoing.header.priority),
        (3, Kind::Scheduled, 5)
    );
    assert_eq!(outgoing.offset, 3 * 1_460);
    sender.on_ack(&homa, &mut host, us(22), &packet(0, 1, Kind::Grant, 3));
    assert_eq!(sender.poll(&homa, &mut host, us(24)), None, "an older grant takes nothing back");
    sender.on_ack(&homa, &mut host, us(26), &packet(0, 5, Kind::Done, 0));
    assert_eq!(sender.phase(), Phase::Acknowledged);
}

#[test]
fn the_message_with_the_fewest_bytes_left_goes_first() {
    // Montazeri et al., SIGCOMM 2018, 3.2.
    let homa = homa(&[]);
    let mut host = homa.host(RATE);
    let (mut long, mut short) = (sender(&homa, 0, 5), sender(&homa, 1, 2));
    assert_eq!(long.poll(&homa, &mut host, us(0)).unwrap().seq, 0);
    assert_eq!(long.poll(&homa, &mut host, us(0)), None);
    assert_eq!(short.poll(&homa, &mut host, us(0)), None, "the card is busy");
    let mut order = Vec::new();
    for now in 1..7 {
        let now = us(2 * now);
        while let Some(flow) = host.card.next(now) {
            order.push(flow);
            let next = if flow == 0 { &mut long } else { &mut short };
            assert!(next.poll(&homa, &mut host, now).is_some());
            assert!(next.poll(&homa, &mut host, now).is_none());
        }
    }
    assert_eq!(order, [1, 1, 0, 0, 0, 0]);
}

#[test]
fn what_is_missing_is_sent_again_unless_it_still_waits() {
    let homa = homa(&[("rtt_bytes", "3pkt")]);
    let (mut host, mut sender) = (homa.host(RATE), sender(&homa, 0, 4));
    assert_eq!(sent(&homa, &mut host, &mut sender, 0..1), [(0, Kind::Unscheduled)]);
    sender.on_ack(&homa, &mut host, us(1), &packet(0, 0, Kind::Resend, 3));
    let busy = sender.poll(&homa, &mut host, us(2)).unwrap();
    assert_eq!((busy.header.kind, busy.payload), (Kind::Busy, 0), "1 and 2 were not sent yet");
    assert!(busy.flags.has(Flags::PROBE));
    assert_eq!(sent(&homa, &mut host, &mut sender, 2..9).len(), 2);
    // The grant of segment 3 was lost as well.
    sender.on_ack(&homa, &mut host, us(30), &packet(0, 1, Kind::Resend, 4));
    let again = [1, 2].map(|seq| (seq, Kind::Unscheduled));
    assert_eq!(sent(&homa, &mut host, &mut sender, 15..17), again);
    assert_eq!(sent(&homa, &mut host, &mut sender, 17..20), [(3, Kind::Scheduled)]);
    assert_eq!((sender.retransmissions(), sender.timeouts().all), (2, 1));
}

#[test]
fn a_sender_that_hears_nothing_asks() {
    let homa = homa(&[]);
    let (mut host, mut sender) = (homa.host(RATE), sender(&homa, 0, 1));
    assert_eq!(sent(&homa, &mut host, &mut sender, 0..3), [(0, Kind::Unscheduled)]);
    assert_eq!(sender.deadline(), us(2_000));
    sender.on_timer(&homa, &mut host, us(1_999));
    assert_eq!(sender.poll(&homa, &mut host, us(1_999)), None, "too early");
    sender.on_timer(&homa, &mut host, us(2_000));
    assert_eq!(sender.poll(&homa, &mut host, us(2_000)).unwrap().header.kind, Kind::Asking);
}

/// The receiver's answers: kind, packet number and end.
fn answers(
    homa: &Homa,
    host: &mut Host,
    receiver: &mut Receiver,
    now: u64,
    packet: &Packet<HomaHeader>,
) -> Vec<(Kind, u32, u32)> {
    let mut answers = Vec::new();
    receiver.on_data(homa, host, us(now), packet, |answer| {
        answers.push((answer.header.kind, answer.seq, answer.header.until));
    });
    answers
}

#[test]
fn a_receiver_grants_ends_and_answers_copies_of_what_it_has() {
    let homa = homa(&[("rtt_bytes", "2pkt")]);
    let (mut host, mut receiver) = (homa.host(RATE), Receiver::new(4));
    let mut take = |seq| {
        answers(
            &homa,
            &mut host,
            &mut receiver,
            u64::from(seq),
            &packet(3, seq, Kind::Unscheduled, 0),
        )
    };
    assert_eq!(take(1), [(Kind::Grant, 1, 3)]);
    assert_eq!(take(1), [], "a copy grants nothing");
    assert_eq!(take(0), [(Kind::Grant, 2, 4)]);
    assert_eq!(take(3), []);
    let [(kind, seq, _)] = take(2)[..] else { panic!("one answer") };
    assert_eq!((kind, seq), (Kind::Done, 4));
    assert_eq!(take(2).len(), 1, "the end may have been lost");
    assert!(receiver.is_delivered() && receiver.deadline() == Time::MAX);
}

#[test]
fn a_receiver_asks_for_the_first_gap_of_what_it_granted() {
    let homa = homa(&[("rtt_bytes", "4pkt"), ("resend_interval", "100us")]);
    let (mut host, mut receiver) = (homa.host(RATE), Receiver::new(9));
    for seq in [0, 3] {
        answers(&homa, &mut host, &mut receiver, 1, &packet(3, seq, Kind::Unscheduled, 0));
    }
    assert_eq!(receiver.deadline(), us(101));
    let timer = |receiver: &mut Receiver, host: &mut Host, now| {
        let mut asked = Vec::new();
        receiver.on_timer(&homa, host, us(now), |one| asked.push((one.seq, one.header.until)));
        asked
    };
    assert_eq!(timer(&mut receiver, &mut host, 100), [], "too early");
    assert_eq!(timer(&mut receiver, &mut host, 101), [(1, 3)]);
    assert_eq!(timer(&mut receiver, &mut host, 102), [], "once an interval");
    answers(&homa, &mut host, &mut receiver, 150, &packet(3, 0, Kind::Busy, 0));
    assert_eq!(receiver.deadline(), us(250), "a busy sender lives");
    answers(&homa, &mut host, &mut receiver, 155, &packet(3, 0, Kind::Asking, 0));
    assert_eq!(receiver.deadline(), us(250), "one that asks waits for what is missing");
    for seq in [1, 2, 4, 5] {
        answers(&homa, &mut host, &mut receiver, 160, &packet(3, seq, Kind::Scheduled, 0));
    }
    assert_eq!(timer(&mut receiver, &mut host, 260), [(6, 9)]);
}

#[test]
fn a_receiver_that_is_asked_for_a_message_it_does_not_know_wants_its_start() {
    let homa = homa(&[]);
    let (mut host, mut receiver) = (homa.host(RATE), Receiver::new(9));
    let asking = packet(3, 0, Kind::Asking, 0);
    assert_eq!(answers(&homa, &mut host, &mut receiver, 1, &asking), [(Kind::Resend, 0, 7)]);
    assert_eq!(answers(&homa, &mut host, &mut receiver, 1, &asking), [], "its own timer does");
}
