//! A simulation with captures of ports.

use std::cell::RefCell;
use std::rc::Rc;

use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Outcome, Parts, Ports, Watch, World};
use flowsched_schemes::{Packet, Scheme};
use flowsched_sim::{Job, run_parts_watched};
use flowsched_topology::PortId;
use flowsched_units::Time;

use crate::error::CaptureError;
use crate::file::Captures;
use crate::frame::Frames;
use crate::observing::{Departures, Observing};

/// Simulates a job under a scheme, and writes the packets that leave ports to `captures`. The outcome is
/// that of [`flowsched_sim::run_watched`].
///
/// # Errors
/// If a capture cannot be written.
pub fn run_captured(
    job: &Job<'_>,
    scheme: &Scheme,
    captures: Captures,
    watch: &mut Watch<'_>,
) -> Result<Outcome, CaptureError> {
    let frames = Frames::new(job.flows, scheme.port.queues);
    let departures = Rc::new(RefCell::new(Synthesis { captures, frames }));
    let job = &job.under(scheme);
    let outcome = scheme.run_in(Captured { job, departures: departures.clone(), watch });
    departures.borrow_mut().captures.finish()?;
    Ok(outcome)
}

/// Makes frames of simulated packets, and writes them.
struct Synthesis<'a> {
    captures: Captures,
    frames: Frames<'a>,
}

impl<H: Header> Departures<H> for Synthesis<'_> {
    fn wants(&self, port: PortId) -> bool {
        self.captures.wants(port)
    }

    fn departs(&mut self, port: PortId, at: Time, packet: &Packet<H>) {
        let (frame, length) = self.frames.make(&packet.with_header(()), H::WIRE_BYTES);
        self.captures.write(port, at, frame, length);
    }
}

/// The packet simulator with observed ports.
struct Captured<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    departures: Rc<RefCell<Synthesis<'n>>>,
    watch: &'w mut Watch<'s>,
}

impl World for Captured<'_, '_, '_, '_> {
    type Output = Outcome;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Outcome
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let Captured { job, departures, watch } = self;
        let Parts { transport, tagger, ports, controllers } = parts;
        let controllers = Observing { inner: controllers, departures };
        run_parts_watched(job, Parts { transport, tagger, ports, controllers }, watch)
    }
}
