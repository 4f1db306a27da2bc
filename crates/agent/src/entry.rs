//! The entry points of the BPF program, and the sides of an interface that they run on.

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint};

use crate::interfaces::Interface;
use crate::sys;

/// Packets that leave an interface are tagged; of those that arrive it is noted that they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// What leaves.
    Egress,
    /// What arrives.
    Ingress,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Egress, Side::Ingress];

    /// As pins and `tc` name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Egress => "egress",
            Side::Ingress => "ingress",
        }
    }

    /// As libbpf names it.
    pub(crate) fn point(self) -> TcAttachPoint {
        match self {
            Side::Egress => TC_EGRESS,
            Side::Ingress => TC_INGRESS,
        }
    }
}

/// The entry points: what is to be done with a packet, and whether it has an Ethernet header.
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

    /// The program for packets of that side, by what they look like on the interface.
    pub(crate) fn on(interface: &Interface, side: Side) -> Entry {
        match (sys::has_ethernet_header(&interface.name), side) {
            (Ok(false), Side::Egress) => Entry::TagIp,
            (Ok(false), Side::Ingress) => Entry::HearIp,
            (Ok(true) | Err(_), Side::Egress) => Entry::TagEthernet,
            (Ok(true) | Err(_), Side::Ingress) => Entry::HearEthernet,
        }
    }

    /// As the BPF program's source names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Entry::TagEthernet => "tag_ethernet",
            Entry::TagIp => "tag_ip",
            Entry::HearEthernet => "hear_ethernet",
            Entry::HearIp => "hear_ip",
        }
    }
}
