//! The client's end of a connection, which carries one flow after another.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollEvent};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::lines::Line;
use crate::sys::tcp_info;
use crate::transfer::Incoming;
use crate::wire::{Passing, Request};

/// A connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` after the connection broke.
    socket: Option<Socket>,
    server: usize,
    flow: Option<Flow>,
    /// Packets that came out of order before the current flow.
    out_of_order: u32,
}

/// A flow that was requested.
#[derive(Debug)]
struct Flow {
    line: Line,
    request: Passing,
    is_asked: bool,
    answer: Passing,
    /// The bytes to read; `None` until the server has echoed the request.
    bytes: Option<Incoming>,
}

/// The state of a connection's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// There is no flow, or it is unfinished.
    Waits,
    /// The last byte of the flow was read.
    Came(Line),
}

impl Connection {
    /// Opens a connection, and waits at most `patience`.
    pub(super) fn open_within(to: SocketAddrV4, patience: Duration) -> io::Result<Connection> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.connect_timeout(&SockAddr::from(SocketAddr::V4(to)), patience)?;
        Connection::new(socket)
    }

    /// Starts to open a connection, without waiting.
    pub(super) fn open(to: SocketAddrV4) -> io::Result<Connection> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        match socket.connect(&SockAddr::from(SocketAddr::V4(to))) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Connection::new(socket),
        }
    }

    fn new(socket: Socket) -> io::Result<Connection> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        Ok(Connection { socket: Some(socket), server: 0, flow: None, out_of_order: 0 })
    }

    /// Sets the server's index in the configuration.
    pub(super) fn to(self, server: usize) -> Connection {
        Connection { server, ..self }
    }

    /// Registers the socket with `epoll` for `event`.
    pub(super) fn watch(&self, epoll: &Epoll, event: EpollEvent) -> nix::Result<()> {
        self.socket.as_ref().map_or(Ok(()), |socket| epoll.add(socket, event))
    }

    /// Sets the flow to request next.
    pub(super) fn ask(&mut self, line: Line) {
        let Line { flow, bytes, dscp, rate_mbps, .. } = line;
        let request = Passing::of(Request { flow, bytes, dscp, rate_mbps });
        let answer = Passing::default();
        self.flow = Some(Flow { line, request, is_asked: false, answer, bytes: None });
    }

    /// The flow that was requested and is unfinished.
    pub(super) fn asked(&self) -> Option<Line> {
        self.flow.as_ref().map(|flow| flow.line)
    }

    /// Writes and reads until the kernel would block.
    pub(super) fn go_on(&mut self, buffer: &mut [u8]) -> io::Result<Asked> {
        let Some(socket) = &self.socket else { return Ok(Asked::Waits) };
        let Some(flow) = &mut self.flow else {
            // Without a flow, only the end of the connection can be read.
            return match Incoming::new(1).read(socket, &mut buffer[..1])? {
                true => Err(ErrorKind::InvalidData.into()),
                false => Ok(Asked::Waits),
            };
        };
        if !flow.is_asked {
            match flow.request.write(socket) {
                Ok(is_asked) => flow.is_asked = is_asked,
                // The connection is not open yet.
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(Asked::Waits),
                Err(error) => return Err(error),
            }
            if !flow.is_asked {
                return Ok(Asked::Waits);
            }
        }
        let bytes = match &mut flow.bytes {
            Some(bytes) => bytes,
            None => match flow.answer.read(socket)? {
                None => return Ok(Asked::Waits),
                Some(Request { flow: number, .. }) if number != flow.line.flow => {
                    return Err(ErrorKind::InvalidData.into());
                }
                Some(_) => flow.bytes.insert(Incoming::new(flow.line.bytes.into())),
            },
        };
        if !bytes.read(socket, buffer)? {
            return Ok(Asked::Waits);
        }
        let info = tcp_info(socket.as_raw_fd())?;
        let mut line = flow.line;
        line.rtt_us = info.rtt_us;
        line.out_of_order = info.out_of_order.saturating_sub(self.out_of_order);
        self.out_of_order = info.out_of_order;
        self.flow = None;
        Ok(Asked::Came(line))
    }

    /// Closes a broken connection. Returns its server's index and its unfinished flow.
    pub(super) fn close(&mut self) -> (usize, Option<Line>) {
        self.socket = None;
        (self.server, self.flow.take().map(|flow| flow.line))
    }
}
