//! Tests of the oracle: right tags pass, and each kind of wrong tag is found.

use std::time::Duration;

use super::{Findings, judge};
use crate::capture::Packet;
use crate::draw::{Case, Conversation, Rule};
use crate::history::{Change, History, Phase};
use crate::seen::Seen;
use crate::traffic::port;

const MS: u64 = 1_000_000;
const RULE: Rule = Rule { thresholds: [20_000, 100_000], dscp: [40, 20, 3] };
const OTHER: Rule = Rule { thresholds: [20_000, 100_000], dscp: [41, 21, 4] };
const FROM: u16 = 40_000;

fn case() -> Case {
    let pause = Duration::from_millis(60);
    let messages = vec![50_000, 50_000, 50_000];
    Case {
        conversations: vec![Conversation { messages, pause }],
        flow_idle: Some(Duration::from_secs(1)),
        ..Case::new(1)
    }
}

fn on(life: u32) -> Phase {
    Phase { rule: Some(RULE), life }
}

const OFF: Phase = Phase { rule: None, life: 0 };

/// A history that is tagged from the beginning. Each change happens between 10 ms before and 10 ms
/// after its time, which is in milliseconds.
fn history(phases: &[(u64, Phase, bool)]) -> History {
    let mut history = History::new(MS);
    history.push(Change { before: 0, after: 0, blurs: false }, on(1));
    for (at, phase, blurs) in phases {
        let (before, after) = ((at - 10) * MS, (at + 10) * MS);
        history.push(Change { before, after, blurs: *blurs }, *phase);
    }
    history
}

fn packet(ms: u64, to: u16, dscp: u8) -> Packet {
    let seen = Seen {
        from: FROM,
        to,
        dscp,
        ecn: 0,
        seq: 0,
        payload: 0,
        syn: false,
        fin: false,
        rst: false,
        ece: false,
        checksums_right: true,
        from_first_host: true,
    };
    Packet { at: ms * MS, seen }
}

/// A TCP packet with 1000 bytes at this offset.
fn data(ms: u64, to: u16, offset: u32, dscp: u8) -> Packet {
    let mut packet = packet(ms, to, dscp);
    packet.seen.seq = 1u32.wrapping_sub(500).wrapping_add(offset);
    packet.seen.payload = 1000;
    packet
}

/// A datagram of 1000 bytes.
fn datagram(ms: u64, dscp: u8) -> Packet {
    let mut packet = packet(ms, port::DATAGRAMS, dscp);
    packet.seen.payload = 1000;
    packet
}

fn syn(ms: u64, to: u16, dscp: u8) -> Packet {
    let mut packet = packet(ms, to, dscp);
    // Sequence numbers wrap within the first thousand bytes.
    packet.seen.seq = 0u32.wrapping_sub(500);
    packet.seen.syn = true;
    packet
}

fn kinds(history: &History, packets: &[Packet]) -> Vec<String> {
    let Findings { violations, .. } = judge(&case(), history, packets);
    violations.into_iter().map(|violation| violation.kind).collect()
}

#[test]
fn a_bulk_packet_at_the_top_in_the_middle_is_found() {
    let history = history(&[]);
    let to = port::BULK;
    let mut packets = vec![syn(100, to, 40)];
    for number in 0..150 {
        let level = usize::from(number > 20) + usize::from(number > 100);
        packets.push(data(101 + u64::from(number), to, 1000 * number, RULE.dscp[level]));
    }
    assert!(kinds(&history, &packets).is_empty());
    for (index, dscp) in [(61, 40), (141, 20), (11, 0), (11, 20)] {
        let mut wrong = packets.clone();
        wrong[index].seen.dscp = dscp;
        let expected = if dscp == 0 { "untagged: bulk TCP" } else { "wrong tag: bulk TCP" };
        assert_eq!(kinds(&history, &wrong), [expected], "{index}");
    }
    // A retransmission keeps its level.
    let again = |dscp| [packets.clone(), vec![data(300, to, 5000, dscp)]].concat();
    assert!(kinds(&history, &again(40)).is_empty());
    assert_eq!(kinds(&history, &again(3)), ["wrong tag: bulk TCP"]);
}

