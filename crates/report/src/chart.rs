//! Drawing: axes, lines and bars as SVG.
//!
//! Nothing here has a colour of its own. Whatever is drawn carries a stand-in colour, a blue
//! that only differs in its last digits, and the page's style sheet puts the colours of the
//! reader's scheme in its place: `#000001` and on for the schemes, and those of [`TEXT`],
//! [`GRID`] and [`AXIS`].

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::ReportError;
use crate::scale::Axis;

/// The stand-in colour of text.
const TEXT: RGBColor = RGBColor(1, 0, 0);
/// That of grid lines.
const GRID: RGBColor = RGBColor(2, 0, 0);
/// That of axes and whiskers.
const AXIS: RGBColor = RGBColor(3, 0, 0);

/// How many units of the drawing one pixel of the page has: the library places everything at
/// whole units, which would make curves of whole pixels ragged.
const FINE: i32 = 4;
const WIDTH: u32 = 300;
const HEIGHT: u32 = 220;
/// Height of a row of bars.
const ROW: u32 = 28;
/// Space for the figures beside the bars.
const FIGURES: u32 = 62;
/// Space for half of the last number of an axis.
const RIGHT: u32 = 22;
/// Height of the text, in pixels.
const TEXT_HEIGHT: f64 = 11.5;
/// Width of one of its letters, about.
const LETTER: f64 = 6.8;
/// Height of the axis's numbers and title.
const LABELS: u32 = 40;

/// One curve.
pub(crate) struct Series {
    /// Which scheme's colour it has.
    pub colour: usize,
    pub points: Vec<(f64, f64)>,
    /// The ends of each point's whisker, where there are any.
    pub whiskers: Vec<(f64, f64, f64)>,
    /// Whether the points themselves are marked.
    pub marked: bool,
}

/// One row of a bar chart.
pub(crate) struct Bar {
    pub name: String,
    /// Which scheme's colour it has.
    pub colour: usize,
    pub value: f64,
    /// The ends of its whisker, where there is one.
    pub whisker: Option<(f64, f64)>,
    /// The figure beside it.
    pub figure: String,
}

fn fine(pixels: u32) -> u32 {
    pixels * FINE as u32
}

fn font(colour: RGBColor) -> TextStyle<'static> {
    // The library takes a size that it divides by 1.24 in SVG.
    ("sans-serif", TEXT_HEIGHT * 1.24 * f64::from(FINE)).into_font().color(&colour)
}

fn line(colour: RGBColor, pixels: f64) -> ShapeStyle {
    let stroke_width = (pixels * f64::from(FINE)).round() as u32;
    ShapeStyle { color: colour.into(), filled: false, stroke_width }
}

fn scheme_colour(index: usize) -> RGBColor {
    RGBColor(0, 0, (index % 255) as u8 + 1)
}

/// Curves over two axes.
pub(crate) fn curves(
    label: &str,
    x: &Axis,
    y: &Axis,
    all: &[Series],
) -> Result<String, ReportError> {
    let widest = y.ticks(5).iter().map(|tick| y.text(*tick).chars().count()).max().unwrap_or(0);
    let left = 28 + (LETTER * widest as f64) as u32;
    drawing(label, (WIDTH, HEIGHT), |area| {
        let mut chart = ChartBuilder::on(&area)
            .margin_top(fine(8))
            .margin_right(fine(RIGHT))
            .x_label_area_size(fine(LABELS))
            .y_label_area_size(fine(left))
            .build_cartesian_2d(level(x, WIDTH - left - RIGHT), upright(y))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(line(GRID, 1.0))
            .max_light_lines(0)
            .axis_style(line(AXIS, 1.0))
            .label_style(font(TEXT))
            .axis_desc_style(font(TEXT))
            .set_all_tick_mark_size(fine(3))
            .x_desc(x.title.as_str())
            .y_desc(y.title.as_str())
            .draw()?;
        for series in all {
            let colour = scheme_colour(series.colour);
            let whisker = |(at, low, high): &(f64, f64, f64)| {
                PathElement::new([(*at, *low), (*at, *high)], line(colour, 1.0))
            };
            chart.draw_series(series.whiskers.iter().map(whisker))?;
            let points = || series.points.iter().copied();
            chart.draw_series(LineSeries::new(points(), line(colour, 1.75)))?;
            if series.marked {
                let mark = |point| Circle::new(point, fine(3), colour.filled());
                chart.draw_series(points().map(mark))?;
            }
        }
        Ok(())
    })
}

