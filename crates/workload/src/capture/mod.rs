//! Packet captures summarised to flows.
//!
//! Each direction of a connection is a flow of its own: the bytes that one address sent to another between two
//! ports, until a long silence or a new connection. Packets without payload do not count, and neither do bytes that
//! TCP sent again.

mod compressed;
mod error;
mod packet;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::IpAddr;

use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use crate::flow::{Flow, LARGEST_FLOW, LATEST};
pub use error::CaptureError;
use packet::{Connection, Packet, Protocol};

/// The size of the buffer in bytes: more than any packet has.
const BUFFER: usize = 1 << 20;

/// What a capture says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Its flows by their starts, which count from the first packet. Hosts are places in `hosts`.
    pub flows: Vec<Flow>,
    /// The addresses, in their order.
    pub hosts: Vec<IpAddr>,
    /// How many packets there are.
    pub packets: u64,
    /// How many of them are neither TCP nor UDP over IP, are later parts of fragmented packets,
    /// or are from a host to itself.
    pub others: u64,
    /// Whether it ends in the middle of a packet.
    pub is_cut_off: bool,
}

/// Reads a capture, pcap or pcapng, plain or compressed with gzip or zstd. A flow that sends nothing
/// for longer than `idle` has ended; what follows is another one.
///
/// # Errors
/// [`CaptureError`].
pub fn read_capture(capture: impl Read + Send, idle: Time) -> Result<Capture, CaptureError> {
    let capture = compressed::decompress(capture)?;
    let mut summary = Summary::new(idle);
    let mut reader = create_reader(BUFFER, capture).map_err(|error| match error {
        PcapError::ReadError => summary.damaged(&error),
        _ => CaptureError::NoCapture,
    })?;
    loop {
        let is_read = reader.reader_exhausted();
        match reader.next() {
            Ok((length, block)) => {
                summary.add(&block)?;
                reader.consume(length);
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_)) if !is_read => {
                reader.refill().map_err(|error| summary.damaged(&error))?;
            }
            Err(PcapError::Incomplete(_) | PcapError::UnexpectedEof) => {
                summary.capture.is_cut_off = true;
                break;
            }
            Err(error) => return Err(summary.damaged(&error)),
        }
    }
    summary.finish()
}

/// How the times of an interface are written.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Linktype,
    /// Units in a second.
    resolution: u64,
    /// Seconds to be added.
    offset: i64,
}

/// What is known of a capture so far.
struct Summary {
    idle: i128,
    interfaces: Vec<Interface>,
    /// When the first packet was seen, in picoseconds of the capture's own clock.
    first: Option<i128>,
    open: BTreeMap<Connection, Open>,
    ended: Vec<(Connection, Open)>,
    capture: Capture,
}

/// A flow under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: i128,
    last: i128,
    bytes: u64,
    /// Where its lowest byte is in TCP's sequence.
    lowest: u32,
    /// Where the byte after its highest is.
    next: u32,
}

impl Summary {
    fn new(idle: Time) -> Summary {
        Summary {
            idle: i128::from(idle.as_ps()),
            interfaces: Vec::new(),
            first: None,
            open: BTreeMap::new(),
            ended: Vec::new(),
            capture: Capture::default(),
        }
    }

    fn damaged<I: std::fmt::Debug>(&self, error: &PcapError<I>) -> CaptureError {
        let reason = match error {
            PcapError::BufferTooSmall => format!("a block of more than {BUFFER} B"),
            PcapError::ReadError => "it cannot be read".to_owned(),
            _ => "no packet is there".to_owned(),
        };
        CaptureError::Damaged { packets: self.capture.packets, reason }
    }

