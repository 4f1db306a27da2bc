//! Figures along a sweep: the first varied key along the axis, one panel per value of the others.

use flowsched_experiment::results::{Point, Summary};

use super::{
    Drawn, NO_FLOWS, change_axis, class_bounds, class_noun, fct_figures, microseconds, over_seeds,
    quantity, reach,
};
use crate::chart::{Figure, Plot};
use crate::curves::{Curves, Dot, Panel, Series};
use crate::overview::{CLASSES, Row, against, rows};
use crate::scale::{Axis, Scale};
use crate::svg::name;

/// The most panels of a chart, so that it stays legible.
const MOST_PANELS: usize = 12;

/// The points of a sweep along an axis, in panels.
pub(crate) struct Sweep<'a> {
    /// The key along the axis.
    key: &'a str,
    /// Its values, in the order of the experiment.
    values: Vec<&'a str>,
    panels: Vec<PanelOfSweep<'a>>,
    /// How many panels all the points would need.
    all_panels: usize,
}

/// The points at which all keys but the first have the same values.
struct PanelOfSweep<'a> {
    keys: Vec<(&'a str, &'a str)>,
    points: Vec<&'a Point>,
}

impl<'a> Sweep<'a> {
    /// Of the results, if anything was varied. Keys with one value are left out.
    pub fn of(summary: &'a Summary) -> Option<Sweep<'a>> {
        let points = summary.points();
        let values = |key: &str| in_order(points.iter().filter_map(|point| point.get(key)));
        let varied: Vec<&str> =
            points.first()?.keys().filter(|key| values(key).len() > 1).collect();
        let (key, others) = varied.split_first()?;
        let keys = |point: &'a Point| -> Vec<(&'a str, &'a str)> {
            others.iter().filter_map(|key| Some((*key, point.get(key)?))).collect()
        };
        let combinations = in_order(points.iter().map(|point| keys(point)));
        let shown = crate::page::spread(combinations.len(), MOST_PANELS);
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

    /// The key along the axis.
    pub fn key(&self) -> &str {
        self.key
    }

    /// What panels are for, in words; nothing where there is one.
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
    fn numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &&str| value.parse().ok().filter(|value: &f64| value.is_finite());
        self.values.iter().map(number).collect()
    }

    /// Where along the axis the points of each value are.
    fn places(&self) -> Vec<f64> {
        self.numbers().unwrap_or_else(|| (0..self.values.len()).map(|p| p as f64).collect())
    }

    fn place(&self, point: &Point) -> Option<f64> {
        let index = self.values.iter().position(|value| point.get(self.key) == Some(value))?;
        self.places().get(index).copied()
    }

    fn axis(&self) -> Axis {
        let Some(numbers) = self.numbers() else {
            return Axis::of_names(self.key, self.values.iter().map(|v| (*v).to_owned()).collect());
        };
        let from = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let to = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let room = (to - from).max(f64::MIN_POSITIVE) * 0.05;
        let of = quantity(self.key, self.key, |value| value.to_string());
        let axis = Axis::between(of, Scale::Linear, (from - room, to + room));
        if numbers.len() <= 12 { axis.with_ticks(numbers) } else { axis }
    }

    /// The curves of every scheme in every panel, of values with their intervals over seeds.
    fn along(
        &self,
        summary: &'a Summary,
        value: impl Fn(&Row<'_>) -> Option<(f64, Option<(f64, f64)>)>,
    ) -> Vec<Panel> {
        let panel = |panel: &PanelOfSweep<'a>| {
            let at = |point: &&'a Point| Some((self.place(point)?, rows(summary, point)));
            let points: Vec<(f64, Vec<Row<'_>>)> = panel.points.iter().filter_map(at).collect();
            let dot = |scheme: &str, (x, rows): &(f64, Vec<Row<'_>>)| {
                let (y, whisker) = value(rows.iter().find(|row| row.scheme == scheme)?)?;
                Some(Dot { x: *x, y, whisker })
            };
            let series = |(place, scheme): (usize, &str)| Series {
                scheme: scheme.to_owned(),
                place,
                points: points.iter().filter_map(|at| dot(scheme, at)).collect(),
            };
            let all = summary.schemes().into_iter().enumerate().map(series);
            Panel {
                keys: panel.keys.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
                series: all.filter(|series| !series.points.is_empty()).collect(),
            }
        };
        self.panels.iter().map(panel).collect()
    }

    fn caption(&self, what: &str, mean: &str) -> String {
        let panels = self.panels_note().map(|note| format!(" {note}")).unwrap_or_default();
        format!("{what} against {}, {mean} over seeds.{panels}", self.key)
    }

    fn plotted(&self, y: Axis, panels: Vec<Panel>) -> Result<Plot, &'static str> {
        let is_empty = panels.iter().all(|panel| panel.series.is_empty());
        let curves = Curves { x: self.axis(), y, panels, marked: true };
        if is_empty { Err(NO_FLOWS) } else { Ok(Plot::Curves(curves)) }
    }
}

