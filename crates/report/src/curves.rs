//! Charts of curves: one panel, or several that share their axes.

use maud::{Markup, html};

use crate::datum::datum;
use crate::scale::Axis;
use crate::style::{AXIS, GRID, Look};
use crate::svg::{Anchor, curve, line, marker, px, stretchable_curve, text, upright_text, width};
use crate::ticks::{axis_title, level_ticks, whisker};

/// The width of curves over time, in the units of their own drawing. Coordinates of a tenth of a unit
/// are then fine enough for a zoom by 1,000.
const ZOOM_WIDTH: f64 = 100_000.0;
/// The width of a drawing of one panel.
const WIDTH: f64 = 300.0;
/// The height of a single panel.
const HEIGHT: f64 = 172.0;
/// Width and height of one of several panels.
const PANEL: (f64, f64) = (196.0, 124.0);
/// Space between panels.
const GAP: f64 = 16.0;
/// Height of a panel's title.
const TITLE: f64 = 18.0;
/// Space for half of the last number of an axis.
const RIGHT: f64 = 22.0;
/// Height of the horizontal axis's numbers and title.
const LABELS: f64 = 40.0;
/// The number of markers on a curve whose points are not all marked.
const MARKERS: usize = 4;

/// Curves over two axes.
pub(crate) struct Curves {
    pub x: Axis,
    pub y: Axis,
    pub panels: Vec<Panel>,
    /// Whether every point is marked. Otherwise some points are, to tell the curves apart.
    pub marked: bool,
    /// For how long values hold, if these are curves over time. The reader can zoom such curves along
    /// time.
    pub steps: Option<Steps>,
}

/// For how long the value of a point holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    UntilTheNext,
    SinceTheLast,
}

/// The curves for one combination of values of the keys that panels are for.
pub(crate) struct Panel {
    /// The panel's keys and their values.
    pub keys: Vec<(String, String)>,
    pub series: Vec<Series>,
}

/// One scheme's curve.
pub(crate) struct Series {
    pub scheme: String,
    /// The place of the scheme whose look the curve has.
    pub place: usize,
    pub points: Vec<Dot>,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub x: f64,
    pub y: f64,
    /// The 95% confidence interval over seeds, where there is one.
    pub whisker: Option<(f64, f64)>,
}

