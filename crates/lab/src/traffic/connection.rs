//! A TCP connection of two hosts, which carries one flow after the other.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use flowsched_schemes::on_linux::{SizeTags, code_point};
use flowsched_topology::HostId;
use flowsched_traffic::{Incoming, Outgoing, TcpInfo, tcp_info};
use flowsched_units::PACKET_PAYLOAD;
use flowsched_workload::Flow;
use nix::sys::socket::sockopt::{Priority, Timestamping};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, TimestampingFlag, recvmsg, setsockopt};
use nix::{setsockopt_impl, sockopt_impl};
use socket2::Socket;

use super::resent::Resent;
use crate::bursts::{Burst, Bursts};

/// The number of socket priorities that need no privilege. Flows take turns with them.
const PRIORITIES: u32 = 7;

/// How connections behave.
#[derive(Clone, Debug)]
pub struct Manners {
    /// The number of connections that are open from the start, from each host to each that it sends to, and carry many
    /// flows; 0 if each flow opens one of its own.
    pub open_connections: u32,
    /// The most segments in flight at any time.
    pub max_window: u32,
    /// What a connection does at the beginning of a flow, so that its packets are tagged.
    pub tags: Tags,
}

/// What a connection does at the beginning of a flow.
#[derive(Clone, Debug)]
pub enum Tags {
    /// Nothing.
    None,
    /// It tells the agent that a flow begins, by a change of the socket's priority.
    Announced,
    /// It gives the packets to come the priority of the flow's size.
    Size(Arc<SizeTags>),
    /// It tells the tagger at the host's edge which flow begins.
    Told(Arc<Bursts>),
}

impl Tags {
    /// With [`Tags::Size`], sets the highest priority for the packets of a socket that carries no flow and so sends no
    /// data.
    pub(super) fn apply_to_idle(&self, socket: &Socket) -> io::Result<()> {
        match self {
            Tags::Size(sizes) => set_priority(socket, 0, sizes.priorities()),
            Tags::None | Tags::Announced | Tags::Told(_) => Ok(()),
        }
    }
}

fn set_priority(socket: &Socket, priority: u8, priorities: usize) -> io::Result<()> {
    // The code point is the upper six bits of the type of service.
    socket.set_tos_v4(u32::from(code_point(priority.into(), priorities)) << 2)
}

/// Both ends of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// The sender and the receiver.
    pub(super) pair: (HostId, HostId),
    sender: Socket,
    receiver: Option<Socket>,
    is_open: bool,
    /// The most segments in flight at any time.
    max_window: u32,
    carried: Option<Carried>,
    tags: Tags,
    flows: u32,
    /// Bytes written since the connection was opened.
    written: u64,
}

/// A flow under way.
#[derive(Clone, Copy, Debug)]
struct Carried {
    flow: u32,
    outgoing: Outgoing,
    incoming: Incoming,
    is_acknowledged: bool,
    /// The kernel's counters before the flow.
    before: TcpInfo,
}

/// An event of the flow that a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The flow's last byte has come.
    Received { flow: u32 },
    /// The flow's last byte was acknowledged, at this time since the beginning of 1970. `resent` counts what was
    /// sent again.
    Acknowledged { flow: u32, at: Duration, resent: Resent },
}

impl Connection {
    /// Begins to open a connection with a socket of the sender.
    pub(super) fn open(
        pair: (HostId, HostId),
        sender: Socket,
        to: SocketAddr,
        manners: &Manners,
    ) -> io::Result<Connection> {
        sender.set_nonblocking(true)?;
        sender.set_tcp_nodelay(true)?;
        manners.tags.apply_to_idle(&sender)?;
        match sender.connect(&to.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(Connection {
            pair,
            sender,
            receiver: None,
            is_open: false,
            max_window: manners.max_window,
            carried: None,
            tags: manners.tags.clone(),
            flows: 0,
            written: 0,
        })
    }

    /// The sender's address.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.sender.local_addr()?.as_socket().ok_or_else(|| ErrorKind::Unsupported.into())
    }

