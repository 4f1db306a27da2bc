//! What the panels of charts on a paper's page share: where they lie, their upright axes, and published numbers.

use flowsched_papers::Area;
use maud::{Markup, html};

use crate::scale::Axis;
use crate::style::{AXIS, GRID, Look};
use crate::svg::{Anchor, line, name, px, text, upright_text};

/// The width of a chart.
pub(super) const WIDTH: f64 = 700.0;
/// Width and height of a panel, without its axes' numbers.
pub(super) const PANEL: (f64, f64) = (250.0, 150.0);
/// Space for the title and the numbers at the left of a panel.
pub(super) const LEFT: f64 = 84.0;
/// The place of the look of published numbers.
pub(super) const PUBLISHED: usize = 1;
/// Height of a panel's title, and space below its lower axis.
const TITLE: f64 = 20.0;
const GAP: f64 = 12.0;
/// Space between two panels.
const BETWEEN: f64 = 10.0;
/// The most letters of a title, above a panel or along its upright axis.
const LETTERS: usize = 44;
const UPRIGHT_LETTERS: usize = 34;
/// Half the length of the bar for a published number.
const HALF: f64 = 7.0;

/// The height of all panels in two columns, and the panels. Each is given with its height.
pub(super) fn in_columns(panels: impl Iterator<Item = (f64, Markup)>) -> (f64, Markup) {
    let (mut top, mut bottom) = (0.0, 0.0);
    let mut plots = Vec::new();
    for (place, (height, plot)) in panels.enumerate() {
        let column = place % 2;
        if column == 0 {
            top = bottom + TITLE;
        }
        let left = LEFT + column as f64 * (PANEL.0 + LEFT + BETWEEN);
        bottom = f64::max(bottom, top + height + GAP);
        plots.push(html! {
            g transform={ "translate(" (px(left)) " " (px(top)) ")" } { (plot) }
        });
    }
    (bottom, html! { @for plot in plots { (plot) } })
}

pub(super) fn title_of_panel(title: &str) -> Markup {
    text(0.0, -10.0, Anchor::Start, &name(title, LETTERS))
}

/// The height of a value in a panel.
pub(super) fn height_of(axis: &Axis, value: f64) -> f64 {
    PANEL.1 * (1.0 - axis.fraction(value))
}

/// The title and the numbers of an upright axis, with a line across the panel for each.
pub(super) fn numbers(upright: &Axis) -> Markup {
    html! {
        @for tick in upright.ticks(5) {
            @let y = height_of(upright, tick);
            (line((0.0, y), (PANEL.0, y), GRID, 1.0))
            (text(-6.0, y, Anchor::End, &upright.text(tick)))
        }
        (upright_text(12.0 - LEFT, PANEL.1 / 2.0, &name(&upright.title, UPRIGHT_LETTERS)))
    }
}

/// The lines of both axes.
pub(super) fn axes(upright: &Axis) -> Markup {
    let zero = height_of(upright, 0.0);
    html! {
        (line((0.0, 0.0), (0.0, PANEL.1), AXIS, 1.0))
        (line((0.0, zero), (PANEL.0, zero), AXIS, 1.0))
    }
}

/// The ends of a published number on the upright axis.
pub(super) fn upright_ends(area: &Area) -> [f64; 2] {
    match *area {
        Area::Upright { ends: (least, most), .. } => [least, most],
        Area::Lower { y, .. } => [y, y],
    }
}

/// A published number as a bar at its place, or as a line along the part of the panel where it holds. A range along
/// such a part has two lines.
pub(super) fn published(area: &Area, across: impl Fn(f64) -> f64, upright: &Axis) -> Markup {
    let colour = Look::at(PUBLISHED).colour;
    let up = |value| height_of(upright, value);
    let bar = |x: f64, y: f64, width: f64, height: f64| {
        html! { rect x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) fill=(colour) {} }
    };
    let (ends, part) = match *area {
        Area::Lower { ends, y } => {
            let (least, most) = (across(ends.0), across(ends.1));
            return bar(least - 2.0, up(y) - HALF, most - least + 4.0, 2.0 * HALF);
        }
        Area::Upright { ends, x } => (ends, x),
    };
    let (least, most) = (up(ends.0), up(ends.1));
    match part {
        Some((from, to)) if from == to => {
            bar(across(from) - HALF, most - 2.0, 2.0 * HALF, least - most + 4.0)
        }
        part => {
            let (left, right) =
                part.map_or((0.0, PANEL.0), |(from, to)| (across(from), across(to)));
            html! {
                (line((left, least), (right, least), colour, 1.5))
                @if most < least { (line((left, most), (right, most), colour, 1.5)) }
            }
        }
    }
}