fn dots(panels: &[Panel]) -> impl Iterator<Item = &Dot> {
    panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points)
}

/// Mean, 99th and 99.9th percentile of FCT along a sweep, a chart per class.
pub(crate) fn fct<'a>(summary: &'a Summary, sweep: &Sweep<'a>) -> Vec<Figure> {
    let charts = fct_figures(summary).flat_map(|drawn| CLASSES.map(|class| (drawn, class)));
    let figure = |(drawn, class): (&Drawn, _)| {
        let panels = sweep
            .along(summary, |row| row.fct_us(class, drawn.figure).map(|of| (of.mean, of.interval)));
        let largest = dots(&panels).map(|dot| reach(dot.y, dot.whisker));
        let of = quantity(drawn.short, drawn.column, microseconds);
        let y = Axis::holding(of, Scale::Linear, largest);
        over_seeds(
            format!("{}, {}", drawn.short, class_noun(class)),
            None,
            sweep.caption(
                &format!("{} at the sender of {}", drawn.long, class_bounds(class)),
                "mean",
            ),
            sweep.plotted(y, panels),
        )
    };
    charts.map(figure).collect()
}

/// The change of mean FCT against the first scheme along a sweep, a chart per class.
pub(crate) fn changes<'a>(summary: &'a Summary, sweep: &Sweep<'a>) -> Vec<Figure> {
    let Some(first) = against(summary) else { return Vec::new() };
    let figure = |class| {
        let panels = sweep.along(summary, |row| {
            let comparison = row.comparison?.fct.get(class);
            let interval = comparison.mean.low.zip(comparison.mean.high);
            Some((comparison.mean.change?, interval.filter(|_| comparison.seeds > 1)))
        });
        let changes = dots(&panels).map(|dot| (dot.y, dot.whisker));
        let y = change_axis(&format!("Mean FCT against {}", name(first, 14)), changes);
        let what = format!(
            "Change of mean FCT of {} relative to {first}, same flows,",
            class_bounds(class)
        );
        over_seeds(
            format!("Change of mean FCT, {}", class_noun(class)),
            None,
            sweep.caption(&what, "geometric mean"),
            sweep.plotted(y, panels),
        )
    };
    CLASSES.into_iter().map(figure).collect()
}

/// Each value once, where it first appears.
fn in_order<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::RunSummary;

    use super::*;

    /// A study in which each key takes so many values.
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
        let sweep = Sweep::of(&summary).unwrap();
        assert_eq!((sweep.key(), sweep.panels.len()), ("load", 2));
        assert_eq!(sweep.panels[1].keys, [("hosts", "v1")]);
        assert_eq!(sweep.panels[1].points.len(), 3);
        let note = "One panel per value of hosts; all panels have the same axes.";
        assert_eq!(sweep.panels_note().as_deref(), Some(note));
    }

    #[test]
    fn more_keys_make_a_panel_per_combination_and_say_what_is_left_out() {
        let summary = study(&[("a", 2), ("b", 5), ("c", 5)]);
        let sweep = Sweep::of(&summary).unwrap();
        assert_eq!(sweep.panels.len(), MOST_PANELS);
        let note = "One panel per combination of b and c, 12 of 25 shown; all panels have the \
                    same axes.";
        assert_eq!(sweep.panels_note().as_deref(), Some(note));
    }

    #[test]
    fn one_key_needs_no_panels_and_one_point_no_sweep() {
        let summary = study(&[("load", 3)]);
        assert_eq!(Sweep::of(&summary).unwrap().panels_note(), None);
        assert!(Sweep::of(&study(&[("load", 1)])).is_none());
        assert!(Sweep::of(&study(&[])).is_none());
    }
}