    /// The sender's socket.
    pub(super) fn sender(&self) -> BorrowedFd<'_> {
        self.sender.as_fd()
    }

    /// Takes the receiver's end, which was accepted.
    pub(super) fn accept(&mut self, receiver: Socket) -> io::Result<BorrowedFd<'_>> {
        receiver.set_nonblocking(true)?;
        let receiver: &Socket = self.receiver.insert(receiver);
        Ok(receiver.as_fd())
    }

    /// Notes that the sender's end is open.
    fn opened(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_open, true) {
            setsockopt(&self.sender, Timestamping, &stamps(false))?;
        }
        Ok(())
    }

    /// Begins a flow.
    pub(super) fn begin(&mut self, flow: &Flow) -> io::Result<()> {
        let size = flow.size.get();
        match &self.tags {
            Tags::None => {}
            Tags::Announced => {
                self.flows += 1;
                setsockopt(&self.sender, Priority, &((self.flows % PRIORITIES) as i32))?;
            }
            Tags::Size(sizes) => {
                set_priority(&self.sender, sizes.priority_of(flow.size), sizes.priorities())?;
            }
            Tags::Told(bursts) => {
                let Flow { id, size, deadline, .. } = *flow;
                let burst = Burst { flow: id, before: self.written, size, deadline };
                bursts.begin(self.address()?, burst);
            }
        }
        let before = tcp_info(self.sender.as_raw_fd())?;
        self.carried = Some(Carried {
            flow: flow.id,
            outgoing: Outgoing::new(size),
            incoming: Incoming::new(size),
            is_acknowledged: false,
            before,
        });
        self.write()
    }

    /// Writes as much of the flow as the kernel takes.
    fn write(&mut self) -> io::Result<()> {
        let Some(carried) = self.carried.as_mut().filter(|_| self.is_open) else { return Ok(()) };
        self.written += carried.outgoing.write(&self.sender, |sender, is_now| {
            Ok(setsockopt(sender, Timestamping, &stamps(is_now))?)
        })?;
        Ok(())
    }

    /// Reads the bytes that have come.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        tell: &mut impl FnMut(News),
    ) -> io::Result<()> {
        let (Some(receiver), Some(carried)) = (&self.receiver, &mut self.carried) else {
            return Ok(());
        };
        // The kernel forgets the bound once it has seen how long segments are.
        bound_window(receiver, self.max_window)?;
        if carried.incoming.read(receiver, buffer)? {
            tell(News::Received { flow: carried.flow });
        }
        Ok(())
    }

    /// Handles events of the sender's end: it is open, has room again, or has timestamps.
    pub(super) fn handle_sender(&mut self, tell: &mut impl FnMut(News)) -> io::Result<()> {
        if let Some(error) = self.sender.take_error()? {
            return Err(error);
        }
        while let Some(news) = self.read_stamps()? {
            tell(news);
        }
        self.opened()?;
        self.write()
    }

    /// Reads which bytes were acknowledged, up to the flow's last one.
    fn read_stamps(&mut self) -> io::Result<Option<News>> {
        while let Some((byte, at)) = self.next_stamp()? {
            let is_last = byte == (self.written as u32).wrapping_sub(1);
            if let Some(carried) =
                self.carried.as_mut().filter(|one| is_last && one.outgoing.unsent() == 0)
            {
                carried.is_acknowledged = true;
                let now = tcp_info(self.sender.as_raw_fd())?;
                let resent = Resent::between(&carried.before, &now);
                return Ok(Some(News::Acknowledged { flow: carried.flow, at, resent }));
            }
        }
        Ok(None)
    }

    /// The next timestamp: the number of its byte, counted from 0 on the connection, and its time.
    fn next_stamp(&self) -> io::Result<Option<(u32, Duration)>> {
        let mut space = nix::cmsg_space!(libc::sock_extended_err, [libc::timespec; 3], [u8; 64]);
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let fd = self.sender.as_raw_fd();
        let message = match recvmsg::<()>(fd, &mut [], Some(&mut space), flags) {
            Ok(message) => message,
            Err(nix::Error::EAGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (mut byte, mut at) = (0, Duration::ZERO);
        for part in message.cmsgs()? {
            match part {
                ControlMessageOwned::ScmTimestampsns(stamps) => at = stamps.system.into(),
                ControlMessageOwned::Ipv4RecvErr(error, _) => byte = error.ee_data,
                _ => {}
            }
        }
        Ok(Some((byte, at)))
    }

    /// The flow that the connection carries, unless its last byte is acknowledged, and what was sent again of it
    /// so far.
    pub(super) fn under_way(&self) -> io::Result<Option<(u32, Resent)>> {
        let Some(carried) = self.carried.filter(|carried| !carried.is_acknowledged) else {
            return Ok(None);
        };
        let now = tcp_info(self.sender.as_raw_fd())?;
        Ok(Some((carried.flow, Resent::between(&carried.before, &now))))
    }

    /// Ends the flow if all of it has come and is acknowledged. Returns whether the flow has ended.
    pub(super) fn end_flow(&mut self) -> bool {
        self.carried
            .take_if(|carried| carried.incoming.to_come() == 0 && carried.is_acknowledged)
            .is_some()
    }
}

sockopt_impl!(
    /// The largest window that a receiver advertises, in bytes.
    WindowClamp, SetOnly, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, u32
);

/// Has a receiver, or the receivers of a listener, advertise at most this many segments. The kernel has no bound
/// for congestion windows alone.
pub(super) fn bound_window(receiver: &Socket, segments: u32) -> io::Result<()> {
    // TCP can advertise no more (RFC 7323, 2.2).
    const LARGEST: u64 = 1 << 30;
    let bytes = (u64::from(segments) * PACKET_PAYLOAD).min(LARGEST) as u32;
    Ok(setsockopt(receiver, WindowClamp, &bytes)?)
}

/// The flags for timestamps with the number of a byte. Acknowledgements have timestamps only if `now` is set.
fn stamps(now: bool) -> TimestampingFlag {
    let ack = if now { libc::SOF_TIMESTAMPING_TX_ACK } else { 0 };
    let always = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY;
    always | TimestampingFlag::from_bits_retain(ack)
}
