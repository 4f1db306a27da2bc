//! The switch against the ports of the simulator: the same packets, through real sockets in real time.
//!
//! Hosts are sockets here. A controller of the test's own notes what comes to each port and what leaves
//! it, and when. Given what came, ports of the same kind that are served here, one packet at a time, must decide
//! the same: order, departures, marks and drops. What the sockets of the hosts get must be what left.

#[path = "support/first_run.rs"]
mod first_run;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use etherparse::{IpDscp, IpEcn, Ipv4Header, PacketBuilder, SlicedPacket};
use first_run::FirstRun;
use flowsched_capture::Captures;
use flowsched_lab::address::{ipv4, mac};
use flowsched_lab::clock::Clock;
use flowsched_lab::switch::Switch;
use flowsched_lab::tap::Cable;
use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::{Backlog, ConnectionId, Connections, Port};
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Parts, Ports, World};
use flowsched_sim::Job;
use flowsched_topology::{HostId, Network, PortId};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::stream;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socketpair, sockopt,
};
use rand::Rng;

const HOSTS: u32 = 5;
/// Hosts that frames go to, those with the lowest numbers; the others send.
const RECEIVERS: u32 = 2;
/// The share of the frames that go to host 0, whose port therefore drops some.
const TO_BUSIEST: f64 = 0.9;
/// Few enough for the buffers of sockets.
const PACKETS: usize = 40;
/// Frames that hosts send at once: about 46 KB, of which the link to the receiver takes a third meanwhile. What
/// is left is more than any buffer here, however fast the machine is.
const BURST: usize = 60;

/// A packet at a port, at a time: its slot in the switch's memory, its priority, and its marks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    port: u32,
    at: Time,
    packet: Packet,
    is_departure: bool,
}

type Log = Rc<RefCell<Vec<Event>>>;

/// Notes packets that come to a port and leave it.
struct Notes {
    port: u32,
    log: Log,
}

impl Notes {
    fn note<H: Header>(&self, at: Time, packet: &Packet<H>, is_departure: bool) {
        let packet = packet.with_header(());
        self.log.borrow_mut().push(Event { port: self.port, at, packet, is_departure });
    }
}

impl<H: Header> Controller<H> for Notes {
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        _backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<H>),
    ) {
        self.note(now, packet, false);
    }

    fn on_departure(&mut self, now: Time, packet: &mut Packet<H>, _behind: Backlog) {
        self.note(now, packet, true);
    }

    fn on_return(&mut self, _now: Time, _packet: &mut Packet<H>) {}
}

/// One end of a pair of sockets that keep frames apart.
struct Wire(OwnedFd);

