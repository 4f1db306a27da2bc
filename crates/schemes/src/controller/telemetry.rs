//! In-band telemetry: every port writes its load into the data packets that leave it.
//!
//! Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019.

use flowsched_units::{Bytes, Kind, Parameter, Rate, SettingError, Settings, Time};

use super::{Controlled, Controller, ControllerPart, Language, Site};
use crate::flow_level::Fluid;
use crate::packet::{Flags, Packet};
use crate::part::{Part, Role};
use crate::port::{Backlog, InOrder};
use crate::tagger::AnyTagger;
use crate::transport::Transport;
use crate::transport::hpcc::{Hop, HpccHeader};

/// Whether hosts' cards write too.
pub const CARD_TELEMETRY: Parameter = Parameter {
    name: "card_telemetry",
    kind: Kind::Flag,
    default: Some("false"),
    about: "Whether hosts' cards write their load into packets too, so that the flows of a host \
            share its card without a queue.",
    source: "HPCC 2019: switches write; its cards send the packets of their flows in turn, while \
             cards here have one queue",
};

/// Ports that write their load into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelemetryControl {
    /// Whether hosts' cards write too.
    pub at_cards: bool,
}

impl ControllerPart<HpccHeader> for TelemetryControl {
    const PART: Part = Part {
        role: Role::Controller,
        name: "telemetry",
        about: "In-band telemetry: each port writes its link's rate, the time, the bytes sent so \
                far and the waiting bytes into departing data packets.",
        source: "Li et al., SIGCOMM 2019",
        parameters: &[&[CARD_TELEMETRY]],
    };
    type Header = HpccHeader;
    type Hosts<T: Transport<Header = HpccHeader>> = T;
    type Tagger = AnyTagger;
    type Ports = InOrder;
    type Controller = Telemetry;

    fn build(settings: &Settings) -> Result<TelemetryControl, SettingError> {
        Ok(TelemetryControl { at_cards: settings.flag(&CARD_TELEMETRY) })
    }

    fn hosts<T: Transport<Header = HpccHeader>>(&self, transport: T) -> T {
        transport
    }

    fn controller(&self, site: Site) -> Telemetry {
        let writes = self.at_cards || !site.is_host;
        Telemetry { rate: site.rate, writes, sent: Bytes::ZERO }
    }

    fn fluid(&self) -> Fluid<()> {
        Ok(())
    }
}

impl Language for HpccHeader {
    type Controllers = Controlled<HpccHeader, TelemetryControl>;
}

/// What one egress port counts.
#[derive(Clone, Copy, Debug)]
pub struct Telemetry {
    rate: Rate,
    writes: bool,
    sent: Bytes,
}

impl Controller<HpccHeader> for Telemetry {
    /// ACKs bring back what the switches on the way there wrote.
    const LOOKS_ONE_WAY: bool = true;
    const SENDS: bool = false;

    /// Does nothing, because a record describes the moment at which a packet leaves.
    fn on_forward(
        &mut self,
        _now: Time,
        _packet: &mut Packet<HpccHeader>,
        _backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<HpccHeader>),
    ) {
    }

    #[inline]
    fn on_departure(&mut self, now: Time, packet: &mut Packet<HpccHeader>, behind: Backlog) {
        if self.writes && !packet.flags.has(Flags::ACK) {
            let queue = Bytes::new(behind.bytes);
            packet.header.push(Hop { rate: self.rate, time: now, sent: self.sent, queue });
        }
        self.sent += Bytes::new(u64::from(packet.wire));
    }

    fn on_return(&mut self, _now: Time, _packet: &mut Packet<HpccHeader>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_left_before_and_waits_behind() {
        let site = Site { port: 0, rate: Rate::from_gbps(10), is_host: false };
        let mut telemetry = TelemetryControl { at_cards: false }.controller(site);
        let mut leave = |us, flags, waiting| {
            let mut packet = Packet { wire: 1542, flags, ..Packet::default() };
            let behind = Backlog { bytes: waiting, packets: 1 };
            telemetry.on_departure(Time::from_us(us), &mut packet, behind);
            packet.header.hops().to_vec()
        };
        let hop = |us, sent, queue| Hop {
            rate: Rate::from_gbps(10),
            time: Time::from_us(us),
            sent: Bytes::new(sent),
            queue: Bytes::new(queue),
        };
        assert_eq!(leave(1, Flags::default(), 0), [hop(1, 0, 0)]);
        assert_eq!(leave(2, Flags::ACK, 0), []);
        assert_eq!(leave(3, Flags::default(), 700), [hop(3, 3084, 700)]);
    }

    #[test]
    fn cards_write_if_they_are_told_to() {
        let site = Site { port: 0, rate: Rate::from_gbps(10), is_host: true };
        for at_cards in [false, true] {
            let mut packet = Packet::default();
            let mut telemetry = TelemetryControl { at_cards }.controller(site);
            telemetry.on_departure(Time::ZERO, &mut packet, Backlog::default());
            assert_eq!(packet.header.hops().len(), usize::from(at_cards));
        }
    }
}
