//! Captures packets that arrive at a host from others, with the time at which they left the cable.

use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::lab;
use crate::seen::Seen;

/// A TCP or UDP packet, and when it was seen, in nanoseconds of the clock of [`now`].
#[derive(Clone, Debug)]
pub struct Packet {
    pub at: u64,
    pub seen: Seen,
}

/// The clock of packets and of life cycles.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// A running capture.
pub struct Capture {
    stop: Arc<AtomicBool>,
    packets: JoinHandle<Captured>,
}

/// The captured packets.
pub struct Captured {
    /// The packets in the order of time.
    pub packets: Vec<Packet>,
    /// Packets that the capture itself lost.
    pub lost: u32,
}

impl Capture {
    /// Starts to capture.
    pub fn start(host: &str) -> Capture {
        let stop = Arc::new(AtomicBool::new(false));
        let ended = stop.clone();
        let (ready, is_ready) = channel();
        let packets = lab::on(host, move || {
            let socket = open();
            ready.send(()).unwrap();
            let mut captured = Captured { packets: Vec::new(), lost: 0 };
            let mut buffer = vec![0; 1 << 16];
            loop {
                match receive(&socket, &mut buffer) {
                    Some((at, length)) => {
                        let seen = Seen::parse(&buffer[..length]);
                        captured.packets.extend(seen.map(|seen| Packet { at, seen }));
                    }
                    None if ended.load(Ordering::Relaxed) => break,
                    None => {}
                }
            }
            captured.lost = lost(&socket);
            captured.packets.sort_by_key(|packet| packet.at);
            captured
        });
        is_ready.recv().unwrap();
        // The kernel starts to stamp packets a moment later.
        thread::sleep(Duration::from_millis(50));
        Capture { stop, packets }
    }

    /// Stops, and returns all captured packets.
    pub fn end(self) -> Captured {
        self.stop.store(true, Ordering::Relaxed);
        self.packets.join().unwrap()
    }
}

fn open() -> OwnedFd {
    let socket =
        socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), SockProtocol::EthAll)
            .unwrap();
    setsockopt(&socket, sockopt::RcvBufForce, &(64 << 20)).unwrap();
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).unwrap();
    setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::milliseconds(50)).unwrap();
    ignore_outgoing(&socket);
    socket
}

/// Excludes packets that the host itself sends or forwards.
#[allow(unsafe_code)]
fn ignore_outgoing(socket: &OwnedFd) {
    let yes: libc::c_int = 1;
    // SAFETY: the value is as long as is said, and outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_IGNORE_OUTGOING,
            (&raw const yes).cast(),
            size_of::<libc::c_int>() as u32,
        )
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

#[allow(unsafe_code)]
fn lost(socket: &OwnedFd) -> u32 {
    let mut found = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as u32;
    // SAFETY: the place is as long as is said, and outlives the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut found).cast(),
            &raw mut length,
        )
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    found.tp_drops
}

/// Reads the next frame's time and length, if there is a frame.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Option<(u64, usize)> {
    let mut parts = [IoSliceMut::new(buffer)];
    let mut space = nix::cmsg_space!(libc::timespec);
    let message =
        recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty()).ok()?;
    let stamp = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(time) => Some(time),
        _ => None,
    });
    let at =
        stamp.map_or_else(now, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64);
    Some((at, message.bytes))
}
