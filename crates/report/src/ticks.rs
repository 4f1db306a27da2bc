//! What bars and curves share: ticks, axis titles and whiskers.

use maud::{Markup, html};

use crate::scale::Axis;
use crate::svg::{Anchor, line, px, text, width};

/// The ticks of a horizontal axis of this many pixels: as many as have room for their texts.
pub(crate) fn level_ticks(axis: &Axis, pixels: f64) -> Vec<f64> {
    let room = |tick: f64| width(&axis.text(tick)) + 8.0;
    let place = |tick: f64| axis.fraction(tick) * pixels;
    let apart =
        |pair: &[f64]| place(pair[1]) - place(pair[0]) >= (room(pair[0]) + room(pair[1])) / 2.0;
    let fit = |ticks: &Vec<f64>| ticks.windows(2).all(apart);
    let round = (2..=6).rev().map(|most| axis.ticks(most)).find(fit);
    let every = |step| axis.ticks(6).into_iter().step_by(step).collect();
    let ticks = round.or_else(|| (2..=64).map(every).find(fit));
    ticks.unwrap_or_default()
}

/// The title of a horizontal axis from `left` to `right`, moved aside where the drawing, `all`
/// pixels wide, would cut it off.
pub(crate) fn axis_title(title: &str, left: f64, right: f64, y: f64, all: f64) -> Markup {
    let half = width(title) / 2.0 + 2.0;
    let x = ((left + right) / 2.0).min(all - half).max(half);
    text(x, y, Anchor::Middle, title)
}

/// A whisker between its two ends along `axis`. An end beyond the axis has an arrow, and other ends
/// have a cap. `at` gives the place in the drawing of a value, at a distance across the whisker.
pub(crate) fn whisker(
    axis: &Axis,
    (low, high): (f64, f64),
    colour: &str,
    at: impl Fn(f64, f64) -> (f64, f64),
) -> Markup {
    let (from, to) = axis.ends();
    // The direction of larger values, one pixel long.
    let (start, end) = (at(from, 0.0), at(to, 0.0));
    let length = f64::hypot(end.0 - start.0, end.1 - start.1);
    let (dx, dy) = ((end.0 - start.0) / length, (end.1 - start.1) / length);
    let end = |value: f64, outwards: f64| {
        if axis.holds(value) {
            return line(at(value, -3.5), at(value, 3.5), colour, 1.25);
        }
        let back = |across| {
            let (x, y) = at(value, across);
            (x - outwards * 6.0 * dx, y - outwards * 6.0 * dy)
        };
        let corners = [at(value, 0.0), back(-3.5), back(3.5)];
        let corners = corners.map(|(x, y)| format!("{},{}", px(x), px(y))).join(" ");
        html! { polygon points=(corners) fill=(colour) {} }
    };
    html! {
        (line(at(low, 0.0), at(high, 0.0), colour, 1.25))
        (end(low, -1.0))
        (end(high, 1.0))
    }
}
