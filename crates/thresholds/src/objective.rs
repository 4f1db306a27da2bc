//! What thresholds minimise.

use std::fmt;
use std::str::FromStr;

use flowsched_units::Bytes;
use serde::{Serialize, Serializer};

use crate::ThresholdsError;
use crate::forecast::Forecast;

/// The size up to which `small-fct` counts a flow, unless said otherwise: 100 KB.
pub const SMALL: Bytes = Bytes::new(100_000);

/// What thresholds minimise: a mean over flows.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The mean flow completion time.
    MeanFct,
    /// The mean of the flow completion time over the one on the idle path.
    MeanSlowdown,
    /// The mean flow completion time of flows up to a size.
    SmallFct(Bytes),
    /// Several with weights, each in proportion to its value on the idle path.
    Mixture(Vec<(f64, Objective)>),
}

impl Objective {
    /// Refuses weights that are not over 0, and mixtures of mixtures.
    pub(crate) fn check(&self) -> Result<(), ThresholdsError> {
        let sound = match self {
            Objective::Mixture(parts) => {
                let plain = |part: &Objective| !matches!(part, Objective::Mixture(_));
                let sound = |(weight, part): &(f64, Objective)| {
                    *weight > 0.0 && weight.is_finite() && plain(part)
                };
                !parts.is_empty() && parts.iter().all(sound)
            }
            _ => true,
        };
        if sound { Ok(()) } else { Err(ThresholdsError::Objective { found: self.to_string() }) }
    }

    /// Whether its value is a time; if not, it is a ratio.
    pub fn is_time(&self) -> bool {
        matches!(self, Objective::MeanFct | Objective::SmallFct(_))
    }

    /// What a second of delay of a flow adds to the objective, by the flow's size.
    pub(crate) fn weight(&self, forecast: &Forecast) -> Result<Weight, ThresholdsError> {
        let mut parts = Vec::new();
        match self {
            Objective::Mixture(mixed) => {
                for (factor, part) in mixed {
                    let weight = part.part(forecast)?;
                    let idle =
                        Weight { parts: vec![weight], path: forecast.path.clone() }.idle(forecast);
                    parts.push(Part { factor: factor * weight.factor / idle, ..weight });
                }
            }
            plain => parts.push(plain.part(forecast)?),
        }
        Ok(Weight { parts, path: forecast.path.clone() })
    }

    fn part(&self, forecast: &Forecast) -> Result<Part, ThresholdsError> {
        match self {
            Objective::SmallFct(limit) => {
                let limit = limit.get() as f64;
                let share = forecast.sizes.cdf(limit);
                if share <= 0.0 {
                    return Err(ThresholdsError::NoSmallFlow {
                        limit: Bytes::new(limit as u64),
                        smallest: Bytes::new(forecast.sizes.quantile(0.0).ceil() as u64),
                    });
                }
                Ok(Part { factor: 1.0 / share, limit, over_ideal: false })
            }
            plain => {
                let over_ideal = *plain == Objective::MeanSlowdown;
                Ok(Part { factor: 1.0, limit: f64::INFINITY, over_ideal })
            }
        }
    }
}

/// A part of a weight: `factor`, or `factor` over the idle path's time, for flows up to `limit`.
#[derive(Clone, Copy, Debug)]
struct Part {
    factor: f64,
    limit: f64,
    over_ideal: bool,
}

/// What a second of delay adds to the objective, by the size of the delayed flow.
#[derive(Clone, Debug)]
pub struct Weight {
    parts: Vec<Part>,
    path: crate::forecast::Path,
}

impl Weight {
    /// The weight of a flow of `size` bytes, per second of delay.
    pub(crate) fn of_size(&self, size: f64) -> f64 {
        let part = |part: &Part| {
            if size > part.limit {
                0.0
            } else if part.over_ideal {
                part.factor / self.path.ideal_seconds(size)
            } else {
                part.factor
            }
        };
        self.parts.iter().map(part).sum()
    }

    /// The sizes at which the weight jumps.
    pub(crate) fn jumps(&self) -> impl Iterator<Item = f64> + '_ {
        self.parts.iter().map(|part| part.limit).filter(|limit| limit.is_finite())
    }

    /// The value of the objective on the idle path.
    pub(crate) fn idle(&self, forecast: &Forecast) -> f64 {
        let mut from = 0.0;
        let mut total = 0.0;
        let mut cuts: Vec<f64> = self.jumps().collect();
        cuts.sort_by(f64::total_cmp);
        for to in cuts.into_iter().chain([f64::INFINITY]) {
            let value = |size: f64| [self.of_size(size) * self.path.ideal_seconds(size)];
            let [part] = forecast.sizes.expectations(from, to, value);
            total += part;
            from = to;
        }
        total
    }
}

impl fmt::Display for Objective {
    /// As [`Objective::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::MeanFct => f.write_str("mean-fct"),
            Objective::MeanSlowdown => f.write_str("mean-slowdown"),
            Objective::SmallFct(SMALL) => f.write_str("small-fct"),
            Objective::SmallFct(limit) => write!(f, "small-fct {limit}"),
            Objective::Mixture(parts) => {
                for (index, (weight, part)) in parts.iter().enumerate() {
                    let plus = if index == 0 { "" } else { " + " };
                    write!(f, "{plus}{weight} {part}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Objective {
    type Err = ThresholdsError;

    /// Reads `"mean-fct"`, `"mean-slowdown"`, `"small-fct"` (up to 100 KB), `"small-fct 20KB"`,
    /// or a mixture such as `"0.7 mean-fct + 0.3 mean-slowdown"`.
    ///
    /// # Errors
    /// [`ThresholdsError::Objective`] for anything else.
    fn from_str(text: &str) -> Result<Objective, ThresholdsError> {
        let fail = || ThresholdsError::Objective { found: text.to_owned() };
        let plain = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            match words.as_slice() {
                ["mean-fct"] => Some(Objective::MeanFct),
                ["mean-slowdown"] => Some(Objective::MeanSlowdown),
                ["small-fct"] => Some(Objective::SmallFct(SMALL)),
                ["small-fct", limit] => Some(Objective::SmallFct(limit.parse().ok()?)),
                _ => None,
            }
        };
        if let Some(objective) = plain(text) {
            return Ok(objective);
        }
        let part = |text: &str| {
            let (weight, rest) = text.trim().split_once(char::is_whitespace)?;
            Some((weight.parse().ok()?, plain(rest)?))
        };
        let parts: Option<Vec<_>> = text.split('+').map(part).collect();
        let mixture = Objective::Mixture(parts.ok_or_else(fail)?);
        mixture.check().map(|()| mixture)
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
