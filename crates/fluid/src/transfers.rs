//! What is left of each active flow.
//!
//! A flow that is split has a slot, and one more for each of its subflows. The flow's own slot has its remaining
//! bits, its deadline and its end. The rate of this slot is the sum of its subflows' rates. A subflow's slot counts
//! the bits that the subflow has sent. All subflows draw from the same bits.

use flowsched_units::Time;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// Remaining bits that count as sent. Ends are whole picoseconds, and a link of 100 Gbps needs ten of them for a
/// bit. Without this tolerance, a flow that ends just as another starts may have to wait for the other.
pub(crate) const ROUNDING: f64 = 0.125;

/// The number of no flow.
const NOBODY: u32 = u32::MAX;

/// The progress of a flow, which is updated only when its rate changes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Transfer {
    /// Its number in the workload.
    pub(crate) id: u32,
    /// Which of its flow's paths it takes.
    pub(crate) path: u32,
    /// Bits on the wire in all.
    pub(crate) size: f64,
    /// The deadline: [`Time::MAX`] without one.
    pub(crate) deadline: Time,
    /// The lowest rate on its path, bit/s. For a split flow, the sum over its subflows' paths.
    pub(crate) peak: f64,
    /// Bits on the wire that were left at `since`.
    left: f64,
    since: Time,
    /// The rate since then, bit/s.
    rate: f64,
    /// When it ends at that rate.
    end: Time,
}

impl Transfer {
    /// A flow that has sent nothing and has no rate yet.
    pub(crate) fn new(id: u32, size: f64, deadline: Option<Time>, peak: f64) -> Transfer {
        let deadline = deadline.unwrap_or(Time::MAX);
        let (since, end) = (Time::ZERO, Time::MAX);
        Transfer { id, path: 0, size, deadline, peak, left: size, since, rate: 0.0, end }
    }

    /// Bits that are left at `now`, which is not before the last change of the rate.
    #[inline]
    pub(crate) fn left_at(&self, now: Time) -> f64 {
        let seconds = (now.as_ps() - self.since.as_ps()) as f64 / SECOND;
        f64::max(self.left - self.rate * seconds, 0.0)
    }

    /// Bits sent until `now`.
    pub(crate) fn sent_at(&self, now: Time) -> f64 {
        self.size - self.left_at(now)
    }

    /// The rate in bit/s.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// When it ends if its rate stays the same.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    /// Sends at `rate` from `now` on.
    pub(crate) fn set_rate(&mut self, rate: f64, now: Time) {
        self.left = self.left_at(now);
        self.since = now;
        self.rate = rate;
        self.end = after(now, if self.left > ROUNDING { self.left } else { 0.0 }, rate);
    }

    /// Stops sending. Counts a remainder of at most [`ROUNDING`] as sent.
    pub(crate) fn stop(&mut self, now: Time) {
        self.set_rate(0.0, now);
        if self.left <= ROUNDING {
            self.left = 0.0;
        }
    }

    /// When this many bits are sent, if the rate stays the same. This is rounded up to a picosecond, and is at
    /// least one picosecond after `now`.
    pub(crate) fn time_of(&self, sent: f64, now: Time) -> Time {
        after(now, sent - self.sent_at(now), self.rate).max(now + Time::from_ps(1))
    }

    /// When even the peak rate no longer suffices to meet the deadline, if the rate stays the same. The deadline
    /// may be past. [`Time::MAX`] without a deadline, or at the peak rate.
    pub(crate) fn lost_at(&self, now: Time) -> Time {
        if self.deadline == Time::MAX || self.rate >= self.peak {
            return Time::MAX;
        }
        // The difference comes first: it is exact, however late in the run.
        let until = |from: Time, to: Time| to.saturating_sub(from).as_ps() as f64;
        let time_left = until(now, self.deadline) - until(self.deadline, now);
        let slack = time_left - self.left_at(now) / self.peak * SECOND;
        after(now, f64::max(slack, 0.0) / SECOND, 1.0 - self.rate / self.peak)
    }
}

