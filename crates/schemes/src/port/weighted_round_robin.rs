//! Weighted round robin: queues take turns, and send a number of packets in each turn.
//!
//! PIAS ToN 2017, III-B.2 decides against it for MLFQ, where it reorders a flow's packets; EPN
//! 2018 serves its two queues 100:1, so that the lower one does not starve.

use flowsched_units::{SettingError, Settings};

use super::parameters::{MOST_QUEUES, QUEUES, WEIGHTS};
use super::{QueuePart, QueuePorts, Serving, parameters};
use crate::flow_level::{Fluid, NoFluid, Sharing, Tagged};
use crate::packet::Frame;
use crate::part::{Part, Role};

/// How many packets each queue may send in a row while others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    weights: [u16; MOST_QUEUES],
    queues: usize,
}

impl Weights {
    /// One weight for each queue, the highest queue's first.
    ///
    /// # Errors
    /// If there are no weights or too many, or if a weight is 0.
    pub fn new(weights: &[u16]) -> Result<Weights, SettingError> {
        if weights.is_empty() || weights.len() > MOST_QUEUES || weights.contains(&0) {
            return Err(refusal(&format!("{weights:?}"), MOST_QUEUES));
        }
        let mut all = [1; MOST_QUEUES];
        all[..weights.len()].copy_from_slice(weights);
        Ok(Weights { weights: all, queues: weights.len() })
    }

    /// Reads the parameter `weights` of a port with this many queues.
    ///
    /// # Errors
    /// If it is not one whole number from 1 to 65535 for each queue.
    pub fn from_settings(settings: &Settings, queues: usize) -> Result<Weights, SettingError> {
        let text = settings.text(&WEIGHTS);
        let weights: Result<Vec<u16>, _> = text.split_whitespace().map(str::parse).collect();
        match weights {
            Ok(weights) if weights.len() == queues => {
                Weights::new(&weights).map_err(|_| refusal(&text, queues))
            }
            _ => Err(refusal(&text, queues)),
        }
    }
}

fn refusal(found: &str, queues: usize) -> SettingError {
    let allowed = format!(
        "whole numbers from 1 to 65535 with blanks between, one for each of the {queues} queues"
    );
    SettingError::new(&WEIGHTS, format!("\"{found}\""), allowed)
}

/// Several queues that take turns.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedRoundRobin(QueuePorts<InTurn>);

impl QueuePart for WeightedRoundRobin {
    const PART: Part = Part {
        role: Role::Port,
        name: "weighted-round-robin",
        about: "Several queues that take turns, each sending as many packets in a row as its \
                weight says.",
        source: "EPN 2018; PIAS ToN 2017, III-B.2 decides against it",
        parameters: &[parameters::TURNS, parameters::QUEUED, parameters::HOST],
    };
    type Serving = InTurn;

    /// # Errors
    /// If the weights are not one for each queue.
    fn build(settings: &Settings) -> Result<WeightedRoundRobin, SettingError> {
        let queues = settings.count(&QUEUES) as usize;
        let serving = InTurn::new(Weights::from_settings(settings, queues)?);
        Ok(WeightedRoundRobin(QueuePorts::from_settings(settings, queues, serving)))
    }

    fn ports(&self) -> &QueuePorts<InTurn> {
        &self.0
    }

    fn fluid(&self, _tagged: Tagged) -> Fluid<Sharing> {
        Err(NoFluid {
            key: Role::Port.key(),
            why: "its weights count packets",
            instead: "fifo, strict-priority or pfabric",
        })
    }
}

/// Serves the queues in turn, and remembers whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTurn {
    weights: Weights,
    turn: u32,
    /// Packets that the queue whose turn it is may still send.
    left: u16,
}

impl InTurn {
    /// The first turn is the highest queue's.
    pub fn new(weights: Weights) -> InTurn {
        InTurn { weights, turn: 0, left: weights.weights[0] }
    }
}

impl Serving for InTurn {
    #[inline]
    fn queue_of<F: Frame>(&self, frame: &F) -> usize {
        usize::from(frame.priority())
    }

    #[inline]
    fn next(&mut self, occupied: u64) -> usize {
        let has_turn = self.left > 0 && occupied >> self.turn & 1 == 1;
        if !has_turn {
            // The next occupied queue after this one, in a circle. It may be this one again.
            let after = occupied.rotate_right(self.turn + 1).trailing_zeros();
            self.turn = (self.turn + 1 + after) % u64::BITS;
            self.left = self.weights.weights[self.turn as usize];
        }
        self.left -= 1;
        self.turn as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(weights: &[u16], occupied: u64, times: usize) -> Vec<usize> {
        let mut round = InTurn::new(Weights::new(weights).unwrap());
        (0..times).map(|_| round.next(occupied)).collect()
    }

    #[test]
    fn busy_queues_share_by_their_weights() {
        // EPN 2018, V-C: "two Weighted Round Robin (WRR) queues with weights of 100 and 1".
        assert_eq!(served(&[3, 1], 0b11, 8), [0, 0, 0, 1, 0, 0, 0, 1]);
        let hundred = served(&[100, 1], 0b11, 10_100);
        assert_eq!(hundred.iter().filter(|queue| **queue == 1).count(), 100, "EPN's 100:1");
    }

    #[test]
    fn a_queue_alone_has_every_turn() {
        assert_eq!(served(&[3, 1], 0b10, 4), [1; 4]);
        assert_eq!(served(&[3, 1, 2], 0b101, 6), [0, 0, 0, 2, 2, 0]);
        assert_eq!(served(&[1; 64], 1 << 63, 3), [63; 3]);
    }

    #[test]
    fn a_turn_ends_when_its_queue_is_empty() {
        let mut round = InTurn::new(Weights::new(&[3, 2]).unwrap());
        assert_eq!([round.next(0b11), round.next(0b10), round.next(0b11)], [0, 1, 1]);
        assert_eq!(round.next(0b11), 0);
    }

    #[test]
    fn weights_that_do_not_fit_are_refused() {
        let mut settings = Settings::new();
        for (text, is_right) in
            [("100 1", true), ("100", false), ("100 0", false), ("1 2 3", false), ("a b", false)]
        {
            settings.set("weights", flowsched_units::Value::Text(text.into()));
            assert_eq!(Weights::from_settings(&settings, 2).is_ok(), is_right, "{text}");
        }
    }
}
