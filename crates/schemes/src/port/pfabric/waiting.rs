//! The packets that wait in a port, by flow, and which of them goes next or is dropped.

use crate::packet::Frame;

/// Packets that wait. They do not move within `slots`. The packets of each flow are linked in the
/// order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Waiting<F> {
    slots: Vec<Slot<F>>,
    /// The first slot that is not used; each links to the next one.
    free: u32,
    /// The flows that have a packet here.
    flows: Vec<FlowQueue>,
    /// The number of packets that have come.
    arrivals: u64,
}

/// A packet, and its neighbours among those of its flow.
#[derive(Clone, Copy, Debug)]
struct Slot<F> {
    frame: F,
    /// The number of packets that had come before it.
    arrival: u64,
    earlier: u32,
    later: u32,
}

/// The packets of one flow, from the first to the last that came.
#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    /// The place of the flow's best packet in the order of all packets: by rank, then by arrival.
    best: u128,
    flow: u32,
    first: u32,
    last: u32,
    /// Whether no packet has a better rank than one before it.
    is_rising: bool,
    /// Whether no packet has a worse rank than one before it.
    is_falling: bool,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl<F: Frame> Slot<F> {
    /// The packet's place in the order of all packets.
    #[inline]
    fn place(&self) -> u128 {
        u128::from(self.frame.rank()) << 64 | u128::from(self.arrival)
    }
}

impl<F: Frame + Copy> Waiting<F> {
    /// No waiting packets.
    pub(super) fn new() -> Waiting<F> {
        Waiting { slots: Vec::new(), free: NONE, flows: Vec::new(), arrivals: 0 }
    }

    /// All packets, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &F> {
        self.flows.iter().flat_map(|queue| self.slots_of(queue)).map(|(_, slot)| &slot.frame)
    }

    /// The slots of a flow, in the order in which its packets came.
    #[inline]
    fn slots_of(&self, queue: &FlowQueue) -> impl Iterator<Item = (u32, &Slot<F>)> {
        let slot_at = |place: u32| Some((place, self.slots.get(place as usize)?));
        std::iter::successors(slot_at(queue.first), move |(_, slot)| slot_at(slot.later))
    }

    /// Adds a packet that comes.
    #[inline]
    pub(super) fn insert(&mut self, frame: &F) {
        let mut slot = Slot { frame: *frame, arrival: self.arrivals, earlier: NONE, later: NONE };
        self.arrivals += 1;
        let place = if self.free == NONE { self.slots.len() as u32 } else { self.free };
        let flow = frame.flow();
        match self.flows.iter_mut().find(|queue| queue.flow == flow) {
            Some(queue) => {
                let before = &mut self.slots[queue.last as usize];
                before.later = place;
                slot.earlier = queue.last;
                queue.last = place;
                queue.is_rising &= before.frame.rank() <= frame.rank();
                queue.is_falling &= before.frame.rank() >= frame.rank();
                queue.best = queue.best.min(slot.place());
            }
            None => {
                let (best, first, last) = (slot.place(), place, place);
                let (is_rising, is_falling) = (true, true);
                self.flows.push(FlowQueue { best, flow, first, last, is_rising, is_falling });
            }
        }
        self.fill(place, slot);
    }

    /// Puts a packet into the slot `place`, which is the first unused one.
    #[inline]
    fn fill(&mut self, place: u32, slot: Slot<F>) {
        match self.slots.get_mut(place as usize) {
            Some(unused) => {
                self.free = unused.later;
                *unused = slot;
            }
            None => self.slots.push(slot),
        }
    }

    /// The packet that goes next, and the number of its flow's queue.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, &F)> {
        let mut queues = self.flows.iter().enumerate();
        let (mut next, queue) = queues.next()?;
        let (mut best, mut first) = (queue.best, queue.first);
        for (index, queue) in queues {
            if queue.best < best {
                (next, best, first) = (index, queue.best, queue.first);
            }
        }
        Some((next, &self.slots[first as usize].frame))
    }

    /// Removes the first packet of a queue.
    #[inline]
    pub(super) fn remove_first(&mut self, index: usize) {
        let queue = &mut self.flows[index];
        let place = queue.first;
        let slot = &self.slots[place as usize];
        let (later, own) = (slot.later, slot.place());
        if later == NONE {
            self.flows.swap_remove(index);
        } else {
            queue.first = later;
            self.slots[later as usize].earlier = NONE;
            if queue.best == own {
                self.flows[index].best = self.best_after(index, own);
            }
        }
        self.release(place);
    }

    /// The best place in a queue that has lost its best packet, whose place was `lost`.
    #[inline]
    fn best_after(&self, index: usize, lost: u128) -> u128 {
        let queue = &self.flows[index];
        let first = self.slots[queue.first as usize].place();
        // None has a better rank than the one lost.
        if queue.is_rising || first >> 64 == lost >> 64 {
            return first;
        }
        self.slots_of(queue).map(|(_, slot)| slot.place()).min().unwrap_or(first)
    }

    /// Removes and returns the packet of the worst rank, the latest of equals, if its rank is worse
    /// than `rank`.
    pub(super) fn remove_worse_than(&mut self, rank: u32) -> Option<F> {
        let worst = self.flows.iter().map(|queue| self.worst_of(queue)).enumerate();
        let (index, place) = worst.max_by_key(|(_, place)| self.slots[*place as usize].place())?;
        let Slot { frame, earlier, later, .. } = self.slots[place as usize];
        if frame.rank() <= rank {
            return None;
        }
        let queue = &mut self.flows[index];
        match (self.slots.get_mut(earlier as usize), later) {
            (None, NONE) => {
                self.flows.swap_remove(index);
            }
            (None, _) => queue.first = later,
            (Some(before), _) => before.later = later,
        }
        match self.slots.get_mut(later as usize) {
            Some(after) => after.earlier = earlier,
            None if earlier != NONE => self.flows[index].last = earlier,
            None => {}
        }
        self.release(place);
        Some(frame)
    }

    /// The slot of a flow's packet of the worst rank, the latest of equals.
    fn worst_of(&self, queue: &FlowQueue) -> u32 {
        if queue.is_rising {
            return queue.last;
        }
        let rank_of_first = self.slots[queue.first as usize].frame.rank();
        let slots = self.slots_of(queue);
        let worst = slots
            .take_while(|(_, slot)| !queue.is_falling || slot.frame.rank() == rank_of_first)
            .max_by_key(|(_, slot)| slot.place());
        worst.map_or(queue.last, |(place, _)| place)
    }

    /// Frees a slot.
    #[inline]
    fn release(&mut self, place: u32) {
        self.slots[place as usize].later = self.free;
        self.free = place;
    }
}
