//! System calls without a safe wrapper, and nothing else.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use flowsched_units::Rate;

/// Offsets of fields in the kernel's `struct tcp_info`. The C library declares only its first part.
const RTT: usize = 68;
const TOTAL_RETRANS: usize = 100;
/// Since Linux 5.4.
const OUT_OF_ORDER: usize = 224;
/// Since Linux 6.7.
const TOTAL_RTO: usize = 240;
const TOTAL_RTO_RECOVERIES: usize = 242;
const KNOWN: usize = 256;

/// What the kernel reports about a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Segments that this end has retransmitted.
    pub retransmissions: u32,
    /// Segments that this end has received out of order; 0 on kernels that do not count them.
    pub out_of_order: u32,
    /// Retransmission timeouts of this end, SYNs' included; `None` on kernels that do not count them.
    pub timeouts: Option<TcpTimeouts>,
}

/// Retransmission timeouts of one end of a TCP connection. Both counts wrap around at 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpTimeouts {
    /// All of them.
    pub all: u16,
    /// Rows of one or more timeouts with nothing acknowledged between them.
    pub rows: u16,
}

/// Reads the kernel's figures on a TCP socket.
///
/// # Errors
/// If the system refuses.
pub fn tcp_info(socket: RawFd) -> io::Result<TcpInfo> {
    let mut info = [0u8; KNOWN];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, which `info` has.
    let result = unsafe {
        libc::getsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(read(&info[..length as usize]))
}

/// Reads what the kernel wrote of its structure. The fields after that count as 0 or are absent.
fn read(written: &[u8]) -> TcpInfo {
    let mut info = [0; KNOWN];
    info[..written.len()].copy_from_slice(written);
    let short = |at: usize| u16::from_ne_bytes([info[at], info[at + 1]]);
    let field =
        |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
    let timeouts = TcpTimeouts { all: short(TOTAL_RTO), rows: short(TOTAL_RTO_RECOVERIES) };
    TcpInfo {
        rtt_us: field(RTT),
        retransmissions: field(TOTAL_RETRANS),
        out_of_order: field(OUT_OF_ORDER),
        timeouts: (written.len() >= TOTAL_RTO_RECOVERIES + 2).then_some(timeouts),
    }
}

/// Sets the rate at which the kernel paces a socket; `None` for no limit.
pub(crate) fn set_pacing(socket: &impl AsRawFd, rate: Option<Rate>) -> io::Result<()> {
    let bytes: u64 = rate.map_or(u64::MAX, |rate| rate.as_bps() / 8);
    // SAFETY: the kernel reads the 8 bytes of `bytes`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes).cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use socket2::{Domain, Protocol, Socket, Type};

    use super::*;

    #[test]
    fn fields_are_where_the_c_library_has_them() {
        assert_eq!(RTT, std::mem::offset_of!(libc::tcp_info, tcpi_rtt));
        assert_eq!(TOTAL_RETRANS, std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans));
    }

    #[test]
    fn a_kernel_that_counts_no_timeouts_has_none_rather_than_zero() {
        let mut info = [0; 248];
        info[TOTAL_RETRANS] = 9;
        (info[TOTAL_RTO], info[TOTAL_RTO_RECOVERIES]) = (5, 2);
        let (older, newer) = (read(&info[..TOTAL_RTO]), read(&info));
        assert_eq!((older.retransmissions, older.timeouts), (9, None));
        assert_eq!(
            (newer.retransmissions, newer.timeouts),
            (9, Some(TcpTimeouts { all: 5, rows: 2 }))
        );
    }

    /// A listener whose queue is full does not answer a SYN, so the kernel sends the SYN again after
    /// a second.
    #[test]
    fn the_kernels_timeouts_are_counted() {
        let socket = || Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
        let listener = socket();
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || {
            let socket = socket();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address);
            socket
        };
        let _queued = connect();
        sleep(Duration::from_millis(10));
        let unanswered = connect();
        let timeouts = || tcp_info(unanswered.as_raw_fd()).unwrap().timeouts;
        if timeouts().is_none() {
            eprintln!("skipped: this kernel counts no timeouts");
            return;
        }
        let start = Instant::now();
        while timeouts() == Some(TcpTimeouts::default()) && start.elapsed().as_secs() < 30 {
            sleep(Duration::from_millis(50));
        }
        assert_eq!(timeouts(), Some(TcpTimeouts { all: 1, rows: 1 }));
    }
}
