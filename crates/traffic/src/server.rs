//! The server: sends the flows that clients request, on as many connections as they open.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};

use flowsched_units::Rate;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::error::TrafficError;
use crate::sys::set_pacing;
use crate::transfer::Outgoing;
use crate::wire::{Passing, Request};

/// The port of the PIAS authors' server.
pub const PORT: u16 = 5_001;
/// The maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 4_096;
/// The longest sleep in milliseconds, after which the server checks whether to stop.
const LONGEST_SLEEP: u8 = 50;
const BATCH: usize = 64;
/// The listener's number in epoll. Connections are numbered from 0.
const LISTENER: u64 = u64::MAX;
/// Bytes that the authors' clients wait for when they end a connection.
const ENDING: u32 = 100;

/// A server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    epoll: Epoll,
    connections: HashMap<u64, Served>,
    next: u64,
    /// Whether the system had no room for another connection. The next ones wait until one is closed.
    is_full: bool,
}

/// A connection and the flow that it sends.
#[derive(Debug)]
struct Served {
    socket: Socket,
    request: Passing,
    /// The answer being sent: the echoed request, then the flow.
    answer: Option<(Passing, Outgoing)>,
    is_ending: bool,
    rate_mbps: u32,
}

impl Server {
    /// Listens on `address`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(address: SocketAddrV4) -> Result<Server, TrafficError> {
        let (listener, epoll) = listen(address).map_err(|e| TrafficError::system("listen", e))?;
        Ok(Server { listener, epoll, connections: HashMap::new(), next: 0, is_full: false })
    }

    /// The address that the server listens on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is set. A connection that breaks or sends an invalid request is closed; other
    /// connections continue. While the process can open no more files, further connections wait.
    ///
    /// # Errors
    /// If waiting for or accepting connections fails.
    pub fn serve(&mut self, stop: &AtomicBool) -> Result<(), TrafficError> {
        let mut events = [EpollEvent::empty(); BATCH];
        while !stop.load(Ordering::Relaxed) {
            let count = match self.epoll.wait(&mut events, EpollTimeout::from(LONGEST_SLEEP)) {
                Ok(count) => count,
                Err(nix::Error::EINTR) => 0,
                Err(error) => return Err(TrafficError::system("wait for connections", error)),
            };
            let refused = |error| TrafficError::system("accept connections", error);
            if count == 0 {
                self.make_room().map_err(refused)?;
            }
            for event in &events[..count] {
                match event.data() {
                    LISTENER => self.accept().map_err(refused)?,
                    number => {
                        let Some(served) = self.connections.get_mut(&number) else { continue };
                        if !matches!(served.go_on(), Ok(true)) {
                            self.connections.remove(&number);
                            self.make_room().map_err(refused)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Accepts connections again, if the system had no room for them.
    fn make_room(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_full, false) {
            self.listen_for(EpollFlags::EPOLLIN)?;
        }
        Ok(())
    }

    fn listen_for(&self, flags: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.modify(&self.listener, &mut EpollEvent::new(flags, LISTENER))?)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let socket: Socket = match self.listener.accept() {
                Ok((stream, _)) => stream.into(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_of_one_connection(&error) => continue,
                Err(error) if is_for_want_of_room(&error) => {
                    self.is_full = true;
                    return self.listen_for(EpollFlags::empty());
                }
                Err(error) => return Err(error),
            };
            if socket.set_nonblocking(true).and_then(|()| socket.set_tcp_nodelay(true)).is_err() {
                continue;
            }
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
            self.epoll.add(&socket, EpollEvent::new(flags, self.next))?;
            let request = Passing::default();
            let served = Served { socket, request, answer: None, is_ending: false, rate_mbps: 0 };
            self.connections.insert(self.next, served);
            self.next += 1;
        }
    }
}

/// Whether an error of `accept` concerns only the connection that it would have accepted: the client has
/// closed it, or the network has already failed it (accept(2), "Error handling").
fn is_of_one_connection(error: &io::Error) -> bool {
    const FAILED: [i32; 9] = [
        libc::ECONNABORTED,
        libc::EPROTO,
        libc::ENOPROTOOPT,
        libc::EOPNOTSUPP,
        libc::ENETDOWN,
        libc::ENETUNREACH,
        libc::EHOSTDOWN,
        libc::EHOSTUNREACH,
        libc::ENONET,
    ];
    let is_interrupted = error.kind() == ErrorKind::Interrupted;
    is_interrupted || error.raw_os_error().is_some_and(|code| FAILED.contains(&code))
}

/// Whether an error of `accept` says that the process or the system has no room for another connection.
fn is_for_want_of_room(error: &io::Error) -> bool {
    const FULL: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|code| FULL.contains(&code))
}

fn listen(address: SocketAddrV4) -> io::Result<(TcpListener, Epoll)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    Ok((socket.into(), epoll))
}

impl Served {
    /// Reads requests and sends flows until the kernel would block. Returns whether the connection stays
    /// open.
    fn go_on(&mut self) -> io::Result<bool> {
        loop {
            if let Some((echo, flow)) = &mut self.answer {
                if !echo.write(&self.socket)? {
                    return Ok(true);
                }
                flow.write(&self.socket, |_, _| Ok(()))?;
                if flow.unsent() > 0 {
                    return Ok(true);
                }
                self.answer = None;
                if self.is_ending {
                    return Ok(false);
                }
            }
            let Some(request) = self.request.read(&self.socket)? else { return Ok(true) };
            self.begin(request)?;
        }
    }

    fn begin(&mut self, request: Request) -> io::Result<()> {
        let Request { flow, bytes, dscp, rate_mbps } = request;
        self.is_ending = flow == 0;
        let bytes = if self.is_ending { bytes.min(ENDING) } else { bytes };
        self.socket.set_tos_v4(u32::from(dscp) << 2)?;
        if self.rate_mbps != rate_mbps {
            let rate = Rate::from_bps(u64::from(rate_mbps) * 1_000_000);
            set_pacing(&self.socket, (rate_mbps > 0).then_some(rate))?;
            self.rate_mbps = rate_mbps;
        }
        self.answer = Some((Passing::of(request), Outgoing::new(bytes.into())));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_connection_do_not_end_the_server() {
        let is_of_one = |code| is_of_one_connection(&io::Error::from_raw_os_error(code));
        assert!([libc::EPROTO, libc::EHOSTUNREACH, libc::ECONNABORTED].into_iter().all(is_of_one));
        assert!(![libc::EMFILE, libc::EBADF].into_iter().any(is_of_one));
    }
}
