//! Packets that have left captured ports, until their frames are written.

use flowsched_capture::{Captures, Departures};
use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::memory::Memory;

/// The captures of a run, and the packets that are still to be written to them.
#[derive(Debug)]
pub struct Departed<H> {
    captures: Captures,
    packets: Vec<(PortId, Time, Packet<H>)>,
}

impl<H: Header> Departed<H> {
    /// Captures to which nothing has been written.
    pub fn new(captures: Captures) -> Departed<H> {
        Departed { captures, packets: Vec::new() }
    }

    /// Writes the frames of packets that have left. Call this before `memory` stores other frames.
    pub fn write(&mut self, memory: &Memory<H>) {
        for (port, at, packet) in self.packets.drain(..) {
            let frame = memory.show(&packet);
            self.captures.write(port, at, &frame, frame.len());
        }
    }

    /// The captures.
    pub fn captures(&mut self) -> &mut Captures {
        &mut self.captures
    }
}

impl<H: Header> Departures<H> for Departed<H> {
    fn wants(&self, port: PortId) -> bool {
        self.captures.wants(port)
    }

    fn departs(&mut self, port: PortId, at: Time, packet: &Packet<H>) {
        self.packets.push((port, at, *packet));
    }
}