/// Where a panel lies in the drawing.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Curves {
    fn series(&self) -> impl Iterator<Item = &Series> {
        self.panels.iter().flat_map(|panel| &panel.series)
    }

    /// The confidence intervals of all points.
    pub fn whiskers(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series().flat_map(|series| &series.points).filter_map(|dot| dot.whisker)
    }

    /// The schemes' names and places.
    pub fn legend(&self) -> Vec<(String, usize)> {
        let mut legend: Vec<(String, usize)> = Vec::new();
        for series in self.series() {
            if !legend.iter().any(|(_, place)| *place == series.place) {
                legend.push((series.scheme.clone(), series.place));
            }
        }
        legend.sort_by_key(|(_, place)| *place);
        legend
    }

    fn columns(&self) -> usize {
        match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        }
    }

    /// Space for the vertical axis's numbers and title.
    fn left(&self) -> f64 {
        let labels = self.y.ticks(5).into_iter().map(|tick| width(&self.y.text(tick)));
        28.0 + labels.fold(0.0, f64::max)
    }

    /// The width of the drawing, in pixels.
    pub fn width(&self) -> f64 {
        let columns = self.columns() as f64;
        match self.panels.len() {
            0 | 1 => WIDTH,
            _ => self.left() + columns * PANEL.0 + (columns - 1.0) * GAP + RIGHT,
        }
    }

    fn area(&self, place: usize) -> Area {
        let (left, columns) = (self.left(), self.columns());
        if self.panels.len() == 1 {
            return Area { left, top: 4.0, width: WIDTH - left - RIGHT, height: HEIGHT };
        }
        let (column, row) = ((place % columns) as f64, (place / columns) as f64);
        Area {
            left: left + column * (PANEL.0 + GAP),
            top: TITLE + row * (PANEL.1 + TITLE + GAP),
            width: PANEL.0,
            height: PANEL.1,
        }
    }

    /// The height of the plot, and the plot.
    pub fn draw(&self) -> (f64, Markup) {
        let areas: Vec<Area> = (0..self.panels.len()).map(|place| self.area(place)).collect();
        let bottom = areas.iter().map(|area| area.top + area.height).fold(0.0, f64::max);
        let top = areas.first().map_or(0.0, |area| area.top);
        let right = areas.iter().map(|area| area.left + area.width).fold(0.0, f64::max);
        let columns = self.columns();
        let plot = html! {
            @for (place, (panel, area)) in self.panels.iter().zip(&areas).enumerate() {
                @if !panel.keys.is_empty() { (panel_title(panel, area)) }
                (self.level_axis(area, place + columns >= areas.len()))
                (self.upright_axis(area, place % columns == 0))
                @match self.steps {
                    Some(steps) => (self.zoomed(panel, area, steps)),
                    None => (self.panel(panel, area)),
                }
            }
            (axis_title(&self.x.title, self.left(), right, bottom + 29.0, self.width()))
            (upright_text(9.0, (top + bottom) / 2.0, &self.y.title))
        };
        (bottom + LABELS, plot)
    }

    fn level_axis(&self, area: &Area, labelled: bool) -> Markup {
        let bottom = area.top + area.height;
        html! {
            (line((area.left, bottom), (area.left + area.width, bottom), AXIS, 1.0))
            g data-ticks[self.steps.is_some()] {
                @for tick in level_ticks(&self.x, area.width) {
                    @let x = area.x(&self.x, tick);
                    (line((x, bottom), (x, bottom + 3.0), AXIS, 1.0))
                    @if labelled { (text(x, bottom + 11.0, Anchor::Middle, &self.x.text(tick))) }
                }
            }
        }
    }

    fn upright_axis(&self, area: &Area, labelled: bool) -> Markup {
        html! {
            @for tick in self.y.ticks(5) {
                @let y = area.y(&self.y, tick);
                (line((area.left, y), (area.left + area.width, y), GRID, 1.0))
                (line((area.left - 3.0, y), (area.left, y), AXIS, 1.0))
                @if labelled { (text(area.left - 6.0, y, Anchor::End, &self.y.text(tick))) }
            }
            (line((area.left, area.top), (area.left, area.top + area.height), AXIS, 1.0))
        }
    }

    /// The curves in a drawing of their own, of which the page's script shows a part.
    fn zoomed(&self, panel: &Panel, area: &Area, steps: Steps) -> Markup {
        let (from, to) = self.x.ends();
        let inside = Area { left: 0.0, top: 0.0, width: ZOOM_WIDTH, ..*area };
        html! {
            svg x=(px(area.left)) y=(px(area.top)) width=(px(area.width)) height=(px(area.height))
                viewBox={ "0 0 " (px(ZOOM_WIDTH)) " " (px(area.height)) } preserveAspectRatio="none"
                tabindex="0" data-from=(from) data-to=(to) {
                rect width=(px(ZOOM_WIDTH)) height=(px(area.height)) fill="none" pointer-events="all" {}
                @for series in &panel.series {
                    @let at = |dot: &Dot| (inside.x(&self.x, dot.x), inside.y(&self.y, dot.y));
                    @let places = series.points.iter().map(at).collect::<Vec<_>>();
                    (stretchable_curve(&corners(&places, steps), Look::at(series.place)))
                }
            }
        }
    }

    fn panel(&self, panel: &Panel, area: &Area) -> Markup {
        let schemes = self.legend().len() as f64;
        // Points with whiskers lie side by side, so that whiskers do not hide each other.
        let step = if self.whiskers().next().is_some() { (14.0 / schemes).min(4.0) } else { 0.0 };
        html! {
            @for (index, series) in panel.series.iter().enumerate() {
                @let aside = step * (index as f64 - (panel.series.len() as f64 - 1.0) / 2.0);
                @let look = Look::at(series.place);
                @let at = |dot: &Dot| (area.x(&self.x, dot.x) + aside, area.y(&self.y, dot.y));
                @let places = series.points.iter().map(at).collect::<Vec<_>>();
                @for dot in &series.points {
                    @if let Some(ends) = dot.whisker {
                        @let x = at(dot).0;
                        (whisker(&self.y, ends, look.colour, |v, across| (x + across, area.y(&self.y, v))))
                    }
                }
                (curve(&places, look))
                @for place in self.marks(&places, index) { (marker(look, place, 3.5)) }
            }
        }
    }

    /// The places of the markers of curve number `index`: all points, or a few points that differ from
    /// those of other curves.
    fn marks(&self, places: &[(f64, f64)], index: usize) -> Vec<(f64, f64)> {
        if self.marked {
            return places.to_vec();
        }
        let share = (index as f64 * 0.37).fract();
        let last = places.len().saturating_sub(1) as f64;
        let nth =
            |mark: usize| (last * (mark as f64 + 1.0 - share) / MARKERS as f64).round() as usize;
        let mut marks: Vec<usize> = (0..MARKERS).map(nth).collect();
        marks.dedup();
        marks.into_iter().filter_map(|mark| places.get(mark).copied()).collect()
    }

    /// The values as rows, below a heading.
    pub fn table(&self) -> Vec<Vec<String>> {
        let whiskers = self.whiskers().next().is_some();
        let keys = self.panels.first().map(|panel| panel.keys.as_slice()).unwrap_or_default();
        let mut heading: Vec<String> = keys.iter().map(|(key, _)| key.clone()).collect();
        heading.extend(["scheme".to_owned(), self.x.column.clone(), self.y.column.clone()]);
        if whiskers {
            heading.extend(["ci95_low".to_owned(), "ci95_high".to_owned()]);
        }
        let mut table = vec![heading];
        for panel in &self.panels {
            for series in &panel.series {
                for dot in &series.points {
                    let mut row: Vec<String> =
                        panel.keys.iter().map(|(_, value)| value.clone()).collect();
                    row.extend([series.scheme.clone(), self.x.datum(dot.x), datum(Some(dot.y))]);
                    if whiskers {
                        let (low, high) = dot.whisker.unzip();
                        row.extend([datum(low), datum(high)]);
                    }
                    table.push(row);
                }
            }
        }
        table
    }
}

