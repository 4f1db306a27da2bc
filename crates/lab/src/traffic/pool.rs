//! The connections between hosts. The pool knows which are idle and which need attention.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use flowsched_topology::HostId;
use flowsched_workload::Flow;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::connection::{Connection, Manners, News, bound_window};
use super::resent::Resent;
use crate::address::{TCP_PORT, ipv4};
use crate::error::LabError;
use crate::hosts::Hosts;

/// The number of sockets made at a time: several, because entering a namespace takes longer than making a socket.
const SPARE: usize = 32;
/// The most connections that wait to be accepted.
const BACKLOG: i32 = 4_096;
/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// The source of an event of [`Epoll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Listener(usize),
    Sender(usize),
    Receiver(usize),
}

impl About {
    fn to_word(self) -> u64 {
        let (kind, number) = match self {
            About::Listener(number) => (0, number),
            About::Sender(number) => (1, number),
            About::Receiver(number) => (2, number),
        };
        (number as u64) << 2 | kind
    }

    fn from_word(word: u64) -> About {
        let number = (word >> 2) as usize;
        match word & 3 {
            0 => About::Listener(number),
            1 => About::Sender(number),
            _ => About::Receiver(number),
        }
    }
}

/// All connections.
#[derive(Debug)]
pub struct Pool<'a> {
    hosts: &'a Hosts,
    manners: Manners,
    listeners: Vec<TcpListener>,
    connections: Vec<Connection>,
    /// Connections whose other end has not been accepted yet, by the sender's address.
    to_accept: HashMap<SocketAddr, usize>,
    /// Connections that carry no flow, by sender and receiver.
    idle: HashMap<(HostId, HostId), Vec<usize>>,
    /// Sockets for the next connections of each host.
    spare: Vec<Vec<Socket>>,
    epoll: Epoll,
    buffer: Vec<u8>,
}

