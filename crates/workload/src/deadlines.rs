//! How long after its start a flow is due.

use flowsched_units::{SettingError, Settings, Time};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::flow::{Flow, LATEST};
use crate::parameters::{DEADLINE_SIZES_BELOW, DEADLINE_SIZES_FROM, DEADLINES};
use crate::random::stream;
use crate::sizes::Form;

/// The ways to write deadlines.
pub const DEADLINE_FORMS: &[Form] = &[
    Form { word: "none", usage: "none", about: "no flow has a deadline" },
    Form {
        word: "fixed",
        usage: "fixed TIME",
        about: "every flow is due this long after its start",
    },
    Form {
        word: "uniform",
        usage: "uniform FROM TO",
        about: "evenly between two times, such as \"uniform 5ms 25ms\"",
    },
    Form {
        word: "exponential",
        usage: "exponential MEAN FLOOR",
        about: "exponential with this mean; values below the floor are raised to it: \"exponential \
                20ms 3ms\" in PDQ 2012, 5.1",
    },
];

/// The longest that a form may name.
const LONGEST: Time = Time::from_ms(1_000_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Law {
    None,
    Fixed(Time),
    Uniform { from: Time, to: Time },
    Exponential { mean: Time, floor: Time },
}

/// Gives flows their deadlines. Draws one for every flow, even if flows of its size have none, so
/// that other size bounds change no other flow's deadline.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    law: Law,
    from_size: u64,
    below_size: u64,
    random: ChaCha8Rng,
}

impl Deadlines {
    /// The deadlines of part number `part`.
    pub(crate) fn from_settings(
        settings: &Settings,
        seed: u64,
        part: u64,
    ) -> Result<Deadlines, SettingError> {
        let [from_size, below_size] =
            [&DEADLINE_SIZES_FROM, &DEADLINE_SIZES_BELOW].map(|parameter| settings.size(parameter));
        if from_size >= below_size {
            let found = format!("{below_size}, with deadline_sizes_from = \"{from_size}\"");
            let allowed = format!("a size over {from_size}, so that some flow can have a deadline");
            return Err(SettingError::new(&DEADLINE_SIZES_BELOW, found, allowed));
        }
        Ok(Deadlines {
            law: parse(&settings.text(&DEADLINES))?,
            from_size: from_size.get(),
            below_size: below_size.get(),
            random: stream(seed, "deadlines", part),
        })
    }

    /// Draws a deadline, and gives it to the flow unless flows of its size have none.
    pub(crate) fn give(&mut self, flow: &mut Flow) {
        let Some(due_in) = self.law.at(self.random.random()) else { return };
        if (self.from_size..self.below_size).contains(&flow.size.get()) {
            flow.deadline = Some(flow.start.saturating_add(due_in).min(LATEST));
        }
    }
}

impl Law {
    /// The time, over 0, that belongs to `u` of [0, 1).
    fn at(self, u: f64) -> Option<Time> {
        let ps = match self {
            Law::None => return None,
            Law::Fixed(time) => return Some(time),
            Law::Uniform { from, to } => {
                let [from, to] = [from, to].map(|time| time.as_ps() as f64);
                from + u * (to - from)
            }
            Law::Exponential { mean, floor } => {
                let drawn = -libm::log1p(-u) * mean.as_ps() as f64;
                drawn.max(floor.as_ps() as f64)
            }
        };
        Some(Time::from_ps((ps.round() as u64).max(1)))
    }
}

/// Reads one of [`DEADLINE_FORMS`].
fn parse(text: &str) -> Result<Law, SettingError> {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let refuse = |allowed: String| SettingError::new(&DEADLINES, format!("\"{text}\""), allowed);
    let Some(form) = DEADLINE_FORMS.iter().find(|form| form.word == first) else {
        let forms: Vec<String> =
            DEADLINE_FORMS.iter().map(|form| format!("\"{}\"", form.usage)).collect();
        return Err(refuse(forms.join(", ")));
    };
    let time = |text: &str| match text.parse() {
        Ok(time) if Time::ZERO < time && time <= LONGEST => Ok(time),
        _ => Err(refuse(format!("times over 0s and up to {LONGEST} in \"{}\"", form.usage))),
    };
    let values: Vec<&str> = words.collect();
    match (form.word, values.as_slice()) {
        ("none", []) => Ok(Law::None),
        ("fixed", [value]) => Ok(Law::Fixed(time(value)?)),
        ("uniform", [from, to]) => match (time(from)?, time(to)?) {
            (from, to) if from < to => Ok(Law::Uniform { from, to }),
            _ => Err(refuse(format!("FROM less than TO in \"{}\"", form.usage))),
        },
        ("exponential", [mean, floor]) => {
            Ok(Law::Exponential { mean: time(mean)?, floor: time(floor)? })
        }
        _ => Err(refuse(format!("\"{}\"", form.usage))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::Rng;

    use super::*;

    #[test]
    fn forms_are_read_and_others_refused() {
        let ms = Time::from_ms;
        let pdq = Law::Exponential { mean: ms(20), floor: ms(3) };
        assert_eq!(parse("exponential 20ms 3ms"), Ok(pdq));
        assert_eq!(parse(" uniform  1ms 2ms "), Ok(Law::Uniform { from: ms(1), to: ms(2) }));
        assert_eq!(parse("fixed 1s"), Ok(Law::Fixed(ms(1000))));
        assert_eq!(parse("none"), Ok(Law::None));
        let bad = [
            "",
            "soon",
            "none 1ms",
            "fixed",
            "fixed 0ms",
            "fixed 1",
            "fixed 1ms 2ms",
            "fixed 1001s",
            "uniform 2ms 2ms",
            "uniform 3ms 2ms",
            "uniform 0ms 2ms",
            "exponential 20ms",
            "exponential 20ms 0ms",
        ];
        for text in bad {
            let error = parse(text).unwrap_err();
            assert!(error.key == "deadlines" && error.problem.contains(text), "{error}");
        }
    }

    /// PDQ 2012, 5.1: mean 20 ms, at least 3 ms. The mean of what is raised to a floor `f` is
    /// `f + mean e^(-f / mean)`.
    #[test]
    fn exponential_deadlines_have_their_floor_and_mean() {
        let law = parse("exponential 20ms 3ms").unwrap();
        let mut random = stream(1, "test", 0);
        let count = 100_000;
        let drawn: Vec<f64> =
            (0..count).map(|_| law.at(random.random()).unwrap().as_us_f64() / 1e3).collect();
        let at_floor = drawn.iter().filter(|ms| **ms == 3.0).count() as f64 / f64::from(count);
        let mean = drawn.iter().sum::<f64>() / f64::from(count);
        assert!(drawn.iter().all(|ms| *ms >= 3.0));
        assert!((at_floor - (1.0 - (-0.15f64).exp())).abs() < 0.005, "{at_floor}");
        assert!((mean - (3.0 + 20.0 * (-0.15f64).exp())).abs() < 0.3, "{mean}");
    }

    proptest! {
        #[test]
        fn a_deadline_is_over_0_and_within_its_bounds(u in 0.0f64..1.0, from in 1u64..1 << 40, more in 1u64..1 << 40) {
            let [from, to] = [from, from + more].map(Time::from_ps);
            let uniform = Law::Uniform { from, to }.at(u).unwrap();
            prop_assert!(from <= uniform && uniform <= to);
            let exponential = Law::Exponential { mean: from, floor: Time::from_ps(1) }.at(u).unwrap();
            prop_assert!(exponential > Time::ZERO);
        }
    }
}
