//! Waits until a file has something to read, close to the time at which something else is due.

use std::io;
use std::os::fd::BorrowedFd;

use flowsched_units::Time;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::clock::to_duration;

/// An idle processor may wake a thread this much too late, so shorter waits are spent awake.
const SLEEPS_OVER: Time = Time::from_us(200);
/// The longest that a thread does not look whether it is to stop.
const LONGEST_SLEEP: Time = Time::from_ms(5);

/// Waits until one of `files` can be read, for `time` at most: the places of those that can.
///
/// # Errors
/// What the system says.
pub(crate) fn ready<'a>(
    files: impl Iterator<Item = BorrowedFd<'a>>,
    time: Time,
) -> io::Result<Vec<usize>> {
    let mut polled: Vec<PollFd<'_>> =
        files.map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
    let asleep = time.min(LONGEST_SLEEP).saturating_sub(SLEEPS_OVER);
    let timeout = TimeSpec::from_duration(to_duration(asleep));
    match ppoll(&mut polled, Some(timeout), None) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let places = polled.iter().enumerate();
    Ok(places.filter(|(_, fd)| fd.any().unwrap_or(false)).map(|(place, _)| place).collect())
}
