//! Keeps headers in one place while their packets pass ports with tickets instead.

use std::hint::black_box;
use std::marker::PhantomData;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_topology::PortId;

use super::{Losses, LostData};

/// What a packet carries through ports in place of its header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket<H> {
    /// The place of the header.
    pub(super) number: u32,
    path: u32,
    header: PhantomData<H>,
}

impl<H: Header> Header for Ticket<H> {
    const IS_SPREAD: bool = H::IS_SPREAD;

    #[inline]
    fn path(&self) -> u32 {
        self.path
    }
}

/// The headers of all packets under way.
#[derive(Debug)]
pub(super) struct Held<H> {
    places: Vec<Place<H>>,
    free: Vec<u32>,
}

/// A header, and the last port that its packet came to, in one cache line if they fit.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Place<H> {
    pub(super) header: H,
    pub(super) port: PortId,
}

impl<H> Default for Held<H> {
    fn default() -> Held<H> {
        Held { places: Vec::new(), free: Vec::new() }
    }
}

impl<H: Header> Held<H> {
    /// Stores the header of a packet that its host sends. Returns the packet with a ticket.
    #[inline]
    pub(super) fn hold(&mut self, packet: &Packet<H>, port: PortId) -> Packet<Ticket<H>> {
        let place = Place { header: packet.header, port };
        let number = match self.free.pop() {
            Some(number) => {
                self.places[number as usize] = place;
                number
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        };
        packet.with_header(Ticket { number, path: packet.header.path(), header: PhantomData })
    }

    #[inline]
    pub(super) fn place(&mut self, number: u32) -> &mut Place<H> {
        &mut self.places[number as usize]
    }

    /// Loads a header into the cache that is needed soon.
    #[inline]
    pub(super) fn expect(&self, number: u32) {
        black_box(self.places[number as usize].port);
    }

    /// Returns the packet with its header, whose place becomes free.
    #[inline]
    pub(super) fn give_back(&mut self, ticket: &Packet<Ticket<H>>) -> Packet<H> {
        let number = ticket.header.number;
        self.free.push(number);
        ticket.with_header(self.places[number as usize].header)
    }

    /// Frees the place of a header.
    #[inline]
    pub(super) fn discard(&mut self, number: u32) {
        self.free.push(number);
    }
}

/// Records the tickets of lost packets, and the flows of lost data packets.
#[derive(Debug, Default)]
pub(super) struct LostTickets {
    data: LostData,
    pub(super) numbers: Vec<u32>,
}

impl<H: Header> Losses<Ticket<H>> for LostTickets {
    fn lose(&mut self, packet: &Packet<Ticket<H>>) {
        self.data.lose(packet);
        self.numbers.push(packet.header.number);
    }

    fn flows(self) -> Vec<u32> {
        Losses::<H>::flows(self.data)
    }
}
