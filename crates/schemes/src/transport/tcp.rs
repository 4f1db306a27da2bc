//! TCP: reliable delivery with SACK, and the congestion controls built on it.
//!
//! The model has segments of full size but the last, windows in segments, SACK-based loss recovery
//! (RFC 6675), timeouts (RFC 6298), ECN with both ways of echoing (RFC 3168, 8257), delayed ACKs,
//! persistent connections and handshakes. It does not have sequence numbers in bytes, window
//! scaling, reneging, or the closing of connections. An ACK reports one SACK block, the one that
//! holds the segment which caused the ACK. A sender needs no more while ACKs are not lost.

mod application;
pub mod congestion;
pub mod parameters;
mod receiver;
pub(super) mod scoreboard;
mod segments;
mod send_times;
mod sender;
pub mod settings;
pub(super) mod timeout;

pub use receiver::Receiver;
pub use segments::SegmentSet;
pub use sender::{Connection, Sender};

use flowsched_units::{Bytes, PACKET_PAYLOAD, Rate, SettingError, Settings, Time};

use congestion::{AnyAlgorithm, CongestionControl};
use settings::{FastRetransmit, TcpSettings};

use super::part::refusal;
use super::{
    Hosting, Outgoing, Phase, Receiving, SenderState, Sending, Start, Timeouts, Transport,
    TransportFamily,
};
use crate::flow_level::{FlowLevel, Fluid, Shares};
use crate::on_linux::KernelControl;
use crate::packet::Packet;
use crate::part::Part;

/// TCP as all flows of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tcp<A = AnyAlgorithm> {
    /// Its parameters.
    pub settings: TcpSettings,
    /// The congestion control of a new connection.
    pub congestion: A,
    /// Whether a segment counts as lost once three later ones are acknowledged.
    fast_retransmit: bool,
    /// The congestion control's answers to `uses_ecn` and `latches_echo`, which never change.
    uses_ecn: bool,
    latches_echo: bool,
}

impl<A: CongestionControl> Tcp<A> {
    /// TCP with these parameters and this congestion control, over paths that keep packets in
    /// order.
    pub fn new(settings: TcpSettings, congestion: A) -> Tcp<A> {
        let fast_retransmit = settings.fast_retransmit != FastRetransmit::Off;
        let (uses_ecn, latches_echo) = (congestion.uses_ecn(), congestion.latches_echo());
        Tcp { settings, congestion, fast_retransmit, uses_ecn, latches_echo }
    }
}

/// The number of segments of a flow of `size` bytes. The last one may not be full.
pub fn segments_of(size: Bytes) -> u32 {
    u32::try_from(size.get().div_ceil(PACKET_PAYLOAD)).unwrap_or(u32::MAX)
}

impl<A: CongestionControl> Transport for Tcp<A> {
    type Header = ();
    type Connection = Connection<A>;
    type Host = ();
    type Sender = Sender<A>;
    type Receiver = Receiver;

    const WAITS_FOR_APPLICATIONS: bool = true;
    const ENDS_AFTER_DELIVERY: bool = true;

    fn over_sprayed_paths(self) -> Tcp<A> {
        Tcp { fast_retransmit: self.settings.fast_retransmit == FastRetransmit::On, ..self }
    }

    fn open_connections(&self) -> u32 {
        self.settings.open_connections
    }

    fn open_connection(&self, round_trip: Time) -> Connection<A> {
        Connection::open(self, round_trip)
    }

    fn new_connection(&self) -> Connection<A> {
        Connection::closed(self)
    }

    fn host(&self, _rate: Rate) {}

    fn sender(&self, start: &Start, connection: Connection<A>) -> Sender<A> {
        Sender::new(self, start, connection)
    }

    fn receiver(&self, size: Bytes) -> Receiver {
        Receiver::new(segments_of(size))
    }
}

impl<A: CongestionControl> Hosting<Tcp<A>> for () {}

impl<A: CongestionControl> Sending<Tcp<A>> for Sender<A> {
    fn poll(&mut self, tcp: &Tcp<A>, _host: &mut (), now: Time) -> Option<Outgoing> {
        Sender::poll(self, tcp, now)
    }

    #[inline(always)]
    fn send_all(&mut self, tcp: &Tcp<A>, _host: &mut (), now: Time, send: impl FnMut(Outgoing)) {
        Sender::send_all(self, tcp, now, send);
    }

    #[inline(always)]
    fn on_ack(&mut self, tcp: &Tcp<A>, _host: &mut (), now: Time, ack: &Packet) {
        Sender::on_ack(self, tcp, now, ack);
    }

    fn on_timer(&mut self, tcp: &Tcp<A>, _host: &mut (), now: Time) {
        Sender::on_timer(self, tcp, now);
    }

    #[inline]
    fn deadline(&self) -> Time {
        Sender::deadline(self)
    }

    #[inline]
    fn phase(&self) -> Phase {
        if self.is_done() { Phase::Acknowledged } else { Phase::Sending }
    }

    fn finish(&mut self, now: Time) -> Connection<A> {
        Sender::finish(self, now)
    }

    fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    fn state(&self) -> SenderState {
        Sender::state(self)
    }
}

impl<A: CongestionControl> Receiving<Tcp<A>> for Receiver {
    #[inline]
    fn on_data(
        &mut self,
        tcp: &Tcp<A>,
        _host: &mut (),
        now: Time,
        packet: &Packet,
        send: impl FnMut(Packet),
    ) {
        Receiver::on_data(self, tcp, now, packet, send);
    }

    fn on_timer(&mut self, tcp: &Tcp<A>, _host: &mut (), now: Time, send: impl FnMut(Packet)) {
        Receiver::on_timer(self, tcp, now, send);
    }

    #[inline]
    fn deadline(&self) -> Time {
        Receiver::deadline(self)
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.is_complete()
    }
}

/// TCP under any algorithm of the catalogue.
impl TransportFamily for AnyAlgorithm {
    const PARTS: &[Part] = AnyAlgorithm::PARTS;
    type Transport = Tcp;

    fn heeds_marks(settings: &Settings) -> bool {
        AnyAlgorithm::heeds_marks(settings)
    }

    fn from_settings(settings: &Settings) -> Result<Tcp, SettingError> {
        let algorithm = AnyAlgorithm::from_settings(settings);
        let algorithm = algorithm.ok_or_else(|| refusal::<AnyAlgorithm>(settings))?;
        Ok(Tcp::new(TcpSettings::from_settings(settings), algorithm))
    }

    fn on_linux(tcp: &Tcp) -> Option<KernelControl> {
        tcp.congestion.on_linux()
    }

    fn fluid(tcp: &Tcp, _settings: &Settings, shares: Shares) -> Fluid<FlowLevel> {
        tcp.congestion.fluid()?;
        let mut level = shares.sharing?.alone();
        level.acknowledgements.packets = tcp.settings.ack_ratio;
        Ok(level)
    }
}

#[cfg(test)]
mod tests;
