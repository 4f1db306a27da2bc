//! The fluid form of schemes: how flows share links, and what a flow costs beside its bytes.
//!
//! Fluid flows have no windows, marks, buffers or losses. A part that depends on one of these has no
//! fluid form ([`NoFluid`]), and its scheme is refused with the reason.

mod criticality;
mod sharing;

#[doc(hidden)]
pub use criticality::{age_divisor, random_transmission};
pub use sharing::{CriticalBy, Shares, Sharing, SizeBy, Tagged};

use flowsched_units::{Bytes, PACKET_HEADER, SettingError, Settings};

use crate::packet::Header;
use crate::part::Role;

/// The fluid form of a scheme: the scheme at the level of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLevel {
    /// How flows share links.
    pub sharing: Sharing,
    /// The share of every link's rate that flows may use. Acknowledgements and probes may use the rest,
    /// too.
    pub link_share: f64,
    /// Whether the rates are those of an omniscient schedule, which is a bound where it is exact.
    pub is_omniscient: bool,
    /// Round trips before a flow's first byte.
    pub round_trips_before: u32,
    /// How flows that announce themselves get a rate.
    pub admission: Admission,
    /// Header bytes of each packet of up to 1460 B of payload.
    pub header: Bytes,
    /// The acknowledgements of these packets.
    pub acknowledgements: Acknowledgements,
    /// Whether a flow that cannot meet its deadline any more is given up.
    pub gives_up: bool,
    /// The number of subflows into which a flow is split. Each takes a path of its own: one of the
    /// network's parallel paths, or one chosen by a hash. `None` if a flow takes the one path of ECMP.
    pub subflows: Option<u32>,
}

/// How a flow that announces itself gets a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admission {
    /// It competes for rates as soon as it has announced itself.
    AtOnce,
    /// It asks for a rate once a round trip, so it learns late what other flows leave.
    ByRequest,
    /// Switches accept or pause it, and tell it so through the packets and probes that it sends.
    ByAcceptance(Acceptance),
}

impl Admission {
    /// A short text that says when flows learn their rates; empty if they learn them at once.
    pub fn about(self) -> &'static str {
        match self {
            Admission::AtOnce => "",
            Admission::ByRequest => "; flows learn their rates once a round trip, on request",
            Admission::ByAcceptance(_) => {
                "; rate changes reach the sender after delays set by K and the probe interval"
            }
        }
    }

    /// The cost of acceptance, if switches accept flows.
    pub fn acceptance(self) -> Option<Acceptance> {
        match self {
            Admission::ByAcceptance(acceptance) => Some(acceptance),
            Admission::AtOnce | Admission::ByRequest => None,
        }
    }
}

/// How long switches and hosts take until they agree on who sends. All times are in round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceptance {
    /// How long a switch accepts no other newcomer after it has accepted a flow.
    pub dampening: f64,
    /// Switches foresee the end of a flow once it announces that it needs less time than this (K of
    /// Early Start).
    pub early_start: f64,
    /// The mean time until the flow that comes next probes.
    pub until_probed: f64,
    /// The time between two probes of a flow that waits.
    pub probe_interval: f64,
}

impl Acceptance {
    /// The time from when a flow has sent its last bit until the first bit of the next flow arrives.
    ///
    /// The next flow is accepted when the first one announces less than K round trips (Early Start), at
    /// the rate of one card. The announced time includes what is not acknowledged yet, which is a round
    /// trip of each card that the flow sends through. After a flow of several `cards`, the next flow is
    /// therefore accepted later.
    pub fn hand_over(&self, cards: f64) -> f64 {
        let before_its_last_bit = f64::max(0.0, self.early_start / cards - 1.0);
        f64::max(0.0, 1.0 - before_its_last_bit + self.until_probed)
    }

    /// The time of [`Acceptance::hand_over`] after an end that switches have not foreseen: a flow was
    /// given up, or it had announced a size that is not its own.
    pub fn hand_over_unforeseen(&self) -> f64 {
        1.0 + self.until_probed
    }
}

/// The acknowledgements that a flow's sender gets for its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Bytes of an acknowledgement on a link; zero if there are none.
    pub size: Bytes,
    /// The number of packets for each acknowledgement. The last packet gets one, too.
    pub packets: u32,
    /// Whether they go back over the links that the data went by.
    pub same_way_back: bool,
}

/// The fluid form of a part, or the reason why it has none.
pub type Fluid<F> = Result<F, NoFluid>;

/// The reason why a part has no fluid form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFluid {
    /// The key in a `[[scheme]]` table that is to blame.
    pub key: &'static str,
    /// Why its value has no fluid form, as a clause.
    pub why: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

impl NoFluid {
    /// Turns the reason into the error of a scheme with these settings.
    pub(crate) fn into_error(self, settings: &Settings) -> SettingError {
        let NoFluid { key, why, instead } = self;
        let found = settings.named(key).map_or_else(String::new, ToString::to_string);
        let problem = format!(
            "`{key} = \"{found}\"` has no fluid form: {why}. Use {instead}, or set `discipline`."
        );
        SettingError::sentence(key, problem)
    }
}

/// The reason for transports whose point is how their windows grow and shrink.
pub const BY_WINDOWS: NoFluid = NoFluid {
    key: Role::Transport.key(),
    why: "its rates follow from windows, which fluid flows do not have",
    instead: "reno, ecn-star or dctcp",
};

impl Sharing {
    /// The fluid form without connection set-up, and with no headers but those of IP and TCP.
    pub fn alone(self) -> FlowLevel {
        let header = Bytes::new(PACKET_HEADER);
        let acknowledgements = Acknowledgements { size: header, packets: 1, same_way_back: false };
        FlowLevel {
            sharing: self,
            link_share: 1.0,
            is_omniscient: false,
            round_trips_before: 0,
            admission: Admission::AtOnce,
            header,
            acknowledgements,
            gives_up: false,
            subflows: None,
        }
    }

    /// The fluid form with a first round trip, in which switches learn of the flow, and with the
    /// scheme's own header `H` on every packet and its acknowledgement.
    pub fn announced<H: Header>(self) -> FlowLevel {
        let header = Bytes::new(PACKET_HEADER + u64::from(H::WIRE_BYTES));
        let alone = self.alone();
        let acknowledgements = Acknowledgements { size: header, ..alone.acknowledgements };
        FlowLevel { round_trips_before: 1, header, acknowledgements, ..alone }
    }

    /// The fluid form of flows that request a rate once a round trip, in the header `H`.
    pub fn by_request<H: Header>(self) -> FlowLevel {
        FlowLevel { admission: Admission::ByRequest, ..self.announced::<H>() }
    }
}

impl FlowLevel {
    /// A short text that says how flows share links and get their rates.
    pub fn about(&self) -> String {
        if self.is_omniscient {
            return "an omniscient schedule".to_owned();
        }
        let split = match self.subflows {
            None => String::new(),
            Some(count) => format!("; up to {count} subflows per flow, each on its own path"),
        };
        format!("{}{split}{}", self.sharing.about(), self.admission.about())
    }
}
