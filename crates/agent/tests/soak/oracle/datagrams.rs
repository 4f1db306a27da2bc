//! UDP flows, including QUIC. A packet's place is the number of bytes before it, as far as a tagger
//! has seen them.

use std::time::Duration;

use super::{Judge, Place};
use crate::capture::Packet;

/// The bytes that a tagger has counted of a flow: at least, and at most.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    life: u32,
    least: u64,
    most: u64,
    /// The times of the first and the last packet that it has counted.
    first: u64,
    last: u64,
}

/// Judges the packets of one flow.
pub(super) fn flow(
    judge: &mut Judge<'_>,
    kind: &'static str,
    idle: Option<Duration>,
    packets: &[&Packet],
) {
    let idle = idle.map_or(f64::INFINITY, |idle| idle.as_nanos() as f64);
    let mut counted = Counted::default();
    for packet in packets {
        let phases = judge.history.at(packet.at);
        let mut now = counted;
        let tagged = phases.iter().find(|phase| phase.rule.is_some());
        if let Some(phase) = tagged.filter(|phase| phase.life != now.life) {
            now = Counted { life: phase.life, first: packet.at, ..Counted::default() };
        }
        // The margin is for a tick of the kernel's clock, and for the time from the tagger to the
        // capture.
        let silence = packet.at.saturating_sub(now.last) as f64;
        if silence > 1.2 * idle {
            now = Counted { life: now.life, first: packet.at, ..Counted::default() };
        } else if silence > 0.8 * idle {
            now.least = 0;
        }
        let place = match judge.history.is_blurred(now.first, packet.at) {
            true => Place::Any,
            false => Place::From(now.least, now.most),
        };
        judge.judge(kind, packet, |_| place);
        // A tag shows that a tagger has seen the packet.
        if packet.seen.dscp != 0 {
            now.least += packet.seen.payload as u64;
            now.most += packet.seen.payload as u64;
            now.last = packet.at;
            counted = now;
        }
    }
}
