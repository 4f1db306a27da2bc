//! Hands frames to hosts, by the switch and a helper in turns.
//!
//! Whoever writes a frame to a host's card also runs the TCP of that host, up to the packets that the host then sends.
//! This takes longer than all that the switch does for the frame. If many frames are due at once, the switch would read
//! others late, so a second thread helps. Each host gets its frames in order.
//!
//! The kernel can also leave a host's TCP to another processor (RPS). The lab does not use this: nobody would know how
//! late the host then gets the frame. Besides, on Linux 6.18, senders with the lab's own DCTCP, a BPF program, sometimes
//! had windows without any bound: the kernel had taken an address in its own code for the slow start threshold.
//!
//! What may not live here: what decides when a frame is due.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};

use super::pace::Pace;
use crate::clock::Clock;
use crate::lateness::Lateness;
use crate::precedence::{Precedence, Rank};

/// The most frames that wait for their hosts, near the 20,000 of a host's card.
const MOST_WAITING: usize = 16_384;
/// The switch hands over this many frames without help, because the helper takes time to wake.
const MOST_ALONE: usize = 2;

/// A frame that has arrived at a host.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) host: HostId,
    pub(super) frame: Vec<u8>,
    /// When the host is to have the frame.
    pub(super) due: Time,
    /// The size of the packet, and when it entered the network; `None` for messages of switches.
    pub(super) entered: Option<(Bytes, Time)>,
}

/// The frames that hosts were handed.
#[derive(Clone, Debug, Default)]
pub struct Handed {
    /// How many there were.
    pub delivered: u64,
    /// Frames that a host had no room for.
    pub overrun: u64,
    /// How late frames were handed over.
    pub lateness: Lateness,
    /// How the port before each host was paced.
    pub paces: Vec<Pace>,
}

/// The frames that are due.
#[derive(Debug)]
pub(super) struct Deliveries {
    /// The file of each host's cable.
    files: Vec<OwnedFd>,
    clock: Clock,
    state: Mutex<State>,
    /// Calls the helper.
    call: Condvar,
}

#[derive(Debug)]
struct State {
    /// The frames that nobody has taken, in the order in which they are due.
    waiting: VecDeque<Arrival>,
    /// Whether somebody hands the host a frame right now.
    is_busy: Vec<bool>,
    handed: Handed,
    is_helper_asleep: bool,
    is_over: bool,
}

impl Deliveries {
    /// No deliveries yet, to hosts with these files. `handed` is what they got before.
    pub(super) fn new(files: Vec<OwnedFd>, handed: Handed, clock: Clock) -> Deliveries {
        let state = State {
            waiting: VecDeque::new(),
            is_busy: vec![false; files.len()],
            handed,
            is_helper_asleep: false,
            is_over: false,
        };
        Deliveries { files, clock, state: Mutex::new(state), call: Condvar::new() }
    }

    /// Adds a frame that is due now, and calls the helper if many frames wait.
    pub(super) fn add(&self, arrival: Arrival) {
        let mut state = self.state();
        if state.waiting.len() == MOST_WAITING {
            state.handed.overrun += 1;
            return;
        }
        state.waiting.push_back(arrival);
        if state.is_helper_asleep && state.waiting.len() > MOST_ALONE {
            state.is_helper_asleep = false;
            self.call.notify_one();
        }
    }

    /// Hands over the first frame whose host is not busy. Returns whether there was one.
    ///
    /// # Errors
    /// If the frame cannot be written.
    pub(super) fn hand_over_one(&self) -> io::Result<bool> {
        let Some(arrival) = self.state().take() else { return Ok(false) };
        let written = nix::unistd::write(&self.files[arrival.host.index()], &arrival.frame);
        let now = self.clock.now();
        let mut state = self.state();
        state.is_busy[arrival.host.index()] = false;
        match written {
            Ok(_) => state.handed.delivered += 1,
            Err(nix::Error::EAGAIN) => state.handed.overrun += 1,
            Err(error) => return Err(error.into()),
        }
        state.handed.note(&arrival, now);
        Ok(true)
    }

