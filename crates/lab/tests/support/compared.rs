//! Compares a run of the switch with the replica.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;

use etherparse::EtherType;
use flowsched_lab::address::{MOST_HOSTS, mac};
use flowsched_lab::switch::form::Form;
use flowsched_lab::switch::headers::Headers;
use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::{ConnectionId, Connections, Port};
use flowsched_schemes::world::{Controllers, Ports};
use flowsched_sim::Job;
use flowsched_topology::{HostId, Network, NodeId, PortId};
use flowsched_units::Time;

use crate::frames::{ETHERNET, Seen, arrived, header_bytes, is_of_switch, look, message};
use crate::noting::Event;
use crate::replica::{Egress, Replica};
use crate::sequence::Sent;
use crate::switched::Switched;

/// The frames of each host.
pub type Frames = Vec<Vec<Vec<u8>>>;

/// The frames that crossed the hosts' cards.
pub struct Crossed {
    pub sent: Frames,
    pub received: Frames,
    /// Whether there is an edge between cards and switch. Hosts then see neither the scheme's headers nor messages.
    pub has_edge: bool,
}

/// Counts of what happened in a run. A test requires some of them, so that it does not compare nothing with nothing.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Packets that hosts sent.
    pub sent: usize,
    /// Marks of all ports.
    pub marks: u64,
    /// Drops of all ports.
    pub drops: u64,
    /// Packets that arrived with another header.
    pub rewritten: usize,
    /// The switches that changed a packet's header.
    pub writers: BTreeSet<NodeId>,
    /// The flow and the header of each message of a switch that arrived.
    pub messages: Vec<(u32, Vec<u8>)>,
}

/// Asserts that the switch decided as the simulator's ports and controllers do, that hosts got what left the last
/// ports, and that captures and counters agree.
pub fn compare<P, C, H>(
    job: &Job<'_>,
    (ports, controllers): (&P, &C),
    run: &Switched<H>,
    crossed: &Crossed,
) -> Tally
where
    H: Header,
    P: Ports<H>,
    C: Controllers<H>,
{
    assert_eq!(run.counts.handed.overrun, 0);
    let log = numbered(&run.log);
    let handed_over = handed_over(&log, crossed);
    let connections = noted(&log);
    let mut replica = Replica::new((job.network, job.flows), ports, controllers, &connections);
    for (event, _) in &handed_over {
        replica.send(event.port, event.packet, event.at);
    }
    replica.run_until(run.end);
    for (number, egress) in (0..).map(PortId).zip(&replica.egresses) {
        compare_port(number, egress, &log, run);
    }
    for (host, packets) in replica.arrived.iter().enumerate() {
        compare_host(host, packets, crossed, &handed_over, run);
    }
    let writers = writers(job.network, &run.form, &log);
    Tally { writers, ..tally(run, &handed_over, replica.arrived.iter().flatten()) }
}

/// Compares what left a port, what it dropped and marked, and what waits in it.
fn compare_port<H: Header, P: Port<Packet<H>>, C>(
    number: PortId,
    egress: &Egress<H, P, C>,
    log: &[Event<H>],
    run: &Switched<H>,
) {
    let of_port = |event: &&Event<H>| event.is_departure && event.port == number.0;
    let left = log.iter().filter(of_port).map(|event| comparable(event.at, &event.packet));
    let expected = egress.departures.iter().map(|(at, packet)| comparable(*at, packet));
    assert_same(left.collect(), expected.collect(), &format!("what left port {}", number.0));
    let backlog = egress.port.backlog();
    let expected = (egress.drops, egress.port.marks(), backlog.packets, backlog.bytes);
    let counted = &run.counters[number.index()];
    let found = (counted.drops, counted.marks, counted.queue_packets, counted.queue_bytes);
    assert_eq!(found, expected, "drops, marks and what waits at port {}", number.0);
    run.check_captures(number);
}

