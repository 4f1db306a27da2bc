//! PDQ's scheduling header on a real network.
//!
//! The paper has four fields of 4 bytes. Two of them mean one thing on the way there and another on the way
//! back (PDQ 2012, footnote 11). This format has seven fields of 4 bytes. Switches read the round-trip time
//! on both ways (Algorithm 1), and the receiver, which does not know the switches' rules, sends all fields
//! back.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 to 3 | R, the rate | kbit/s |
//! | 4 to 7 | P, who paused the flow; 0: nobody | |
//! | 8 to 11 | D, the deadline; all ones: none | us |
//! | 12 to 15 | T, the expected transmission time | 0.1 us |
//! | 16 to 19 | RTT | 0.1 us |
//! | 20 to 23 | I, round-trip times between probes | IEEE 754 |
//! | 24 to 27 | how much is subtracted from T in the order of flows | 0.1 us |

use flowsched_units::{Rate, Time};

use super::header::{Pauser, PdqHeader};
use crate::packet::{Codec, Header};
use crate::wire::{Reader, Writer};

impl Header for PdqHeader {
    /// PDQ 2012, footnote 11: "The 16-byte scheduling header".
    const WIRE_BYTES: u32 = 16;
    const CODEC: Option<Codec<PdqHeader>> = Some(CODEC);
}

pub(super) const CODEC: Codec<PdqHeader> = Codec { bytes: 28, write, read };

const KBPS: u64 = 1_000;
/// Picoseconds in 0.1 us, and in the unit of deadlines.
const TENTH: u64 = 100_000;
const MICROSECOND: u64 = 1_000_000;
const NO_DEADLINE: u32 = u32::MAX;

fn write(header: &PdqHeader, bytes: &mut [u8]) {
    let PdqHeader { rate, deadline, transmission, head_start, rtt, paused_by, probe_interval } =
        *header;
    let tenths = |time: Time| time.as_ps() / TENTH;
    // A deadline that the field cannot hold is written as the latest one that it can hold.
    let latest = u64::from(NO_DEADLINE) - 1;
    let deadline = match deadline {
        Time::MAX => NO_DEADLINE.into(),
        due => (due.as_ps() / MICROSECOND).min(latest),
    };
    let mut writer = Writer(bytes);
    writer.put_word(rate.as_bps() / KBPS);
    writer.put_word(paused_by.map_or(0, |pauser| pauser.number().into()));
    writer.put_word(deadline);
    writer.put_word(tenths(transmission));
    writer.put_word(tenths(rtt));
    writer.put(&probe_interval.to_be_bytes());
    writer.put_word(tenths(head_start));
}

fn read(bytes: &[u8]) -> Option<PdqHeader> {
    let mut reader = Reader(bytes);
    let tenths = |word: u32| Time::from_ps(u64::from(word) * TENTH);
    let rate = Rate::from_bps(u64::from(reader.word()?) * KBPS);
    let paused_by = Pauser::from_number(reader.word()?);
    let deadline = reader.word()?;
    let (transmission, rtt) = (tenths(reader.word()?), tenths(reader.word()?));
    let probe_interval = f32::from_be_bytes(reader.take()?);
    let head_start = tenths(reader.word()?);
    if !probe_interval.is_finite() || probe_interval.is_sign_negative() {
        return None;
    }
    let deadline = if deadline == NO_DEADLINE { Time::MAX } else { Time::from_us(deadline.into()) };
    Some(PdqHeader { rate, deadline, transmission, head_start, rtt, paused_by, probe_interval })
}