impl Cable for Wire {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(std::os::fd::AsRawFd::as_raw_fd(&self.0), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => Ok(Some(length)),
            Err(nix::Error::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        match send(std::os::fd::AsRawFd::as_raw_fd(&self.0), frame, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => Ok(length == frame.len()),
            Err(nix::Error::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn wires() -> (Vec<Wire>, Vec<Wire>) {
    let pair = |_| {
        let kind = SockType::SeqPacket;
        let (one, other) = socketpair(AddressFamily::Unix, kind, None, SockFlag::empty()).unwrap();
        for end in [&one, &other] {
            setsockopt(end, sockopt::SndBuf, &(1 << 18)).unwrap();
        }
        (Wire(one), Wire(other))
    };
    (0..HOSTS).map(pair).unzip()
}

/// A frame from host to host, with its number in the TCP header.
fn frame((from, to): (HostId, HostId), number: u32, random: &mut impl Rng) -> Vec<u8> {
    let mut ip = Ipv4Header {
        dscp: IpDscp::try_new(8 * random.random_range(0..8u8)).unwrap(),
        ecn: if random.random_bool(0.8) { IpEcn::Ect0 } else { IpEcn::NotEct },
        source: ipv4(from).octets(),
        destination: ipv4(to).octets(),
        protocol: 6.into(),
        time_to_live: 64,
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    let payload = vec![0; random.random_range(0..1_460)];
    let builder = PacketBuilder::ethernet2(mac(from), mac(to))
        .ip(etherparse::IpHeaders::Ipv4(ip, Default::default()))
        .tcp(random.random_range(4_000..4_003), 5_000, number, 1_000);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &payload).unwrap();
    bytes
}

/// The number of a frame, and whether it is marked; its checksum must be right.
fn read(bytes: &[u8]) -> (u32, bool) {
    let parsed = SlicedPacket::from_ethernet(bytes).unwrap();
    let Some(etherparse::NetSlice::Ipv4(ip)) = parsed.net else { panic!("no IPv4") };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let Some(etherparse::TransportSlice::Tcp(tcp)) = parsed.transport else { panic!("no TCP") };
    (tcp.sequence_number(), header.ecn == IpEcn::CongestionExperienced)
}

/// A port that is served one packet at a time.
struct Served<P> {
    port: P,
    rate: Rate,
    /// When its link has sent what left last.
    free: Time,
    departures: Vec<Departure>,
    drops: usize,
}

/// When a packet left, its slot in the switch's memory, and whether it is marked.
type Departure = (Time, u32, bool);

impl<P> Served<P> {
    fn new(port: P, rate: Rate) -> Served<P> {
        Served { port, rate, free: Time::ZERO, departures: Vec::new(), drops: 0 }
    }

    /// Packets leave that may by `now`.
    fn catch_up<H: Header>(&mut self, now: Time)
    where
        P: Port<Packet<H>>,
    {
        while self.free <= now
            && let Some(next) = self.port.dequeue()
        {
            self.leave(&next, self.free);
        }
    }

    /// A packet comes, while so many bytes wait elsewhere in the switch.
    fn take<H: Header>(&mut self, mut packet: Packet<H>, now: Time, elsewhere: u64)
    where
        P: Port<Packet<H>>,
    {
        let drops = &mut self.drops;
        if self.free > now {
            self.port.enqueue(packet, elsewhere, |_| *drops += 1);
        } else if self.port.pass(&mut packet, elsewhere, |_| *drops += 1) {
            self.leave(&packet, now);
        }
    }

    fn leave<H: Header>(&mut self, packet: &Packet<H>, at: Time) {
        self.free = at + self.rate.transmission_time(Bytes::new(packet.wire.into()));
        self.departures.push((at, packet.seq, packet.flags.has(Flags::CE)));
    }
}

/// The ports of a network that are given these packets.
fn served<H: Header, P: Port<Packet<H>>>(
    ports: Vec<P>,
    network: &Network,
    events: &[Event],
) -> Vec<Served<P>> {
    let rates = network.ports().iter().map(|port| port.rate);
    let mut all: Vec<Served<P>> =
        ports.into_iter().zip(rates).map(|(port, rate)| Served::new(port, rate)).collect();
    for Event { port, at, packet, .. } in events.iter().filter(|event| !event.is_departure) {
        let mut elsewhere = 0;
        for other in network.ports_of(network.port(PortId(*port)).owner) {
            let other_port = &mut all[other.index()];
            other_port.catch_up(*at);
            if other.0 != *port {
                elsewhere += other_port.port.backlog().bytes;
            }
        }
        all[*port as usize].take(packet.with_header(H::default()), *at, elsewhere);
    }
    all.iter_mut().for_each(|port| port.catch_up(Time::MAX));
    all
}

/// Sends random frames through a switch, and compares.
struct Differential<'a> {
    job: Job<'a>,
    /// Priorities that the ports tell apart.
    queues: usize,
    seed: u64,
}

impl World for Differential<'_> {
    /// Marks and drops at the port that most packets share.
    type Output = (usize, usize);

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> (usize, usize)
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let Differential { job, queues, seed } = self;
        let log = Log::default();
        let notes = |site: Site| Notes { port: site.port, log: log.clone() };
        let (mut hosts, cables) = wires();
        let levels = std::array::from_fn(|dscp| (queues - 1).saturating_sub(dscp >> 3) as u8);
        let clock = Clock::starting_in(Duration::ZERO);
        let ports = &parts.ports;
        let captures = Captures::default();
        let mut switch = Switch::new(&job, ports, notes, cables, levels, clock, captures);
        let mut random = stream(seed, "frames", 0);
        let frames: Vec<(HostId, Vec<u8>)> = (0..PACKETS * 3)
            .map(|number| {
                let from = HostId(random.random_range(RECEIVERS..HOSTS));
                let to = HostId(u32::from(!random.random_bool(TO_BUSIEST)));
                (from, frame((from, to), number as u32, &mut random))
            })
            .collect();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let ends: Vec<BorrowedFd<'_>> = hosts.iter().map(|host| host.0.as_fd()).collect();
            let frames = &frames;
            scope.spawn(move || {
                for (index, (from, bytes)) in frames.iter().enumerate() {
                    let end = std::os::fd::AsRawFd::as_raw_fd(&ends[from.index()]);
                    send(end, bytes, MsgFlags::empty()).unwrap();
                    if index % BURST == BURST - 1 {
                        thread::sleep(Duration::from_millis(3));
                    }
                }
            });
            let is_nic = |event: &&Event| event.port < HOSTS && !event.is_departure;
            let looked = switch.run(&stop, Time::from_ms(5), |network, _| {
                let come = log.borrow().iter().filter(is_nic).count();
                if come == frames.len() && network.next() == Time::MAX {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            looked.unwrap();
        });
        assert_eq!((switch.counts().refused, switch.counts().overrun), (0, 0));
        drop(switch);
        let log = log.take();
        let connections = noted(&log);
        let made = (0..).zip(job.network.ports()).map(|(number, port)| {
            let site = Site { port: number, rate: port.rate, is_host: number < HOSTS };
            ports.port(site, &connections)
        });
        let served = served(made.collect(), job.network, &log);
        for (number, port) in (0..).zip(&served) {
            let of_port = |is_departure: bool| {
                log.iter()
                    .filter(move |event| event.port == number && event.is_departure == is_departure)
            };
            let found: Vec<Departure> = of_port(true)
                .map(|event| (event.at, event.packet.seq, event.packet.flags.has(Flags::CE)))
                .collect();
            assert_eq!(found, port.departures, "port {number}, seed {seed}");
            assert_eq!(of_port(false).count() - found.len(), port.drops, "{number}, seed {seed}");
        }
        for (to, host) in hosts.iter_mut().enumerate().take(RECEIVERS as usize) {
            let last = job.network.port_to(HostId(to as u32)).0;
            assert_eq!(received(host), expected(&log, &frames, last), "seed {seed}");
        }
        let busiest = &served[job.network.port_to(HostId(0)).index()];
        let marks = busiest.departures.iter().filter(|(_, _, is_marked)| *is_marked).count();
        (marks, busiest.drops)
    }
}

/// Connections of the flows that the switch has numbered, each its own.
fn noted(log: &[Event]) -> Connections {
    let connections = Connections::new(1 << 16);
    for Event { port, packet, .. } in log.iter().filter(|event| event.port < HOSTS) {
        let connection = ConnectionId { from: *port, to: packet.to, number: packet.flow };
        connections.note(packet.flow, connection);
    }
    connections
}

/// The numbers and marks of the frames that a host got, in order.
fn received(host: &mut Wire) -> Vec<(u32, bool)> {
    let mut buffer = [0; 2_000];
    let mut all = Vec::new();
    while let Ok(Some(length @ 1..)) = host.receive(&mut buffer) {
        all.push(read(&buffer[..length]));
    }
    all
}

/// The numbers and marks of the frames that left the last port, in order.
fn expected(log: &[Event], frames: &[(HostId, Vec<u8>)], last: u32) -> Vec<(u32, bool)> {
    let mut of_host: BTreeMap<u32, _> = (RECEIVERS..HOSTS)
        .map(|host| {
            let own = frames.iter().filter(move |(from, _)| from.0 == host);
            (host, own.map(|(_, bytes)| read(bytes).0))
        })
        .collect();
    let mut in_slot = HashMap::new();
    let mut all = Vec::new();
    for Event { port, packet, is_departure, .. } in log {
        if !is_departure && let Some(own) = of_host.get_mut(port) {
            in_slot.insert(packet.seq, own.next().unwrap());
        } else if *is_departure && *port == last {
            all.push((in_slot[&packet.seq], packet.flags.has(Flags::CE)));
        }
    }
    all
}

fn compare(scheme: &str) -> (usize, usize) {
    let file = format!(
        "
        topology = {{ kind = \"star\", hosts = {HOSTS}, host_link = \"100Mbps\" }}
        workload = {{ sizes = \"fixed 1KB\", flows = 1, at = \"0ms\" }}
        scheme = [{{ {scheme} }}]
    "
    );
    let first = FirstRun::of(&file);
    let (job, scheme) = (Job { flows: &[], ..first.job() }, first.scheme());
    let runs =
        (0..8).map(|seed| scheme.run_in(Differential { job, queues: scheme.port.queues, seed }));
    runs.fold((0, 0), |all, run| (all.0 + run.0, all.1 + run.1))
}

#[test]
fn the_switch_decides_as_the_ports_of_the_simulator() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: the_switch_decides_as_the_ports_of_the_simulator needs root");
        return;
    }
    for scheme in [
        r#"preset = "tcp", buffer = "12KB""#,
        r#"preset = "ecn-star", buffer = "20KB", ecn_threshold = "5KB""#,
        r#"preset = "ecn-star", buffer = "20KB", ecn_threshold = "5KB", ecn_at = "dequeue""#,
        r#"preset = "pias", queues = 8, thresholds = "10KB 20KB 30KB 40KB 50KB 60KB 70KB", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "slytherin", buffer = "20KB", ecn_threshold = "5KB""#,
        r#"preset = "pfabric", buffer = "12KB""#,
        r#"preset = "dctcp", port = "weighted-round-robin", queues = 3, weights = "3 2 1", buffer = "15KB", ecn_threshold = "6KB""#,
        r#"preset = "dctcp", port = "weighted-round-robin", queues = 3, weights = "3 2 1", ecn_scope = "queue", buffer_sharing = "queue", buffer = "6KB", ecn_threshold = "3KB""#,
        r#"preset = "dctcp", buffer_sharing = "switch", switch_memory = "30KB", dynamic_alpha = 1.0, ecn_threshold = "5KB""#,
        r#"preset = "pias", queues = 2, thresholds = "10KB", buffer_sharing = "switch", switch_memory = "20KB", dynamic_alpha = 4.0, ecn_threshold = "5KB""#,
        r#"preset = "dctcp", without_ect = "drop", buffer = "40KB", ecn_threshold = "5KB""#,
    ] {
        let (marks, drops) = compare(scheme);
        println!("{scheme}: {marks} marks, {drops} drops");
        assert!(drops > 0, "{scheme}");
        assert!(marks > 0 || !scheme.contains("ecn_threshold"), "{scheme}");
    }
}
