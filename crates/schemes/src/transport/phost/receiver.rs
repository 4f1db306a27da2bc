//! pHost's receiver of one flow. It passes packets on to its host, which sends the tokens.

use flowsched_units::Time;

use super::header::to_sender;
use super::{Host, Kind, Phost, PhostHeader, PhostSettings};
use crate::packet::Packet;
use crate::transport::Receiving;

/// The receiving side of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    segments: u32,
    /// Tokens that the source had from the start.
    free: u32,
    is_delivered: bool,
}

impl Receiver {
    /// The receiver of a flow of this many segments.
    pub fn new(settings: &PhostSettings, segments: u32) -> Receiver {
        Receiver { segments, free: settings.free_of(segments), is_delivered: segments == 0 }
    }
}

impl Receiving<Phost> for Receiver {
    /// Any packet opens the flow, because data may overtake the request on another path.
    #[inline]
    fn on_data(
        &mut self,
        phost: &Phost,
        host: &mut Host,
        now: Time,
        packet: &Packet<PhostHeader>,
        mut send: impl FnMut(Packet<PhostHeader>),
    ) {
        let flow = packet.flow;
        if !self.is_delivered {
            host.sink.open(&phost.settings, now, flow, self.segments, self.free);
            self.is_delivered = packet.header.kind == Kind::Data
                && host.sink.take_in(now, flow, packet.seq, packet.header.number);
        }
        // Once the flow is complete, every packet that still comes is answered, because the first
        // answer may be lost.
        if self.is_delivered {
            let header = PhostHeader { kind: Kind::Done, ..PhostHeader::default() };
            let done = to_sender(flow, self.segments, header);
            host.source.sent(now, u32::from(done.wire));
            send(done);
        }
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.is_delivered
    }
}
