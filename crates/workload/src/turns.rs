//! Senders in turn: none sends again before all have.

use flowsched_topology::HostId;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Senders in rounds, each round in a random order of its own. Whatever the number of flows, every
/// sender has as many as the others, or one more (PDQ 2012, 5.2, footnote 6).
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    senders: Vec<HostId>,
    /// How many senders have sent in this round.
    sent: usize,
}

impl Turns {
    /// All hosts except the receiver, if there is one.
    pub(crate) fn new(hosts: u32, receiver: Option<HostId>) -> Turns {
        let senders = (0..hosts).map(HostId).filter(|host| Some(*host) != receiver).collect();
        Turns { senders, sent: 0 }
    }

    pub(crate) fn next(&mut self, random: &mut ChaCha8Rng) -> HostId {
        if self.sent == 0 {
            self.senders.shuffle(random);
        }
        let sender = self.senders[self.sent];
        self.sent = (self.sent + 1) % self.senders.len();
        sender
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::stream;

    proptest! {
        #[test]
        fn every_sender_has_as_many_flows_as_the_others_or_one_more(
            hosts in 2u32..30, receiver in 0u32..30, flows in 0usize..200, seed: u64,
        ) {
            let receiver = Some(HostId(receiver)).filter(|host| host.0 < hosts);
            let mut turns = Turns::new(hosts, receiver);
            let mut random = stream(seed, "test", 0);
            let mut counts = vec![0; hosts as usize];
            (0..flows).for_each(|_| counts[turns.next(&mut random).index()] += 1);
            let senders = hosts as usize - usize::from(receiver.is_some());
            for (host, count) in counts.into_iter().enumerate() {
                let receives = receiver.is_some_and(|receiver| receiver.index() == host);
                let even = (flows / senders..=flows.div_ceil(senders)).contains(&count);
                let is_fair = if receives { count == 0 } else { even };
                prop_assert!(is_fair, "host {}: {}", host, count);
            }
        }
    }
}
