//! Charts along a sweep: FCT, and its change against the first scheme.

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
use crate::sweep::{PanelOfSweep, Sweep};

impl<'a> Sweep<'a> {
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
        let curves = Curves { x: self.axis(), y, panels, marked: true, steps: None };
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
            sweep.caption(&format!("{} of {}", drawn.long, class_bounds(class)), "mean"),
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
