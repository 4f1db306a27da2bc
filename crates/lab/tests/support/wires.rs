//! Cables between the switch and hosts that the test plays, and sockets that see what crosses a host's card.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use flowsched_lab::tap::Cable;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket,
    socketpair, sockopt,
};

/// One end of a pair of sockets that keep frames apart, or a socket for all frames of a card.
pub struct Wire(OwnedFd);

impl Wire {
    /// A socket that gets every frame that the card of this namespace sends or receives from now on.
    pub fn of_card() -> Wire {
        let (family, kind) = (AddressFamily::Packet, SockType::Raw);
        let opened = socket(family, kind, SockFlag::empty(), SockProtocol::EthAll).unwrap();
        // On a slow machine paused senders send probes for many seconds. 8 MiB hold only about 9,000 small frames.
        setsockopt(&opened, sockopt::RcvBufForce, &(512 << 20)).unwrap();
        Wire(opened)
    }

    /// Sends a frame, and waits for room if necessary.
    pub fn push(&self, frame: &[u8]) {
        send(self.0.as_raw_fd(), frame, MsgFlags::empty()).unwrap();
    }

    /// The frames that wait to be read, in order.
    pub fn drain(&mut self) -> Vec<Vec<u8>> {
        let mut buffer = [0; 2_000];
        let mut all = Vec::new();
        while let Ok(Some(length @ 1..)) = self.receive(&mut buffer) {
            all.push(buffer[..length].to_vec());
        }
        all
    }
}

impl Cable for Wire {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => Ok(Some(length)),
            Err(nix::Error::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The hosts' ends and the switch's ends of this many wires.
pub fn wires(hosts: u32) -> (Vec<Wire>, Vec<Wire>) {
    let pair = |_| {
        let kind = SockType::SeqPacket;
        let (one, other) = socketpair(AddressFamily::Unix, kind, None, SockFlag::empty()).unwrap();
        for end in [&one, &other] {
            setsockopt(end, sockopt::SndBufForce, &(4 << 20)).unwrap();
        }
        // The switch does not wait for a host.
        fcntl(&other, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        (Wire(one), Wire(other))
    };
    (0..hosts).map(pair).unzip()
}
