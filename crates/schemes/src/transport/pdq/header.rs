//! PDQ's scheduling header (PDQ 2012, 3.1 and footnote 11).

use std::num::NonZeroU32;

use flowsched_units::{Rate, Time};

use crate::packet::Header;

/// Who paused a flow: the number of an egress port, which stands for its switch. A flow passes a
/// switch through one port, so "another switch" means another port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pauser(NonZeroU32);

impl Pauser {
    /// The pauser for the egress port `port`.
    pub fn of_port(port: u32) -> Pauser {
        Pauser(NonZeroU32::MIN.saturating_add(port))
    }

    /// Its number, never 0.
    pub(super) fn number(self) -> u32 {
        self.0.get()
    }

    /// The pauser of this number; `None` for 0, which is nobody's.
    pub(super) fn from_number(number: u32) -> Option<Pauser> {
        NonZeroU32::new(number).map(Pauser)
    }
}

/// What the packets of a flow tell switches, and what switches answer in them.
///
/// On the wire of the paper these are four fields of 4 bytes: the rate, the pauser, and two fields
/// with two meanings. The two stand for the deadline and the transmission time on the way there,
/// and for the interval between probes and the round-trip time on the way back. But switches read
/// the round-trip time on the way there too (Algorithm 1), which the footnote leaves out. Here
/// every field has its own place, and only the 16 bytes are counted. On a real network the header
/// has 28 bytes (`wire`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdqHeader {
    /// R: the rate that the switches so far allow, headers included.
    pub rate: Rate,
    /// D: when the flow should have finished: [`Time::MAX`] without a deadline.
    pub deadline: Time,
    /// T: how long the rest of the flow takes at the sender's highest rate.
    pub transmission: Time,
    /// How much is subtracted from T in the order of flows. It is more than zero if ageing acts on
    /// this order and leaves T as it is. It is not counted on the wire, because the paper has no
    /// such field.
    pub head_start: Time,
    /// The sender's round-trip time; zero while it is not known.
    pub rtt: Time,
    /// P: who paused the flow.
    pub paused_by: Option<Pauser>,
    /// I: round-trip times between probes; zero if no switch has set it.
    pub probe_interval: f32,
}

impl Default for PdqHeader {
    fn default() -> PdqHeader {
        PdqHeader {
            rate: Rate::from_bps(0),
            deadline: Time::MAX,
            transmission: Time::ZERO,
            head_start: Time::ZERO,
            rtt: Time::ZERO,
            paused_by: None,
            probe_interval: 0.0,
        }
    }
}

/// A header that has PDQ's scheduling header in it.
pub trait Scheduled: Header {
    /// The scheduling header.
    fn scheduling(&mut self) -> &mut PdqHeader;
}

impl Scheduled for PdqHeader {
    #[inline]
    fn scheduling(&mut self) -> &mut PdqHeader {
        self
    }
}
