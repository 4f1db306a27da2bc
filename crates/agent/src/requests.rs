//! Requests to a running agent: to end, or to read its configuration again. They come as signals, and
//! as commands on the control socket.

use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::control::Control;
use crate::error::AgentError;
use crate::pins::Places;

/// The requests, which wait until the agent handles them.
#[derive(Debug)]
pub(crate) struct Requests {
    signals: SignalFd,
    control: Control,
    end: bool,
    reload: bool,
}

impl Requests {
    /// Listens for commands in addition to the signals. The caller must hold the lock.
    pub(crate) fn listen(signals: SignalFd, places: &Places) -> Result<Requests, AgentError> {
        Ok(Requests { signals, control: Control::listen(places)?, end: false, reload: false })
    }

    /// Waits for a request, or until one of `others` can be read, for at most this many milliseconds.
    pub(crate) fn wait<'a>(
        &'a self,
        others: impl IntoIterator<Item = Option<BorrowedFd<'a>>>,
        at_most_ms: u16,
    ) {
        let mut files = self.control.files();
        files.push(self.signals.as_fd());
        files.extend(others.into_iter().flatten());
        let mut files: Vec<PollFd<'_>> =
            files.into_iter().map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
        let _ = poll(&mut files, PollTimeout::from(at_most_ms));
    }

    /// Whether the agent should end.
    pub(crate) fn is_end_wanted(&mut self) -> bool {
        while let Ok(Some(signal)) = self.signals.read_signal() {
            match signal.ssi_signo == Signal::SIGHUP as u32 {
                true => self.reload = true,
                false => self.end = true,
            }
        }
        self.end |= self.control.serve();
        self.end
    }

    /// Whether the configuration should be read again. Returns true once for all requests so far.
    pub(crate) fn take_reload(&mut self) -> bool {
        std::mem::take(&mut self.reload)
    }
}

/// Keeps signals from ending the process. They wait until the agent handles them.
pub(crate) fn block_signals() -> Result<SignalFd, AgentError> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
        signals.add(signal);
    }
    signals
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK))
        .map_err(|e| AgentError::kernel("take signals", e))
}
