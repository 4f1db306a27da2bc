//! The switch: brings real frames through a network of simulated ports and links, in real time.
//!
//! A frame that a host sends comes to the port of its card at the time at which the switch reads it. From
//! there on the network of the experiment decides: [`Live`] runs the same ports, links and routing as a
//! simulation. A frame that arrives at a host is written to the host's card when it is due. Times of
//! departure follow from times of arrival alone. A switch that is late with one frame therefore delays no
//! other frame.
//!
//! What may not live here: anything about one scheme, and what hosts do.

mod datagrams;
pub mod deliveries;
pub mod departed;
pub mod flows;
pub mod form;
mod glances;
pub mod headers;
pub mod memory;
pub mod pace;
mod passages;
mod tunnelled;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowsched_capture::{CaptureError, Captures, Observed, Observing};
use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::{ConnectionId, Connections, Port};
use flowsched_schemes::world::{Controllers, Passage, Ports};
use flowsched_sim::Job;
use flowsched_sim::live::Live;
use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

use crate::clock::Clock;
use crate::lateness::Lateness;
use crate::precedence::{Precedence, Rank};
use crate::processors::{Division, keep_on};
use crate::tap::Cable;
use crate::wait::{Watched, sleep_within};
use deliveries::{Arrival, Deliveries, Handed};
use departed::Departed;
use flows::{FlowNumbers, MOST_FLOWS, Numbered};
use form::Form;
use glances::{Glances, Waited};
use headers::{Headers, Levels};
use memory::{LONGEST_FRAME, Memory};
use pace::Pace;
use passages::Passages;

/// The most frames that are read from one host before others have their turn.
const BATCH: usize = 32;

/// The counters of the switch.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Frames read from hosts.
    pub read: u64,
    /// Of the frames read, those that were malformed, had a foreign sender, or were for no host of the lab.
    pub refused: u64,
    /// Frames taken in, by their priority. The last element counts all lower priorities too.
    pub priorities: [u64; 8],
    /// Frames handed to hosts. This is complete once the switch has stopped.
    pub handed: Handed,
    /// How late frames were read. A frame counts as late by the mean over the times at which it may have come.
    pub reading: Lateness,
    /// The longest time that a frame may have waited until it was read.
    pub longest_absence: Time,
}

/// The network, in which some ports may be captured.
pub type Network<'a, H, P, C> = Live<'a, H, P, Observed<C, Departed<H>>, Memory<H>>;

/// What looks at the network every `interval`.
struct Looks<F> {
    interval: Time,
    /// When the next look is due.
    next: Time,
    look: F,
}

/// Lets the helper finish, also if the switch panics.
struct End<'a>(&'a Deliveries);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A switch with a cable to each host.
#[derive(Debug)]
pub struct Switch<'a, K, H, P, C> {
    network: Network<'a, H, P, C>,
    departed: Rc<RefCell<Departed<H>>>,
    /// The cable of each host.
    cables: Vec<K>,
    form: Form<H>,
    flows: FlowNumbers,
    passages: Passages,
    job_flows: &'a [Flow],
    /// To the ports, every flow that has a number is a connection of its own.
    connections: Connections,
    levels: Levels,
    clock: Clock,
    counts: Counts,
}