#[test]
fn around_a_change_the_tag_before_and_the_one_after_are_right_and_no_other() {
    let reload = history(&[(200, Phase { rule: Some(OTHER), life: 1 }, false)]);
    let uninstall = history(&[(200, OFF, false)]);
    let kinds_at = |history: &History, ms, dscp| {
        kinds(history, &[syn(100, port::BULK, 40), data(ms, port::BULK, 30_000, dscp)])
    };
    for (ms, right, wrong) in [
        (189, vec![20], vec![21, 0, 40]),
        (190, vec![20, 21], vec![0, 40, 41]),
        (211, vec![20, 21], vec![0, 40, 41]),
        (212, vec![21], vec![20, 0]),
    ] {
        assert!(right.iter().all(|dscp| kinds_at(&reload, ms, *dscp).is_empty()), "{ms}");
        assert!(wrong.iter().all(|dscp| kinds_at(&reload, ms, *dscp).len() == 1), "{ms}");
    }
    for (ms, right, wrong) in [(189, vec![20], 0), (200, vec![20, 0], 40), (212, vec![0], 20)] {
        assert!(right.iter().all(|dscp| kinds_at(&uninstall, ms, *dscp).is_empty()), "{ms}");
        assert_eq!(kinds_at(&uninstall, ms, wrong).len(), 1, "{ms}");
    }
}

#[test]
fn each_message_of_a_conversation_begins_at_the_top() {
    let to = port::CONVERSATION;
    let message = |from: u32, ms: u64, base: u32| {
        (0..50).map(move |number| {
            let offset = from + 1000 * number;
            data(ms, to, offset, RULE.code_point(u64::from(offset - base)))
        })
    };
    let of = |bases: [u32; 3], begin: u64| {
        let messages = (0..3).flat_map(|number| {
            message(50_000 * number, begin + 100 * u64::from(number), bases[number as usize])
        });
        [vec![syn(100, to, 40)], messages.collect()].concat()
    };
    let own = of([0, 50_000, 100_000], 110);
    assert!(kinds(&history(&[]), &own).is_empty());
    for (index, dscp) in [(51, 20), (81, 40), (101, 20), (101, 3)] {
        let mut wrong = own.clone();
        wrong[index].seen.dscp = dscp;
        let found = kinds(&history(&[]), &wrong);
        assert_eq!(found, ["wrong tag: request and response TCP"], "{index}");
    }
    // Judge everything as one message.
    assert!(!kinds(&history(&[]), &of([0, 0, 0], 110)).is_empty());
    // A new tagger starts at 165 ms, in the pause. The second message has the level of the whole
    // connection.
    let anew = history(&[(125, OFF, false), (165, on(2), false)]);
    assert!(kinds(&anew, &of([0, 0, 100_000], 110)).is_empty());
    let wrong = kinds(&anew, &own);
    assert!(!wrong.is_empty() && wrong.iter().all(|kind| kind.starts_with("wrong tag: request")));
    // The new tagger may have seen the end of the first message a second time, before the pause.
    let early = history(&[(125, OFF, false), (155, on(2), false)]);
    assert!(kinds(&early, &own).is_empty() && kinds(&early, &of([0, 0, 100_000], 110)).is_empty());
    assert!(!kinds(&early, &of([0, 50_000, 0], 110)).is_empty(), "the third one is clear again");
    // The tagger may have missed the end of the first message, so the second one may have any
    // level.
    let gap = history(&[(110, Phase { rule: None, life: 1 }, false), (125, on(1), false)]);
    assert!(kinds(&gap, &own).is_empty() && kinds(&gap, &of([0, 0, 100_000], 110)).is_empty());
    assert!(!kinds(&gap, &of([0, 50_000, 0], 110)).is_empty(), "the third one is clear again");
}

