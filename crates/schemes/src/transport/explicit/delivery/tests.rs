use super::*;

const SETTINGS: ExplicitSettings = ExplicitSettings { rto_min: Time::from_us(1_000) };

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn ack(expected: u32) -> Packet {
    Packet { seq: expected, flags: Flags::ACK, ..Packet::default() }
}

/// A flow of three segments, the last of 100 bytes, without a handshake.
fn delivery() -> Delivery {
    Delivery::without_handshake(Bytes::new(2 * PACKET_PAYLOAD + 100))
}

#[test]
fn segments_carry_their_place_in_the_flow() {
    let mut delivery = delivery();
    let sent = std::iter::from_fn(|| delivery.send(&SETTINGS, us(0), ()));
    let sent: Vec<_> = sent.map(|outgoing| (outgoing.offset, outgoing.payload)).collect();
    assert_eq!(sent, [(0, 1460), (1460, 1460), (2920, 100)]);
}

/// RFC 6298, 3: one round trip is timed at a time.
#[test]
fn the_first_segment_under_way_is_timed() {
    let mut delivery = delivery();
    delivery.send(&SETTINGS, us(0), ());
    delivery.send(&SETTINGS, us(10), ());
    delivery.on_ack(&SETTINGS, us(100), &ack(1));
    assert_eq!(delivery.round_trip(), Some(us(100)), "of the first segment");
    delivery.on_ack(&SETTINGS, us(110), &ack(2));
    assert_eq!(delivery.round_trip(), Some(us(100)), "the second was not timed");
}

#[test]
fn a_segment_is_timed_in_place_of_a_probe() {
    let mut delivery = delivery();
    delivery.probe(us(0), Flags::default(), ());
    delivery.send(&SETTINGS, us(50), ());
    delivery.on_ack(&SETTINGS, us(110), &ack(1));
    assert_eq!(delivery.round_trip(), Some(us(60)));
}
