//! pHost: receivers send tokens, sources spend them.
//!
//! Gao et al., "pHost: Distributed Near-Optimal Datacenter Transport Over Commodity Network Fabric",
//! CoNEXT 2015. A source asks a receiver for tokens with a packet without data (RTS). A receiver sends
//! one token per packet time, to the flow that lacks the fewest packets. A source spends one token per
//! packet time, on the flow that lacks the fewest packets. A token is for one packet and expires soon.
//! A short flow has tokens from the start. A flow that leaves too many tokens unanswered gets no more
//! for a while.
//!
//! This module has the [header](PhostHeader), the two ends of a flow, and the state of a host: at the
//! [source], which flow spends the next token; at the [receiver](sink), which flow gets the next one.
//! Ports do not belong here: they are plain strict priority.

mod header;
mod part;
mod priorities;
mod receiver;
mod sender;
mod settings;
pub mod sink;
pub mod source;
mod wire;

pub use header::{Kind, PhostHeader};
pub use part::PhostHosts;
pub use priorities::PhostPriorities;
pub use receiver::Receiver;
pub use sender::Sender;
pub use settings::PhostSettings;

use flowsched_units::{Bytes, PACKET_WIRE, Rate, Time};

use super::tcp::segments_of;
use super::{Hosting, Start, Transport};
use crate::packet::Packet;
use sink::Sink;
use source::Source;

/// pHost as all flows of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phost {
    /// Its parameters.
    pub settings: PhostSettings,
}

/// The state of a host beyond that of its flows.
#[derive(Clone, Debug)]
pub struct Host {
    /// Decides which flow spends the next token.
    pub source: Source,
    /// Decides which flow gets the next token.
    pub sink: Sink,
}

impl Transport for Phost {
    type Header = PhostHeader;
    type Connection = ();
    type Host = Host;
    type Sender = Sender;
    type Receiver = Receiver;

    const ENDS_AFTER_DELIVERY: bool = true;

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn host(&self, rate: Rate) -> Host {
        let sending = Rate::from_bps((rate.as_bps() as f64 * self.settings.host_rate) as u64);
        let packet_time = rate.transmission_time(Bytes::new(PACKET_WIRE));
        Host { source: Source::new(sending), sink: Sink::new(packet_time) }
    }

    fn sender(&self, start: &Start, (): ()) -> Sender {
        Sender::new(&self.settings, start)
    }

    fn receiver(&self, size: Bytes) -> Receiver {
        Receiver::new(&self.settings, segments_of(size))
    }
}

impl Hosting<Phost> for Host {
    fn on_timer(&mut self, phost: &Phost, now: Time, mut send: impl FnMut(Packet<PhostHeader>)) {
        if let Some(token) = self.sink.next_token(&phost.settings, now) {
            self.source.sent(now, u32::from(token.wire));
            send(token);
        }
    }

    fn next_sender(&mut self, _phost: &Phost, now: Time) -> Option<u32> {
        self.source.next(now)
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.source.deadline().min(self.sink.deadline())
    }
}

#[cfg(test)]
mod tests {
    use super::sink::tests::SETTINGS;
    use super::source::Claim;
    use super::*;

    /// A host that sends at half of its card's rate takes twice as long for a packet.
    #[test]
    fn a_source_sends_at_its_share_of_the_card() {
        let free_after = |host_rate| {
            let phost = Phost { settings: PhostSettings { host_rate, ..SETTINGS } };
            let Host { mut source, .. } = phost.host(Rate::from_gbps(10));
            source.wait(Claim { flow: 1, missing: 1, until: Time::MAX });
            source.sent(Time::ZERO, PACKET_WIRE as u32);
            source.deadline()
        };
        assert_eq!(free_after(1.0), Time::from_ns(1_200));
        assert_eq!(free_after(0.5), Time::from_ns(2_400));
    }
}
