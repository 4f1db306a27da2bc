//! TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, listen, setsockopt, socket,
    sockopt,
};

use super::Stop;
use crate::crowded::Crowded;
use crate::draw::{Bulk, Conversation, Starved};

const LOOK_UP: Duration = Duration::from_millis(100);
/// A connection is given up after this time without an acknowledgement, so that every write ends.
const GIVE_UP_MS: u32 = 10_000;
/// Threads that keep the processor of a starved sender busy.
const BUSY: usize = 2;
const BETWEEN_CONNECTIONS: Duration = Duration::from_millis(200);

/// A server whose connections have this receive buffer, which determines the scaling of the window.
#[allow(unsafe_code)]
fn listener(at: SocketAddr, receive_buffer: Option<usize>) -> TcpListener {
    let family = if at.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let server = socket(family, SockType::Stream, SockFlag::SOCK_NONBLOCK, None).unwrap();
    setsockopt(&server, sockopt::ReuseAddr, &true).unwrap();
    if let Some(bytes) = receive_buffer {
        setsockopt(&server, sockopt::RcvBuf, &bytes).unwrap();
    }
    bind(server.as_raw_fd(), &SockaddrStorage::from(at)).unwrap();
    listen(&server, Backlog::new(16).unwrap()).unwrap();
    // SAFETY: a listening socket that nobody else has.
    unsafe { TcpListener::from_raw_fd(server.into_raw_fd()) }
}

/// Serves one connection after another until the end.
fn serve(server: &TcpListener, stop: &Stop, mut connection: impl FnMut(TcpStream)) {
    while !stop.is_set() {
        match server.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                stream.set_read_timeout(Some(LOOK_UP)).unwrap();
                connection(stream);
            }
            Err(_) => stop.sleep(Duration::from_millis(5)),
        }
    }
}

fn connect(to: SocketAddr, stop: &Stop) -> Option<TcpStream> {
    while !stop.is_set() {
        if let Ok(stream) = TcpStream::connect_timeout(&to, Duration::from_secs(2)) {
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(LOOK_UP)).unwrap();
            return Some(stream);
        }
        stop.sleep(Duration::from_millis(50));
    }
    None
}

/// Makes the connection end with a RST when it is closed, so that no more of its data is sent.
fn break_off(stream: &TcpStream) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    let _ = setsockopt(stream, sockopt::Linger, &at_once);
}

/// Reads exactly `bytes` bytes, at most `at_once` at a time, with a `pause` after each read.
/// Returns false at the end of the connection or of the case.
fn read(
    stream: &mut TcpStream,
    bytes: usize,
    at_once: usize,
    pause: Duration,
    stop: &Stop,
) -> bool {
    let mut buffer = vec![0; at_once];
    let mut left = bytes;
    while left > 0 {
        let most = left.min(at_once);
        match stream.read(&mut buffer[..most]) {
            Ok(0) => return false,
            Ok(length) => left -= length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
        if stop.is_set() {
            return false;
        }
        if !pause.is_zero() {
            stop.sleep(pause);
        }
    }
    true
}

/// Accepts connections and reads them as slowly as `bulk` says, then answers with a byte.
pub(super) fn read_slowly(at: SocketAddr, bulk: &Bulk, stop: &Stop) {
    let server = listener(at, Some(bulk.receive_buffer));
    serve(&server, stop, |mut stream| {
        if read(&mut stream, bulk.bytes, bulk.read_at_once, bulk.read_pause, stop) {
            let _ = stream.write_all(&[1]);
        }
    });
}

/// Passes everything to the kernel in one call, so that there is always more in the send buffer.
pub(super) fn write_at_once(to: SocketAddr, bulk: &Bulk, stop: &Stop) {
    let data = vec![7; bulk.bytes];
    while let Some(mut stream) = connect(to, stop) {
        setsockopt(&stream, sockopt::SndBufForce, &(4 * bulk.bytes)).unwrap();
        if stream.write_all(&data).is_err()
            || !read(&mut stream, 1, 1, Duration::ZERO, stop)
            || stop.is_set()
        {
            break_off(&stream);
        }
        drop(stream);
        stop.sleep(BETWEEN_CONNECTIONS);
    }
}

/// Passes everything to the kernel in one call. The call waits for room in the send buffer again
/// and again, and each time gets the processor late.
pub(super) fn write_late(to: SocketAddr, starved: &Starved, stop: &Stop) {
    let data = vec![7; starved.stream.bytes];
    while let Some(mut stream) = connect(to, stop) {
        setsockopt(&stream, sockopt::SndBufForce, &starved.send_buffer).unwrap();
        setsockopt(&stream, sockopt::TcpUserTimeout, &GIVE_UP_MS).unwrap();
        let crowded = Crowded::new(BUSY);
        let is_written = stream.write_all(&data).is_ok();
        drop(crowded);
        if !is_written || !read(&mut stream, 1, 1, Duration::ZERO, stop) || stop.is_set() {
            break_off(&stream);
        }
        drop(stream);
        stop.sleep(BETWEEN_CONNECTIONS);
    }
}

/// Answers each message with a byte.
pub(super) fn answer(at: SocketAddr, conversation: &Conversation, stop: &Stop) {
    let server = listener(at, None);
    serve(&server, stop, |mut stream| {
        stream.set_nodelay(true).unwrap();
        for size in &conversation.messages {
            if !read(&mut stream, *size as usize, 1 << 16, Duration::ZERO, stop)
                || stream.write_all(&[1]).is_err()
            {
                return;
            }
        }
    });
}

/// Sends each message in one call, waits for its answer, and pauses.
pub(super) fn ask(to: SocketAddr, conversation: &Conversation, stop: &Stop) {
    let longest = conversation.messages.iter().max().map_or(0, |size| *size as usize);
    let data = vec![7; longest];
    while let Some(mut stream) = connect(to, stop) {
        setsockopt(&stream, sockopt::SndBufForce, &(4 * longest)).unwrap();
        let all = conversation.messages.iter().all(|size| {
            let done = stream.write_all(&data[..*size as usize]).is_ok()
                && read(&mut stream, 1, 1, Duration::ZERO, stop);
            stop.sleep(conversation.pause);
            done && !stop.is_set()
        });
        if !all {
            break_off(&stream);
        }
        drop(stream);
        stop.sleep(BETWEEN_CONNECTIONS);
    }
}
