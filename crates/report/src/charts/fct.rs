//! FCT at one point: bars by size class, and the change against the first scheme.

use flowsched_experiment::results::{Point, SizeClass, Summary};

use super::{
    Drawn, NO_FLOWS, change_axis, class_bounds, class_noun, fct_figures, microseconds, over_seeds,
    quantity, reach,
};
use crate::bars::{Bar, Bars};
use crate::chart::{Figure, Plot};
use crate::format::{change, duration};
use crate::overview::{CLASSES, Row, against, rows};
use crate::scale::{Axis, Scale};
use crate::svg::name;

/// Mean, 99th and 99.9th percentile of FCT at one point, a chart per class.
pub(crate) fn bars(summary: &Summary, point: &Point) -> Vec<Figure> {
    let charts = fct_figures(summary).flat_map(|drawn| CLASSES.map(|class| (drawn, class)));
    charts.map(|(drawn, class)| fct(summary, point, drawn, class)).collect()
}

fn fct(summary: &Summary, point: &Point, drawn: &Drawn, class: Option<SizeClass>) -> Figure {
    let bar = |row: &Row<'_>| {
        let of = row.fct_us(class, drawn.figure)?;
        Some(Bar {
            scheme: row.scheme.to_owned(),
            place: place(summary, row.scheme),
            value: of.mean,
            whisker: of.interval,
            extremes: None,
            figure: duration(of.mean),
        })
    };
    let all: Vec<Bar> = rows(summary, point).iter().filter_map(bar).collect();
    let largest = all.iter().map(|bar| reach(bar.value, bar.whisker));
    let of = quantity(drawn.short, drawn.column, microseconds);
    let x = Axis::holding(of, Scale::Linear, largest);
    over_seeds(
        format!("{}, {}", drawn.short, class_noun(class)),
        Some(point),
        format!("{} of {}, mean over seeds.", drawn.long, class_bounds(class)),
        plotted(x, all, false),
    )
}

/// The change of mean FCT against the first scheme at one point, a chart per class.
pub(crate) fn changes(summary: &Summary, point: &Point) -> Vec<Figure> {
    let Some(first) = against(summary) else { return Vec::new() };
    let figure = |class| {
        let bar = |row: &Row<'_>| {
            let comparison = row.comparison?.fct.get(class);
            let value = comparison.mean.change?;
            let over_seeds = comparison.seeds > 1;
            Some(Bar {
                scheme: row.scheme.to_owned(),
                place: place(summary, row.scheme),
                value,
                whisker: comparison.mean.low.zip(comparison.mean.high).filter(|_| over_seeds),
                extremes: None,
                figure: change(value),
            })
        };
        let all: Vec<Bar> = rows(summary, point).iter().filter_map(bar).collect();
        let against = format!("Mean FCT against {}", name(first, 14));
        let x = change_axis(&against, all.iter().map(|bar| (bar.value, bar.whisker)));
        over_seeds(
            format!("Change of mean FCT, {}", class_noun(class)),
            Some(point),
            format!(
                "Change of mean FCT of {} against {first}, same flows, geometric mean over seeds.",
                class_bounds(class)
            ),
            plotted(x, all, true),
        )
    };
    CLASSES.into_iter().map(figure).collect()
}

fn plotted(x: Axis, rows: Vec<Bar>, signed: bool) -> Result<Plot, &'static str> {
    if rows.is_empty() { Err(NO_FLOWS) } else { Ok(Plot::Bars(Bars { x, rows, signed })) }
}

fn place(summary: &Summary, scheme: &str) -> usize {
    summary.schemes().iter().position(|name| *name == scheme).unwrap_or(0)
}