#[test]
fn a_connection_older_than_its_tagger_keeps_what_it_has_earned() {
    let anew = history(&[(200, OFF, false), (300, on(2), false)]);
    let after = |dscp| {
        let packets = [
            syn(100, port::BULK, 40),
            data(150, port::BULK, 0, 40),
            data(250, port::BULK, 149_000, 0),
            data(350, port::BULK, 150_000, dscp),
        ];
        kinds(&anew, &packets)
    };
    assert!(after(3).is_empty());
    assert_eq!(after(40), ["wrong tag: bulk TCP"]);
    assert_eq!(after(0), ["untagged: bulk TCP"]);
}

#[test]
fn datagrams_count_from_the_flows_start() {
    let flow = |factor: u64| {
        let level = move |number: u64| RULE.code_point(factor * 1000 * number);
        (0..150).map(move |number| datagram(200 + number, level(number))).collect::<Vec<_>>()
    };
    assert!(kinds(&history(&[]), &flow(1)).is_empty());
    let double = kinds(&history(&[]), &flow(2));
    assert!(!double.is_empty() && double.iter().all(|kind| kind == "wrong tag: UDP"));
    // There are two taggers for a moment. Their counts are not known from then on, but the levels
    // before are.
    let moment = history(&[(225, on(1), true)]);
    assert!(kinds(&moment, &flow(1)).is_empty());
    assert!(!kinds(&moment, &flow(2)).is_empty());
    // Packets that were under way when the interface was removed have been counted. Later packets
    // may have any level, but must have one.
    let gap = history(&[(210, Phase { rule: None, life: 1 }, true), (230, on(1), false)]);
    assert!(kinds(&gap, &flow(1)).is_empty() && kinds(&gap, &flow(2)).is_empty());
    let mut missed = flow(1);
    missed[80].seen.dscp = 0;
    assert_eq!(kinds(&gap, &missed), ["untagged: UDP"]);
    // A packet without a tag was not counted.
    let anew = history(&[(190, OFF, false), (210, on(2), false)]);
    let late = |untagged: usize, counted: u64| {
        let mut flow = flow(1);
        for (number, packet) in flow.iter_mut().enumerate() {
            let offset = 1000 * (number as u64).saturating_sub(counted);
            packet.seen.dscp = if number < untagged { 0 } else { RULE.code_point(offset) };
        }
        kinds(&anew, &flow)
    };
    assert!(late(10, 10).is_empty() && late(15, 15).is_empty());
    assert!(!late(10, 0).is_empty());
    // Silence ends a flow.
    let later = |dscp| kinds(&history(&[]), &[flow(1), vec![datagram(2000, dscp)]].concat());
    assert!(later(40).is_empty());
    assert_eq!(later(3), ["wrong tag: UDP"]);
}

#[test]
fn what_has_no_payload_is_at_the_top_and_other_hosts_are_not_tagged() {
    let history = history(&[]);
    let bare = |dscp, set: fn(&mut Seen)| {
        let mut bare = packet(150, port::BULK, dscp);
        set(&mut bare.seen);
        kinds(&history, &[syn(100, port::BULK, 40), bare])
    };
    assert!(bare(40, |_| ()).is_empty() && bare(3, |seen| seen.fin = true).is_empty());
    assert_eq!(bare(20, |_| ()), ["wrong tag: TCP without payload"]);
    assert_eq!(bare(3, |seen| seen.rst = true), ["wrong tag: TCP without payload"]);
    assert_eq!(bare(0, |seen| seen.fin = true), ["untagged: TCP without payload"]);
    assert_eq!(bare(40, |seen| seen.checksums_right = false), ["wrong checksum"]);
    let foreign = |seen: &mut Seen| seen.from_first_host = false;
    let foreign_data = |seen: &mut Seen| (seen.from_first_host, seen.payload) = (false, 100);
    assert!(bare(40, foreign).is_empty() && bare(0, foreign_data).is_empty());
    assert_eq!(bare(40, foreign_data), ["tag on another host's packet"]);
    assert_eq!(kinds(&history, &[data(150, port::BULK, 0, 40)]), ["unknown connection"]);
}
