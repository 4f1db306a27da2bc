//! The figures of a paper that are drawn from the tables of a value's runs, as the file of claims states them.

use flowsched_experiment::results::NamedLink;
use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// A figure that is drawn from the tables of the value's runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// The title, such as `"Figure 6b, utilisation of the bottleneck"`. No other drawing of the value has it.
    pub title: String,
    /// What is drawn.
    pub of: DrawnOf,
    /// For curves over time, the links whose ports are drawn, each with its time span. The form is that of `links` in
    /// an experiment.
    #[serde(default)]
    pub links: String,
    /// The schemes. If this is empty, those of the value.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The point of the sweep: varied keys and their values.
    #[serde(default)]
    pub at: Setting,
    /// The published numbers beside the curves.
    #[serde(rename = "mark", default)]
    pub marks: Vec<Mark>,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawnOf {
    /// A figure of ports over time, with the first seed.
    OverTime(OverTime),
    /// The distribution of a figure, over all seeds.
    Distribution(Distribution),
}

/// A figure of a port over time, from `ports.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverTime {
    /// What it sends, in Gbit/s, headers included.
    RateGbps,
    /// What it sends, divided by the rate of its link.
    Utilisation,
    /// The packets in its queue.
    QueuePackets,
}

/// A figure that has a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// The FCT of each flow divided by its FCT under the first scheme of the experiment, from `flows.parquet`.
    FctRatio,
    /// The bytes in the queues of switches, from `ports.parquet`: the samples that `queue_bytes` of a summary is over.
    QueueBytes,
}

/// Where a published number is drawn. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The value of the same claim whose published number it is; `None` for the value that is drawn.
    pub value: Option<String>,
    /// Where on the lower axis the number holds. `None` for everywhere.
    pub x: Option<Along>,
    /// The place on the upright axis, for a number that belongs to the lower axis.
    pub y: Option<f64>,
    /// What the number counts from.
    #[serde(default)]
    pub from: f64,
    /// Whether the number is the share above `x`. Otherwise it is the share up to `x`.
    #[serde(default)]
    pub above: bool,
}

/// A place on the lower axis, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Along {
    /// One place.
    Place(f64),
    /// From the first place to the second.
    Span([f64; 2]),
}

/// The area of a published number or range in a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// A number of the upright axis.
    Upright {
        /// The least and the most.
        ends: (f64, f64),
        /// The part of the lower axis where it holds; `None` for all of it.
        x: Option<(f64, f64)>,
    },
    /// A number of the lower axis.
    Lower {
        /// The least and the most.
        ends: (f64, f64),
        /// The place on the upright axis.
        y: f64,
    },
}

impl Drawn {
    /// The links that are drawn over time.
    ///
    /// # Errors
    /// The part that is not a link.
    pub fn named_links(&self) -> Result<Vec<NamedLink>, String> {
        NamedLink::parse_all(&self.links)
    }

    /// Checks the drawing. The error says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let links = self.named_links().map_err(|part| {
            format!(
                "`{part}` is no link. Write `links` such as \"bottleneck: switch 0 to host 0 from 10ms to 19ms\"."
            )
        })?;
        let is_over_time = matches!(self.of, DrawnOf::OverTime(_));
        if is_over_time == links.is_empty() {
            return Err("`links` is for drawings over time, which need it.".to_owned());
        }
        if self.marks.iter().any(|mark| mark.x.is_some() && mark.y.is_some()) {
            return Err(
                "A mark has `x` or `y`: the published number is its other place.".to_owned()
            );
        }
        if is_over_time && self.marks.iter().any(|mark| mark.above) {
            return Err("`above` is for marks of distributions.".to_owned());
        }
        Ok(())
    }
}

impl Mark {
    /// The area of the published number with these ends.
    pub(crate) fn area(&self, (least, most): (f64, f64)) -> Area {
        let ends = match self.above {
            true => (1.0 - most, 1.0 - least),
            false => (self.from + least, self.from + most),
        };
        match self.y {
            Some(y) => Area::Lower { ends, y },
            None => Area::Upright { ends, x: self.x.map(Along::ends) },
        }
    }
}

impl Along {
    fn ends(self) -> (f64, f64) {
        match self {
            Along::Place(place) => (place, place),
            Along::Span([from, to]) => (from, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str) -> Mark {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_published_number_is_on_either_axis() {
        let area = |text: &str| mark(text).area((0.25, 0.375));
        let upright = |ends, x| Area::Upright { ends, x };
        assert_eq!(area(""), upright((0.25, 0.375), None));
        assert_eq!(area("x = 2"), upright((0.25, 0.375), Some((2.0, 2.0))));
        assert_eq!(area("x = [2, 3.5]"), upright((0.25, 0.375), Some((2.0, 3.5))));
        let above = area("x = 2\nabove = true");
        assert_eq!(above, upright((0.625, 0.75), Some((2.0, 2.0))), "the rest is up to 2");
        let lower = Area::Lower { ends: (100.25, 100.375), y: 7.0 };
        assert_eq!(area("y = 7\nfrom = 100"), lower);
    }
}
