//! The entry points of the BPF program, and the sides of an interface that they run on.

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint};

use crate::interfaces::Interface;
use crate::sys;

/// A side of an interface. Packets that leave are tagged. Packets that arrive are only noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Packets that leave.
    Egress,
    /// Packets that arrive.
    Ingress,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Egress, Side::Ingress];

    /// The name in pins and in `tc`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Egress => "egress",
            Side::Ingress => "ingress",
        }
    }

    /// The name in libbpf.
    pub(crate) fn point(self) -> TcAttachPoint {
        match self {
            Side::Egress => TC_EGRESS,
            Side::Ingress => TC_INGRESS,
        }
    }
}

/// The entry points. They differ in what they do with a packet, and in whether it has an Ethernet
/// header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Tags frames that leave.
    TagEthernet,
    /// Tags bare IP packets that leave.
    TagIp,
    /// Reads frames that arrive.
    HearEthernet,
    /// Reads bare IP packets that arrive.
    HearIp,
}

impl Entry {
    pub(crate) const TAGGERS: [Entry; 2] = [Entry::TagEthernet, Entry::TagIp];
    pub(crate) const ALL: [Entry; 4] =
        [Entry::TagEthernet, Entry::TagIp, Entry::HearEthernet, Entry::HearIp];

    /// The entry point for packets on this side of the interface, depending on whether they have
    /// Ethernet headers.
    pub(crate) fn on(interface: &Interface, side: Side) -> Entry {
        match (sys::has_ethernet_header(&interface.name), side) {
            (Ok(false), Side::Egress) => Entry::TagIp,
            (Ok(false), Side::Ingress) => Entry::HearIp,
            (Ok(true) | Err(_), Side::Egress) => Entry::TagEthernet,
            (Ok(true) | Err(_), Side::Ingress) => Entry::HearEthernet,
        }
    }

    /// The name in the BPF program's source.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Entry::TagEthernet => "tag_ethernet",
            Entry::TagIp => "tag_ip",
            Entry::HearEthernet => "hear_ethernet",
            Entry::HearIp => "hear_ip",
        }
    }
}