/// When `amount` is done at `rate` a second from `now` on, rounded up to a picosecond.
pub(crate) fn after(now: Time, amount: f64, rate: f64) -> Time {
    if amount <= 0.0 {
        return now;
    }
    // For a rate of zero, the conversion saturates, and the result is after all other times.
    now.saturating_add(Time::from_ps((amount / rate * SECOND).ceil() as u64))
}

/// The active flows by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    /// Free slots have the flow [`NOBODY`].
    slots: Vec<Transfer>,
    free: Vec<u32>,
    /// For each subflow's slot, the slot of its flow. [`NOBODY`], or no entry, for other slots.
    flows: Vec<u32>,
    /// For each split flow's slot, the slots of its subflows.
    subflows: Vec<Vec<u32>>,
}

impl Transfers {
    /// Gives a flow a slot.
    pub(crate) fn insert(&mut self, transfer: Transfer) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = transfer;
            return slot;
        }
        self.slots.push(transfer);
        self.slots.len() as u32 - 1
    }

    /// The slot that the next flow gets.
    pub(crate) fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.slots.len() as u32)
    }

    /// Gives the next subflow of the flow in the slot `flow` a slot, over a path whose lowest rate is
    /// `peak`.
    pub(crate) fn split_off(&mut self, flow: u32, peak: f64) -> u32 {
        let whole = &mut self.slots[flow as usize];
        whole.peak += peak;
        let Transfer { id, size, deadline, .. } = *whole;
        let slot = self.insert(Transfer { deadline, ..Transfer::new(id, size, None, peak) });
        let count = self.slots.len();
        self.flows.resize(count, NOBODY);
        self.subflows.resize_with(count, Vec::new);
        self.flows[slot as usize] = flow;
        let subflows = &mut self.subflows[flow as usize];
        self.slots[slot as usize].path = subflows.len() as u32;
        subflows.push(slot);
        slot
    }

    /// Frees a slot. If it was that of a flow's last subflow, frees the slot of the flow too.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.slots[slot as usize].id = NOBODY;
        self.free.push(slot);
        if let Some(flow) = self.split_flow(slot) {
            self.flows[slot as usize] = NOBODY;
            let subflows = &mut self.subflows[flow as usize];
            subflows.retain(|other| *other != slot);
            if subflows.is_empty() {
                self.remove(flow);
            }
        }
    }

    /// The slot of the flow that the one in `slot` is a subflow of, if it is one.
    #[inline]
    pub(crate) fn split_flow(&self, slot: u32) -> Option<u32> {
        self.flows.get(slot as usize).copied().filter(|flow| *flow != NOBODY)
    }

    /// The slots of the subflows that the flow in `slot` still has, if it is split.
    pub(crate) fn subflows(&self, slot: u32) -> &[u32] {
        self.subflows.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    /// The flow in the slot, or the flow whose subflow is in the slot.
    #[inline]
    pub(crate) fn flow(&self, slot: u32) -> Option<&Transfer> {
        self.get(self.split_flow(slot).unwrap_or(slot))
    }

    /// The flow or subflow in the slot sends at `rate` from `now` on.
    pub(crate) fn set_rate(&mut self, slot: u32, rate: f64, now: Time) {
        self.slots[slot as usize].set_rate(rate, now);
        if let Some(flow) = self.split_flow(slot) {
            let subflows = self.subflows[flow as usize].iter();
            let rates = subflows.map(|subflow| self.slots[*subflow as usize].rate);
            let sum = rates.sum();
            self.slots[flow as usize].set_rate(sum, now);
        }
    }

    /// The flow in the slot, if it has one.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Transfer> {
        self.slots.get(slot as usize).filter(|transfer| transfer.id != NOBODY)
    }

    /// The flow in the slot, if it has one.
    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Transfer> {
        self.slots.get_mut(slot as usize).filter(|transfer| transfer.id != NOBODY)
    }

    /// All active flows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Transfer)> {
        let slots = (0u32..).zip(&self.slots);
        slots.filter(|(_, transfer)| transfer.id != NOBODY)
    }
}
