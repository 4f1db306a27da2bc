//! pHost's header: the kind of a packet, and the token that it is or spends.

use flowsched_units::PACKET_HEADER;

use crate::packet::{Flags, Packet};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Data, for which a token was spent.
    #[default]
    Data,
    /// RTS: a source asks for tokens.
    Request,
    /// A receiver lets a source send one packet.
    Token,
    /// A receiver has the whole flow.
    Done,
}

/// pHost's header. It takes the place of TCP's numbers, and no more room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhostHeader {
    /// The packet's kind.
    pub kind: Kind,
    /// In a token, and in the packet for which it is spent: the token's number, from 0 in each
    /// flow.
    pub number: u32,
    /// In a token: the segment that it is for.
    pub segment: u32,
    /// In a token: the number of segments that the receiver lacks.
    pub missing: u32,
}

/// A packet to the sender of `flow` from the receiver, which expects `segment`.
pub(super) fn to_sender(flow: u32, segment: u32, header: PhostHeader) -> Packet<PhostHeader> {
    // A token acknowledges nothing by itself.
    let flags = Flags::ACK.with_if(header.kind == Kind::Token, Flags::PROBE);
    Packet { flow, seq: segment, wire: PACKET_HEADER as u16, flags, header, ..Packet::default() }
}
