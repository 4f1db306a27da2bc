//! The sending side of a flow over several paths.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Rate, Time};

use super::subflow::{Subflow, Unsent};
use super::{MultipathHeader, MultipathReceiver, MultipathSettings, shifting};
use crate::packet::Packet;
use crate::tagger::Work;
use crate::transport::explicit::ExplicitSender;
use crate::transport::pdq::{Outlook, Sender};
use crate::transport::tcp::segments_of;
use crate::transport::{Outgoing, Phase, SenderState, Start, Timeouts};

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct MultipathSender {
    subflows: Vec<Subflow>,
    size: Bytes,
    unsent: Unsent,
    /// The subflow that is asked next for a packet.
    turn: usize,
    /// When load may be shifted again.
    next_shift: Time,
    due: Option<Time>,
    /// The rate of the card.
    highest: Rate,
    gives_up: bool,
}

impl ExplicitSender for MultipathSender {
    type Header = MultipathHeader;
    type Settings = MultipathSettings;
    type Receiver = MultipathReceiver;

    fn new(settings: &MultipathSettings, start: &Start) -> MultipathSender {
        let segments = segments_of(start.size);
        let last_payload =
            start.size.get() - u64::from(segments.saturating_sub(1)) * PACKET_PAYLOAD;
        let count = settings.subflows.min(segments).max(1);
        let subflow = |path: u32| {
            // The first subflows have the segments that the division leaves over, and the last one
            // has the short segment.
            let share = segments / count + u32::from(path < segments % count);
            let missing = if path + 1 == count { PACKET_PAYLOAD - last_payload } else { 0 };
            let size = Bytes::new((u64::from(share) * PACKET_PAYLOAD).saturating_sub(missing));
            let sender = Sender::new(&settings.subflow, &Start { size, ..*start });
            Subflow::new(sender, path)
        };
        MultipathSender {
            subflows: (0..count).map(subflow).collect(),
            size: start.size,
            unsent: Unsent::new(segments, last_payload as u32),
            turn: 0,
            next_shift: start.now,
            due: start.deadline.filter(|_| settings.early_termination),
            highest: start.rate,
            gives_up: false,
        }
    }

    fn retransmissions(&self) -> u32 {
        self.subflows.iter().map(|subflow| subflow.sender.retransmissions()).sum()
    }

    fn timeouts(&self) -> Timeouts {
        let timeouts = self.subflows.iter().map(|subflow| subflow.sender.timeouts());
        timeouts.fold(Timeouts::default(), Timeouts::and)
    }

    /// The rates and the bytes in flight of the subflows, added up.
    fn state(&self) -> SenderState {
        let states = || self.subflows.iter().map(|subflow| subflow.sender.state());
        let rate = states().filter_map(|state| state.rate).map(Rate::as_bps).sum();
        let in_flight = states().filter_map(|state| state.in_flight).sum();
        SenderState {
            rate: Some(Rate::from_bps(rate)),
            in_flight: Some(in_flight),
            ..SenderState::default()
        }
    }

    #[inline]
    fn phase(&self) -> Phase {
        if self.gives_up {
            Phase::GaveUp
        } else if self.is_done() {
            Phase::Acknowledged
        } else {
            Phase::Sending
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        let active = self.subflows.iter().filter(|subflow| subflow.is_active());
        let wake = active.map(|subflow| subflow.sender.deadline()).min().unwrap_or(Time::MAX);
        // Just after the deadline the flow is given up, if it is at all.
        let due = self.due.map_or(Time::MAX, |due| due.saturating_add(Time::from_ps(1)));
        wake.min(self.shift_time()).min(due)
    }

    #[inline]
    fn poll(
        &mut self,
        settings: &MultipathSettings,
        now: Time,
    ) -> Option<Outgoing<MultipathHeader>> {
        loop {
            if self.turn == 0 {
                self.arrange(now);
            }
            while let Some(subflow) = self.subflows.get_mut(self.turn) {
                if let Some(mut outgoing) = subflow.poll(settings, now, &mut self.unsent) {
                    outgoing.work = Work { size: self.size, remaining: self.missing() };
                    return Some(outgoing);
                }
                self.turn += 1;
            }
            self.turn = 0;
            // What was sent may have changed which subflows can take load: a probe brings back a
            // subflow that had left.
            if now < self.shift_time() {
                return None;
            }
        }
    }

    #[inline]
    fn on_ack(&mut self, settings: &MultipathSettings, now: Time, ack: &Packet<MultipathHeader>) {
        if let Some(subflow) = self.subflows.get_mut(ack.header.path as usize) {
            subflow.on_ack(settings, now, ack);
        }
        self.consider_termination(settings, now);
    }

    fn on_timer(&mut self, settings: &MultipathSettings, now: Time) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_active()) {
            subflow.sender.on_timer(&settings.subflow, now);
        }
        self.consider_termination(settings, now);
    }

    #[inline]
    fn answer(settings: &MultipathSettings, header: &mut MultipathHeader) {
        Sender::answer(&settings.subflow, &mut header.pdq);
    }
}

impl MultipathSender {
    /// Whether every segment is acknowledged.
    fn is_done(&self) -> bool {
        self.subflows.iter().all(|subflow| subflow.sender.delivery().is_done())
    }

    /// Segments that are not known to have arrived.
    fn missing(&self) -> u32 {
        self.subflows.iter().map(|subflow| subflow.sender.delivery().missing()).sum()
    }

    /// Shifts load between subflows, and ends those that have nothing to do any more.
    fn arrange(&mut self, now: Time) {
        if self.gives_up {
            return;
        }
        if now >= self.next_shift && shifting::from_paused_to_least(&mut self.subflows) {
            self.next_shift = now.saturating_add(self.round_trip());
        }
        shifting::to_those_that_run_out(&mut self.subflows);
        shifting::tell_what_is_left(&mut self.subflows);
        for subflow in self.subflows.iter_mut().filter(|subflow| !subflow.has_left) {
            if subflow.sender.phase() == Phase::Acknowledged {
                subflow.sender.leave();
            }
        }
    }

    /// When to shift load that could not be shifted before: [`Time::MAX`] if there is none.
    fn shift_time(&self) -> Time {
        let is_wanted = !self.gives_up && shifting::is_wanted(&self.subflows);
        if is_wanted { self.next_shift } else { Time::MAX }
    }

    /// The shortest of the subflows' round-trip times; zero while none is known.
    fn round_trip(&self) -> Time {
        let known =
            self.subflows.iter().filter_map(|subflow| subflow.sender.delivery().round_trip());
        known.min().unwrap_or(Time::ZERO)
    }

    /// Applies Early Termination to the flow as a whole. The flow can be sent on all paths at once,
    /// and is paused when no subflow may send.
    fn consider_termination(&mut self, settings: &MultipathSettings, now: Time) {
        let Some(due) = self.due else { return };
        if self.phase() != Phase::Sending {
            return;
        }
        let of_subflows = self.subflows.iter().map(|subflow| subflow.sender.delivery().remaining());
        let remaining: Bytes = of_subflows.sum();
        let alone = self.highest.transmission_time(remaining);
        let is_paused = self.subflows.iter().all(|subflow| subflow.sender.is_paused());
        let outlook = Outlook {
            due,
            rest: alone / self.subflows.len() as u64,
            paused: is_paused.then(|| self.round_trip()),
        };
        if outlook.is_hopeless(settings.subflow.knowledge, now) {
            self.gives_up = true;
            self.subflows.iter_mut().for_each(|subflow| subflow.sender.leave());
        }
    }
}
