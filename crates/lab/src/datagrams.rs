//! The simulator's hosts, over UDP.
//!
//! Senders and receivers are those of a simulation ([`Ends`]). One thread runs those of all hosts, with a socket in the
//! namespace of each. If the thread is late, it handles each timer with the time at which the timer was due, not
//! with the present time. A host's mean rate therefore stays the one that the switches allow.
//!
//! What may not live here: how packets are written, which is `flowsched_schemes::wire`.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Codec, Flags, Header};
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::wire::{self, PACKET_BYTES};
use flowsched_schemes::world::{Progress, Uncounted};
use flowsched_sim::Job;
use flowsched_sim::ends::Ends;
use flowsched_topology::HostId;
use flowsched_units::Time;
use flowsched_workload::Flow;
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, getsockopt, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use nix::{getsockopt_impl, sockopt_impl};

use crate::address::ipv4;
use crate::clock::Clock;
use crate::error::LabError;
use crate::hosts::Hosts;
use crate::lateness::Lateness;
use crate::played::{Played, Starts};
use crate::precedence::{Precedence, Rank, refused};
use crate::switch::memory::LONGEST_FRAME;
use crate::wait::Watched;

/// The port that every host sends from and to: one that Wireshark gives to no protocol.
pub(crate) const PORT: u16 = 41_001;
/// Bytes that may wait for the thread to read them: more than any queue.
const RECEIVE_BUFFER: usize = 8 << 20;
/// Bytes of the IPv4 and UDP headers around a datagram.
pub(crate) const AROUND: usize = 20 + 8;

/// The sockets of all hosts.
#[derive(Debug)]
pub struct Sockets(Vec<UdpSocket>);

impl Sockets {
    /// Opens a socket for each host.
    ///
    /// # Errors
    /// If the system refuses a request.
    pub fn open(hosts: &Hosts) -> Result<Sockets, LabError> {
        let opened = (0..hosts.count()).map(HostId).map(|host| {
            let namespace = hosts.namespace(host).ok_or(LabError::NeedsRoot)?;
            namespace
                .run(|| open(host).map_err(|e: io::Error| LabError::system("make a socket", e)))
        });
        Ok(Sockets(opened.collect::<Result<_, _>>()?))
    }

    /// The datagrams for which a socket had no room.
    fn overrun(&self) -> io::Result<u64> {
        let of_one = |socket: &UdpSocket| -> io::Result<u64> {
            Ok(u64::from(getsockopt(socket, MemoryInfo)?[DROPS]))
        };
        self.0.iter().map(of_one).sum()
    }
}

/// The place of the number of dropped datagrams in [`MemoryInfo`] (`SK_MEMINFO_DROPS` in linux/sock_diag.h).
const DROPS: usize = 8;

sockopt_impl!(
    /// What a socket's memory is used for, and the datagrams that it had no room for.
    MemoryInfo, GetOnly, libc::SOL_SOCKET, libc::SO_MEMINFO, [u32; DROPS + 1]
);

fn open(host: HostId) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((ipv4(host), PORT))?;
    socket.set_nonblocking(true)?;
    setsockopt(&socket, RcvBufForce, &RECEIVE_BUFFER)?;
    setsockopt(&socket, ReceiveTimestampns, &true)?;
    Ok(socket)
}

/// Plays the flows of an experiment.
#[derive(Debug)]
pub struct Datagrams<'a, T: Transport, G: Tagging<T::Header>> {
    flows: &'a [Flow],
    next: usize,
    ends: Ends<'a, T, G>,
    outbox: Outbox<T::Header>,
    clock: Clock,
    ended: u64,
    /// When hosts last acted.
    last: Time,
    /// How late flows began.
    starts: Starts,
    /// How late packets and timers were handled.
    lateness: Lateness,
}

