//! The header of Homa's packets.

use flowsched_units::PACKET_HEADER;

use crate::packet::{Flags, Header as _, Packet};

/// Bytes on the wire of a packet without data.
pub(super) const BARE: u32 = PACKET_HEADER as u32 + HomaHeader::WIRE_BYTES;

/// What a packet is for (Montazeri et al., SIGCOMM 2018, Figure 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Data that its sender sends without a grant.
    #[default]
    Unscheduled,
    /// Data that the receiver granted.
    Scheduled,
    /// Sender to receiver: asks about a message of which nothing has been heard for long. In the
    /// paper a client's RESEND for the response does this (3.7).
    Asking,
    /// Sender to receiver: the segments that a RESEND asked for wait for other messages (3.7).
    Busy,
    /// Receiver to sender: segments below `until` may be sent.
    Grant,
    /// Receiver to sender: segments from the packet's number to `until` are missing.
    Resend,
    /// Receiver to sender: the whole message came.
    Done,
}

/// Homa's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HomaHeader {
    /// What the packet is for.
    pub kind: Kind,
    /// In a grant, and in the data that it granted: the queue for that data.
    pub priority: u8,
    /// In a grant or a request to send again: the end of the segments that it is for ([`Kind`]).
    pub until: u32,
}

/// A packet without data from the receiver of `flow` to its sender.
pub(super) fn to_sender(flow: u32, seq: u32, header: HomaHeader) -> Packet<HomaHeader> {
    Packet { flow, seq, wire: BARE as u16, flags: Flags::ACK, header, ..Packet::default() }
}
