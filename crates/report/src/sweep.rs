//! The points of a sweep: the first varied key along an axis, one panel per value of the others.

use flowsched_experiment::results::{Point, Summary};

/// The most panels of a chart, so that it stays legible.
const MOST_PANELS: usize = 12;

/// The points of a sweep along an axis, in panels.
pub(crate) struct Sweep<'a> {
    /// The key along the axis.
    pub key: &'a str,
    /// Its values, in the order of the experiment.
    pub values: Vec<&'a str>,
    pub panels: Vec<PanelOfSweep<'a>>,
    /// How many panels all the points would need.
    all_panels: usize,
}

/// The points at which all keys but the first have the same values.
pub(crate) struct PanelOfSweep<'a> {
    pub keys: Vec<(&'a str, &'a str)>,
    pub points: Vec<&'a Point>,
}

impl<'a> Sweep<'a> {
    /// The sweep of the results, if anything was varied. Keys with one value are left out.
    pub fn from_summary(summary: &'a Summary) -> Option<Sweep<'a>> {
        let points = summary.points();
        let values = |key: &str| in_order(points.iter().filter_map(|point| point.get(key)));
        let varied: Vec<&str> =
            points.first()?.keys().filter(|key| values(key).len() > 1).collect();
        let (key, others) = varied.split_first()?;
        let keys = |point: &'a Point| -> Vec<(&'a str, &'a str)> {
            others.iter().filter_map(|key| Some((*key, point.get(key)?))).collect()
        };
        let combinations = in_order(points.iter().map(|point| keys(point)));
        let shown = spread(combinations.len(), MOST_PANELS);
        let panel = |place: usize| PanelOfSweep {
            keys: combinations[place].clone(),
            points: points.iter().copied().filter(|p| keys(p) == combinations[place]).collect(),
        };
        Some(Sweep {
            key,
            values: values(key),
            panels: shown.into_iter().map(panel).collect(),
            all_panels: combinations.len(),
        })
    }

    /// The keys that vary.
    pub fn keys(&self) -> String {
        let others = self.panels.iter().take(1).flat_map(|panel| &panel.keys).map(|(key, _)| *key);
        std::iter::once(self.key).chain(others).collect::<Vec<_>>().join(", ")
    }

    /// What the panels are for, in words; `None` if there is one panel for everything.
    pub fn panels_note(&self) -> Option<String> {
        let keys: Vec<&str> = self.panels.first()?.keys.iter().map(|(key, _)| *key).collect();
        let each = match keys.as_slice() {
            [] => return None,
            [key] => format!("One panel per value of {key}"),
            keys => format!("One panel per combination of {}", keys.join(" and ")),
        };
        let (shown, all) = (self.panels.len(), self.all_panels);
        let left_out =
            if shown < all { format!(", {shown} of {all} shown") } else { String::new() };
        Some(format!("{each}{left_out}; all panels have the same axes."))
    }

    /// The values as numbers, if all are.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &&str| value.parse().ok().filter(|value: &f64| value.is_finite());
        self.values.iter().map(number).collect()
    }

    /// The places of the values along the axis.
    fn places(&self) -> Vec<f64> {
        self.numbers().unwrap_or_else(|| (0..self.values.len()).map(|p| p as f64).collect())
    }

    /// The place of `point` along the axis.
    pub fn place(&self, point: &Point) -> Option<f64> {
        let index = self.values.iter().position(|value| point.get(self.key) == Some(value))?;
        self.places().get(index).copied()
    }
}

/// The values without repetitions, in the order in which they first appear.
fn in_order<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}

/// At most `most` of `count` places: all, or some from the first to the last.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|place| place * (count - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::RunSummary;

    use super::*;

    /// A study in which each key takes this many values.
    fn study(keys: &[(&str, usize)]) -> Summary {
        let mut points = vec![Vec::new()];
        for (key, count) in keys {
            let with = |point: &Vec<(String, String)>, value: usize| {
                let pair = ((*key).to_owned(), format!("v{value}"));
                point.iter().cloned().chain([pair]).collect()
            };
            points = points
                .iter()
                .flat_map(|p| (0..*count).map(|v| with(p, v)).collect::<Vec<_>>())
                .collect();
        }
        let run = |point| RunSummary { point: Point(point), ..RunSummary::default() };
        Summary { runs: points.into_iter().map(run).collect(), ..Summary::default() }
    }

    #[test]
    fn the_second_key_makes_panels() {
        let summary = study(&[("load", 3), ("fixed", 1), ("hosts", 2)]);
        let sweep = Sweep::from_summary(&summary).unwrap();
        assert_eq!((sweep.key, sweep.panels.len()), ("load", 2));
        assert_eq!(sweep.panels[1].keys, [("hosts", "v1")]);
        assert_eq!(sweep.panels[1].points.len(), 3);
        let note = "One panel per value of hosts; all panels have the same axes.";
        assert_eq!(sweep.panels_note().as_deref(), Some(note));
    }

    #[test]
    fn more_keys_make_a_panel_per_combination_and_say_what_is_left_out() {
        let summary = study(&[("a", 2), ("b", 5), ("c", 5)]);
        let sweep = Sweep::from_summary(&summary).unwrap();
        assert_eq!(sweep.panels.len(), MOST_PANELS);
        let note = "One panel per combination of b and c, 12 of 25 shown; all panels have the \
                    same axes.";
        assert_eq!(sweep.panels_note().as_deref(), Some(note));
    }

    #[test]
    fn one_key_needs_no_panels_and_one_point_no_sweep() {
        let summary = study(&[("load", 3)]);
        assert_eq!(Sweep::from_summary(&summary).unwrap().panels_note(), None);
        assert!(Sweep::from_summary(&study(&[("load", 1)])).is_none());
        assert!(Sweep::from_summary(&study(&[])).is_none());
    }
}