    /// Helps until the switch has finished.
    ///
    /// # Errors
    /// If a frame cannot be written, or if the system refuses to raise the thread's priority.
    pub(super) fn help(&self) -> io::Result<()> {
        let mut precedence = Precedence::take(Rank::Switch)?;
        loop {
            precedence.keep()?;
            if self.hand_over_one()? {
                continue;
            }
            let mut state = self.state();
            if state.is_over {
                return Ok(());
            }
            state.is_helper_asleep = true;
            drop(self.call.wait(state).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Lets the helper finish.
    pub(super) fn end(&self) {
        self.state().is_over = true;
        self.call.notify_one();
    }

    /// The frames that were handed over.
    pub(super) fn into_handed(self) -> Handed {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).handed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the first frame whose host is not busy. The host is busy from now on.
    fn take(&mut self) -> Option<Arrival> {
        let place = self.waiting.iter().position(|it| !self.is_busy[it.host.index()])?;
        let arrival = self.waiting.remove(place)?;
        self.is_busy[arrival.host.index()] = true;
        Some(arrival)
    }
}

impl Handed {
    fn note(&mut self, arrival: &Arrival, now: Time) {
        self.lateness.note(arrival.due, now);
        if let Some((wire, entered)) = arrival.entered {
            self.paces[arrival.host.index()].note(wire, entered, arrival.due, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::thread;
    use std::time::Duration;

    use super::*;

    const HOSTS: u32 = 3;

    /// The hosts' ends, and deliveries to them, which wait for room or not.
    fn deliveries(are_patient: bool) -> (Vec<UnixDatagram>, Deliveries) {
        let pairs = (0..HOSTS).map(|_| UnixDatagram::pair().unwrap());
        let (hosts, files): (Vec<_>, Vec<_>) = pairs.unzip();
        for file in &files {
            file.set_nonblocking(!are_patient).unwrap();
        }
        let files = files.into_iter().map(OwnedFd::from).collect();
        (hosts, Deliveries::new(files, Handed::default(), Clock::starting_in(Duration::ZERO)))
    }

    fn arrival(host: u32, number: u32) -> Arrival {
        let frame = number.to_be_bytes().to_vec();
        Arrival { host: HostId(host), frame, due: Time::ZERO, entered: None }
    }

    fn received(host: &UnixDatagram) -> u32 {
        let mut bytes = [0; 4];
        host.recv(&mut bytes).unwrap();
        u32::from_be_bytes(bytes)
    }

    /// Switch and helper write at the same time, and most frames are for one host.
    #[test]
    fn each_host_gets_its_frames_in_order() {
        const FRAMES: u32 = 30_000;
        let (hosts, deliveries) = deliveries(true);
        let host_of = |number: u32| if number.is_multiple_of(8) { 1 + number / 8 % 2 } else { 0 };
        thread::scope(|scope| {
            let helper = scope.spawn(|| deliveries.help());
            for (host, end) in (0..).zip(&hosts) {
                scope.spawn(move || {
                    let sent: Vec<_> =
                        (0..FRAMES).filter(|number| host_of(*number) == host).collect();
                    let came: Vec<_> = sent.iter().map(|_| received(end)).collect();
                    assert!(came == sent, "host {host}");
                });
            }
            for number in 0..FRAMES {
                deliveries.add(arrival(host_of(number), number));
                while deliveries.state().waiting.len() > 5 {
                    deliveries.hand_over_one().unwrap();
                }
            }
            deliveries.end();
            helper.join().unwrap().unwrap();
        });
        let Handed { delivered, overrun, lateness, .. } = deliveries.into_handed();
        assert_eq!((delivered, overrun, lateness.count()), (FRAMES.into(), 0, FRAMES.into()));
    }

    #[test]
    fn frames_without_room_are_counted() {
        let (_hosts, deliveries) = deliveries(false);
        for number in 0..MOST_WAITING as u32 + 3 {
            deliveries.add(arrival(0, number));
        }
        while deliveries.hand_over_one().unwrap() {}
        let Handed { delivered, overrun, .. } = deliveries.into_handed();
        assert_eq!(delivered + overrun, MOST_WAITING as u64 + 3);
        assert!(overrun > 3, "the host's socket has less room");
    }
}
