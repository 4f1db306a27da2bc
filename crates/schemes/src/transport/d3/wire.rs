//! D3's congestion header on a real network.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 to 3 | r, the rate that the flow asks for | kbit/s |
//! | 4 to 7 | a, the rate that it is granted so far | kbit/s |
//! | 8 to 11 | RTT | 0.1 us |
//! | 12 | 1 if it asks, otherwise 0 | |

use flowsched_units::{Rate, Time};

use super::header::D3Header;
use crate::packet::{Bit, Codec, Header};
use crate::wire::{Reader, Writer};

impl Header for D3Header {
    /// As many bytes as PDQ's header, so that headers do not decide a comparison.
    const WIRE_BYTES: u32 = 16;
    const CODEC: Option<Codec<D3Header>> = Some(Codec { bytes: 13, write, read });
}

const KBPS: u64 = 1_000;
/// Picoseconds in 0.1 us.
const TENTH: u64 = 100_000;

fn write(header: &D3Header, bytes: &mut [u8]) {
    let D3Header { is_request, desired, allocated, rtt } = *header;
    let mut writer = Writer(bytes);
    writer.put_word(desired.as_bps() / KBPS);
    writer.put_word(allocated.as_bps() / KBPS);
    writer.put_word(rtt.as_ps() / TENTH);
    writer.put(&[is_request.is_set().into()]);
}

fn read(bytes: &[u8]) -> Option<D3Header> {
    let mut reader = Reader(bytes);
    let rate = |word: u32| Rate::from_bps(u64::from(word) * KBPS);
    let (desired, allocated) = (rate(reader.word()?), rate(reader.word()?));
    let rtt = Time::from_ps(u64::from(reader.word()?) * TENTH);
    let is_request = match reader.take()? {
        [0] => false,
        [1] => true,
        [_] => return None,
    };
    let is_request = Bit::from(is_request);
    Some(D3Header { is_request, desired, allocated, rtt })
}
