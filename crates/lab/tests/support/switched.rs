//! A run of the lab's switch whose ports are noted, captured and counted.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use etherparse::IpEcn;
use flowsched_capture::Captures;
use flowsched_lab::clock::Clock;
use flowsched_lab::switch::form::Form;
use flowsched_lab::switch::{Counts, Switch};
use flowsched_lab::tap::Cable;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::world::{Controllers, PortSample, Ports};
use flowsched_sim::Job;
use flowsched_topology::{LinkEnd, Network, PortId};
use flowsched_units::Time;
use pcap_file::pcapng::{Block, PcapNgReader};

use crate::frames::ETHERNET;
use crate::noting::{Event, Log, Noting};

/// How often the test checks whether the switch has finished.
const INTERVAL: Time = Time::from_ms(5);

/// The results of a run of the switch.
pub struct Switched<H> {
    pub form: Form<H>,
    /// The packets that hosts handed to their cards and that left ports by [`Switched::end`].
    pub log: Vec<Event<H>>,
    /// Packets that hosts handed over after the end.
    pub late: usize,
    pub end: Time,
    /// The counters of each port at the end.
    pub counters: Vec<PortSample>,
    pub counts: Counts,
    /// The captured frames of each port.
    captured: Vec<Vec<Captured>>,
}

/// A frame in a capture: when it left, the bytes of its IP packet, and whether it is marked.
type Captured = (u64, u32, bool);

/// The inputs of the switch.
pub struct Setting<'a, 'n, H> {
    pub job: &'a Job<'n>,
    pub form: Form<H>,
    pub cables: Vec<Box<dyn Cable + 'a>>,
    /// The number of priorities at ports.
    pub priorities: usize,
    pub clock: Clock,
    /// The least number of frames that hosts send.
    pub least: usize,
}

/// A cable that counts the frames that the switch has read.
struct Counted<'a> {
    cable: Box<dyn Cable + 'a>,
    read: Rc<Cell<usize>>,
}

impl Cable for Counted<'_> {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let length = self.cable.receive(buffer)?;
        self.read.set(self.read.get() + usize::from(length.is_some()));
        Ok(length)
    }

    fn arrive(&mut self, frame: Vec<u8>) -> Option<Vec<u8>> {
        self.cable.arrive(frame)
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.cable.file()
    }
}

/// Notes that hosts have finished. If they panicked, stops the switch.
struct Done<'a> {
    is_played: &'a AtomicBool,
    stop: &'a AtomicBool,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.is_played.store(true, Ordering::Relaxed);
        if thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Brings the frames of hosts through the switch until `hosts` has finished and nothing is under
/// way.
pub fn switched<H: Header>(
    setting: Setting<'_, '_, H>,
    ports: &impl Ports<H>,
    controllers: &impl Controllers<H>,
    hosts: Box<dyn FnOnce() + Send + '_>,
) -> Switched<H> {
    let Setting { job, form, cables, priorities, clock, least } = setting;
    let folder = tempfile::tempdir().unwrap();
    let names = names(job.network);
    let captures = Captures::create(folder.path(), job.network, &names).unwrap();
    let levels = std::array::from_fn(|dscp| (priorities - 1).saturating_sub(dscp >> 3) as u8);
    let read = Rc::new(Cell::new(0));
    let counted = |cable| Counted { cable, read: read.clone() };
    let cables = cables.into_iter().map(counted).collect();
    let log = Log::default();
    let noting = Noting { inner: controllers, log: log.clone() };
    let mut switch = Switch::new(job, ports, noting, cables, (form, levels), clock, captures);
    let (stop, is_played) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut end, mut counters) = (Time::ZERO, Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _done = Done { is_played: &is_played, stop: &stop };
            hosts();
        });
        let ran = switch.run(None, &stop, INTERVAL, |network, now| {
            counters.clear();
            network.sample(now, &mut counters);
            end = now;
            let is_played = is_played.load(Ordering::Relaxed);
            if is_played && read.get() >= least && network.losses().waiting() == 0 {
                stop.store(true, Ordering::Relaxed);
            }
        });
        ran.unwrap();
    });
    switch.finish_captures().unwrap();
    let counts = switch.counts().clone();
    drop(switch);
    let (log, after): (Vec<_>, Vec<_>) =
        log.take().into_iter().partition(|event: &Event<H>| event.at <= end);
    let late = after.iter().filter(|event| !event.is_departure).count();
    let captured = names.iter().map(|name| captured(folder.path(), name, end)).collect();
    Switched { form, log, late, end, counters, counts, captured }
}

/// The names of all ports, in order.
fn names(network: &Network) -> Vec<String> {
    let node = |node| network.name(node).replace(' ', "");
    let port = |port: &LinkEnd| format!("{}:{}", node(port.owner), node(port.peer));
    network.ports().iter().map(port).collect()
}

/// The frames in the capture of a port until `end`.
fn captured(folder: &Path, name: &str, end: Time) -> Vec<Captured> {
    let path = folder.join(format!("{}.pcapng", name.replace(':', "-")));
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.unwrap() else { continue };
        let ns = packet.timestamp.as_nanos() as u64;
        let is_marked = packet.data[ETHERNET + 1] & 3 == IpEcn::CongestionExperienced.value();
        all.push((ns, packet.original_len - ETHERNET as u32, is_marked));
    }
    all.retain(|(ns, ..)| *ns <= end.as_ps() / 1_000);
    all
}

impl<H: Header> Switched<H> {
    /// Asserts that the port's capture and its counters have the packets that left the port.
    pub fn check_captures(&self, port: PortId) {
        let left = self.departures(port).map(|Event { at, packet, .. }| {
            (at.as_ps() / 1_000, packet.wire.into(), packet.flags.has(Flags::CE))
        });
        let left: Vec<Captured> = left.collect();
        assert_eq!(self.captured[port.index()], left, "port {}", port.0);
        let bytes: u32 = left.iter().map(|(_, bytes, _)| bytes).sum();
        let counted = &self.counters[port.index()];
        let sent = (counted.sent_packets, counted.sent_bytes);
        assert_eq!(sent, (left.len() as u64, bytes.into()), "port {}", port.0);
    }

    /// When the captured frames left a port, in ns. Asserts that these are the times of their
    /// packets.
    pub fn captured_times(&self, port: PortId) -> Vec<u64> {
        let times: Vec<u64> = self.captured[port.index()].iter().map(|(ns, ..)| *ns).collect();
        let left: Vec<u64> = self.departures(port).map(|event| event.at.as_ps() / 1_000).collect();
        assert_eq!(times, left, "port {}", port.0);
        times
    }

    fn departures(&self, port: PortId) -> impl Iterator<Item = &Event<H>> {
        self.log.iter().filter(move |event| event.is_departure && event.port == port.0)
    }
}
