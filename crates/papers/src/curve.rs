//! Curves: a figure along the sweep of its experiment, as a paper's figure draws it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use flowsched_experiment::results::{Point, Summary};
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::measure::{Measure, Over};

/// A figure along the sweep of its experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The scheme; empty if the figure compares two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scheme: String,
    /// The varied key; empty if there is only one point.
    pub key: String,
    /// The points, by the key's numbers. Texts follow numbers, in the order of the runs.
    pub points: Vec<OnCurve>,
}

/// A figure at one value of the varied key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnCurve {
    /// The key's value.
    pub at: At,
    /// The figure there.
    pub measured: f64,
    /// Its 95% interval over seeds.
    pub interval: Option<(f64, f64)>,
}

/// A value of a varied key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum At {
    /// A finite number.
    Number(f64),
    /// Any other value, as the experiment file has it.
    Text(String),
}

impl At {
    fn new(value: &str) -> At {
        let number = value.parse().ok().filter(|number: &f64| number.is_finite());
        number.map_or_else(|| At::Text(value.to_owned()), At::Number)
    }

    /// Orders numbers by size. Texts follow numbers and keep their order.
    fn in_order(&self, other: &At) -> Ordering {
        match (self, other) {
            (At::Number(a), At::Number(b)) => a.total_cmp(b),
            _ => self.number().is_none().cmp(&other.number().is_none()),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            At::Number(number) => Some(*number),
            At::Text(_) => None,
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Number(number) => write!(f, "{number}"),
            At::Text(text) => f.write_str(text),
        }
    }
}

impl Curve {
    /// The key's values, if all are numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.points.iter().map(|one| one.at.number()).collect()
    }
}

impl Measure {
    /// The figure along the first varied key that has numbers, in the unit of the published value. `None` if it is
    /// not a figure of single points, or if other keys differ between its points too.
    pub fn curve(&self, kind: Kind, summary: &Summary) -> Option<Curve> {
        let is_of_points =
            self.reach.is_none() && self.grows_along.is_none() && self.over != Some(Over::Mean);
        if !is_of_points || !self.baseline_at.is_empty() {
            return None;
        }
        self.curves(kind, summary).into_iter().find(|curve| curve.numbers().is_some())
    }

    /// The figure of each of the two schemes along a varied key, preferably one with numbers, or at the only
    /// point. Empty if nothing is compared, or if other keys differ between the points too.
    pub fn curves_of_schemes(&self, kind: Kind, summary: &Summary) -> Vec<Curve> {
        if self.baseline.is_none() {
            return Vec::new();
        }
        let alone =
            Measure { reach: None, over: None, baseline: None, grows_along: None, ..self.clone() };
        let of_scheme = |scheme: &str| {
            let measure = Measure { scheme: scheme.to_owned(), ..alone.clone() };
            let curves = measure.curves(kind, summary);
            let first = curves.iter().find(|curve| curve.numbers().is_some()).or(curves.first());
            let curve = first.cloned().or_else(|| measure.only_point(kind, summary))?;
            Some(Curve { scheme: measure.scheme, ..curve })
        };
        self.schemes().into_iter().filter_map(of_scheme).collect()
    }

    /// The value's place on the key of its curve; `None` if the value is taken over several points, or if `at` has
    /// no single number for the key.
    pub fn place_on(&self, curve: &Curve) -> Option<f64> {
        match self.over {
            None => self.at.get(&curve.key)?.parse().ok(),
            Some(_) => None,
        }
    }

    /// The figure along each varied key.
    fn curves(&self, kind: Kind, summary: &Summary) -> Vec<Curve> {
        let points = summary.points();
        let keys = points.first().into_iter().flat_map(|point| point.keys());
        keys.filter_map(|key| self.curve_along(key, kind, summary)).collect()
    }

