//! Waits until a file has something to read, close to the time at which something else is due.

use std::io;
use std::os::fd::BorrowedFd;

use flowsched_units::Time;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::clock::to_duration;

/// An idle processor may wake a thread this much too late, so shorter waits are spent awake.
const SLEEPS_OVER: Time = Time::from_us(200);
/// The longest time that a thread sleeps before it checks whether to stop.
const LONGEST_SLEEP: Time = Time::from_ms(5);

/// How long [`ready`] sleeps at most if nothing can be read. It is zero if `time` is spent awake.
pub(crate) fn sleep_within(time: Time) -> Time {
    time.min(LONGEST_SLEEP).saturating_sub(SLEEPS_OVER)
}

/// Waits until one of `files` can be read, for at most `time`. Returns the places of the files that
/// can.
///
/// # Errors
/// If the system refuses to wait.
pub(crate) fn ready<'a>(
    files: impl Iterator<Item = BorrowedFd<'a>>,
    time: Time,
) -> io::Result<Vec<usize>> {
    let mut polled: Vec<PollFd<'_>> =
        files.map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
    let timeout = TimeSpec::from_duration(to_duration(sleep_within(time)));
    match ppoll(&mut polled, Some(timeout), None) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let places = polled.iter().enumerate();
    Ok(places.filter(|(_, fd)| fd.any().unwrap_or(false)).map(|(place, _)| place).collect())
}