/// A row for each scheme: a bar from zero, or a dot where the sign matters, with a whisker and
/// the figure.
pub(crate) fn bars(label: &str, x: &Axis, rows: &[Bar], dots: bool) -> Result<String, ReportError> {
    let widest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let left = 14 + (LETTER * widest as f64) as u32;
    let y = Axis::of_names("", rows.iter().rev().map(|row| row.name.clone()).collect());
    let height = rows.len() as u32 * ROW + LABELS + 8;
    drawing(label, (WIDTH, height), |area| {
        let mut chart = ChartBuilder::on(&area)
            .margin_top(fine(8))
            .margin_right(fine(FIGURES))
            .x_label_area_size(fine(LABELS))
            .y_label_area_size(fine(left))
            .build_cartesian_2d(level(x, WIDTH - left - FIGURES), upright(&y))?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(line(GRID, 1.0))
            .max_light_lines(0)
            .axis_style(line(AXIS, 1.0))
            .label_style(font(TEXT))
            .axis_desc_style(font(TEXT))
            .set_all_tick_mark_size(fine(3))
            .x_desc(x.title.as_str())
            .draw()?;
        for (place, row) in rows.iter().rev().enumerate() {
            let (colour, y) = (scheme_colour(row.colour), place as f64);
            let value = (row.value, y);
            if dots {
                chart.draw_series([Circle::new(value, fine(4), colour.filled())])?;
            } else {
                let corners = [(0.0, y - 0.3), (row.value, y + 0.3)];
                chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            }
            if let Some((low, high)) = row.whisker {
                let ends = [(low, y), (high, y)];
                let colour = if dots { colour } else { TEXT };
                chart.draw_series([PathElement::new(ends, line(colour, 1.25))])?;
            }
            let (_, middle) = chart.backend_coord(&value);
            let style = font(TEXT).pos(Pos::new(HPos::Right, VPos::Center));
            let right = fine(WIDTH) as i32 - 4 * FINE;
            area.draw(&Text::new(row.figure.clone(), (right, middle), style))?;
        }
        if dots {
            let (bottom, top) = y.ends();
            let zero = [(0.0, bottom), (0.0, top)];
            chart.draw_series([PathElement::new(zero, line(AXIS, 1.0))])?;
        }
        Ok(())
    })
}

/// An axis with its ticks, as the library wants it.
struct Coordinates<'a> {
    axis: &'a Axis,
    ticks: Vec<f64>,
}

/// A vertical axis.
fn upright(axis: &Axis) -> Coordinates<'_> {
    Coordinates { axis, ticks: axis.ticks(5) }
}

/// A horizontal axis of so many pixels, with as many ticks as have room for their texts.
fn level(axis: &Axis, pixels: u32) -> Coordinates<'_> {
    let width = |tick: f64| LETTER * axis.text(tick).chars().count() as f64 + 8.0;
    let place = |tick: f64| axis.fraction(tick) * f64::from(pixels);
    let apart =
        |pair: &[f64]| place(pair[1]) - place(pair[0]) >= (width(pair[0]) + width(pair[1])) / 2.0;
    let fit = |ticks: &Vec<f64>| ticks.windows(2).all(apart);
    let round = (2..=6).rev().map(|most| axis.ticks(most)).find(fit);
    let every = |step| axis.ticks(6).into_iter().step_by(step).collect();
    let ticks = round.or_else(|| (2..=64).map(every).find(fit));
    Coordinates { axis, ticks: ticks.unwrap_or_default() }
}

impl Ranged for Coordinates<'_> {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        start + (self.axis.fraction(*value) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        let (from, to) = self.axis.ends();
        from..to
    }
}

impl ValueFormatter<f64> for Coordinates<'_> {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.axis.text(*value)
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// Sets up a drawing of `size` pixels that screen readers call `label`.
fn drawing(
    label: &str,
    size: (u32, u32),
    draw: impl FnOnce(Area<'_>) -> Result<(), DrawError>,
) -> Result<String, ReportError> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (fine(size.0), fine(size.1))).into_drawing_area();
    draw(area).map_err(|error| ReportError::Draw(error.to_string()))?;
    // The library opens with its own size in pixels; the page scales by the view box.
    let body = svg.split_once('>').map(|(_, body)| body).unwrap_or_default();
    let (width, height) = (fine(size.0), fine(size.1));
    let opening = maud::html! {
        svg role="img" aria-label=(label) viewBox={"0 0 " (width) " " (height)}
            xmlns="http://www.w3.org/2000/svg" {}
    };
    let opening = opening.into_string().replace("</svg>", "");
    Ok(opening + body)
}
