//! What a value's figure is along the sweep of its experiment: the curve that a paper's figure draws.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Point, Summary};
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::measure::{Measure, Over};

/// A figure along the sweep of its experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The varied key, whose values are numbers.
    pub key: String,
    /// At least two, in the order of the key's values.
    pub points: Vec<OnCurve>,
}

/// A figure at one value of the varied key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnCurve {
    /// The key's value.
    pub at: f64,
    /// The figure there.
    pub measured: f64,
    /// Its 95% interval over seeds.
    pub interval: Option<(f64, f64)>,
}

impl Measure {
    /// The figure along the first varied key that has numbers, in the unit of the published value. `None` where
    /// it is not a figure of single points, or where other keys differ between its points too.
    pub fn curve(&self, kind: Kind, summary: &Summary) -> Option<Curve> {
        let is_of_points = self.reach.is_none() && self.over != Some(Over::Mean);
        if !is_of_points || !self.baseline_at.is_empty() {
            return None;
        }
        let keys: Vec<String> = summary.points().first()?.keys().map(str::to_owned).collect();
        keys.into_iter().find_map(|key| self.curve_along(key, kind, summary))
    }

    /// Where on the key of its curve the value is: `None` if it is the least or the most of several points.
    pub fn place_on(&self, curve: &Curve) -> Option<f64> {
        match self.over {
            None => self.at.get(&curve.key)?.parse().ok(),
            Some(_) => None,
        }
    }

    fn curve_along(&self, key: String, kind: Kind, summary: &Summary) -> Option<Curve> {
        let mut elsewhere = self.clone();
        elsewhere.at.remove(&key);
        let mut rest: BTreeMap<Point, Vec<(f64, &Point)>> = BTreeMap::new();
        for point in summary.points().into_iter().filter(|point| elsewhere.is_at(point)) {
            let at = point.get(&key)?.parse().ok().filter(|at: &f64| at.is_finite())?;
            let mut others = point.clone();
            others.0.retain(|(other, _)| *other != key);
            rest.entry(others).or_default().push((at, point));
        }
        let mut lines = rest.into_values();
        let (Some(mut places), None) = (lines.next(), lines.next()) else { return None };
        places.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let on_curve = |(at, point): (f64, &Point)| {
            let found = self.at_points(kind, summary, &[point])?;
            let finite = found.figure.is_finite();
            finite.then_some(OnCurve { at, measured: found.figure, interval: found.interval })
        };
        let points: Vec<OnCurve> = places.into_iter().filter_map(on_curve).collect();
        (points.len() > 1).then_some(Curve { key, points })
    }
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::RunSummary;

    use super::*;

    /// Runs at three loads of two topologies, whose scheme `s` takes half of `t`'s time at the least load, a third
    /// at the next, a quarter at the last.
    fn runs() -> Summary {
        let mut runs = Vec::new();
        for hosts in ["4", "8"] {
            for (load, share) in [("0.5", 2.0), ("0.8", 4.0), ("0.65", 3.0)] {
                for (seed, took) in [(1, 60.0), (2, 90.0)] {
                    let point = [("load", load), ("hosts", hosts)];
                    let point = point.map(|(key, value)| (key.to_owned(), value.to_owned()));
                    let run = |scheme: &str, took: f64| RunSummary {
                        point: Point(point.to_vec()),
                        scheme: scheme.to_owned(),
                        seed,
                        complete: true,
                        simulated_us: Some(took),
                        ..RunSummary::default()
                    };
                    runs.extend([run("s", took / share), run("t", took)]);
                }
            }
        }
        Summary { runs, complete: true, ..Summary::default() }
    }

    fn measure(more: &str) -> Measure {
        let text =
            "experiment = \"e\"\nfigure = \"simulated_us\"\nscheme = \"s\"\nbaseline = \"t\"\n";
        toml::from_str(&format!("{text}{more}")).unwrap()
    }

    #[test]
    fn a_curve_has_the_other_values_of_its_key_in_order() {
        let measure = measure("at = { hosts = \"4\", load = \"0.8\" }");
        let curve = measure.curve(Kind::Reduction, &runs()).unwrap();
        assert_eq!((curve.key.as_str(), measure.place_on(&curve)), ("load", Some(0.8)));
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|one| (one.at, one.measured)).collect();
        let expected = [(0.5, 0.5), (0.65, 2.0 / 3.0), (0.8, 0.75)];
        for ((at, measured), (load, reduction)) in points.iter().zip(expected) {
            assert!(*at == load && (measured - reduction).abs() < 1e-12, "{points:?}");
        }
        assert_eq!(points.len(), 3);
    }

    #[test]
    fn the_least_of_a_curve_has_no_place_on_it() {
        let measure = measure("at = { hosts = \"4\" }\nover = \"least\"");
        let curve = measure.curve(Kind::Reduction, &runs()).unwrap();
        assert_eq!((curve.points.len(), measure.place_on(&curve)), (3, None));
    }

    #[test]
    fn there_is_no_curve_of_means_or_where_two_keys_vary() {
        assert_eq!(measure("over = \"least\"").curve(Kind::Reduction, &runs()), None);
        let mean = measure("at = { hosts = \"4\" }\nover = \"mean\"");
        assert_eq!(mean.curve(Kind::Reduction, &runs()), None);
    }
}