/// Compares what a host got. After the end of the log come only messages, and packets that hosts handed over after
/// it.
fn compare_host<H: Header>(
    host: usize,
    packets: &[Packet<H>],
    crossed: &Crossed,
    handed_over: &[(Event<H>, &[u8])],
    run: &Switched<H>,
) {
    let form = &run.form;
    let expected: Vec<Seen> = packets
        .iter()
        .filter_map(|packet| match packet.flags.has(Flags::MESSAGE) {
            true => (!crossed.has_edge).then(|| message(form, packet)),
            false => Some(arrived(form, handed_over[packet.seq as usize].1, packet)),
        })
        .collect();
    let got = &crossed.received[host];
    let (by_end, later) = got.split_at(expected.len().min(got.len()));
    let seen: Vec<Seen> = by_end.iter().map(|frame| look(form, frame)).collect();
    assert_same(seen, expected, &format!("what host {host} got"));
    let others = later.iter().filter(|frame| !is_of_switch(frame)).count();
    assert!(others <= run.late, "host {host}");
}

fn tally<'p, H: Header + 'p>(
    run: &Switched<H>,
    handed_over: &[(Event<H>, &[u8])],
    arrived: impl Iterator<Item = &'p Packet<H>>,
) -> Tally {
    let (messages, others): (Vec<_>, Vec<_>) =
        arrived.partition(|packet| packet.flags.has(Flags::MESSAGE));
    let is_rewritten = |packet: &&&Packet<H>| {
        let before = &handed_over[packet.seq as usize].0.packet;
        header_bytes(&run.form, &before.header) != header_bytes(&run.form, &packet.header)
    };
    Tally {
        sent: handed_over.len(),
        marks: run.counters.iter().map(|port| port.marks).sum(),
        drops: run.counters.iter().map(|port| port.drops).sum(),
        rewritten: others.iter().filter(is_rewritten).count(),
        writers: BTreeSet::new(),
        messages: messages
            .iter()
            .map(|packet| (packet.flow, header_bytes(&run.form, &packet.header)))
            .collect(),
    }
}

/// The switches that packets left with another header than they had when they left the node before.
fn writers<H: Header>(network: &Network, form: &Form<H>, log: &[Event<H>]) -> BTreeSet<NodeId> {
    let mut headers = HashMap::new();
    let of_packets =
        |event: &&Event<H>| event.is_departure && !event.packet.flags.has(Flags::MESSAGE);
    let left = log.iter().filter(of_packets).filter_map(|Event { port, packet, .. }| {
        let header = header_bytes(form, &packet.header);
        let before = headers.insert(packet.seq, header.clone())?;
        (before != header).then(|| network.port(PortId(*port)).owner)
    });
    left.collect()
}

/// The events of `log`, with packets numbered in the order in which hosts handed them over. In `log`, a packet's
/// number is its slot in memory.
fn numbered<H: Header>(log: &[Event<H>]) -> Vec<Event<H>> {
    let (mut in_slot, mut numbers) = (HashMap::new(), 0..);
    let mut number = |event: &Event<H>| {
        let mut event = *event;
        if !event.packet.flags.has(Flags::MESSAGE) {
            if !event.is_departure {
                in_slot.insert(event.packet.seq, numbers.next().unwrap());
            }
            event.packet.seq = in_slot[&event.packet.seq];
        }
        event
    };
    log.iter().map(&mut number).collect()
}

/// The packets that hosts handed over, in order, each with its frame.
fn handed_over<'f, H: Header>(log: &[Event<H>], crossed: &'f Crossed) -> Vec<(Event<H>, &'f [u8])> {
    let added = if crossed.has_edge { H::WIRE_BYTES as usize } else { 0 };
    let mut of_host: Vec<_> = crossed.sent.iter().map(|frames| frames.iter()).collect();
    let came = log.iter().filter(|event| !event.is_departure).map(|event| {
        let frame = of_host[event.port as usize].next().unwrap();
        assert_eq!(usize::from(event.packet.wire), frame.len() - ETHERNET + added, "{event:?}");
        (*event, frame.as_slice())
    });
    came.collect()
}

/// The connections of the flows that the switch has numbered. Each flow is a connection of its own.
fn noted<H: Header>(log: &[Event<H>]) -> Connections {
    let connections = Connections::new(1 << 16);
    let is_data = |event: &&Event<H>| !event.is_departure && !event.packet.flags.has(Flags::ACK);
    for Event { port, packet, .. } in log.iter().filter(is_data) {
        let connection = ConnectionId { from: *port, to: packet.to, number: packet.flow };
        connections.note(packet.flow, connection);
    }
    connections
}

