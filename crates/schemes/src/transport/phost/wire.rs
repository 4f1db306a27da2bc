//! pHost's header on a real network.
//!
//! | bytes | field | unit |
//! |---|---|---|
//! | 0 | the number of the packet's [`Kind`] | |
//! | 1 to 4 | the token's number | |
//! | 5 to 8 | the segment that the token is for | segments |
//! | 9 to 12 | what the receiver lacks | segments |

use super::header::{Kind, PhostHeader};
use crate::packet::{Codec, Header};
use crate::wire::{Reader, Writer};

impl Header for PhostHeader {
    const CODEC: Option<Codec<PhostHeader>> = Some(Codec { bytes: 13, write, read });
}

/// All kinds, by their numbers.
const KINDS: [Kind; 4] = [Kind::Data, Kind::Request, Kind::Token, Kind::Done];

fn write(header: &PhostHeader, bytes: &mut [u8]) {
    let PhostHeader { kind, number, segment, missing } = *header;
    let mut writer = Writer(bytes);
    writer.put(&[kind as u8]);
    for word in [number, segment, missing] {
        writer.put_word(word.into());
    }
}

fn read(bytes: &[u8]) -> Option<PhostHeader> {
    let mut reader = Reader(bytes);
    let [kind] = reader.take()?;
    let kind = *KINDS.get(usize::from(kind))?;
    let (number, segment, missing) = (reader.word()?, reader.word()?, reader.word()?);
    Some(PhostHeader { kind, number, segment, missing })
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
