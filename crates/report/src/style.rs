//! The style sheet, and the colours of schemes.

use std::fmt::Write as _;

const SHEET: &str = include_str!("style.css");

/// Colours on a light and on a dark page, told apart by readers who see few colours: the first
/// three differ in lightness too, and each scheme has a dash pattern of its own.
const COLOURS: [(&str, &str); 8] = [
    ("#1f5fa8", "#6db3f2"),
    ("#d1600f", "#f7a35c"),
    ("#14855a", "#5fd3a0"),
    ("#8a3fb0", "#cf9df5"),
    ("#b8274c", "#f58299"),
    ("#75541f", "#d3ab72"),
    ("#0b7f91", "#56cfe1"),
    ("#5f6871", "#b0b9c2"),
];

/// Dash patterns of curves, in units of the drawings.
const DASHES: [&str; 5] = ["none", "28 12", "10 9", "36 10 10 10", "18 8"];

/// The style sheet for so many schemes.
pub(crate) fn sheet(schemes: usize) -> String {
    let mut sheet = SHEET.to_owned();
    let places = || 0..schemes.clamp(1, 255);
    let colours = |which: fn(&(&'static str, &'static str)) -> &'static str| {
        let of = |place: usize| which(&COLOURS[place % COLOURS.len()]);
        places().map(|place| format!("--scheme-{place}: {};", of(place))).collect::<String>()
    };
    let (light, dark) = (colours(|pair| pair.0), colours(|pair| pair.1));
    _ = writeln!(sheet, ":root {{ {light} }}");
    _ = writeln!(sheet, "@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}");
    for place in places() {
        let colour = format!("#0000{:02X}", place + 1);
        let dashes = DASHES[place % DASHES.len()];
        _ = writeln!(
            sheet,
            "svg [stroke=\"{colour}\"] {{ stroke: var(--scheme-{place}); }} \
             svg [fill=\"{colour}\"] {{ fill: var(--scheme-{place}); }} \
             svg polyline[stroke=\"{colour}\"][stroke-width=\"7\"] {{ stroke-dasharray: {dashes}; }}"
        );
    }
    sheet
}

/// A piece of a scheme's curve, for the legend.
pub(crate) fn swatch(place: usize) -> String {
    let colour = format!("#0000{:02X}", place % 255 + 1);
    format!(
        "<svg viewBox=\"0 0 136 48\" aria-hidden=\"true\"><polyline points=\"0,24 136,24\" \
         fill=\"none\" stroke=\"{colour}\" stroke-width=\"7\"/><circle cx=\"68\" cy=\"24\" \
         r=\"14\" fill=\"{colour}\"/></svg>"
    )
}