    fn curve_along(&self, key: &str, kind: Kind, summary: &Summary) -> Option<Curve> {
        let mut elsewhere = self.clone();
        elsewhere.at.remove(key);
        let mut rest: BTreeMap<Point, Vec<(At, &Point)>> = BTreeMap::new();
        for point in summary.points().into_iter().filter(|point| elsewhere.is_at(point)) {
            let at = At::new(point.get(key)?);
            let mut others = point.clone();
            others.0.retain(|(other, _)| other != key);
            rest.entry(others).or_default().push((at, point));
        }
        let mut lines = rest.into_values();
        let (Some(places), None) = (lines.next(), lines.next()) else { return None };
        let on_curve = |(at, point)| self.on_curve(at, point, kind, summary);
        let mut points: Vec<OnCurve> = places.into_iter().filter_map(on_curve).collect();
        points.sort_by(|a, b| a.at.in_order(&b.at));
        let is_curve = points.len() > 1;
        is_curve.then(|| Curve { scheme: String::new(), key: key.to_owned(), points })
    }

    fn only_point(&self, kind: Kind, summary: &Summary) -> Option<Curve> {
        let mut points = summary.points().into_iter().filter(|point| self.is_at(point));
        let (Some(only), None) = (points.next(), points.next()) else { return None };
        let point = self.on_curve(At::Text(String::new()), only, kind, summary)?;
        Some(Curve { scheme: String::new(), key: String::new(), points: vec![point] })
    }

    fn on_curve(&self, at: At, point: &Point, kind: Kind, summary: &Summary) -> Option<OnCurve> {
        let found = self.at_points(kind, summary, &[point])?;
        let (measured, interval) = (found.figure, found.interval);
        measured.is_finite().then_some(OnCurve { at, measured, interval })
    }
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::RunSummary;

    use super::*;

    /// Runs at three loads on two topologies. Scheme `s` takes half of `t`'s time at the lowest load, a third at
    /// the next, and a quarter at the highest.
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
            curve.points.iter().map(|one| (one.at.number().unwrap(), one.measured)).collect();
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

    #[test]
    fn each_compared_scheme_has_a_curve() {
        let measure = measure("at = { hosts = \"4\", load = \"0.8\" }\nover = \"mean\"");
        let curves = measure.curves_of_schemes(Kind::Order, &runs());
        let schemes: Vec<&str> = curves.iter().map(|curve| curve.scheme.as_str()).collect();
        assert_eq!(schemes, ["s", "t"]);
        let measured: Vec<f64> = curves[0].points.iter().map(|one| one.measured).collect();
        assert_eq!(
            (curves[0].numbers(), measured),
            (Some(vec![0.5, 0.65, 0.8]), vec![37.5, 25.0, 18.75])
        );
        assert!(curves[1].points.iter().all(|one| one.measured == 75.0 && one.interval.is_some()));
    }

    #[test]
    fn a_key_of_texts_keeps_the_order_of_the_runs() {
        let mut runs = runs();
        runs.runs.retain(|run| run.point.get("hosts") == Some("4"));
        for (key, value) in runs.runs.iter_mut().flat_map(|run| &mut run.point.0) {
            if key == "load" {
                *value = format!("load {value}");
            }
        }
        let curves = measure("over = \"most\"").curves_of_schemes(Kind::Order, &runs);
        let texts = ["load 0.5", "load 0.8", "load 0.65"].map(|text| At::Text(text.to_owned()));
        let places: Vec<&At> = curves[0].points.iter().map(|one| &one.at).collect();
        assert_eq!(places, texts.iter().collect::<Vec<_>>());
        assert_eq!(measure("over = \"most\"").curve(Kind::Reduction, &runs), None);
    }

    #[test]
    fn without_a_sweep_a_scheme_has_one_point() {
        let mut runs = runs();
        runs.runs.retain(|run| run.point.0[0].1 == "0.5" && run.point.0[1].1 == "4");
        let curves = measure("").curves_of_schemes(Kind::Order, &runs);
        let found =
            curves.iter().map(|one| (one.key.as_str(), one.points.len(), one.points[0].measured));
        assert_eq!(found.collect::<Vec<_>>(), [("", 1, 37.5), ("", 1, 75.0)]);
        assert_eq!(
            Measure { baseline: None, ..measure("") }.curves_of_schemes(Kind::Value, &runs),
            []
        );
    }
}
