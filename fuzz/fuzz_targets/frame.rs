//! The lab's switch refuses a spoilt frame or reads that it is for another host, and a mark changes nothing else.
//!
//! `cargo +nightly fuzz run frame`

#![no_main]

use etherparse::PacketBuilder;
use flowsched_lab::address::{ipv4, ipv6, mac};
use flowsched_lab::switch::headers::Headers;
use flowsched_topology::HostId;
use libfuzzer_sys::fuzz_target;

const FROM: HostId = HostId(0);
const TO: HostId = HostId(2);
const HOSTS: u32 = 3;

/// A frame before it is spoilt: whether it is of IPv4, and its VLAN tags. Then the bytes of it that change, and those that
/// are added.
type Spoilt = (bool, u8, Vec<(u8, u8)>, Vec<u8>);

fuzz_target!(|input: Spoilt| {
    let mut frame = spoilt(&input);
    let Some(headers) = Headers::read(&frame, FROM, HOSTS) else { return };
    assert!(headers.to.0 < HOSTS && headers.to != FROM, "{headers:?}");
    assert_eq!(frame[..6], mac(headers.to));
    assert!(usize::from(headers.wire) <= frame.len(), "{headers:?}");
    let before = frame.clone();
    headers.mark(&mut frame);
    let changed = before.iter().zip(&frame).filter(|(one, other)| one != other).count();
    assert!(changed <= 3, "the class, and two bytes of a checksum");
    let mut marked = headers;
    (marked.is_ect, marked.is_marked) = (true, true);
    assert_eq!(Headers::read(&frame, FROM, HOSTS), Some(marked));
});

fn spoilt((is_v4, tags, changes, added): &Spoilt) -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2(mac(FROM), mac(TO));
    let ip = if *is_v4 {
        ethernet.ipv4(ipv4(FROM).octets(), ipv4(TO).octets(), 64)
    } else {
        ethernet.ipv6(ipv6(FROM).octets(), ipv6(TO).octets(), 64)
    };
    let mut frame = Vec::new();
    ip.tcp(4_000, 5_000, 1, 1_000).write(&mut frame, &[0; 40]).unwrap();
    for _ in 0..tags % 3 {
        frame.splice(12..12, [0x81, 0, 0, 5]);
    }
    for (place, byte) in changes {
        if let Some(old) = frame.get_mut(usize::from(*place)) {
            *old = *byte;
        }
    }
    frame.extend(added);
    frame
}
