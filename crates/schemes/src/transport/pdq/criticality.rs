//! The expected transmission time that a sender announces, by which switches order flows.

use flowsched_units::{Bytes, Rate, Time};

use crate::flow_level::{age_divisor, random_transmission};

/// What a sender knows of its flow's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// All of it (PDQ 2012, 3.1).
    Known,
    /// "The sender estimates the flow size based on the amount of data sent already, and a flow
    /// is more critical than another one if it has smaller estimated size. ... The sender updates
    /// the flow criticality only for every 50 KByte it sends" (5.6).
    Estimated {
        /// The step of 50 KByte.
        step: Bytes,
    },
    /// "The sender randomly chooses a flow criticality at flow initialization time and uses it
    /// consistently" (5.6).
    Random,
}

/// What ageing reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeingOf {
    /// T, which switches copy from the header (Algorithm 1) and compare with K round trips (Early
    /// Start): "by reducing T_H" (Figure 12).
    TransmissionTime,
    /// Only the flow's place among other flows: "the operator could gradually increase the criticality
    /// of a flow based on its waiting time" (7).
    Criticality,
}

/// What decides the announced time.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    /// Bytes that are not known to have arrived.
    pub remaining: Bytes,
    /// Bytes sent so far.
    pub sent: Bytes,
    /// The sender's highest rate.
    pub rate: Rate,
    /// The flow's random number.
    pub random: u64,
    /// How long the flow has waited.
    pub waited: Time,
}

impl Announced {
    /// T, without ageing.
    pub fn transmission(&self, knowledge: Knowledge) -> Time {
        match knowledge {
            Knowledge::Known => self.rate.transmission_time(self.remaining),
            Knowledge::Estimated { step } => {
                let steps = self.sent.get() / step.get() + 1;
                self.rate.transmission_time(step * steps)
            }
            Knowledge::Random => random_transmission(self.random),
        }
    }

    /// `time` as ageing reduces it: "the PDQ sender increases flow criticality by reducing T by a
    /// factor of 2^(alpha t), where ... t is the flow waiting time (in terms of 100 ms)" (Figure 12).
    pub fn aged(&self, time: Time, ageing: f64) -> Time {
        if ageing == 0.0 {
            return time;
        }
        Time::from_ps((time.as_ps() as f64 / age_divisor(self.waited, ageing)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(remaining: u64, sent: u64) -> Announced {
        Announced {
            remaining: Bytes::new(remaining),
            sent: Bytes::new(sent),
            rate: Rate::from_gbps(1),
            random: 123_456_789,
            waited: Time::from_ms(200),
        }
    }

    #[test]
    fn a_known_size_is_what_remains_at_full_rate() {
        let time = announced(125_000, 0).transmission(Knowledge::Known);
        assert_eq!(time, Time::from_ms(1));
    }

    #[test]
    fn an_estimate_rises_every_50_kilobytes_sent() {
        let estimated = Knowledge::Estimated { step: Bytes::new(50_000) };
        let time = |sent| announced(1, sent).transmission(estimated);
        assert_eq!([0, 49_999, 50_000].map(time), [400, 400, 800].map(Time::from_us));
    }

    #[test]
    fn a_random_criticality_stays() {
        let time = |sent| announced(1, sent).transmission(Knowledge::Random);
        assert_eq!(time(0), time(1_000_000));
    }

    /// Figure 12: alpha 0.5 after 200 ms is a factor of 2.
    #[test]
    fn waiting_makes_critical() {
        let time = announced(125_000, 0).aged(Time::from_ms(1), 0.5);
        assert_eq!(time, Time::from_us(500));
    }
}
