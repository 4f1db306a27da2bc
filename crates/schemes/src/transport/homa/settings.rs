//! The parameters of Homa's hosts, and their values.

use flowsched_units::{
    Kind, PACKET_PAYLOAD, PacketMeaning, Parameter, SettingError, Settings, Time,
};

use super::priorities::{HomaPriorities, Levels};
use crate::limits;
use crate::port::{HostPort, InOrder, PortFamily};
use crate::tagger::TaggerPart;

/// RTTbytes: what a message sends without a grant, and what is granted but has not arrived.
pub const RTT_BYTES: Parameter = Parameter {
    name: "rtt_bytes",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("9700B"),
    about: "RTTbytes, rounded up to whole packets: what a message sends without a grant, and what \
            is granted but has not arrived. Set it to a host link's rate times the longest round \
            trip.",
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

/// How long one end of a message hears nothing before it asks the other.
pub const RESEND_INTERVAL: Parameter = Parameter {
    name: "resend_interval",
    kind: Kind::Time,
    default: Some("2ms"),
    about: "Time without a packet of a message after which its receiver asks for the missing \
            packets, or its sender asks the receiver for an answer.",
    source: "Montazeri et al., SIGCOMM 2018, 3.7: a few milliseconds",
};

/// The parameters' values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HomaSettings {
    /// RTTbytes in whole packets.
    pub rtt_segments: u32,
    /// How many messages a host grants at a time.
    pub overcommitment: usize,
    /// The queues for scheduled packets.
    pub scheduled: Levels,
    /// How long one end of a message hears nothing before it asks the other.
    pub resend_interval: Time,
    /// The share of its link's rate that a host sends at.
    pub host_rate: f64,
}

impl HomaSettings {
    pub(super) fn from_settings(settings: &Settings) -> Result<HomaSettings, SettingError> {
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
