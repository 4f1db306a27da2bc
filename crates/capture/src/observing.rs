//! Observes the packets that leave ports, in the place of a port's controller. It changes nothing.

use std::cell::RefCell;
use std::rc::Rc;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::Backlog;
use flowsched_schemes::world::Controllers;
use flowsched_topology::PortId;
use flowsched_units::{Bytes, Time};

/// A receiver of the packets that leave ports.
pub trait Departures<H: Header> {
    /// Whether to observe this port.
    fn wants(&self, port: PortId) -> bool;

    /// Receives a packet whose first bit leaves the port at `at`. Packets of one port come in the order of
    /// `at`; packets of different ports may not.
    fn departs(&mut self, port: PortId, at: Time, packet: &Packet<H>);
}

/// Makes the controllers of `inner`, and passes the packets that leave ports to `departures`.
#[derive(Clone, Debug)]
pub struct Observing<M, D> {
    /// The maker of the controllers.
    pub inner: M,
    /// The receiver of the packets.
    pub departures: Rc<RefCell<D>>,
}

/// A controller that behaves as `inner` does, and passes on the packets that leave its port.
#[derive(Debug)]
pub struct Observed<C, D> {
    inner: C,
    port: PortId,
    /// `None` if this port is not observed.
    departures: Option<Rc<RefCell<D>>>,
}

impl<H: Header, M: Controllers<H>, D: Departures<H>> Controllers<H> for Observing<M, D> {
    type Controller = Observed<M::Controller, D>;

    fn controller(&self, site: Site) -> Self::Controller {
        let port = PortId(site.port);
        let is_wanted = self.departures.borrow().wants(port);
        let departures = is_wanted.then(|| self.departures.clone());
        Observed { inner: self.inner.controller(site), port, departures }
    }
}

impl<H: Header, C: Controller<H>, D: Departures<H>> Controller<H> for Observed<C, D> {
    const NEEDS_WAY_BACK: bool = C::IS_THERE && C::NEEDS_WAY_BACK;

    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        backlog: impl FnMut() -> Backlog,
        send: impl FnMut(Packet<H>),
    ) {
        if C::IS_THERE {
            self.inner.on_forward(now, packet, backlog, send);
        }
    }

    fn on_departure(&mut self, now: Time, packet: &mut Packet<H>, behind: Backlog) {
        if C::IS_THERE {
            self.inner.on_departure(now, packet, behind);
        }
        if let Some(departures) = &self.departures {
            departures.borrow_mut().departs(self.port, now, packet);
        }
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

    fn largest_state(&self) -> Option<Bytes> {
        if C::IS_THERE { self.inner.largest_state() } else { None }
    }
}