impl Area {
    fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + self.width * axis.fraction(value)
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.top + self.height * (1.0 - axis.fraction(value))
    }
}

fn panel_title(panel: &Panel, area: &Area) -> Markup {
    // The last part of a key says what it is; the whole key is in the caption.
    let short = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let parts = panel.keys.iter().map(|(key, value)| format!("{} = {value}", short(key)));
    let title = parts.collect::<Vec<_>>().join(", ");
    let most = (area.width / width("n")) as usize;
    let title = crate::svg::name(&title, most);
    text(area.left + area.width / 2.0, area.top - TITLE / 2.0, Anchor::Middle, &title)
}

impl Dot {
    /// A point without a whisker.
    pub fn plain((x, y): (f64, f64)) -> Dot {
        Dot { x, y, whisker: None }
    }
}
/// The corners of a curve of steps.
pub(crate) fn corners(points: &[(f64, f64)], steps: Steps) -> Vec<(f64, f64)> {
    let mut corners = Vec::new();
    for pair in points.windows(2) {
        let [(x, y), (next_x, next_y)] = [pair[0], pair[1]];
        let corner = match steps {
            Steps::UntilTheNext => (next_x, y),
            Steps::SinceTheLast => (x, next_y),
        };
        corners.extend([(x, y), corner]);
    }
    corners.extend(points.last());
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_the_next_or_since_the_last() {
        let points = [(0.0, 1.0), (2.0, 5.0)];
        assert_eq!(corners(&points, Steps::UntilTheNext), [(0.0, 1.0), (2.0, 1.0), (2.0, 5.0)]);
        assert_eq!(corners(&points, Steps::SinceTheLast), [(0.0, 1.0), (0.0, 5.0), (2.0, 5.0)]);
    }
}
