//! What a scheme comes down to where flows are fluids: who shares links with whom, and what a
//! flow costs beside its bytes.
//!
//! Windows, marks, buffers and losses have no place there. A part whose point is one of these says
//! so ([`NoFluid`]), and its scheme is refused with the reason.

mod criticality;
mod sharing;

#[doc(hidden)]
pub use criticality::{age_divisor, random_transmission};
pub use sharing::{CriticalBy, Shares, Sharing, SizeBy, Tagged};

use flowsched_units::{Bytes, PACKET_HEADER, SettingError, Settings};

use crate::packet::Header;
use crate::part::Role;

/// A scheme at the level of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLevel {
    /// How flows share links.
    pub sharing: Sharing,
    /// The share of every link's rate that they share; acknowledgements and probes use the rest too.
    pub link_share: f64,
    /// Whether the rates are those of an omniscient schedule, which is a bound where it is exact.
    pub is_omniscient: bool,
    /// Round trips before a flow's first byte.
    pub round_trips_before: u32,
    /// How flows that announce themselves come to a rate.
    pub admission: Admission,
    /// Header bytes of each packet of up to 1460 B of payload.
    pub header: Bytes,
    /// What goes back for them.
    pub acknowledgements: Acknowledgements,
    /// Whether a flow that cannot meet its deadline any more is given up.
    pub gives_up: bool,
    /// Into how many subflows a flow is split, each over a path of its own: the network's parallel
    /// paths, or those of a hash. `None`: a flow takes the one path of ECMP.
    pub subflows: Option<u32>,
}

/// How a flow that announces itself comes to a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admission {
    /// It competes from then on.
    AtOnce,
    /// It asks, once a round trip, so that it learns late what others leave.
    ByRequest,
    /// Switches accept it or pause it, and tell it by the packets and probes that it sends.
    ByAcceptance(Acceptance),
}

impl Admission {
    /// When flows hear of their rates, in a few words; nothing if at once.
    pub fn about(self) -> &'static str {
        match self {
            Admission::AtOnce => "",
            Admission::ByRequest => "; flows learn their rates once a round trip, on request",
            Admission::ByAcceptance(_) => {
                "; rate changes reach the sender after delays set by K and the probe interval"
            }
        }
    }

    /// What acceptance costs, where there is any.
    pub fn acceptance(self) -> Option<Acceptance> {
        match self {
            Admission::ByAcceptance(acceptance) => Some(acceptance),
            Admission::AtOnce | Admission::ByRequest => None,
        }
    }
}

/// What switches and hosts need to agree on who sends, in round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceptance {
    /// For so long after a switch has accepted a flow, it accepts no other newcomer.
    pub dampening: f64,
    /// An end is foreseen if the flow has announced that it takes less than this (K of Early Start).
    pub early_start: f64,
    /// Until a flow that comes next has probed, in the mean.
    pub until_probed: f64,
    /// Between the probes of a flow that waits.
    pub probe_interval: f64,
}

impl Acceptance {
    /// From when a flow has sent its last bit until the first of the next one is there.
    ///
    /// The next flow is accepted when the first announces less than K round trips (Early Start), at
    /// the rate of one card. What is not acknowledged yet counts: a round trip of each card that it
    /// sends through, so that a flow of several `cards` leaves less time.
    pub fn hand_over(&self, cards: f64) -> f64 {
        let before_its_last_bit = f64::max(0.0, self.early_start / cards - 1.0);
        f64::max(0.0, 1.0 - before_its_last_bit + self.until_probed)
    }

    /// The same after an end that nobody has foreseen: a flow is given up, or has announced a size that
    /// is not its own.
    pub fn hand_over_unforeseen(&self) -> f64 {
        1.0 + self.until_probed
    }
}

/// What goes back to a flow's sender for the packets that it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Bytes of each on a link; zero where nobody acknowledges.
    pub size: Bytes,
    /// One comes after this many packets, and after the last.
    pub packets: u32,
    /// Whether they go back over the links that the data went by.
    pub same_way_back: bool,
}

/// What a part comes down to where flows are fluids, or why there is nothing like it.
pub type Fluid<F> = Result<F, NoFluid>;

/// Why a part has no counterpart where flows are fluids.
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
    /// As the error of a scheme with these settings.
    pub(crate) fn into_error(self, settings: &Settings) -> SettingError {
        let NoFluid { key, why, instead } = self;
        let found = settings.named(key).map_or_else(String::new, ToString::to_string);
        let problem = format!(
            "`{key} = \"{found}\"` has no fluid form: {why}. Use {instead}, or set `discipline`."
        );
        SettingError::sentence(key, problem)
    }
}

/// Of transports whose point is how their windows grow and shrink.
pub const BY_WINDOWS: NoFluid = NoFluid {
    key: Role::Transport.key(),
    why: "its rates follow from windows, which fluid flows do not have",
    instead: "reno, ecn-star or dctcp",
};

impl Sharing {
    /// Without connection set-up, and with the headers of IP and TCP alone.
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

    /// With a round trip in which switches learn of the flow, and with the scheme's own header `H`
    /// on every packet and on what comes back for it.
    pub fn announced<H: Header>(self) -> FlowLevel {
        let header = Bytes::new(PACKET_HEADER + u64::from(H::WIRE_BYTES));
        let alone = self.alone();
        let acknowledgements = Acknowledgements { size: header, ..alone.acknowledgements };
        FlowLevel { round_trips_before: 1, header, acknowledgements, ..alone }
    }

    /// With requests for a rate, once a round trip, in the header `H`.
    pub fn by_request<H: Header>(self) -> FlowLevel {
        FlowLevel { admission: Admission::ByRequest, ..self.announced::<H>() }
    }
}

impl FlowLevel {
    /// How flows share links and come to their rates, in a few words.
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
