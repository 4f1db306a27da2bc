//! The calls for which there is no safe wrapper: each a few lines, nothing else.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

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
