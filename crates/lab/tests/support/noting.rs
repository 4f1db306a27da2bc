//! Notes what hosts send and what leaves ports, in place of the ports' controllers. It changes nothing.

use std::cell::RefCell;
use std::rc::Rc;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Backlog, Connections};
use flowsched_schemes::world::{Controllers, Ports};
use flowsched_units::Time;

use crate::boxed::Boxed;

/// A packet at a port.
#[derive(Clone, Copy, Debug)]
pub struct Event<H> {
    pub port: u32,
    pub at: Time,
    pub packet: Packet<H>,
    /// Whether the packet's first bit leaves the port. Otherwise a host hands the packet to its card.
    pub is_departure: bool,
}

/// All events so far, in the order in which they were seen.
pub type Log<H> = Rc<RefCell<Vec<Event<H>>>>;

/// Makes the controllers of `inner`, and notes what they see.
pub struct Noting<'a, M, H> {
    pub inner: &'a M,
    pub log: Log<H>,
}

/// Makes the ports that another maker makes, behind one type.
pub struct SamePorts<'a, P>(pub &'a P);

impl<H: Header, P: Ports<H>> Ports<H> for SamePorts<'_, P> {
    type Port = Boxed<H>;

    fn port(&self, site: Site, connections: &Connections) -> Boxed<H> {
        Boxed::new(self.0.port(site, connections))
    }

    fn host_rate(&self) -> f64 {
        self.0.host_rate()
    }
}

/// A controller that behaves as `inner` does.
pub struct Noted<C, H> {
    inner: C,
    site: Site,
    log: Log<H>,
}

impl<H: Header, M: Controllers<H>> Controllers<H> for Noting<'_, M, H> {
    type Controller = Noted<M::Controller, H>;

    fn controller(&self, site: Site) -> Self::Controller {
        Noted { inner: self.inner.controller(site), site, log: self.log.clone() }
    }
}

impl<C, H: Header> Noted<C, H> {
    fn note(&self, at: Time, packet: &Packet<H>, is_departure: bool) {
        let event = Event { port: self.site.port, at, packet: *packet, is_departure };
        self.log.borrow_mut().push(event);
    }
}

impl<H: Header, C: Controller<H>> Controller<H> for Noted<C, H> {
    const NEEDS_WAY_BACK: bool = C::IS_THERE && C::NEEDS_WAY_BACK;

    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        backlog: impl FnMut() -> Backlog,
        send: impl FnMut(Packet<H>),
    ) {
        if self.site.is_host {
            self.note(now, packet, false);
        }
        if C::IS_THERE {
            self.inner.on_forward(now, packet, backlog, send);
        }
    }

    fn on_departure(&mut self, now: Time, packet: &mut Packet<H>, behind: Backlog) {
        if C::IS_THERE {
            self.inner.on_departure(now, packet, behind);
        }
        self.note(now, packet, true);
    }

    fn on_return(&mut self, now: Time, packet: &mut Packet<H>) {
        if C::IS_THERE {
            self.inner.on_return(now, packet);
        }
    }

    fn deadline(&self) -> Time {
        if C::IS_THERE { self.inner.deadline() } else { Time::MAX }
    }

    fn on_timer(&mut self, now: Time, send: impl FnMut(Packet<H>)) {
        if C::IS_THERE {
            self.inner.on_timer(now, send);
        }
    }
}
