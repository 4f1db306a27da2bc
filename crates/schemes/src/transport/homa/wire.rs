//! Homa's header on a real network.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 | what the packet is for: the number of its [`Kind`] | |
//! | 1 | the queue for the granted data | |
//! | 2 to 5 | the end of the segments that it is for | segments |

use super::header::{HomaHeader, Kind};
use crate::packet::{Codec, Header};
use crate::wire::{Reader, Writer};

impl Header for HomaHeader {
    /// With IP and UDP in place of IP and TCP, a full packet of the authors' simulator carries
    /// 18 B less than TCP's: 1442 B of 1500 B.
    const WIRE_BYTES: u32 = 18;
    const CODEC: Option<Codec<HomaHeader>> = Some(Codec { bytes: 6, write, read });
}

/// All kinds, by their numbers.
const KINDS: [Kind; 7] = [
    Kind::Unscheduled,
    Kind::Scheduled,
    Kind::Asking,
    Kind::Busy,
    Kind::Grant,
    Kind::Resend,
    Kind::Done,
];

fn write(header: &HomaHeader, bytes: &mut [u8]) {
    let HomaHeader { kind, priority, until } = *header;
    let mut writer = Writer(bytes);
    writer.put(&[kind as u8, priority]);
    writer.put_word(until.into());
}

fn read(bytes: &[u8]) -> Option<HomaHeader> {
    let mut reader = Reader(bytes);
    let [kind, priority] = reader.take()?;
    let kind = *KINDS.get(usize::from(kind))?;
    Some(HomaHeader { kind, priority, until: reader.word()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_places() {
        for (place, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, place, "{kind:?}");
        }
    }
}