    fn add(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), CaptureError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution =
                    if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                let interface = Interface { link: header.network, resolution, offset: 0 };
                self.interfaces.push(interface);
            }
            PcapBlockOwned::Legacy(packet) => {
                let Some(interface) = self.interfaces.first().copied() else { return Ok(()) };
                let resolution = u64::from(packet.ts_sec) * interface.resolution;
                let units = resolution + u64::from(packet.ts_usec);
                self.packet(interface, units, packet.data, packet.origlen)?;
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
                self.interfaces.push(Interface {
                    link: description.linktype,
                    resolution: description.ts_resolution().unwrap_or(1_000_000).max(1),
                    offset: description.if_tsoffset,
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.interfaces.get(packet.if_id as usize).copied();
                let Some(interface) = interface else {
                    let reason = format!("interface {} is not described", packet.if_id);
                    return Err(CaptureError::Damaged { packets: self.capture.packets, reason });
                };
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                self.packet(interface, units, packet.data, packet.origlen)?;
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(())
    }

    fn packet(
        &mut self,
        interface: Interface,
        units: u64,
        data: &[u8],
        length: u32,
    ) -> Result<(), CaptureError> {
        const PS: i128 = 1_000_000_000_000;
        let whole = i128::from(units) * PS / i128::from(interface.resolution);
        let now = whole + i128::from(interface.offset) * PS;
        self.first.get_or_insert(now);
        self.capture.packets += 1;
        let link = interface.link;
        let parsed = packet::parse(link, data, length).ok_or(CaptureError::LinkType(link.0))?;
        match parsed {
            Some(packet) => self.carry(now, packet),
            None => self.capture.others += 1,
        }
        Ok(())
    }

    /// Counts what a packet carries.
    fn carry(&mut self, now: i128, packet: Packet) {
        let Packet { connection, payload, protocol } = packet;
        let is_new = |open: &Open| match protocol {
            Protocol::Tcp { syn: true, sequence } => open.next != sequence.wrapping_add(1),
            _ => payload > 0 && now - open.last > self.idle,
        };
        if self.open.get(&connection).is_some_and(is_new)
            && let Some(ended) = self.open.remove(&connection)
        {
            self.ended.push((connection, ended));
        }
        if payload == 0 {
            return;
        }
        let sequence = match protocol {
            // What a SYN carries comes after the SYN itself.
            Protocol::Tcp { syn, sequence } => Some(sequence.wrapping_add(syn.into())),
            Protocol::Udp => None,
        };
        let from = sequence.unwrap_or(0);
        let fresh = Open { start: now, last: now, bytes: 0, lowest: from, next: from };
        let open = self.open.entry(connection).or_insert(fresh);
        open.start = open.start.min(now);
        open.last = open.last.max(now);
        match sequence {
            Some(sequence) => open.cover(sequence, payload),
            None => open.bytes += u64::from(payload),
        }
    }

    fn finish(mut self) -> Result<Capture, CaptureError> {
        self.ended.extend(std::mem::take(&mut self.open));
        let packets = self.capture.packets;
        let first = self.ended.iter().map(|(_, flow)| flow.start).chain(self.first).min();
        let Some(first) = first.filter(|_| !self.ended.is_empty()) else {
            return Err(CaptureError::NoFlows { packets });
        };
        let ends = self.ended.iter().flat_map(|(connection, _)| [connection.src, connection.dst]);
        let hosts: Vec<IpAddr> = ends.collect::<BTreeSet<IpAddr>>().into_iter().collect();
        let host = |address: &IpAddr| HostId(hosts.partition_point(|known| known < address) as u32);
        self.ended.sort_by_key(|(connection, flow)| (flow.start, *connection));
        let mut flows = Vec::with_capacity(self.ended.len());
        for (id, (connection, flow)) in self.ended.iter().enumerate() {
            let start = u64::try_from(flow.start - first).unwrap_or(u64::MAX);
            flows.push(Flow::new(
                id as u32,
                host(&connection.src),
                host(&connection.dst),
                Bytes::new(flow.bytes).min(LARGEST_FLOW),
                Time::from_ps(start).min(LATEST),
            ));
        }
        Ok(Capture { flows, hosts, ..self.capture })
    }
}

impl Open {
    /// Counts the bytes from `sequence` on that were not covered before: those after the highest, including bytes
    /// that the capture missed, and those before the lowest of a short flow.
    fn cover(&mut self, sequence: u32, payload: u32) {
        let end = sequence.wrapping_add(payload);
        let after = end.wrapping_sub(self.next) as i32;
        if after > 0 {
            self.bytes += after as u64;
            self.next = end;
        }
        let before = self.lowest.wrapping_sub(sequence) as i32;
        // Sequence numbers come around after 4 GiB.
        if before > 0 && self.bytes < 1 << 30 {
            self.bytes += before as u64;
            self.lowest = sequence;
        }
    }
}

#[cfg(test)]
mod tests;
