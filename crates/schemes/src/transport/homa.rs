//! Homa: receivers grant the shortest messages, priorities let short messages overtake.
//!
//! Montazeri et al., "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018. A flow is a message. Its first RTTbytes leave unscheduled, at a
//! priority that depends on the message's size (3.4). The rest leaves when the receiver grants it. A
//! receiver grants a few messages at a time, those with the fewest bytes left, each at a scheduled
//! priority of its own (3.3 to 3.5). A sending host transmits the message with the fewest bytes left
//! first (3.2). Losses are found by time-outs at receivers (3.7).
//!
//! This module has the [header], the two ends of a message, and the state of a host: which message
//! sends [next](card), and which messages to [grant](grants). Ports do not belong here: they are
//! plain strict priority.
//!
//! The implementation follows the paper from memory, and the authors' simulator
//! (PlatformLab/HomaSimulation). These are choices made here:
//!
//! - Messages are one-way. A packet without data from the receiver ends a message, in place of the
//!   response.
//! - Amounts are counted in whole packets.
//! - A receiver limits the number of messages that it grants. A sender does not.

pub mod card;
pub mod grants;
pub mod header;
mod part;
pub mod priorities;
mod receiver;
mod sender;
mod settings;
mod wire;

#[cfg(test)]
mod tests;

pub use part::HomaHosts;
pub use receiver::Receiver;
pub use sender::Sender;
pub use settings::HomaSettings;

use flowsched_units::{Bytes, Rate, Time};

use super::tcp::segments_of;
use super::{Hosting, Start, Transport};
use card::Card;
use grants::Grants;
use header::HomaHeader;

/// Homa as all messages of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Homa {
    /// Its parameters.
    pub settings: HomaSettings,
}

/// The state of a host beyond that of its messages.
#[derive(Clone, Debug)]
pub struct Host {
    /// Decides which message sends next.
    pub card: Card,
    /// The messages that come in and need grants.
    pub grants: Grants,
}

impl Transport for Homa {
    type Header = HomaHeader;
    type Connection = ();
    type Host = Host;
    type Sender = Sender;
    type Receiver = Receiver;

    const ENDS_AFTER_DELIVERY: bool = true;

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn host(&self, rate: Rate) -> Host {
        let rate = Rate::from_bps((rate.as_bps() as f64 * self.settings.host_rate) as u64);
        Host { card: Card::new(rate), grants: Grants::default() }
    }

    fn sender(&self, start: &Start, (): ()) -> Sender {
        Sender::new(&self.settings, start)
    }

    fn receiver(&self, size: Bytes) -> Receiver {
        Receiver::new(segments_of(size))
    }
}

impl Hosting<Homa> for Host {
    fn next_sender(&mut self, _homa: &Homa, now: Time) -> Option<u32> {
        self.card.next(now)
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.card.deadline()
    }
}
