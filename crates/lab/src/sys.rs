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
/// namespace of the calling thread. The interface ends when `device` is closed.
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

/// How the system schedules a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheduling {
    pub(crate) policy: libc::c_int,
    /// The priority among real-time threads; 0 for other threads.
    pub(crate) rank: libc::c_int,
    pub(crate) niceness: libc::c_int,
}

impl Scheduling {
    /// How the system schedules the calling thread.
    pub(crate) fn current() -> io::Result<Scheduling> {
        let mut rank = libc::sched_param { sched_priority: 0 };
        // SAFETY: 0 is the calling thread, and the parameter outlives the call.
        let (policy, niceness, result) = unsafe {
            let result = libc::sched_getparam(0, &raw mut rank);
            (libc::sched_getscheduler(0), libc::getpriority(libc::PRIO_PROCESS, 0), result)
        };
        done(policy.min(result))?;
        Ok(Scheduling { policy, rank: rank.sched_priority, niceness })
    }

    /// Schedules the calling thread in this way.
    pub(crate) fn set(self) -> io::Result<()> {
        let rank = libc::sched_param { sched_priority: self.rank };
        // SAFETY: 0 is the calling thread, and the parameter outlives the call.
        done(unsafe { libc::sched_setscheduler(0, self.policy, &raw const rank) })?;
        // SAFETY: no memory is passed.
        done(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, self.niceness) })
    }
}

/// Turns the result of a call, negative for an error, into a `Result`.
fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
