//! A client's connection to a memcached, which carries one request after the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use flowsched_topology::HostId;
use flowsched_workload::Flow;
use socket2::{SockAddr, Socket};

use super::servers::{PORT, answer, key};
use crate::address::ipv4;
use crate::traffic::pool::short_lived;

/// A connection from a client to a server.
#[derive(Debug)]
pub(super) struct Get {
    pair: (HostId, HostId),
    socket: Socket,
    /// The flow under way.
    flow: Option<u32>,
    /// The part of the request that is still to be written.
    question: Vec<u8>,
    /// The whole answer, of which `come` bytes have come.
    answer: Vec<u8>,
    come: usize,
    buffer: Vec<u8>,
}

impl Get {
    /// Begins to open a connection, in the client's namespace.
    pub(super) fn open(pair: (HostId, HostId)) -> io::Result<Get> {
        let socket = short_lived()?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        let to = SockAddr::from(SocketAddr::from((ipv4(pair.1), PORT)));
        match socket.connect(&to) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(Get {
                pair,
                socket,
                flow: None,
                question: Vec::new(),
                answer: Vec::new(),
                come: 0,
                buffer: vec![0; 1 << 16],
            }),
        }
    }

    /// The client and the server.
    pub(super) fn pair(&self) -> (HostId, HostId) {
        self.pair
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Prepares the request for the value of this flow. [`Get::go_on`] sends it.
    pub(super) fn ask(&mut self, flow: &Flow) {
        self.flow = Some(flow.id);
        self.question = format!("get {}\r\n", key(flow.size)).into_bytes();
        self.answer = answer(flow.size);
        self.come = 0;
    }

    /// Writes the request and reads the value, as far as the kernel can without waiting. Returns the flow when its
    /// whole value was read.
    pub(super) fn go_on(&mut self) -> io::Result<Option<u32>> {
        while !self.question.is_empty() {
            match (&self.socket).write(&self.question) {
                Ok(bytes) => drop(self.question.drain(..bytes)),
                Err(error) if is_to_wait(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        while self.flow.is_some() && self.come < self.answer.len() {
            let left = &self.answer[self.come..];
            let room = left.len().min(self.buffer.len());
            match (&self.socket).read(&mut self.buffer[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) if self.buffer[..bytes] == left[..bytes] => self.come += bytes,
                Ok(_) => return Err(io::Error::other("memcached has another value")),
                Err(error) if is_to_wait(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(self.flow.take())
    }
}

/// Whether to try again later: the socket has no room or no data, or is not connected yet.
fn is_to_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}