impl<'a, K, H, P, C> Switch<'a, K, H, P, C>
where
    K: Cable,
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
{
    /// A switch that brings what comes from `cables`, one for each host, through the job's network. Packets have
    /// the form `form`. `levels` gives the priority of each code point. Time is `clock`'s. The packets that leave
    /// captured ports are written to `captures`.
    pub fn new(
        job: &Job<'a>,
        ports: &impl Ports<H, Port = P>,
        controllers: impl Controllers<H, Controller = C>,
        cables: Vec<K>,
        (form, levels): (Form<H>, Levels),
        clock: Clock,
        captures: Captures,
    ) -> Switch<'a, K, H, P, C> {
        let departed = Rc::new(RefCell::new(Departed::new(captures)));
        let controllers = Observing { inner: controllers, departures: departed.clone() };
        let connections = Connections::new((MOST_FLOWS as usize).max(job.flows.len()));
        let network = Live::new(job, ports, &controllers, &connections, Memory::new(form));
        let nics = (0..cables.len() as u32).map(|host| job.network.nic(HostId(host)));
        let paces = nics.map(|nic| Pace::new(job.network.port(nic).rate)).collect();
        let handed = Handed { paces, ..Handed::default() };
        Switch {
            network,
            departed,
            cables,
            form,
            flows: FlowNumbers::default(),
            passages: Passages::default(),
            job_flows: job.flows,
            connections,
            levels,
            clock,
            counts: Counts { handed, ..Counts::default() },
        }
    }

    /// Brings frames to their hosts until `stop` is set. Frames that are then under way do not arrive. `look`
    /// is called every `interval`, unless that is zero, once all that happened before has been handled, and nothing
    /// later. The switch keeps to its processor of the `division`, if there is one.
    ///
    /// # Errors
    /// If a cable fails, or if the system refuses to raise the threads' priority.
    pub fn run(
        &mut self,
        division: Option<&Division>,
        stop: &AtomicBool,
        interval: Time,
        look: impl FnMut(&mut Network<'a, H, P, C>, Time),
    ) -> io::Result<()> {
        let next = if interval == Time::ZERO { Time::MAX } else { interval };
        let mut looks = Looks { interval, next, look };
        let files = self.cables.iter().map(|cable| cable.file().try_clone_to_owned());
        let handed = std::mem::take(&mut self.counts.handed);
        let deliveries = Deliveries::new(files.collect::<io::Result<_>>()?, handed, self.clock);
        let switched = std::thread::scope(|scope| {
            let helper = scope.spawn(|| {
                let _kept = division.map(|division| keep_on(&division.others)).transpose()?;
                deliveries.help()
            });
            let end = End(&deliveries);
            let kept = division.map(|division| keep_on(&[division.switch])).transpose();
            let switched = kept.and_then(|_kept| self.switch(stop, &mut looks, &deliveries));
            drop(end);
            let helped = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            switched.and(helped)
        });
        self.counts.handed = deliveries.into_handed();
        switched
    }

    /// Reads frames, brings them through the network, and hands them over, until `stop` is set.
    fn switch<F>(
        &mut self,
        stop: &AtomicBool,
        looks: &mut Looks<F>,
        deliveries: &Deliveries,
    ) -> io::Result<()>
    where
        F: FnMut(&mut Network<'a, H, P, C>, Time),
    {
        let mut precedence = Precedence::take(Rank::Switch)?;
        let mut watched = Watched::new(self.cables.iter().map(Cable::file))?;
        let mut glances = Glances::from(self.clock.now());
        while !stop.load(Ordering::Relaxed) {
            precedence.keep()?;
            self.keep_up(self.clock.now(), looks, deliveries);
            // What hosts have sent meanwhile comes before the next frame for a host.
            let is_busy = deliveries.hand_over_one()?;
            let next = if is_busy { Time::ZERO } else { self.network.next().min(looks.next) };
            let begin = self.clock.now();
            let wait = next.saturating_sub(begin);
            let hosts = watched.ready(wait)?;
            glances.note(begin, self.clock.now(), sleep_within(wait), !hosts.is_empty());
            for host in hosts {
                self.take_in(HostId(host as u32), &glances, looks, deliveries)?;
            }
        }
        Ok(())
    }

    /// Looks and hands packets over as is due by `now`.
    fn keep_up<F>(&mut self, now: Time, looks: &mut Looks<F>, deliveries: &Deliveries)
    where
        F: FnMut(&mut Network<'a, H, P, C>, Time),
    {
        while looks.next <= now {
            self.deliver_until(looks.next, deliveries);
            (looks.look)(&mut self.network, looks.next);
            self.capture();
            looks.next = looks.next.saturating_add(looks.interval);
        }
        self.deliver_until(now, deliveries);
    }

    /// The counters of the switch.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the data packets of all flows met; `None` unless packets are those of the kernel's TCP, outside a tunnel.
    pub fn passage(&self) -> Option<Passage> {
        matches!(self.form, Form::Tcp).then(|| self.passages.all())
    }

    /// The data packets that hosts sent again; `None` as in [`Switch::passage`].
    pub fn sent_again(&self) -> Option<u64> {
        matches!(self.form, Form::Tcp).then(|| self.passages.sent_again())
    }

    /// The network.
    pub fn network(&mut self) -> &mut Network<'a, H, P, C> {
        &mut self.network
    }

    /// Has all packets handed over that are due by `now`.
    fn deliver_until(&mut self, now: Time, deliveries: &Deliveries) {
        while self.network.next() <= now {
            let delivery = self.network.advance();
            self.capture();
            let Some(delivery) = delivery else { continue };
            let memory = self.network.losses();
            let entered = memory.entered(&delivery.packet);
            if let Some(segment) = memory.segment(&delivery.packet) {
                let Packet { flow, flags, marks, .. } = delivery.packet;
                let is_again = flags.has(Flags::RETRANSMISSION);
                self.passages.arrive((flow, flags.has(Flags::ACK)), segment, is_again, marks);
            }
            let frame = memory.take(&delivery.packet).to_vec();
            let Some(frame) = self.cables[delivery.host.index()].arrive(frame) else { continue };
            let entered = entered.map(|entered| (Bytes::new(delivery.packet.wire.into()), entered));
            deliveries.add(Arrival { host: delivery.host, frame, due: delivery.at, entered });
        }
    }

    /// Reads the frames that the host has sent, up to a batch.
    fn take_in<F>(
        &mut self,
        host: HostId,
        glances: &Glances,
        looks: &mut Looks<F>,
        deliveries: &Deliveries,
    ) -> io::Result<()>
    where
        F: FnMut(&mut Network<'a, H, P, C>, Time),
    {
        let mut buffer = [0; LONGEST_FRAME];
        // The first frame of a batch decides how late the others are: they wait behind it in the host's card.
        let Waited { mean, most } = glances.waited(self.clock.now());
        for _ in 0..BATCH {
            let Some(length) = self.cables[host.index()].receive(&mut buffer)? else { break };
            self.counts.read += 1;
            self.counts.reading.note(Time::ZERO, mean);
            self.counts.longest_absence = self.counts.longest_absence.max(most);
            let frame = buffer.get(..length).unwrap_or_default();
            match Headers::read(frame, host, self.cables.len() as u32) {
                Some(headers) => {
                    let now = self.clock.now();
                    self.keep_up(now, looks, deliveries);
                    self.send(host, headers, frame, now);
                }
                None => self.counts.refused += 1,
            }
        }
        Ok(())
    }

    fn send(&mut self, host: HostId, headers: Headers, frame: &[u8], now: Time) {
        let packet = match &self.form {
            Form::Datagrams(codec) => datagrams::read(codec, self.job_flows, host, &headers, frame),
            Form::Tunnel(tunnel) => {
                tunnelled::read(tunnel, self.job_flows, &self.levels, host, &headers, frame)
            }
            Form::Tcp => Some(self.of_kernel(&headers)),
        };
        let Some(mut packet) = packet else {
            self.counts.refused += 1;
            return;
        };
        if !packet.flags.has(Flags::ACK) {
            let connection = ConnectionId { from: host.0, to: packet.to, number: packet.flow };
            self.connections.note(packet.flow, connection);
            if matches!(self.form, Form::Tunnel(_)) {
                self.network.losses().remember(packet.flow, &headers, frame);
            }
        }
        packet.seq = self.network.losses().store(headers, packet.seq, now, frame);
        let priority = usize::from(packet.priority).min(self.counts.priorities.len() - 1);
        self.counts.priorities[priority] += 1;
        self.network.send(host, packet, now);
        self.capture();
    }

    /// Writes the packets that have left captured ports.
    fn capture(&mut self) {
        self.departed.borrow_mut().write(self.network.losses());
    }

    /// Writes the remaining packets to the captures.
    ///
    /// # Errors
    /// The error of the first frame that could not be written.
    pub fn finish_captures(&mut self) -> Result<(), CaptureError> {
        self.capture();
        self.departed.borrow_mut().captures().finish()
    }

    /// The packet of the kernel's TCP, as the ports see it.
    fn of_kernel(&mut self, headers: &Headers) -> Packet<H> {
        let Numbered { flow, is_back, is_new } = self.flows.number(headers.key);
        if is_new {
            self.passages.forget(flow);
        }
        let is_again =
            headers.segment.is_some_and(|segment| self.passages.enter((flow, is_back), segment));
        let flags = Flags::default()
            .with_if(is_back, Flags::ACK)
            .with_if(is_again, Flags::RETRANSMISSION)
            .with_if(headers.is_ect, Flags::ECT)
            .with_if(headers.is_marked, Flags::CE);
        let mut packet = Packet::data(flow, headers.to.0, 0, headers.wire, flags);
        packet.priority = self.levels[usize::from(headers.dscp & 63)];
        packet
    }
}
