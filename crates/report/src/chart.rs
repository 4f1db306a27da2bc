//! A chart: what it shows, as a drawing and as data.
//!
//! Drawing and data come from the same values, so what is saved is what is seen.

use crate::bars::Bars;
use crate::curves::Curves;
use crate::error::ReportError;
use crate::svg::{Frame, drawing};

/// A plot: curves or bars.
pub(crate) enum Plot {
    Curves(Curves),
    Bars(Bars),
}

/// A chart, or why there is none.
pub(crate) struct Figure {
    pub title: String,
    /// The point of the sweep that the chart shows; empty if it shows all points.
    pub context: String,
    /// What is plotted and what its marks mean.
    pub caption: String,
    pub plot: Result<Plot, &'static str>,
}

impl Plot {
    /// The drawing, which needs nothing around it.
    pub fn svg(&self, figure: &Figure) -> String {
        let frame = |legend| Frame {
            title: &figure.title,
            context: &figure.context,
            caption: &figure.caption,
            legend,
        };
        match self {
            Plot::Curves(curves) => drawing(&frame(curves.legend()), curves.width(), curves.draw()),
            Plot::Bars(bars) => drawing(&frame(Vec::new()), Bars::WIDTH, bars.draw()),
        }
    }

    /// The plotted values as CSV (RFC 4180) with a heading.
    ///
    /// # Errors
    /// Those of the CSV library.
    pub fn csv(&self) -> Result<String, ReportError> {
        let table = match self {
            Plot::Curves(curves) => curves.table(),
            Plot::Bars(bars) => bars.table(),
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        table.iter().try_for_each(|row| writer.write_record(row)).map_err(ReportError::data)?;
        let bytes = writer.into_inner().map_err(ReportError::data)?;
        String::from_utf8(bytes).map_err(ReportError::data)
    }

    /// The width of a drawing, in pixels, if it has several panels.
    pub fn width_of_panels(&self) -> Option<f64> {
        match self {
            Plot::Curves(curves) if curves.panels.len() > 1 => Some(curves.width()),
            _ => None,
        }
    }

    /// What the whiskers mean, or why there are none.
    pub fn whisker_note(&self) -> &'static str {
        let (axis, whiskers): (_, Vec<(f64, f64)>) = match self {
            Plot::Curves(curves) => (&curves.y, curves.whiskers().collect()),
            Plot::Bars(bars) => (&bars.x, bars.rows.iter().filter_map(|row| row.whisker).collect()),
        };
        let is_cut = |(low, high): &(f64, f64)| !axis.holds(*low) || !axis.holds(*high);
        match whiskers.as_slice() {
            [] => " No whiskers: there is no confidence interval over seeds.",
            all if all.iter().any(is_cut) => {
                " Whiskers: 95% confidence interval over seeds; arrows lead beyond the axis."
            }
            _ => " Whiskers: 95% confidence interval over seeds.",
        }
    }
}
