//! Homa as a part: its entry in the catalogue, and its fluid form.

use flowsched_units::{Bytes, PACKET_HEADER, SettingError, Settings};

use super::Homa;
use super::header::HomaHeader;
use super::priorities::HomaPriorities;
use super::settings::{HomaSettings, OVERCOMMITMENT, RESEND_INTERVAL, RTT_BYTES};
use crate::controller::{Controlled, Language, NoController, Uncontrolled};
use crate::flow_level::{Acknowledgements, FlowLevel, Fluid, NoFluid, Shares, Sharing};
use crate::packet::Header;
use crate::part::{Part, Role};
use crate::port::InOrder;
use crate::transport::TransportPart;

/// Homa's hosts.
#[derive(Clone, Copy, Debug)]
pub struct HomaHosts;

impl TransportPart for HomaHosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "homa",
        about: "Homa: sends RTTbytes at once and the rest as the receiver grants it, the message \
                with the fewest bytes left first.",
        source: "Montazeri et al., SIGCOMM 2018, 3",
        parameters: &[&[RTT_BYTES, OVERCOMMITMENT, RESEND_INTERVAL]],
    };
    type Transport = Homa;

    fn build(settings: &Settings) -> Result<Homa, SettingError> {
        Ok(Homa { settings: HomaSettings::from_settings(settings)? })
    }

    /// SRPT, because senders and receivers both prefer the message with the fewest bytes left,
    /// ports keep to this order, and overcommitment keeps receivers' links busy. A grant goes back
    /// for each packet.
    fn fluid(_homa: &Homa, _settings: &Settings, shares: Shares) -> Fluid<FlowLevel> {
        let sharing = shares.sharing?;
        if sharing != Sharing::SHORTEST_REMAINING_FIRST {
            return Err(NoFluid {
                key: Role::Port.key(),
                why: "short messages would wait for granted ones",
                instead: "strict-priority",
            });
        }
        let header = Bytes::new(PACKET_HEADER + u64::from(HomaHeader::WIRE_BYTES));
        let alone = sharing.alone();
        let acknowledgements = Acknowledgements { size: header, ..alone.acknowledgements };
        Ok(FlowLevel { header, acknowledgements, ..alone })
    }
}

impl Language for HomaHeader {
    type Controllers = Controlled<HomaHeader, NoController>;
}

impl Uncontrolled for HomaHeader {
    type Tagger = HomaPriorities;
    type Ports = InOrder;
}
