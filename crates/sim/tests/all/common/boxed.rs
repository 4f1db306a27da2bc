//! Ports of any type behind one type, so that the engines are compiled once for all of them.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Backlog, Port};

/// Any port.
pub struct Boxed<H>(Box<dyn AnyPort<H>>);

impl<H: Header> Boxed<H> {
    pub fn new(port: impl Port<Packet<H>> + 'static) -> Boxed<H> {
        Boxed(Box::new(port))
    }
}

/// What [`Boxed`] calls of a port.
trait AnyPort<H> {
    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, dropped: &mut dyn FnMut(Packet<H>));
    fn dequeue(&mut self) -> Option<Packet<H>>;
    fn backlog(&self) -> Backlog;
    fn marks(&self) -> u64;
    fn shares_memory(&self) -> bool;
}

impl<H: Header, P: Port<Packet<H>>> AnyPort<H> for P {
    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, dropped: &mut dyn FnMut(Packet<H>)) {
        Port::enqueue(self, packet, elsewhere, dropped);
    }

    fn dequeue(&mut self) -> Option<Packet<H>> {
        Port::dequeue(self)
    }

    fn backlog(&self) -> Backlog {
        Port::backlog(self)
    }

    fn marks(&self) -> u64 {
        Port::marks(self)
    }

    fn shares_memory(&self) -> bool {
        Port::shares_memory(self)
    }
}

impl<H: Header> Port<Packet<H>> for Boxed<H> {
    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, mut dropped: impl FnMut(Packet<H>)) {
        self.0.enqueue(packet, elsewhere, &mut dropped);
    }

    fn dequeue(&mut self) -> Option<Packet<H>> {
        self.0.dequeue()
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    fn marks(&self) -> u64 {
        self.0.marks()
    }

    fn shares_memory(&self) -> bool {
        self.0.shares_memory()
    }
}
