use flowsched_units::{Rate, Value};

use super::*;

/// A mapper with some parameters changed, each as it would be written in a file.
fn mapper(changes: &[(&str, &str)]) -> PriorityMapper {
    let mut settings = Settings::defaults(PARAMETERS);
    for (name, text) in changes {
        let parameter = PARAMETERS.iter().find(|parameter| parameter.name == *name).unwrap();
        settings.set(*name, parameter.kind.parse(text).unwrap());
    }
    PriorityMapper::from_settings(&settings)
}

/// A host's flow that sends full packets.
struct Sender<'a> {
    mapper: &'a PriorityMapper,
    flow: MappedFlow,
    packets: u32,
    now: Time,
}

impl Sender<'_> {
    fn new(mapper: &PriorityMapper, packets: u32) -> Sender<'_> {
        let mut flow = MappedFlow::default();
        let size = Bytes::new(u64::from(packets) * PACKET_PAYLOAD);
        let start = Start {
            flow: 0,
            now: Time::ZERO,
            size,
            deadline: None,
            application_rate: None,
            rate: Rate::from_gbps(10),
            random: 0,
        };
        mapper.start_flow(&mut flow, &start);
        Sender { mapper, flow, packets, now: Time::ZERO }
    }

    /// Sends a packet `gap` after the last one, when all packets before it have arrived.
    fn send_as(&mut self, seq: u32, gap: Time, flags: Flags) -> EpnHeader {
        self.now += gap;
        let offset = u64::from(seq) * PACKET_PAYLOAD;
        let payload = if flags.has(Flags::SYN) { 0 } else { PACKET_PAYLOAD as u32 };
        let departure =
            Departure { now: self.now, offset, payload, idle: false, timeouts_in_a_row: 0 };
        let size = Bytes::new(u64::from(self.packets) * PACKET_PAYLOAD);
        let work = Work { size, remaining: self.packets - seq };
        let mut packet = Packet::data(0, 1, seq, 1550, flags);
        self.mapper.tag(&mut self.flow, &departure, &work, &mut packet);
        assert_eq!(packet.priority, packet.header.tp.queue());
        packet.header
    }

    fn send(&mut self, seq: u32, gap: Time) -> EpnHeader {
        self.send_as(seq, gap, Flags::default())
    }

    fn hear(&mut self, tp: Tp, dsid: u8, gbps: u64) {
        let br = Br::of_link(Rate::from_gbps(gbps));
        let header = EpnHeader { tp, dsid, br, ..EpnHeader::default() };
        let message = Packet::<EpnHeader> { header, ..Packet::default() };
        self.mapper.on_message(&mut self.flow, &message);
    }
}

const SOON: Time = Time::from_us(1);

#[test]
fn the_first_and_the_last_packet_are_marked() {
    // EPN 2018, IV-B, rule 1: "EPN relies on application to specify the start and end packets of
    // the flow, i.e. burst, and those packets are S-marked".
    let mapper = mapper(&[("dp", "size")]);
    let mut sender = Sender::new(&mapper, 100);
    let marked: Vec<u32> =
        (0..100).filter(|seq| sender.send(*seq, SOON).is_sampled.is_set()).collect();
    assert_eq!(marked, [0, 99]);
    let mut sender = Sender::new(&mapper, 100);
    assert_ne!(sender.send(0, SOON).dp, Dp::END);
    assert_eq!(sender.send(99, SOON).dp, Dp::END);
    let again = sender.send_as(99, SOON, Flags::RETRANSMISSION);
    assert!(!again.is_sampled.is_set() && again.dp != Dp::END, "it may wait for a promotion");
}

#[test]
fn syns_are_marked_every_time() {
    // IV-B, rule 1: "All TCP control packets like SYN, FIN and RST should be S-marked".
    let mapper = mapper(&[]);
    let mut sender = Sender::new(&mapper, 100);
    let marks = [0, 0].map(|seq| sender.send_as(seq, SOON, Flags::SYN).is_sampled.is_set());
    assert_eq!(marks, [true, true]);
}

#[test]
fn a_message_is_answered_by_the_next_packet() {
    // IV-B, rule 2: "the next packet of the flow should be S-marked".
    let mapper = mapper(&[("dp", "size")]);
    let mut sender = Sender::new(&mapper, 100);
    assert!(sender.send(0, SOON).is_sampled.is_set());
    assert!(!sender.send(1, SOON).is_sampled.is_set());
    sender.hear(Tp::LOW, 63, 10);
    let answer = sender.send(2, SOON);
    assert!(answer.is_sampled.is_set());
    assert_eq!((answer.tp, answer.dsid), (Tp::LOW, 63));
    assert!(!sender.send(3, SOON).is_sampled.is_set());
}

#[test]
fn only_the_switch_that_demoted_a_flow_promotes_it() {
    // IV-A: "if a switch finds the DSID of a flow does not point to itself, it should not try to
    // promote the flow".
    let mapper = mapper(&[]);
    let mut sender = Sender::new(&mapper, 100);
    sender.hear(Tp::LOW, 62, 10);
    sender.hear(Tp::HIGH, 63, 10);
    assert_eq!(sender.send(1, SOON).tp, Tp::LOW, "sent before that switch knew");
    sender.hear(Tp::HIGH, 62, 10);
    let promoted = sender.send(2, SOON);
    assert_eq!((promoted.tp, promoted.dsid), (Tp::HIGH, 0));
}