impl<'a, T: Transport, G: Tagging<T::Header>> Datagrams<'a, T, G> {
    /// Hosts with this transport and this tagger, before any flow.
    pub fn new(
        job: &Job<'a>,
        (transport, tagger): (T, G),
        codec: Codec<T::Header>,
        sockets: Sockets,
        clock: Clock,
    ) -> Datagrams<'a, T, G> {
        Datagrams {
            flows: job.flows,
            next: 0,
            ends: Ends::new(job, transport, tagger),
            outbox: Outbox { sockets, codec, refused: None },
            clock,
            ended: 0,
            last: Time::ZERO,
            starts: Starts::default(),
            lateness: Lateness::default(),
        }
    }

    /// Plays all flows to their ends, or until `progress` says to stop or `until` comes.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn play(mut self, until: Time, progress: &Progress) -> Result<Played, LabError> {
        let failed = |error| LabError::system("use a socket", error);
        let mut precedence = Precedence::take(Rank::Hosts).map_err(refused)?;
        let sockets = self.outbox.sockets.0.iter().map(AsFd::as_fd);
        let mut watched = Watched::new(sockets).map_err(failed)?;
        while self.ended < self.flows.len() as u64 && !progress.stop.load(Ordering::Relaxed) {
            precedence.keep().map_err(refused)?;
            let wait = self.next_event().saturating_sub(self.clock.now());
            for host in watched.ready(wait).map_err(failed)? {
                self.read(host).map_err(failed)?;
            }
            let now = self.clock.now();
            if now > until {
                break;
            }
            self.catch_up(now);
            if let Some(error) = self.outbox.refused.take() {
                return Err(failed(error));
            }
            let ended = self.ends.take_ended();
            self.ended += ended;
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
        let overrun = self.outbox.sockets.overrun().map_err(failed)?;
        let flows = self.ends.into_outcomes();
        let Datagrams { starts, lateness, .. } = self;
        Ok(Played { flows, starts, lateness, overrun, uncounted: Uncounted::default() })
    }

    fn next_start(&self) -> Time {
        self.flows.get(self.next).map_or(Time::MAX, |flow| flow.start)
    }

    fn next_event(&self) -> Time {
        self.next_start().min(self.ends.deadline())
    }

    /// Starts the flows and runs the timers that are due by `now`, each with the time at which it was due, or with
    /// the time at which hosts last acted if that is later.
    fn catch_up(&mut self, now: Time) {
        loop {
            let (start, deadline) = (self.next_start(), self.ends.deadline());
            let due = start.min(deadline);
            if due > now {
                return;
            }
            let due = due.max(self.last);
            self.last = due;
            let outbox = &mut self.outbox;
            let send = |host, packet| outbox.send(host, &packet);
            if start <= deadline {
                self.starts.note(now.saturating_sub(start));
                self.ends.start(self.next as u32, due, send);
                self.next += 1;
            } else {
                self.lateness.note(deadline, now);
                self.ends.on_timer(due, send);
            }
        }
    }

    /// Reads the packets that have come to a host, and has the host handle them.
    fn read(&mut self, host: usize) -> io::Result<()> {
        let mut buffer = [0; LONGEST_FRAME];
        while let Some((length, came)) = receive(&self.outbox.sockets.0[host], &mut buffer)? {
            let bytes = buffer.get(..length).unwrap_or_default();
            let Some(mut packet) = wire::read(&self.outbox.codec, bytes) else { continue };
            if !is_for(self.flows, &packet, HostId(host as u32)) {
                continue;
            }
            packet.to = host as u32;
            packet.wire = (length + AROUND) as u16;
            let now = self.clock.now();
            self.lateness.note(self.clock.at(came), now);
            self.catch_up(now);
            self.last = now;
            let outbox = &mut self.outbox;
            self.ends.receive(&packet, now, |host, packet| outbox.send(host, &packet));
        }
        Ok(())
    }
}

/// Reads a datagram, unless none waits. Returns its length, and when it came: the time since the beginning of 1970.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<(usize, Duration)>> {
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(buffer)];
    let fd = socket.as_raw_fd();
    let message = match recvmsg::<()>(fd, &mut parts, Some(&mut space), MsgFlags::empty()) {
        Ok(message) => message,
        Err(nix::Error::EAGAIN) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stamp = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(at) => Some(at.into()),
        _ => None,
    });
    let came = stamp.ok_or_else(|| io::Error::other("a datagram has no timestamp"))?;
    Ok(Some((message.bytes, came)))
}

/// Whether a packet is of a flow that this host receives or, if it is an answer or a message, sends.
fn is_for<H: Header>(flows: &[Flow], packet: &Packet<H>, host: HostId) -> bool {
    let is_back = packet.flags.has(Flags::ACK.with(Flags::MESSAGE));
    let flow = flows.get(packet.flow as usize);
    flow.is_some_and(|flow| host == if is_back { flow.src } else { flow.dst })
}

/// Sends the packets of hosts.
#[derive(Debug)]
struct Outbox<H> {
    sockets: Sockets,
    codec: Codec<H>,
    /// The system's error for a packet that it did not send.
    refused: Option<io::Error>,
}

impl<H: Header> Outbox<H> {
    fn send(&mut self, host: HostId, packet: &Packet<H>) {
        let mut buffer = [0; LONGEST_FRAME];
        wire::write(packet, &self.codec, &mut buffer);
        let length = usize::from(packet.wire).saturating_sub(AROUND);
        let length = length.max(PACKET_BYTES + self.codec.bytes);
        let bytes = buffer.get(..length).unwrap_or(&buffer);
        match self.sockets.0[host.index()].send_to(bytes, (ipv4(HostId(packet.to)), PORT)) {
            Ok(_) => {}
            // There is no room, so the packet is lost, as a full card would lose it.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.refused = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_without_room_are_counted() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        let sockets = Sockets(vec![socket]);
        assert_eq!(sockets.overrun().unwrap(), 0);
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        // More than any default of a socket's room.
        for _ in 0..50_000 {
            sender.send_to(&[0; 1_000], to).unwrap();
        }
        let overrun = sockets.overrun().unwrap();
        assert!((1..50_000).contains(&overrun), "{overrun}");
    }
}
