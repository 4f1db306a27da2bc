//! Bar charts, with one row per scheme.

use maud::{Markup, html};

use crate::datum::datum;
use crate::scale::Axis;
use crate::style::{AXIS, GRID, Look, PAPER, TEXT};
use crate::svg::{Anchor, line, marker, name, px, text, width};
use crate::ticks::{axis_title, level_ticks, whisker};

/// Height of a row.
const ROW: f64 = 28.0;
/// Space for the figures beside the bars.
const FIGURES: f64 = 66.0;
/// Height of the axis's numbers and title.
const LABELS: f64 = 40.0;
/// The longest name of a scheme, in letters.
const NAME: usize = 14;

/// Bars over one axis, with one row per scheme.
pub(crate) struct Bars {
    pub x: Axis,
    pub rows: Vec<Bar>,
    /// Whether values are marked at their place, for quantities that may be negative. Otherwise
    /// bars start at zero.
    pub signed: bool,
}

/// One row.
pub(crate) struct Bar {
    pub scheme: String,
    /// The place of the scheme whose look the bar has.
    pub place: usize,
    pub value: f64,
    /// The 95% confidence interval over seeds, where there is one.
    pub whisker: Option<(f64, f64)>,
    /// The least and the largest of the values that `value` is the mean of, where they are shown.
    pub extremes: Option<(f64, f64)>,
    /// The figure beside the bar.
    pub figure: String,
}

impl Bars {
    /// The width of the drawing, in pixels.
    pub const WIDTH: f64 = 300.0;

    /// The height of the plot, and the plot.
    pub fn draw(&self) -> (f64, Markup) {
        let names = self.rows.iter().map(|row| width(&name(&row.scheme, NAME)));
        let left = 14.0 + names.fold(0.0, f64::max);
        let span = Bars::WIDTH - left - FIGURES;
        let bottom = ROW * self.rows.len() as f64;
        let at = |value: f64| left + span * self.x.fraction(value);
        let plot = html! {
            @for tick in level_ticks(&self.x, span) {
                (line((at(tick), 0.0), (at(tick), bottom), GRID, 1.0))
                (line((at(tick), bottom), (at(tick), bottom + 3.0), AXIS, 1.0))
                (text(at(tick), bottom + 11.0, Anchor::Middle, &self.x.text(tick)))
            }
            (line((left, bottom), (left + span, bottom), AXIS, 1.0))
            @if self.signed { (line((at(0.0), 0.0), (at(0.0), bottom), AXIS, 1.0)) }
            @for (place, row) in self.rows.iter().enumerate() {
                (self.row(row, ROW * (place as f64 + 0.5), left, &at))
            }
            @if !self.signed { (line((left, 0.0), (left, bottom), AXIS, 1.0)) }
            (axis_title(&self.x.title, left, left + span, bottom + 29.0, Bars::WIDTH))
        };
        (bottom + LABELS, plot)
    }

    fn row(&self, row: &Bar, y: f64, left: f64, at: &impl Fn(f64) -> f64) -> Markup {
        let look = Look::at(row.place);
        let colour = if self.signed { look.colour } else { TEXT };
        html! {
            (text(left - 6.0, y, Anchor::End, &name(&row.scheme, NAME)))
            @if self.signed {
                (marker(look, (at(row.value), y), 4.0))
            } @else {
                rect x=(px(at(0.0))) y=(px(y - 0.3 * ROW)) width=(px(at(row.value) - at(0.0)))
                    height=(px(0.6 * ROW)) fill=(look.colour) {}
            }
            @if let Some(ends) = row.whisker {
                (whisker(&self.x, ends, colour, |value, across| (at(value), y + across)))
            }
            @if let Some((least, most)) = row.extremes {
                @for value in [least, most] {
                    circle cx=(px(at(value))) cy=(px(y)) r="3" fill=(PAPER) stroke=(TEXT)
                        stroke-width="1.25" {}
                }
            }
            (text(Bars::WIDTH - 4.0, y, Anchor::End, &row.figure))
        }
    }

    /// The values as rows, below a heading.
    pub fn table(&self) -> Vec<Vec<String>> {
        let extremes = self.rows.iter().any(|row| row.extremes.is_some());
        let mut heading =
            vec!["scheme".to_owned(), self.x.column.clone(), "ci95_low".into(), "ci95_high".into()];
        if extremes {
            heading.extend(["least".to_owned(), "most".to_owned()]);
        }
        let row = |row: &Bar| {
            let ends = |ends: Option<(f64, f64)>| {
                [datum(ends.map(|ends| ends.0)), datum(ends.map(|ends| ends.1))]
            };
            let mut cells = vec![row.scheme.clone(), datum(Some(row.value))];
            cells.extend(ends(row.whisker));
            if extremes {
                cells.extend(ends(row.extremes));
            }
            cells
        };
        std::iter::once(heading).chain(self.rows.iter().map(row)).collect()
    }
}