#[test]
fn the_bottleneck_rate_starts_with_the_cards_and_falls_to_the_slowest_link() {
    // IV-A: "the priority mapper will first fill its output link rate in the BR field"; "the
    // source will pick up the lowest link speed".
    let mapper = mapper(&[]);
    let mut sender = Sender::new(&mapper, 100);
    let mut br = || sender.send(1, SOON).br.gbps();
    assert_eq!(br(), 10);
    let mut after = |gbps| {
        sender.hear(Tp::HIGH, 63, gbps);
        let header = sender.send(1, SOON);
        assert!(header.is_sampled.is_set(), "others are to know");
        header.br.gbps()
    };
    assert_eq!([after(1), after(4)], [1, 1]);
}

#[test]
fn a_changed_desire_is_told_but_not_too_often() {
    // IV-B, rule 3, and IV-D: "the priority mapper will rate limit the S-marked packets below a
    // threshold".
    let mapper = mapper(&[("mark_interval", "100us")]);
    let mut sender = Sender::new(&mapper, 1000);
    let marked = (0..900).filter(|seq| sender.send(*seq, SOON).is_sampled.is_set()).count();
    assert_eq!(marked, 9, "900 us: the first packet, then every 100 us");
    let mut sender = Sender::new(&mapper, 1000);
    sender.send(0, SOON);
    assert!(!sender.send(0, Time::from_ms(1)).is_sampled.is_set(), "nothing has changed");
}

#[test]
fn low_flows_and_flows_that_were_silent_probe() {
    // IV-B: "flows that have been demoted to LOW queue will S-mark their packets periodically to
    // probe for promotion".
    let mapper = mapper(&[("dp", "size"), ("probe_interval", "5ms")]);
    let mut sender = Sender::new(&mapper, 1000);
    let mut probes = |count| {
        let gap = Time::from_ms(1);
        (1..=count).filter(|seq| sender.send(*seq, gap).is_sampled.is_set()).collect::<Vec<u32>>()
    };
    assert_eq!(probes(20), [1], "the first packet");
    let mut sender = Sender::new(&mapper, 1000);
    sender.hear(Tp::LOW, 63, 10);
    let mut probes = |count| {
        let gap = Time::from_ms(1);
        (1..=count).filter(|seq| sender.send(*seq, gap).is_sampled.is_set()).collect::<Vec<u32>>()
    };
    assert_eq!(probes(20), [1, 6, 11, 16]);
    // "If the counter remains unchanged for several reads, the flow is detected as dead and removed from the list."
    let mut sender = Sender::new(&mapper, 1000);
    let gaps = [1, 1, 4, 1, 5, 1].map(Time::from_ms);
    let marked = (1..).zip(gaps).filter(|(seq, gap)| sender.send(*seq, *gap).is_sampled.is_set());
    assert_eq!(marked.map(|(seq, _)| seq).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn tiny_flows_are_high_and_no_controller_sees_them() {
    // IV-A: "very tiny flows, whose sizes are less than bandwidth delay production"; 69 KB.
    let mapper = mapper(&[]);
    for (packets, is_tiny) in [(47, true), (48, false)] {
        let mut sender = Sender::new(&mapper, packets);
        let headers: Vec<EpnHeader> = (0..packets).map(|seq| sender.send(seq, SOON)).collect();
        assert!(headers.iter().all(|header| header.tp == Tp::HIGH));
        assert_eq!(
            headers.iter().all(|header| !header.is_sampled.is_set()),
            is_tiny,
            "{packets} packets"
        );
    }
}

#[test]
fn a_flow_of_unknown_size_is_tiny_until_it_has_sent_too_much() {
    let mapper = mapper(&[("dp", "sent")]);
    let mut sender = Sender::new(&mapper, 1000);
    let first = (0..1000).find(|seq| sender.send(*seq, SOON).is_sampled.is_set());
    assert_eq!(first, Some(48), "48 packets are 70 KB");
}

#[test]
fn unknown_sizes_fall_through_sixteen_levels_whose_thresholds_double() {
    // VI-C: "We use 16 MLFQ levels with an exponential threshold [...]. The base threshold is set
    // to be 200KB and an exponential factor is 2."
    let mapper = mapper(&[("dp", "sent")]);
    assert_eq!(mapper.thresholds.len(), 15);
    assert_eq!(mapper.thresholds[..3], [200_000, 400_000, 800_000]);
    let work = Work { size: Bytes::MAX, remaining: 1 };
    let level = |sent| mapper.desired(&MappedFlow { sent, ..MappedFlow::default() }, &work);
    assert_eq!([level(0), level(200_000), level(200_001)], [0, 0, 1].map(Dp::of_level));
    assert_eq!(level(u64::MAX), Dp::of_level(15));
}

#[test]
fn desires_are_by_size_or_by_what_remains() {
    // IV-C: "DP can be set to flow size or flow remaining size, thus minimizing FCT by using SJF
    // or SRPT scheduling principle".
    for (dp, is_srpt) in [("size", false), ("remaining", true)] {
        let mapper = mapper(&[("dp", dp)]);
        let mut long = Sender::new(&mapper, 1000);
        let mut short = Sender::new(&mapper, 100);
        let start = long.send(0, SOON).dp;
        assert!(short.send(0, SOON).dp < start);
        assert_eq!(long.send(950, SOON).dp < short.send(0, SOON).dp, is_srpt);
    }
}

#[test]
fn defaults_are_the_papers() {
    let settings = Settings::defaults(PARAMETERS);
    assert_eq!(settings.get(&TINY), Some(&Value::Size(Bytes::new(69_000))));
    assert_eq!(settings.count(&LEVELS), 16);
}
