//! Packets as bytes, for the simulator's hosts on a real network.
//!
//! A [`Packet`] is written as a datagram: [`PACKET_BYTES`] bytes that every transport has, then the scheme's
//! header by its [`Codec`], all in network byte order. What follows is payload, whose content means nothing.
//! The packet's size and its destination are those of the datagram around it, and are not written again.
//!
//! The meaning of headers does not belong here, nor do sockets.

use crate::packet::{Codec, Flags, Header, Packet};

/// The size in bytes of the fields that the packets of all transports have: the flow's number, the segment's number,
/// the rank or the beginning of the SACK block, the block's length, the flags, the priority, and the number
/// of ports that marked the packet.
pub const PACKET_BYTES: usize = 18;

/// Writes a packet at the beginning of `bytes`. Returns whether there was room.
pub fn write<H: Header>(packet: &Packet<H>, codec: &Codec<H>, bytes: &mut [u8]) -> bool {
    let Some((fixed, rest)) = bytes.split_at_mut_checked(PACKET_BYTES) else { return false };
    let Some(header) = rest.get_mut(..codec.bytes) else { return false };
    let mut writer = Writer(fixed);
    for word in [packet.flow, packet.seq, packet.word] {
        writer.put(&word.to_be_bytes());
    }
    writer.put(&packet.sack_len.to_be_bytes());
    writer.put(&packet.flags.bits().to_be_bytes());
    writer.put(&[packet.priority, packet.marks]);
    (codec.write)(&packet.header, header);
    true
}

/// Reads the packet at the beginning of `bytes`. Its destination and its size are 0. Returns `None` if
/// `bytes` is too short, or if it has unknown flags, or an invalid SACK block or header.
pub fn read<H: Header>(codec: &Codec<H>, bytes: &[u8]) -> Option<Packet<H>> {
    let (fixed, rest) = bytes.split_at_checked(PACKET_BYTES)?;
    let mut reader = Reader(fixed);
    let (flow, seq, word) = (reader.word()?, reader.word()?, reader.word()?);
    let sack_len = u16::from_be_bytes(reader.take()?);
    let flags = Flags::from_bits(u16::from_be_bytes(reader.take()?))?;
    let [priority, marks] = reader.take()?;
    // The end of the block must be a segment number, too.
    if flags.has(Flags::ACK) {
        word.checked_add(sack_len.into())?;
    }
    let header = (codec.read)(rest.get(..codec.bytes)?)?;
    Some(Packet { flow, seq, word, sack_len, priority, flags, marks, header, ..Packet::default() })
}

/// Writes one value after the other.
pub(crate) struct Writer<'a>(pub(crate) &'a mut [u8]);

impl Writer<'_> {
    /// Writes bytes. There must be room for them.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let (place, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        self.0 = rest;
    }

    /// Writes a number as 4 bytes. If it does not fit, writes the largest number that does.
    pub(crate) fn put_word(&mut self, number: u64) {
        self.put(&u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
    }
}

/// Reads one value after the other.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    /// Reads bytes; `None` if there are too few.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// Reads a number of 4 bytes.
    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transport::d3::D3Header;
    use crate::transport::homa::header::HomaHeader;
    use crate::transport::hpcc::HpccHeader;
    use crate::transport::pdq::PdqHeader;
    use crate::transport::pdq::multipath::MultipathHeader;
    use crate::transport::phost::PhostHeader;

    /// What is written is read again, and what is read is written as it was.
    fn survives<H: Header + PartialEq>(bytes: &[u8]) -> Result<(), TestCaseError> {
        let Some(codec) = H::CODEC else { panic!("a codec") };
        let length = PACKET_BYTES + codec.bytes;
        let Some(packet) = read::<H>(&codec, bytes) else { return Ok(()) };
        prop_assert!(bytes.len() >= length);
        let mut again = vec![0; length];
        prop_assert!(write(&packet, &codec, &mut again));
        prop_assert_eq!(&again[..], &bytes[..length]);
        prop_assert_eq!(read::<H>(&codec, &again), Some(packet));
        prop_assert!(!write(&packet, &codec, &mut again[1..]));
        prop_assert_eq!(read::<H>(&codec, &again[1..]).filter(|_| bytes.len() == length), None);
        Ok(())
    }

    proptest! {
        /// Any bytes are read without a panic, and have one meaning at most.
        #[test]
        fn any_bytes_are_no_packet_or_one(
            mut bytes in prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..160),
            has_right_flags in any::<bool>(),
        ) {
            if has_right_flags && let Some(place) = bytes.get_mut(14) {
                *place &= 0b11;
            }
            survives::<PdqHeader>(&bytes)?;
            survives::<D3Header>(&bytes)?;
            survives::<()>(&bytes)?;
            survives::<HomaHeader>(&bytes)?;
            survives::<PhostHeader>(&bytes)?;
            survives::<MultipathHeader>(&bytes)?;
            survives::<HpccHeader>(&bytes)?;
        }
    }

    #[test]
    fn an_ack_with_a_block_survives() {
        let mut ack = Packet::<PdqHeader> {
            flow: 7,
            seq: 3,
            flags: Flags::ACK.with(Flags::ECE),
            ..Packet::default()
        };
        ack.set_sack_block(5..9);
        let codec = PdqHeader::CODEC.unwrap();
        let mut bytes = [0; 64];
        assert!(write(&ack, &codec, &mut bytes));
        let again = read::<PdqHeader>(&codec, &bytes).unwrap();
        assert_eq!((again, again.sack_block()), (ack, 5..9));
        bytes[14] = 0x80;
        assert_eq!(read::<PdqHeader>(&codec, &bytes), None, "there is no such flag");
    }
}
