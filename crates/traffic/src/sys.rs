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
    let field = |at: usize| {
        let mut number = [0; 4];
        number.copy_from_slice(&info[at..at + 4]);
        u32::from_ne_bytes(number)
    };
    Ok(TcpInfo {
        rtt_us: field(RTT),
        retransmissions: field(TOTAL_RETRANS),
        out_of_order: field(OUT_OF_ORDER),
    })
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
    use super::*;

    #[test]
    fn fields_are_where_the_c_library_has_them() {
        assert_eq!(RTT, std::mem::offset_of!(libc::tcp_info, tcpi_rtt));
        assert_eq!(TOTAL_RETRANS, std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans));
    }
}
