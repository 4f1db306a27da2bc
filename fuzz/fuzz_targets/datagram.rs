//! Any bytes are a packet of each scheme's hosts or are refused, and what is read is written as it was.
//!
//! `cargo +nightly fuzz run datagram`

#![no_main]

use flowsched_schemes::packet::Header;
use flowsched_schemes::transport::d3::D3Header;
use flowsched_schemes::transport::homa::header::HomaHeader;
use flowsched_schemes::transport::hpcc::HpccHeader;
use flowsched_schemes::transport::pdq::PdqHeader;
use flowsched_schemes::transport::pdq::multipath::MultipathHeader;
use flowsched_schemes::transport::phost::PhostHeader;
use flowsched_schemes::wire::{PACKET_BYTES, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    survives::<()>(bytes);
    survives::<PdqHeader>(bytes);
    survives::<MultipathHeader>(bytes);
    // RCP's too.
    survives::<D3Header>(bytes);
    survives::<HomaHeader>(bytes);
    survives::<PhostHeader>(bytes);
    survives::<HpccHeader>(bytes);
});

fn survives<H: Header + PartialEq>(bytes: &[u8]) {
    let codec = H::CODEC.expect("a codec");
    let Some(packet) = read::<H>(&codec, bytes) else { return };
    let mut again = vec![0; PACKET_BYTES + codec.bytes];
    assert!(write(&packet, &codec, &mut again));
    assert_eq!(again, bytes[..again.len()]);
}
