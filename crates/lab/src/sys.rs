//! The calls for which there is no safe wrapper: each a few lines, nothing else.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

nix::ioctl_write_ptr_bad!(
    /// Gives an open `/dev/net/tun` its interface.
    set_interface,
    libc::TUNSETIFF,
    libc::ifreq
);

/// Makes `device`, an open `/dev/net/tun`, an Ethernet interface called `name` in the network
/// namespace of the calling thread. The interface goes when `device` is closed.
pub(crate) fn make_tap(device: &File, name: &str) -> io::Result<()> {
    // SAFETY: all zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is initialised and outlives the call.
    unsafe { set_interface(device.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// Where `tcpi_total_retrans` begins in the kernel's `struct tcp_info`.
const TOTAL_RETRANS: usize = std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans);

/// How many segments a TCP socket has sent again.
pub(crate) fn retransmissions(socket: RawFd) -> io::Result<u32> {
    let mut info = [0u8; size_of::<libc::tcp_info>()];
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
    let mut number = [0; 4];
    number.copy_from_slice(&info[TOTAL_RETRANS..TOTAL_RETRANS + 4]);
    Ok(u32::from_ne_bytes(number))
}

/// The priority of a thread that goes before all others that are not in real time, until this is
/// dropped: what the thread starts afterwards inherits nothing of it.
#[derive(Debug)]
pub(crate) struct Precedence {
    before: libc::c_int,
}

impl Precedence {
    /// Of the calling thread, which has to drop it.
    pub(crate) fn take() -> io::Result<Precedence> {
        // SAFETY: no memory is passed.
        let before = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        set_priority(-20).map(|()| Precedence { before })
    }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        // It only gives up what it has.
        let _ = set_priority(self.before);
    }
}

fn set_priority(priority: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, priority) };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