impl<'a> Pool<'a> {
    /// Has every host accept connections, and opens those that are open from the start, for these flows.
    ///
    /// # Errors
    /// If the system refuses a request.
    pub fn new(hosts: &'a Hosts, manners: Manners, flows: &[Flow]) -> Result<Pool<'a>, LabError> {
        let refused = |error| LabError::system("accept connections", error);
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(refused)?;
        let mut listeners = Vec::new();
        for host in (0..hosts.count()).map(HostId) {
            let listener = inside(hosts, host, || listen(host, &manners))?;
            let about = About::Listener(host.index());
            let event = EpollEvent::new(EpollFlags::EPOLLIN, about.to_word());
            epoll.add(&listener, event).map_err(refused)?;
            listeners.push(listener);
        }
        let mut pool = Pool {
            hosts,
            manners,
            listeners,
            connections: Vec::new(),
            to_accept: HashMap::new(),
            idle: HashMap::new(),
            spare: (0..hosts.count()).map(|_| Vec::new()).collect(),
            epoll,
            buffer: vec![0; BUFFER],
        };
        pool.open_first(flows)?;
        Ok(pool)
    }

    /// The epoll that waits for the connections.
    pub(super) fn epoll(&self) -> &Epoll {
        &self.epoll
    }

    /// Opens the connections that are open from the start, for these flows. If each flow opens one of its own, makes
    /// the first sockets, because entering a namespace later would delay the flow.
    fn open_first(&mut self, flows: &[Flow]) -> Result<(), LabError> {
        let open = self.manners.open_connections;
        for flow in flows {
            if open == 0 {
                self.fill(flow.src)?;
                continue;
            }
            let pair = (flow.src, flow.dst);
            if !self.idle.contains_key(&pair) {
                let opened: Result<Vec<_>, _> = (0..open).map(|_| self.open(pair)).collect();
                self.idle.insert(pair, opened?);
            }
        }
        Ok(())
    }

    /// Begins a flow on an idle or a new connection. Returns the number of the connection.
    pub(super) fn begin(&mut self, flow: &Flow) -> Result<u32, LabError> {
        let pair = (flow.src, flow.dst);
        let idle = self.idle.get_mut(&pair).and_then(Vec::pop);
        let number = idle.map_or_else(|| self.open(pair), Ok)?;
        let begun = self.connections[number].begin(flow);
        begun.map_err(|error| LabError::system("write to a connection", error))?;
        Ok(number as u32)
    }

    fn open(&mut self, pair: (HostId, HostId)) -> Result<usize, LabError> {
        let refused = |error: io::Error| LabError::system("open a connection", error);
        let (from, to) = pair;
        let socket = self.socket(from)?;
        let to = (ipv4(to), TCP_PORT).into();
        let connection = Connection::open(pair, socket, to, &self.manners).map_err(refused)?;
        let number = self.connections.len();
        let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLERR | EpollFlags::EPOLLET;
        let event = EpollEvent::new(flags, About::Sender(number).to_word());
        self.epoll.add(connection.sender(), event).map_err(|e| refused(e.into()))?;
        self.to_accept.insert(connection.address().map_err(refused)?, number);
        self.connections.push(connection);
        Ok(number)
    }

    /// A new socket of the host.
    fn socket(&mut self, host: HostId) -> Result<Socket, LabError> {
        self.fill(host)?;
        let socket = self.spare[host.index()].pop();
        socket.ok_or_else(|| LabError::system("make a socket", io::ErrorKind::OutOfMemory))
    }

    /// Makes sockets for the host if none is left.
    fn fill(&mut self, host: HostId) -> Result<(), LabError> {
        if self.spare[host.index()].is_empty() {
            let make = || (0..SPARE).map(|_| bound(host)).collect::<io::Result<Vec<Socket>>>();
            self.spare[host.index()] = inside(self.hosts, host, make)?;
        }
        Ok(())
    }

    /// Handles an epoll event with this word, and passes news of flows to `tell`. Returns how many flows have ended.
    pub(super) fn handle(
        &mut self,
        word: u64,
        tell: &mut impl FnMut(News),
    ) -> Result<usize, LabError> {
        let failed = |error: io::Error| LabError::system("use a connection", error);
        let number = match About::from_word(word) {
            About::Listener(host) => return self.accept(host).map(|()| 0).map_err(failed),
            About::Sender(number) => {
                self.connections[number].handle_sender(tell).map_err(failed)?;
                number
            }
            About::Receiver(number) => {
                self.connections[number].read(&mut self.buffer, tell).map_err(failed)?;
                number
            }
        };
        let is_over = self.connections[number].end_flow();
        if is_over && self.manners.open_connections > 0 {
            self.idle.entry(self.connections[number].pair).or_default().push(number);
        }
        Ok(is_over.into())
    }

    /// The flows whose last byte is not acknowledged, and what their senders have sent again so far.
    pub(super) fn under_way(&self) -> Result<Vec<(u32, Resent)>, LabError> {
        let failed = |error: io::Error| LabError::system("look at a connection", error);
        let flows = self.connections.iter().filter_map(|one| one.under_way().transpose());
        flows.collect::<io::Result<_>>().map_err(failed)
    }

    fn accept(&mut self, host: usize) -> io::Result<()> {
        loop {
            let (stream, address) = match self.listeners[host].accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some(number) = self.to_accept.remove(&address) else { continue };
            let receiver = self.connections[number].accept(stream.into())?;
            let about = About::Receiver(number);
            self.epoll.add(receiver, EpollEvent::new(EpollFlags::EPOLLIN, about.to_word()))?;
        }
    }
}

/// Runs `action` in a host's namespace.
fn inside<T: Send>(
    hosts: &Hosts,
    host: HostId,
    action: impl FnOnce() -> io::Result<T> + Send,
) -> Result<T, LabError> {
    let failed = |error| LabError::system(format!("make sockets of host {}", host.0), error);
    let missing = || failed(io::ErrorKind::NotFound.into());
    hosts.namespace(host).ok_or_else(missing)?.run(|| action().map_err(failed))
}

/// A socket that ends as soon as it is closed, however its process ends. The kernel then sends nothing more, and so
/// keeps neither the namespace nor the congestion control. Sockets that a listener accepts inherit this.
pub(crate) fn short_lived() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_linger(Some(Duration::ZERO))?;
    Ok(socket)
}

/// A listening socket of the host. Its connections inherit their window and the tag of their packets, which are only
/// acknowledgements.
fn listen(host: HostId, manners: &Manners) -> io::Result<TcpListener> {
    let socket = short_lived()?;
    manners.tags.apply_to_idle(&socket)?;
    bound_window(&socket, manners.max_window)?;
    socket.bind(&address(host, TCP_PORT))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn bound(host: HostId) -> io::Result<Socket> {
    let socket = short_lived()?;
    socket.bind(&address(host, 0))?;
    Ok(socket)
}

fn address(host: HostId, port: u16) -> SockAddr {
    SocketAddr::from((ipv4(host), port)).into()
}
