//! HPCC's header on a real network.
//!
//! The paper's records take 8 bytes (HPCC 2019, 4.2): 4 bits for the rate, 24 for the time in nanoseconds, 20 for the
//! bytes sent and 16 for the queue. The time then wraps every 17 ms, which may be less than a round trip of a slow
//! network. The records here take 17 bytes, and there is always room for six.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 | the number of records | |
//! | then, in each record, 0 to 3 | B, the link's rate | kbit/s |
//! | 4 to 8 | ts, when the packet left | 0.1 us |
//! | 9 to 13 | txBytes, what had left before | bytes |
//! | 14 to 16 | qLen, what waited behind | bytes |

use flowsched_units::{Bytes, Rate, Time};

use super::header::{Hop, HpccHeader, MOST_HOPS};
use crate::packet::{Codec, Header};
use crate::wire::{Reader, Writer};

impl Header for HpccHeader {
    /// As many bytes as the records of five switches take in the paper: 2, and 8 for each switch.
    /// Every packet has them.
    const WIRE_BYTES: u32 = 42;
    const CODEC: Option<Codec<HpccHeader>> =
        Some(Codec { bytes: 1 + MOST_HOPS * RECORD, write, read });
}

/// Bytes of a record.
const RECORD: usize = 17;
const KBPS: u64 = 1_000;
/// Picoseconds in 0.1 us.
const TENTH: u64 = 100_000;

fn write(header: &HpccHeader, bytes: &mut [u8]) {
    let hops = header.hops();
    let mut writer = Writer(bytes);
    writer.put(&[hops.len() as u8]);
    for place in 0..MOST_HOPS {
        let Hop { rate, time, sent, queue } = hops.get(place).copied().unwrap_or_default();
        writer.put_word(rate.as_bps() / KBPS);
        writer.put(&last::<5>(time.as_ps() / TENTH));
        writer.put(&last::<5>(sent.get()));
        writer.put(&last::<3>(queue.get()));
    }
}

fn read(bytes: &[u8]) -> Option<HpccHeader> {
    let mut reader = Reader(bytes);
    let [count] = reader.take()?;
    let mut header = HpccHeader::default();
    for place in 0..MOST_HOPS {
        let hop = Hop {
            rate: Rate::from_bps(u64::from(reader.word()?) * KBPS),
            time: Time::from_ps(number(reader.take::<5>()?) * TENTH),
            sent: Bytes::new(number(reader.take::<5>()?)),
            queue: Bytes::new(number(reader.take::<3>()?)),
        };
        if place < usize::from(count) {
            header.push(hop);
        } else if hop != Hop::default() {
            return None;
        }
    }
    (usize::from(count) <= MOST_HOPS).then_some(header)
}

/// The last bytes of a number, or those of the largest number that fits.
fn last<const N: usize>(number: u64) -> [u8; N] {
    let most = (1u64 << (8 * N)) - 1;
    let bytes = number.min(most).to_be_bytes();
    std::array::from_fn(|place| bytes[bytes.len() - N + place])
}

/// The number that these bytes write.
fn number<const N: usize>(bytes: [u8; N]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_come_back(records in prop::collection::vec((0u32.., 0..1u64 << 40, 0..1u64 << 40, 0..1u64 << 24), 0..9)) {
            let mut header = HpccHeader::default();
            for (rate, time, sent, queue) in records {
                header.push(Hop {
                    rate: Rate::from_bps(u64::from(rate) * KBPS),
                    time: Time::from_ps(time * TENTH),
                    sent: Bytes::new(sent),
                    queue: Bytes::new(queue),
                });
            }
            let mut bytes = [0; 1 + MOST_HOPS * RECORD];
            write(&header, &mut bytes);
            prop_assert_eq!(read(&bytes), Some(header));
            bytes[0] = MOST_HOPS as u8 + 1;
            prop_assert_eq!(read(&bytes), None);
        }
    }

    #[test]
    fn a_number_without_room_is_the_largest() {
        assert_eq!(last::<3>(1 << 24), [255; 3]);
        assert_eq!(last::<3>(0x0001_0203), [1, 2, 3]);
    }
}
