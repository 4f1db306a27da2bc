//! Distributions over the flows of one point: of FCT, of slowdown, and slowdown by flow size.

use flowsched_experiment::results::{PerClass, Point, SizeClass, Summary};

use super::{
    NO_FLOWS, Named, at, bytes, class_bounds, class_noun, context, microseconds, percent, quantity,
    small_share, times,
};
use crate::chart::{Figure, Plot};
use crate::curves::{Curves, Dot, Panel, Series};
use crate::gathered::{ByScheme, Gathered};
use crate::histogram::Histogram;
use crate::overview::CLASSES;
use crate::scale::{Axis, Quantity, Scale};

/// Titles, percentiles in thousandths, and the least number of flows of one size that a percentile
/// needs: this many flows leave at least one beyond it.
const BY_SIZE: [(&str, u64, u64); 3] =
    [("Median slowdown", 500, 20), ("p99 slowdown", 990, 100), ("p99.9 slowdown", 999, 1000)];

/// The quantity that a distribution shows.
struct Measure {
    noun: &'static str,
    about: &'static str,
    of: fn(&Gathered) -> &PerClass<Histogram>,
    axis: fn() -> Quantity,
}

const FCT: Measure = Measure {
    noun: "FCT",
    about: "FCT",
    of: |gathered| &gathered.flows.fct_us,
    axis: || quantity("FCT", "fct_us", microseconds),
};

const SLOWDOWN: Measure = Measure {
    noun: "slowdown",
    about: "slowdown, FCT over ideal FCT,",
    of: |gathered| &gathered.flows.slowdown,
    axis: || quantity("Slowdown", "slowdown", times),
};

/// The distribution of FCT at one point, a chart per class.
pub(crate) fn fct(summary: &Summary, gathered: &ByScheme, point: &Point) -> Vec<Figure> {
    let schemes = at(summary, gathered, point);
    CLASSES.map(|class| cumulative(&schemes, point, class)).into()
}

fn cumulative(schemes: &[Named<'_>], point: &Point, class: Option<SizeClass>) -> Figure {
    let curves = of_class(schemes, &FCT, class, Histogram::cumulative);
    let x = Axis::holding((FCT.axis)(), Scale::Log, abscissas(&curves));
    let shares = quantity("Share of flows", "share_of_flows", percent);
    let y = Axis::between(shares, Scale::Linear, (0.0, 1.0));
    Figure {
        title: format!("Distribution of FCT, {}", class_noun(class)),
        context: context(Some(point)),
        caption: format!(
            "Share of {} whose FCT is at most the time (logarithmic axis).",
            class_bounds(class)
        ),
        plot: plotted(x, y, curves, false, NO_FLOWS),
    }
}

/// The tail of FCT at one point, a chart per class.
pub(crate) fn fct_tails(summary: &Summary, gathered: &ByScheme, point: &Point) -> Vec<Figure> {
    tails(summary, gathered, point, &FCT)
}

/// The tail of slowdown at one point, a chart per class.
pub(crate) fn slowdown_tails(summary: &Summary, gathered: &ByScheme, point: &Point) -> Vec<Figure> {
    tails(summary, gathered, point, &SLOWDOWN)
}

fn tails(summary: &Summary, gathered: &ByScheme, point: &Point, measure: &Measure) -> Vec<Figure> {
    let schemes = at(summary, gathered, point);
    CLASSES.map(|class| tail(&schemes, point, measure, class)).into()
}

fn tail(
    schemes: &[Named<'_>],
    point: &Point,
    measure: &Measure,
    class: Option<SizeClass>,
) -> Figure {
    let curves = of_class(schemes, measure, class, Histogram::exceeding);
    let x = Axis::holding((measure.axis)(), Scale::Log, abscissas(&curves));
    let lowest = curves.iter().flat_map(|(_, points)| points).map(|point| point.1);
    let lowest = lowest.fold(0.1, f64::min) / 1.3;
    let shares = quantity("Share of flows", "share_of_flows_above", small_share);
    let y = Axis::between(shares, Scale::Log, (lowest, 1.0));
    Figure {
        title: format!("Tail of {}, {}", measure.noun, class_noun(class)),
        context: context(Some(point)),
        caption: format!(
            "Share of {} whose {} exceeds the value (both axes logarithmic).",
            class_bounds(class),
            measure.about
        ),
        plot: plotted(x, y, curves, false, NO_FLOWS),
    }
}

/// Slowdown by flow size at one point: median, 99th and 99.9th percentile.
pub(crate) fn slowdown_by_size(
    summary: &Summary,
    gathered: &ByScheme,
    point: &Point,
) -> Vec<Figure> {
    let schemes = at(summary, gathered, point);
    let figure = |(what, per_mille, fewest)| {
        let curve = |gathered: &Gathered| -> Vec<(f64, f64)> {
            let bins = gathered.flows.slowdown_by_size();
            let enough = bins.filter(|(_, slowdowns)| slowdowns.count() >= fewest);
            enough.filter_map(|(size, all)| Some((size, all.percentile(per_mille)?))).collect()
        };
        let curves: Curved<'_> =
            schemes.iter().map(|named| (*named, curve(named.2))).filter(has_points).collect();
        let x = Axis::holding(
            quantity("Flow size", "size_bytes", bytes),
            Scale::Log,
            abscissas(&curves),
        );
        let values = curves.iter().flat_map(|(_, points)| points).map(|point| point.1).chain([1.0]);
        let y = Axis::holding(quantity("Slowdown", "slowdown", times), Scale::Log, values);
        Figure {
            title: format!("{what} by flow size"),
            context: context(Some(point)),
            caption: format!(
                "{what} (FCT over ideal FCT) against flow size, for sizes of at least {fewest} \
                 flows; both axes are logarithmic. Percentiles are within 1.2%."
            ),
            plot: plotted(x, y, curves, true, "Too few flows of one size finished."),
        }
    };
    BY_SIZE.map(figure).into()
}

/// Schemes with the points of their curves.
type Curved<'a> = Vec<(Named<'a>, Vec<(f64, f64)>)>;

fn of_class<'a>(
    schemes: &[Named<'a>],
    measure: &Measure,
    class: Option<SizeClass>,
    points: fn(&Histogram) -> Vec<(f64, f64)>,
) -> Curved<'a> {
    let curve = |named: &Named<'a>| (*named, points((measure.of)(named.2).get(class)));
    schemes.iter().map(curve).filter(has_points).collect()
}

fn has_points(curve: &(Named<'_>, Vec<(f64, f64)>)) -> bool {
    !curve.1.is_empty()
}

fn abscissas<'a>(curves: &'a Curved<'_>) -> impl Iterator<Item = f64> + use<'a> {
    curves.iter().flat_map(|(_, points)| points).map(|point| point.0)
}

/// One panel of these curves.
pub(super) fn plotted(
    x: Axis,
    y: Axis,
    curves: Curved<'_>,
    marked: bool,
    empty: &'static str,
) -> Result<Plot, &'static str> {
    if curves.is_empty() {
        return Err(empty);
    }
    let series = |((place, scheme, _), points): (Named<'_>, Vec<(f64, f64)>)| Series {
        scheme: scheme.to_owned(),
        place,
        points: x.thinned(&y, points).into_iter().map(Dot::plain).collect(),
    };
    let series = curves.into_iter().map(series).collect();
    let panels = vec![Panel { keys: Vec::new(), series }];
    Ok(Plot::Curves(Curves { x, y, panels, marked, steps: None }))
}