/// Asserts that spoilt frames got to the hosts that they name, or to none, and that captures and counters agree.
pub fn compare_spoilt<H: Header>(run: &Switched<H>, crossed: &Crossed) {
    let sent: usize = crossed.sent.iter().map(Vec::len).sum();
    let came = run.log.iter().filter(|event| !event.is_departure).count();
    let delivered: usize = crossed.received.iter().map(Vec::len).sum();
    let counts = &run.counts;
    assert_eq!((counts.read, counts.refused), (sent as u64, (sent - came) as u64));
    assert_eq!((counts.handed.delivered, counts.handed.overrun), (delivered as u64, 0));
    assert!(counts.refused > 0, "{counts:?}");
    let over_ipv6 = crossed.received.iter().flatten().filter(|frame| is_ipv6(frame)).count();
    assert!(over_ipv6 > 0 && over_ipv6 < delivered, "{over_ipv6} of {delivered} over IPv6");
    for (host, frame) in (0..).map(HostId).zip(&crossed.received).flat_map(of_one_host) {
        assert!(names(frame, host) || is_of_switch(frame), "host {} got {frame:?}", host.0);
        assert_eq!(frame[..6], mac(host), "{frame:?}");
    }
    for number in 0..run.counters.len() as u32 {
        let left = run.captured_times(PortId(number)).len();
        assert_eq!(left as u64, run.counters[number as usize].sent_packets, "port {number}");
    }
}

/// A host with each of its frames.
fn of_one_host<'f>(
    (host, frames): (HostId, &'f Vec<Vec<u8>>),
) -> impl Iterator<Item = (HostId, &'f [u8])> + use<'f> {
    frames.iter().map(move |frame| (host, frame.as_slice()))
}

/// Whether a frame without VLAN tags is of IPv6.
fn is_ipv6(frame: &[u8]) -> bool {
    frame[ETHERNET - 2..ETHERNET] == EtherType::IPV6.0.to_be_bytes()
}

/// Whether a frame is from some host to this one.
fn names(frame: &[u8], host: HostId) -> bool {
    let mut read =
        (0..MOST_HOSTS).filter_map(|from| Headers::read(frame, HostId(from), MOST_HOSTS));
    read.any(|headers| headers.to == host)
}

/// Asserts that the switch read of each frame what the host meant.
pub fn compare_reading<H: Header>(sent: &[Sent<H>], run: &Switched<H>) {
    assert_eq!(run.counts.refused, 0);
    let mut flows = BTreeMap::new();
    for host in 0..run.counters.len() as u32 {
        let meant = sent.iter().filter(|sent| sent.from == HostId(host));
        let read = run.log.iter().filter(|event| !event.is_departure && event.port == host);
        for (meant, read) in meant.zip(read) {
            let (meant, read) = (&meant.packet, &read.packet);
            assert_eq!(legible(&run.form, read), legible(&run.form, meant), "host {host}");
            let of_packet = |packet: &Packet<H>| (packet.flow, packet.flags.has(Flags::ACK));
            let known = flows.entry(of_packet(meant)).or_insert(of_packet(read));
            assert_eq!(*known, of_packet(read), "a flow has one number");
        }
    }
    let numbers: BTreeSet<_> = flows.values().collect();
    assert_eq!(numbers.len(), flows.len(), "a number has one flow");
    let is_of_kernel = matches!(run.form, Form::Tcp);
    assert!(is_of_kernel || flows.iter().all(|(meant, read)| meant == read), "{flows:?}");
}

/// What can be read from a packet's frame, apart from its flow.
fn legible<H: Header>(form: &Form<H>, packet: &Packet<H>) -> impl PartialEq + Debug + use<H> {
    let Packet { to, priority, flags, .. } = *packet;
    let ecn = (flags.has(Flags::ECT), flags.has(Flags::CE));
    let flags = matches!(form, Form::Datagrams(_)).then_some(flags);
    (to, priority, ecn, flags, header_bytes(form, &packet.header))
}

/// A packet that leaves, in a form that can be compared.
fn comparable<H: Header>(at: Time, packet: &Packet<H>) -> impl PartialEq + Debug + use<H> {
    (at, packet.with_header(()), format!("{:?}", packet.header))
}

/// Asserts that two lists are the same, and otherwise says where they begin to differ.
fn assert_same<T: PartialEq + Debug>(found: Vec<T>, expected: Vec<T>, what: &str) {
    let place = found.iter().zip(&expected).position(|(one, other)| one != other);
    let place = place.unwrap_or(found.len().min(expected.len()));
    assert_eq!(found.get(place), expected.get(place), "{what}, at {place}");
}
