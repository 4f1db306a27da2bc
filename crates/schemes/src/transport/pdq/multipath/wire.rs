//! M-PDQ's header on a real network: PDQ's, then what tells subflows apart.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 to 27 | the scheduling header of PDQ | |
//! | 28 | the subflow | |
//! | 29 to 32 | the number of the segment in its subflow | segments |

use super::MultipathHeader;
use super::settings::MOST_SUBFLOWS;
use crate::packet::{Codec, Header};
use crate::transport::pdq::PdqHeader;
use crate::transport::pdq::wire::CODEC;
use crate::wire::{Reader, Writer};

impl Header for MultipathHeader {
    const WIRE_BYTES: u32 = PdqHeader::WIRE_BYTES;
    const IS_SPREAD: bool = true;
    const CODEC: Option<Codec<MultipathHeader>> =
        Some(Codec { bytes: CODEC.bytes + 5, write, read });

    #[inline]
    fn path(&self) -> u32 {
        self.path
    }
}

fn write(header: &MultipathHeader, bytes: &mut [u8]) {
    let MultipathHeader { pdq, path, number } = header;
    let (scheduling, rest) = bytes.split_at_mut(CODEC.bytes);
    (CODEC.write)(pdq, scheduling);
    let mut writer = Writer(rest);
    writer.put(&[u8::try_from(*path).unwrap_or(u8::MAX)]);
    writer.put_word((*number).into());
}

fn read(bytes: &[u8]) -> Option<MultipathHeader> {
    let (scheduling, rest) = bytes.split_at_checked(CODEC.bytes)?;
    let pdq = (CODEC.read)(scheduling)?;
    let mut reader = Reader(rest);
    let [path] = reader.take()?;
    let number = reader.word()?;
    let path = u32::from(path);
    (u64::from(path) < MOST_SUBFLOWS).then_some(MultipathHeader { pdq, path, number })
}
