//! Chooses the connection of a pair of hosts that a flow takes, as the PIAS authors' simulator does.
//!
//! Only connections that a flow has used are stored. A network has so many pairs of hosts that the
//! connections of unused pairs would take most of the memory.

use std::collections::VecDeque;

use flowsched_units::Time;

/// The connections of a pair of hosts.
#[derive(Debug)]
pub(crate) struct Pool<C> {
    /// The number of connections that are open from the start.
    open: u32,
    /// The round-trip time of a packet and its acknowledgement on an idle network.
    round_trip: Time,
    /// The number of connections that flows have used, and the number of the next one that is not used
    /// yet.
    used: u32,
    /// Connections that no flow uses now, the one that has been idle for longest first.
    idle: VecDeque<Idle<C>>,
}

#[derive(Debug)]
struct Idle<C> {
    since: Time,
    number: u32,
    connection: C,
}

/// The connection that a flow takes, and its number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken<C> {
    /// Open from the start, and not used before. It knows this round-trip time.
    Unused(u32, Time),
    /// In the state in which the last flow left it.
    Used(u32, C),
    /// Opened for this flow, because all others are in use.
    New(u32),
}

impl<C> Pool<C> {
    /// A pool of `open` connections.
    pub(crate) fn new(open: u32, round_trip: Time) -> Pool<C> {
        // Few pairs of hosts use more than one.
        Pool { open, round_trip, used: 0, idle: VecDeque::with_capacity(1) }
    }

    /// Takes the connection that has been idle for longest, or a new one. Of equals, the lowest number
    /// is taken.
    pub(crate) fn take(&mut self) -> Taken<C> {
        let number = self.used;
        let is_unused = number < self.open;
        let goes_first =
            |idle: &Idle<C>| !is_unused || (idle.since, idle.number) < (Time::ZERO, number);
        if self.idle.front().is_some_and(goes_first)
            && let Some(Idle { number, connection, .. }) = self.idle.pop_front()
        {
            return Taken::Used(number, connection);
        }
        self.used += 1;
        if is_unused { Taken::Unused(number, self.round_trip) } else { Taken::New(number) }
    }

    /// Puts back a connection that is idle from `since` on, in the state in which a flow left it.
    pub(crate) fn give_back(&mut self, number: u32, since: Time, connection: C) {
        let place = self.idle.partition_point(|idle| (idle.since, idle.number) < (since, number));
        self.idle.insert(place, Idle { since, number, connection });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A plain model: all idle connections in a map by the time from which they are idle and by their
    /// number.
    struct Plain {
        count: u32,
        idle: BTreeMap<(Time, u32), Option<u32>>,
    }

    impl Plain {
        fn take(&mut self) -> Taken<u32> {
            if let Some(((_, number), connection)) = self.idle.pop_first() {
                return match connection {
                    None => Taken::Unused(number, Time::from_us(9)),
                    Some(connection) => Taken::Used(number, connection),
                };
            }
            self.count += 1;
            Taken::New(self.count - 1)
        }
    }

    proptest! {
        /// Flows come and go, some at the very start and some at the same time.
        #[test]
        fn a_flow_takes_the_connection_that_has_been_idle_for_longest(
            open in 1u32..5,
            steps in prop::collection::vec((any::<bool>(), 0u64..2, 0usize..8), 1..60),
        ) {
            let mut pool = Pool::new(open, Time::from_us(9));
            let idle = (0..open).map(|number| ((Time::ZERO, number), None)).collect();
            let mut plain = Plain { count: open, idle };
            let (mut now, mut in_use, mut flow) = (Time::ZERO, Vec::new(), 0);
            for (starts, later, which) in steps {
                now += Time::from_ps(later);
                if starts {
                    let taken = pool.take();
                    let (Taken::Unused(number, _) | Taken::Used(number, _) | Taken::New(number)) = taken;
                    prop_assert_eq!(taken, plain.take());
                    in_use.push(number);
                } else if which < in_use.len() {
                    let number = in_use.swap_remove(which);
                    flow += 1;
                    pool.give_back(number, now, flow);
                    plain.idle.insert((now, number), Some(flow));
                }
            }
        }
    }

    #[test]
    fn connections_that_no_flow_has_used_take_no_memory() {
        let mut pool = Pool::<[u64; 16]>::new(1000, Time::from_us(9));
        pool.take();
        pool.give_back(0, Time::from_us(1), [0; 16]);
        assert_eq!(pool.idle.capacity(), 1);
    }
}
