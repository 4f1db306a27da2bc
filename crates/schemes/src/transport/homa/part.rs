//! Homa as a part: its parameters, its entry in the catalogue, and what it comes down to where
//! flows are fluids.

use flowsched_units::{
    Bytes, Kind, PACKET_HEADER, PACKET_PAYLOAD, PacketMeaning, Parameter, SettingError, Settings,
    Time,
};

use super::Homa;
use super::header::HomaHeader;
use super::priorities::{HomaPriorities, Levels};
use crate::controller::{Controlled, Language, NoController, Uncontrolled};
use crate::flow_level::{Acknowledgements, FlowLevel, Fluid, NoFluid, Shares, Sharing};
use crate::limits;
use crate::packet::Header;
use crate::part::{Part, Role};
use crate::port::{HostPort, InOrder, PortFamily};
use crate::tagger::TaggerPart;
use crate::transport::TransportPart;

/// What a message sends without a grant, and what of it is granted at a time.
pub const RTT_BYTES: Parameter = Parameter {
    name: "rtt_bytes",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("9700B"),
    about: "RTTbytes, rounded up to whole packets: what a message sends without a grant, and what \
            of it is granted and has not come. Set it to a host link's rate times the longest \
            round trip.",
    source: "Montazeri et al., SIGCOMM 2018, 5.2: 10 Gbps and 7.8 us",
};

/// How many messages a host grants at a time.
pub const OVERCOMMITMENT: Parameter = Parameter {
    name: "overcommitment",
    kind: Kind::Count { from: 0, to: 1_000 },
    default: Some("0"),
    about: "How many messages a host grants at a time; 0: as many as there are scheduled \
            priorities.",
    source: "Montazeri et al., SIGCOMM 2018, 3.5",
};

/// After how long a silence an end asks the other.
pub const RESEND_INTERVAL: Parameter = Parameter {
    name: "resend_interval",
    kind: Kind::Time,
    default: Some("2ms"),
    about: "How long nothing of a message comes before its receiver asks for what is missing, or \
            its sender asks the receiver for a sign.",
    source: "Montazeri et al., SIGCOMM 2018, 3.7: a few milliseconds",
};

/// What may be set of Homa's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HomaSettings {
    /// RTTbytes in whole packets.
    pub rtt_segments: u32,
    /// How many messages a host grants at a time.
    pub overcommitment: usize,
    /// The queues for scheduled packets.
    pub scheduled: Levels,
    /// After how long a silence an end asks the other.
    pub resend_interval: Time,
    /// The share of its link's rate that a host sends at.
    pub host_rate: f64,
}

impl HomaSettings {
    fn from_settings(settings: &Settings) -> Result<HomaSettings, SettingError> {
        let queues = InOrder::from_settings(settings)?.settings().queues;
        let scheduled = HomaPriorities::build(settings, queues)?.scheduled();
        let segments = settings.size(&RTT_BYTES).get().div_ceil(PACKET_PAYLOAD).max(1);
        let overcommitment = match settings.count(&OVERCOMMITMENT) {
            0 => usize::from(scheduled.count),
            count => count as usize,
        };
        Ok(HomaSettings {
            rtt_segments: u32::try_from(segments).unwrap_or(u32::MAX),
            overcommitment,
            scheduled,
            resend_interval: limits::timeout(settings, &RESEND_INTERVAL)?,
            host_rate: HostPort::from_settings(settings).rate,
        })
    }
}

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

    /// Senders and receivers both prefer the message with the fewest bytes left, and ports keep to
    /// that: SRPT, as overcommitment keeps receivers' links busy. A grant goes back for a packet.
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
