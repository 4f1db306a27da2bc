//! Where frames wait while the network decides on them.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_sim::Losses;

use super::datagrams;
use super::headers::Headers;

/// Bytes of the longest Ethernet frame: a full packet with its header, a VLAN tag, and a scheme's header.
pub const LONGEST_FRAME: usize = 1600;

/// A frame and what the switch has read of it.
#[derive(Clone, Debug)]
struct Stored {
    headers: Headers,
    /// The number that the packet had before it became that of the slot.
    number: u32,
    bytes: Vec<u8>,
}

impl Stored {
    /// Writes what the network has made of the packet: the mark, and the scheme's header.
    fn update<H: Header>(&mut self, packet: &Packet<H>) {
        if packet.flags.has(Flags::CE) && !self.headers.is_marked {
            self.headers.mark(&mut self.bytes);
        }
        if let Some(codec) = &H::CODEC {
            let mut packet = *packet;
            packet.seq = self.number;
            datagrams::write(codec, &packet, &self.headers, &mut self.bytes);
        }
    }
}

/// Frames by slot. The slot of a frame is its packet's number ([`Packet::seq`]).
#[derive(Debug, Default)]
pub struct Memory {
    slots: Vec<Stored>,
    free: Vec<u32>,
    lost: u64,
}

impl Memory {
    /// Keeps a frame: its slot.
    pub fn store(&mut self, headers: Headers, number: u32, frame: &[u8]) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                let stored = &mut self.slots[slot as usize];
                stored.headers = headers;
                stored.number = number;
                stored.bytes.clear();
                stored.bytes.extend_from_slice(frame);
                slot
            }
            None => {
                self.slots.push(Stored { headers, number, bytes: frame.to_vec() });
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The frame of a packet as it is in the network: with the mark and the scheme's header.
    pub fn show<H: Header>(&self, packet: &Packet<H>) -> Vec<u8> {
        let mut stored = self.slots[packet.seq as usize].clone();
        stored.update(packet);
        stored.bytes
    }

    /// The frame of a packet that has arrived, with what the network has made of it. Its slot is free from now on.
    pub fn take<H: Header>(&mut self, packet: &Packet<H>) -> &[u8] {
        self.free.push(packet.seq);
        let stored = &mut self.slots[packet.seq as usize];
        stored.update(packet);
        &stored.bytes
    }

    /// Packets that ports dropped or links lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Frames that are in the network.
    pub fn waiting(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<H> Losses<H> for Memory {
    fn lose(&mut self, packet: &Packet<H>) {
        self.free.push(packet.seq);
        self.lost += 1;
    }
}
