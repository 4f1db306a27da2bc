//! Waits until a file has something to read, close to the time at which something else is due.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use flowsched_units::Time;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;

use crate::clock::to_duration;

/// An idle processor may wake a thread this much too late, so shorter waits are spent awake.
const SLEEPS_OVER: Time = Time::from_us(200);
/// The longest time that a thread sleeps before it checks whether to stop.
const LONGEST_SLEEP: Time = Time::from_ms(5);

/// How long [`Watched::ready`] sleeps at most if nothing can be read. It is zero if `time` is spent awake.
pub(crate) fn sleep_within(time: Time) -> Time {
    time.min(LONGEST_SLEEP).saturating_sub(SLEEPS_OVER)
}

/// Files that may have something to read.
#[derive(Debug)]
pub(crate) struct Watched {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

impl Watched {
    /// Watches `files`, which stay open.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new<'a>(files: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<Watched> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut events = Vec::new();
        for (place, file) in (0..).zip(files) {
            epoll.add(file, EpollEvent::new(EpollFlags::EPOLLIN, place))?;
            events.push(EpollEvent::empty());
        }
        Ok(Watched { epoll, events })
    }

    /// Waits until one of the files can be read, for at most `time`. Returns the places of the files that can.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub(crate) fn ready(&mut self, time: Time) -> io::Result<Vec<usize>> {
        let sleep = sleep_within(time);
        if sleep > Time::ZERO {
            self.sleep(sleep)?;
        }
        let count = self.epoll.wait(&mut self.events, EpollTimeout::ZERO)?;
        Ok(self.events[..count].iter().map(|event| event.data() as usize).collect())
    }

    /// Sleeps until one of the files can be read. ppoll(2) counts the time in nanoseconds, epoll_wait(2) in milliseconds.
    fn sleep(&self, most: Time) -> io::Result<()> {
        let mut polled = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
        let timeout = TimeSpec::from_duration(to_duration(most));
        match ppoll(&mut polled, Some(timeout), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
