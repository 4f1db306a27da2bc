//! D3's congestion header, which RCP's packets carry too.

use flowsched_units::{Rate, Time};

use crate::packet::Bit;

/// What a sender asks for and what the switches grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct D3Header {
    /// Whether the packet asks for a rate, which happens once a round-trip time.
    pub is_request: Bit,
    /// r: the rate that the flow needs to meet its deadline; zero without one.
    pub desired: Rate,
    /// a: the rate that the switches so far grant.
    pub allocated: Rate,
    /// The sender's round-trip time; zero while it is not known.
    pub rtt: Time,
}
