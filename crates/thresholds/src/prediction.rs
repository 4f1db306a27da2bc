//! What a model predicts for given thresholds.

use flowsched_units::Bytes;
use serde::Serialize;

use crate::ThresholdsError;
use crate::edge::Edges;
use crate::forecast::Forecast;
use crate::model::Delay;
use crate::names::ModelName;
use crate::objective::Objective;

/// The largest size of a small flow, in bytes.
const SMALL: f64 = 100e3;
/// The largest size of a medium flow, in bytes.
const MEDIUM: f64 = 10e6;

/// A mean over all flows, and over those of a size class; nothing where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ByClass {
    /// All flows.
    pub all: Option<f64>,
    /// Flows up to 100 KB.
    pub small: Option<f64>,
    /// Flows over 100 KB, up to 10 MB.
    pub medium: Option<f64>,
    /// Flows over 10 MB.
    pub large: Option<f64>,
}

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Predicted {
    /// Flow completion times.
    Fct {
        /// Mean flow completion times in microseconds.
        fct_us: ByClass,
        /// Means of the flow completion time over the one on the idle path.
        slowdown: ByClass,
    },
    /// Less than a flow completion time.
    PacketDelays {
        /// Mean sums of the packet delays that a flow meets, one a queue, in microseconds.
        packet_delays_us: ByClass,
    },
}

/// A model with thresholds on a path.
#[derive(Clone, Debug)]
pub struct Predictor<'a> {
    forecast: Forecast<'a>,
    model: ModelName,
    thresholds: Vec<f64>,
    /// Delays by level, for each link, with the seconds that a byte takes there.
    delays: Vec<(f64, Vec<Delay>)>,
}

impl<'a> Predictor<'a> {
    /// What `model` says of `thresholds`, which do not fall; they may be the same.
    ///
    /// # Errors
    /// [`ThresholdsError`] if there is no steady state or the thresholds fall.
    pub fn new(
        forecast: &Forecast<'a>,
        model: ModelName,
        thresholds: &[Bytes],
    ) -> Result<Predictor<'a>, ThresholdsError> {
        forecast.check()?;
        if let Some(pair) = thresholds.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(ThresholdsError::Falling { before: pair[0], next: pair[1] });
        }
        let largest = forecast.sizes.max();
        let sizes: Vec<f64> = thresholds.iter().map(|t| (t.get() as f64).min(largest)).collect();
        let weight = Objective::MeanFct.weight(forecast)?;
        let mut delays = Vec::new();
        for link in &forecast.path.links {
            let edges = Edges::new(forecast, link, &weight, &sizes);
            let unstable = ThresholdsError::UnstableThresholds { model, load: link.load };
            let levels = model.model().delays(&edges).ok_or(unstable)?;
            delays.push((forecast.seconds_per_byte(link), levels));
        }
        Ok(Predictor { forecast: forecast.clone(), model, thresholds: sizes, delays })
    }

    /// The mean delay of a flow of `size` bytes by others, in seconds. For models of packet delays,
    /// the sum of the packet delays that it meets.
    pub fn delay_seconds(&self, size: f64) -> f64 {
        let level = self.thresholds.partition_point(|threshold| *threshold < size);
        let served = self.forecast.sizes.partial_mean(size);
        let delay = |(seconds, levels): &(f64, Vec<Delay>)| {
            let Delay { constant, per_byte, per_served_byte } = levels[level];
            seconds * (constant + per_byte * size + per_served_byte * served)
        };
        self.delays.iter().map(delay).sum()
    }

    /// The mean time in seconds that a flow of `size` bytes takes. For models that predict no more,
    /// its packet delays.
    pub fn seconds(&self, size: f64) -> f64 {
        let alone =
            if self.model.predicts_fct() { self.forecast.path.ideal_seconds(size) } else { 0.0 };
        alone + self.delay_seconds(size)
    }

    /// The value of `objective`: seconds for a time, a ratio for a slowdown.
    ///
    /// # Errors
    /// [`ThresholdsError`] for an objective over small flows where there are none.
    pub fn objective(&self, objective: &Objective) -> Result<f64, ThresholdsError> {
        let weight = objective.weight(&self.forecast)?;
        let cuts: Vec<f64> = weight.jumps().collect();
        let [value] =
            self.mean(0.0, f64::INFINITY, &cuts, |size, time| [weight.of_size(size) * time]);
        Ok(value)
    }

    /// Means by size class.
    pub fn predicted(&self) -> Predicted {
        let classes = [
            self.class(0.0, f64::INFINITY),
            self.class(0.0, SMALL),
            self.class(SMALL, MEDIUM),
            self.class(MEDIUM, f64::INFINITY),
        ];
        let by_class = |which: usize, unit: f64| {
            let [all, small, medium, large] =
                classes.map(|class| class.map(|means| means[which] * unit));
            ByClass { all, small, medium, large }
        };
        let micro = 1e6;
        if self.model.predicts_fct() {
            Predicted::Fct { fct_us: by_class(0, micro), slowdown: by_class(1, 1.0) }
        } else {
            Predicted::PacketDelays { packet_delays_us: by_class(0, micro) }
        }
    }

    /// Mean time and mean slowdown of flows in `(from, to]`, if there are any.
    fn class(&self, from: f64, to: f64) -> Option<[f64; 2]> {
        let share = self.forecast.sizes.cdf(to) - self.forecast.sizes.cdf(from);
        if share <= 0.0 {
            return None;
        }
        let means = self.mean(from, to, &[SMALL, MEDIUM], |size, time| {
            [time, time / self.forecast.path.ideal_seconds(size)]
        });
        Some(means.map(|mean| mean / share))
    }

    /// `E[values(size, time); from < size <= to]`; the values may jump at `cuts`.
    fn mean<const N: usize>(
        &self,
        from: f64,
        to: f64,
        cuts: &[f64],
        values: impl Fn(f64, f64) -> [f64; N],
    ) -> [f64; N] {
        let mut ends: Vec<f64> = self.thresholds.iter().chain(cuts).copied().collect();
        ends.retain(|end| from < *end && *end < to);
        ends.push(to);
        ends.sort_by(f64::total_cmp);
        let mut total = [0.0; N];
        let mut start = from;
        for end in ends {
            let part = self
                .forecast
                .sizes
                .expectations(start, end, |size| values(size, self.seconds(size)));
            for (total, part) in total.iter_mut().zip(part) {
                *total += part;
            }
            start = end;
        }
        total
    }
}
